// Learning-rate schedules as pure functions of the iteration count, and as the tables that the
// step's graph reads. Leaves counting to the graph (state "schedule.tick").
#pragma once

#include "engine/settings/run_config.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace halfscope {

/// Returns the learning rate of iteration `tick` (0 for the first), in double, by the rules of
/// torch.optim.lr_scheduler: OneCycleLR, StepLR, MultiStepLR, ExponentialLR, PolynomialLR,
/// CosineAnnealingLR, CosineAnnealingWarmRestarts, LinearLR. With a warm-up of W updates all but
/// the first follow as SequentialLR lets them follow
/// LinearLR(start_factor=1/W, total_iters=W), in what is left of the total steps. Cosine rises
/// again after its total steps, then falls, without end. OneCycle and Linear stay at their last
/// rate: LinearLR does so too, while OneCycleLR computes one rate beyond its end by extrapolation
/// and then raises. Polynomial stays at 0. StepLR, MultiStepLR, ExponentialLR and
/// CosineAnnealingWarmRestarts have no end; here they stay at the rate after all steps. When a
/// cycle's first phase is no longer than its first iteration (pct_start * total_steps = 1), for
/// which PyTorch divides by zero, that iteration has the peak's rate.
double learningRate(const ScheduleConfig&, double baseLr, int64_t tick);

/// Returns how many updates the warm-up takes: none where the kind has no room for one.
int64_t warmupOf(const ScheduleConfig&);

/// Returns the momentum of an iteration; only for a schedule that cycles it.
double cycledMomentum(const ScheduleConfig&, int64_t tick);

/// Returns the number of values in a table of the step's graph: one for Constant. A table of Cosine
/// holds the warm-up and one fall; the rise is the same backwards.
int64_t scheduleLength(const ScheduleConfig&);
std::vector<float> learningRateTable(const ScheduleConfig&, double baseLr);
/// Returns all tables by state name: "schedule.table", with a second optimizer "schedule.table2",
/// and "schedule.momentum_complement", which holds 1 - momentum: for a momentum close to 1 the
/// difference keeps more digits.
std::map<std::string, std::vector<float>> scheduleTables(const RunConfig&);

} // namespace halfscope
