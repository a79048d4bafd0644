// The layout of the window's parts, what is connected with what, and what is remembered.
#include "ui/window/main_window.h"

#include "engine/core/error.h"
#include "engine/runs/run_store.h"
#include "engine/settings/run_task.h"
#include "ui/dialogs/ask.h"
#include "ui/dialogs/figure_menu.h"
#include "ui/dialogs/kept_files.h"
#include "ui/images/compare_view.h"
#include "ui/look/icons.h"
#include "ui/look/owned.h"
#include "ui/models/safe_text.h"
#include "ui/models/translated.h"
#include "ui/panels/banner.h"
#include "ui/panels/elided_label.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/figure_strip.h"
#include "ui/panels/message_bar.h"
#include "ui/panels/pace_slider.h"
#include "ui/panels/runs_panel.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/panels/stop_box.h"
#include "ui/panels/transport_bar.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_stack.h"
#include "ui/session/user_settings.h"
#include "ui/window/guarded.h"
#include "ui/window/guarded_application.h"
#include "ui/window/headline.h"
#include "ui/window/next_start.h"
#include "ui/window/pane_keys.h"
#include "ui/window/window_borders.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QLabel>
#include <QMimeData>
#include <QScrollArea>
#include <QSplitter>
#include <QStatusBar>
#include <QStyle>
#include <QTableView>
#include <QTimer>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include <chrono>
#include <new>
#include <set>
#include <utility>

