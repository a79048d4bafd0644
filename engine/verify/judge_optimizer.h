// Compares a recorded optimizer's parameters with ours, and finds what float32 cannot decide.
#pragma once

#include "engine/verify/conditioning.h"
#include "engine/verify/golden_optim.h"

namespace halfscope::recorded {

/// One of "optimizers" as numbers, each [step][element].
struct RecordedOptimizer {
    std::vector<double> start;
    Trace gradients, parameters;
    Trace magnitude; ///< the largest magnitude that a parameter has had so far
};
RecordedOptimizer recordedOptimizer(const Golden& row);

/// Compares every parameter after every step, within kOptimBound.
CaseResult compareParameters(const RecordedOptimizer& wanted, const Trace& got);

/// Judges an optimizer that compareParameters() failed: returns its difference, or the first place
/// that float32 cannot decide. The file must agree with float64 here, except where float64's own
/// roundings matter.
CaseResult judgeOptimizer(const OptimizerConfig&, const RecordedOptimizer& wanted, const Trace& got,
                          const CaseResult& failed);

/// Bound for float64 here against float64 in the file, relative: the orders of operations differ.
inline constexpr double kFloat64OptimBound = 1e-9;
/// Many, because only every fourth draw turns a root of zero into nan.
inline constexpr uint64_t kOptimizerDraws = 64;

} // namespace halfscope::recorded
