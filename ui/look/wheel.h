// What the mouse wheel does over a control that lies in something that scrolls.
#pragma once

class QWidget;

namespace halfscope {

/// Keeps the wheel from changing the control's value: it scrolls what lies around it instead.
void leaveWheelAlone(QWidget& control);

} // namespace halfscope
