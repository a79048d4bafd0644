// The training step's graph of a lane for tests of precisions: a small network with norms and an
// activation that not every policy lists.
#pragma once

#include "engine/ops/inspect.h"
#include "engine/settings/fields.h"
#include "engine/step/step_graph.h"
#include "engine/train/trainer.h"

namespace halfscope::test {

constexpr BatchShape kShape{64, 10, 1};

inline RunConfig configOf(const LaneConfig& lane, Norm norm = Norm::BatchNorm) {
    RunConfig config;
    // softplus is on some policies' lists and not on others
    config.model = {20, 1, norm, Activation::Softplus};
    config.lanes = {lane};
    config.threads = 1;
    config.device = "cpu";
    config.seed = 3;
    return config;
}

inline Graph graphOf(const LaneConfig& lane, Norm norm = Norm::BatchNorm) {
    Graph graph = buildStep(configOf(lane, norm), lane, kShape);
    validate(graph);
    return graph;
}

/// Returns the dtype of the last forward node of a layer, which is what the layer returns.
inline DType layerOutput(const Graph& graph, const std::string& label) {
    DType found = DType::Bool;
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        if (node.cause.label != label || node.cause.phase != Phase::Forward) continue;
        // a norm's statistics are emitted late, and have fewer axes
        if (node.shape.rank() == 2 && node.shape[0] == kShape.rows) found = node.dtype;
    }
    return found;
}

} // namespace halfscope::test
