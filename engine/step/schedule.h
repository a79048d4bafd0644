// Learning-rate schedules as pure functions of the iteration count, and as the tables that the
// step's graph reads. Leaves counting to the graph (state "schedule.tick").
#pragma once

#include "engine/settings/run_config.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace halfscope {

/// The learning rate of iteration `tick` (0 for the first), in double, by the rules of
/// torch.optim.lr_scheduler: OneCycleLR, StepLR, ExponentialLR, CosineAnnealingLR, LinearLR. Cosine
/// goes up again after its total steps, and down, without end. The others stay at their last rate:
/// as LinearLR does; OneCycleLR computes one rate beyond its end by extrapolation and then raises,
/// StepLR and ExponentialLR know no end. Where a cycle's first phase is no longer than its first
/// iteration (pct_start * total_steps = 1), which PyTorch divides by zero for, that iteration has
/// the peak's rate.
double learningRate(const ScheduleConfig&, double baseLr, int64_t tick);

/// The momentum of an iteration; only for a schedule that cycles it.
double cycledMomentum(const ScheduleConfig&, int64_t tick);

/// The values that a table of the step's graph holds: one for Constant. Of Cosine those of a fall;
/// the rise is the same backwards.
int64_t scheduleLength(const ScheduleConfig&);
std::vector<float> learningRateTable(const ScheduleConfig&, double baseLr);
/// All tables by state name: "schedule.table", with a second optimizer "schedule.table2", and
/// "schedule.momentum_complement", which holds 1 - momentum: close to 1 a momentum has its digits
/// there.
std::map<std::string, std::vector<float>> scheduleTables(const RunConfig&);

} // namespace halfscope
