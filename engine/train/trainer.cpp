// One lane: compiles its step, moves weights, batches and settings to the device, and reads one row
// of metrics per step. The words for events are in overflow, the step itself is in step_graph.
#include "engine/train/trainer.h"

#include "engine/core/error.h"
#include "engine/devices/device_list.h"
#include "engine/settings/precision_plan.h"
#include "engine/settings/run_length.h"
#include "engine/step/schedule.h"
#include "engine/step/step_graph.h"
#include "engine/train/evaluator.h"
#include "engine/train/gradient_error.h"
#include "engine/train/lane_step.h"
#include "engine/train/overflow.h"
#include "engine/train/probe.h"
#include "engine/train/repeated_update.h"
#include "engine/train/step_runner.h"
#include "engine/train/text_writer.h"
#include "engine/train/underflow.h"
#include "engine/train/zero_epsilon.h"

#include <algorithm>
#include <utility>

namespace halfscope {

struct Trainer::Impl {
    RunConfig config;
    LaneConfig lane;
    const PrecisionPlan plan; ///< of the lane as it started
    int laneIndex;
    const BatchSource& source;
    /// For whole batches, and for the last one of an epoch when it is smaller.
    std::vector<std::unique_ptr<LaneStep>> sizes;
    LaneStep* at = nullptr; ///< the one that holds the lane's states
    int64_t lastStep = 0;
    bool hasOutputs = false; ///< true when the device holds the outputs of lastStep
    bool begun = false;      ///< true when lastStep has begun and is not finished
    struct Row {
        StepRecord record;
        float scaleAfter = 1;
    };
    std::optional<Row> row; ///< kept while the reason of a skip is looked for
    /// The last step's prediction, kept when the search for a culprit has run other steps since.
    std::optional<std::vector<float>> keptPrediction;
    std::unique_ptr<Evaluator> evaluator; ///< where there are samples to validate on
    std::unique_ptr<Probe> probe;         ///< from the first use on
    const Batch* probed = nullptr;        ///< its inputs
    std::unique_ptr<TextWriter> writer;   ///< likewise
    std::atomic<Probe*> runningProbe{nullptr};
    GradientError gradientError; ///< of the step that has begun
    Culprit culprit;             ///< of the last step; kept while the loss stays bad
    FittingScale fitting;        ///< of the last overflow in a backward pass: a first guess
    StepBefore stepBefore;       ///< what the last step left
    /// The optimizer that had divided by zero before the step that has begun; usually empty.
    std::string zeroEpsilon;
    UnderflowWatch underflow;
    SeenSamples seen; ///< of the epoch so far
    Plateau plateau;
    StateCopy moving; ///< from one of the sizes to the other

    Impl(const RunConfig& runConfig, int index, const BatchSource& batches)
        : config(runConfig), lane(config.lanes[static_cast<size_t>(index)]), plan(planOf(lane)),
          laneIndex(index), source(batches),
          gradientError(config, lane, plan, source, [this] { return anotherExecutor(); }) {}

    Graph graphFor(int64_t rows) const { return buildStep(config, lane, plan, source.shape(rows)); }

    std::unique_ptr<Executor> anotherExecutor() const {
        const bool cpu = sizes.front()->executor().device().kind == "cpu";
        return makeExecutor(cpu ? "cpu" : deviceOfLane(config.device, laneIndex),
                            static_cast<int>(config.threads));
    }

    void addSize(std::unique_ptr<Executor> executor, int64_t rows, const std::stop_token& stop) {
        const Graph graph = graphFor(rows);
        throwIfStopped(stop);
        sizes.push_back(std::make_unique<LaneStep>(std::move(executor), graph, rows, source, stop));
    }

    void uploadRates(const RunConfig& with) {
        const Graph& graph = at->graph();
        for (const auto& [table, values] : scheduleTables(with))
            uploadFloats(at->executor(), graph, graph.state(table), values);
    }

