// Qt drops the event where no screen reader listens.
#include "ui/look/alert.h"

#include <QAccessible>
#include <QWidget>

namespace halfscope {

void alertAbout(QWidget& widget) {
    QAccessibleEvent alert(&widget, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
}

} // namespace halfscope
