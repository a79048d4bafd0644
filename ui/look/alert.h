// Tells people who cannot see the window of what has just gone wrong in it.
#pragma once

class QWidget;

namespace halfscope {

/// Has a screen reader say at once what the widget's accessible name and description say: it reads
/// them by itself only where the keyboard is, and only once.
void alertAbout(QWidget&);

} // namespace halfscope
