// What the help window and the About box say. Text only; the main window shows it.
#pragma once

#include <QString>

namespace halfscope {

/// Shortcuts and the first steps, as rich text.
QString helpText();
QString aboutText();

} // namespace halfscope
