// Margins and folding.
#include "ui/plots/stack_layout.h"

#include "ui/plots/readout_item.h"
#include "ui/plots/stacked_plot.h"

#include <qcustomplot.h>

#include <algorithm>
#include <vector>

namespace halfscope {

namespace {
constexpr int kBelowPlot = 5; // pixels between a plot and the next header

double leastStretch(std::span<StackedPlot* const> plots) {
    double least = plots.front()->stretch();
    for (const StackedPlot* plot : plots)
        least = std::min(least, plot->stretch());
    return least;
}

} // namespace

void placeMargins(std::span<StackedPlot* const> plots, QCPAxisRect& events, int rows,
                  const QFont& font) {
    const QFontMetrics metrics(font);
    const int left = metrics.horizontalAdvance(QStringLiteral("9.9e-99")) + 12;
    // room for half of the last step's label
    const int right = metrics.horizontalAdvance(QStringLiteral("9,999,999")) / 2 + 2;
    const int header = ReadoutItem::heightFor(font);
    for (StackedPlot* plot : plots)
        plot->rect().setMargins(QMargins(left, header, right, kBelowPlot));
    events.setMargins(QMargins(left, 4, right, 2 * metrics.height() + 10));
    events.setMinimumSize(20, rows);
    events.setMaximumSize(QWIDGETSIZE_MAX, rows);
}

void foldPlots(std::span<StackedPlot* const> plots, const QCPAxisRect& events, int height,
               const QFont& font, Folds folds) {
    const int line = QFontMetrics(font).height();
    const int around = ReadoutItem::heightFor(font) + kBelowPlot; // of each plot
    const QMargins margins = events.margins();
    double room = height - margins.top() - margins.bottom() - events.minimumSize().height();
    // those that fold first go first, then from below; the first plot stays
    std::vector<StackedPlot*> open(plots.begin(), plots.end());
    std::stable_partition(open.begin(), open.end(),
                          [](const StackedPlot* plot) { return !plot->foldsFirst(); });
    double stretch = 0;
    for (StackedPlot* plot : open) {
        plot->setFolded(false);
        stretch += plot->stretch();
    }
    // a plot that folds first goes when any plot is too low; the others go only when they are too
    // low themselves
    const auto judged = [&open] {
        return open.back()->foldsFirst() ? leastStretch(open) : open.back()->stretch();
    };
    while (open.size() > 1 && room * judged() / stretch - around < line) {
        open.back()->setFolded(true);
        stretch -= open.back()->stretch();
        if (folds == Folds::ToHeaders)
            room -= around;
        else
            open.back()->rect().setMargins({}); // where the header would be
        open.pop_back();
    }
}

} // namespace halfscope
