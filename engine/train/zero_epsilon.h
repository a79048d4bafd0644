// Tells whether an optimizer has divided by zero: its epsilon, which prevents that, is zero in the
// type of the weights. Adam's usual 1e-8 is so in float16.
#pragma once

#include "engine/settings/run_config.h"
#include "engine/train/lane_step.h"

#include <cstdint>
#include <string>

namespace halfscope {

/// Looks at a lane between two steps, the last of which was `step`, while its loss is finite.
/// Returns the name of the optimizer, such as "Adam", whose update has made a weight inf or nan by
/// such a division: the running mean of that weight's squared gradients is zero, so its gradients
/// were finite. Returns an empty name where there is none, and at once where that step updated
/// nothing or no weights are stored in float16. After the first update, which is where nearly all
/// such divisions happen, it looks at all weights; later at as many as are looked at quickly, array
/// by array, the smallest first: biases are lost like the large arrays beside them.
std::string dividedByZero(const RunConfig&, const LaneConfig&, const LaneStep&, int64_t step);

} // namespace halfscope
