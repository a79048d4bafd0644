// What the window does with a run: starting, editing, states. What each frame shows of it is in
// main_window_frame.cpp, layout in main_window.cpp, files are in main_window_files.cpp.
#include "ui/window/main_window.h"

#include "ui/images/compare_view.h"
#include "ui/models/lane_titles.h"
#include "ui/models/typed_number.h"
#include "ui/panels/banner.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/panels/transport_bar.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_stack.h"

#include <QLabel>

#include <algorithm>
#include <utility>

namespace halfscope {
namespace {

// The sentence that invites to start is larger than the ones that tell what happens.
constexpr double kTitleSize = 1.35;
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

QString invitation(qsizetype lanes) {
    if (lanes < 2) return MainWindow::tr("Train a network; add a lane to compare.");
    if (lanes == 2) return MainWindow::tr("Train the same network twice, side by side.");
    return MainWindow::tr("Train the same network %n times, side by side.", nullptr,
                          static_cast<int>(lanes));
}

/// What is worth a plot of its own in this experiment.
std::vector<Measure> extraMeasures(const RunConfig& config) {
    std::vector<Measure> extra;
    if (config.schedule.kind != ScheduleKind::Constant) extra.push_back(Measure::LearningRate);
    if (config.gradients.clip != ClipKind::None || config.gradients.penalty != 0)
        extra.push_back(Measure::GradientNorm);
    return extra;
}

} // namespace

void MainWindow::connectSession() {
    connect(m_controller.get(), &ExperimentController::built, this, &MainWindow::showBuilt);
    connect(m_controller.get(), &ExperimentController::stateChanged, this, &MainWindow::showState);
    connect(m_controller.get(), &ExperimentController::refused, this, &MainWindow::showError);
    connect(m_controller.get(), &ExperimentController::failed, this, [this](const QString& reason) {
        aboutToLeave();
        m_config.clearRunning();
        showError(reason);
    });
    connect(m_setup, &SetupPanel::restartRequested, this, [this] {
        const bool trains = m_controller->willTrain();
        restart();
        if (trains) m_controller->play();
    });
    connect(&m_config, &ConfigModel::liveEdited, this,
            [this](int lane, const std::string& key, const FieldValue& value) {
                m_controller->edit(lane, key, value);
                updateGrowthIntervals();
                updateScalers();
                updateTitles();
            });
    connect(&m_config, &ConfigModel::edited, this,
            [this] { m_transport->setStopStep(m_config.config().steps); });
    startFrames();
    showState();
}

void MainWindow::load(const RunConfig& config, const QString& preset, const QString& title,
                      const QString& about) {
    aboutToLeave();
    m_about = about;
    m_preset = preset;
    m_title = title;
    forgetSaved();
    m_config.clearRunning();
    m_config.load(config);
    m_otherExperiment = true;
    m_stopStride = config.steps;
    m_transport->showExperiment(preset, title);
    setWindowTitle(tr("%1 – Halfscope").arg(title));
    startRun();
}

void MainWindow::setStopStep(qint64 steps) {
    m_config.setData(m_config.index(m_config.rowOf(kStopKey)), QString::number(steps));
}

void MainWindow::play() {
    if (m_controller->state() == SessionState::Finished) {
        // the last rows may not have arrived yet, or none: then those of a saved run are shown
        const qint64 arrived = m_showsSaved ? 0 : m_run.step();
        const qint64 planned = m_config.running() ? m_config.running()->steps : 0;
        m_history.without(
            [&] { setStopStep(std::max(arrived, planned) + std::max<qint64>(1, m_stopStride)); });
    }
    m_controller->play();
}

void MainWindow::pause() { m_controller->pause(); }
void MainWindow::stepOnce() { m_controller->stepOnce(); }
void MainWindow::followNewest() { m_plots->setFollow(true); }

void MainWindow::playOrPause() {
    if (m_controller->running() || m_controller->playWaits())
        pause();
    else
        play();
}

void MainWindow::restart() {
    aboutToLeave();
    startRun();
}

void MainWindow::startRun() {
    m_banner->hide();
    guarded([this] {
        checkConfig(m_config.config());
        m_config.startBuilding();
        m_controller->reset(m_config.config());
        invite();
    });
}

void MainWindow::showLanes(const SessionInfo& info, const RunConfig& config) {
    const QStringList names = laneTitles(config), about = aboutLanes(config);
    std::vector<bool> scales;
    m_facts.clear();
    for (int i = 0; i < names.size(); ++i) {
        const auto lane = static_cast<size_t>(i);
        scales.push_back(laneScales(config, i));
        m_facts.push_back({scales.back(), lane < info.laneBytes.size() ? info.laneBytes[lane] : 0,
                           about.value(i)});
    }
    std::exchange(m_otherExperiment, false) ? m_plots->forgetLosses() : m_plots->keepLosses();
    m_plots->setLanes(names, scales, extraMeasures(config));
    m_scaler->setLanes(m_facts);
    m_gradients->setLanes(names);
    const bool scatter = config.task.kind == TaskKind::Regression;
    m_pictures->setLanes(names, about,
                         scatter ? CompareView::Kind::Scatter : CompareView::Kind::Painted);
    m_pictures->setTarget(info.target);
    divideCentre();
}

void MainWindow::showRun(const SessionInfo& info, const RunConfig& config) {
    keepRun();
    m_showsSaved = false;
    m_shownSaved.reset();
    m_trainedOn = TrainedOn{info.device, info.laneBytes};
    showDevice();
    m_savedRows = 0;
    m_run.start(info.laneNames);
    m_run.setTitles(laneTitles(config));
    m_steps.start(info.laneNames);
    m_events.clear();
    showLanes(info, config);
    m_transport->setFigures(m_run);
    updateGrowthIntervals();
    m_scaler->refresh(m_run);
    divideRight();
    m_newFigures = false;
    m_figuresShown.reset();
    m_news.clear();
    invite();
}

void MainWindow::showBuilt() {
    const SessionInfo& info = *m_controller->info();
    m_held = {};
    m_savedShown = {}; // what was seen of a saved run gave way
    showRun(info, info.config);
    m_config.setRunning(info.config);
    updateGrowthIntervals();
    m_scaler->refresh(m_run);
    divideRight();
}

/// Says what Play would show; from the first moment on, because large networks take a while to
/// build.
void MainWindow::invite() {
    const bool plain = m_about.isEmpty();
    const QString text =
        plain ? invitation(static_cast<qsizetype>(m_config.config().lanes.size())) : m_about;
    setHeadline(m_controller->willTrain() ? text : tr("%1 Press Play.").arg(text),
                plain ? kTitleSize : 1.0);
}

void MainWindow::updateGrowthIntervals() {
    const Field* field = findField("scaler.growth_interval");
    if (!m_config.running()) return;
    const RunConfig& config = *m_config.running(); // the edited one may have other lanes
    for (int i = 0; i < m_run.lanes() && i < static_cast<int>(config.lanes.size()); ++i)
        m_run.setGrowthInterval(
            i, field && field->applies(config, i)
                   ? config.lanes[static_cast<size_t>(i)].scaler.rules.growthInterval
                   : 0);
}

void MainWindow::updateScalers() {
    if (!m_config.running()) return;
    bool changed = false;
    for (size_t i = 0; i < std::min(m_facts.size(), m_config.running()->lanes.size()); ++i) {
        const bool scales = laneScales(*m_config.running(), static_cast<int>(i));
        if (scales == m_facts[i].scales) continue;
        m_facts[i].scales = scales;
        changed = true;
        m_plots->setScales(static_cast<int>(i), scales);
    }
    if (!changed) return;
    m_scaler->setLanes(m_facts);
    m_scaler->refresh(m_run);
    divideRight();
}

/// A live edit may set lanes of one precision apart, or make them alike.
void MainWindow::updateTitles() {
    if (!m_config.running()) return;
    const QStringList titles = laneTitles(*m_config.running());
    if (titles.size() != m_run.lanes() || titles == m_run.titles()) return;
    m_run.setTitles(titles);
    m_plots->renameLanes(titles);
    m_gradients->renameLanes(titles);
    m_pictures->renameLanes(titles);
    m_scaler->refresh(m_run);
}

void MainWindow::setScale(int lane, const QString& text) {
    guarded([&] { m_controller->edit(lane, kLiveScale, parseScale(text)); });
}

void MainWindow::showState() {
    const SessionState state = m_controller->state();
    m_transport->setState(state, m_controller->playWaits());
    m_plots->setResting(state != SessionState::Running);
    m_quietFrames = 0;
    m_newFigures = m_newFigures || state == SessionState::Finished; // the headline sums up
    const bool waits = state == SessionState::Running || state == SessionState::Paused;
    const bool fresh = waits && m_run.step() == 0 && m_news.isEmpty();
    if (fresh || state == SessionState::Building) invite(); // a first step may take seconds
    switch (state) {
    case SessionState::Building:
        m_stateLabel->setText(m_controller->playWaits()
                                  ? tr("Building the networks… Then they train; Space stops that.")
                                  : tr("Building the networks…"));
        break;
    case SessionState::Ready:
        m_stateLabel->setText(m_showsSaved && !m_saved
                                  ? tr("%1 Play (Space) trains it anew.").arg(m_savedText)
                                  : tr("Ready. Press Play (Space)."));
        break;
    case SessionState::Running: m_stateLabel->setText(tr("Training.")); break;
    case SessionState::Paused: m_stateLabel->setText(tr("Paused. Space goes on.")); break;
    case SessionState::Finished:
        m_stateLabel->setText(
            tr("Finished. Continue trains as many steps again, Reset starts anew."));
        break;
    case SessionState::Failed:
        m_stateLabel->setText(tr("The run failed. Change a setting, then Reset."));
        break;
    }
}

void MainWindow::showError(const QString& text) { m_banner->showText(text); }
QString MainWindow::bannerText() const {
    return m_banner->isHidden() ? QString() : m_banner->text();
}

} // namespace halfscope
