// Places the plots of a stack, depending on font and height.
#pragma once

#include <span>

class QCustomPlot;
class QFont;

namespace halfscope {

class EventLane;
class StackedPlot;

/// Sets margins that depend on the font alone: the plots line up, and nothing jumps when labels
/// grow. Folds plots away when there is little room, because plots of a few pixels tell nothing,
/// and so do headers without a curve; only a plot with nothing to draw keeps its header, which says
/// why, while the others have room. Those that fold first give up their room first, then the lower
/// ones, until the curves of those that keep their room can be read; before one of those folds, the
/// events of all lanes share a row; where marks are magnified, they do so before one of those gets
/// too low to be read, or marks take more than a fourth of the height. `height` is that of the
/// whole stack in pixels, events included.
void placePlots(std::span<StackedPlot* const>, EventLane& events, int height, const QFont&);

/// Lays the plots out now. The plot itself does so when it draws: too late for what depends on a
/// rect's pixels.
void layOutPlots(QCustomPlot&);

} // namespace halfscope
