// Judges a recorded whole training that failed in float32: it is wrong, or float32 cannot decide
// it.
#pragma once

#include "engine/verify/golden_runs.h"

namespace halfscope::recorded {

/// Judges a run that compareRun() failed: returns its difference, or from which step on the case is
/// undecided. A float64 file must agree with float64 here. Half precision is compared with itself:
/// the same training by the reference evaluator, whose losses and scales other roundings move.
CaseResult judgeRun(const Golden& run, const TrainedRun&, const CaseResult& failed);

/// Returns the bound for float64 here against float64 in the file, relative: 5e-12 or less was
/// measured. One-cycle's table of learning rates is float32 in the graph: 2e-8.
double float64Bound(const Golden& run);

} // namespace halfscope::recorded
