// Recorded optimizers, schedules and clippings: their settings as ours, and the comparison.
#pragma once

#include "engine/settings/run_config.h"
#include "engine/verify/optimizer_run.h"
#include "engine/verify/suites.h"

namespace halfscope::recorded {

/// Relative to the largest magnitude that the value has had, or, for learning rates, to the largest
/// rate of the schedule: near zero a float32 parameter has the roundings of where it came from.
inline constexpr double kOptimBound = 1e-6;

/// PyTorch's names and defaults: "SGD", "Adam", "AdamW", "RMSprop".
OptimizerKind optimizerNamed(const Golden& name);
/// `row`: one of "optimizers".
OptimizerConfig optimizerOf(const Golden& row);
/// `row`: one of "schedules".
ScheduleConfig scheduleOf(const Golden& row);
/// "Adam {"lr":0.1}"; a clipping has "limit" for "args".
std::string optimCaseName(const Golden& row, const char* kind);

CaseResult compareOptimizer(const Golden& row, Executor&, Skipping);
CaseResult compareSchedule(const Golden& row, double bound = kOptimBound);
CaseResult compareClipping(const Golden& row, Executor&);

} // namespace halfscope::recorded
