// What a lane's state may be: a checkpoint with right checksums can still hold what no training
// writes, and a training that went on from it would show nonsense. Weights, moments and the scale
// itself may be inf, and the first two nan, in a training that went wrong; that is left alone.
#pragma once

#include "engine/data/dataset.h"
#include "engine/data/epochs.h"
#include "engine/graph/graph.h"
#include "engine/settings/run_config.h"
#include "engine/train/lane_state.h"

#include <span>
#include <string>

namespace halfscope {

/// Checks the scaler, its rules, the schedule's rates and all counters that a lane had after
/// `state.step` steps of a run with these settings, forks and edits among them. Throws InputError
/// "schedule.tick, value 1: nan is not allowed: ..." for what no training has written, and for
/// states of the step that are missing.
void checkState(const LaneState& state, const Graph& step, const RunConfig&);
/// Throws InputError unless the state has so many values in LaneState::prediction.
void checkOutputs(const LaneState&, int64_t values);
/// Throws InputError where the data have another number of samples, or batches of another size,
/// than when the checkpoint was written.
void checkSamples(const EpochPlan& now, const EpochPlan& then, const Dataset&);
/// Throws InputError for the sentence of otherClasses().
void checkClasses(std::span<const std::string> now, std::span<const std::string> then,
                  const TaskConfig&);

} // namespace halfscope