    /// Returns what copies the present weights into another program of the same network.
    Evaluator::Weights weightCopier() {
        return [this](Executor& to, const Graph& graph) {
            copyWeights(at->executor(), at->graph(), to, graph);
        };
    }

    LaneStep& sizeFor(int64_t step) const {
        const int64_t rows = sizes.size() > 1 ? source.rows(step) : sizes.front()->rows();
        return rows == sizes.front()->rows() ? *sizes.front() : *sizes.back();
    }

    /// Moves the lane's states to the step for this batch size, and loads the batch.
    void use(int64_t step) {
        LaneStep& next = sizeFor(step);
        next.loadBatch(step); // first, because it throws when a sample cannot be read
        if (&next == at) return;
        moving.run(at->executor(), at->graph(), next.executor(), next.graph());
        at = &next;
    }

    /// Returns the update of lastStep, with all batches whose gradients it added up; the weights
    /// have not changed since the first of them.
    RepeatedUpdate repeatedUpdate() {
        if (!keptPrediction) keptPrediction = at->prediction();
        return {[this](int64_t step) -> const LaneStep& {
                    use(step);
                    return *at;
                },
                lastStep, config.gradients.accumulate, partsOf(config).optimizers};
    }

    /// Whether gradients that are all zero can be tried at another scale: between updates they are
    /// not complete.
    bool canTryScales() const {
        return lastStep % config.gradients.accumulate == 0 &&
               (scalesLoss(lane) || losesSmallNumbers(at->graph()));
    }

    /// Returns the scale that would have kept the gradients of the update from rounding to zero,
    /// see RepeatedUpdate. A lane that does not scale its loss runs a step that does meanwhile.
    std::optional<float> scaleWithGradients() {
        if (scalesLoss(lane)) return repeatedUpdate().scaleWithGradients();
        LaneConfig scaled = lane;
        scaled.precision = Precision::AmpFp16; // one that may scale; the plan has the casts
        scaled.scaler = {};
        scaled.scaler.rules.mode = ScalerMode::Static;
        if (!keptPrediction) keptPrediction = at->prediction();
        const StateValues before = downloadStates(at->executor(), at->graph(), WhichStates::All);
        load(scaled);
        uploadStates(at->executor(), at->graph(), sharedStates(before, at->graph()));
        uploadSettings(at->executor(), at->graph(), config, scaled);
        const std::optional<float> found = repeatedUpdate().scaleWithGradients();
        load(lane);
        uploadStates(at->executor(), at->graph(), before);
        return found;
    }

    /// Loads the steps of a lane with this one's casts. All states are zero then.
    void load(const LaneConfig& other) {
        for (const auto& size : sizes)
            size->load(buildStep(config, other, plan, source.shape(size->rows())));
    }

    /// Whether the first optimizer waited while the second one took the last update.
    bool firstSatOut() const {
        const OptimizerPart first = partsOf(config).optimizers.front();
        if (first.every <= 1) return false;
        float passed = 0;
        at->download(first.passed().c_str(), std::as_writable_bytes(std::span(&passed, 1)));
        return passed > 0;
    }

    /// Returns what the optimizers did in a skipped step.
    TurnOf turns(const StepRecord& record) const {
        if (!(record.flags & (kFirstStepped | kSecondStepped))) return {};
        Turn first = Turn::Skipped, second = Turn::Stepped;
        if (record.flags & kFirstStepped) {
            first = firstSatOut() ? Turn::SatOut : Turn::Stepped;
            second = Turn::Skipped;
        }
        return [first, second, parts = partsOf(config)](const std::string& parameter) {
            return parts.optimizerOf(parameter) == 0 ? first : second;
        };
    }

    /// Returns the scales at which the update would have been taken. Returns nothing when it was
    /// stopped midway.
    std::optional<FittingScale> fittingScaleOf(const StepRecord& record) {
        if ((record.flags & kLossNotFinite) || isBeforeScaling(culprit.tensor.english()))
            return FittingScale{FittingScale::Known::None, 0};
        const bool satOut = (record.flags & kFirstStepped) && firstSatOut();
        const auto found = repeatedUpdate().fitting({record.scale, record.flags, satOut}, fitting);
        if (found) fitting = *found;
        return found;
    }

