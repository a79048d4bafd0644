// Margins and folding.
#include "ui/plots/stack_layout.h"

#include "ui/plots/event_lane.h"
#include "ui/plots/readout_item.h"
#include "ui/plots/stacked_plot.h"

#include <qcustomplot.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace halfscope {

namespace {
constexpr int kBelowPlot = 5; // pixels between a plot and the next header

constexpr double kLeastLines = 2; // of text that a curve must be high, so that it can be read

/// Whether the other plots give up their room until its curves can be read.
bool comesFirst(const StackedPlot& plot) { return plot.keepsRoom() || plot.wanted(); }

/// Plots from above to below in the order in which they keep their room, and the room.
struct Stack {
    std::vector<StackedPlot*> open;
    double room = 0, stretch = 0;
    int line = 0, around = 0; ///< around: of each plot, for its header

    double height(double share) const { return room * share / stretch - around; }
    /// Returns the height of the lowest of the open plots that `counts` accepts.
    template <class Counts>
    double lowest(Counts counts) const {
        double least = stretch;
        for (const StackedPlot* plot : open)
            if (counts(*plot)) least = std::min(least, plot->stretch());
        return height(least);
    }
    /// Whether a plot that keeps its room is lower.
    bool cramps(double lines) const { return lowest(comesFirst) < lines * line; }
    /// Whether the last plot must go. Those that keep their room go only when they are too low
    /// themselves, or when smaller ones that keep theirs cannot be read.
    bool isTight() const {
        const StackedPlot& last = *open.back();
        const double most = last.stretch();
        if (height(most) < line) return true;
        // the gradients over time take most of the room: the loss scale tells more about them
        const auto isLess = [most](const StackedPlot& plot) { return plot.stretch() < most; };
        if (!last.wanted() && last.keepsRoom() && lowest(isLess) < kLeastLines * line) return true;
        if (last.foldsFirst() && !last.wanted() &&
            lowest([](const StackedPlot&) { return true; }) < line)
            return true;
        return !comesFirst(last) && cramps(kLeastLines);
    }
};

void placeMargins(std::span<StackedPlot* const> plots, EventLane& events, const QFont& font) {
    const QFontMetrics metrics(font);
    // the longest labels, beside their ticks and with a gap to the left
    const int left = std::max(metrics.horizontalAdvance(QStringLiteral("9.9e-99")),
                              metrics.horizontalAdvance(QStringLiteral("999,999"))) +
                     12;
    // room for half of the last step's label
    const int right = metrics.horizontalAdvance(QStringLiteral("9,999,999")) / 2 + 2;
    const int header = ReadoutItem::heightFor(font);
    for (StackedPlot* plot : plots)
        plot->rect().setMargins(QMargins(left, header, right, kBelowPlot));
    QCPAxisRect& rect = events.rect();
    rect.setMargins(QMargins(left, 4, right, 0)); // between which the lines below it lie
    // QCustomPlot rounds the height of each plot: all of them may be half a pixel too high, and one
    // pixel is to spare in any case
    const int rounded = std::max(0, static_cast<int>(plots.size()) / 2 - 1);
    rect.setMargins(
        QMargins(left, 4, right, (1 + events.lines()) * metrics.height() + 10 + rounded));
    rect.setMinimumSize(20, events.height());
    rect.setMaximumSize(QWIDGETSIZE_MAX, events.height());
}

/// Of the plots that keep their room.
struct Lacking {
    int folded = 0;
    int cramped = 0; ///< folded, or too low to be read
};

Lacking foldPlots(std::span<StackedPlot* const> plots, const QCPAxisRect& events, int height,
                  const QFont& font) {
    const QMargins margins = events.margins();
    Stack stack{{plots.begin(), plots.end()},
                double(height - margins.top() - margins.bottom() - events.minimumSize().height()),
                0,
                QFontMetrics(font).height(),
                ReadoutItem::heightFor(font) + kBelowPlot};
    // those with nothing to draw go first, then those that fold first, then from below, then those
    // that fold late, then those that keep their room, then the one that the user has made room
    // for; the first plot stays
    const auto rank = [&](const StackedPlot* plot) {
        if (plot == plots.front()) return 0;
        if (plot->wanted()) return 1;
        if (plot->isBlank()) return 6;
        if (plot->keepsRoom()) return 2;
        return plot->foldsLate() ? 3 : plot->foldsFirst() ? 5 : 4;
    };
    std::stable_sort(stack.open.begin(), stack.open.end(),
                     [&](const StackedPlot* a, const StackedPlot* b) { return rank(a) < rank(b); });
    for (StackedPlot* plot : stack.open) {
        plot->setFolded(false);
        stack.stretch += plot->stretch();
    }
    StackedPlot* said = nullptr; // a header that says why there is nothing to draw
    while (stack.open.size() > 1) {
        StackedPlot* plot = stack.open.back();
        const bool needless = plot->isBlank() && !plot->wanted();
        if (!needless && !stack.isTight()) break;
        if (StackedPlot* words = std::exchange(said, nullptr)) { // curves tell more
            words->rect().setMargins({});
            stack.room += stack.around;
            continue;
        }
        plot->setFolded(true);
        stack.stretch -= plot->stretch();
        stack.open.pop_back();
        if (needless) {
            said = plot;
            stack.room -= stack.around;
        } else {
            plot->rect().setMargins({}); // where the header would be
        }
    }
    Lacking lacking;
    for (const StackedPlot* plot : plots) {
        if (!plot->keepsRoom()) continue;
        lacking.folded += plot->folded();
        lacking.cramped +=
            plot->folded() || stack.height(plot->stretch()) < kLeastLines * stack.line;
    }
    return lacking;
}

} // namespace

void placePlots(std::span<StackedPlot* const> plots, EventLane& events, int height,
                const QFont& font) {
    const auto place = [&](EventRows rows) {
        events.arrange(rows);
        placeMargins(plots, events, font);
        return foldPlots(plots, events.rect(), height, font);
    };
    constexpr int kMostShare = 4; // large marks take at most a fourth of the height
    // marks without the letter of their lane only for the sake of a plot
    EventRows best = EventRows::Usual;
    int least = std::numeric_limits<int>::max();
    const bool audience = events.isMagnified();
    for (const EventRows rows : {EventRows::Usual, EventRows::Low, EventRows::Shared}) {
        const Lacking lacking = place(rows);
        // an audience looks at curves: large marks must not take their room
        if (audience && rows != EventRows::Shared && events.height() * kMostShare > height)
            continue;
        if ((audience ? lacking.cramped : lacking.folded) == 0) return;
        if (lacking.cramped >= least) continue;
        least = lacking.cramped;
        best = rows;
    }
    if (best != EventRows::Shared) place(best);
}

void layOutPlots(QCustomPlot& plot) {
    using Element = QCPLayoutElement;
    for (const auto phase : {Element::upPreparation, Element::upMargins, Element::upLayout})
        plot.plotLayout()->update(phase);
}

} // namespace halfscope
