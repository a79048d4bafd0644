// The program's own icons, drawn in the colours of the palette so that they show in both themes.
#pragma once

#include <QColor>
#include <QIcon>

namespace halfscope {

/// `name` is "play", "pause", "step", …: the name of a file under resources/icons.
QIcon themedIcon(const QString& name, const QColor& color);
QIcon programIcon();

} // namespace halfscope
