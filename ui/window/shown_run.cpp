// A run's way into the window's parts. A reset, a preset or a file asks nothing: the run that gives
// way is kept whole, until another one follows it, and can be brought back. Of a saved run the
// weights are in no file: what is built stands before its first step, and the first step of a
// training takes the saved run's place.
#include "ui/window/shown_run.h"

#include "ui/images/compare_view.h"
#include "ui/images/image_view.h"
#include "ui/models/lane_titles.h"
#include "ui/models/typed_number.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/panels/transport_bar.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_stack.h"
#include "ui/window/guarded.h"
#include "ui/window/window_borders.h"

#include <QLabel>
#include <QLocale>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace halfscope {
namespace {

constexpr const char* kStopKey = "run.steps";

/// What each lane's precision is, in a sentence.
QStringList aboutLanes(const RunConfig& config) {
    QStringList about;
    for (const LaneConfig& lane : config.lanes)
        about << QString::fromUtf8(presetOf(lane.precision).about);
    return about;
}

bool laneScales(const RunConfig& config, int lane) {
    const Field* scale = findField("scaler.init_scale");
    return scale && scale->applies(config, lane);
}

/// What is worth a plot of its own in this experiment.
std::vector<Measure> extraMeasures(const RunConfig& config) {
    std::vector<Measure> extra;
    if (config.schedule.kind != ScheduleKind::Constant) extra.push_back(Measure::LearningRate);
    if (config.gradients.clip != ClipKind::None || config.gradients.penalty != 0)
        extra.push_back(Measure::GradientNorm);
    return extra;
}

constexpr qint64 kSliceMs = 12;     // of a frame's 33, for rows to show
constexpr size_t kEventSlice = 512; // events between two looks at the clock
constexpr qint64 kSilentMs = 1000;  // what takes longer is told

bool sameSize(const Picture& a, const Picture& b) {
    return a.width == b.width && a.height == b.height;
}

} // namespace

ShownRun::ShownRun(RunModels& models, ExperimentController& controller, Figures& figures,
                   const WindowParts& parts)
    : m_models(models), m_controller(controller), m_figures(figures), m_parts(parts) {
    connectSession();
}

ShownRun::~ShownRun() = default;

void ShownRun::connectSession() {
    connect(&m_controller, &ExperimentController::built, this, &ShownRun::showBuilt);
    connect(&m_controller, &ExperimentController::stateChanged, this, &ShownRun::showState);
    connect(&m_controller, &ExperimentController::refused, m_parts.banner, &Banner::showText);
    connect(&m_controller, &ExperimentController::failed, this, [this](const QString& reason) {
        aboutToLeave();
        m_models.config.clearRunning();
        m_parts.banner->showText(reason);
    });
    connect(m_parts.setup, &SetupPanel::restartRequested, this, [this] {
        const bool trains = m_controller.willTrain();
        restart();
        if (trains) m_controller.play();
    });
    connect(&m_models.config, &ConfigModel::liveEdited, this,
            [this](int lane, const std::string& key, const FieldValue& value) {
                m_controller.edit(lane, key, value);
                updateGrowthIntervals();
                updateScalers();
                updateTitles();
            });
    connect(&m_models.config, &ConfigModel::edited, this,
            [this] { m_parts.transport->setStopStep(m_models.config.config().steps); });
    showState();
}

void ShownRun::load(const RunConfig& config, const QString& preset, const QString& title,
                    const QString& about) {
    aboutToLeave();
    m_about = about;
    m_preset = preset;
    m_title = title;
    forgetSaved();
    m_models.config.clearRunning();
    m_models.config.load(config);
    m_otherExperiment = true;
    m_stopStride = config.steps;
    m_parts.transport->showExperiment(preset, title);
    emit titleChanged(tr("%1 – Halfscope").arg(title));
    startRun();
}

void ShownRun::setStopStep(qint64 steps) {
    m_models.config.setData(m_models.config.index(m_models.config.rowOf(kStopKey)),
                            QString::number(steps));
}

void ShownRun::play() {
    if (m_controller.state() == SessionState::Finished) {
        // the last rows may not have arrived yet, or none: then those of a saved run are shown
        const qint64 arrived = m_showsSaved ? 0 : m_models.run.step();
        const qint64 planned = m_models.config.running() ? m_models.config.running()->steps : 0;
        m_models.history.without(
            [&] { setStopStep(std::max(arrived, planned) + std::max<qint64>(1, m_stopStride)); });
    }
    m_controller.play();
}

