// How long a run is: its epochs, its steps, and the schedule that spans them.
#pragma once

#include "engine/data/dataset.h"
#include "engine/data/epochs.h"
#include "engine/settings/run_config.h"

#include <optional>

namespace halfscope {

/// Returns the facts, or nothing when the files of the data set cannot be used.
std::optional<DataFacts> knownFactsOf(const RunConfig&);
/// Whether there are samples to validate on. False only where that is certain.
bool hasSamplesToValidateOn(const RunConfig&);
/// Returns how the task's samples become steps, also for settings that checkConfig() refuses; a
/// data set whose files cannot be used counts as one batch.
EpochPlan epochPlanOf(const RunConfig&);
/// Turns settings into those of a run that only judges, see RunConfig::onlyJudges. Its batch stays:
/// where norms use the batch, samples are judged in batches of as many as in the training.
void fitToJudge(RunConfig&);
/// Returns the steps of the run: as many as its epochs have, or run.steps when it counts no epochs.
int64_t stepsOf(const RunConfig&);
/// Returns the first step after `step` that lanes are validated after wherever the run ends; 0:
/// none is.
int64_t nextValidation(const ValidationConfig&, const EpochPlan&, int64_t step);
/// Returns the schedule with its length in updates: that of the run when schedule.total_steps is 0,
/// but long enough for the warm-up.
ScheduleConfig scheduleOf(const RunConfig&);
/// Whether the edit only lets the run end at another step.
bool movesEnd(const LiveEdit&);
/// Returns a recorded run with the end that its edits have given it, without these edits. Its
/// schedule keeps the length that it began with, as in the run.
RunConfig withMovedEnd(RunConfig recorded);

} // namespace halfscope
