// What the window does with a run: starting, one frame, states. Layout is in main_window.cpp, files
// are in main_window_files.cpp.
#include "ui/main_window.h"

#include "ui/images/compare_view.h"
#include "ui/models/lane_titles.h"
#include "ui/models/typed_number.h"
#include "ui/panels/banner.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/panels/transport_bar.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_stack.h"
#include "ui/text_fit.h"

#include <QLabel>
#include <QLocale>
#include <QSplitter>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <utility>

namespace halfscope {
namespace {

constexpr int kFrameMs = 33;
constexpr int kSlowestFrameMs = 150;
constexpr int kFiguresMs = 200;
// A frame comes after so many times what it costs: half of the time at most is for drawing, and
// little of it while the processors train.
constexpr double kFrames = 2, kTrainingFrames = 40;
// Frames without news before the window counts as settled: layouts and fonts have come to rest.
constexpr int kQuietFrames = 4;
// The sentence that invites to start is larger than the ones that tell what happens.
constexpr double kTitleSize = 1.35;
constexpr const char* kStopKey = "run.steps";

/// Processor time of this thread: other programs must not count as the window's cost.
double threadMilliseconds() {
#ifdef CLOCK_THREAD_CPUTIME_ID
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
#else
    return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
#endif
}

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

/// An event's words with its lane, where there are lanes to tell apart and the words name none.
QString newsOf(const Event& event, const RunModel& run) {
    const QString text = EventModel::sentenceOf(event);
    if (event.lane < 0 || event.lane >= run.lanes() || run.lanes() < 2) return text;
    if (event.kind == EventKind::Edit) return text; // ends with it
    const QString label = laneLabel(event.lane, run.lane(event.lane).title);
    return briefLabel(label) + QStringLiteral(": ") + text;
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
    m_clock.start();
    m_frameTimer.setInterval(kFrameMs);
    connect(&m_frameTimer, &QTimer::timeout, this, &MainWindow::frame);
    m_frameTimer.start();
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
        // the last rows may not have arrived yet
        const qint64 planned = m_config.running() ? m_config.running()->steps : 0;
        m_history.without([&] {
            setStopStep(std::max<qint64>(m_run.step(), planned) +
                        std::max<qint64>(1, m_stopStride));
        });
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
    m_figuresShown = m_clock.elapsed() - kFiguresMs;
    m_news.clear();
    invite();
}

void MainWindow::showBuilt() {
    const SessionInfo& info = *m_controller->info();
    m_held = {};
    m_savedShown = {}; // what was seen of a saved run gave way
    m_transport->setDevice(info.device, QString::fromStdString(info.cudaReason));
    m_deviceLabel->setText(QString::fromStdString(info.device.name));
    m_deviceLabel->setToolTip(QString::fromStdString(info.cudaReason));
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

void MainWindow::frame() {
    SessionBatch batch = nextBatch();
    const bool arrived = !batch.empty() || m_savedJob || m_saved;
    batch.events = withoutEchoes(std::move(batch.events));
    for (const auto& gradients : batch.gradients) // before the rows of their steps
        m_plots->addGradients(gradients);
    for (const StepRecord& record : batch.records)
        m_plots->append(record.lane, record);
    for (const Event& event : batch.events)
        m_plots->addEvent(event);
    m_run.append(batch.records, batch.events);
    m_steps.append(batch.records);
    m_events.append(batch.events);
    if (batch.snapshot)
        m_pictures->setPictures(
            batch.snapshot->step,
            QVector<Picture>(batch.snapshot->outputs.begin(), batch.snapshot->outputs.end()));
    if (!batch.gradients.empty()) m_gradients->setRanges(std::move(batch.gradients.back()));
    m_newFigures = m_newFigures || !batch.records.empty() || !batch.events.empty();
    for (const Event& event : batch.events)
        if (!movesTheStop(event)) m_news = newsOf(event, m_run);
    showFigures();
    const bool drawn = m_plots->refresh();
    updateFrameRate();
    const SessionState state = m_controller->state();
    const bool busy = state == SessionState::Building || state == SessionState::Running;
    m_quietFrames = busy || drawn || arrived ? 0 : m_quietFrames + 1;
    if (m_quietFrames == kQuietFrames) emit settled();
    pace();
}

/// Drawing competes with training when that uses every processor: a step waits for its slowest
/// thread, so it loses as much time as the window takes. Then frames come less often.
void MainWindow::pace() {
    const double used = threadMilliseconds();
    constexpr double kNewest = 0.2; // share of the newest frame in the average
    m_frameCost += kNewest * (used - m_usedBefore - m_frameCost);
    m_usedBefore = used;
    const bool competes = m_controller->running() && m_controller->info() &&
                          m_controller->info()->device.kind == "cpu";
    const double wanted = (competes ? kTrainingFrames : kFrames) * m_frameCost;
    const int interval = std::clamp(static_cast<int>(wanted), kFrameMs, kSlowestFrameMs);
    if (interval != m_frameTimer.interval()) m_frameTimer.setInterval(interval);
}

/// Figures that change 30 times a second cannot be read, and laying them out costs as much as the
/// plots.
void MainWindow::showFigures() {
    if (!m_newFigures) return;
    const qint64 now = m_clock.elapsed();
    if (m_controller->running() && now - m_figuresShown < kFiguresMs) return;
    m_newFigures = false;
    m_figuresShown = now;
    m_transport->setFigures(m_run);
    m_scaler->refresh(m_run);
    divideRight();
    if (m_news.isEmpty() && m_run.step() > 0)
        m_news = tr("Every lane learns from the same batches. No step was skipped so far.");
    const bool finished = m_controller->state() == SessionState::Finished && m_run.step() > 0;
    const QString text = m_showsSaved ? tr("%1 %2").arg(m_savedText, m_run.summary())
                         : finished   ? tr("Finished. %1").arg(m_run.summary())
                                      : m_news;
    if (!text.isEmpty() && text != m_headline->toolTip()) setHeadline(text, 1.0);
}

void MainWindow::setHeadline(const QString& text, double size) {
    m_headlineSize = size;
    const QFont sized = scaledFont(font(), size);
    const QSize room = m_headline->contentsRect().size();
    const QFont chosen = heightOf(text, sized, room.width()) <= room.height() ? sized : font();
    m_headline->setFont(chosen);
    m_headline->setText(fitting(text, chosen, room)); // the tool tip has all of it
    m_headline->setToolTip(text);
    m_headline->setAccessibleName(text);
}

void MainWindow::updateFrameRate() {
    const qint64 now = m_clock.elapsed();
    m_frameTimes.push_back(now);
    std::erase_if(m_frameTimes, [now](qint64 time) { return time < now - 1000; });
    const qint64 span = now - m_frameTimes.front();
    if (span < 500) return; // too short to tell
    const auto frames = static_cast<qint64>(m_frameTimes.size()) - 1;
    const QString text = tr("%1 frames/s").arg((1000 * frames + span / 2) / span);
    if (text != m_rateLabel->text()) m_rateLabel->setText(text);
}

void MainWindow::showError(const QString& text) { m_banner->showText(text); }
QString MainWindow::bannerText() const {
    return m_banner->isHidden() ? QString() : m_banner->text();
}

} // namespace halfscope
