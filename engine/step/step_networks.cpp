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

/// The outputs of all networks, and the states that were collected while they were emitted.
struct Networks {
    std::vector<NodeId> predictions;             ///< by loss
    std::vector<std::vector<NodeId>> parameters; ///< by optimizer
    std::vector<ModelUpdate> updates;
};

/// Returns the batch x in the form in which a model takes it.
ModelInput inputOf(const RunConfig& config, const ModelSpec& model, NodeId x,
                   const BatchShape& batch) {
    const SeenInput seen = seenInput(config, model, batch);
    return {x, seen.shape, seen.pixelRows ? Layout::Rows : Layout::Planes};
}

/// Returns the batch's targets in the form in which losses compare them with predictions.
NodeId targetOf(Builder& b, const BatchShape& shape) {
    const NodeId target = b.input("target", shape.target(), shape.labels ? DType::I32 : DType::F32);
    return shape.targetSample.empty() ? target : b.reshape(target, shape.prediction());
}

/// Emits a network; its output is cast to F32 when the precision returns outputs in F32. An image
/// that it makes has the layout `image`.
EmittedModel emitOne(Builder& b, const ModelSpec& model, const ModelInput& input,
                     const PrecisionPlan& plan, const NetworkPart& part, uint64_t seed,
                     ModelMode mode, Layout image = Layout::Rows) {
    const ModelOptions options{plan.storage, part.prefix, mode, seed, image};
    EmittedModel made = emitModel(b, model, input, options);
    if (plan.outputF32) {
        LabelScope label(b, made.lastLabel);
        b.setRule(kOutputsInF32);
        made.output = b.cast(made.output, DType::F32);
        b.setRule({});
    }
    return made;
}

/// Returns the output without the axes that targets have.
NodeId flattened(Builder& b, const EmittedModel& made, const BatchShape& shape) {
    if (b.shapeOf(made.output) == shape.prediction()) return made.output;
    LabelScope label(b, made.lastLabel);
    return b.reshape(made.output, shape.prediction());
}

/// Returns the policy for what belongs to no layer, where a precision casts by layers: it casts
/// nothing.
const CastPolicy& outsideOfLayers() {
    static const CastPolicy s_none{.name = "outside of layers", .low = DType::F32, .rules = {}};
    return s_none;
}

/// Returns the input of a loss: the sum of all outputs times their factors.
NodeId weightedSum(Builder& b, const LossPart& loss, const std::vector<NodeId>& outputs) {
    NodeId sum = kNoNode;
    for (size_t i = 0; i < outputs.size(); ++i) {
        const NodeId term = b.scale(outputs[i], loss.factors[i]);
        sum = sum == kNoNode ? term : fn::add(b, sum, term);
    }
    return sum;
}

void take(Networks& networks, const NetworkPart& part, EmittedModel& made) {
    auto& parameters = networks.parameters[part.optimizer];
    parameters.insert(parameters.end(), made.parameters.begin(), made.parameters.end());
    for (ModelUpdate& update : made.updates)
        networks.updates.push_back(std::move(update));
}

Networks emitNetworks(Builder& b, const RunConfig& config, const BatchShape& shape,
                      const PrecisionPlan& plan, ModelMode mode = ModelMode::Train) {
    const DType storage = plan.storage.weights;
    const ModelSpec model = fittingModel(config, shape, storage, mode);
    const NodeId x = b.input("x", shape.x(), shape.xDType(storage));
    ModelInput input = inputOf(config, model, x, shape);
    if (!shape.sample.empty()) input.node = b.reshape(x, input.shape);
    const StepParts parts = partsOf(config);
    Networks networks;
    networks.parameters.resize(parts.optimizers.size());
    std::vector<NodeId> outputs;
    // an image is that of a picture's pixels, or has the axes of its target
    const Layout image = shape.targetSample.empty() ? Layout::Rows : Layout::Planes;
    for (const NetworkPart& part : parts.networks) {
        EmittedModel made = emitOne(b, model, input, plan, part, config.seed, mode, image);
        outputs.push_back(flattened(b, made, shape));
        take(networks, part, made);
    }
    if (outputs.size() == 1 && parts.losses.size() == 1) {
        networks.predictions = outputs;
        return networks;
    }
    LabelScope label(b, "mixtures");
    // The sums belong to no layer.
    const bool byLayers = plan.policy && plan.policy->everyLayer;
    AutocastScope scope(b, byLayers ? &outsideOfLayers() : b.policy());
    for (const LossPart& loss : parts.losses)
        networks.predictions.push_back(weightedSum(b, loss, outputs));
    return networks;
}

