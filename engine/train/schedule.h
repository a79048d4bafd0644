// Learning-rate schedules as pure functions of the iteration count, and as the table that the
// step's graph reads. Leaves counting to the graph (state "schedule.tick").
#pragma once

#include "engine/train/run_config.h"

#include <cstdint>
#include <vector>

namespace halfscope {

/// The learning rate of iteration `tick` (0 for the first), in double. Constant: baseLr. OneCycle:
/// torch.optim.lr_scheduler.OneCycleLR with cosine annealing and two phases; after the last step of
/// the cycle its learning rate stays.
double learningRate(const ScheduleConfig&, double baseLr, int64_t tick);

/// The values that "schedule.table" holds: one for Constant, totalSteps for OneCycle.
int64_t scheduleLength(const ScheduleConfig&);
std::vector<float> learningRateTable(const ScheduleConfig&, double baseLr);

} // namespace halfscope
