// Runs a program on the CPU executor with given leaves and reads values back as doubles.
#pragma once

#include "engine/exec/reference.h"
#include "engine/ops/op_info.h"
#include "engine/verify/run_graph.h"

namespace halfscope::test {

using recorded::fromBytes;
using recorded::toBytes;

/// Returns outputs and states by name after `steps` steps.
inline std::map<std::string, std::vector<double>>
runSteps(const Graph& graph, const std::map<NodeId, RefTensor>& leaves, FuseOptions fuse,
         int threads, int steps) {
    return recorded::runGraph(*makeCpuExecutor(threads), graph, leaves,
                              {.fuse = fuse, .channelSums = true}, steps);
}

} // namespace halfscope::test
