// One lane: compiles its step, moves weights, batches and settings to the device, and reads one
// metrics row a step. Words for events stand in overflow, the step itself in step_graph.
#include "engine/train/trainer.h"

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/devices/device_list.h"
#include "engine/settings/precision_plan.h"
#include "engine/step/schedule.h"
#include "engine/step/step_graph.h"
#include "engine/train/overflow.h"
#include "engine/train/step_runner.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace halfscope {

namespace {

/// Streams of the generator from here on belong to parameters, one each; data uses lower numbers.
constexpr uint64_t kWeightStreams = uint64_t{1} << 32;

/// Weights of a wide network take seconds to draw and to move.
void throwIfStopped(const std::stop_token& stop) {
    if (stop.stop_requested()) throw RunError("stopped before the networks were built");
}

constexpr const char* kFirstBatch = "the first batch of a data set is always new";

template <class T>
std::span<const std::byte> bytesOfAll(const T& values) {
    return std::as_bytes(std::span(values));
}

bool isWeight(const StateInfo& state) {
    return state.role == StateRole::Parameter || state.role == StateRole::RunningStatistic;
}

/// Uploads the weights that the program has; a preview's program may have fewer states.
void uploadWeights(Executor& executor, const Graph& graph, const Weights& weights,
                   const std::stop_token& stop) {
    for (const StateInfo& state : graph.states()) {
        if (!isWeight(state)) continue;
        throwIfStopped(stop);
        const auto found = weights.find(state.name);
        if (found == weights.end()) throw InputError("weights: " + state.name + " is missing");
        const int64_t wanted = graph[state.node].elements();
        if (static_cast<int64_t>(found->second.size()) != wanted)
            throw InputError("weights: " + state.name + " has " +
                             std::to_string(found->second.size()) + " values, " +
                             std::to_string(wanted) + " are wanted");
        uploadFloats(executor, graph, state.node, found->second);
    }
}

/// Who stepped on a skip all the same.
uint32_t steppedFlags(double foundInf, int64_t optimizers) {
    if (optimizers < 2 || foundInf == 0) return 0;
    if (foundInf == 1) return kSecondStepped;
    return foundInf == 2 ? uint32_t{kFirstStepped} : 0;
}

uint32_t overflowFlags(double foundInf, int64_t optimizers, OverflowAction action) {
    if (foundInf == 0) return 0;
    if (action == OverflowAction::Step) return kSteppedOnOverflow;
    return kSkipped | steppedFlags(foundInf, optimizers);
}

/// What the device's row tells; step, lane and times are the trainer's.
StepRecord recordOf(const MetricsRow& row, int64_t optimizers, OverflowAction action) {
    StepRecord record;
    record.loss = static_cast<float>(row[kLossMetric]);
    record.scale = static_cast<float>(row[kScaleMetric]);
    record.growthTracker = static_cast<int32_t>(row[metricOf(kTrackerSlot)]);
    record.learningRate = static_cast<float>(row[kLearningRateMetric]);
    record.gradientNorm = static_cast<float>(row[kGradientNormMetric]);
    record.flags |= overflowFlags(row[kFoundInfMetric], optimizers, action);
    if (row[kNextScaleMetric] > row[kScaleMetric]) record.flags |= kGrew;
    if (row[kNextScaleMetric] < row[kScaleMetric]) record.flags |= kBackedOff;
    if (!std::isfinite(record.loss)) record.flags |= kLossNotFinite;
    const bool stops = row[metricOf(kStopSlot)] != 0;
    if (stops && (record.flags & kSkipped)) record.flags |= kAtFloor;
    return record;
}

/// Whether two lanes that differ in their scaler alone have different steps; the rules are data.
bool hasOtherStep(const LaneConfig& a, const LaneConfig& b) {
    return scalesLoss(a) != scalesLoss(b) || a.scaler.onOverflow != b.scaler.onOverflow ||
           a.scaler.checkUnscaled != b.scaler.checkUnscaled ||
           a.scaler.holdSchedule != b.scaler.holdSchedule;
}

} // namespace

Weights initialWeights(const Graph& graph, uint64_t seed, const std::stop_token& stop) {
    Weights weights;
    uint64_t index = 0;
    double bound = 0; // of the layer at hand: a weight stands before its bias
    for (const StateInfo& state : graph.states()) {
        if (!isWeight(state)) continue;
        throwIfStopped(stop);
        const Node& node = graph[state.node];
        std::vector<float> values(static_cast<size_t>(node.elements()));
        if (state.name.find("norms.") != std::string::npos) {
            const bool one = state.name.ends_with(".weight") || state.name.ends_with("_var");
            std::fill(values.begin(), values.end(), one ? 1.0f : 0.0f);
        } else {
            if (node.shape.rank() == 2)
                bound = 1 / std::sqrt(static_cast<double>(node.shape.back()));
            const auto limit = static_cast<float>(bound);
            Philox(seed, kWeightStreams + index++).fillUniform(values, -limit, limit);
        }
        weights.emplace(state.name, std::move(values));
    }
    return weights;
}

