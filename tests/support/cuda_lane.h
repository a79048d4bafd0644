// A small training on the fake CUDA machine, for the tests of the module.
#pragma once

#include "engine/cuda/cuda_executor.h"
#include "engine/train/trainer.h"
#include "tests/support/cuda_fake.h"
#include "tests/support/training.h"

namespace halfscope::test {

inline RunConfig smallRun(Precision precision) {
    RunConfig config;
    config.model = {8, 1, Norm::None, Activation::Relu};
    config.lanes = {LaneConfig{precision, {}}};
    if (precision != Precision::AmpFp16) config.lanes[0].scaler.rules.mode = ScalerMode::Off;
    config.threads = 1;
    config.device = "cpu";
    config.seed = 11;
    return config;
}

inline constexpr BatchShape kSmallBatch{4, 3, 1};

inline std::shared_ptr<const Program> smallStep() {
    const RunConfig config = smallRun(Precision::AmpFp16);
    return std::make_shared<const Program>(
        compile(buildStep(config, config.lanes[0], kSmallBatch)));
}

inline std::unique_ptr<Executor> fakeExecutor(cuda::Platform& platform,
                                              const cuda::SourceOptions& options = {},
                                              const std::string& cacheFolder = {}) {
    return std::make_unique<cuda::CudaExecutor>(platform.open(0), cuda::stepWriter(), options,
                                                cuda::FileCache(cacheFolder));
}

/// Every state and output after the last step, as bytes.
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
