// How many of a lane's gradients are zero, beside those of the other lanes, and whether so many are
// lost by rounding.
#pragma once

#include "engine/core/message.h"
#include "engine/runs/gradient_counts.h"

#include <cstdint>
#include <optional>
#include <span>

namespace halfscope {

struct LaneConfig;

/// The gradients of a lane that are zero as the lane stores them, when they were last counted.
struct ZeroGradients {
    int64_t after = 0;   ///< the step after which they were counted
    float scale = 1;     ///< the loss scale then
    double share = 0;    ///< of all values, of layer outputs and weights
    bool finite = true;  ///< none was inf or nan; else the share tells little
    int reference = -1;  ///< the first lane with gradients in FP32; -1: none
    double expected = 0; ///< its share then, in FP32: so many are not lost by rounding
};
/// Returns nothing where a lane's gradients were not counted.
std::optional<ZeroGradients> zeroGradientsOf(std::span<const GradientRange>, int lane);

/// Gradients of a lane that another lane, which takes the same batches, keeps.
struct LostGradients {
    double share = 0; ///< of its gradients, those that are zero
    /// The lane with the fewest zeros; -1 where nearly all gradients are zero, so that it does not
    /// matter.
    int beside = -1;
    double kept = 0; ///< the share of zeros of that lane
};
/// Returns what a lane has lost by rounding, where that is nearly all or far more than another lane
/// has; else nothing.
std::optional<LostGradients> lostGradientsOf(std::span<const GradientRange>, int lane);

/// Whether a lane computes in FP8 without a scale for each tensor.
bool lacksFp8Scaling(const LaneConfig&);
/// Says what a lane that loses gradients and lacksFp8Scaling(), or does not scale its loss, or
/// several such lanes, should do: a sentence.
Message scalingAdvice(const LaneConfig&, size_t lanes = 1);

} // namespace halfscope
