// Recorded optimizers, schedules and clippings: converts their settings to ours, and compares.
#pragma once

#include "engine/settings/run_config.h"
#include "engine/verify/optimizer_run.h"
#include "engine/verify/suites.h"

namespace halfscope::recorded {

/// Relative to the largest magnitude that the value has had, or, for learning rates, to the largest
/// rate of the schedule: a float32 parameter near zero carries the roundings of the larger values
/// that it had before.
inline constexpr double kOptimBound = 1e-6;

/// Takes the names of torch.optim: "SGD", "RMSprop".
OptimizerKind optimizerNamed(const Golden& name);
/// `row` is one of "optimizers".
OptimizerConfig optimizerOf(const Golden& row);
/// `row` is one of "schedules".
ScheduleConfig scheduleOf(const Golden& row);
/// Returns a name such as "Adam {"lr":0.1}"; a clipping has "limit" in place of "args".
std::string optimCaseName(const Golden& row, const char* kind);

CaseResult compareOptimizer(const Golden& row, Executor&, Skipping);
CaseResult compareSchedule(const Golden& row, double bound = kOptimBound);
CaseResult compareClipping(const Golden& row, Executor&);

} // namespace halfscope::recorded
