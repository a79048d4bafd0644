// Diagnoses a skipped step and writes the sentences about a step.
#include "engine/train/overflow.h"

#include "engine/core/text.h"
#include "engine/data/input_scale.h"
#include "engine/runs/tensor_words.h"
#include "engine/scaler/grad_scaler.h"
#include "engine/step/parameter_layers.h"
#include "engine/step/step_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace halfscope {

namespace {

struct NonFinite {
    bool inf = false, nan = false;
};

/// What -inf means in a value.
enum class NegativeInf : uint8_t {
    Overflow,
    Mask ///< the graph puts it there on purpose; scores that overflow to -inf were found before it
};

NonFinite scan(DType type, std::span<const std::byte> bytes, NegativeInf negative) {
    constexpr size_t kBlock = 1024;
    std::array<float, kBlock> values{};
    NonFinite found;
    const size_t n = bytes.size() / bytesOf(type);
    for (size_t at = 0; at < n; at += kBlock) {
        const size_t count = std::min(kBlock, n - at);
        loadAsFloat(type, bytes.data() + at * bytesOf(type), values.data(), count);
        for (size_t i = 0; i < count; ++i) {
            const bool meant = negative == NegativeInf::Mask && values[i] < 0;
            found.inf = found.inf || (std::isinf(values[i]) && !meant);
            found.nan = found.nan || std::isnan(values[i]);
        }
        if (found.inf) break;
    }
    return found;
}

struct DataFault {
    int64_t row = 0;
    bool inf = false;
};

/// Returns the first row of a tensor of data that has inf or nan.
std::optional<DataFault> faultIn(const TypedBytes& values) {
    if (!isFloat(values.dtype) || values.bytes.empty()) return std::nullopt;
    const std::span<const std::byte> all(values.bytes);
    const size_t each = all.size() / static_cast<size_t>(values.shape[0]);
    for (int64_t row = 0; row < values.shape[0]; ++row) {
        const NonFinite found =
            scan(values.dtype, all.subspan(static_cast<size_t>(row) * each, each),
                 NegativeInf::Overflow);
        if (found.inf || found.nan) return DataFault{row, found.inf};
    }
    return std::nullopt;
}

constexpr Phrase kGradientOf = phrase("Events", "gradient of %1");
constexpr Phrase kPredictions = phrase("Events", "the predictions");

bool onlyCarries(Op op) { return op == Op::Cast || op == Op::Reshape || op == Op::Transpose; }

/// Whether the network is given x in fp16, or casts it before it computes anything.
bool takesInputInHalf(const Graph& graph) {
    std::vector<bool> isInput(static_cast<size_t>(graph.size()), false);
    for (const InputInfo& input : graph.inputs())
        if (input.name == "x" && isFloat(graph[input.node].dtype)) // indices are not cast
            isInput[static_cast<size_t>(input.node)] = true;
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        if (onlyCarries(node.op) && isInput[static_cast<size_t>(node.in[0])])
            isInput[static_cast<size_t>(id)] = true;
        if (isInput[static_cast<size_t>(id)] && node.dtype == DType::F16) return true;
    }
    return false;
}

/// Returns, by node, whether a mask's -inf stands in its values: in a constant, in what a select
/// takes of it, and in what the softmax makes of that, up to its exponential, which is 0 there.
std::vector<bool> maskedNodes(const Graph& graph) {
    std::vector<bool> masked(static_cast<size_t>(graph.size()), false);
    const auto isMasked = [&masked](NodeId id) { return masked[static_cast<size_t>(id)]; };
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        bool has = false;
        if (node.op == Op::Constant)
            has = std::get<ConstantAttrs>(node.attrs).value ==
                  -std::numeric_limits<double>::infinity();
        else if (node.op == Op::Where)
            has = isMasked(node.in[1]) || isMasked(node.in[2]);
        else if (onlyCarries(node.op) || node.op == Op::Expand || node.op == Op::Sub)
            has = isMasked(node.in[0]);
        masked[static_cast<size_t>(id)] = has;
    }
    return masked;
}