/// Collects the labels of the layers that a user's policy can decide about.
void collectLayers(const LayerSpec& layer, const std::string& words,
                   std::vector<std::string>& labels) {
    for (const LayerSpec& child : layer.children)
        collectLayers(child, words, labels);
    const bool sums = layer.info->holds == Holds::Residual;
    const bool single = layer.info->holds == Holds::Nothing && layer.info->computes;
    if (sums || single) labels.push_back(words + layer.label);
    for (const std::string_view part : layer.info->parts)
        labels.push_back(words + layer.label + "." + std::string(part));
}

std::vector<std::string> layersOfText(const RunConfig& config) {
    const ModelSpec model = modelOf(config.model, 1, 1);
    std::vector<std::string> labels;
    const StepParts parts = partsOf(config);
    for (const NetworkPart& part : parts.networks)
        collectLayers(model.root, wordsOf(part.prefix), labels);
    if (parts.critic)
        collectLayers(criticOf(config.model, 1).root, wordsOf(parts.critic->prefix), labels);
    if (parts.losses.size() > 1) labels.push_back("mixtures");
    labels.push_back("loss");
    return labels;
}

/// Returns one loss for each prediction.
std::vector<NodeId> emitLosses(Builder& b, const RunConfig& config, const BatchShape& shape,
                               const std::vector<NodeId>& predictions) {
    const NodeId target = targetOf(b, shape);
    PhaseScope phase(b, Phase::Loss);
    LabelScope label(b, "loss");
    std::vector<NodeId> losses;
    for (const NodeId y : predictions) {
        // Without autocast nothing casts the prediction, but the loss is still taken in F32.
        const NodeId loss =
            infoOf(config.task.loss.kind)
                .emit(b, config.task.loss, b.policy() ? y : b.cast(y, DType::F32), target);
        // A user's policy may lower the loss; the loss scale is in F32.
        losses.push_back(b.cast(loss, DType::F32));
    }
    return losses;
}

/// A network that learns from a critic, and the critic.
class Adversaries {
public:
    Adversaries(Builder& b, const RunConfig& config, const BatchShape& shape,
                const PrecisionPlan& plan, ModelMode mode = ModelMode::Train)
        : m_b(b), m_config(config), m_shape(shape), m_plan(plan), m_mode(mode) {}

    /// Emits the forward pass. The loss that is shown is the critic's; for WGAN it is, as in its
    /// paper, the distance that the critic measures.
    Forward forward(Networks networks) {
        Forward f;
        f.prediction = networks.predictions[0];
        const NodeId target = targetOf(m_b, m_shape);
        std::vector<NodeId> judged{target, f.prediction};
        const bool slopes =
            m_config.model.adversary == Adversary::WganGp && m_mode == ModelMode::Train;
        if (slopes) {
            f.slopePenalty.at = mixture(networks, target, f.prediction);
            judged.push_back(f.slopePenalty.at);
        }
        const std::vector<NodeId> scores = critic(networks, judged);
        if (slopes) f.slopePenalty.output = scores[2];
        f.slopePenalty.loss = 1;
        f.losses = losses(scores[0], scores[1]);
        const bool measures = m_config.model.adversary == Adversary::WganGp;
        f.shownLoss = measures ? m_b.neg(f.losses[1]) : f.losses[1];
        f.generatorLoss = f.losses[0];
        f.ownLosses = true;
        f.parameters = std::move(networks.parameters);
        f.updates = std::move(networks.updates);
        return f;
    }

private:
    /// Returns, for each sample, a point between its target and its prediction, drawn anew in every
    /// step.
    NodeId mixture(Networks& networks, NodeId target, NodeId made) {
        LabelScope label(m_b, "mixtures");
        const AutocastScope off(m_b, nullptr);
        const NodeId counter = m_b.state("critic.mixtures", {}, DType::F32, StateRole::Counter);
        networks.updates.push_back({counter, kNoNode, m_b.label(), 0});
        const NodeId share = fn::uniform(m_b, Shape{m_shape.rows, 1}, counter, m_config.seed);
        const NodeId way = m_b.sub(m_b.cast(made, DType::F32), target);
        return m_b.add(target, m_b.mul(m_b.expandLike(share, way), way));
    }

