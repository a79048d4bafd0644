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
    std::string settings; ///< "init_scale 2^16"; empty for a lane that was not swept
    LaneScore score;
    double lastLoss = 0;
    std::string scale;             ///< loss scale after the last step; "-" when there is none
    std::optional<double> zeros{}; ///< share of the gradients that are 0, from 0 to 1
    double milliseconds = 0;       ///< median time of a step on its device
};

/// Returns the table as text; the last line explains the columns. Lanes whose losses are not finite
/// come last and have no rank.
std::string rankingTable(std::span<const RankedLane>);

} // namespace halfscope::cli