struct Trainer::Impl {
    const RunConfig config;
    LaneConfig lane;
    const PrecisionPlan plan; ///< of the lane as it started
    int laneIndex;
    const Dataset& dataset;
    NodeId x, target, prediction, metrics, scaler, rules, table;
    std::vector<float> xValues, targetValues;
    int64_t batchStep = 0;  ///< the step whose batch lies on the device; 0: none
    int64_t stagedStep = 0; ///< the step whose batch lies there beside it; 0: none
    int64_t lastStep = 0;
    bool hasOutputs = false; ///< of lastStep, on the device
    /// The last step's, where the search for a culprit has run other steps since.
    std::optional<std::vector<float>> keptPrediction;
    OverflowFinder finder;
    GradientSampler gradients;
    Culprit culprit; ///< of the last step; kept while the loss stays bad
    bool lossWasBad = false;

    Impl(const RunConfig& runConfig, const LaneConfig& laneConfig, PrecisionPlan lanePlan,
         int index, const Dataset& data, const Graph& graph)
        : config(runConfig), lane(laneConfig), plan(std::move(lanePlan)), laneIndex(index),
          dataset(data), x(graph.input("x")), target(graph.input("target")),
          prediction(graph.output("prediction")), metrics(graph.output("metrics")),
          scaler(graph.state("scaler")), rules(graph.state("scaler.rules")),
          table(graph.state("schedule.table")), xValues(static_cast<size_t>(graph[x].elements())),
          targetValues(static_cast<size_t>(graph[target].elements())), finder(graph),
          gradients(graph) {}

    /// The batch of a step to come, while the device reads the one at hand.
    void stageBatch(Executor& executor, const Graph& graph, int64_t step) {
        if (stagedStep == step || !dataset.batch(step, xValues, targetValues)) return;
        stageFloats(executor, graph, x, xValues);
        stageFloats(executor, graph, target, targetValues);
        stagedStep = step;
    }

    /// Before another step than the one whose batch was staged.
    void dropStaged(Executor& executor) {
        if (stagedStep == 0) return;
        executor.takeStaged();
        batchStep = std::exchange(stagedStep, 0);
    }

    void loadBatch(Executor& executor, const Graph& graph, int64_t step) {
        if (batchStep == step) return;
        if (stagedStep == step) {
            executor.takeStaged();
            batchStep = std::exchange(stagedStep, 0);
            return;
        }
        int64_t from = step;
        // An unchanged batch is the one of an earlier step: go back to where it was made, unless
        // that one is on the device.
        while (!dataset.batch(from, xValues, targetValues)) {
            if (--from == batchStep) break;
            require(from >= 1, kFirstBatch);
        }
        if (from != batchStep) {
            uploadFloats(executor, graph, x, xValues);
            uploadFloats(executor, graph, target, targetValues);
        }
        batchStep = step;
    }

    /// Why `step` was skipped: looks into its own batch, then into the earlier ones whose gradients
    /// were accumulated with it. Weights have not changed since those.
    Culprit culpritOf(Executor& executor, const Graph& graph, int64_t step, float scale) {
        constexpr int64_t kSearched = 16; // each is a whole step, run value by value
        keptPrediction = downloadFloats(executor, graph, prediction);
        const int64_t batches = std::min(config.gradients.accumulate, kSearched);
        Culprit found;
        for (int64_t at = step; at > std::max<int64_t>(step - batches, 0); --at) {
            loadBatch(executor, graph, at);
            found = finder.find(executor, graph, scale);
            if (!found.tensor.empty()) break;
        }
        return found;
    }
};

Trainer::Trainer(const RunConfig& config, int lane, std::string name, const Dataset& dataset,
                 std::unique_ptr<Executor> executor, const std::stop_token& stop)
    : m_name(std::move(name)), m_executor(std::move(executor)) {
    const LaneConfig& laneConfig = config.lanes[static_cast<size_t>(lane)];
    PrecisionPlan plan = planOf(laneConfig);
    const Graph graph = buildStep(config, laneConfig, plan, dataset.shape());
    throwIfStopped(stop);
    m_program = std::make_shared<const Program>(compile(graph, m_executor->compileOptions()));
    throwIfStopped(stop);
    {
        // a GPU compares ways to run the step
        const std::stop_callback onStop(stop, [this] { m_executor->requestStop(); });
        m_executor->load(m_program);
    }
    m_impl = std::make_unique<Impl>(config, laneConfig, std::move(plan), lane, dataset,
                                    m_program->graph);
    uploadWeights(*m_executor, m_program->graph,
                  initialWeights(m_program->graph, config.seed, stop), stop);
    uploadSettings(*m_executor, m_program->graph, config, laneConfig);
}

