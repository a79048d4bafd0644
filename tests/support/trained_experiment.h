// An experiment that has come to its end.
#pragma once

#include "engine/train/experiment.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace halfscope {

/// Trains so many steps, whatever number of epochs the settings have.
inline std::unique_ptr<Experiment> trainedFor(int64_t steps, RunConfig config) {
    config.epochs = 0;
    config.steps = steps;
    auto experiment = std::make_unique<Experiment>(config);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (!experiment->finished())
        experiment->advance(records, events);
    return experiment;
}

} // namespace halfscope
