// How well a recorded training is posed in float32. One unit that switches on or off within a
// rounding of zero moves a small network's losses by more than the bound, whoever computes them. So
// where float32 losses leave the bound, float64 is asked: the same training, with nothing rounded
// but what float32 has to store, and the start moved by a last bit. Where that leaves the bound
// too, float32 cannot decide the steps from there on.
#pragma once

#include "engine/verify/golden_runs.h"

namespace halfscope::recorded {

/// Of a float32 run that compareRun() failed: its difference, or from which step on the case is
/// undecided. A float64 file must agree with float64 here; the steps before must be within the
/// bound, and those after it within kUndecidedBound.
CaseResult judgeByFloat64(const Golden& run, const RunOutcome&, const CaseResult& failed);

/// Rounded trainings that are tried before a case counts as decided: of 19 ill-posed ones the first
/// told 12, and 7 told all.
inline constexpr uint64_t kDraws = 16;
/// Float64 here against float64 in the file, relatively: measured 5e-12 and less. One-cycle's table
/// of learning rates is float32 in the graph: 2e-8.
double float64Bound(const Golden& run);
/// Losses of undecided steps: as of pictures in half precision, which part in the same way.
inline constexpr double kUndecidedBound = 2e-2;

} // namespace halfscope::recorded
