// The networks: parameters as states and the forward as nodes. One function serves every task; the
// caller's autocast policy acts in it. Leaves the loss and the rest of the step to step_graph.
#pragma once

#include "engine/ops/builder.h"
#include "engine/settings/precision_plan.h"
#include "engine/settings/run_config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace halfscope {

/// A running statistic that a forward has seen a new batch value of.
struct RunningStatistic {
    NodeId state = kNoNode; ///< F32
    NodeId batch = kNoNode;
    std::string label; ///< "norm 0"
};
struct Network {
    NodeId output = kNoNode;
    std::vector<RunningStatistic> running;
};

/// x (rows, inputs) -> (rows, outputs). Layer 0 is linear inputs -> width, then `depth` hidden
/// layers width -> width, each with norm and activation, then the output layer width -> outputs.
/// Parameters "layers.0.weight" (out, in), "layers.0.bias", "norms.0.weight", "norms.0.bias" are
/// stored as `storage`, running statistics "norms.0.running_mean" and "norms.0.running_var" as the
/// norms see their parameters. A ParameterStorage can set norms apart. `prefix`, such as "second.",
/// stands before every name, and in the labels of causes.
Network emitNetwork(Builder&, const ModelConfig&, NodeId x, int64_t outputs,
                    const ParameterStorage& storage, const std::string& prefix = {});

/// Sets the next values: (1 - 0.1) * running + 0.1 * batch. Emitted late in a step, because a step
/// can be given up only until its first state is written.
void emitRunningStatistics(Builder&, const std::vector<RunningStatistic>&);

/// A linear layer with parameters of its own: "<name>.weight" (out, in) and "<name>.bias" (out).
NodeId emitLinear(Builder&, NodeId x, const std::string& name, int64_t outputs, DType storage);

/// "output layer", or "second output layer": the label of the last layer.
std::string outputLabel(const std::string& prefix);

Op opOf(Activation);

} // namespace halfscope
