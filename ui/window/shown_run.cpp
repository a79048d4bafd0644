// Shows a run in the parts of the window. A reset, a preset or a file asks no questions: the run
// that was shown is kept and can be brought back. A saved run without a checkpoint has no weights:
// the networks that are built for it start at step 0, and their first step replaces it.
#include "ui/window/shown_run.h"

#include "engine/core/error.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/run_length.h"
#include "ui/images/compare_view.h"
#include "ui/models/safe_text.h"
#include "ui/models/translated.h"
#include "ui/models/typed_number.h"
#include "ui/panels/pace_slider.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_stack.h"
#include "ui/window/guarded.h"
#include "ui/window/window_borders.h"

#include <QLocale>

#include <utility>

namespace halfscope {
namespace {

constexpr const char *kStopKey = "run.steps", *kEpochsKey = "run.epochs";
constexpr const char* kPaceKey = "run.pace";
constexpr qint64 kSilentMs = 1000; // reading that takes longer is reported
constexpr qint64 kSeenMs = 300;    // how long a saved run stays before a training may replace it

} // namespace

ShownRun::ShownRun(RunModels& models, ExperimentController& controller, Figures& figures,
                   const WindowParts& parts)
    : m_models(models), m_controller(controller), m_figures(figures), m_parts(parts) {
    connectSession();
}

ShownRun::~ShownRun() = default;

void ShownRun::connectSession() {
    connect(&m_controller, &ExperimentController::built, this, &ShownRun::showBuilt);
    connect(&m_controller, &ExperimentController::stateChanged, this, [this] {
        // a failure releases nothing: only what lets the run go on does
        if (m_controller.isOver()) m_models.config.hold(true);
    });
    connect(&m_models.config, &ConfigModel::building, this, [this] { m_held.clear(); });
    connect(&m_controller, &ExperimentController::stateChanged, this, &ShownRun::showState);
    connect(&m_controller, &ExperimentController::refused, this, [this](const Message& reason) {
        const bool lost = m_controller.state() == SessionState::Building &&
                          m_begins == RunWords::Begins::FromCheckpoint;
        if (!lost) return blameSettings(reason);
        m_begins = RunWords::Begins::CheckpointLost;
        m_parts.banner->showText(translated(reason));
    });
    connect(&m_controller, &ExperimentController::notSaved, this,
            [this](const Message& reason) { m_parts.banner->showText(translated(reason)); });
    connect(&m_controller, &ExperimentController::failed, this, [this](const Message& reason) {
        m_models.config.clearRunning();
        applyEdits();
        if (isUnbuilt()) m_blamed = m_models.config.config();
        if (!isRecorded()) blameSettings(reason);
        showState();
    });
    connect( // queued: the panel is laid out first
        m_parts.setup, &SetupPanel::shownAgain, this, [this] { m_startCheck.goOnInSettings(); },
        Qt::QueuedConnection);
    connect(m_parts.setup, &SetupPanel::restartRequested, this, [this] {
        const bool trains = m_controller.willTrain();
        if (reset() && trains) m_controller.play();
    });
    connect(&m_models.config, &ConfigModel::liveEdited, this,
            [this](int lane, const std::string& key, const FieldValue& value) {
                // the pace belongs to the window: the run does not know it
                if (key != kPaceKey) m_controller.edit(lane, key, value);
                updateCurrent();
                updateCards();
            });
    connect(&m_models.config, &ConfigModel::edited, this, [this] {
        const RunConfig& config = m_models.config.config();
        // the steps of an epoch are not known before the data are read
        m_parts.transport->setStopStep(m_models.config.steps(), m_models.config.stepsUnknown());
        m_parts.transport->pace()->setPace(config.pace);
        m_controller.setPace(config.pace);
        showHeld();
        m_figures.changed(); // speeds are compared only where the pace lets them differ
        m_parts.banner->lookAgain();
        const bool failed = m_controller.state() == SessionState::Failed;
        if (failed || (m_controller.outcome() && m_models.config.running()))
            showState(); // the settings may have been corrected, or let a run that is over go on
        else if (m_controller.untrained() && !showsSaved())
            invite(); // a preset's words are only about its own settings
    });
    showState();
}

/// Shows the reason while the settings stay as they are: a change or an undo removes the banner.
void ShownRun::blameSettings(const Message& reason) {
    const auto now = [this, reason, config = m_models.config.config()] {
        return m_models.config.isStill(config) ? translated(reason) : QString();
    };
    m_parts.banner->showProblem(translated(reason), now);
}

/// Shows why the settings cannot be trained with, as long as they cannot.
void ShownRun::refuseSettings(const Message& reason) {
    m_parts.banner->showProblem(translated(reason),
                                [this] { return m_models.config.trainingObstacle(); });
}

void ShownRun::resume(std::shared_ptr<const ExperimentState> from, const RunPtr& begun,
                      const QString& title, const QString& preset, const QString& about) {
    const RunConfig config = from->recorded;
    prepare(config, preset, title, about);
    m_next.from = [from = std::move(from), begun] { return Beginning{from, begun}; };
    restart();
}

void ShownRun::load(const RunConfig& config, const QString& preset, const QString& title,
                    const QString& about) {
    checkConfig(config);
    prepare(config, preset, title, about);
    restart();
}

void ShownRun::prepare(const RunConfig& config, const QString& preset, const QString& title,
                       const QString& about) {
    m_savedJob.reset();
    m_refusedRun = m_replaces = false;
    m_raisedStop = {};
    m_next = {};
    m_edits.reset();
    ++m_experiment;
    m_about = about;
    m_preset = preset;
    m_title = title;
    m_data = titleOfData(config.task).english();
    m_models.config.clearRunning();
    RunConfig& planned = m_next.recorded.emplace(config);
    if (m_stop) {
        findField(kStopKey)->set(planned, -1, int64_t{*m_stop});
        std::erase_if(planned.edits, [](const LiveEdit& edit) {
            return edit.key == kStopKey || edit.key == kEpochsKey;
        });
    }
    m_models.config.load(planned);
    m_parts.transport->showExperiment(preset, title);
    emit titleChanged(tr("%1 – Halfscope").arg(title));
}

void ShownRun::readSaved(const QString& folder, const RunConfig& config,
                         const std::shared_ptr<const RunCheckpoint>& checkpoint) {
    m_savedClock.start();
    m_savedJob = std::make_unique<SavedRunJob>(folder.toStdString(), config);
    connect(m_savedJob.get(), &SavedRunJob::progressed, this, [this](double share) {
        if (m_savedClock.elapsed() < kSilentMs || share <= 0) return;
        m_parts.state->setText(tr("Reading the saved run… %1 %")
                                   .arg(QLocale().toString(static_cast<int>(100 * share))));
    });
    const auto shows = [this, checkpoint](const RunPtr& run) {
        RunBatch batch;
        batch.checkpoint = checkpoint;
        run->append(std::move(batch));
        m_savedJob.reset();
        m_savedClock.start(); // it stays visible for a moment, even if a training starts meanwhile
        m_stays = true;
        show(ofExperiment(run, rowsOf(run->now())));
        enlist();
        showState();
    };
    const auto tells = [this](const Message& reason) {
        m_savedJob.reset();
        m_refusedRun = true;
        m_savedClock.invalidate();
        showState();
        m_parts.banner->showText(tr("%1. The settings were opened without the curves of the run.")
                                     .arg(translated(reason)));
    };
    // through its own queue: the handlers destroy the job, and must not come once it is gone
    connect(m_savedJob.get(), &SavedRunJob::done, m_savedJob.get(), shows, Qt::QueuedConnection);
    connect(m_savedJob.get(), &SavedRunJob::failed, m_savedJob.get(), tells, Qt::QueuedConnection);
    m_savedJob->start();
}

void ShownRun::set(std::string_view key, const QString& text) {
    m_models.config.setData(m_models.config.index(m_models.config.rowOf(key)), text);
}

void ShownRun::setStopStep(qint64 steps) { set(kStopKey, QString::number(steps)); }

void ShownRun::setPace(double stepsPerSecond) { set(kPaceKey, QString::number(stepsPerSecond)); }

void ShownRun::play() {
    if (!m_reading.isEmpty()) return playWhenRead(true);
    if (!m_startCheck.passes()) return; // before the number of steps is raised
    m_raisedStop.raise(m_models, m_controller, nextStop());
    if (!takeUpEdits()) return;
    release();
    m_controller.play();
}

void ShownRun::stepOnce() {
    if (!m_reading.isEmpty() || !takeUpEdits()) return;
    if (goesOn()) release();
    m_controller.stepOnce();
}

bool ShownRun::restart() {
    if (!m_startCheck.passes()) return false;
    m_parts.banner->dismiss();
    m_stays = m_resets = false;
    const auto& [recorded, from, before] = m_tried = std::exchange(m_next, Plan());
    try {
        RunConfig config = m_models.config.config();
        // a recorded run's forks and edits are repeated when it is opened, not at a reset
        if (recorded) {
            config.forks = recorded->forks;
            config.edits = recorded->edits;
        }
        checkConfig(config);
        callAfterData(config.task);
        const bool resets = !recorded && !from;
        ResetNews news = resets && m_current ? newsOfReset() : ResetNews();
        m_models.config.startBuilding();
        if (resets && m_raisedStop.takeBack(m_models, config)) news.stopsAgainAt(m_models.config);
        m_begins = from ? RunWords::Begins::FromCheckpoint : RunWords::Begins::Anew;
        m_blamed.reset();
        m_builds = m_experiment;
        m_controller.reset(config, from);
        invite();
        m_news = news.text();
        if (!m_news.isEmpty()) emit told(m_news);
        return true;
    } catch (const ReportedError& error) {
        refuseSettings(error.message());
        return false;
    }
}

ResetNews ShownRun::newsOfReset() const {
    const SessionInfoPtr& built = m_controller.info(); // null while an earlier reset is under way
    const RunConfig& begun = built ? built->recorded : m_current->now().info().recorded;
    return {m_models, *m_current, begun.edits};
}

/// An experiment whose data were exchanged is no longer the preset or file that was opened.
void ShownRun::callAfterData(const TaskConfig& task) {
    const Message title = titleOfData(task);
    const std::string data = title.english();
    if (std::exchange(m_data, data) == data || data.empty()) return;
    m_preset = m_about = {};
    m_title = experimentTitle(title);
    m_parts.transport->showExperiment(m_preset, m_title);
    emit titleChanged(tr("%1 – Halfscope").arg(m_title));
}

void ShownRun::fork(int lane, int parent) {
    guarded(*m_parts.banner, [&] {
        checkConfig(m_models.config.config());
        m_models.config.expectFork(lane);
        m_controller.fork(parent, m_models.config.config().lanes.at(static_cast<size_t>(lane)));
    });
}

void ShownRun::showBuilt() {
    const SessionInfo& info = *m_controller.info();
    m_current = runOf(info, m_preset.toStdString());
    m_feed.emplace(m_current);
    m_models.config.hold(m_controller.isOver());
    const Plan tried = std::exchange(m_tried, {}); // checkpoints are large
    if (tried.before.lock() != m_current)          // else it is the same run still
        m_goesOnFrom = info.begun ? tried.before : std::weak_ptr<const Run>(); // unreadable
    const bool lacks = info.goesOnAfter && !m_current->now().checkpoint();
    m_opened = lacks ? Opened{*info.goesOnAfter, tried.from} : Opened();
    if (info.goesOnAfter && !tried.goesOn()) { // its first settings, then as they are now
        RunConfig begun = info.recorded;
        begun.forks.clear();
        begun.edits.clear();
        begun.steps = stepsOf(begun);
        m_models.config.setRunning(begun);
        m_models.history.without([&] { m_models.config.follow(info.config); });
    } else {
        m_models.config.setRunning(info.config);
    }
    applyEdits();
    updateCurrent(); // edits that were made meanwhile
    // the rows of a run that was not saved are not saved as those of another one either
    const auto from = m_goesOnFrom.lock();
    const bool saved = !from || isInFolder(*from);
    if (!m_stays) return show(ofExperiment(m_current, saved ? rowsOf(m_current->now()) : 0));
    updateTarget();
    updateGradients();
    showDevice();
    emit stirred();
}

void ShownRun::show(Shown next) {
    if (next.run != m_shown.run) { // else it goes on after an error
        keep();
        m_shown = std::move(next);
    }
    m_models.store.setCurrent(m_shown.id);
    const RunPtr& run = m_shown.run;
    const auto& built = m_controller.info();
    const int64_t begin = built && run == m_current ? built->goesOnAfter.value_or(0) : 0;
    m_models.run.setRun(run, begin > 0 ? RunStart{begin, built->scalers} : RunStart());
    m_models.events.setRun(run);
    m_parts.plots->setRun(run);
    updateOverlays();
    m_parts.pictures->setRun(run);
    m_parts.pictures->setHidden(RunWords::isRecorded(run->info().config)); // it painted none
    updateTarget();
    updateGradients();
    showDevice();
    updateCards();
    m_parts.borders->divideCentre();
    m_parts.transport->setBegin(begin);
    m_parts.transport->setFigures(m_models.run);
    m_figures.forget(begin);
    if (showsSaved())
        m_figures.changed();
    else
        invite();
    m_models.config.countAs(*run);
    m_parts.banner->lookAgain(); // what it tells may be about another run
    emit stirred();
}

void ShownRun::enlist() {
    if (!m_shown.run || m_shown.id != RunId::None || m_shown.run->now().lastStep() < 1) return;
    RunStore& store = m_models.store;
    m_shown.id = store.add(m_shown.run, m_shown.title.toStdString());
    store.setVisible(m_shown.id, false); // is drawn behind another run only when asked for
    store.setCurrent(m_shown.id);
    updateOverlays(); // legends name it, too
}

void ShownRun::editOnceBuilt(KeptEdits edits) {
    m_edits = std::move(edits);
    if (m_controller.state() != SessionState::Building) applyEdits();
}

void ShownRun::applyEdits() {
    if (m_edits) m_models.history.takeOver(KeptEdits(*m_edits));
    m_edits.reset();
}

bool ShownRun::frame() {
    const bool arrived = drain();
    if (m_replaces) { // also when there was no memory for it before
        m_stays = false;
        show(ofExperiment(m_current, 0));
        showState(); // the state may have been about the saved run
        m_replaces = false;
    }
    if (arrived) enlist();
    m_models.list.refresh();
    if (m_models.run.refresh()) {
        m_parts.scaler->setScaleObstacle(scaleObstacle()); // the first rows make the scales known
        m_figures.changed();
    }
    const size_t told = m_models.events.taken();
    if (m_models.events.refresh() && !showsSaved()) m_figures.tell(m_shown.run->events(), told);
    m_parts.pictures->refresh();
    m_parts.gradients->refresh();
    explainGradients();
    // where a run that is over goes on follows from its last row, or from what is kept of it
    if (arrived && m_controller.outcome()) showState();
    return arrived;
}

/// Says why the gradients' view is empty, or shows earlier ones, as long as it does.
void ShownRun::explainGradients() {
    m_parts.gradients->setNote(gradientsNote(m_parts.gradients->empty()));
}

QString ShownRun::gradientsNote(bool none) const {
    const bool midway = m_controller.restsMidway();
    const int64_t next = (m_current ? m_current->step() : 0) + 1;
    if (none || midway || cannotCount()) return RunWords::noGradients(stateNow(), midway, next);
    return heldWords().isEmpty() ? QString() : RunWords::gradientsOfTheEnd();
}

QString ShownRun::layersNote(bool none) const {
    const bool recorded = isRecorded() && !m_controller.info();
    return recorded ? RunWords::recordedLayers() : gradientsNote(none);
}

bool ShownRun::drain() {
    // what is trained meanwhile waits in the channel, and the training waits with it
    const bool justRead = m_savedClock.isValid() && m_savedClock.elapsed() < kSeenMs;
    if (m_savedJob || justRead || !m_current || !m_controller.info()) return false;
    SessionBatch batch = m_controller.drain();
    if (batch.empty()) return false;
    const bool trained = !batch.records.empty();
    // no file records the dtype of a saved run's gradients: the networks built alike tell it
    if (m_watched && showsSaved() && !m_shown.run->info().folder.empty()) {
        SessionBatch counts;
        counts.gradients = batch.gradients;
        RunFeed(m_shown.run).take(std::move(counts)); // not those of a lane that was forked since
    }
    const std::optional<RunConfig> now =
        batch.change ? std::optional(batch.change->now) : std::nullopt;
    m_feed->take(std::move(batch), m_watched ? RunFeed::Counts::Keep : RunFeed::Counts::Glance);
    if (m_current->now().checkpoint()) m_opened = {};
    if (now) follow(*now);
    if (trained && m_controller.running() && m_models.config.running() &&
        m_models.config.running()->pace != m_current->info().config.pace)
        updateCurrent();
    m_replaces = m_replaces || (trained && m_shown.run != m_current);
    return true;
}

/// Takes over forks and edits that reached the run.
void ShownRun::follow(const RunConfig& now) {
    m_models.history.without([&] { m_models.config.follow(now); });
    updateCurrent();
    updateCards();
}

void ShownRun::updateCurrent() {
    const std::optional<RunConfig>& now = m_models.config.running();
    if (!m_current || !now) return;
    RunBatch batch;
    batch.info = m_current->info();
    // the pace is no edit of the run, but tells whether its speeds may be compared later
    const bool rests = m_current->step() > 0 && !m_controller.running();
    const double pace = rests ? batch.info->config.pace : now->pace;
    batch.info->config = *now;
    batch.info->config.pace = batch.info->recorded.pace = pace;
    batch.info->outcome = m_controller.outcome();
    m_current->append(std::move(batch));
}

void ShownRun::updateCards() {
    if (!m_shown.run) return;
    m_parts.scaler->setLanes(laneFactsOf(m_shown.run->now(), !showsSaved()));
    m_models.run.refresh();
    showHeld();
    m_parts.borders->divideRight();
}

void ShownRun::edit(int lane, const std::string& key, const FieldValue& value) {
    if (!m_models.config.holds()) return m_controller.edit(lane, key, value);
    m_held.set(lane, key, value);
    showHeld();
    const QString words = key == kLiveScale ? heldWords() : QString();
    if (words.isEmpty()) return m_parts.banner->lookAgain(); // it was undone
    if (m_parts.banner->showNotice(words, [this] { return heldWords(); }))
        m_parts.banner->offer(tr("Continue"), tr("Trains on with this loss scale"),
                              [this] { play(); });
}

void ShownRun::release() {
    m_models.config.hold(false);
    m_held.release(m_current.get(),
                   [this](int lane, const std::string& key, const FieldValue& value) {
                       m_controller.edit(lane, key, value);
                   });
    showHeld();
    m_parts.banner->lookAgain();
}

void ShownRun::showHeld() {
    const ConfigModel& config = m_models.config;
    const bool holds = config.holds() && config.running() && !showsSaved();
    m_parts.scaler->hold(holds ? m_held.byLane() : std::vector<HeldEdits>());
    m_parts.scaler->setScaleObstacle(scaleObstacle());
    m_parts.scaler->refresh(m_models.run);
    explainGradients();
}

/// A saved run's gradients over its steps are known, but no file has those of its next step: the
/// view shows those of its networks, or of new ones where it has none.
void ShownRun::updateGradients() { m_parts.gradients->setRun(stepped(), stepsAnew()); }

void ShownRun::updateTarget() {
    // a saved run's folder may lack the target
    if (m_shown.run && m_shown.run->now().target()->width < 1 && m_controller.info())
        m_parts.pictures->setTarget(m_controller.info()->target);
}

void ShownRun::watchGradients(bool on) {
    m_controller.watchGradients(on);
    m_watched = on;
    if (on || !m_current) return;
    RunBatch end;
    end.gradientsEnd = true;
    m_current->append(std::move(end));
}

void ShownRun::setScale(int lane, const QString& text) {
    if (lane >= m_models.run.lanes()) return;
    guarded(*m_parts.banner, [&] {
        const auto scale = static_cast<float>(std::get<double>(parseScale(text)));
        const auto set = [=, this](double to) { edit(lane, kLiveScale, to); };
        const auto held = static_cast<float>(m_held.scale(lane));
        const float now = held > 0 ? held : m_models.run.lane(lane).scale();
        m_models.history.setScale(lane, now, scale, set);
    });
}

void ShownRun::growAtLeast(int lane) {
    const std::optional<int> edited = m_models.config.editedLane(lane);
    const QString value = QString::fromLatin1(nameOf(GrowthTest::AtLeast));
    if (edited)
        m_models.config.setData(m_models.config.index(m_models.config.rowOf(kGrowthTest, *edited)),
                                value);
    else // the lane was removed from the experiment, but trains on until a restart
        edit(lane, kGrowthTest, value.toStdString());
}

QString ShownRun::presetWords() const {
    if (m_about.isEmpty()) return {};
    const RunConfig& now = m_models.config.config();
    RunConfig opened = presetNamed(m_preset.toStdString()).config;
    opened.steps = now.steps;
    opened.epochs = now.epochs;
    opened.seed = now.seed;
    opened.device = now.device;
    return m_models.config.isStill(opened) ? m_about : QString();
}

void ShownRun::invite() {
    const RunConfig& config = m_models.config.config();
    const auto lanes = static_cast<qsizetype>(config.lanes.size());
    const QString preset = presetWords();
    const QString data = preset.isEmpty() ? RunWords::data(config) : preset;
    const QString about = (RunWords::weights(config) + u' ' + data).trimmed();
    const RunWords::State now = stateNow();
    const bool says = now.begins == RunWords::Begins::Anew && !about.isEmpty();
    using Press = Figures::Press;
    const bool ended = m_controller.state() == SessionState::Finished;
    const bool warns = preset.isEmpty() && RunWords::hasOneSample(config);
    const Press press = m_controller.willTrain() || warns ? Press::Nothing
                        : ended                           ? Press::Continue
                                                          : Press::Play;
    m_figures.invite(RunWords::invitation(now, lanes, about), press, says ? m_title : QString());
}

RunWords::State ShownRun::stateNow() const {
    RunWords::State now{m_controller.state(), m_controller.playWaits(), m_begins};
    now.nextStop = nextStop();
    now.outOfPatience = m_controller.outOfPatience() > 0;
    now.recorded = isRecorded();
    now.keptStep = keptStep();
    now.allTrained = now.keptStep > 0 && now.keptStep >= plannedSteps();
    now.noGradients = m_controller.whyNoGradients();
    now.startsOver = startsOver();
    now.failedOfInput = m_controller.failedOfInput();
    const SessionInfoPtr& built = m_controller.info();
    now.built = built != nullptr;
    if (isUnbuilt() && now.keptStep == 0 && !cannotStart()) { // Play builds with other settings
        now.session = SessionState::Ready;
        now.begins = isMoved() ? RunWords::Begins::FromCheckpoint : RunWords::Begins::Anew;
    }
    if (m_shown.run && (built || now.keptStep > 0)) now.step = m_shown.run->step();
    if (!built) return now;
    now.goesOnAfter = built->goesOnAfter;
    now.dataChange = built->dataChange;
    return now;
}

void ShownRun::showState() {
    const SessionState state = m_controller.state();
    m_models.config.setUntrained(m_controller.untrained());
    const RunWords::State told = toldState();
    m_parts.transport->setState(told.session, told.playWaits, nextStop(), toldStart(), fileFirst());
    m_figures.cover(RunWords::reading(told));
    m_parts.plots->setResting(state != SessionState::Running);
    m_parts.scaler->setScaleObstacle(scaleObstacle());
    emit stirred();
    const bool finished = state == SessionState::Finished, ready = state == SessionState::Ready;
    if (m_current && m_controller.outcome() != m_current->info().outcome) updateCurrent();
    if (isUnbuilt() && keptStep() == 0 && !showsSaved())
        cannotStart() ? m_figures.apologise(RunWords::failedStart(m_models.run.step() > 0))
                      : invite();
    else if (finished || state == SessionState::Failed || (ready && showsSaved() && !repeats()))
        m_figures.changed(); // the headline sums up
    else if (ready && showsSaved())
        invite(); // Play goes on before the step that the window shows
    const bool waits = state == SessionState::Running || state == SessionState::Paused || finished;
    const bool fresh = waits && m_models.run.step() == 0 && !m_figures.hasNews();
    if (fresh || state == SessionState::Building) // a first step may take seconds
        showsSaved() ? m_figures.changed() : invite();
    m_parts.state->setText(RunWords::state(told, showsSaved() ? lead() : QString()));
}

void ShownRun::showDevice() {
    const std::optional<DeviceInfo>& device = m_shown.run->info().device;
    const QString name = device ? safeText(device->name) : tr("Device not recorded");
    const QString tip = RunWords::device(device, showsSaved(), m_controller.info().get());
    m_parts.transport->setDevice(device ? &*device : nullptr, tip);
    m_parts.device->setText(name);
    m_parts.device->setToolTip(tip);
}

} // namespace halfscope
