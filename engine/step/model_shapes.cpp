// Works out the shapes of batches, models and their layers.
#include "engine/step/model_shapes.h"

#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/data/targets.h"
#include "engine/models/output_layer.h"
#include "engine/settings/model_settings.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>

namespace halfscope {

namespace {

constexpr const char* kModelKey = "model.layers";

/// Throws InputError for a text data set: the network of the template has no layer that takes
/// indices.
void checkTemplate(const RunConfig& config, const BatchShape& batch) {
    if (config.model.layers.empty() && batch.indices > 0)
        throw InputError(phrase("Model", "model.layers: a text needs a network that begins with an "
                                         "Embedding(...), such as that of the preset %1"),
                         batch.positions > 0 ? "transformer-lm" : "transformer-tiny");
}

/// Returns the first encoder without a mask, in which each position sees those behind it; null when
/// there is none. It is easily mistaken for a causal one.
const LayerSpec* looksAhead(const LayerSpec& layer) {
    if (layer.info->name == "TransformerEncoderLayer") return &layer;
    for (const LayerSpec& child : layer.children)
        if (const LayerSpec* found = looksAhead(child)) return found;
    return nullptr;
}

/// Returns the last layer that computes something and that all values go through; null when there
/// is none.
const LayerSpec* lastLayer(const LayerSpec& layer) {
    if (layer.info->holds == Holds::Nothing) return layer.info->computes ? &layer : nullptr;
    if (layer.info->holds == Holds::Residual) return &layer;
    for (auto child = layer.children.rbegin(); child != layer.children.rend(); ++child)
        if (const LayerSpec* last = lastLayer(*child)) return last;
    return nullptr;
}

constexpr double kNoEnd = std::numeric_limits<double>::infinity();

/// Between which numbers a layer's results lie.
struct Range {
    double low = -kNoEnd, high = kNoEnd;
    /// Whether standardised numbers, of mean 0 and variance 1, cannot all lie in it: those between
    /// a <= 0 and b >= 0 have a variance of -a * b at most.
    bool isTooNarrow() const { return low >= 0 || high <= 0 || -low * high <= 1; }
};

/// Returns the range of a layer whose results are bounded, or all of one sign.
std::optional<Range> limitsOf(const LayerSpec& layer) {
    struct Row {
        std::string_view name;
        Range range;
    };
    constexpr std::array kRows{
        Row{"Sigmoid", {0, 1}},   Row{"Tanh", {-1, 1}},
        Row{"ReLU", {0, kNoEnd}}, Row{"Softplus", {0, kNoEnd}},
        Row{"ReLU6", {0, 6}},     Row{"Hardsigmoid", {0, 1}},
        Row{"Softsign", {-1, 1}}, Row{"LogSigmoid", {-kNoEnd, 0}},
    };
    const std::string_view name = layer.info->name;
    if (name == "Softplus") { // from its threshold on, it returns what it is given
        if (layer.real("threshold") < 0) return std::nullopt;
        if (layer.real("beta") < 0) return Range{.high = 0};
    }
    if (name == "Hardtanh") return Range{layer.real("min_val"), layer.real("max_val")};
    const auto row = std::ranges::find(kRows, name, &Row::name);
    return row == kRows.end() ? std::nullopt : std::optional(row->range);
}

/// Whether its results are shares of 1. The logarithms that LogSoftmax makes are no mistake before
/// cross entropy, whose own log-softmax leaves them as they are.
bool makesShares(const LayerSpec& layer) {
    constexpr std::array<std::string_view, 3> kSharing{"Softmax", "Softmin", "Softmax2d"};
    return std::ranges::find(kSharing, layer.info->name) != kSharing.end();
}

/// Says what is wrong with the last layer in front of a loss that takes scores; empty for nothing.
Message warningOfScores(const LayerSpec& last, LossKind loss) {
    const bool shares = makesShares(last), softmaxLoss = loss == LossKind::CrossEntropy;
    if (shares && softmaxLoss)
        return {phrase("Model", "%1 turns scores into probabilities, but the loss %2 expects "
                                "scores and takes their softmax itself: leave this last layer "
                                "out."),
                last.label, nameOf(loss)};
    const bool logarithms = last.info->name == "LogSoftmax" && !softmaxLoss;
    if (!shares && !logarithms && !limitsOf(last)) return {};
    return {phrase("Model", "%1 limits what the network returns, but the loss %2 expects "
                            "scores of any size: leave this last layer out."),
            last.label, nameOf(loss)};
}

/// Says that standardised targets lie beyond what the last layer can return; empty where they need
/// not.
Message warningOfRange(const LayerSpec& last) {
    std::optional<Range> range = limitsOf(last);
    if (makesShares(last)) range = Range{0, 1};
    if (last.info->name == "LogSoftmax") range = Range{.high = 0};
    if (!range || !range->isTooNarrow()) return {};
    if (range->high == kNoEnd)
        return {phrase("Model", "%1 returns nothing below %2, but the standardised targets go "
                                "below 0: leave this last layer out."),
                last.label, range->low};
    if (range->low == -kNoEnd)
        return {phrase("Model", "%1 returns nothing above %2, but the standardised targets go "
                                "above 0: leave this last layer out."),
                last.label, range->high};
    if (range->low >= 0)
        return {phrase("Model", "%1 returns only %2 to %3, but the standardised targets go below "
                                "0: leave this last layer out."),
                last.label, range->low, range->high};
    return {phrase("Model", "%1 returns only %2 to %3, but the standardised targets go beyond "
                            "that: leave this last layer out."),
            last.label, range->low, range->high};
}

/// Says which arguments the text cannot tell of the first layer that is pasted as print() shows it,
/// which leaves them out; empty where all are told.
Message warningOfPrint(const LayerSpec& layer) {
    std::string names;
    for (const std::string& name : layer.untold)
        names += (names.empty() ? "" : ", ") + name;
    if (!names.empty())
        return {phrase("Model",
                       "PyTorch's print of %1 does not show %2: the defaults are used. Add "
                       "what your program gives there."),
                layer.label, names};
    for (const LayerSpec& child : layer.children)
        if (Message warning = warningOfPrint(child); !warning.empty()) return warning;
    return {};
}

/// Whether the loss has a softmax or a sigmoid of its own.
bool takesScores(const RunConfig& config) {
    const LossKind kind = config.task.loss.kind;
    return !isAdversarial(config.model) &&
           (kind == LossKind::CrossEntropy || kind == LossKind::BceWithLogits);
}

/// How far an input comes through a model.
struct Walk {
    size_t layers = 0; ///< that take it
    bool fits = false; ///< the result is what the task needs
};

Walk walk(const ModelSpec& model, const Shape& input, const BatchShape& batch) {
    std::vector<LayerShape> seen;
    try {
        const NodeType made = outputOf(model, {input, batch.xDType()}, &seen, ModelMode::Evaluate);
        return {seen.size(), batch.fits(made.shape)};
    } catch (const InputError&) {
        return {seen.size()};
    }
}

/// Returns the layers before the one that the text cannot be read for; nothing where that is the
/// first one, or where the text has other faults.
std::optional<ModelSpec> readableStart(const std::string& text) {
    ModelSpec before;
    try {
        readModel(text, &before);
    } catch (const InputError&) {
        if (before.root.info) return before;
    }
    return std::nullopt;
}

/// Returns the shapes after the layers up to the first one that refuses what it is given.
std::vector<LayerShape> shapesUpToRefusal(const ModelSpec& model, const NodeType& in) {
    std::vector<LayerShape> seen;
    try {
        outputOf(model, in, &seen);
    } catch (const InputError&) {
        return seen;
    }
    return seen;
}

/// Says which layer to change where a model makes `wanted` with another number of outputs; empty
/// where that does not help.
Message outputsAdvice(ModelSpec model, const NodeType& in, const Shape& made, const Shape& wanted) {
    LayerSpec* const last = outputLayer(model);
    const auto other = std::ranges::mismatch(made, wanted);
    if (!last || made.rank() != wanted.rank() || other.in2 == wanted.end()) return {};
    const std::string before = last->written;
    try {
        setOutputs(*last, *other.in2);
        if (!(outputOf(model, in).shape == wanted)) return {};
    } catch (const InputError&) {
        return {};
    }
    return {phrase("Model", "change the last %1 to %2"), before, last->written};
}

/// Throws InputError for a model that makes another shape than the task needs.
[[noreturn]] void refuseOutput(const ModelSpec& model, const NodeType& in, const Shape& made,
                               const Shape& wanted, const BatchShape& batch) {
    const std::string from = shapeText(in.shape), to = shapeText(made), needed = shapeText(wanted);
    std::vector<Shape> shapes{wanted};
    if (!batch.targetSample.empty()) shapes.push_back(batch.target());
    for (const Shape& shape : shapes)
        if (const Message advice = outputsAdvice(model, in, made, shape); !advice.empty())
            throw InputError(phrase("Model", "model.layers: the model turns %1 into %2, but this "
                                             "task needs %3: %4"),
                             from, to, shapeText(shape), advice);
    if (batch.positions > 0)
        throw InputError(
            phrase("Model", "model.layers: the model turns %1 into %2, but with data.predict every "
                            "this task needs %3, a score for each class at each position: no "
                            "layer may join the positions, as Flatten() does"),
            from, to, needed);
    if (!batch.targetSample.empty())
        throw InputError(phrase("Model", "model.layers: the model turns %1 into %2, but this task "
                                         "needs %3, the shape of its targets, or %4"),
                         from, to, shapeText(batch.target()), needed);
    throw InputError(
        phrase("Model", "model.layers: the model turns %1 into %2, but this task needs %3"), from,
        to, needed);
}

bool isBetter(const Walk& a, const Walk& b) { return a.fits || (!b.fits && a.layers > b.layers); }

/// Whether shapes of one sample or batch agree in all axes behind the channels.
bool isSameSize(const Shape& a, const Shape& b) {
    bool same = a.rank() == b.rank();
    for (int axis = 2; same && axis < a.rank(); ++axis)
        same = a[axis] == b[axis];
    return same;
}

/// Whether the result of the last layer has the size that an adaptive pool gives it, whatever the
/// size of its input. Layers behind the pool may change the channels.
bool hasSizeOfPool(std::span<const LayerShape> layers) {
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
        if (!isSameSize(layer->shape, layers.back().shape)) return false;
        if (layer->label.starts_with("Adaptive")) return true;
    }
    return false;
}

/// Whether the layer that refuses what it is given is the first with weights behind those that make
/// a row of features of each sample: a picture of another size has another number of them.
bool dependsOnSide(const ModelShapes& shapes) {
    if (!shapes.layers.empty() && shapes.layers.back().shape.rank() != 2) return false;
    for (size_t count = shapes.layers.size(); count > 0; --count) {
        const LayerShape& layer = shapes.layers[count - 1];
        if (layer.shape.rank() != 2) return !hasSizeOfPool(std::span(shapes.layers).first(count));
        if (layer.parameters > 1) return false; // one weight, as PReLU() has, fits any number
    }
    return shapes.input.rank() == 2 || !shapes.layers.empty();
}

} // namespace

