// The scheduler of the launch plan: turns units and their hazards into launches.
#pragma once

#include "engine/cuda/codegen/launch_plan.h"

namespace halfscope::cuda {

/// Returns one launch per unit, in order.
std::vector<PlannedLaunch> scheduleOneByOne(const std::vector<Unit>&, const CostModel&);

/// Returns merged launches; `before` is the hazards of hazards.h. Wide units that are ready share a
/// launch; small ones become chains in one block, tails, or riders beside wide ones, whichever the
/// model says is shortest.
std::vector<PlannedLaunch> scheduleMerged(const std::vector<Unit>&,
                                          const std::vector<std::vector<size_t>>& before,
                                          const CostModel&);

} // namespace halfscope::cuda