namespace halfscope {
namespace {
// Raised when the layout changes: older saved layouts are then forgotten.
constexpr int kLayoutVersion = 1;
constexpr size_t kWindowReserve = size_t{1} << 20;
constexpr int kBetweenLooks = 20;                      // ms, at a training that is to rest
constexpr std::chrono::milliseconds kForSettings{300}; // how long closing waits for the settings

/// Returns what the settings, the run that is shown and the one that trains read, and the saved
/// runs in the list: one of their files alone would no longer fit the others.
std::vector<ReadPath> readBy(const RunConfig& settings, const ShownRun& shown,
                             const RunStore& store) {
    std::vector<ReadPath> all = readPathsOf(settings);
    for (const RunPtr& run : {shown.run(), shown.trained()})
        if (run)
            for (ReadPath& each : readPathsOf(run->info().recorded))
                all.push_back(std::move(each));
    std::set<std::string> folders;
    if (shown.run()) folders.insert(shown.run()->info().folder);
    for (const RunStore::Entry& entry : store.entries())
        folders.insert(entry.run->info().folder);
    folders.erase(std::string()); // that of runs that were trained here
    //: in the place of a setting's name, as in "%1 is the file of %2 and would be overwritten"
    const std::string name = QCoreApplication::translate("MainWindow", "a saved run").toStdString();
    for (const std::string& folder : folders)
        all.push_back({.name = name, .path = folder, .isRun = true});
    return all;
}
} // namespace

MainWindow::MainWindow(WindowOptions options)
    : m_options(std::move(options)), m_recent(m_options.remember, m_options.sessions),
      m_outOfMemory(tr("The memory of this machine is used up. Training was paused; what was "
                       "trained is kept and can be saved.")),
      m_reserve(new char[kWindowReserve]) {
    setObjectName(QStringLiteral("mainWindow"));
    setWindowTitle(tr("Halfscope"));
    setWindowIcon(programIcon());
    setAcceptDrops(true);
    resize(1280, 800);
    m_controller = std::make_unique<ExperimentController>(m_options.factory);
    buildCentre();
    buildStatusBar();
    m_figures.emplace(m_models, m_parts);
    m_shown = std::make_unique<ShownRun>(m_models, *m_controller, *m_figures, m_parts);
    m_shown->setWorth(m_options.askAfterSeconds);
    m_files = std::make_unique<WindowFiles>(m_models, *m_controller, *m_shown, m_parts, *this);
    if (!m_options.sessions.isEmpty())
        m_keeper = std::make_unique<SessionKeeper>(m_options.sessions, m_models, *m_controller,
                                                   *m_shown, m_parts, *this);
    m_menus = std::make_unique<WindowMenus>(m_models, *m_controller, *m_shown, *m_files, m_recent,
                                            m_parts, *this, m_options.remember, m_keeper.get());
    m_frames = std::make_unique<FrameLoop>(*m_parts.rate);
    m_closing = std::make_unique<CloseGuard>(m_models.store, *m_shown, *m_files, m_keeper.get(),
                                             *this, m_options.askAfterSeconds);
    m_keys = std::make_unique<KeyRouter>(*this);
    auto* panes = make<PaneKeys>(m_parts, *this);
    connect(m_files.get(), &WindowFiles::ended, panes, [panes](bool opened) {
        if (opened) panes->leadToPlay();
    });
    make<KeptFiles>([this] { return readBy(m_models.config.config(), *m_shown, m_models.store); },
                    [this](const QString& text) { m_parts.banner->showText(text); }, *this);
    connectParts();
    if (m_options.remember) restoreLayout();
    chooseTheme(m_options.theme);
    m_frames->start([this] { return frame(); });
    if (m_keeper)
        QTimer::singleShot(0, m_keeper.get(), [this] { m_keeper->offerLeft(m_options.left); });
}

MainWindow::~MainWindow() {
    m_frames->stop();
    m_controller->disconnect();
    m_keys.reset();
    m_menus.reset();
    m_controller.reset(); // joins the thread before the models go
    if (m_options.remember) finishUserSettings(kForSettings);
}

void MainWindow::buildCentre() {
    // a screen may be smaller than the parts can get: then they can be scrolled
    auto* area = make<QScrollArea>(this);
    area->setFrameShape(QFrame::NoFrame);
    area->setFocusPolicy(Qt::NoFocus);
    area->setWidgetResizable(true);
    auto* page = m_parts.page = make<QWidget>(area);
    page->setObjectName(QStringLiteral("page"));
    // a click outside the text boxes ends typing, and Space means Play again
    page->setFocusPolicy(Qt::ClickFocus);
    auto* column = make<QVBoxLayout>(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_parts.transport = make<TransportBar>(page);
    m_parts.banner = make<Banner>(page);
    m_parts.columns = make<QSplitter>(Qt::Horizontal, page);
    column->addWidget(m_parts.transport);
    column->addWidget(m_parts.banner);
    column->addWidget(m_parts.columns, 1);
    m_parts.setup = make<SetupPanel>(m_models.config, m_parts.columns);
    buildMiddle();
    buildRight();
    m_parts.columns->setStretchFactor(0, 0);
    m_parts.columns->setStretchFactor(1, 1);
    m_parts.columns->setStretchFactor(2, 0);
    m_parts.columns->setSizes(columnWidths(width()));
    m_parts.borders = make<WindowBorders>(m_parts, this);
    area->setWidget(page);
    setCentralWidget(area);
    page->setFocus();
}

void MainWindow::buildMiddle() {
    auto* middle = make<QWidget>(m_parts.columns);
    auto* column = make<QVBoxLayout>(middle);
    column->setContentsMargins(4, 4, 4, 0);
    column->setSpacing(4);
    m_parts.centre = make<QSplitter>(Qt::Vertical, middle);
    m_parts.pictures = make<CompareView>(m_parts.centre);
    connect(m_parts.pictures, &CompareView::failed, m_parts.banner, &Banner::showText);
    m_parts.plots = make<PlotStack>(m_parts.centre);
    m_parts.centre->setChildrenCollapsible(false);
    m_parts.heading = make<QWidget>(middle);
    auto* lines = make<QVBoxLayout>(m_parts.heading);
    lines->setContentsMargins({});
    lines->setSpacing(column->spacing());
    m_parts.strip = make<FigureStrip>(m_parts.heading);
    m_parts.headline = make<Headline>(m_parts.heading);
    lines->addWidget(m_parts.strip);
    lines->addWidget(m_parts.headline);
    column->addWidget(m_parts.heading);
    column->addWidget(m_parts.centre, 1);
}

void MainWindow::buildRight() {
    m_parts.right = make<QSplitter>(Qt::Vertical, m_parts.columns);
    m_parts.scaler = make<ScalerPanel>(m_parts.right);
    auto* lower = make<QWidget>(m_parts.right);
    auto* column = make<QVBoxLayout>(lower);
    column->setContentsMargins(0, 0, 0, 0);
    m_parts.gradients = make<GradientView>(lower);
    make<FigureMenu>(*m_parts.gradients, FigureMenu::Figure{QStringLiteral("gradients")});
    m_parts.gradients->hide();
    m_parts.events = make<EventPanel>(m_models.events, lower);
    m_parts.runs = make<RunsPanel>(m_models.list, lower);
    m_parts.runs->hide();
    column->addWidget(m_parts.runs); // see WindowBorders for the shares
    column->addWidget(m_parts.gradients);
    column->addWidget(m_parts.events);
    constexpr int kCards = 250; // pixels
    m_parts.right->setMinimumWidth(kCards + style()->pixelMetric(QStyle::PM_ScrollBarExtent));
    m_parts.right->setChildrenCollapsible(false);
    m_parts.right->setStretchFactor(0, 0);
    m_parts.right->setStretchFactor(1, 1);
}

void MainWindow::buildStatusBar() {
    setStatusBar(make<MessageBar>(this));
    m_parts.state = make<ElidedLabel>(this);
    m_parts.rate = make<QLabel>(this);
    m_parts.device = make<ElidedLabel>(this);
    m_parts.device->setObjectName(QStringLiteral("statusDevice"));
    m_parts.state->setObjectName(QStringLiteral("state"));
    m_parts.state->setIndent(6);
    m_parts.rate->setContentsMargins(8, 0, 6, 0);
    statusBar()->addWidget(m_parts.state, 1);
    const auto stop = [this](const QString& name, const QString& text, const QString& tip) {
        auto* button = make<QToolButton>(this);
        button->setObjectName(name);
        button->setText(text);
        button->setToolTip(tip);
        button->hide();
        statusBar()->addPermanentWidget(button);
        return button;
    };
    m_parts.stopReading = stop(QStringLiteral("stopReading"), tr("Stop reading"),
                               tr("Do not open this file, and stay with what is shown"));
    m_parts.stopRestoring =
        stop(QStringLiteral("stopRestoring"), tr("Stop restoring"),
             tr("Restore no more runs now. The next start offers the rest again."));
    statusBar()->addPermanentWidget(m_parts.device);
    // room for three digits, so that a third one is not cut off until the next layout
    const QMargins margins = m_parts.rate->contentsMargins();
    m_parts.rate->setMinimumWidth(
        m_parts.rate->fontMetrics().horizontalAdvance(tr("%1 frames/s").arg(999)) + margins.left() +
        margins.right());
    statusBar()->addPermanentWidget(m_parts.rate);
    statusBar()->setSizeGripEnabled(false);
}

void MainWindow::connectParts() {
    const WindowParts& parts = m_parts;
    ShownRun* shown = m_shown.get();
    connect(parts.transport, &TransportBar::presetChosen, m_files.get(), &WindowFiles::openPreset);
    connect(parts.transport, &TransportBar::resetRequested, shown, &ShownRun::reset);
    connect(parts.transport, &TransportBar::playRequested, shown, &ShownRun::playOrPause);
    connect(parts.transport, &TransportBar::stepRequested, this, &MainWindow::stepOnce);
    connect(parts.transport, &TransportBar::stopStepChosen, shown, &ShownRun::setStopStep);
    connect(parts.transport->pace(), &PaceSlider::paceChosen, shown, &ShownRun::setPace);
    connect(parts.transport, &TransportBar::themeChosen, this, &MainWindow::chooseTheme);
    connect(parts.transport, &TransportBar::speedsChosen, this,
            [this] { m_parts.transport->setFigures(m_models.run); });
    connect(parts.transport, &TransportBar::helpRequested, m_menus.get(), &WindowMenus::showHelp);
    parts.setup->setScaleOfLane([this](int lane) -> std::optional<double> {
        const RunModel& run = m_models.run; // a saved run is not the one that continues
        if (m_shown->showsSaved() || lane >= run.lanes()) return std::nullopt;
        const bool trained = run.lane(lane).last.step > 0;
        return trained ? std::optional<double>(run.lane(lane).scale()) : std::nullopt;
    });
    parts.setup->setRecordedRun(
        [shown] { return shown->trained() ? &shown->trained()->info().recorded : nullptr; });
    connect(parts.setup, &SetupPanel::forkRequested, shown, &ShownRun::fork);
    connect(parts.scaler, &ScalerPanel::scaleChosen, shown, &ShownRun::setScale);
    connect(parts.scaler, &ScalerPanel::atLeastChosen, shown, &ShownRun::growAtLeast);
    connect(parts.runs, &RunsPanel::bringBackAsked, shown,
            [shown](RunId id) { shown->bringBack(id); });
    connect(parts.runs, &RunsPanel::repeatAsked, shown, &ShownRun::repeat);
    connect(parts.runs, &RunsPanel::deleteAsked, shown, &ShownRun::remove);
    connect(&m_models.list, &RunListModel::visibilityChanged, shown, &ShownRun::updateOverlays);
    connect(&m_models.list, &RunListModel::renamed, shown, &ShownRun::updateOverlays); // the legend
    connect(&m_models.list, &RunListModel::differencesChanged, shown, &ShownRun::updateOverlays);
    connect(parts.plots, &PlotStack::saveRequested, m_files.get(), &WindowFiles::choosePlots);
    connect(parts.plots, &PlotStack::valuesRequested, m_files.get(), &WindowFiles::chooseValues);
    connect(parts.plots, &PlotStack::copyRequested, m_files.get(), &WindowFiles::copyPlots);
    connectEvents();
    connect(shown, &ShownRun::titleChanged, this, [this](const QString& title) {
        m_title = title;
        setWindowTitle(title);
    });
    connect(shown, &ShownRun::told, this, &MainWindow::tell);
    connect(shown, &ShownRun::stirred, m_frames.get(), &FrameLoop::stir);
    connect(m_menus.get(), &WindowMenus::restartAsked, this, &MainWindow::startAgain);
    connect(m_files.get(), &WindowFiles::told, this, &MainWindow::tell);
    connect(m_files.get(), &WindowFiles::used, this,
            [this](const QString& path) { m_recent.add(path); });
    connect(m_files.get(), &WindowFiles::ended, this, &MainWindow::fileEnded);
    connect(m_files.get(), &WindowFiles::stopped, this, &MainWindow::fileStopped);
    if (m_keeper) connect(m_keeper.get(), &SessionKeeper::told, this, &MainWindow::tell);
    connect(m_frames.get(), &FrameLoop::settled, this, &MainWindow::settled);
    connect(&m_models.config, &ConfigModel::edited, this, &MainWindow::keepData);
    connect(&m_models.config, &ConfigModel::settling, parts.transport->stopAt(), &StopBox::settle);
    connect(parts.transport->stopAt(), &StopBox::corrected, parts.banner, &Banner::lookAgain);
    connect(&m_facts, &FactsReader::changed, this, [this] {
        m_figures->changed();
        m_models.config.dataArrived(); // what it says about a start is newer than those figures
        m_frames->stir();
    });
}

/// Makes plots, list and headline tell of the same event.
void MainWindow::connectEvents() {
    const WindowParts& parts = m_parts;
    connect(parts.events, &EventPanel::stepChosen, parts.plots, &PlotStack::showStep);
    connect(parts.plots, &PlotStack::pinned, parts.events, [parts](std::optional<qint64> step) {
        parts.events->letGoBut(step);
        // the headline tells of this one, too
        const std::optional<int> there = parts.plots->eventPointedAt();
        if (step && there && !parts.events->table()->currentIndex().isValid())
            parts.events->choose(*there);
    });
    connect(parts.plots, &PlotStack::noEventFound, this, [this] {
        tell(m_models.events.rowCount() > 0 ? tr("No more events in this direction")
                                            : tr("No events so far"));
    });
    connect(parts.plots, &PlotStack::eventClicked, parts.events, &EventPanel::choose);
    const auto tell = [this](int event) { m_figures->choose(event); };
    connect(parts.plots, &PlotStack::eventClicked, this, tell);
    connect(parts.events, &EventPanel::eventChosen, this, tell);
    connect(m_controller.get(), &ExperimentController::stateChanged, parts.plots,
            [plots = parts.plots, events = parts.events](SessionState state) {
                if (state != SessionState::Running) return;
                plots->trainingStarts();
                events->trainingStarts();
            });
}

/// Cancels the reading of data that no settings name any more.
void MainWindow::keepData() {
    const ConfigModel& config = m_models.config;
    std::vector<FactsKey> wanted;
    const auto want = [&wanted](const RunConfig& of) { wanted.push_back(factsKeyOf(taskOf(of))); };
    want(config.config());
    want(config.preset());
    if (config.running()) want(*config.running());
    if (const RunPtr& run = m_shown->run()) want(run->info().config);
    m_facts.keepOnly(wanted);
}

void MainWindow::tell(const QString& text) { tellBelow(*this, text); }

/// When memory runs out, the run stops and what was trained stays; a banner says so, in words that
/// were made before.
FrameLoop::Done MainWindow::frame() {
    try {
        tellFailure();
        return draw();
    } catch (const std::bad_alloc&) {
        m_reserve.reset();
        m_controller->pause();
        m_parts.banner->showText(m_outOfMemory);
        m_reserve.reset(new (std::nothrow) char[kWindowReserve]);
        return {};
    }
}

/// Handles an exception that another event's handler threw.
void MainWindow::tellFailure() {
    auto* application = qobject_cast<GuardedApplication*>(qApp);
    const std::exception_ptr failure = application ? application->takeFailure() : nullptr;
    if (!failure) return;
    try {
        std::rethrow_exception(failure);
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {
        m_parts.banner->showText(translated(error));
    }
}

FrameLoop::Done MainWindow::draw() {
    const bool arrived = m_shown->frame() || m_shown->reads();
    followName();
    const double pace = m_parts.transport->pace()->pace();
    const SessionState state = m_controller->state();
    const bool over =
        m_shown->showsSaved() || state == SessionState::Finished || state == SessionState::Failed;
    const RunPtr& run = m_shown->run();
    m_models.run.setPace(over && run && run->step() > 0 ? trainedPace(run) : pace);
    // otherwise the headline may invite to go on, or say what failed, and must stay
    const bool sumsUp = m_shown->showsSaved() || state == SessionState::Finished;
    if (m_models.run.setOver(over)) sumsUp ? m_figures->changed() : m_figures->showSpeeds();
    const bool newest =
        m_figures->show(m_controller->running(), m_shown->lead(), m_shown->warning());
    m_parts.plots->holdValues(!newest);
    const SpeedsShown speeds = over ? SpeedsShown::AtTheEnd : SpeedsShown::Present;
    m_parts.plots->setSpeeds(m_models.run.comparesSpeeds() ? speeds : SpeedsShown::NotComparable);
    const bool drawn = m_parts.plots->refresh();
    m_parts.strip->showState(RunWords::briefState(state, pace, m_models.run.waitsAt(pace)));
    const bool busy = state == SessionState::Building || state == SessionState::Running;
    return {busy || drawn || arrived, competes()};
}

/// Returns the pace at which a run that is over was trained, whatever the slider says by now. Looks
/// only when the run has changed: its times may have to be read from the disk.
double MainWindow::trainedPace(const RunPtr& run) {
    const uint64_t version = run->version();
    if (m_paced.lock() != run || m_pacedVersion != version) m_pace = paceOf(run->now());
    m_paced = run;
    m_pacedVersion = version;
    return m_pace;
}

/// Calls the window after the run that is shown as the list of runs does, where a second run of an
/// experiment has a number. Another experiment has its title at once, before its run replaces the
/// one that is shown: so only another name counts.
void MainWindow::followName() {
    const RunStore::Entry* entry = m_models.store.find(m_models.store.current());
    const QString title =
        entry ? ShownRun::tr("%1 – Halfscope").arg(safeText(entry->name)) : m_title;
    if (std::exchange(m_named, title) != title) setWindowTitle(title);
}

/// Whether a training keeps the processors that draw busy. One with a limited pace waits for most
/// of the time: then each of its steps can be seen.
bool MainWindow::competes() const {
    constexpr double kLittle = 0.3; // share of its time in which a training works
    const bool onCpu = m_controller->info() && m_controller->info()->device.kind == "cpu";
    if (!m_controller->running() || !onCpu) return false;
    const double pace = m_models.config.config().pace;
    return pace <= 0 || !(pace * m_models.run.secondsPerStep() < kLittle);
}

void MainWindow::chooseTheme(Theme theme) {
    m_options.theme = theme;
    applyTheme(*qApp, theme);
    m_parts.transport->setTheme(theme);
    m_parts.transport->setFigures(m_models.run); // in the new colours
}

void MainWindow::restoreLayout() {
    const QVariantMap settings = userSettings();
    if (settings.value(QStringLiteral("layout/version")).toInt() == kLayoutVersion) {
        restoreGeometry(settings.value(QStringLiteral("layout/geometry")).toByteArray());
        m_parts.columns->restoreState(
            settings.value(QStringLiteral("layout/columns")).toByteArray());
        m_parts.borders->restore(settings);
    }
    m_menus->restore(settings); // after a crash, the view of the gradients may be there alone
    m_parts.plots->setSmoothing(settings.value(QStringLiteral("plots/smoothing")).toDouble());
    m_parts.plots->hidePlots(settings.value(QStringLiteral("plots/hidden")).toStringList());
    m_parts.runs->setOrder(
        OrderedRuns::orderOf(settings.value(QStringLiteral("runs/order")).toString()));
}

void MainWindow::saveLayout() const {
    if (missedUserSettings()) return;
    QVariantMap settings;
    settings.insert(QStringLiteral("layout/version"), kLayoutVersion);
    settings.insert(QStringLiteral("layout/geometry"), saveGeometry());
    settings.insert(QStringLiteral("layout/columns"), m_parts.columns->saveState());
    m_parts.borders->save(settings);
    m_menus->save(settings);
    settings.insert(QStringLiteral("plots/smoothing"), m_parts.plots->smoothing());
    settings.insert(QStringLiteral("plots/hidden"), m_parts.plots->hiddenPlots());
    settings.insert(QStringLiteral("runs/order"), OrderedRuns::wordOf(m_parts.runs->order()));
    settings.insert(QStringLiteral("theme"), nameOf(m_options.theme));
    keepUserSettings(settings);
}

/// The headline warns of gradients that are lost, also where no cards are seen.
void MainWindow::showEvent(QShowEvent* event) {
    QMainWindow::showEvent(event);
    m_controller->glanceAtGradients(true);
}

void MainWindow::hideEvent(QHideEvent* event) {
    QMainWindow::hideEvent(event);
    m_controller->glanceAtGradients(false);
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (!m_ends) {
        m_keeps = false; // the question is asked again
        const CloseGuard::Answer answer = m_closing->ask();
        m_keeps = answer == CloseGuard::Answer::Keep;
        if (m_keeps) // later: a window cannot close while it is being closed
            QTimer::singleShot(0, this, &MainWindow::keepAndClose);
        if (answer != CloseGuard::Answer::Close) return event->ignore();
        if (m_keeper) m_keeper->discard();
        m_ends = true;
    }
    m_frames->stop();
    m_menus->endPresentation();
    if (m_options.remember) saveLayout();
    m_controller->pause();
    QMainWindow::closeEvent(event);
}

/// Leaves the training paused.
Message MainWindow::keepLastSteps() {
    m_shown->takeLastSteps();
    return keepSession();
}

Message MainWindow::keepAndGoOn() {
    const bool trains = m_controller->willTrain();
    const Message problem = keepLastSteps();
    const SessionState state = m_controller->state();
    const bool ended = state == SessionState::Finished || state == SessionState::Failed;
    try {
        if (trains && !ended) m_controller->play();
    } catch (const std::bad_alloc&) { // it rests, as the window shows
    }
    return problem;
}

Message MainWindow::endSession() {
    m_ends = true;
    if (m_keeper) m_keeper->toldToEnd();
    const Message problem = keepLastSteps();
    close();
    return problem;
}

/// Closes the window and keeps its runs for the next one. A training pauses first, so that its last
/// steps and its networks are kept, too.
void MainWindow::startAgain() {
    if (!m_controller->rest()) {
        QTimer::singleShot(kBetweenLooks, this, &MainWindow::startAgain);
        return;
    }
    m_shown->frame();
    if (!m_shown->isKept())
        return m_parts.banner->showText(
            tr("Halfscope goes on, because a restart would lose these networks, which are too "
               "large to be kept. Save a checkpoint, then close the window and start it again."));
    const Message problem = keepSession();
    if (!problem.empty())
        return m_parts.banner->showText(
            tr("Halfscope goes on, because a restart would lose runs: %1")
                .arg(translated(problem)));
    try {
        m_startsAgain = nextStart(m_models, *m_shown, m_keeper.get(), m_options.sessions);
    } catch (const ReportedError& error) {
        return m_parts.banner->showText(
            tr("Halfscope goes on, because a restart would lose the settings: %1")
                .arg(translated(error)));
    }
    m_ends = true;
    close();
}

/// Closes the window once the training rests and all unsaved runs are on disk; the window stays
/// open when they cannot be kept.
void MainWindow::keepAndClose() {
    if (m_ends || !m_keeps) return; // the user has decided again while the training came to rest
    if (m_controller->state() != SessionState::Failed && !m_controller->rest()) {
        tell(tr("Halfscope closes when the step in progress is done."));
        QTimer::singleShot(kBetweenLooks, this, &MainWindow::keepAndClose);
        return;
    }
    m_keeps = false;
    m_shown->frame();
    if (!m_closing->mayLoseNetworks()) return;
    const Message problem = m_keeper->keepForNextTime();
    if (!problem.empty())
        return m_parts.banner->showText(
            tr("Halfscope stays open, because the runs could not be kept: %1")
                .arg(translated(problem)));
    m_ends = true;
    close();
}

void MainWindow::editAsBefore() {
    if (m_options.left.shown || m_options.left.edits.isEmpty()) return; // see SessionKeeper
    guarded(*m_parts.banner, [this] { m_shown->editOnceBuilt(takeEdits(m_options.left.edits)); });
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    // what cannot be opened is taken, too, so that the banner can say why
    if (!event->mimeData()->hasUrls()) return;
    event->setDropAction(Qt::CopyAction);
    event->accept();
}

void MainWindow::dropEvent(QDropEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    if (urls.isEmpty()) return;
    event->setDropAction(Qt::CopyAction); // after a move, the other program may delete its file
    event->accept();
    QStringList paths;
    for (const QUrl& url : urls) {
        if (!url.isLocalFile())
            return m_parts.banner->showText(
                tr("%1: not a file on this computer; save it to one and drop that")
                    .arg(safeText(url.toDisplayString().toStdString())));
        paths << url.toLocalFile();
    }
    m_files->tryOpenAll(paths);
}

QString MainWindow::bannerText() const {
    return m_parts.banner->isHidden() ? QString() : m_parts.banner->text();
}

} // namespace halfscope
