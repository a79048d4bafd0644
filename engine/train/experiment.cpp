// Lanes in lock-step: one call, one step of each, stoppable midway; live edits at step boundaries.
#include "engine/train/experiment.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/data_print.h"
#include "engine/devices/device_list.h"
#include "engine/runs/edit_events.h"
#include "engine/runs/edit_words.h"
#include "engine/settings/model_settings.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"
#include "engine/step/step_graph.h"
#include "engine/train/lane_formula.h"
#include "engine/train/lane_gallery.h"
#include "engine/train/lanes_fit.h"
#include "engine/train/overflow.h"
#include "engine/train/state_check.h"
#include "engine/train/state_dict.h"
#include "engine/train/weight_watch.h"

#include <algorithm>
#include <chrono>
#include <map>

namespace halfscope {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

bool isAllowed(const RunConfig& config) {
    try {
        checkConfig(config);
        return true;
    } catch (const InputError&) {
        return false;
    }
}

/// The most work in a device's queue, in seconds, when another lane joins it: a stop, which waits
/// for what is enqueued, is answered within 100 ms. A lane's own step is at most half of that, or
/// is run piece by piece.
constexpr double kMostSecondsQueued = 0.025;

} // namespace

Experiment::Experiment(RunConfig config, const std::stop_token& stop, std::shared_ptr<Task> data)
    : m_config(std::move(config)), m_task(std::move(data)) {
    checkConfig(m_config);
    m_start = m_planned = m_config;
    for (RunConfig* emptied : {&m_config, &m_start}) {
        emptied->forks.clear();
        emptied->edits.clear();
    }
    if (!m_task) m_task = makeTask(m_config);
    m_data = dataRecordOf(m_config, m_task->dataset());
    checkConfig(m_config); // again, now with what the files of the data set hold
    m_epochs = epochPlanOf(m_config);
    setFromData(m_config, m_task->dataset());
    m_scheduleSteps = scheduleOf(m_config).totalSteps;
    m_names = laneNames(m_config);
    m_hasFormula = hasFormula(m_config, *m_task);
    try {
        buildLanes(m_config.device, stop);
    } catch (const EngineError& error) {
        const bool cpuFailed = !m_cudaReason.empty();
        if (m_config.device != "auto" || cpuFailed) throw;
        m_lanes.clear();
        buildLanes("cpu", stop);
        m_cudaReason = error.message();
    }
}

void Experiment::resume(const ExperimentState& state) {
    const auto refuse = [](Phrase what, auto... values) { throw InputError(what, values...); };
    checkSamples(m_epochs, state.epochs, m_task->dataset());
    checkClasses(m_data.classes, state.classes, m_config.task);
    replayAll(state.step + 1);
    if (state.lanes.size() != m_lanes.size())
        refuse(phrase("Training", "the checkpoint has %1 lanes, its experiment has %2 after step "
                                  "%3"),
               state.lanes.size(), m_lanes.size(), state.step);
    const bool shown = state.lanes.front().prediction.has_value();
    const int64_t outputs =
        shown ? m_task->shape(m_task->rows(state.step)).prediction().elements() : 0;
    for (size_t i = 0; i < m_lanes.size(); ++i) {
        try {
            checkState(state.lanes[i], m_lanes[i]->program().graph, state.recorded);
            checkOutputs(state.lanes[i], outputs);
            m_lanes[i]->restore(state.lanes[i]);
        } catch (const InputError& error) {
            refuse(phrase("Training", "the state of lane %1: %2"), m_lanes[i]->name(),
                   error.message());
        }
    }
    std::vector<SinceBest> sinceBest;
    for (const LaneState& lane : state.lanes) {
        SinceBest& each = sinceBest.emplace_back(lane.sinceBest);
        // earlier versions judged two classes as one output by their loss, and counted none seen
        if (!hasClasses() && measuresAccuracy() && lane.seen.all == 0) each.best.reset();
    }
    m_patience.restore(std::move(sinceBest));
    m_endedByPatience = isScheduled(state.step) && isOver(m_patience); // before new edits
    m_dataChange = changeSince(state.data, m_data.print, m_config.task);
    m_tellsChange = !m_dataChange.empty();
    m_data.print = state.data;
    m_damage.goOn(state.damaged);
    m_step = state.step;
    m_withoutOutputs = shown ? 0 : state.step;
    m_wallSeconds = state.wallSeconds;
    if (isValidatedAfter(m_step)) // rows have it already
        m_judge.look(m_lanes, m_step, taskOf(m_config), m_task->dataset(), m_stop);
}

