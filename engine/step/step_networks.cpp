// What the step trains: the networks, the sums of their outputs that losses look at, and their
// forward pass alone. The step around them is in step_graph.cpp.
#include "engine/core/error.h"
#include "engine/data/losses.h"
#include "engine/ops/functional.h"
#include "engine/settings/layers.h"
#include "engine/settings/model_settings.h"
#include "engine/settings/precision_plan.h"
#include "engine/step/model_shapes.h"
#include "engine/step/step_graph.h"
#include "engine/step/step_parts.h"

#include <algorithm>
#include <utility>

namespace halfscope {

namespace {

/// The outputs of all networks, and what was found while they were emitted.
struct Networks {
    std::vector<NodeId> predictions;             ///< by loss
    std::vector<std::vector<NodeId>> parameters; ///< by optimizer
    std::vector<ModelUpdate> updates;
};

/// How a model sees the batch x.
ModelInput inputOf(const RunConfig& config, const ModelSpec& model, NodeId x,
                   const BatchShape& batch) {
    const SeenInput seen = seenInput(config, model, batch);
    return {x, seen.shape, seen.pixelRows ? Layout::Rows : Layout::Planes};
}

/// A network's output, in f32 where the precision hands it out so.
EmittedModel emitOne(Builder& b, const ModelSpec& model, const ModelInput& input,
                     const PrecisionPlan& plan, const NetworkPart& part, uint64_t seed,
                     ModelMode mode) {
    const ModelOptions options{plan.storage, part.prefix, mode, seed, Layout::Rows};
    EmittedModel made = emitModel(b, model, input, options);
    if (plan.outputF32) {
        LabelScope label(b, made.lastLabel);
        b.setRule("outputs of the network in float32");
        made.output = b.cast(made.output, DType::F32);
        b.setRule({});
    }
    return made;
}

/// What a loss looks at: the sum of all outputs times its factors.
NodeId weightedSum(Builder& b, const LossPart& loss, const std::vector<NodeId>& outputs) {
    NodeId sum = kNoNode;
    for (size_t i = 0; i < outputs.size(); ++i) {
        const NodeId term = b.scale(outputs[i], loss.factors[i]);
        sum = sum == kNoNode ? term : fn::add(b, sum, term);
    }
    return sum;
}

Networks emitNetworks(Builder& b, const RunConfig& config, const BatchShape& shape,
                      const PrecisionPlan& plan, ModelMode mode = ModelMode::Train) {
    const DType storage = plan.storage.weights;
    const ModelSpec model = fittingModel(config, shape, storage);
    const NodeId x = b.input("x", shape.x(), storage);
    ModelInput input = inputOf(config, model, x, shape);
    if (!shape.sample.empty()) input.node = b.reshape(x, input.shape);
    const StepParts parts = partsOf(config);
    Networks networks;
    networks.parameters.resize(parts.optimizers.size());
    std::vector<NodeId> outputs;
    for (const NetworkPart& part : parts.networks) {
        EmittedModel made = emitOne(b, model, input, plan, part, config.seed, mode);
        outputs.push_back(made.output);
        auto& parameters = networks.parameters[part.optimizer];
        parameters.insert(parameters.end(), made.parameters.begin(), made.parameters.end());
        for (ModelUpdate& update : made.updates)
            networks.updates.push_back(std::move(update));
    }
    if (outputs.size() == 1 && parts.losses.size() == 1) {
        networks.predictions = outputs;
        return networks;
    }
    LabelScope label(b, "mixtures");
    // They belong to no layer.
    const bool byLayers = plan.policy && plan.policy->everyLayer;
    AutocastScope scope(b, byLayers ? nullptr : b.policy());
    for (const LossPart& loss : parts.losses)
        networks.predictions.push_back(weightedSum(b, loss, outputs));
    return networks;
}

/// Whether a policy can decide about a layer of the user's.
void collectLayers(const LayerSpec& layer, const std::string& words,
                   std::vector<std::string>& labels) {
    for (const LayerSpec& child : layer.children)
        collectLayers(child, words, labels);
    const bool sums = layer.info->holds == Holds::Residual;
    const bool single = layer.info->holds == Holds::Nothing && layer.info->computes;
    if (sums || single) labels.push_back(words + layer.label);
}

std::vector<std::string> layersOfText(const RunConfig& config) {
    const ModelSpec model = modelOf(config.model, 1, 1);
    std::vector<std::string> labels;
    for (const NetworkPart& part : partsOf(config).networks)
        collectLayers(model.root, wordsOf(part.prefix), labels);
    if (config.model.networks > 1) labels.push_back("mixtures");
    labels.push_back("loss");
    return labels;
}

/// One for each prediction.
std::vector<NodeId> emitLosses(Builder& b, const RunConfig& config, const BatchShape& shape,
                               const std::vector<NodeId>& predictions) {
    const NodeId target = b.input("target", shape.target(), shape.labels ? DType::I32 : DType::F32);
    PhaseScope phase(b, Phase::Loss);
    LabelScope label(b, "loss");
    std::vector<NodeId> losses;
    for (const NodeId y : predictions) {
        // Without autocast nothing casts the prediction: the loss is taken in F32 all the same.
        const NodeId loss =
            infoOf(config.task.loss.kind)
                .emit(b, config.task.loss, b.policy() ? y : b.cast(y, DType::F32), target);
        // a policy of the user's may lower it; the loss scale is in F32
        losses.push_back(b.cast(loss, DType::F32));
    }
    return losses;
}

} // namespace

Graph buildStep(const RunConfig& config, const LaneConfig& lane, const BatchShape& shape) {
    return buildStep(config, lane, planOf(lane), shape);
}

Graph buildStep(const RunConfig& config, const LaneConfig& lane, const PrecisionPlan& plan,
                const BatchShape& shape) {
    return buildStepWith(config, lane, plan, [&](Builder& b, DType) {
        Networks networks = emitNetworks(b, config, shape, plan);
        Forward f;
        f.prediction = networks.predictions[0];
        f.parameters = std::move(networks.parameters);
        f.updates = std::move(networks.updates);
        f.losses = emitLosses(b, config, shape, networks.predictions);
        return f;
    });
}

Graph buildForward(const RunConfig& config, const PrecisionPlan& plan, const BatchShape& shape,
                   ModelMode mode) {
    Graph graph;
    Builder b(graph);
    b.setMathMode(plan.math);
    AutocastScope scope(b, plan.policy ? &*plan.policy : nullptr);
    const Networks networks = emitNetworks(b, config, shape, plan, mode);
    graph.addOutput("prediction", networks.predictions[0]);
    return graph;
}

Graph buildEvaluation(const RunConfig& config, const PrecisionPlan& plan, const BatchShape& shape) {
    Graph graph;
    Builder b(graph);
    b.setMathMode(plan.math);
    AutocastScope scope(b, plan.policy ? &*plan.policy : nullptr);
    const Networks networks = emitNetworks(b, config, shape, plan, ModelMode::Evaluate);
    NodeId loss = kNoNode;
    for (const NodeId each : emitLosses(b, config, shape, networks.predictions))
        loss = loss == kNoNode ? each : b.add(loss, each);
    graph.addOutput("prediction", networks.predictions[0]);
    graph.addOutput("loss", loss);
    return graph;
}

std::vector<std::string> layersOf(const RunConfig& config) {
    if (!config.model.layers.empty()) return layersOfText(config);
    RunConfig network = config;
    network.gradients.penalty = 0; // comes after the layers
    // Any policy decides about the same layers, whatever the shape; norms want two rows.
    BatchShape shape{2, 1, 1};
    shape.labels = infoOf(config.task.loss.kind).ofLabels;
    const Graph graph = buildStep(network, defaultLane(Precision::AmpFp16), shape);
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