Event makeEvent(EventKind kind, const StepRecord& record, float scaleAfter, Message text) {
    Event event;
    event.kind = kind;
    event.step = record.step;
    event.lane = record.lane;
    event.scaleBefore = record.scale;
    event.scaleAfter = scaleAfter;
    event.text = std::move(text);
    return event;
}

/// Returns the sentence that follows the one about an overflow; empty when there is nothing to say.
Message helpText(float scale, const SkipReason& reason) {
    const FittingScale& fitting = reason.fitting;
    // a step at such a scale makes the weights nan, but a forward pass is lost at any
    if (std::isinf(1 / scale) && !isBeforeScaling(reason.culprit.tensor.english()))
        return phrase("Events", "In float32, 1 divided by this scale is inf, so that gradients "
                                "become inf or nan when they are unscaled: use a larger scale.");
    const std::string tensor = reason.culprit.tensor.english();
    if (const std::string_view setting = settingOfLargeInput(tensor); !setting.empty()) {
        const Message advice = fittingAdvice(setting);
        if (fitting.known != FittingScale::Known::None) return advice; // the step was taken
        return {phrase("Events", "%1 %2"), advice, kNoScaleHelps};
    }
    switch (fitting.known) {
    case FittingScale::Known::Nothing: break;
    case FittingScale::Known::Largest:
        if (fitting.othersChanged)
            return {phrase("Events", "With the weights that the other optimizer has set since, the "
                                     "step fits at %1 or below."),
                    scaleText(fitting.largest)};
        return {phrase("Events", "The step would have fitted at %1 or below."),
                scaleText(fitting.largest)};
    case FittingScale::Known::None: return kNoScaleHelps;
    }
    return {};
}

/// Returns "the input of sample 13 holds nan".
Message dataText(const Culprit& culprit) {
    return {culprit.reachedInf ? phrase("Events", "%1 holds inf")
                               : phrase("Events", "%1 holds nan"),
            culprit.tensor};
}

/// Returns what becomes of the scale: "the scale falls to 32768 (2^15)".
Message scaleChangeText(const StepRecord& record, float scaleAfter) {
    if (record.flags & kAtFloor)
        return phrase("Events", "the loss scale has reached its floor, so the run ends");
    if (scaleAfter < record.scale)
        return {phrase("Events", "the scale falls to %1"), scaleText(scaleAfter)};
    // neither halving nor doubling changes these two
    if (scaleAfter == 0) return phrase("Events", "the loss scale is 0 and cannot grow again");
    if (std::isinf(scaleAfter))
        return phrase("Events", "the loss scale is inf and cannot fall again");
    return phrase("Events", "the scale stays");
}

