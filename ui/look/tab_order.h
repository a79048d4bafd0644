// The order in which Tab reaches the controls of a part of a window.
#pragma once

class QWidget;

namespace halfscope {

/// Lets Tab reach the controls in `part` as they are read, row by row, whatever the order in which
/// they were made; the first of them comes right after `after` where that is given, which must
/// accept the focus. Controls that are made later come last of all in the window: call it again.
void orderTabs(QWidget& part, QWidget* after = nullptr);

} // namespace halfscope
