// The values that a plot shows, as a csv table for other programs: a line for each step, a column
// for each curve. Knows no widgets.
#pragma once

#include "engine/runs/run.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace halfscope {

struct PlottedCurve {
    std::string name; ///< the title of its column
    RunSnapshot run;
    int lane = 0;
    MetricId id = metric::Loss;
    double weight = 0; ///< of the past, for the trend of a curve; 0: the curve itself
    /// The steps that the plot draws: a fork's past is its parent's curve, and the loss scale of a
    /// lane ends where its scaler is switched off.
    int64_t first = 0, last = std::numeric_limits<int64_t>::max();
};

struct PlotValues {
    double from = 0, to = 0; ///< the steps in view
    std::vector<PlottedCurve> curves;
};

/// Returns the table, with every value in view. A cell is empty where its curve has no value at the
/// step. Any thread may call it; a long run takes seconds. Can be cancelled.
std::string csvText(const PlotValues&);

} // namespace halfscope