    /// Finds what was not finite first in a step that was skipped, overflowed or lost the loss.
    /// Data are looked at before the step is run again. Returns false when that was stopped midway.
    bool findCulprit(const StepRecord& record) {
        const bool skipped = record.flags & kSkipped, lost = record.flags & kLossNotFinite;
        const bool stays = lost && stepBefore.lossWasBad;
        const std::string last = culprit.tensor.english();
        if (skipped && stays && !last.empty() && !isOfData(last)) return true;
        culprit = {};
        // clipping spreads nan over all gradients, or takes inf from some of them
        const bool inWeights = steppedOnOverflow(record) && config.gradients.clip == ClipKind::None;
        if (!skipped && !inWeights && (!lost || stays)) return true;
        const int64_t first = lastStep - (lastStep - 1) % config.gradients.accumulate;
        if (lost || first < lastStep) culprit = culpritIn(source, first, lastStep);
        if (culprit.tensor.empty())
            culprit = at->finder().inInput(source, first, lastStep, config.task);
        if (lost && culprit.tensor.empty() && !zeroEpsilon.empty())
            culprit.tensor = {kZeroEpsilonOf, zeroEpsilon};
        if (inWeights && culprit.tensor.empty())
            culprit = at->finder().inWeights(at->executor(), at->graph());
        if (!skipped || !culprit.tensor.empty()) return true;
        const auto found = repeatedUpdate().culprit(record.scale, turns(record));
        if (found) culprit = *found;
        return found.has_value();
    }

    /// Counts the samples of lastStep; must be called while its outputs are still there.
    void countSeen() {
        const int64_t classes = source.targetsAreSides() ? 2 : source.tensors()[kTarget].classes;
        if (classes == 0) return;
        const std::shared_ptr<const Batch> batch = source.load(lastStep);
        if ((lastStep - 1) % source.stepsPerEpoch() == 0) seen = {};
        seen.all += batch->tensors[kTarget].shape.elements();
        seen.right += countRight(*batch, at->prediction(), static_cast<size_t>(classes));
    }

    /// Notes in the row of lastStep, if it is watched, what it did to the weights. A skipped step
    /// has changed none, and a network that sat out this update has not been stepped.
    void watchWeights() {
        if (!watchesWeights(config, lastStep) || (row->record.flags & kSkipped)) return;
        const bool waits = firstSatOut();
        row->record.weightChange = at->weights().after(
            at->executor(), [waits, parts = partsOf(config)](const std::string& parameter) {
                return !waits || parts.optimizerOf(parameter) != 0;
            });
    }

