// Places the plots of a stack, depending on font and height.
#pragma once

#include <span>

class QCPAxisRect;
class QFont;

namespace halfscope {

class StackedPlot;

/// Sets margins that depend on the font alone: the plots line up, and nothing jumps when labels
/// grow.
void placeMargins(std::span<StackedPlot* const>, QCPAxisRect& events, int lanes, const QFont&);
/// Folds plots when there is little room, because plots of a few pixels tell nothing. Those that
/// fold first give up their room first; then the upper plots keep theirs, and of the others only
/// the headers with their values stay. `height` is that of the whole stack in pixels, events
/// included.
void foldPlots(std::span<StackedPlot* const>, const QCPAxisRect& events, int height, const QFont&);

} // namespace halfscope