/// Applies the recorded forks and edits up to a step, each at its own step; trains nothing.
void Experiment::replayAll(int64_t untilStep) {
    std::vector<Event> known; // events that were shown when those steps were taken
    for (;;) {
        int64_t next = untilStep + 1;
        if (m_nextFork < m_planned.forks.size())
            next = std::min(next, m_planned.forks[m_nextFork].step);
        if (m_nextEdit < m_planned.edits.size())
            next = std::min(next, m_planned.edits[m_nextEdit].step);
        if (next > untilStep) return;
        m_step = next - 1;
        replay(known);
    }
}

/// Whether a state has the outputs of the last step. What a validation shows is computed anew.
bool Experiment::keepsOutputs(LastOutputs outputs) const {
    const bool asked = finished() || !stopReason().empty() || outputs == LastOutputs::Always;
    const bool has = m_step > 0 && m_step != m_withoutOutputs && !view().probe;
    return asked && has && !m_judge.shows(view());
}

ExperimentState Experiment::state(LastOutputs outputs) {
    if (!atStepBoundary())
        throw RunError(phrase("Training",
                              "a checkpoint is written between two steps only: step %1 is not "
                              "finished"),
                       m_step + 1);
    applyEdits(); // those that came in the middle of the last step
    ExperimentState state{recorded(), m_step, m_wallSeconds, m_epochs,       device().name,
                          {},         {},     m_data.print,  m_damage.told()};
    state.classes = m_data.classes;
    const bool keeps = keepsOutputs(outputs);
    for (const auto& lane : m_lanes) {
        LaneState& each = state.lanes.emplace_back(lane->state());
        each.sinceBest = m_patience.of(state.lanes.size() - 1);
        if (keeps) setPrediction(each, lane->prediction());
    }
    return state;
}

void Experiment::buildLanes(const std::string& device, const std::stop_token& stop) {
    m_device = device;
    for (size_t i = 0; i < m_config.lanes.size(); ++i) {
        const std::string name = deviceOfLane(device, static_cast<int>(i));
        DeviceChoice choice = chooseDevice(name, static_cast<int>(m_config.threads));
        if (i == 0) m_cudaReason = choice.cudaUnavailable;
        if (choice.cudaUnavailable != m_cudaReason) throw EngineError(choice.cudaUnavailable);
        m_lanes.push_back(std::make_unique<Trainer>(m_config, static_cast<int>(i), m_names[i],
                                                    *m_task, std::move(choice.executor),
                                                    Draw::Later, stop));
    }
    for (size_t i = 0; i < m_lanes.size(); ++i)
        checkLaneFits(i);
    FirstWeights given;
    if (!m_config.model.weights.empty())
        given = readFirstWeights(m_config, m_lanes.front()->program().graph, stop);
    for (const auto& lane : m_lanes)
        given.weights.empty() ? lane->drawWeights(stop)
                              : lane->setWeights(given.weights, given.batches);
    m_weightsNote = given.note;
    m_batchesBefore = given.batches;
}

/// Checks that the lane fits beside all others of the same device.
void Experiment::checkLaneFits(size_t lane) const {
    const auto deviceAt = [this](size_t i) { return deviceOfLane(m_device, static_cast<int>(i)); };
    std::vector<size_t> bytes;
    for (size_t i = 0; i < m_lanes.size(); ++i)
        if (deviceAt(i) == deviceAt(lane))
            bytes.push_back(m_lanes[i]->memory().bytes + m_lanes[i]->instrumentMemory().bytes);
    checkLanesFit(bytes, m_lanes[lane]->device());
}

Experiment::~Experiment() = default;

