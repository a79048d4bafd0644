// A recorded training run by the reference evaluator: the same graph, settings and start, but every
// value in double, settings as they were before float32 rounded them; or every value rounded once
// to what float32 can store. Independent of the kernels under test, and slow: only for the question
// how well a case is posed.
#pragma once

#include "engine/exec/reference.h"
#include "engine/verify/golden_runs.h"

namespace halfscope::recorded {

/// The losses of the first `steps` steps, in double.
std::vector<double> float64Losses(const Golden& run, RefRounding rounding, size_t steps,
                                  const Perturbation& moved = {});

} // namespace halfscope::recorded