Message modelWarning(const RunConfig& config) {
    if (config.model.layers.empty()) return {};
    const ModelSpec model = modelOf(config.model, 1, 1);
    if (!model.root.ofClass.empty())
        return {phrase("Model",
                       "PyTorch's print of %1 does not show its forward(): here its layers "
                       "run one after another, in the order of the print. Add what "
                       "forward() applies by itself, such as (act): ReLU(), and write "
                       "Sequential in place of the class's name."),
                model.root.ofClass};
    const LayerSpec* last = lastLayer(model.root);
    if (last && takesScores(config))
        if (Message warning = warningOfScores(*last, config.task.loss.kind); !warning.empty())
            return warning;
    if (last && standardisesTarget(config.task) && !isAdversarial(config.model))
        if (Message warning = warningOfRange(*last); !warning.empty()) return warning;
    const LayerSpec* layer = predictsEvery(config.task) ? looksAhead(model.root) : nullptr;
    if (!layer) return warningOfPrint(model.root);
    return {phrase("Model", "%1 sees the characters that it is to predict, so a low loss means "
                            "nothing: CausalTransformerEncoderLayer(...) hides them."),
            layer->label};
}

SeenInput seenInput(const RunConfig& config, const ModelSpec& model, const BatchShape& batch) {
    const Shape flat{batch.rows, batch.inputs};
    const Wants wants = wantedBy(model);
    if (!batch.sample.empty()) {
        const bool keeps = wants == Wants::Samples || wants == Wants::Images ||
                           isBetter(walk(model, batch.x(), batch), walk(model, flat, batch));
        return {keeps ? batch.x() : flat, false};
    }
    const int64_t side = config.task.side;
    const bool picture =
        infoOf(config.task.kind).wholeSet && batch.rows == side * side && wants == Wants::Images;
    if (!picture) return {flat, false};
    return {{1, batch.inputs, side, side}, true};
}