bool Experiment::advance(std::vector<StepRecord>& records, std::vector<Event>& events) {
    if (m_pending.empty()) {
        applyEdits();
        replay(events);
        if (std::exchange(m_tellsChange, false))
            events.push_back(editEvent(nextFreeStep(), -1, "data", m_dataChange, m_names));
        if (std::exchange(m_tellsNoGradients, false))
            events.push_back(editEvent(
                nextFreeStep(), -1, kGradientsEdit,
                {phrase("Events", "gradients are not counted, because %1"), m_noGradients},
                m_names));
    }
    if (!dataFault().empty()) throw InputError(dataFault());
    if (const Message reason = stopReason(); m_pending.empty() && !reason.empty())
        throw RunError(reason);
    if (!m_hasRoom) checkLanesFree(m_lanes); // not before: who only judges never fills it
    m_hasRoom = true;
    const Clock::time_point start = Clock::now();
    while (m_pending.size() < m_lanes.size() && !m_stop) {
        for (const size_t begun = beginLanes(); m_pending.size() < begun;) {
            std::optional<StepRecord> record = m_lanes[m_pending.size()]->end(events);
            if (!record) break;
            record->wallSeconds = m_wallSeconds + secondsSince(start);
            if (m_epochs.hasBatches()) {
                record->epoch = static_cast<int32_t>(m_epochs.epochOf(record->step));
                record->batch = static_cast<int32_t>(m_epochs.batchOf(record->step) + 1);
            }
            m_pending.push_back(*record);
        }
    }
    const bool done = m_pending.size() == m_lanes.size() && judgeLanes();
    m_wallSeconds += secondsSince(start);
    if (!done) return false;
    m_midway = false;
    measureTrainingAccuracy();
    measureDistances();
    tellDamaged(events);
    // the one at the end of a run alone does not count: a longer run would not have it
    if (m_config.schedule.kind == ScheduleKind::Plateau && isScheduled(m_step + 1))
        LaneJudge::follow(m_lanes, m_config.schedule, m_pending, events);
    records.insert(records.end(), m_pending.begin(), m_pending.end());
    m_pending.clear();
    ++m_step;
    replay(events); // an edit may be the one that lets the run go on
    return true;
}

/// Reports the damaged samples of the step that all lanes have done and of their validation.
void Experiment::tellDamaged(std::vector<Event>& events) {
    const int64_t step = m_step + 1;
    if (m_config.task.damaged == Damaged::Skip)
        m_damage.addStep(step, m_task->load(step)->skipped, m_task->dataset(), m_stop, events);
    if (isValidatedAfter(step)) m_damage.addJudged(step, m_judge, events);
}

bool Experiment::tests() const { return m_task->test() != nullptr; }
bool Experiment::hasClasses() const { return m_task->tensors()[kTarget].dtype == DType::I32; }
bool Experiment::measuresAccuracy() const { return hasClasses() || m_task->targetsAreSides(); }

int64_t Experiment::outputs() const { return batchShape(m_task->tensors(), 1).outputs; }

bool Experiment::scalesTargets() const { return m_task->dataset().targetScale().active(); }

bool Experiment::isValidatedAfter(int64_t step) const {
    if (!validates()) return false;
    return step == m_config.steps || isScheduled(step);
}

/// Returns whether lanes are validated after a step wherever the run ends.
bool Experiment::isScheduled(int64_t step) const {
    return nextValidation(m_config.validation, m_epochs, step - 1) == step;
}

/// Measures after the step that all lanes have done: at each validation and at the end of each
/// epoch.
void Experiment::measureTrainingAccuracy() {
    const int64_t step = m_step + 1;
    const bool epochDone = m_epochs.hasBatches() && endsEpoch(step);
    if (!epochDone && !isValidatedAfter(step) && step != m_config.steps) return;
    for (size_t i = 0; i < m_lanes.size(); ++i)
        m_pending[i].trainingAccuracy = m_lanes[i]->trainingAccuracy();
}

/// Measures after the step that all lanes have done, if it is watched, how far they are from the
/// first one.
void Experiment::measureDistances() {
    if (!watchesWeights(m_config, m_step + 1)) return;
    for (size_t i = 1; i < m_lanes.size(); ++i)
        m_pending[i].weightDistance = m_lanes[i]->distanceFrom(*m_lanes.front());
}

/// Validates after the step that all lanes have done, and tests after the last one. Returns false
/// when a stop request came in between.
bool Experiment::judgeLanes() {
    const int64_t step = m_step + 1;
    const bool due = isValidatedAfter(step);
    if (due && !m_judge.validate(m_lanes, step, m_pending, m_stop)) return false;
    const bool judged = due && dataFault().empty();
    if (judged) m_judge.explain(taskOf(m_config), m_task->dataset(), m_pending, m_stop);
    Patience after = m_patience;
    // as for rates that follow: the validation at the end of a run alone does not count
    if (judged && isScheduled(step)) after.add(m_pending);
    const bool ends = judged && tests() && (step == m_config.steps || isOver(after));
    for (StepRecord& row : m_pending) // the end may have moved while the test was interrupted
        if (!ends) row.test.reset();
    if (ends && !m_judge.test(m_lanes, m_pending, m_stop)) return false;
    m_patience = std::move(after);
    m_endedByPatience = judged && isScheduled(step) && isOver(m_patience);
    return true;
}

