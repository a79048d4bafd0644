// Axes and folding that all plots of the stack share.
#include "ui/plots/stacked_plot.h"

#include "ui/plots/tickers.h"

#include <qcustomplot.h>

namespace halfscope {

void StackedPlot::setFolded(bool folded) {
    constexpr int kNothing = 1, kLeastHeight = 8, kLeastWidth = 20; // pixels
    m_folded = folded;
    m_rect.setVisible(!folded); // with its axes and curves
    m_rect.setMinimumSize(kLeastWidth, folded ? kNothing : kLeastHeight);
    m_rect.setMaximumSize(QWIDGETSIZE_MAX, folded ? kNothing : QWIDGETSIZE_MAX);
}

void StackedPlot::setHidden(bool hidden) {
    m_hidden = hidden;
    setFolded(hidden);
    if (hidden) m_rect.setMargins({});
}

void StackedPlot::setUpAxes() {
    QCPAxis* value = m_rect.axis(QCPAxis::atLeft);
    QCPAxis* step = m_rect.axis(QCPAxis::atBottom);
    step->setTicker(QSharedPointer<StepTicker>::create());
    step->setTickLabels(false);
    for (QCPAxis* axis : {value, step}) {
        axis->setSubTicks(false);
        axis->setTickLengthIn(0);
        axis->setTickLengthOut(3);
        axis->grid()->setZeroLinePen(Qt::NoPen);
        axis->grid()->setVisible(true);
    }
}

} // namespace halfscope
