// One lane on the CPU that trains a small network on random targets, to be stepped by hand. The
// tests decide what its steps must show.
#pragma once

#include "engine/core/error.h"
#include "engine/train/trainer.h"
#include "tests/support/training.h"

#include <algorithm>

namespace halfscope::test {

constexpr uint64_t kLaneSeed = 11;

inline RunConfig laneConfig(Precision precision) {
    RunConfig config;
    config.model = {20, 1, Norm::None, Activation::Relu};
    config.lanes = {LaneConfig{precision, {}}};
    if (precision != Precision::AmpFp16) config.lanes[0].scaler.rules.mode = ScalerMode::Off;
    config.threads = 1;
    config.device = "cpu";
    config.seed = kLaneSeed;
    return config;
}

struct Lane {
    FixedDataset data;
    Trainer trainer;
    std::vector<Event> events;

    Lane(const RunConfig& config, FixedDataset fixed)
        : data(std::move(fixed)),
          trainer(config, 0, "lane", data, makeCpuExecutor(static_cast<int>(config.threads))) {}
    explicit Lane(const RunConfig& config, BatchShape shape = {64, 10, 1}, int batches = 1)
        : Lane(config, randomRegression(shape, batches, config.seed)) {}

    StepRecord step(int64_t number) {
        const auto record = trainer.step(number, events);
        require(record.has_value(), "nobody asked the step to stop");
        return *record;
    }
    int count(EventKind kind) const {
        return static_cast<int>(std::count_if(events.begin(), events.end(),
                                              [&](const Event& e) { return e.kind == kind; }));
    }
};

inline int differentWeights(const Weights& a, const Weights& b) {
    int different = a.size() == b.size() ? 0 : -1000000;
    for (const auto& [name, values] : a)
        different += differentBits(values, b.at(name));
    return different;
}

/// Sets weights to 1 and biases to 0, so that values and gradients are easy to tell.
inline Weights setOnes(Trainer& trainer) {
    Weights weights = trainer.weights();
    for (auto& [name, values] : weights)
        std::fill(values.begin(), values.end(), name.ends_with("weight") ? 1.0f : 0.0f);
    trainer.setWeights(weights);
    return weights;
}

} // namespace halfscope::test
