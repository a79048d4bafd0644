// All that an experiment needs in order to go on after a step with the same bits.
#pragma once

#include "engine/core/sha256.h"
#include "engine/data/epochs.h"
#include "engine/settings/run_config.h"
#include "engine/train/lane_state.h"

#include <set>
#include <string>
#include <vector>

namespace halfscope {

/// The state between two steps. The order of samples and the place in the epoch follow from the
/// settings and the step.
struct ExperimentState {
    RunConfig recorded; ///< see Experiment::recorded()
    int64_t step = 0;   ///< the last one that every lane has finished
    double wallSeconds = 0;
    EpochPlan epochs;
    std::string device;           ///< the device that the first lane ran on, shown to people
    std::string run;              ///< the id of the run that it is part of; empty when there is
                                  ///< none
    std::vector<LaneState> lanes; ///< including those that were forked
    std::string data{};           ///< see Experiment::dataPrint(); empty when it is not known
    /// The damaged samples that events have named, as damagedKey() of the reasons.
    std::set<std::string> damaged{};
    std::vector<std::string> classes{}; ///< see DataRecord; empty when they are not known
    /// Whether the run keeps the weights after its best validations. Its folder cannot tell before
    /// the first of them.
    bool keepsBest = false;
    int64_t countGradients = 0; ///< the run counts them every so many steps; 0: never
    /// The run writes a checkpoint every so many steps; 0: none on the way.
    int64_t checkpointEvery = 0;
};

/// Whether a state has what the last step computed, see LaneState::prediction. At the end of a run
/// it always has, because nothing else tells a program that goes on what the pictures showed.
enum class LastOutputs : uint8_t { AtTheEnd, Always };

inline constexpr size_t kDamagedKey = 16; ///< hexadecimal digits
/// Returns a short name of a reason, however long that is.
inline std::string damagedKey(const Message& reason) {
    return sha256(reason.english()).substr(0, kDamagedKey);
}

} // namespace halfscope
