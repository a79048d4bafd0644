// A recorded training run by the reference evaluator: the same graph, settings and start, but every
// value in double, settings as they were before float32 rounded them; or every value rounded once
// to what its dtype can store. Independent of the kernels under test, and slow: only for the
// question how well a case is posed.
#pragma once

#include "engine/exec/reference.h"
#include "engine/verify/golden_runs.h"

namespace halfscope::recorded {

/// The losses of the first `steps` steps, in double. `draw` is of RefRounding::Random.
std::vector<double> referenceLosses(const Golden& run, RefRounding, size_t steps,
                                    uint64_t draw = 0);

/// With every value rounded to its dtype: losses and scales as float32 holds them.
TrainedRun storedOutcome(const Golden& run, size_t steps, const Perturbation& = {});

} // namespace halfscope::recorded