ModelSpec fittingModel(const RunConfig& config, const BatchShape& batch, DType dtype,
                       ModelMode mode) {
    checkTemplate(config, batch);
    ModelSpec model = modelOf(config.model, batch.inputs, batch.outputs);
    const SeenInput input = seenInput(config, model, batch);
    const NodeType in{input.shape, batch.xDType(dtype)};
    const NodeType made = modelOutput(config.model, model, in, mode);
    checkIndices(config.model, model, batch.indices);
    const Shape& out = made.shape;
    Shape wanted = batch.prediction();
    if (input.pixelRows) wanted = {1, batch.outputs, input.shape[2], input.shape[3]};
    const bool fits = input.pixelRows ? out == wanted : batch.fits(out);
    if (made.dtype == DType::I32)
        throw InputError(phrase("Model", "model.layers: the model returns its input, which holds "
                                         "indices; it needs an Embedding(...)"));
    if (!fits) refuseOutput(model, in, out, wanted, batch);
    return model;
}

BatchShape knownBatch(const RunConfig& config) {
    BatchShape batch = batchShape(factsOf(taskOf(config)).tensors, epochPlanOf(config).batch);
    if (config.task.image.empty() || config.model.layers.empty()) return batch;
    const ModelSpec model = modelOf(config.model, batch.inputs, batch.outputs);
    const SeenInput seen = seenInput(config, model, batch);
    const Shape made = modelOutput(config.model, model, {seen.shape, DType::F32}).shape;
    const int axis = seen.pixelRows ? 1 : made.rank() - 1;
    if (config.task.kind == TaskKind::Image && made.rank() > axis && made[axis] == 1)
        batch.outputs = 1;
    return batch;
}

