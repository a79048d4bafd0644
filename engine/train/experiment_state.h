// All that an experiment needs in order to go on after a step with the same bits.
#pragma once

#include "engine/data/epochs.h"
#include "engine/settings/run_config.h"
#include "engine/train/lane_state.h"

#include <string>
#include <vector>

namespace halfscope {

/// Between two steps. The order of samples and the place in the epoch follow from settings and
/// step.
struct ExperimentState {
    RunConfig recorded; ///< see Experiment::recorded()
    int64_t step = 0;   ///< that every lane has finished
    double wallSeconds = 0;
    EpochPlan epochs;
    std::string device;           ///< that the first lane ran on, for people
    std::string run;              ///< the id of the run that it is a part of; empty: of none
    std::vector<LaneState> lanes; ///< also those that were forked
};

} // namespace halfscope
