// How long a run is: its epochs, its steps, and the schedule that spans them.
#pragma once

#include "engine/data/dataset.h"
#include "engine/data/epochs.h"
#include "engine/settings/run_config.h"

#include <optional>

namespace halfscope {

/// Nothing where the files of the data set cannot be used.
std::optional<DataFacts> knownFactsOf(const RunConfig&);
/// How the task's samples become steps. Also of settings that checkConfig() refuses; a data set
/// whose files cannot be used counts as one batch.
EpochPlan epochPlanOf(const RunConfig&);
/// Steps of the run: as many as its epochs have, or run.steps where it counts none.
int64_t stepsOf(const RunConfig&);
/// The schedule with its length in updates: that of the run where schedule.total_steps is 0.
ScheduleConfig scheduleOf(const RunConfig&);

} // namespace halfscope
