// Programs with fused chains for tests: devices, the checkerboard's step, how much memory traffic
// chains save, and a chain as a text of its own.
#pragma once

#include "engine/cuda/codegen/chain.h"
#include "engine/cuda/codegen/step_source.h"
#include "engine/settings/run_task.h"
#include "engine/step/step_graph.h"
#include "engine/train/step_runner.h"

#include <algorithm>
#include <string>
#include <vector>

namespace halfscope::test {

inline constexpr size_t kH200Shared = 232448; ///< the bytes that a block of capability 9.0 may have

inline cuda::DeviceTraits h200(cuda::ElementForm form = cuda::ElementForm::AsWritten) {
    cuda::DeviceTraits traits;
    traits.capability = 90;
    traits.multiprocessors = 132;
    traits.sharedBytes = kH200Shared;
    traits.chainWay.form = form;
    return traits;
}
/// A device with few multiprocessors, so that blocks take several tiles and parts differ.
inline cuda::DeviceTraits small(size_t sharedBytes = kH200Shared,
                                cuda::ElementForm form = cuda::ElementForm::AsWritten) {
    cuda::DeviceTraits traits = h200(form);
    traits.multiprocessors = 3;
    traits.sharedBytes = sharedBytes;
    return traits;
}
/// Options that make chains of everything, however small.
inline cuda::ChainOptions ofAllSizes() {
    cuda::ChainOptions options;
    options.leastElements = 1;
    return options;
}

/// Returns the text of a chain named "product", with each of its kernels as an entry:
/// "run_product", "run_product_merge".
inline std::string textOf(const std::vector<cuda::KernelText>& texts) {
    std::string text = cuda::prelude();
    for (const cuda::KernelText& each : texts)
        text += each.function;
    for (const char* name : {"product", "product_merge"})
        if (text.find(std::string("void ") + name + "(") != std::string::npos)
            text += std::string("extern \"C\" __global__ void run_") + name +
                    "(char* arena, char* scratch, unsigned* tickets) {\n" +
                    (texts[0].warpgroups ? "HS_GROUP_SHARED" : "HS_DYNAMIC_SHARED") +
                    "(shared);\n" + name + "(arena, scratch, tickets, shared, blockIdx.x);\n}\n";
    return text;
}

inline RunConfig checkerboard(int64_t side, int64_t width) {
    RunConfig config = defaultConfig();
    config.task.side = side;
    config.model.width = width;
    config.model.depth = 2;
    return config;
}
inline Program stepOf(const RunConfig& config, Precision precision) {
    return compile(buildStep(config, defaultLane(precision), makeTask(config)->shape()));
}

inline int chainsOf(const Program& program) {
    return static_cast<int>(
        std::count_if(program.kernels.begin(), program.kernels.end(), cuda::isChain));
}

/// Returns the traffic of a step in passes over activation tensors of `tensorBytes`.
inline double passesOf(const Program& program, double tensorBytes) {
    double bytes = 0;
    for (size_t k = 0; k < program.kernels.size(); ++k) {
        const cuda::Traffic traffic = cuda::trafficOf(program, k);
        bytes += traffic.readBytes + traffic.writtenBytes;
    }
    return bytes / tensorBytes;
}

inline constexpr cuda::ElementForm kForms[] = {cuda::ElementForm::AsWritten,
                                               cuda::ElementForm::Collected};
/// Returns the form's words for the end of a row's name.
inline const char* nameOf(cuda::ElementForm form) {
    return form == cuda::ElementForm::Collected ? ", collected" : "";
}

} // namespace halfscope::test