void ShownRun::playOrPause() {
    if (m_controller.running() || m_controller.playWaits())
        m_controller.pause();
    else
        play();
}

void ShownRun::restart() {
    aboutToLeave();
    startRun();
}

void ShownRun::startRun() {
    m_parts.banner->hide();
    guarded(*m_parts.banner, [this] {
        checkConfig(m_models.config.config());
        m_models.config.startBuilding();
        m_controller.reset(m_models.config.config());
        invite();
    });
}

void ShownRun::showLanes(const SessionInfo& info, const RunConfig& config) {
    const QStringList names = laneTitles(config), about = aboutLanes(config);
    std::vector<bool> scales;
    m_facts.clear();
    for (int i = 0; i < names.size(); ++i) {
        const auto lane = static_cast<size_t>(i);
        scales.push_back(laneScales(config, i));
        m_facts.push_back({scales.back(), lane < info.laneBytes.size() ? info.laneBytes[lane] : 0,
                           about.value(i)});
    }
    std::exchange(m_otherExperiment, false) ? m_parts.plots->forgetLosses()
                                            : m_parts.plots->keepLosses();
    m_parts.plots->setLanes(names, scales, extraMeasures(config));
    m_parts.scaler->setLanes(m_facts);
    m_parts.gradients->setLanes(names);
    const bool scatter = config.task.kind == TaskKind::Regression;
    m_parts.pictures->setLanes(names, about,
                               scatter ? CompareView::Kind::Scatter : CompareView::Kind::Painted);
    m_parts.pictures->setTarget(info.target);
    m_parts.borders->divideCentre();
}

void ShownRun::showRun(const SessionInfo& info, const RunConfig& config) {
    keepRun();
    m_showsSaved = false;
    m_shownSaved.reset();
    m_trainedOn = TrainedOn{info.device, info.laneBytes};
    showDevice();
    m_savedRows = 0;
    m_models.run.start(info.laneNames);
    m_models.run.setTitles(laneTitles(config));
    m_models.steps.start(info.laneNames);
    m_models.events.clear();
    showLanes(info, config);
    m_parts.transport->setFigures(m_models.run);
    updateGrowthIntervals();
    m_parts.scaler->refresh(m_models.run);
    m_parts.borders->divideRight();
    m_figures.forget();
    invite();
}

void ShownRun::showBuilt() {
    const SessionInfo& info = *m_controller.info();
    m_held = {};
    m_savedShown = {}; // what was seen of a saved run gave way
    showRun(info, info.config);
    m_models.config.setRunning(info.config);
    updateGrowthIntervals();
    m_parts.scaler->refresh(m_models.run);
    m_parts.borders->divideRight();
}

void ShownRun::updateGrowthIntervals() {
    const Field* field = findField("scaler.growth_interval");
    if (!m_models.config.running()) return;
    const RunConfig& config = *m_models.config.running(); // the edited one may have other lanes
    for (int i = 0; i < m_models.run.lanes() && i < static_cast<int>(config.lanes.size()); ++i)
        m_models.run.setGrowthInterval(
            i, field && field->applies(config, i)
                   ? config.lanes[static_cast<size_t>(i)].scaler.rules.growthInterval
                   : 0);
}

void ShownRun::updateScalers() {
    if (!m_models.config.running()) return;
    bool changed = false;
    for (size_t i = 0; i < std::min(m_facts.size(), m_models.config.running()->lanes.size()); ++i) {
        const bool scales = laneScales(*m_models.config.running(), static_cast<int>(i));
        if (scales == m_facts[i].scales) continue;
        m_facts[i].scales = scales;
        changed = true;
        m_parts.plots->setScales(static_cast<int>(i), scales);
    }
    if (!changed) return;
    m_parts.scaler->setLanes(m_facts);
    m_parts.scaler->refresh(m_models.run);
    m_parts.borders->divideRight();
}

/// A live edit may set lanes of one precision apart, or make them alike.
void ShownRun::updateTitles() {
    if (!m_models.config.running()) return;
    const QStringList titles = laneTitles(*m_models.config.running());
    if (titles.size() != m_models.run.lanes() || titles == m_models.run.titles()) return;
    m_models.run.setTitles(titles);
    m_parts.plots->renameLanes(titles);
    m_parts.gradients->renameLanes(titles);
    m_parts.pictures->renameLanes(titles);
    m_parts.scaler->refresh(m_models.run);
}

