// The button and its menu.
#include "ui/panels/order_button.h"

#include "ui/look/owned.h"

#include <QMenu>

namespace halfscope {
namespace {

QString nameOf(OrderedRuns::Order order) {
    switch (order) {
    case OrderedRuns::Order::ByValidation: return OrderButton::tr("By last validation");
    case OrderedRuns::Order::ByLoss: return OrderButton::tr("By last loss (median)");
    case OrderedRuns::Order::ByName: return OrderButton::tr("By name");
    case OrderedRuns::Order::AsOpened: break;
    }
    return OrderButton::tr("As opened");
}

QString tipOf(OrderedRuns::Order order) {
    switch (order) {
    case OrderedRuns::Order::ByValidation:
        return OrderButton::tr("The highest accuracy first, or the lowest validation loss where "
                               "there are no classes. Of a run's lanes, the best one counts. Runs "
                               "without a validation come last.");
    case OrderedRuns::Order::ByLoss:
        return OrderButton::tr("The lowest loss first: the median in parentheses, of the best of a "
                               "run's lanes");
    case OrderedRuns::Order::ByName:
    case OrderedRuns::Order::AsOpened: break;
    }
    return {};
}

} // namespace

OrderButton::OrderButton(QWidget* parent) : QToolButton(parent) {
    setObjectName(QStringLiteral("orderOfRuns"));
    setAutoRaise(true);
    setFocusPolicy(Qt::TabFocus); // a click leaves Space to Play
    setToolTip(tr("The order of the list. Runs keep their numbers and colours."));
    m_menu = make<QMenu>(this);
    m_menu->setToolTipsVisible(true);
    for (const OrderedRuns::Order order : OrderedRuns::orders()) {
        QAction* action =
            m_menu->addAction(nameOf(order), this, [this, order] { Q_EMIT orderChosen(order); });
        action->setCheckable(true);
        action->setToolTip(tipOf(order));
        action->setData(static_cast<int>(order));
    }
    connect(this, &QToolButton::clicked, this,
            [this] { m_menu->popup(mapToGlobal(rect().bottomLeft())); });
    setOrder(OrderedRuns::Order::AsOpened);
}

void OrderButton::setOrder(OrderedRuns::Order order) {
    setText(nameOf(order) + QStringLiteral(" \u25be"));
    setAccessibleName(tr("Order of the runs: %1").arg(nameOf(order)));
    for (QAction* action : m_menu->actions())
        action->setChecked(action->data().toInt() == static_cast<int>(order));
}

} // namespace halfscope
