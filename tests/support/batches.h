// Trainings and programs whose batches change with every step.
#pragma once

#include "engine/ops/builder.h"
#include "engine/train/experiment.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace halfscope::test {

/// A program that adds its input to a state: the state tells what every step saw.
struct Adder {
    std::shared_ptr<const Program> program;
    NodeId x = kNoNode, total = kNoNode;

    explicit Adder(int64_t count) {
        Graph graph;
        Builder b(graph);
        b.input("x", {count}, DType::F32);
        const NodeId state = b.state("total", {count}, DType::F32, StateRole::Parameter);
        graph.setNext(state, b.add(state, graph.input("x")));
        program = std::make_shared<const Program>(compile(graph));
        x = program->graph.input("x");
        total = program->graph.state("total");
    }
};

inline std::vector<float> batchOf(int64_t step, int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i) // the sums are exact, and tell which steps were
                                               // added
        values[i] = static_cast<float>((int64_t{1} << step) + static_cast<int64_t>(i % 2));
    return values;
}

inline std::vector<StepRecord> trained(Trainer& trainer, int64_t steps) {
    std::vector<StepRecord> records;
    std::vector<Event> events;
    for (int64_t i = 1; i <= steps; ++i)
        records.push_back(trainer.step(i, events).value());
    return records;
}

inline bool sameBits(const std::vector<StepRecord>& a, const std::vector<StepRecord>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return std::bit_cast<uint32_t>(x.loss) == std::bit_cast<uint32_t>(y.loss) &&
               x.scale == y.scale && x.flags == y.flags && x.step == y.step;
    });
}

/// Makes a training with a fresh batch each step; from 2^30 on there are overflows, whose cause is
/// searched for.
inline RunConfig manyBatches(const std::vector<Precision>& lanes, const std::string& device) {
    RunConfig config;
    config.model = {8, 1, Norm::None, Activation::Relu};
    config.threads = 1;
    config.seed = 11;
    config.task.kind = TaskKind::Regression;
    config.task.samples = 256;
    config.task.batch = 16;
    config.steps = 12;
    config.device = device;
    config.lanes.clear();
    for (const Precision precision : lanes) {
        config.lanes.push_back(defaultLane(precision));
        config.lanes.back().scaler.initScale = std::ldexp(1.0, 30);
    }
    return config;
}

} // namespace halfscope::test
