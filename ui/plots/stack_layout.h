// Where the plots of a stack lie, by font and height.
#pragma once

#include <span>

class QCPAxisRect;
class QFont;

namespace halfscope {

class StackedPlot;

/// Margins by the font alone: the plots line up, and nothing jumps when labels grow.
void placeMargins(std::span<StackedPlot* const>, QCPAxisRect& events, int lanes, const QFont&);
/// Plots of a few pixels each tell nothing: where there is little room the first ones get it, after
/// those that fold first have given theirs, and of the others stay the headers with their values.
/// `height`: of all, events included.
void foldPlots(std::span<StackedPlot* const>, const QCPAxisRect& events, int height, const QFont&);

} // namespace halfscope
