// The program's own icons, drawn in the colours of the palette so that they show in both themes.
#pragma once

#include <QColor>
#include <QIcon>

namespace halfscope {

/// "play", "pause", "step", …; the names of the files under resources/icons.
QIcon themedIcon(const QString& name, const QColor& color);
QIcon programIcon();

} // namespace halfscope
