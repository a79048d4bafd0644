// A small training on the fake CUDA machine, for the module's tests.
#pragma once

#include "engine/core/philox.h"
#include "engine/cuda/cuda_executor.h"
#include "engine/step/step_graph.h"
#include "engine/train/step_runner.h"
#include "tests/fake_cuda/cuda_fake.h"
#include "tests/support/lane.h"

#include <QTest>

namespace halfscope::test {

/// Checks after a test that the fake machine was used correctly and that everything was returned.
inline void checkFakeCuda() {
    QCOMPARE(fakeCuda().complaint, std::string());
    QCOMPARE(fakeCuda().live, 0);
    QCOMPARE(fakeCuda().used, size_t{0});
}

inline RunConfig smallRun(Precision precision) {
    RunConfig config = laneConfig(precision);
    config.model.width = 8;
    return config;
}

inline constexpr BatchShape kSmallBatch{4, 3, 1};

inline std::shared_ptr<const Program> smallStep() {
    const RunConfig config = smallRun(Precision::AmpFp16);
    return std::make_shared<const Program>(
        compile(buildStep(config, config.lanes[0], kSmallBatch)));
}

inline constexpr BatchShape kLaneBatch{16, 5, 1};

/// The step of a small network, loaded into an executor with weights and a batch.
struct Loaded {
    RunConfig config;
    std::shared_ptr<const Program> program;

    explicit Loaded(const RunConfig& run, const BatchShape& batch = kLaneBatch)
        : config(run), program(std::make_shared<const Program>(
                           compile(buildStep(config, config.lanes[0], batch)))) {}
    explicit Loaded(Precision precision) : Loaded(smallRun(precision)) {}
    const Graph& graph() const { return program->graph; }

    void start(Executor& executor) const {
        executor.load(program);
        upload(executor);
    }
    /// Uploads all states and inputs from one generator; settings that must be sensible have a
    /// run's values.
    void upload(Executor& executor) const {
        for (const auto& [name, values] : initialWeights(graph(), config.seed))
            uploadFloats(executor, graph(), graph().state(name), values);
        uploadSettings(executor, graph(), config, config.lanes[0]);
        uint64_t stream = 1;
        for (const InputInfo& input : graph().inputs()) {
            std::vector<float> values(static_cast<size_t>(graph()[input.node].elements()));
            Philox(5, stream++).fillNormal(values);
            uploadFloats(executor, graph(), input.node, values);
        }
    }
};

inline std::unique_ptr<Executor> fakeExecutor(cuda::Platform& platform,
                                              const cuda::SourceOptions& options = {},
                                              const std::string& cacheFolder = {}) {
    return std::make_unique<cuda::CudaExecutor>(platform.open(0), cuda::stepWriter(), options,
                                                cuda::FileCache(cacheFolder));
}

/// Returns every state and output after the last step, as bytes.
inline std::vector<std::vector<std::byte>> valuesOf(Executor& executor, const Graph& graph) {
    std::vector<std::vector<std::byte>> values;
    const auto add = [&](NodeId id) {
        values.emplace_back(graph[id].bytes());
        executor.download(id, values.back());
    };
    for (const StateInfo& state : graph.states())
        add(state.node);
    for (const OutputInfo& output : graph.outputs())
        add(output.node);
    return values;
}

} // namespace halfscope::test
