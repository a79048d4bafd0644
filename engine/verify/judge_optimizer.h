// A recorded optimizer's parameters against ours, and what float32 cannot decide of them.
#pragma once

#include "engine/verify/conditioning.h"
#include "engine/verify/golden_optim.h"

namespace halfscope::recorded {

/// One of "optimizers", in numbers: [step][element] each.
struct RecordedOptimizer {
    std::vector<double> start;
    Trace gradients, parameters;
    Trace magnitude; ///< the largest that a parameter has had
};
RecordedOptimizer recordedOptimizer(const Golden& row);

/// Every parameter after every step, within kOptimBound.
CaseResult compareParameters(const RecordedOptimizer& wanted, const Trace& got);

/// Of an optimizer that compareParameters() failed: its difference, or the first place that float32
/// cannot decide. The file must agree with float64 here, but where the roundings of float64 count.
CaseResult judgeOptimizer(const OptimizerConfig&, const RecordedOptimizer& wanted, const Trace& got,
                          const CaseResult& failed);

/// Float64 here against float64 in the file, relatively: orders of operations differ.
inline constexpr double kFloat64OptimBound = 1e-9;
/// A root of zero becomes nan by every fourth drawing.
inline constexpr uint64_t kOptimizerDraws = 64;

} // namespace halfscope::recorded
