// Writes the networks of a step, and their weighted sum where there are several; checks the file's
// limits.
#include "engine/train/onnx_file.h"

#include "engine/core/error.h"
#include "engine/models/onnx_layers.h"
#include "engine/settings/model_settings.h"
#include "engine/settings/run_length.h"
#include "engine/step/model_shapes.h"
#include "engine/step/step_parts.h"

#include <limits>

namespace halfscope {

namespace {

/// protobuf's limit, less some room for everything but the weights.
constexpr int64_t kMostWeights = (std::numeric_limits<int32_t>::max() - (1 << 24)) / 4;

/// Checks the network's size. `key` is the setting that describes it.
void checkSize(const char* key, const ModelSpec& model, size_t networks) {
    int64_t weights = 0;
    for (const NamedParameter& each : parametersOf(model))
        weights += each.info.shape.elements();
    weights *= static_cast<int64_t>(networks);
    if (weights > kMostWeights)
        throw InputError(phrase("Model", "%1: %2 weights do not fit into an ONNX file of 2 GiB"),
                         key, weights);
}

/// Brings a prediction of standardised targets back into the units of the data.
std::string restored(OnnxGraph& graph, const std::string& prediction, const Standardiser& scale,
                     Shape made) {
    made[0] = 1; // any number of samples
    const Shape shape = scale.spreads().size() == 1 ? Shape{1} : made;
    std::vector<float> means, deviations;
    for (size_t i = 0; i < static_cast<size_t>(shape.elements()); ++i) {
        means.push_back(static_cast<float>(scale.spreadAt(i).mean));
        deviations.push_back(static_cast<float>(scale.spreadAt(i).deviation));
    }
    graph.setLabel("units");
    const std::string scaled = graph.node("Mul", {prediction, graph.constant(shape, deviations)});
    return graph.node("Add", {scaled, graph.constant(shape, means)});
}

/// Returns the file's bytes. Without weights it only checks.
std::string modelOf(const RunConfig& config, const Weights* weights,
                    std::map<std::string, std::string> about, const std::string& program) {
    const DataFacts facts = factsOf(config.task);
    const BatchShape batch = batchShape(facts.tensors, epochPlanOf(config).batch);
    const ModelSpec model = fittingModel(config, batch, DType::F32);
    const StepParts parts = partsOf(config);
    checkSize("model.layers", model, parts.networks.size());
    const SeenInput seen = seenInput(config, model, batch);
    OnnxGraph graph;
    const OnnxGraph::Value input{"x", seen.pixelRows ? seen.shape : batch.x(), batch.xDType()};
    std::string x = input.name;
    graph.setLabel("input");
    if (!(input.shape == seen.shape)) x = onnxReshape(graph, x, input.shape, seen.shape);
    std::string sum;
    NodeType out;
    for (size_t i = 0; i < parts.networks.size(); ++i) {
        out = {seen.shape, batch.xDType()};
        std::string term = emitOnnx(graph, model.root, x, out, parts.networks[i].prefix, weights);
        graph.setLabel("mixtures");
        const double factor = parts.losses.front().factors[i];
        if (factor != 1) term = graph.node("Mul", {term, graph.scalar(factor)});
        sum = sum.empty() ? term : graph.node("Add", {sum, term});
    }
    if (!weights) return {};
    about["model"] = textOf(model);
    if (facts.targetScale.active()) sum = restored(graph, sum, facts.targetScale, out.shape);
    return graph.modelBytes(input, sum, {"prediction", out.shape}, about, program);
}

/// Does the same for the critic.
std::string criticModelOf(const RunConfig& config, const Weights* weights,
                          std::map<std::string, std::string> about, const std::string& program) {
    const std::optional<NetworkPart> part = partsOf(config).critic;
    if (!part) throw InputError(phrase("Model", "model.adversary: this run has no critic"));
    const BatchShape batch = batchShape(factsOf(config.task).tensors, epochPlanOf(config).batch);
    const ModelSpec model = criticOf(config.model, batch.outputs);
    checkSize("model.critic", model, 1);
    const OnnxGraph::Value input{"x", {batch.rows, batch.outputs}, DType::F32};
    NodeType out{input.shape, input.dtype};
    checkScores(model, out);
    OnnxGraph graph;
    const std::string score = emitOnnx(graph, model.root, input.name, out, part->prefix, weights);
    if (!weights) return {};
    about["model"] = textOf(model);
    return graph.modelBytes(input, score, {"score", out.shape}, about, program);
}

std::map<std::string, std::string> aboutLane(Trainer& lane) {
    return {{"lane", lane.name()}, {"step", std::to_string(lane.state().step)}};
}

} // namespace

std::string onnxBytes(const RunConfig& config, const Weights& weights,
                      const std::map<std::string, std::string>& about, const std::string& program) {
    return modelOf(config, &weights, about, program);
}

std::string onnxBytes(Trainer& lane, const RunConfig& config, const std::string& program) {
    return onnxBytes(config, lane.weights(), aboutLane(lane), program);
}

std::string criticOnnxBytes(const RunConfig& config, const Weights& weights,
                            const std::map<std::string, std::string>& about,
                            const std::string& program) {
    return criticModelOf(config, &weights, about, program);
}

std::string criticOnnxBytes(Trainer& lane, const RunConfig& config, const std::string& program) {
    return criticOnnxBytes(config, lane.weights(), aboutLane(lane), program);
}

void checkOnnx(const RunConfig& config) {
    modelOf(config, nullptr, {}, {});
    if (isAdversarial(config.model)) criticModelOf(config, nullptr, {}, {});
}

} // namespace halfscope