    /// Returns one score per row, F32, for each entry of `judged`. The critic sees them as one
    /// batch.
    std::vector<NodeId> critic(Networks& networks, const std::vector<NodeId>& judged) {
        const NetworkPart part = partsOf(m_config).critic.value();
        const ModelSpec model = criticOf(m_config.model, m_shape.outputs);
        NodeId all = kNoNode;
        {
            LabelScope label(m_b, "critic input");
            const bool byLayers =
                m_plan.policy && m_plan.policy->everyLayer; // the input belongs to no layer
            const AutocastScope scope(m_b, byLayers ? &outsideOfLayers() : m_b.policy());
            all = m_b.cast(fn::cat(m_b, judged, 0), m_plan.storage.weights);
        }
        const Shape in = m_b.shapeOf(all);
        checkScores(model, {in, m_plan.storage.weights}, m_mode);
        EmittedModel made = emitOne(m_b, model, {all, in}, m_plan, part, m_config.seed, m_mode);
        take(networks, part, made);
        LabelScope label(m_b, "critic output");
        std::vector<NodeId> scores;
        const NodeId wide = m_b.cast(made.output, DType::F32);
        for (size_t i = 0; i < judged.size(); ++i) {
            const auto first = static_cast<int64_t>(i) * m_shape.rows;
            scores.push_back(m_b.slice(wide, 0, first, first + m_shape.rows));
        }
        return scores;
    }

    /// Returns the first network's loss and the critic's loss.
    std::vector<NodeId> losses(NodeId real, NodeId made) {
        PhaseScope phase(m_b, Phase::Loss);
        LabelScope label(m_b, "loss");
        const auto f32 = [this](NodeId loss) { return m_b.cast(loss, DType::F32); };
        if (m_config.model.adversary == Adversary::WganGp) {
            const NodeId mean = fn::mean(m_b, made, {});
            return {f32(m_b.neg(mean)), f32(m_b.sub(mean, fn::mean(m_b, real, {})))};
        }
        const NodeId yes = m_b.constantLike(1, real), no = m_b.constantLike(0, real);
        const NodeId found = fn::bceWithLogits(m_b, made, no);
        return {f32(fn::bceWithLogits(m_b, made, yes)),
                f32(m_b.add(fn::bceWithLogits(m_b, real, yes), found))};
    }

    Builder& m_b;
    const RunConfig& m_config;
    const BatchShape& m_shape;
    const PrecisionPlan& m_plan;
    const ModelMode m_mode;
};

} // namespace

Graph buildStep(const RunConfig& config, const LaneConfig& lane, const BatchShape& shape) {
    return buildStep(config, lane, planOf(lane), shape);
}

namespace {

/// Returns the forward pass of the settings' networks and losses.
ForwardFn forwardOf(const RunConfig& config, const PrecisionPlan& plan, const BatchShape& shape) {
    return [&](Builder& b, DType) {
        Networks networks = emitNetworks(b, config, shape, plan);
        if (isAdversarial(config.model))
            return Adversaries(b, config, shape, plan).forward(std::move(networks));
        Forward f;
        f.prediction = networks.predictions[0];
        f.parameters = std::move(networks.parameters);
        f.updates = std::move(networks.updates);
        f.losses = emitLosses(b, config, shape, networks.predictions);
        return f;
    };
}

} // namespace

Graph buildStep(const RunConfig& config, const LaneConfig& lane, const PrecisionPlan& plan,
                const BatchShape& shape) {
    return buildStepWith(config, lane, plan, forwardOf(config, plan, shape));
}

Graph buildGradients(const RunConfig& config, const LaneConfig& lane, const PrecisionPlan& plan,
                     const BatchShape& shape) {
    return buildGradientsWith(config, lane, plan, forwardOf(config, plan, shape));
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

Graph buildLoss(const RunConfig& config, const PrecisionPlan& plan, const BatchShape& shape,
                ModelMode mode) {
    Graph graph;
    Builder b(graph);
    b.setMathMode(plan.math);
    AutocastScope scope(b, plan.policy ? &*plan.policy : nullptr);
    Networks networks = emitNetworks(b, config, shape, plan, mode);
    NodeId loss = kNoNode;
    if (isAdversarial(config.model)) {
        const Forward f = Adversaries(b, config, shape, plan, mode).forward(std::move(networks));
        graph.addOutput("prediction", f.prediction);
        graph.addOutput("loss", f.shownLoss);
        return graph;
    }
    for (const NodeId each : emitLosses(b, config, shape, networks.predictions))
        loss = loss == kNoNode ? each : b.add(loss, each);
    graph.addOutput("prediction", networks.predictions[0]);
    graph.addOutput("loss", loss);
    return graph;
}

std::vector<std::string> layersOf(const RunConfig& config) {
    if (!config.model.layers.empty() || isAdversarial(config.model)) return layersOfText(config);
    RunConfig network = config;
    network.gradients.penalty = 0; // the penalty comes after the layers
    // Any policy decides about the same layers whatever the shape; two rows, because norms need
    // them.
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