Message overflowText(const StepRecord& record, float scaleAfter, const SkipReason& reason) {
    const Culprit& culprit = reason.culprit;
    Phrase what = phrase("Events", "Step %1 skipped: %2; %3.");
    if (record.flags & kFirstStepped)
        what = reason.hasCritic
                   ? phrase("Events", "Step %1 skipped by the critic's optimizer: %2; %3.")
                   : phrase("Events", "Step %1 skipped by the second optimizer: %2; %3.");
    if (record.flags & kSecondStepped)
        what = reason.hasCritic
                   ? phrase("Events", "Step %1 skipped by the generator's optimizer: %2; %3.")
                   : phrase("Events", "Step %1 skipped by the first optimizer: %2; %3.");
    if (record.flags & kSteppedOnOverflow) what = kTakenStep;
    const Message scale = scaleText(record.scale), tensor = tensorInWords(culprit.tensor);
    Message why(culprit.reachedInf ? phrase("Events", "%1 reached inf at loss scale %2")
                                   : phrase("Events", "%1 became nan at loss scale %2"),
                tensor, scale);
    if (isBeforeScaling(culprit.tensor.english()))
        why = {culprit.reachedInf
                   ? phrase("Events", "%1 reached inf before the loss was scaled by %2")
                   : phrase("Events", "%1 became nan before the loss was scaled by %2"),
               tensor, scale};
    if (culprit.tensor.english() == kLossTensor.text())
        why = {culprit.reachedInf
                   ? phrase("Events", "the loss reached inf before it was scaled by %1")
                   : phrase("Events", "the loss became nan before it was scaled by %1"),
               scale};
    if (record.flags & kSteppedOnOverflow) // the weights do not tell which of the two it was
        why = {phrase("Events", "%1 was not finite at loss scale %2"), tensor, scale};
    if (isOfData(culprit.tensor.english())) why = dataText(culprit);
    if (!settingOfLargeInput(culprit.tensor.english()).empty()) why = kInputDoesNotFit;
    if (const auto optimizer = optimizerOfZeroEpsilon(culprit.tensor.english()); !optimizer.empty())
        why = {phrase("Events", "%1's epsilon is zero in fp16, so it divides by zero"), optimizer};
    if (culprit.tensor.empty())
        why = {phrase("Events", "a gradient was not finite at loss scale %1"), scale};
    const Message sentence{what, record.step, why, scaleChangeText(record, scaleAfter)};
    const Message help = helpText(record.scale, reason);
    return help.empty() ? sentence : Message(phrase("Events", "%1 %2"), sentence, help);
}

/// Returns the sentences about a loss that is not finite any more.
Message lostLossText(const StepRecord& record, const SkipReason& reason, const StepBefore& before) {
    const bool isNan = std::isnan(record.loss);
    Phrase what = isNan ? phrase("Events", "Step %1: the loss itself is nan.")
                        : phrase("Events", "Step %1: the loss itself is infinite.");
    if (reason.scalesLoss && !(record.flags & kSteppedOnOverflow))
        what = isNan ? phrase("Events", "Step %1: the loss itself is nan, at any loss scale.")
                     : phrase("Events", "Step %1: the loss itself is infinite, at any loss scale.");
    const Message text(what, record.step);
    const std::string tensor = reason.culprit.tensor.english();
    if (isOfData(tensor))
        return {phrase("Events", "%1 The reason is in the data: %2."), text,
                dataText(reason.culprit)};
    if (const auto setting = settingOfLargeInput(tensor); !setting.empty())
        return {phrase("Events", "%1 The reason is in the data: %2. %3"), text, kInputDoesNotFit,
                fittingAdvice(setting)};
    if (const auto optimizer = optimizerOfZeroEpsilon(tensor); !optimizer.empty())
        return {phrase("Events", "%1 %2's epsilon is zero in fp16, so it divides by zero. Set "
                                 "Epsilon to 1e-4 and train from the start, or use AMP."),
                text, optimizer};
    if (before.tookOverflow)
        return {phrase("Events", "%1 Step %2 was taken although its gradients were not finite."),
                text, record.step - 1};
    if (const std::string_view layer = layerOfForward(tensor); !layer.empty())
        return {reason.culprit.reachedInf
                    ? phrase("Events", "%1 The forward pass of %2 was the first to reach inf.")
                    : phrase("Events", "%1 The forward pass of %2 was the first to become nan."),
                text, layerInWords(layer)};
    return text;
}

} // namespace

OverflowFinder::OverflowFinder(const Graph& graph)
    : m_takesInputInHalf(takesInputInHalf(graph)), m_masked(maskedNodes(graph)) {
    const std::map<std::string, std::string> layers = layersOfParameters(graph);
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& check = graph[id];
        if (check.op != Op::CountNonFinite || !check.cause.label.ends_with(kGradientLabel))
            continue;
        const std::string parameter =
            check.cause.label.substr(0, check.cause.label.size() - kGradientLabel.size());
        m_checks.emplace_back(id, parameter);
        Message name = Message::data(parameter);
        if (const auto found = layers.find(parameter); found != layers.end())
            name = {phrase("Events", "%1 (%2)"), parameter, found->second};
        // Casts, for example to F32, carry the gradient on, and so does its sum with those of
        // earlier batches; the first op below them makes it.
        for (NodeId at = check.in[0];;) {
            m_gradients.emplace(at, name);
            const Node& node = graph[at];
            const bool sums = node.op == Op::Add && node.cause.label == parameter + " accumulated";
            if (!sums && !onlyCarries(node.op)) {
                m_made.emplace(at, parameter);
                break;
            }
            at = sums && graph[node.in[0]].op == Op::State ? node.in[1] : node.in[0];
        }
    }
}