Trainer::~Trainer() = default;

void Trainer::setWeights(const Weights& weights) {
    const auto& states = m_program->graph.states();
    for (const auto& given : weights) {
        const bool known = std::any_of(states.begin(), states.end(), [&](const StateInfo& state) {
            return isWeight(state) && state.name == given.first;
        });
        if (!known) throw InputError("weights: the network has no " + given.first);
    }
    uploadWeights(*m_executor, m_program->graph, weights, {});
}

LaneState Trainer::state() const {
    const Impl& impl = *m_impl;
    return {impl.lastStep, downloadStates(*m_executor, m_program->graph, WhichStates::All),
            m_skipped,     impl.lossWasBad,
            impl.culprit,  m_atFloor};
}

void Trainer::restore(const LaneState& state) {
    Impl& impl = *m_impl;
    for (const StateInfo& each : m_program->graph.states())
        if (!state.states.contains(each.name))
            throw InputError("lane state: " + each.name + " is missing");
    uploadStates(*m_executor, m_program->graph, state.states);
    impl.dropStaged(*m_executor);
    impl.lastStep = state.step;
    impl.hasOutputs = false;
    impl.keptPrediction.reset();
    impl.lossWasBad = state.lossWasBad;
    impl.culprit = state.culprit;
    m_skipped = state.skipped;
    m_atFloor = state.atFloor;
}

void Trainer::continueFrom(Trainer& parent) {
    restore(parent.state());
    const LaneConfig& lane = m_impl->lane;
    m_executor->upload(m_impl->rules, bytesOfAll(slotsOf(actingRules(lane))));
    if (scalesLoss(lane) != scalesLoss(parent.m_impl->lane))
        m_executor->upload(m_impl->scaler, bytesOfAll(firstScaler(lane)));
    m_atFloor.reset();
    if (m_impl->lastStep > 0) m_impl->keptPrediction = parent.prediction();
}

Weights Trainer::weights() {
    Weights weights;
    for (const StateInfo& state : m_program->graph.states())
        if (isWeight(state))
            weights[state.name] = downloadFloats(*m_executor, m_program->graph, state.node);
    return weights;
}

std::optional<StepRecord> Trainer::step(int64_t step, std::vector<Event>& events) {
    if (!begin(step)) return std::nullopt;
    return end(events);
}

bool Trainer::begin(int64_t step) {
    Impl& impl = *m_impl;
    impl.loadBatch(*m_executor, m_program->graph, step);
    impl.keptPrediction.reset();
    if (m_executor->run(RunMode::Captured) == RunResult::Stopped) return false;
    impl.lastStep = step;
    impl.hasOutputs = true;
    if (worksAhead()) impl.stageBatch(*m_executor, m_program->graph, step + 1);
    return true;
}

StepRecord Trainer::end(std::vector<Event>& events) {
    Impl& impl = *m_impl;
    const int64_t step = impl.lastStep;
    MetricsRow row{};
    m_executor->download(impl.metrics, std::as_writable_bytes(std::span(row)));
    StepRecord record = recordOf(row, impl.config.model.networks, impl.lane.scaler.onOverflow);
    record.step = step;
    record.lane = impl.laneIndex;
    record.deviceSeconds = m_deviceSeconds = m_executor->lastStepSeconds();
    if (record.flags & kSkipped) ++m_skipped;
    record.skippedSoFar = m_skipped;

    const bool lossIsBad = (record.flags & kLossNotFinite) != 0;
    if (!(record.flags & kSkipped))
        impl.culprit = {};
    else if (!lossIsBad || !impl.lossWasBad || impl.culprit.tensor.empty())
        impl.culprit = impl.culpritOf(*m_executor, m_program->graph, step, record.scale);
    const auto scaleAfter = static_cast<float>(row[kNextScaleMetric]);
    describeStep(record, scaleAfter, impl.culprit, !impl.lossWasBad, events);
    impl.lossWasBad = lossIsBad;
    if (record.flags & kAtFloor) m_atFloor = {step, record.scale};
    return record;
}

std::string Trainer::stopReason(const std::string& name) const {
    if (!m_atFloor) return {};
    return "The loss scale reached its floor " + scaleText(m_atFloor->scale) + " in lane " +
           (name.empty() ? m_name : name) + " at step " + std::to_string(m_atFloor->step) +
           " and gradients still overflow: the run ends. A lower learning rate or clipped "
           "gradients may help; scaler.at_floor=continue goes on.";
}