ModelShapes modelShapes(const RunConfig& config) {
    const bool knowsColours = config.task.kind != TaskKind::Image || config.task.image.empty();
    DataFacts facts;
    try {
        facts = factsOf(taskOf(config));
    } catch (const InputError& error) {
        ModelShapes shapes;
        shapes.text = config.model.layers;
        shapes.error = error.message();
        return shapes;
    }
    const BatchShape batch = batchShape(facts.tensors, epochPlanOf(config).batch);
    ModelShapes shapes;
    shapes.input = batch.x();
    shapes.text = config.model.layers.empty()
                      ? templateText(config.model, batch.inputs, batch.outputs)
                      : config.model.layers;
    bool read = false; // else the text is wrong, not the size of anything
    try {
        checkTemplate(config, batch);
        const ModelSpec model = modelOf(config.model, batch.inputs, batch.outputs);
        read = true;
        shapes.input = seenInput(config, model, batch).shape;
        outputOf(model, {shapes.input, batch.xDType()}, &shapes.layers);
        shapes.warning = modelWarning(config);
    } catch (const InputError& error) {
        shapes.error = error.message();
        if (!shapes.error.english().starts_with(kModelKey))
            shapes.error = {phrase("Model", "model.layers, %1"), error.message()};
        if (const auto start = readableStart(config.model.layers)) {
            shapes.input = seenInput(config, *start, batch).shape;
            shapes.layers = shapesUpToRefusal(*start, {shapes.input, batch.xDType()});
        }
        if (read && infoOf(config.task.kind).has("data.side") && dependsOnSide(shapes))
            shapes.error = {phrase("Model", "%1 (data.side is %2; the network may be for pictures "
                                            "of another size)"),
                            shapes.error, config.task.pictureSide};
        return shapes;
    }
    try {
        if (knowsColours) fittingModel(config, batch, DType::F32);
    } catch (const InputError& error) {
        shapes.error = error.message();
    }
    return shapes;
}

ModelShapes criticShapes(const RunConfig& config) {
    ModelShapes shapes;
    shapes.text = config.model.critic;
    try {
        const BatchShape batch =
            batchShape(factsOf(taskOf(config)).tensors, epochPlanOf(config).batch);
        const int64_t batches = config.model.adversary == Adversary::WganGp ? 3 : 2;
        if (shapes.text.empty()) shapes.text = criticTemplateText(config.model, batch.outputs);
        shapes.input = Shape{batches * batch.rows, batch.outputs};
        const NodeType in{shapes.input, DType::F32};
        if (const auto start = readableStart(config.model.critic))
            shapes.layers = shapesUpToRefusal(*start, in);
        const ModelSpec critic = criticOf(config.model, batch.outputs);
        shapes.layers = shapesUpToRefusal(critic, in); // checkScores() names the setting, too
        checkScores(critic, in);
    } catch (const InputError& error) {
        shapes.error = error.message();
    }
    return shapes;
}

} // namespace halfscope