    /// Reads what the device has of lastStep.
    Row readRow() {
        const MetricsRow values = at->metrics();
        Row read{recordOf(values, config.model, lane.scaler.onOverflow),
                 static_cast<float>(values[kNextScaleMetric])};
        read.record.step = lastStep;
        read.record.lane = laneIndex;
        read.record.deviceSeconds = at->executor().lastStepSeconds();
        if (!(read.record.flags & kSkipped)) read.record.gradientError = gradientError.value();
        return read;
    }
};

Trainer::Trainer(const RunConfig& config, int lane, std::string name, const BatchSource& source,
                 std::unique_ptr<Executor> executor, Draw draw, const std::stop_token& stop)
    : m_name(std::move(name)), m_impl(std::make_unique<Impl>(config, lane, source)) {
    Impl& impl = *m_impl;
    // norms refuse a step of one sample, also one that is never taken
    const int64_t least = config.onlyJudges ? 2 : 1;
    impl.addSize(std::move(executor), std::max(least, source.rows()), stop);
    const int64_t last = source.rows(source.stepsPerEpoch());
    if (last != source.rows()) impl.addSize(impl.anotherExecutor(), last, stop);
    impl.at = impl.sizes.front().get();
    if (draw == Draw::Now) drawWeights(stop);
    uploadSettings(impl.at->executor(), impl.at->graph(), config, impl.lane);
    if (const Dataset* data = source.validation())
        impl.evaluator = std::make_unique<Evaluator>(impl.config, impl.plan, *data,
                                                     [&impl] { return impl.anotherExecutor(); });
    impl.gradientError.build(stop);
}

Trainer::~Trainer() = default;

const Program& Trainer::program() const { return *m_impl->sizes.front()->program(); }
const RunConfig& Trainer::config() const { return m_impl->config; }
const DeviceInfo& Trainer::device() const { return m_impl->sizes.front()->executor().device(); }
bool Trainer::worksAhead() const { return m_impl->sizes.front()->executor().worksAhead(); }
Executor& Trainer::next() { return m_impl->sizeFor(m_impl->lastStep + 1).executor(); }

MemoryUse Trainer::memory() const {
    std::vector<MemoryUse> uses;
    for (const auto& size : m_impl->sizes)
        uses.push_back(memoryUse(size->executor(), *size->program()));
    if (m_impl->evaluator) uses.push_back(m_impl->evaluator->memory());
    return sumOf(uses);
}

MemoryUse Trainer::instrumentMemory() const { return m_impl->gradientError.memory(); }

void Trainer::requestStop() {
    for (const auto& size : m_impl->sizes)
        size->executor().requestStop();
    if (m_impl->evaluator) m_impl->evaluator->requestStop();
    if (Probe* const running = m_impl->runningProbe) running->requestStop();
    m_impl->gradientError.requestStop();
}

void Trainer::drawWeights(const std::stop_token& stop) {
    const Weights drawn = initialWeights(m_impl->at->graph(), m_impl->config.seed, stop);
    uploadWeights(m_impl->at->executor(), m_impl->at->graph(), drawn, stop);
}

void Trainer::setWeights(const Weights& weights, const BatchCounts& seen) {
    const LaneStep& at = *m_impl->at;
    requireWeights(at.graph(), weights);
    uploadWeights(at.executor(), at.graph(), weights, {});
    uploadBatchCounts(at.executor(), at.graph(), seen);
}

LaneState Trainer::state(WhichStates which) const {
    const Impl& impl = *m_impl;
    LaneState state;
    state.step = impl.lastStep;
    state.states = downloadStates(impl.at->executor(), impl.at->graph(), which);
    state.skipped = m_skipped;
    state.lossWasBad = impl.stepBefore.lossWasBad;
    state.tookOverflow = impl.stepBefore.tookOverflow;
    state.culprit = impl.culprit;
    state.atFloor = m_atFloor;
    state.vanished = impl.underflow.lastStep();
    state.faultScale = impl.underflow.faultScale();
    state.seen = impl.seen;
    state.plateau = impl.plateau;
    return state;
}

size_t Trainer::stateBytes() const {
    const Graph& graph = m_impl->at->graph();
    size_t bytes = 0;
    for (const StateInfo& each : graph.states())
        bytes += graph[each.node].bytes();
    return bytes;
}

void Trainer::restore(const LaneState& state) {
    Impl& impl = *m_impl;
    for (const StateInfo& each : impl.at->graph().states())
        if (!state.states.contains(each.name))
            throw InputError(phrase("Training", "%1 is missing"), each.name);
    uploadStates(impl.at->executor(), impl.at->graph(), state.states);
    for (const auto& size : impl.sizes)
        size->dropStaged();
    impl.lastStep = state.step;
    impl.hasOutputs = impl.begun = false;
    impl.row.reset();
    impl.keptPrediction = predictionOf(state);
    impl.stepBefore = {.lossWasBad = state.lossWasBad, .tookOverflow = state.tookOverflow};
    impl.culprit = state.culprit;
    impl.underflow.restore(state.vanished, state.faultScale);
    impl.seen = state.seen;
    impl.plateau = state.plateau;
    m_skipped = state.skipped;
    m_atFloor = state.atFloor;
}

void Trainer::continueFrom(Trainer& parent) {
    Impl& impl = *m_impl;
    restore(parent.state());
    impl.at->upload("scaler.rules", bytesOfAll(slotsOf(actingRules(impl.lane))));
    const bool same = scalesLoss(impl.lane) == scalesLoss(parent.m_impl->lane);
    if (!same) impl.at->upload("scaler", bytesOfAll(firstScaler(impl.lane)));
    m_atFloor.reset();
    impl.underflow.restore(0, same ? impl.underflow.faultScale() : 0); // it tells of its own
    if (impl.lastStep > 0) impl.keptPrediction = parent.prediction();
}

Weights Trainer::weights() {
    const LaneStep& at = *m_impl->at;
    Weights weights;
    for (const StateInfo& state : at.graph().states())
        if (isWeight(state))
            weights[state.name] = downloadFloats(at.executor(), at.graph(), state.node);
    return weights;
}

std::optional<StepRecord> Trainer::step(int64_t step, std::vector<Event>& events) {
    return begin(step) ? end(events) : std::nullopt;
}

bool Trainer::begin(int64_t step) {
    Impl& impl = *m_impl;
    if (impl.begun) {
        require(step == impl.lastStep, "a step comes to its end before the next one");
        return true;
    }
    impl.use(step);
    impl.keptPrediction.reset();
    impl.zeroEpsilon = impl.stepBefore.lossWasBad
                           ? ""
                           : dividedByZero(impl.config, impl.lane, *impl.at, impl.lastStep);
    if (!impl.gradientError.measure(step, *impl.at)) return false;
    if (watchesWeights(impl.config, step)) impl.at->weights().before(impl.at->executor());
    if (impl.at->executor().run(RunMode::Captured) == RunResult::Stopped) return false;
    impl.lastStep = step;
    impl.hasOutputs = impl.begun = true;
    if (worksAhead() && &impl.sizeFor(step + 1) == impl.at) impl.at->stageBatch(step + 1);
    return true;
}

std::optional<StepRecord> Trainer::end(std::vector<Event>& events) {
    Impl& impl = *m_impl;
    if (!impl.row) {
        impl.row = impl.readRow();
        impl.countSeen();
        impl.watchWeights();
    }
    StepRecord record = impl.row->record;
    if (!impl.findCulprit(record)) return std::nullopt;
    const std::optional<FittingScale> fitting =
        (record.flags & kSkipped) ? impl.fittingScaleOf(record) : FittingScale{};
    if (!fitting) return std::nullopt;
    if (record.flags & kSkipped)
        impl.underflow.addSkip(record.scale, impl.row->scaleAfter, fitting->known);
    if (gradientsVanished(record) && impl.canTryScales() &&
        !impl.underflow.look(
            record, {impl.row->scaleAfter, scalesLoss(impl.lane)}, impl.config.gradients.accumulate,
            [&impl] { return impl.scaleWithGradients(); }, events))
        return std::nullopt;
    m_deviceSeconds = record.deviceSeconds;
    if (record.flags & kSkipped) ++m_skipped;
    record.skippedSoFar = m_skipped;
    describeStep(record, impl.row->scaleAfter,
                 {impl.culprit, *fitting, scalesLoss(impl.lane), isAdversarial(impl.config.model)},
                 impl.stepBefore, events);
    impl.stepBefore = leftBy(record);
    if (record.flags & kAtFloor) m_atFloor = {record.step, record.scale};
    impl.begun = false;
    impl.row.reset();
    return record;
}

std::optional<double> Trainer::trainingAccuracy() const {
    const SeenSamples& seen = m_impl->seen;
    if (seen.all == 0) return std::nullopt;
    return static_cast<double>(seen.right) / static_cast<double>(seen.all);
}

Message Trainer::stopReason(const std::string& name) const {
    if (!m_atFloor) return {};
    Phrase what =
        phrase("Training", "The loss scale reached its floor %1 in lane %2 at step %3 and the "
                           "gradients still overflow, so the run ends. A lower floor, smaller "
                           "targets, a lower learning rate or clipping may help; with "
                           "scaler.at_floor set to continue the run would go on.");
    if (isBeforeScaling(m_impl->culprit.tensor.english()))
        what = phrase("Training", "The loss scale reached its floor %1 in lane %2 at step %3, and "
                                  "the run ends. No loss scale would have helped.");
    return {what, scaleText(m_atFloor->scale), name.empty() ? m_name : name, m_atFloor->step};
}

std::vector<float> Trainer::prediction() {
    if (m_impl->keptPrediction) return *m_impl->keptPrediction;
    if (!m_impl->hasOutputs) return forward(std::max<int64_t>(m_impl->lastStep, 1), {});
    return m_impl->at->prediction();
}

std::vector<float> Trainer::preview(const std::stop_token& stop) {
    return forward(m_impl->lastStep + 1, stop);
}

/// Returns the output of the present weights for the batch of `step`.
std::vector<float> Trainer::forward(int64_t step, const std::stop_token& stop) {
    Impl& impl = *m_impl;
    const BatchShape shape = impl.source.shape(impl.sizeFor(step).rows());
    const auto program =
        std::make_shared<const Program>(compile(buildForward(impl.config, impl.plan, shape)));
    const Graph& graph = program->graph;
    const std::unique_ptr<Executor> executor = impl.anotherExecutor();
    executor->load(program);
    copyWeights(impl.at->executor(), impl.at->graph(), *executor, graph, stop);
    uploadTensor(*executor, graph, graph.input("x"), impl.source.load(step)->tensors[kX]);
    const std::stop_callback onStop(stop, [&executor] { executor->requestStop(); });
    if (executor->run(RunMode::Stepwise) == RunResult::Stopped) throwIfStopped(stop);
    return downloadFloats(*executor, graph, graph.output("prediction"));
}

std::optional<std::vector<float>> Trainer::probe(const Batch& inputs) {
    Impl& impl = *m_impl;
    if (!impl.probe || impl.probed != &inputs)
        impl.probe = std::make_unique<Probe>(impl.config, impl.plan, impl.source.tensors(), inputs,
                                             impl.anotherExecutor());
    impl.probed = &inputs;
    const RunningProbe until(impl.runningProbe, *impl.probe);
    return impl.probe->run(impl.weightCopier());
}

std::optional<std::vector<int32_t>> Trainer::write(std::span<const int32_t> prompt,
                                                   size_t characters) {
    Impl& impl = *m_impl;
    if (!impl.writer)
        impl.writer = std::make_unique<TextWriter>(impl.config, impl.plan, impl.source.tensors(),
                                                   impl.anotherExecutor());
    const RunningProbe until(impl.runningProbe, impl.writer->probe());
    return impl.writer->write(prompt, characters, impl.weightCopier());
}

bool Trainer::validates() const { return m_impl->evaluator != nullptr; }
int64_t Trainer::judgedSamples() const { return validates() ? m_impl->evaluator->samples() : 0; }

std::optional<Validation> Trainer::evaluate(const std::atomic<bool>& stop, Predictions* predictions,
                                            JudgedOn on) {
    require(validates() && (on == JudgedOn::Validation || m_impl->source.test()), "has samples");
    return m_impl->evaluator->run(m_impl->weightCopier(), stop, predictions,
                                  on == JudgedOn::Test ? m_impl->source.test() : nullptr);
}

JudgedSamples Trainer::judged() const {
    return validates() ? m_impl->evaluator->judged() : JudgedSamples();
}

const std::vector<Message>& Trainer::skippedSamples() const {
    require(validates(), "there are samples to validate on");
    return m_impl->evaluator->skipped();
}

double Trainer::distanceFrom(Trainer& reference) {
    const LaneStep &own = *m_impl->at, &other = *reference.m_impl->at;
    return weightDistance(own.executor(), own.graph(), other.executor(), other.graph());
}

void Trainer::releaseErrors() { m_impl->gradientError.release(); }

std::optional<GradientRange> Trainer::gradientRange(const ErrorsFit& errorsFit) {
    Impl& impl = *m_impl;
    if (impl.lastStep > 0) impl.keptPrediction = prediction(); // the last step's, not this one's
    impl.use(impl.lastStep + 1);
    GradientRange range;
    const LaneStep& at = *impl.at;
    if (!at.gradients().sample(at.executor(), at.graph(), range)) return std::nullopt;
    range.step = impl.lastStep + 1;
    range.scale = static_cast<float>(scaler().scale);
    if (errorsFit && !impl.gradientError.addTo(range, at, errorsFit)) return std::nullopt;
    return range;
}

void Trainer::setScaler(const ScalerConfig& scaler) {
    const bool scaledBefore = scalesLoss(m_impl->lane);
    LaneConfig lane = m_impl->lane;
    lane.scaler = scaler;
    if (hasOtherStep(lane, m_impl->lane)) rebuild(lane);
    m_impl->lane = lane;
    m_impl->at->upload("scaler.rules", bytesOfAll(slotsOf(actingRules(lane))));
    m_atFloor.reset();
    if (scalesLoss(lane) == scaledBefore) return;
    m_impl->at->upload("scaler", bytesOfAll(firstScaler(lane)));
    m_impl->underflow.forget();
}

void Trainer::rebuild(const LaneConfig& lane) {
    Impl& impl = *m_impl;
    LaneState before = state();
    std::optional<std::vector<float>> shown;
    if (impl.lastStep > 0) shown = prediction();
    impl.lane = lane;
    impl.load(lane);
    impl.gradientError.build();
    // The new step may have moments that the old one did not have, or may lack some.
    before.states = sharedStates(std::move(before.states), impl.at->graph());
    const StateValues fresh = state().states;
    before.states.insert(fresh.begin(), fresh.end());
    restore(before);
    impl.keptPrediction = std::move(shown);
}

void Trainer::setScale(float scale) {
    ScalerSlots values{};
    m_impl->at->download("scaler", std::as_writable_bytes(std::span(values)));
    // The growth tracker stays, as in GradScaler.update(new_scale).
    const double before = std::exchange(values[kScaleSlot], static_cast<double>(scale));
    m_impl->at->upload("scaler", bytesOfAll(values));
    m_atFloor.reset();
    m_impl->underflow.setScale(before, values[kScaleSlot]);
}

void Trainer::setLearningRates(double first, double second) {
    Impl& impl = *m_impl;
    impl.config.optimizer.lr = first;
    impl.config.second.lr = second;
    impl.plateau.rate = 0;
    impl.uploadRates(impl.config);
}

std::optional<std::pair<double, double>> Trainer::followValidation(double loss) {
    Impl& impl = *m_impl;
    const ScheduleConfig& schedule = impl.config.schedule;
    if (schedule.kind != ScheduleKind::Plateau || !fallsAfter(schedule, loss, impl.plateau))
        return std::nullopt;
    RunConfig now = impl.config;
    const double before = impl.plateau.rate > 0 ? impl.plateau.rate : now.optimizer.lr;
    now.optimizer.lr = impl.plateau.rate = rateAfterFall(schedule, before);
    if (impl.plateau.rate == before) return std::nullopt;
    impl.uploadRates(now);
    return std::pair(before, impl.plateau.rate);
}

void Trainer::setTraining(const RunConfig& config) {
    Impl& impl = *m_impl;
    impl.config.optimizer = config.optimizer;
    impl.config.gradients.clipLimit = config.gradients.clipLimit;
    impl.config.gradients.penalty = config.gradients.penalty;
    impl.config.gradients.penaltyEps = config.gradients.penaltyEps;
    rebuild(impl.lane);
}

ScalerState Trainer::scaler() {
    ScalerSlots values{};
    m_impl->at->download("scaler", std::as_writable_bytes(std::span(values)));
    return stateOf(values);
}

} // namespace halfscope