/// Applies the recorded forks and edits whose step comes next.
void Experiment::replay(std::vector<Event>& events) {
    const auto due = [this](const auto& list, size_t next) {
        return next < list.size() && list[next].step <= m_step + 1;
    };
    m_replaying = true;
    for (;;) {
        const auto edited = static_cast<int64_t>(m_start.edits.size());
        if (due(m_planned.forks, m_nextFork) && m_planned.forks[m_nextFork].afterEdits <= edited) {
            const LaneFork& next = m_planned.forks[m_nextFork++];
            fork(next.parent, next.lane, events);
        } else if (due(m_planned.edits, m_nextEdit)) {
            const LiveEdit& next = m_planned.edits[m_nextEdit++];
            setLive(next.lane, next.key, next.value, events);
        } else {
            break;
        }
    }
    m_replaying = false;
}

RunConfig Experiment::recorded() const {
    RunConfig config = m_start;
    const auto append = [](auto& to, const auto& planned, size_t next) {
        to.insert(to.end(), planned.begin() + static_cast<std::ptrdiff_t>(next), planned.end());
    };
    append(config.forks, m_planned.forks, m_nextFork);
    append(config.edits, m_planned.edits, m_nextEdit);
    return config;
}

/// Records a new edit before the planned ones.
void Experiment::record(LiveEdit edit) {
    m_start.edits.push_back(std::move(edit));
    if (m_replaying) return;
    for (size_t i = m_nextFork; i < m_planned.forks.size(); ++i)
        ++m_planned.forks[i].afterEdits;
}

/// Records a fork. The new lane takes the number of the next planned one, so the planned numbers
/// move up.
void Experiment::record(LaneFork fork) {
    fork.afterEdits = static_cast<int64_t>(m_start.edits.size());
    m_start.forks.push_back(std::move(fork));
    if (m_replaying) return;
    const int added = lanes() - 1;
    for (size_t i = m_nextFork; i < m_planned.forks.size(); ++i)
        if (m_planned.forks[i].parent >= added) ++m_planned.forks[i].parent;
    for (size_t i = m_nextEdit; i < m_planned.edits.size(); ++i)
        if (m_planned.edits[i].lane >= added) ++m_planned.edits[i].lane;
}

int Experiment::fork(int parent, LaneConfig lane, std::vector<Event>& events) {
    require(parent >= 0 && parent < lanes(), "no such lane");
    if (!atStepBoundary())
        throw RunError(
            phrase("Training",
                   "a lane can be forked between two steps only: step %1 is not finished"),
            m_step + 1);
    if (m_lanes.size() == kMaxLanes)
        throw InputError(
            phrase("Training",
                   "lanes: there are %1 already, the most that a run has: no lane can be forked"),
            kMaxLanes);
    RunConfig with = m_config;
    with.lanes.push_back(lane);
    RunConfig built = with; // the run may have become longer, but its schedule has not
    built.schedule.totalSteps = m_scheduleSteps;
    const size_t index = m_lanes.size();
    checkLane(lane, index);
    std::vector<std::string> names = laneNames(with);
    DeviceChoice choice = chooseDevice(deviceOfLane(m_device, static_cast<int>(index)),
                                       static_cast<int>(with.threads));
    if (!choice.cudaUnavailable.empty() && m_cudaReason.empty())
        throw EngineError(choice.cudaUnavailable);
    m_lanes.push_back(std::make_unique<Trainer>(built, static_cast<int>(index), names[index],
                                                *m_task, std::move(choice.executor), Draw::Later));
    try {
        checkLaneFits(index);
        if (m_hasRoom) checkLanesFree(m_lanes); // else the first step does
        m_lanes.back()->continueFrom(*m_lanes[static_cast<size_t>(parent)]);
        m_judge.addLane(static_cast<size_t>(parent));
        m_patience.addLane(static_cast<size_t>(parent));
    } catch (...) {
        m_lanes.pop_back();
        throw;
    }
    m_config = std::move(with);
    m_names = std::move(names);
    record(LaneFork{m_step + 1, parent, 0, std::move(lane)});
    events.push_back(forkEvent(m_step + 1, parent, m_config, m_names));
    return static_cast<int>(index);
}