std::vector<float> Trainer::prediction() {
    if (m_impl->keptPrediction) return *m_impl->keptPrediction;
    if (!m_impl->hasOutputs) return forward(std::max<int64_t>(m_impl->lastStep, 1), {});
    return downloadFloats(*m_executor, m_program->graph, m_impl->prediction);
}

std::vector<float> Trainer::preview(const std::stop_token& stop) {
    return forward(m_impl->lastStep + 1, stop);
}

/// The output of the weights at hand on the batch of `step`.
std::vector<float> Trainer::forward(int64_t step, const std::stop_token& stop) {
    Impl& impl = *m_impl;
    const Graph forward = buildForward(impl.config, impl.plan, impl.dataset.shape());
    const auto program = std::make_shared<const Program>(compile(forward));
    const Graph& graph = program->graph;
    const std::string name =
        device().kind == "cpu" ? "cpu" : deviceOfLane(impl.config.device, impl.laneIndex);
    const std::unique_ptr<Executor> executor =
        makeExecutor(name, static_cast<int>(impl.config.threads));
    executor->load(program);
    uploadWeights(*executor, graph, weights(), stop);
    while (!impl.dataset.batch(step, impl.xValues, impl.targetValues)) {
        --step;
        require(step >= 1, kFirstBatch);
    }
    uploadFloats(*executor, graph, graph.input("x"), impl.xValues);
    const std::stop_callback onStop(stop, [&executor] { executor->requestStop(); });
    if (executor->run(RunMode::Stepwise) == RunResult::Stopped) throwIfStopped(stop);
    return downloadFloats(*executor, graph, graph.output("prediction"));
}

std::optional<GradientRange> Trainer::gradientRange() {
    Impl& impl = *m_impl;
    if (impl.lastStep > 0) impl.keptPrediction = prediction(); // the last step's, not this one's
    impl.loadBatch(*m_executor, m_program->graph, impl.lastStep + 1);
    GradientRange range;
    const auto scale = static_cast<float>(scaler().scale);
    if (!impl.gradients.sample(*m_executor, m_program->graph, range)) return std::nullopt;
    range.step = impl.lastStep + 1;
    range.scale = scale;
    return range;
}

void Trainer::setScaler(const ScalerConfig& scaler) {
    const bool scaledBefore = scalesLoss(m_impl->lane);
    LaneConfig lane = m_impl->lane;
    lane.scaler = scaler;
    if (hasOtherStep(lane, m_impl->lane)) rebuild(lane);
    m_impl->lane = lane;
    m_executor->upload(m_impl->rules, bytesOfAll(slotsOf(actingRules(lane))));
    if (scalesLoss(lane) != scaledBefore)
        m_executor->upload(m_impl->scaler, bytesOfAll(firstScaler(lane)));
    m_atFloor.reset();
}

void Trainer::rebuild(const LaneConfig& lane) {
    Impl& old = *m_impl;
    const auto program = std::make_shared<const Program>(compile(
        buildStep(old.config, lane, old.plan, old.dataset.shape()), m_executor->compileOptions()));
    const LaneState before = state();
    std::optional<std::vector<float>> shown;
    if (old.lastStep > 0) shown = prediction();
    auto next = std::make_unique<Impl>(old.config, lane, old.plan, old.laneIndex, old.dataset,
                                       program->graph);
    m_executor->load(program);
    m_program = program;
    m_impl = std::move(next);
    restore(before);
    m_impl->keptPrediction = std::move(shown);
}

void Trainer::setScale(float scale) {
    ScalerSlots values{};
    m_executor->download(m_impl->scaler, std::as_writable_bytes(std::span(values)));
    // The tracker stays, as in GradScaler.update(new_scale).
    values[kScaleSlot] = static_cast<double>(scale);
    m_executor->upload(m_impl->scaler, bytesOfAll(values));
    m_atFloor.reset();
}

void Trainer::setLearningRate(double lr) {
    const ScheduleConfig& schedule = m_impl->config.schedule;
    if (schedule.kind == ScheduleKind::OneCycle)
        throw InputError(
            "optimizer.lr cannot change during a one-cycle schedule: the schedule sets "
            "the learning rate");
    uploadFloats(*m_executor, m_program->graph, m_impl->table, learningRateTable(schedule, lr));
}

ScalerState Trainer::scaler() {
    ScalerSlots values{};
    m_executor->download(m_impl->scaler, std::as_writable_bytes(std::span(values)));
    return stateOf(values);
}

} // namespace halfscope