void ShownRun::setScale(int lane, const QString& text) {
    guarded(*m_parts.banner, [&] { m_controller.edit(lane, kLiveScale, parseScale(text)); });
}

void ShownRun::invite() {
    m_figures.invite(static_cast<qsizetype>(m_models.config.config().lanes.size()), m_about,
                     m_controller.willTrain());
}

QString ShownRun::lead() const {
    if (m_showsSaved) return m_savedText;
    const bool finished = m_controller.state() == SessionState::Finished && m_models.run.step() > 0;
    return finished ? tr("Finished.") : QString();
}

QString ShownRun::stateText() const {
    switch (m_controller.state()) {
    case SessionState::Building:
        return m_controller.playWaits()
                   ? tr("Building the networks… Then they train; Space stops that.")
                   : tr("Building the networks…");
    case SessionState::Ready:
        return m_showsSaved && !m_saved ? tr("%1 Play (Space) trains it anew.").arg(m_savedText)
                                        : tr("Ready. Press Play (Space).");
    case SessionState::Running: return tr("Training.");
    case SessionState::Paused: return tr("Paused. Space goes on.");
    case SessionState::Finished:
        return tr("Finished. Continue trains as many steps again, Reset starts anew.");
    case SessionState::Failed: break;
    }
    return tr("The run failed. Change a setting, then Reset.");
}

void ShownRun::showState() {
    const SessionState state = m_controller.state();
    m_parts.transport->setState(state, m_controller.playWaits());
    m_parts.plots->setResting(state != SessionState::Running);
    emit stirred();
    if (state == SessionState::Finished) m_figures.changed(); // the headline sums up
    const bool waits = state == SessionState::Running || state == SessionState::Paused;
    const bool fresh = waits && m_models.run.step() == 0 && !m_figures.hasNews();
    if (fresh || state == SessionState::Building) invite(); // a first step may take seconds
    m_parts.state->setText(stateText());
}

void ShownRun::readSaved(const QString& folder, const RunConfig& config) {
    m_savedClock.start();
    m_savedJob = std::make_unique<SavedRunJob>(folder.toStdString(), config);
    connect(m_savedJob.get(), &SavedRunJob::progressed, this, [this](double share) {
        if (m_savedClock.elapsed() < kSilentMs || share <= 0) return;
        m_parts.state->setText(tr("Reading the saved run… %1 %")
                                   .arg(QLocale().toString(static_cast<int>(100 * share))));
    });
    connect(m_savedJob.get(), &SavedRunJob::done, this, [this](const SavedResultsPtr& results) {
        m_savedJob.reset();
        m_saved = results;
        m_savedShown = {};
        m_savedText = savedText(results->run);
        showState();
    });
    connect(m_savedJob.get(), &SavedRunJob::failed, this, [this](const QString& reason) {
        m_savedJob.reset();
        showState();
        m_parts.banner->showText(
            tr("%1. The settings are open, without the curves of the run.").arg(reason));
    });
    m_savedJob->start();
}

void ShownRun::forgetSaved() {
    m_savedJob.reset();
    m_saved.reset();
    m_showsSaved = false;
    m_held = {};
}

SessionBatch ShownRun::nextBatch() {
    // what is trained meanwhile waits in the channel, and its training with it
    if (m_savedJob) return {};
    if (m_saved && m_controller.info()) {
        showSomeOfSaved();
        return {};
    }
    SessionBatch batch = m_controller.drain();
    if (!m_showsSaved) return batch;
    const auto hold = [](auto& held, auto& came) {
        held.insert(held.end(), std::make_move_iterator(came.begin()),
                    std::make_move_iterator(came.end()));
        came.clear();
    };
    hold(m_held.events, batch.events); // edits, which count from the first step on
    if (batch.snapshot) m_held.snapshot = std::exchange(batch.snapshot, std::nullopt);
    if (batch.records.empty()) {
        if (!batch.gradients.empty()) m_held.gradients = batch.gradients; // of the first step
        return batch;
    }
    hold(m_held.gradients, batch.gradients);
    aboutToLeave();
    showRun(*m_controller.info(), builtConfig());
    batch.events = std::exchange(m_held.events, {});
    batch.gradients = std::exchange(m_held.gradients, {});
    batch.snapshot = std::exchange(m_held.snapshot, std::nullopt);
    return batch;
}

