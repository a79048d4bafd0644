// A small button that names the order of the runs and opens a menu to choose another one.
#pragma once

#include "ui/models/ordered_runs.h"

#include <QToolButton>

class QMenu;

namespace halfscope {

class OrderButton : public QToolButton {
    Q_OBJECT
public:
    explicit OrderButton(QWidget* parent = nullptr);

    void setOrder(OrderedRuns::Order);

signals:
    void orderChosen(halfscope::OrderedRuns::Order order);

private:
    QMenu* m_menu = nullptr; ///< child
};

} // namespace halfscope