Message OverflowFinder::nameOfNode(const Graph& graph, NodeId id) const {
    const auto gradient = m_gradients.find(id);
    if (gradient != m_gradients.end()) return {kGradientOf, gradient->second};
    const Cause& cause = graph[id].cause;
    Message label = Message::data(cause.label);
    // what leaves the backward pass of the loss is the gradient of what the network predicts
    if (cause.label == "loss") label = cause.phase == Phase::Backward ? kPredictions : kLossTensor;
    if (cause.label == "scaled loss") label = phrase("Events", "the scaled loss");
    if (cause.label == kInverseLabel) label = phrase("Events", "the inverse loss scale");
    const bool ofLoss = !label.format().empty();
    switch (cause.phase) {
    case Phase::Forward: return {kForwardPass, label};
    case Phase::Loss: return label;
    case Phase::Backward: return {ofLoss ? kGradientOf : kBackwardPass, label};
    case Phase::Unscale:
    case Phase::Optimizer:
    case Phase::Scaler:
    case Phase::Metrics: return label;
    }
    return label;
}

// By the words: a checkpoint and a file of events keep no more of a message.
bool isGradientOfPredictions(std::string_view tensor) {
    return tensor == Message(kGradientOf, kPredictions).english();
}

std::vector<OverflowFinder::Tells> OverflowFinder::tellingNodes(const Graph& graph,
                                                                const TurnOf& turnOf) const {
    const auto nodes = static_cast<size_t>(graph.size());
    if (!turnOf) return std::vector<Tells>(nodes, Tells::Culprit);
    // by node: made of parameters that have changed, or of others; made into a check
    std::vector<bool> changed(nodes), kept(nodes), checked(nodes);
    for (const auto& [check, parameter] : m_checks)
        checked[size_t(check)] = turnOf(parameter) == Turn::Skipped;
    for (const StateInfo& state : graph.states())
        if (state.role == StateRole::Parameter)
            (turnOf(state.name) == Turn::Stepped ? changed : kept)[size_t(state.node)] = true;
    for (size_t id = 0; id < nodes; ++id) // inputs come first
        for (const NodeId in : graph[static_cast<NodeId>(id)].in) {
            changed[id] = changed[id] || changed[size_t(in)];
            kept[id] = kept[id] || kept[size_t(in)];
        }
    std::vector<Tells> tells(nodes, Tells::Nothing);
    for (size_t id = nodes; id-- > 0;) {
        if (!checked[id]) continue;
        tells[id] = changed[id] && !kept[id] ? Tells::Unknown : Tells::Culprit;
        for (const NodeId in : graph[static_cast<NodeId>(id)].in)
            checked[size_t(in)] = true;
    }
    return tells;
}

std::optional<Culprit> OverflowFinder::find(Executor& executor, const Graph& graph,
                                            float scaleBefore, const TurnOf& turnOf) const {
    ScalerSlots scaler{};
    scaler[kScaleSlot] = static_cast<double>(scaleBefore);
    executor.upload(graph.state("scaler"), std::as_bytes(std::span(scaler)));

    const std::vector<Tells> tells = tellingNodes(graph, turnOf);
    Culprit culprit;
    bool ended = false;
    // Kernels run in an order in which inputs come first, so the first bad value has good inputs.
    const RunResult result =
        executor.run(RunMode::Stepwise, [&](NodeId id, std::span<const std::byte> bytes) {
            const Tells told = tells[static_cast<size_t>(id)];
            if (ended || told == Tells::Nothing || !isFloat(graph[id].dtype)) return;
            const bool masked = m_masked[static_cast<size_t>(id)];
            const NonFinite found =
                scan(graph[id].dtype, bytes, masked ? NegativeInf::Mask : NegativeInf::Overflow);
            if (!found.inf && !found.nan) return;
            ended = true;
            if (told == Tells::Culprit) culprit = {nameOfNode(graph, id), found.inf};
        });
    if (result == RunResult::Stopped) return std::nullopt;
    return culprit;
}

