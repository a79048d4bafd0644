// Runs a recorded training with the reference evaluator: the same graph, settings and start, but
// with every value in double, and settings as they were before float32 rounded them; or with every
// value rounded once to what its dtype can store. Independent of the kernels under test, and slow:
// used only to find out how well a case is posed.
#pragma once

#include "engine/exec/reference.h"
#include "engine/verify/golden_runs.h"

namespace halfscope::recorded {

/// Returns the losses of the first `steps` steps, in double. `draw` is the seed for
/// RefRounding::Random.
std::vector<double> referenceLosses(const Golden& run, RefRounding, size_t steps,
                                    uint64_t draw = 0);

/// Returns the outcome with every value rounded to its dtype: losses and scales as float32 holds
/// them.
TrainedRun storedOutcome(const Golden& run, size_t steps, const Perturbation& = {});

} // namespace halfscope::recorded
