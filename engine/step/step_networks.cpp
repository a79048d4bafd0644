// What the step trains: one network, or the two of the recipe with several models, losses and
// optimizers; and its forward pass alone. The step around it is in step_graph.cpp.
#include "engine/ops/functional.h"
#include "engine/settings/layers.h"
#include "engine/settings/precision_plan.h"
#include "engine/step/step_graph.h"

#include <algorithm>

namespace halfscope {

namespace {

/// p * first + q * second: what the losses of two networks look at.
NodeId mixture(Builder& b, double p, NodeId first, double q, NodeId second) {
    return fn::add(b, b.scale(first, p), b.scale(second, q));
}

/// The network, or the two of the recipe with several models, losses and optimizers.
struct Networks {
    NodeId prediction = kNoNode;
    NodeId further = kNoNode; ///< what the second loss compares with the target
    std::vector<RunningStatistic> running;
};

/// A network's output, in f32 where the precision hands it out so.
Network emitOne(Builder& b, const RunConfig& config, NodeId x, int64_t outputs,
                const PrecisionPlan& plan, const std::string& prefix = {}) {
    Network network = emitNetwork(b, config.model, x, outputs, plan.storage, prefix);
    if (plan.outputF32) {
        LabelScope label(b, outputLabel(prefix));
        b.setRule("outputs of the network in float32");
        network.output = b.cast(network.output, DType::F32);
        b.setRule({});
    }
    return network;
}

Networks emitNetworks(Builder& b, const RunConfig& config, const BatchShape& shape,
                      const PrecisionPlan& plan) {
    const NodeId x = b.input("x", {shape.rows, shape.inputs}, plan.storage.weights);
    Network first = emitOne(b, config, x, shape.outputs, plan);
    if (config.model.networks == 1) return {first.output, kNoNode, std::move(first.running)};
    const Network second = emitOne(b, config, x, shape.outputs, plan, std::string(kSecondPrefix));
    first.running.insert(first.running.end(), second.running.begin(), second.running.end());
    LabelScope label(b, "mixtures");
    // They belong to no layer.
    const bool byLayers = plan.policy && plan.policy->everyLayer;
    AutocastScope scope(b, byLayers ? nullptr : b.policy());
    // The factors of PyTorch's notes on AMP; both losses are zero at (8, 1) / 19 of the target.
    return {mixture(b, 2, first.output, 3, second.output),
            mixture(b, 3, first.output, -5, second.output), std::move(first.running)};
}

} // namespace

Graph buildStep(const RunConfig& config, const LaneConfig& lane, const BatchShape& shape) {
    return buildStep(config, lane, planOf(lane), shape);
}

Graph buildStep(const RunConfig& config, const LaneConfig& lane, const PrecisionPlan& plan,
                const BatchShape& shape) {
    return buildStepWith(config, lane, plan, [&](Builder& b, DType) {
        Networks networks = emitNetworks(b, config, shape, plan);
        Forward f{networks.prediction, kNoNode, std::move(networks.running)};
        const NodeId target = b.input("target", {shape.rows, shape.outputs}, DType::F32);
        PhaseScope phase(b, Phase::Loss);
        LabelScope label(b, "loss");
        // Without autocast nothing casts the prediction: the loss is taken in F32 all the same.
        const auto lossOf = [&](NodeId y) {
            const NodeId loss = fn::mseLoss(b, b.policy() ? y : b.cast(y, DType::F32), target);
            // a policy of the user's may lower it; the loss scale is in F32
            return b.cast(loss, DType::F32);
        };
        f.loss = lossOf(f.prediction);
        if (networks.further != kNoNode) f.furtherLosses = {lossOf(networks.further)};
        return f;
    });
}

Graph buildForward(const RunConfig& config, const PrecisionPlan& plan, const BatchShape& shape) {
    Graph graph;
    Builder b(graph);
    b.setMathMode(plan.math);
    AutocastScope scope(b, plan.policy ? &*plan.policy : nullptr);
    const Networks networks = emitNetworks(b, config, shape, plan);
    graph.addOutput("prediction", networks.prediction);
    return graph;
}

std::vector<std::string> layersOf(const RunConfig& config) {
    RunConfig network = config;
    network.gradients.penalty = 0; // comes after the layers
    // Any policy decides about the same layers, whatever the shape; norms want two rows.
    const Graph graph = buildStep(network, defaultLane(Precision::AmpFp16), {2, 1, 1});
    std::vector<std::string> layers;
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Cause& cause = graph[id].cause;
        const bool forward = cause.phase == Phase::Forward || cause.phase == Phase::Loss;
        const bool decided = !cause.decision.empty() || !cause.rule.empty();
        const bool known = std::find(layers.begin(), layers.end(), cause.label) != layers.end();
        if (forward && decided && !known && !cause.label.empty()) layers.push_back(cause.label);
    }
    return layers;
}

} // namespace halfscope
