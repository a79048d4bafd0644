// Cells of a map of settings, as trained ones would be, and what a model shows of them.
#pragma once

#include "ui/models/grid_model.h"

#include <QString>

#include <cstdint>

namespace halfscope {

/// Returns a cell that was trained for five steps, with the last loss twice as large as the median.
inline GridCell cellOf(double loss, int64_t skipped = 0) {
    GridCell cell;
    cell.score.loss = loss;
    cell.score.skipped = skipped;
    cell.lastLoss = 2 * loss;
    cell.scale = 1024.0f;
    cell.steps = 5;
    return cell;
}

inline QString shownAt(const GridModel& model, int row, int column, int role = Qt::DisplayRole) {
    return model.index(row, column).data(role).toString();
}

} // namespace halfscope
