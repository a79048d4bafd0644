// A recorded whole training that float32 did not pass: wrong, or not to be decided in float32.
#pragma once

#include "engine/verify/golden_runs.h"

namespace halfscope::recorded {

/// Of a run that compareRun() failed: its difference, or from which step on the case is undecided.
/// A float64 file must agree with float64 here. Half precision is held against itself: the same
/// training by the reference evaluator, whose losses and scales other roundings move.
CaseResult judgeRun(const Golden& run, const TrainedRun&, const CaseResult& failed);

/// Float64 here against float64 in the file, relatively: measured 5e-12 and less. One-cycle's table
/// of learning rates is float32 in the graph: 2e-8.
double float64Bound(const Golden& run);

} // namespace halfscope::recorded