Culprit OverflowFinder::inWeights(Executor& executor, const Graph& graph) const {
    std::vector<std::byte> bytes;
    for (const auto& [made, parameter] : m_made) {
        const NodeId weights = graph.state(parameter);
        bytes.resize(graph[weights].bytes());
        executor.download(weights, bytes);
        const NonFinite found = scan(graph[weights].dtype, bytes, NegativeInf::Overflow);
        if (found.inf || found.nan) return {nameOfNode(graph, made), found.inf};
    }
    return {};
}

Culprit OverflowFinder::inInput(const BatchSource& source, int64_t first, int64_t last,
                                const TaskConfig& task) const {
    const std::string_view setting = inputScaleSetting(task);
    if (!m_takesInputInHalf || setting.empty()) return {};
    for (int64_t step = first; step <= last; ++step) {
        const std::shared_ptr<const Batch> batch = source.load(step);
        if (std::ranges::any_of(batch->floats(kX), isBeyondHalf))
            return {{kInputBeyondHalf, setting}, true};
    }
    return {};
}

bool steppedOnOverflow(const StepRecord& record) {
    return (record.flags & kSteppedOnOverflow) && !(record.flags & kLossNotFinite);
}

StepBefore leftBy(const StepRecord& record) {
    return {(record.flags & kLossNotFinite) != 0, steppedOnOverflow(record)};
}

Culprit culpritIn(const BatchSource& source, int64_t first, int64_t last) {
    for (int64_t step = first; step <= last; ++step) {
        const std::shared_ptr<const Batch> batch = source.load(step);
        for (const size_t tensor : {kX, kTarget}) {
            const std::optional<DataFault> fault = faultIn(batch->tensors[tensor]);
            if (fault)
                return {{tensor == kX ? kInputOf : kTargetOf, source.sampleAt(step, fault->row)},
                        fault->inf};
        }
    }
    return {};
}

void describeStep(const StepRecord& record, float scaleAfter, const SkipReason& reason,
                  const StepBefore& before, std::vector<Event>& events) {
    const Culprit& culprit = reason.culprit;
    const Message from = scaleText(record.scale), to = scaleText(scaleAfter);
    // A step that is taken despite an overflow may make weights nan. The loss is nan from the next
    // step on then, and those steps are not reported again.
    if ((record.flags & kSkipped) || steppedOnOverflow(record)) {
        events.push_back(makeEvent(EventKind::Overflow, record, scaleAfter,
                                   overflowText(record, scaleAfter, reason)));
        events.back().tensor = culprit.tensor.english();
    }
    if (record.flags & kBackedOff)
        events.push_back(
            makeEvent(EventKind::Backoff, record, scaleAfter,
                      {phrase("Events", "Step %1: the loss scale falls from %2 to %3."),
                       record.step, from, to}));
    if (record.flags & kGrew)
        events.push_back(
            makeEvent(EventKind::Growth, record, scaleAfter,
                      {phrase("Events", "Step %1: the loss scale grows from %2 to %3."),
                       record.step, from, to}));
    if ((record.flags & kLossNotFinite) && !before.lossWasBad) {
        events.push_back(makeEvent(EventKind::LossNotFinite, record, scaleAfter,
                                   lostLossText(record, reason, before)));
        events.back().tensor = culprit.tensor.english();
    }
}

} // namespace halfscope
