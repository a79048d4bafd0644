// Writes the networks of a step, and their weighted sum where there are several; checks the file's
// limits.
#include "engine/train/onnx_file.h"

#include "engine/core/error.h"
#include "engine/core/some_of.h"
#include "engine/models/onnx_layers.h"
#include "engine/settings/model_settings.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"
#include "engine/step/model_shapes.h"
#include "engine/step/step_parts.h"
#include "engine/train/predicted_samples.h"

#include <nlohmann/json.hpp>

#include <algorithm>
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

/// Returns how the inputs are standardised, for which the samples may have to be read.
Standardiser inputScaleOf(const RunConfig& config, const DataFacts& facts) {
    const TaskConfig& task = config.task;
    const bool unknown = task.standardiseX && infoOf(task.kind).has("data.standardise_x") &&
                         !facts.inputScale.active();
    return unknown ? makeDataset(task, config.seed)->inputScale() : facts.inputScale;
}

/// Standardises an input in the units of the data. A mean takes two numbers: in float32, that of
/// large values with a small spread, such as years, would be off by a part of the spread.
std::string standardised(OnnxGraph& graph, const std::string& x, const Standardiser& scale,
                         int rank) {
    Shape shape = Shape::filled(scale.spreads().size() == 1 ? 1 : rank, 1);
    if (shape.rank() > 1) shape[1] = std::ssize(scale.spreads()); // columns or channels
    std::vector<float> means, rests, factors;
    for (const Spread& spread : scale.spreads()) {
        means.push_back(static_cast<float>(spread.mean));
        rests.push_back(static_cast<float>(spread.mean - double{means.back()}));
        factors.push_back(spread.deviation == 0 ? 0.0f : static_cast<float>(1 / spread.deviation));
    }
    graph.setLabel("standardise");
    const std::string near = graph.node("Sub", {x, graph.constant(shape, means)});
    const std::string centred = graph.node("Sub", {near, graph.constant(shape, rests)});
    return graph.node("Mul", {centred, graph.constant(shape, factors)});
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

std::string jsonList(const std::vector<std::string>& names) {
    return nlohmann::json(names).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Returns the file's bytes. Without weights it only checks.
std::string modelOf(const RunConfig& config, const Weights* weights,
                    std::map<std::string, std::string> about, const std::string& program) {
    const DataFacts facts = factsOf(taskOf(config));
    const BatchShape batch = batchShape(facts.tensors, epochPlanOf(config).batch);
    const ModelSpec model = fittingModel(config, batch, DType::F32);
    const StepParts parts = partsOf(config);
    checkSize("model.layers", model, parts.networks.size());
    const SeenInput seen = seenInput(config, model, batch);
    OnnxGraph graph;
    const OnnxGraph::Value input{"x", seen.pixelRows ? seen.shape : batch.x(), batch.xDType()};
    std::string x = input.name;
    if (weights)
        if (const Standardiser scale = inputScaleOf(config, facts); scale.active())
            x = standardised(graph, x, scale, input.shape.rank());
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
    if (!facts.inputNames.empty()) about["inputs"] = jsonList(facts.inputNames);
    if (facts.targetScale.active()) sum = restored(graph, sum, facts.targetScale, out.shape);
    return graph.modelBytes(input, sum, {"prediction", out.shape}, about, program);
}

/// Does the same for the critic.
std::string criticModelOf(const RunConfig& config, const Weights* weights,
                          std::map<std::string, std::string> about, const std::string& program) {
    const std::optional<NetworkPart> part = partsOf(config).critic;
    if (!part) throw InputError(phrase("Model", "model.adversary: this run has no critic"));
    const BatchShape batch = batchShape(factsOf(taskOf(config)).tensors, epochPlanOf(config).batch);
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

std::map<std::string, std::string> aboutLane(Experiment& experiment, int lane,
                                             const std::map<std::string, std::string>& known) {
    std::map<std::string, std::string> about = known;
    about.try_emplace("lane", experiment.lane(lane).name());
    if (!about.contains("step")) about["step"] = std::to_string(experiment.lane(lane).state().step);
    std::erase_if(about, [](const auto& entry) { return entry.second.empty(); });
    return about;
}

/// The columns of a scale that float32 rounds much away of.
struct Rounded {
    std::vector<std::string> names{};
    double step = 0; ///< the widest between two numbers that it holds
};

/// `known` are the names of the columns; without them, they are those of an array.
Rounded roundedOf(const Standardiser& scale, const std::vector<std::string>& known,
                  const std::string& array) {
    Rounded rounded;
    for (const size_t i : scale.roundedOff()) {
        const bool named = known.size() == scale.spreads().size();
        const std::string name =
            scale.spreads().size() == 1 ? array : array + "[:, " + std::to_string(i) + "]";
        rounded.names.push_back(named ? known[i] : name);
        rounded.step = std::max(rounded.step, scale.float32Step(i));
    }
    return rounded;
}

} // namespace

Message onnxRoundingNote(const RunConfig& config) {
    const DataFacts facts = factsOf(taskOf(config));
    const Rounded inputs = roundedOf(inputScaleOf(config, facts), facts.inputNames, "x");
    std::vector<std::string> target;
    if (config.task.kind == TaskKind::Csv && facts.targetScale.active())
        target.push_back(targetName(config.task));
    const Rounded targets = roundedOf(facts.targetScale, target, "y");
    std::vector<Message> notes;
    if (!inputs.names.empty())
        notes.emplace_back(phrase("Training",
                                  "The ONNX file takes float32, which holds numbers like those of "
                                  "these inputs only in steps of up to %2: %1."),
                           someOf(inputs.names), inputs.step);
    if (!targets.names.empty())
        notes.emplace_back(
            phrase("Training", "The ONNX file predicts float32, which holds numbers like those of "
                               "these targets only in steps of up to %2: %1. Saved predictions are "
                               "float64."),
            someOf(targets.names), targets.step);
    return notes.empty() ? Message() : listed(notes, phrase("Training", "%1 %2"));
}

std::string onnxBytes(const RunConfig& config, const Weights& weights,
                      const std::map<std::string, std::string>& about, const std::string& program) {
    return modelOf(config, &weights, about, program);
}

std::string onnxBytes(Experiment& experiment, int lane, const std::string& program,
                      const std::map<std::string, std::string>& known) {
    std::map<std::string, std::string> about = aboutLane(experiment, lane, known);
    if (experiment.hasClasses()) about["classes"] = jsonList(experiment.view().classes);
    return onnxBytes(experiment.config(), experiment.lane(lane).weights(), about, program);
}

std::string criticOnnxBytes(const RunConfig& config, const Weights& weights,
                            const std::map<std::string, std::string>& about,
                            const std::string& program) {
    return criticModelOf(config, &weights, about, program);
}

std::string criticOnnxBytes(Experiment& experiment, int lane, const std::string& program,
                            const std::map<std::string, std::string>& known) {
    return criticOnnxBytes(experiment.config(), experiment.lane(lane).weights(),
                           aboutLane(experiment, lane, known), program);
}

void checkOnnx(const RunConfig& config) {
    modelOf(config, nullptr, {}, {});
    if (isAdversarial(config.model)) criticModelOf(config, nullptr, {}, {});
}

} // namespace halfscope
