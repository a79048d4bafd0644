// How panes with square pictures and a title above each are arranged in an area: in so many columns
// and rows that the pictures are large.
#pragma once

#include <QRect>
#include <QSize>

namespace halfscope {

struct PaneGrid {
    static constexpr int kSpacing = 6; ///< pixels between panes

    int columns = 1, rows = 1;
    int side = 0; ///< of the largest square picture in a pane, in pixels
    int panes = 1;

    /// Arranges the panes in a room of this size; `header` is the height of a title. Among nearly
    /// equal grids it takes the one with the most columns: it leaves more height for what lies
    /// below, and keeps the pictures at the same eye level.
    static PaneGrid within(const QSize& room, int panes, int header);
    static constexpr double kWorthAColumn = 1.2;
    /// Likewise, but takes the one with the fewest columns, which leaves more width for what lies
    /// beside the panes, unless another makes the pictures more than `worth` times as large.
    static PaneGrid beside(const QSize& room, int panes, int header, double worth = kWorthAColumn);

    /// Returns the size beyond which the pictures would not grow.
    QSize useful(int header) const;
    /// Returns the place of a pane in the room.
    QRect place(int pane, const QSize& room) const;
};

} // namespace halfscope
