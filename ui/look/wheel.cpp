// An event filter for each control.
#include "ui/look/wheel.h"

#include "ui/look/owned.h"

#include <QEvent>
#include <QWidget>

namespace halfscope {

namespace {

class WheelFilter : public QObject {
public:
    using QObject::QObject;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() != QEvent::Wheel) return QObject::eventFilter(watched, event);
        event->ignore();
        return true;
    }
};

} // namespace

void leaveWheelAlone(QWidget& control) { control.installEventFilter(make<WheelFilter>(&control)); }

} // namespace halfscope