void ShownRun::showSomeOfSaved() {
    if (m_saved->lanes != m_controller.info()->laneNames) { // restarted with other ones
        forgetSaved();
        return showState();
    }
    if (!m_showsSaved) beginSaved();
    QElapsedTimer slice;
    slice.start();
    SavedShown& shown = m_savedShown;
    const SavedRun& run = m_saved->run;
    while (shown.pieces < run.pieces.size() && slice.elapsed() < kSliceMs) {
        const std::vector<StepRecord>& piece = run.pieces[shown.pieces++];
        for (const StepRecord& record : piece)
            m_parts.plots->append(record.lane, record);
        m_models.run.append(piece, {});
        m_models.steps.append(piece);
    }
    const std::vector<Event>& all = m_saved->events;
    while (shown.pieces == run.pieces.size() && shown.events < all.size() &&
           slice.elapsed() < kSliceMs) {
        const auto events = std::span(all)
                                .subspan(shown.events)
                                .first(std::min(kEventSlice, all.size() - shown.events));
        for (const Event& event : events)
            m_parts.plots->addEvent(event);
        m_models.run.append({}, events);
        m_models.events.append(events);
        shown.events += events.size();
    }
    m_figures.changed();
    if (shown.pieces < run.pieces.size() || shown.events < all.size()) {
        if (m_savedClock.elapsed() > kSilentMs)
            m_parts.state->setText(tr("Showing the saved run…"));
        return;
    }
    endSaved();
}

/// The figures of the networks that were built give way to those of the run.
void ShownRun::beginSaved() {
    m_showsSaved = true;
    m_trainedOn = m_saved->run.trainedOn;
    showDevice();
    for (size_t lane = 0; lane < m_facts.size(); ++lane)
        m_facts[lane].bytes =
            m_trainedOn && lane < m_trainedOn->laneBytes.size() ? m_trainedOn->laneBytes[lane] : 0;
    m_parts.scaler->setLanes(m_facts);
    m_parts.plots->setSavedGradients(m_saved->gradients);
}

void ShownRun::endSaved() {
    const std::vector<Picture>& outputs = m_saved->outputs;
    const Picture& target = m_controller.info()->target;
    if (!outputs.empty() && std::all_of(outputs.begin(), outputs.end(), [&](const Picture& each) {
            return sameSize(each, target);
        }))
        m_parts.pictures->setPictures(m_saved->run.steps,
                                      QVector<Picture>(outputs.begin(), outputs.end()));
    m_savedRows = m_saved->onDisk ? m_models.steps.size() : 0;
    m_shownSaved = std::exchange(m_saved, nullptr);
    m_shownSaved->run.pieces.clear();
    m_shownSaved->events.clear();
    m_shownSaved->gradients.clear(); // the plots have them
    m_shownSaved->outputs.clear();
    showState();
}

QString ShownRun::savedText(const SavedRun& run) {
    const QString steps = QLocale().toString(static_cast<qlonglong>(run.steps));
    const bool withoutEvents = run.lacks("events.csv");
    if (run.trainedOn) {
        const QString device = QString::fromStdString(run.trainedOn->device.name);
        return withoutEvents ? tr("Saved run of %1 steps, trained on %2, without events.csv.")
                                   .arg(steps, device)
                             : tr("Saved run of %1 steps, trained on %2.").arg(steps, device);
    }
    return withoutEvents ? tr("Saved run of %1 steps, without events.csv.").arg(steps)
                         : tr("Saved run of %1 steps.").arg(steps);
}

void ShownRun::showDevice() {
    const SessionInfo& info = *m_controller.info();
    const DeviceInfo* device = m_trainedOn ? &m_trainedOn->device : nullptr;
    const QString name = device ? QString::fromStdString(device->name) : tr("Device not saved");
    QStringList lines;
    if (!m_showsSaved)
        lines << tr("Trains on %1").arg(name);
    else if (device)
        lines << tr("This run was trained on %1").arg(name);
    else
        lines << tr("No file of this run tells on which device it was trained");
    if (device && !device->libraries.empty())
        lines << tr("With %1").arg(QString::fromStdString(device->libraries));
    if (m_showsSaved)
        lines << tr("Play trains on %1").arg(QString::fromStdString(info.device.name));
    if (!info.cudaReason.empty())
        lines << tr("Why not the GPU: %1").arg(QString::fromStdString(info.cudaReason));
    const QString tip = lines.join(u'\n');
    m_parts.transport->setDevice(device, tip);
    m_parts.device->setText(name);
    m_parts.device->setToolTip(tip);
}

