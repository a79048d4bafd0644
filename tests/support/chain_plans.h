// Programs with fused chains for tests: devices, the checkerboard's step, and what chains save of
// its traffic.
#pragma once

#include "engine/cuda/codegen/chain.h"
#include "engine/train/step_runner.h"

#include <algorithm>

namespace halfscope::test {

inline constexpr size_t kH200Shared = 232448; ///< bytes that a block of capability 9.0 may have

inline cuda::DeviceTraits h200(cuda::ElementForm form = cuda::ElementForm::AsWritten) {
    cuda::DeviceTraits traits;
    traits.capability = 90;
    traits.multiprocessors = 132;
    traits.sharedBytes = kH200Shared;
    traits.tiles.form = form;
    return traits;
}
/// Few multiprocessors: several tiles a block, and parts that are not alike.
inline cuda::DeviceTraits small(size_t sharedBytes = kH200Shared,
                                cuda::ElementForm form = cuda::ElementForm::AsWritten) {
    cuda::DeviceTraits traits = h200(form);
    traits.multiprocessors = 3;
    traits.sharedBytes = sharedBytes;
    return traits;
}
/// Chains of everything, however small.
inline cuda::ChainOptions ofAllSizes() {
    cuda::ChainOptions options;
    options.leastElements = 1;
    return options;
}

inline RunConfig checkerboard(int64_t side, int64_t width) {
    RunConfig config = defaultConfig();
    config.task.side = side;
    config.model.width = width;
    config.model.depth = 2;
    return config;
}
inline Program stepOf(const RunConfig& config, Precision precision) {
    return compile(buildStep(config, defaultLane(precision), makeDataset(config)->shape()));
}

inline int chainsOf(const Program& program) {
    return static_cast<int>(
        std::count_if(program.kernels.begin(), program.kernels.end(), cuda::isChain));
}

/// Passes over activation tensors of the chains and whatever else is large.
inline double passesOf(const Program& program, double tensorBytes) {
    double bytes = 0;
    for (size_t k = 0; k < program.kernels.size(); ++k) {
        const cuda::Traffic traffic = cuda::trafficOf(program, k);
        bytes += traffic.readBytes + traffic.writtenBytes;
    }
    return bytes / tensorBytes;
}

inline constexpr cuda::ElementForm kForms[] = {
    cuda::ElementForm::AsWritten, cuda::ElementForm::Collected, cuda::ElementForm::OnePass};
/// After a row's name.
inline const char* nameOf(cuda::ElementForm form) {
    if (form == cuda::ElementForm::AsWritten) return "";
    return form == cuda::ElementForm::Collected ? ", collected" : ", one pass";
}

} // namespace halfscope::test
