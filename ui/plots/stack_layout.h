// Places the plots of a stack, depending on font and height.
#pragma once

#include <span>

class QCPAxisRect;
class QFont;

namespace halfscope {

class StackedPlot;

/// What stays of plots that there is no room for: their headers with the values, as far as the
/// curves of other plots can be read beside them, or nothing.
enum class Folds { ToHeaders, Away };

/// Sets margins that depend on the font alone: the plots line up, and nothing jumps when labels
/// grow. `rows` is the height of the events' rows in pixels.
void placeMargins(std::span<StackedPlot* const>, QCPAxisRect& events, int rows, const QFont&);
/// Folds plots when there is little room, because plots of a few pixels tell nothing. Those that
/// fold first give up their room first, then the lower ones, until the curves of those that keep
/// their room can be read. `height` is that of the
/// whole stack in pixels, events included. The margins must have been placed just before.
void foldPlots(std::span<StackedPlot* const>, const QCPAxisRect& events, int height, const QFont&,
               Folds);

} // namespace halfscope
