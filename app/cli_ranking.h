// The table that ends a sweep: lanes from the best to the worst, with the settings that they differ
// in.
#pragma once

#include "engine/runs/lane_ranking.h"

#include <optional>
#include <span>
#include <string>

namespace halfscope::cli {

struct RankedLane {
    std::string name;     ///< "amp-fp16-2"
    std::string settings; ///< "init_scale 2^16"; empty of a lane that was not swept
    LaneScore score;
    double lastLoss = 0;
    std::string scale;             ///< after the last step; "-" without one
    std::optional<double> zeros{}; ///< share of the gradients, 0 to 1
    double milliseconds = 0;       ///< of a step on its device, the median
};

/// Ends with a line that explains the columns.
std::string rankingTable(std::span<const RankedLane>);

} // namespace halfscope::cli
