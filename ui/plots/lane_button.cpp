// The button and its menu.
#include "ui/plots/lane_button.h"

#include "ui/look/owned.h"
#include "ui/look/theme.h"

#include <QMenu>

namespace halfscope {

LaneButton::LaneButton(QWidget* parent) : QToolButton(parent) {
    setObjectName(QStringLiteral("gradientLane"));
    setAutoRaise(true);
    setFocusPolicy(Qt::TabFocus);
    setToolTip(tr("The lane whose gradients are shown over time"));
    setAccessibleName(toolTip());
    m_menu = make<QMenu>(this);
    connect(this, &QToolButton::clicked, this,
            [this] { m_menu->popup(mapToGlobal(rect().bottomLeft())); });
}

void LaneButton::setLanes(const QStringList& labels, int chosen) {
    setText(laneLetter(chosen) + QStringLiteral(" \u25be"));
    setAccessibleName(tr("Gradients over time: lane %1").arg(labels.value(chosen)));
    m_menu->clear();
    for (int i = 0; i < labels.size(); ++i) {
        QAction* action = m_menu->addAction(labels[i], this, [this, i] { Q_EMIT laneChosen(i); });
        action->setCheckable(true);
        action->setChecked(i == chosen);
    }
}

} // namespace halfscope