void ShownRun::aboutToLeave() {
    // what is shown in part only is there again after the next build
    if (m_leaving || m_saved) return;
    m_leaving = Identity{trainedConfig(), m_preset, m_title, m_about};
}

void ShownRun::keepRun() {
    std::optional<Identity> leaving = std::exchange(m_leaving, std::nullopt);
    if (!leaving || m_models.run.step() < 1)
        return; // its last rows may have come after it was left
    const bool worth = hasUnsavedRows() && trainedSeconds() >= m_worthSeconds;
    SavedResultsPtr results = m_shownSaved ? m_shownSaved : shownResults();
    results->config = leaving->config;
    for (const GradientHistory& history : m_parts.plots->gradients())
        results->gradients.push_back(history.asSaved());
    results->onDisk = m_savedRows == m_models.steps.size();
    for (int lane = 0; lane < m_models.run.lanes(); ++lane) {
        const Picture& picture = m_parts.pictures->view(lane).picture();
        if (picture.width > 0) results->outputs.push_back(picture);
    }
    if (results->outputs.size() != results->lanes.size()) results->outputs.clear();
    m_before = KeptRun{std::move(*leaving), std::exchange(m_models.steps, {}), std::move(results)};
    emit canBringBackChanged(true);
    if (worth) emit told(tr("The run before is kept: Edit > Bring back the run before (Shift+R)."));
}

SavedResultsPtr ShownRun::shownResults() const {
    auto results = std::make_shared<SavedResults>();
    for (int lane = 0; lane < m_models.run.lanes(); ++lane)
        results->lanes.push_back(m_models.run.lane(lane).name.toStdString());
    results->run.steps = m_models.run.step();
    results->run.rows = static_cast<int64_t>(m_models.steps.size());
    results->run.trainedOn = m_trainedOn;
    // as the list shows them: without the backoffs that an overflow explains, the newest 20,000
    for (int row = m_models.events.rowCount(); row-- > 0;) // the newest comes first there
        results->run.events.push_back(m_models.events.eventAt(row));
    return results;
}

void ShownRun::bringBack() {
    if (!m_before) return;
    guarded(*m_parts.banner, [this] {
        checkConfig(m_before->identity.config); // a live edit may have left one that is not allowed
        KeptRun kept = std::move(*std::exchange(m_before, std::nullopt));
        emit canBringBackChanged(false);
        emit told({}); // which may have told of it
        const Identity& run = kept.identity;
        load(run.config, run.preset, run.title, run.about);
        m_saved = std::move(kept.results);
        m_saved->events = withoutEchoes(m_saved->run.events);
        for (size_t from = 0; from < kept.steps.size(); from += SavedRun::kPieceRows)
            m_saved->run.pieces.push_back(kept.steps.rows(from, SavedRun::kPieceRows));
        m_savedShown = {};
        m_savedText = tr("Run of %1 steps, brought back.")
                          .arg(QLocale().toString(static_cast<qlonglong>(m_saved->run.steps)));
        m_savedClock.start();
    });
}

bool ShownRun::hasUnsavedRows() const {
    return m_models.run.step() > 0 && m_savedRows < m_models.steps.size();
}

double ShownRun::trainedSeconds() const {
    double seconds = 0;
    for (int lane = 0; lane < m_models.run.lanes(); ++lane)
        seconds = std::max(seconds, m_models.run.lane(lane).last.wallSeconds);
    return seconds;
}

const RunConfig& ShownRun::builtConfig() const {
    return m_models.config.running() ? *m_models.config.running() : m_models.config.config();
}

const RunConfig& ShownRun::trainedConfig() const {
    if (m_leaving && !m_models.config.running())
        return m_leaving->config; // the next one is not built
    return m_shownSaved ? m_shownSaved->config : builtConfig();
}

} // namespace halfscope
