// Tells whether an optimizer has divided by zero: its epsilon, which prevents that, is zero in the
// type of the weights. Adam's usual 1e-8 is so in float16.
#pragma once

#include "engine/settings/run_config.h"
#include "engine/train/lane_step.h"

#include <string>

namespace halfscope {

/// Looks at a lane between two steps, while its loss is finite. Returns the name of the optimizer,
/// such as "Adam", whose update has made a weight inf or nan by such a division: the running mean
/// of that weight's squared gradients is zero, so its gradients were finite. Returns an empty name
/// where there is none, and at once where no weights are stored in float16, or too many to look at.
std::string dividedByZero(const RunConfig&, const LaneConfig&, const LaneStep&);

} // namespace halfscope