/// Begins the step in one lane after the other, up to the first whose device does not work beside
/// the host. Several lanes of one GPU are then in its queue, which is not empty while the host
/// reads a row; lanes of several GPUs run at the same time. Returns how many lanes have begun.
size_t Experiment::beginLanes() {
    std::map<std::string, double> seconds; // work that each device has queued, as far as is known
    size_t begun = m_pending.size();
    while (begun < m_lanes.size() && !m_stop) {
        Trainer& next = *m_lanes[begun];
        double& queued = seconds[deviceOfLane(m_config.device, static_cast<int>(begun))];
        if (queued > kMostSecondsQueued) break;
        // a lane may give up because of a request between two steps that was cleared since
        const bool begins = next.begin(m_step + 1); // throws before it begins
        m_midway = true;
        if (!begins) break;
        ++begun;
        if (!next.worksAhead()) break;
        queued += next.lastDeviceSeconds();
    }
    return begun;
}

Message Experiment::stopReason(std::span<const std::string> names) const {
    for (size_t i = 0; i < m_lanes.size(); ++i) {
        const Message reason = m_lanes[i]->stopReason(i < names.size() ? names[i] : m_names[i]);
        if (!reason.empty()) return reason;
    }
    return {};
}

void Experiment::requestStop() {
    m_stop = true;
    for (const auto& lane : m_lanes)
        lane->requestStop();
}

void Experiment::setLive(int lane, std::string_view key, const FieldValue& given,
                         std::vector<Event>& events) {
    require(lane < lanes(), "no such lane");
    if (key == kLiveScale) return setScale(lane, given, events);
    checkLiveEdit(key, given);
    const Field* field = findField(key);
    const FieldValue value = valueFor(*field, given);
    if (field->scope == FieldScope::Run) lane = -1;
    if (!m_replaying) checkReached(m_config, lane, *field); // old runs have recorded others
    const RunConfig before = m_config;
    RunConfig edited = m_config;
    setField(edited, lane, key, value);
    checkEdited(edited, *field);
    // the data may be gone by now
    if (edited.epochs > 0) edited.steps = edited.epochs * stepsPerEpoch();
    m_config = std::move(edited);
    // A preset of the scaler brings a first scale too, but that one acts only at a restart.
    for (size_t i = 0; i < before.lanes.size(); ++i)
        m_config.lanes[i].scaler.initScale = before.lanes[i].scaler.initScale;
    // Lanes that are waiting in the middle of a step finish it under the old setting.
    m_edits.push_back({lane, field->key});
    if (m_pending.empty()) applyEdits();
    record(LiveEdit{nextFreeStep(), lane, field->key, value});
    RunConfig built = m_config;
    built.schedule.totalSteps = m_scheduleSteps;
    events.push_back(editEvent(nextFreeStep(), lane, field->key,
                               editWords(*field, value, before, built, std::max(lane, 0)),
                               m_names));
}

void Experiment::setBeforeStart(int lane, std::string_view key, const FieldValue& value,
                                std::vector<Event>& events) {
    const RunConfig all = recorded();
    const bool begins =
        key != kLiveScale && m_step == 0 && !m_midway && all.forks.empty() && all.edits.empty();
    setLive(lane, key, value, events);
    const bool keepsSchedule = m_config.schedule.kind == ScheduleKind::Constant ||
                               scheduleOf(m_config).totalSteps == m_scheduleSteps;
    if (!begins || !keepsSchedule) return;
    RunConfig start = m_start;
    const LiveEdit edit = start.edits.back();
    start.edits.pop_back();
    setField(start, edit.lane, edit.key, edit.value);
    for (size_t i = 0; i < start.lanes.size(); ++i) // as in setLive()
        start.lanes[i].scaler.initScale = m_config.lanes[i].scaler.initScale;
    if (!isAllowed(start)) return; // such as a floor above the first scale
    events.pop_back();
    m_start = m_planned = std::move(start);
    ++m_beginEdits;
}

