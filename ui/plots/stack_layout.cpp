// Margins and folding.
#include "ui/plots/stack_layout.h"

#include "ui/plots/event_lane.h"
#include "ui/plots/readout_item.h"
#include "ui/plots/stacked_plot.h"

#include <qcustomplot.h>

namespace halfscope {

namespace {
constexpr int kBelowPlot = 5; // pixels between a plot and the next header
} // namespace

void placeMargins(std::span<StackedPlot* const> plots, QCPAxisRect& events, int lanes,
                  const QFont& font) {
    const QFontMetrics metrics(font);
    const int left = metrics.horizontalAdvance(QStringLiteral("9.9e-99")) + 12;
    // room for half of the last step's label
    const int right = metrics.horizontalAdvance(QStringLiteral("9,999,999")) / 2 + 2;
    const int header = ReadoutItem::heightFor(font);
    for (StackedPlot* plot : plots)
        plot->rect().setMargins(QMargins(left, header, right, kBelowPlot));
    events.setMargins(QMargins(left, 4, right, 2 * metrics.height() + 10));
    const int height = EventLane::heightFor(lanes);
    events.setMinimumSize(20, height);
    events.setMaximumSize(QWIDGETSIZE_MAX, height);
}

void foldPlots(std::span<StackedPlot* const> plots, const QCPAxisRect& events, int height,
               const QFont& font) {
    const int line = QFontMetrics(font).height();
    const int around = ReadoutItem::heightFor(font) + kBelowPlot; // of each plot
    const QMargins margins = events.margins();
    double room = height - margins.top() - margins.bottom() - events.minimumSize().height();
    double stretch = 0;
    for (const StackedPlot* plot : plots)
        stretch += plot->stretch();
    size_t open = plots.size();
    while (open > 1 && room * plots[open - 1]->stretch() / stretch - around < line) {
        --open;
        stretch -= plots[open]->stretch();
        room -= around;
    }
    for (size_t i = 0; i < plots.size(); ++i)
        plots[i]->setFolded(i >= open);
}

} // namespace halfscope
