// Tries each number of columns.
#include "ui/images/pane_grid.h"

#include <algorithm>

namespace halfscope {
namespace {

constexpr double kWorthARow = 1.1;

PaneGrid gridOf(int columns, const QSize& room, int panes, int header) {
    const int rows = (panes + columns - 1) / columns;
    const int width = (room.width() - (columns - 1) * PaneGrid::kSpacing) / columns;
    const int height = (room.height() - (rows - 1) * PaneGrid::kSpacing) / rows - header;
    return {columns, rows, std::max(0, std::min(width, height)), panes};
}

} // namespace

PaneGrid PaneGrid::within(const QSize& room, int panes, int header) {
    PaneGrid best{panes, 1, 0, panes};
    for (int columns = panes; columns >= 1; --columns)
        if (const PaneGrid grid = gridOf(columns, room, panes, header);
            grid.side > kWorthARow * best.side)
            best = grid;
    return best;
}

PaneGrid PaneGrid::beside(const QSize& room, int panes, int header, double worth) {
    PaneGrid best{1, panes, 0, panes};
    for (int columns = 1; columns <= panes; ++columns)
        if (const PaneGrid grid = gridOf(columns, room, panes, header);
            grid.side > worth * best.side)
            best = grid;
    return best;
}

QSize PaneGrid::useful(int header) const {
    return {columns * side + (columns - 1) * kSpacing,
            rows * (side + header) + (rows - 1) * kSpacing};
}

/// Rounds edges by proportion, so that no gap is left at the end. A last row with fewer panes is
/// centred: a gap at its end would look like a picture that is missing.
QRect PaneGrid::place(int pane, const QSize& room) const {
    const int column = pane % columns, row = pane / columns;
    const int lacks = std::max(0, (row + 1) * columns - panes);
    const int width = room.width() + kSpacing, height = room.height() + kSpacing;
    const auto edge = [&](int halves) { return halves * width / (2 * columns); };
    const int left = edge(2 * column + lacks), top = row * height / rows;
    return {left, top, std::max(1, edge(2 * column + lacks + 2) - kSpacing - left),
            std::max(1, (row + 1) * height / rows - kSpacing - top)};
}

} // namespace halfscope