void Experiment::setScale(int lane, const FieldValue& value, std::vector<Event>& events) {
    checkLiveEdit(kLiveScale, value);
    const auto* whole = std::get_if<int64_t>(&value);
    const auto scale =
        static_cast<float>(whole ? static_cast<double>(*whole) : std::get<double>(value));
    bool any = false;
    for (int i = 0; i < lanes(); ++i) {
        if (lane >= 0 && lane != i) continue;
        if (!scalesLoss(m_config.lanes[static_cast<size_t>(i)])) continue;
        m_edits.push_back({i, kLiveScale, scale});
        any = true;
    }
    if (!any)
        throw InputError(phrase("Training", "%1: the lane does not scale its loss"), kLiveScale);
    if (m_pending.empty()) applyEdits();
    record(LiveEdit{nextFreeStep(), lane, kLiveScale, static_cast<double>(scale)});
    events.push_back(
        editEvent(nextFreeStep(), lane, kLiveScale, {kScaleSet, scaleText(scale)}, m_names));
}

void Experiment::applyTo(int i, FieldApply apply) {
    switch (apply) {
    case FieldApply::Nothing:
    case FieldApply::Pace:
    case FieldApply::Length:
    case FieldApply::Patience: return;
    case FieldApply::Scaler:
        return lane(i).setScaler(m_config.lanes[static_cast<size_t>(i)].scaler);
    case FieldApply::Rates:
        return lane(i).setLearningRates(m_config.optimizer.lr, m_config.second.lr);
    case FieldApply::Training: return lane(i).setTraining(m_config);
    }
}

void Experiment::applyEdits() {
    for (const Edit& edit : m_edits) {
        for (int i = 0; i < lanes(); ++i) {
            if (edit.lane >= 0 && edit.lane != i) continue;
            if (edit.key == kLiveScale)
                lane(i).setScale(edit.scale);
            else
                applyTo(i, findField(edit.key)->apply);
        }
    }
    m_edits.clear();
}

const TaskView& Experiment::view() const { return m_task->view(); }

Picture Experiment::target() const { return m_task->targetPicture(); }

Snapshot Experiment::snapshot(const std::stop_token& stop) {
    Snapshot snapshot{m_step + (m_midway ? 1 : 0), {}};
    const bool restored = m_step > 0 && snapshot.step == m_withoutOutputs;
    snapshot.made = restored ? PicturesMade::AfterStep : PicturesMade::InStep;
    // The output of a step belongs to the weights before it. A lane that has not finished the
    // current step gets the same output by a forward pass of its own.
    for (size_t i = 0; i < m_lanes.size(); ++i) {
        const auto prediction = [&]() -> std::optional<std::vector<float>> {
            if (view().probe) return m_lanes[i]->probe(*view().probe);
            return (m_midway || m_step == 0) && i >= m_pending.size() ? m_lanes[i]->preview(stop)
                                                                      : m_lanes[i]->prediction();
        }();
        if (!prediction) {
            snapshot.outputs.clear();
            return snapshot;
        }
        snapshot.outputs.push_back(
            m_task->picture(*prediction, std::max<int64_t>(1, snapshot.step)));
        if (m_hasFormula)
            snapshot.outputs.back().caption = laneFormula(view(), m_lanes[i]->weights());
    }
    m_judge.show(view(), snapshot);
    return snapshot;
}

void Experiment::addGalleries(Snapshot& snapshot) {
    const std::shared_ptr<const Gallery>& gallery = m_task->gallery();
    if (!gallery || snapshot.outputs.empty()) return;
    try {
        auto pictures = lanesGallery(*gallery, view(), m_lanes, m_stop);
        if (!pictures) return snapshot.outputs.clear();
        snapshot.galleries = std::move(*pictures);
        auto mistakes = m_judge.mistakes(view(), m_task->dataset(), m_stop);
        if (!mistakes) return snapshot.outputs.clear();
        snapshot.mistakes = std::move(*mistakes);
    } catch (const EngineError&) {
        return; // the device has no room for it beside the training: only the tables are shown
    }
}

std::vector<GradientRange> Experiment::gradientRanges(bool errors) {
    std::vector<GradientRange> ranges;
    if (m_midway) return ranges;
    applyEdits();
    m_showsGradients = true;
    for (const auto& lane : m_lanes)
        if (const Message why = lane->whyNoGradients(); !why.empty()) {
            m_tellsNoGradients |= m_noGradients.empty();
            m_noGradients = why;
            m_showsGradients = false;
            return ranges;
        }
    for (size_t i = 0; i < m_lanes.size(); ++i) {
        Trainer::ErrorsFit fit;
        if (errors) fit = [this, i] { checkLaneFits(i); };
        const std::optional<GradientRange> range = m_lanes[i]->gradientRange(fit);
        if (!range) return {};
        ranges.push_back(*range);
    }
    return ranges;
}

} // namespace halfscope
