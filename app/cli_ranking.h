// The tables of lanes that end a run and a sweep: the same figures under the same names.
#pragma once

#include "engine/runs/lane_ranking.h"

#include <cstdint>
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
    std::optional<double> validationError{}; ///< Validation::error
    std::string peak{};                      ///< of memory; empty: not told
    /// Of a network that learns from a critic, whose loss is the other one; after the last step.
    std::optional<double> generatorLoss{};
};

/// How the shares of gradients that are zero were counted.
enum class ZeroCounts : uint8_t { AtTheEnd, MedianOfLastSteps };

/// Returns the accuracy of a validation, "97.5 %"; "nan" where the output of the network is nan.
std::string accuracyText(double accuracy, std::optional<double> validationLoss);
/// Returns the lanes in their order as a table; the last line explains the columns.
std::string laneTable(std::span<const RankedLane>);
/// Returns them from the best to the worst, with their ranks in front. Lanes whose losses are not
/// finite come last and have no rank.
std::string rankingTable(std::span<const RankedLane>, ZeroCounts);

} // namespace halfscope::cli
