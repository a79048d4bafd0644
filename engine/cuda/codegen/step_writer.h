// How the CUDA module gets its steps: the functions are in the program that loads the module, which
// has the engine's tables of operations anyway.
#pragma once

#include "engine/cuda/codegen/chain.h"
#include "engine/cuda/codegen/step_source.h"
#include "engine/ops/op_info.h"

namespace halfscope::cuda {

/// Returns what a launch does, for errors and times: "matmul 'layer 1' [64, 256]", "12 kernels to
/// ...".
inline std::string describeLaunch(const Program& program, const Launch& launch) {
    if (launch.kernels.empty()) return "copies of next states";
    const Node& node = program.graph[program.kernels[launch.kernels.back()].members.back()];
    std::string text;
    if (launch.kernels.size() > 1) text = std::to_string(launch.kernels.size()) + " kernels to ";
    return text + std::string(nameOf(node.op)) + " '" + node.cause.label + "' " + node.shape.text();
}

/// Returns the least that its kernels must move and multiply.
inline Traffic trafficOf(const Program& program, const Launch& launch) {
    Traffic sum;
    for (const size_t kernel : launch.kernels) {
        const Traffic traffic = trafficOf(program, kernel);
        sum.readBytes += traffic.readBytes;
        sum.writtenBytes += traffic.writtenBytes;
        sum.flops += traffic.flops;
    }
    return sum;
}

struct StepWriter {
    StepSource (*write)(const Program&, const DeviceTraits&, const SourceOptions&) = nullptr;
    std::string (*describe)(const Program&, const Launch&) = nullptr;
    Traffic (*traffic)(const Program&, const Launch&) = nullptr;
};
inline StepWriter stepWriter() { return {writeStep, describeLaunch, trafficOf}; }

} // namespace halfscope::cuda
