// Makes the stack higher until no plot folds.
#include "ui/plots/whole_stack.h"

#include "ui/plots/event_lane.h"
#include "ui/plots/stack_layout.h"
#include "ui/plots/stacked_plot.h"

#include <qcustomplot.h>

#include <algorithm>
#include <utility>

namespace halfscope {

WholeStack::WholeStack(QCustomPlot& plot, EventLane& events, std::span<StackedPlot* const> plots,
                       std::function<void()> updateEvents)
    : m_plot(plot), m_events(events), m_viewport(plot.viewport()),
      m_updateEvents(std::move(updateEvents)) {
    m_events.setPrinted(true);
    m_events.keepFree(0); // no button lies there
    const QFontMetrics metrics(plot.font());
    const auto lacksOne = [plots] {
        return std::any_of(plots.begin(), plots.end(), [](const StackedPlot* each) {
            return each->folded() && !each->isBlank();
        });
    };
    int height = plot.height();
    placePlots(plots, m_events, height, plot.font());
    while (lacksOne()) {
        height += metrics.height();
        placePlots(plots, m_events, height, plot.font());
    }
    plot.setViewport(QRect(0, 0, plot.width(), height));
    layOutPlots(plot);
    m_updateEvents();
}

WholeStack::~WholeStack() {
    m_events.setPrinted(false);
    m_updateEvents(); // brings rows without marks back
    m_plot.setViewport(m_viewport);
}

} // namespace halfscope
