// What each entry does, and its key.
#include "ui/window/window_menus.h"

#include "engine/train/predicted_samples.h"
#include "ui/dialogs/ask.h"
#include "ui/dialogs/grid_dialog.h"
#include "ui/dialogs/help.h"
#include "ui/dialogs/help_dialog.h"
#include "ui/dialogs/layer_gradients_dialog.h"
#include "ui/dialogs/number_dialog.h"
#include "ui/dialogs/scale_dialog.h"
#include "ui/dialogs/types_dialog.h"
#include "ui/dialogs/verify_dialog.h"
#include "ui/images/compare_view.h"
#include "ui/look/icons.h"
#include "ui/look/owned.h"
#include "ui/look/tab_order.h"
#include "ui/look/theme.h"
#include "ui/models/safe_text.h"
#include "ui/panels/banner.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/pace_slider.h"
#include "ui/panels/runs_panel.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/panels/transport_bar.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_stack.h"
#include "ui/plots/plots_menu.h"
#include "ui/plots/smoothing.h"
#include "ui/session/user_settings.h"
#include "ui/window/lesson_column.h"
#include "ui/window/predict_samples.h"
#include "ui/window/presentation.h"
#include "ui/window/recent_menu.h"
#include "ui/window/session_keeper.h"
#include "ui/window/shown_run.h"
#include "ui/window/window_borders.h"
#include "ui/window/window_files.h"
#include "ui/window/zoom.h"

#include <QAbstractButton>
#include <QEvent>
#include <QMainWindow>
#include <QMenuBar>
#include <QMessageBox>
#include <QShortcut>
#include <QSplitter>

#include <algorithm>
#include <cmath>
#include <utility>

namespace halfscope {
namespace {
// The width of pictures and plots below which the settings give way, in pixels: the reader of a
// lesson looks at them more than at settings.
constexpr int kLeastMiddle = 300, kLeastByLesson = 560;
const QString kGradientsKey = QStringLiteral("layout/gradientsShown");
} // namespace

WindowMenus::WindowMenus(RunModels& models, ExperimentController& controller, ShownRun& shown,
                         WindowFiles& files, RecentFiles& recent, const WindowParts& parts,
                         QMainWindow& window, bool remembers, SessionKeeper* keeper)
    : m_models(models), m_controller(controller), m_shown(shown), m_files(files), m_recent(recent),
      m_parts(parts), m_window(window), m_remembers(remembers), m_keeper(keeper),
      m_lesson(make<LessonColumn>(parts, window)) {
    connect(m_lesson, &LessonColumn::presetChosen, &m_files, &WindowFiles::openPreset);
    connect(m_lesson, &LessonColumn::pageAsked, this, &WindowMenus::showHelpPart);
    connect(m_lesson, &LessonColumn::shownOrHidden, this, &WindowMenus::giveWay);
    connect(m_parts.setup, &SetupPanel::explanationAsked, this, [this](const QString& key) {
        showHelpPart(QLatin1String(kHelpSettings) + u'#' + key);
    });
    connect(m_parts.events, &EventPanel::pageAsked, this, &WindowMenus::showHelpPart);
    QMenuBar& bar = *window.menuBar();
    fillFile(*bar.addMenu(tr("&File")));
    fillEdit(*bar.addMenu(tr("&Edit")));
    bar.addMenu(m_parts.transport->trainingMenu());
    fillView(*bar.addMenu(tr("&View")));
    fillHelp(*bar.addMenu(tr("&Help")));
    orderTabs(*m_parts.page); // now that all buttons are there
    addShortcut(Qt::Key_Space, [this] { m_shown.pressSpace(); });
    addShortcut(Qt::Key_Period, [this] { m_shown.stepOnce(); });
    addShortcut(Qt::Key_R, [this] { m_shown.resetIfPossible(); });
    addShortcut(Qt::Key_Minus, [this] { m_parts.transport->pace()->moveBy(-1); });
    for (const Qt::Key faster : {Qt::Key_Plus, Qt::Key_Equal})
        addShortcut(faster, [this] { m_parts.transport->pace()->moveBy(1); });
    addShortcut(Qt::Key_F, [this] { m_parts.plots->setFollow(true); });
    window.installEventFilter(this);
    window.centralWidget()->installEventFilter(this);
}

void WindowMenus::fillFile(QMenu& file) {
    file.addMenu(m_parts.transport->presetMenu());
    file.addAction(tr("&Open…"), QKeySequence::Open, &m_files, &WindowFiles::choose);
    file.addAction(tr("Open a &folder…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O), &m_files,
                   &WindowFiles::chooseFolder);
    auto* recent = make<RecentMenu>(m_recent, tr("Open r&ecent"), &file);
    connect(recent, &RecentMenu::chosen, &m_files, &WindowFiles::tryOpen);
    file.addMenu(recent);
    file.addSeparator();
    file.addAction(tr("&Save experiment as…"), QKeySequence::Save, &m_files,
                   &WindowFiles::chooseExperiment);
    file.addAction(tr("Save &results…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S), &m_files,
                   &WindowFiles::chooseResultsFolder);
    file.addAction(tr("Save &checkpoint…"), QKeySequence(Qt::CTRL | Qt::Key_K), &m_files,
                   &WindowFiles::chooseCheckpoint);
    file.addSeparator();
    file.addAction(tr("Save &picture of the plots…"), QKeySequence(Qt::CTRL | Qt::Key_E), &m_files,
                   &WindowFiles::choosePlots);
    listValues(*file.addMenu(tr("Save &values of a plot")), *m_parts.plots);
    m_parts.pictures->addAction(
        file.addAction(tr("Save pict&ures…"), &m_files, &WindowFiles::choosePictures));
    file.addSeparator();
    fillLanes(*file.addMenu(tr("Save &weights")), LaneFile::StateDict);
    fillLanes(*file.addMenu(tr("Save as O&NNX")), LaneFile::Onnx);
    file.addAction(tr("Save as a PyTorch pro&gram…"), &m_files, &WindowFiles::chooseProgram);
    fillLanes(*file.addMenu(tr("Save pre&dictions")), LaneFile::Predictions);
    fillLanes(*file.addMenu(tr("Predict new s&amples")), LaneFile::Predicted);
    file.addAction(tr("Save for &TensorBoard…"), &m_files, &WindowFiles::chooseTensorBoard);
    QAction* live = file.addAction(tr("Write for TensorBoard whi&le training…"));
    live->setCheckable(true);
    connect(live, &QAction::triggered, &m_files, &WindowFiles::chooseLiveBoard);
    connect(&m_files, &WindowFiles::writesLiveChanged, live, &QAction::setChecked);
    file.addSeparator();
    file.addAction(tr("&Quit"), QKeySequence(Qt::CTRL | Qt::Key_Q), &m_window, &QWidget::close);
}

/// Fills the menu each time it opens: lanes are forked, and a saved run's networks may be gone.
void WindowMenus::fillLanes(QMenu& menu, LaneFile file) {
    connect(&menu, &QMenu::aboutToShow, this, [this, &menu, file] {
        menu.clear();
        QStringList lanes = m_files.networks();
        for (int lane = 0; lane < lanes.size(); ++lane) // as in an entry's text
            lanes[lane] = laneLabel(lane, lanes[lane]).replace(u'&', QLatin1String("&&"));
        const auto add = [&](LaneFile made, const QString& name) {
            for (int lane = 0; lane < lanes.size(); ++lane)
                menu.addAction(name.arg(lanes[lane]), this,
                               [this, made, lane] { m_files.chooseLaneFile(made, lane); });
        };
        if (file == LaneFile::Predicted)
            addPredictions(menu, lanes);
        else
            add(file, tr("%1…"));
        if (file == LaneFile::Onnx && m_files.hasCritics())
            add(LaneFile::CriticOnnx, tr("Critic of %1…"));
        if (lanes.isEmpty())
            menu.addAction(m_controller.info() ? tr("The networks of this run are gone")
                                               : tr("There are no networks yet"))
                ->setEnabled(false);
    });
}

/// Adds an entry for each lane, and two where the samples are pictures: of one, and of a folder.
/// Several lanes can be compared in one table.
void WindowMenus::addPredictions(QMenu& menu, const QStringList& lanes) {
    const auto& built = m_controller.info();
    if (built && !canPredictFile(built->config.task.kind)) {
        menu.addAction(tr("Only for tables, arrays and pictures"))->setEnabled(false);
        return;
    }
    const bool pictures = built && predictsPictures(built->config.task.kind);
    const auto add = [&](const QString& name, int lane, SamplesIn in) {
        menu.addAction(name, this, [this, lane, in] { m_files.predict(lane, in); });
    };
    const auto addBoth = [&](const QString& who, int lane) {
        if (pictures) add(tr("%1, a folder of pictures…").arg(who), lane, SamplesIn::Folder);
        add((pictures ? tr("%1, one picture…") : tr("%1…")).arg(who), lane, SamplesIn::File);
    };
    const bool together = built && predictsTables(built->config.task.kind);
    if (lanes.size() > 1 && together) addBoth(tr("All lanes"), kEveryLane);
    for (int lane = 0; lane < lanes.size(); ++lane)
        addBoth(lanes[lane], lane);
}

void WindowMenus::fillEdit(QMenu& edit) {
    QAction* undo = m_models.history.stack().createUndoAction(&m_window, tr("&Undo"));
    undo->setShortcut(QKeySequence::Undo);
    QAction* redo = m_models.history.stack().createRedoAction(&m_window, tr("&Redo"));
    redo->setShortcut(QKeySequence::Redo);
    edit.addActions({undo, redo});
    // shows the settings first: a lane is set up there, and a button there starts the fork
    const auto addLane = [this] {
        endPresentation();
        m_settings->setChecked(true);
        m_parts.setup->addLane();
    };
    QAction* add = edit.addAction(tr("&Add a lane"), this, addLane);
    QAction* fork = edit.addAction(tr("&Continue as a new lane"), this, addLane);
    fork->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_L));
    QAction* sweep = edit.addAction(tr("Try several &values of a setting…"), this, [this] {
        endPresentation();
        m_settings->setChecked(true);
        m_parts.setup->askSweep();
    });
    sweep->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_L));
    connect(&m_models.config, &ConfigModel::edited, this, [this, add, fork, sweep] {
        for (QAction* each : {add, fork, sweep}) { // like the buttons
            const QString obstacle =
                each == sweep ? m_models.config.cannotTrain() : m_models.config.laneObstacle();
            each->setEnabled(obstacle.isEmpty());
            each->setToolTip(obstacle);
        }
    });
    edit.setToolTipsVisible(true);
    edit.addAction(tr("&Map of two settings…"), this, &WindowMenus::showMap);
    fillScales(*edit.addMenu(tr("Se&t the loss scale")));
    QAction* back =
        edit.addAction(tr("R&estore the previous run"), this, [this] { m_shown.bringBack(); });
    back->setShortcut(QKeySequence(Qt::SHIFT | Qt::Key_R));
    back->setEnabled(false);
    connect(&m_shown, &ShownRun::canBringBackChanged, back, &QAction::setEnabled);
    edit.addSeparator();
    m_parts.pictures->addAction(edit.addAction(tr("Copy p&ictures"),
                                               QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_I),
                                               &m_files, &WindowFiles::copyPictures));
    edit.addAction(tr("Copy picture of the p&lots"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_E),
                   &m_files, &WindowFiles::copyPlots);
    edit.addAction(tr("Copy as a PyTorch pro&gram"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C),
                   &m_files, &WindowFiles::copyAsPyTorch);
}

/// Fills the menu each time it opens. With a new scale it shows the gradients: they show what the
/// scale does.
void WindowMenus::fillScales(QMenu& menu) {
    connect(&menu, &QMenu::aboutToShow, this, [this, &menu] {
        menu.clear();
        const QStringList lanes = m_parts.scaler->lanesForScale();
        for (int lane = 0; lane < lanes.size(); ++lane) {
            if (lanes[lane].isEmpty()) continue;
            const QString label = QString(lanes[lane]).replace('&', QLatin1String("&&"));
            menu.addAction(tr("Of lane %1…").arg(label), this, [this, lane] {
                if (const ScaleDialog* dialog = m_parts.scaler->askForScale(lane))
                    connect(dialog, &ScaleDialog::chosen, m_gradients,
                            [this] { m_gradients->setChecked(true); });
            });
        }
        if (!menu.isEmpty()) return;
        const QString obstacle = m_shown.scaleObstacle();
        const bool none = !m_parts.scaler->scales() || obstacle.isEmpty();
        menu.addAction(none ? tr("No lane scales its loss") : obstacle)->setEnabled(false);
    });
}

void WindowMenus::fillHelp(QMenu& help) {
    help.addAction(tr("&Help and shortcuts"), QKeySequence::HelpContents, this,
                   &WindowMenus::showHelp);
    m_lesson->add(help, tr("First &lesson"), kHelpLesson);
    m_lesson->add(help, tr("&Second lesson"), kHelpSecondLesson);
    m_lesson->add(help, tr("&Third lesson"), kHelpThirdLesson);
    help.addAction(tr("&Questions about AMP"), this,
                   [this] { showHelpPart(QLatin1String(kHelpQuestions)); });
    help.addAction(tr("A &number in 16 or 8 bits…"), this, &WindowMenus::showNumber);
    help.addAction(tr("&Verify against PyTorch"), this, &WindowMenus::showVerification);
    help.addAction(tr("&About Halfscope"), this, &WindowMenus::showAbout);
}

void WindowMenus::fillView(QMenu& view) {
    view.addMenu(m_parts.transport->themeMenu());
    fillZoom(*view.addMenu(tr("Si&ze of everything")));
    fillPlots(view);
    view.addMenu(m_parts.transport->speedMenu());
    addGradients(view);
    view.addAction(tr("Gradients by layer"), QKeySequence(Qt::SHIFT | Qt::Key_G), this,
                   &WindowMenus::showLayerGradients);
    view.addAction(tr("Number types &by layer"), this, &WindowMenus::showTypes);
    view.addSeparator();
    fillPictures(view);
    view.addSeparator();
    addRuns(view);
    addSettings(view);
    addRight(view);
    addFullScreen(view);
    addPresentation(view);
}

void WindowMenus::fillPlots(QMenu& view) {
    PlotStack* plots = m_parts.plots;
    QAction* follow = view.addAction(tr("Plots &follow the newest step\tF"));
    follow->setCheckable(true);
    follow->setChecked(true);
    connect(follow, &QAction::triggered, plots, &PlotStack::setFollow);
    connect(plots, &PlotStack::followChanged, follow, &QAction::setChecked);
    addEventSteps(view, *plots);
    listPlots(*view.addMenu(tr("Plots s&hown")), *plots);
    fillSmoothing(*view.addMenu(tr("S&mooth the loss")));
    m_previous = view.addAction(tr("Curves of the previous &run"), QKeySequence(Qt::Key_B),
                                &m_shown, &ShownRun::explainBefore); // once it is toggled
    m_previous->setCheckable(true);
    connect(m_previous, &QAction::toggled, &m_shown, &ShownRun::showBefore);
}

void WindowMenus::fillPictures(QMenu& view) {
    CompareView* pictures = m_parts.pictures;
    pictures->setContextMenuPolicy(Qt::ActionsContextMenu);
    using Shows = CompareView::Shows;
    for (const auto& [text, shows] :
         {std::pair(tr("Last picture: t&arget\t1"), Shows::Target),
          std::pair(tr("Last picture: &difference\t2"), Shows::Difference),
          std::pair(tr("Last picture: &swipe\t3"), Shows::Swipe)})
        view.addAction(text, pictures, [pictures, wanted = shows] { pictures->showLast(wanted); });
    QAction* alone = view.addAction(tr("Only the &last picture\t4"));
    alone->setCheckable(true);
    connect(alone, &QAction::toggled, pictures, &CompareView::setAlone);
    connect(pictures, &CompareView::aloneChanged, this, [this, alone](bool on) {
        alone->setChecked(on);
        m_parts.borders->divideCentre();
    });
    const auto zoom = [pictures](double factor) {
        return [pictures, factor] { pictures->transform().zoomAbout({0.5, 0.5}, factor); };
    };
    constexpr double kZoom = 1.5;
    QAction* zoomIn = view.addAction(tr("Zoom the pictures &in"), this, zoom(kZoom));
    zoomIn->setShortcuts({QKeySequence::ZoomIn, QKeySequence(Qt::CTRL | Qt::Key_Equal)});
    view.addAction(tr("Zoom the pictures &out"), QKeySequence::ZoomOut, this, zoom(1 / kZoom));
    view.addAction(tr("Show the &whole pictures"), QKeySequence(Qt::CTRL | Qt::Key_0),
                   &pictures->transform(), &ViewTransform::fit);
}

/// Shows or hides a column. A hidden one must not keep the keys, nor hand them to a box that nobody
/// has chosen.
void WindowMenus::show(QWidget& column, bool on) {
    if (!on && column.isAncestorOf(m_window.focusWidget())) m_parts.page->setFocus();
    column.setVisible(on);
}

void WindowMenus::addSettings(QMenu& view) {
    m_settings = view.addAction(tr("S&ettings"));
    m_settings->setShortcut(Qt::Key_F9);
    m_settings->setCheckable(true);
    m_settings->setChecked(true);
    connect(m_settings, &QAction::toggled, this, [this](bool on) {
        m_gaveWay = false; // the user did it
        m_lesson->makeRoom(on ? leastWidth(kLeastMiddle) - m_window.centralWidget()->width() : 0);
        show(*m_parts.setup, on);
        // the border may have been pushed to the edge
        if (on && m_parts.columns->sizes().front() == 0)
            m_parts.columns->setSizes(columnWidths(m_window.width()));
    });
}

void WindowMenus::addRight(QMenu& view) {
    m_right = view.addAction(tr("Lanes and e&vents"));
    m_right->setShortcut(Qt::Key_F7);
    m_right->setCheckable(true);
    m_right->setChecked(true);
    connect(m_right, &QAction::toggled, this, [this](bool on) {
        show(*m_parts.right, on);
        giveWay();
        // the border may have been pushed to the edge
        if (on && m_parts.columns->sizes().back() == 0) {
            const QList<int> now = m_parts.columns->sizes(), first = columnWidths(m_window.width());
            const int middle = std::max(0, now[1] - first[2]);
            m_parts.columns->setSizes({now[0], middle, first[2]});
        }
    });
}

int WindowMenus::leastWidth(int middle) const {
    const int handle = m_parts.columns->handleWidth();
    const int left = m_parts.setup->minimumWidth() + handle;
    return left + middle + (m_right->isChecked() ? handle + m_parts.right->minimumWidth() : 0);
}

void WindowMenus::giveWay() {
    if (m_presentation->isOn()) return; // which has hidden them
    const int least = leastWidth(m_lesson->isShown() ? kLeastByLesson : kLeastMiddle);
    const bool narrow = m_window.centralWidget()->width() < least;
    if (narrow == std::exchange(m_narrow, narrow)) return;
    if (narrow && m_settings->isChecked()) {
        m_settings->setChecked(false);
        m_gaveWay = true;
    } else if (!narrow && m_gaveWay) {
        m_settings->setChecked(true);
    }
}

void WindowMenus::addRuns(QMenu& view) {
    m_runs = view.addAction(tr("Ru&ns of this session"));
    m_runs->setIconText(tr("Runs")); // the text on its button
    m_runs->setShortcut(Qt::Key_F8);
    m_runs->setCheckable(true);
    connect(m_runs, &QAction::toggled, this, [this](bool on) {
        if (on) m_right->setChecked(true);
        show(*m_parts.runs, on);
        m_parts.borders->divideRight();
    });
    connect(m_runs, &QAction::triggered, m_parts.runs, [this] {
        // Space ticks in the list, and pauses elsewhere: a training must not lose that key
        if (!m_controller.willTrain()) m_parts.runs->takeKeyboard();
    });
    m_runs->setToolTip(tr("The list of runs (F8): compare them, show them again, or repeat them"));
    m_parts.events->addToHeading(m_runs);
    if (m_keeper) view.addAction(tr("Memor&y for runs…"), m_keeper, &SessionKeeper::chooseBudget);
}

void WindowMenus::addFullScreen(QMenu& view) {
    m_fullScreen = view.addAction(tr("F&ull screen"));
    m_fullScreen->setShortcut(Qt::Key_F11);
    m_fullScreen->setCheckable(true);
    connect(m_fullScreen, &QAction::toggled, this, [this](bool on) {
        m_window.setWindowState(m_window.windowState().setFlag(Qt::WindowFullScreen, on));
    });
}

void WindowMenus::addPresentation(QMenu& view) {
    QAction* presents = view.addAction(tr("&Presentation view"));
    presents->setShortcut(Qt::Key_F5);
    presents->setShortcutContext(Qt::ApplicationShortcut); // dialogs have figures to present, too
    presents->setCheckable(true);
    m_presentation = make<Presentation>(
        m_parts, ViewActions{m_settings, m_right, m_runs, m_gradients, m_fullScreen}, m_controller,
        m_window);
    connect(presents, &QAction::toggled, m_presentation, &Presentation::set);
    connect(m_presentation, &Presentation::changed, presents, &QAction::setChecked);
}

void WindowMenus::endPresentation() { m_presentation->set(false); }

bool WindowMenus::eventFilter(QObject* watched, QEvent* event) {
    // the window manager and a restored layout change it, too
    if (watched == &m_window && event->type() == QEvent::WindowStateChange)
        m_fullScreen->setChecked(m_window.isFullScreen());
    if (watched == m_window.centralWidget() && event->type() == QEvent::Resize) giveWay();
    return QObject::eventFilter(watched, event);
}

void WindowMenus::restore(const QVariantMap& settings) {
    m_settings->setChecked(settings.value(QStringLiteral("layout/settingsShown"), true).toBool());
    m_gradients->setChecked(settings.value(kGradientsKey).toBool());
    m_runs->setChecked(settings.value(QStringLiteral("layout/runsShown")).toBool());
    m_right->setChecked(settings.value(QStringLiteral("layout/rightShown"), true).toBool());
    m_previous->setChecked(settings.value(QStringLiteral("plots/previous")).toBool());
    m_lesson->restorePlaces(settings);
}

void WindowMenus::save(QVariantMap& settings) const {
    settings.insert(QStringLiteral("layout/settingsShown"), m_settings->isChecked() || m_gaveWay);
    settings.insert(kGradientsKey, m_gradients->isChecked());
    settings.insert(QStringLiteral("layout/runsShown"), m_runs->isChecked());
    settings.insert(QStringLiteral("layout/rightShown"), m_right->isChecked());
    settings.insert(QStringLiteral("plots/previous"), m_previous->isChecked());
    if (m_help) m_help->savePlace(settings);
    m_lesson->savePlaces(settings);
}

void WindowMenus::fillZoom(QMenu& menu) {
    for (const int percent : zooms()) {
        QAction* action = menu.addAction(tr("%1 %").arg(percent), this, [this, percent] {
            const bool other = percent != rememberedZoom();
            if (m_remembers) rememberZoom(percent);
            if (m_remembers && m_keeper && other) return offerRestart(percent);
            tellBelow(m_window,
                      tr("Everything will be shown at %1 % the next time Halfscope starts.")
                          .arg(percent));
        });
        action->setCheckable(true);
        connect(&menu, &QMenu::aboutToShow, action,
                [action, percent] { action->setChecked(percent == rememberedZoom()); });
    }
}

void WindowMenus::offerRestart(int percent) {
    auto* box = make<QMessageBox>(
        QMessageBox::Question, tr("Size of everything"),
        tr("Everything will be shown at %1 % when Halfscope starts again.").arg(percent),
        QMessageBox::Yes | QMessageBox::No, &m_window);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setObjectName(QStringLiteral("restart"));
    box->setTextFormat(Qt::PlainText);
    box->setInformativeText(tr("If you restart now, the settings and the runs of this session are "
                               "kept, and training can go on from where it is."));
    box->button(QMessageBox::Yes)->setText(tr("&Restart now"));
    box->button(QMessageBox::No)->setText(tr("&Later"));
    box->setDefaultButton(QMessageBox::Yes);
    connect(box, &QMessageBox::finished, this, [this](int button) {
        if (button == QMessageBox::Yes) emit restartAsked();
    });
    box->open();
}

void WindowMenus::addGradients(QMenu& view) {
    m_gradients = view.addAction(tr("&Gradients"));
    m_gradients->setShortcut(Qt::Key_G);
    m_gradients->setCheckable(true);
    m_gradients->setToolTip(
        tr("Shows how large the gradients are and which of them underflow or overflow in fp16 (G). "
           "While they are shown, a little time is spent on counting them."));
    connect(m_gradients, &QAction::toggled, this, [this](bool on) {
        if (on) m_right->setChecked(true);
        m_parts.gradients->setVisible(on);
        m_parts.plots->showGradients(on);
        m_shown.watchGradients(on);
        m_parts.borders->divideRight();
        if (m_remembers) keepUserSettings({{kGradientsKey, on}}); // a crash saves no layout
    });
    m_parts.events->addToHeading(m_gradients);
}

void WindowMenus::fillSmoothing(QMenu& menu) {
    for (const double weight : {0.0, 0.6, 0.9, 0.97, Smoother::kMost}) {
        const QString name =
            weight > 0 ? tr("Weight of the past: %1").arg(weight) : tr("No smoothing");
        QAction* action = menu.addAction(name, m_parts.plots, [this, weight] {
            m_parts.plots->setSmoothing(weight);
            m_parts.plots->refresh();
        });
        action->setCheckable(true);
        connect(&menu, &QMenu::aboutToShow, action, [this, action, weight] {
            action->setChecked(std::abs(m_parts.plots->smoothing() - weight) < 1e-9);
        });
    }
}

template <class Action>
void WindowMenus::addShortcut(const QKeySequence& keys, Action action) {
    auto* shortcut = make<QShortcut>(keys, &m_window);
    shortcut->setAutoRepeat(false);
    connect(shortcut, &QShortcut::activated, this, action);
}

void WindowMenus::showHelp() { showHelpPart(QString()); }

/// Opens the help without blocking the window, so that the shortcuts can be tried. It opens where
/// it was left, or at the given part.
void WindowMenus::showHelpPart(const QString& anchor) {
    if (!m_help) {
        m_help = make<HelpDialog>(&m_window, m_parts.plots);
        if (m_remembers) m_help->restorePlace(userSettings());
        connect(m_help, &HelpDialog::presetChosen, &m_files, &WindowFiles::openPreset);
    }
    m_help->showPart(anchor);
}

void WindowMenus::showNumber() {
    auto* dialog = make<NumberDialog>(&m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    m_presentation->open(*dialog); // training goes on
}

void WindowMenus::showTypes() {
    m_presentation->open(TypesDialog::open(m_models.config, m_window));
}

void WindowMenus::showLayerGradients() {
    auto* dialog = m_window.findChild<LayerGradientsDialog*>();
    if (!dialog) {
        dialog = make<LayerGradientsDialog>(
            LayerGradientsDialog::Source{[this] { return m_shown.stepped(); },
                                         [this] { return m_shown.stepsAnew(); },
                                         [this](bool none) { return m_shown.layersNote(none); }},
            &m_window);
        connect(dialog, &LayerGradientsDialog::watched, &m_controller,
                &ExperimentController::watchLayers);
        connect(dialog, &LayerGradientsDialog::typesAsked, this, &WindowMenus::showTypes);
        connect(dialog, &LayerGradientsDialog::pageAsked, this, &WindowMenus::showHelpPart);
        connect(dialog, &LayerGradientsDialog::playAsked, &m_shown, &ShownRun::pressSpace);
        connect(dialog, &LayerGradientsDialog::stepAsked, &m_shown, &ShownRun::stepOnce);
        connect(dialog, &LayerGradientsDialog::resetAsked, &m_shown, &ShownRun::resetIfPossible);
    }
    m_presentation->open(*dialog); // training goes on
}

void WindowMenus::showMap() {
    if (!m_map) {
        m_map = make<GridDialog>(
            m_models.config, &m_window,
            [setup = m_parts.setup](int lane) { return setup->presentScale(lane); },
            [this] { return m_shown.experiment(); });
        connect(m_map, &GridDialog::lanesChosen, m_parts.setup, &SetupPanel::takeCells);
        connect(m_map, &GridDialog::saveAsked, this, [this](const std::string& csv) {
            const QString path = m_files.chooseMap(m_map, csv);
            if (!path.isEmpty()) m_map->tell(tr("Saved as %1").arg(safeText(path.toStdString())));
        });
    }
    m_presentation->open(*m_map); // with the map that it had; training goes on
}

void WindowMenus::showVerification() {
    VerifyOptions options;
    options.device = m_models.config.config().device;
    options.threads = static_cast<int>(m_models.config.config().threads);
    auto* dialog = make<VerifyDialog>(options, &m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->show(); // training goes on
}

void WindowMenus::showAbout() {
    auto* box = make<QMessageBox>(QMessageBox::NoIcon, tr("About Halfscope"), aboutText(),
                                  QMessageBox::Close, &m_window);
    box->setTextFormat(Qt::RichText); // safe: all of it is the program's own text
    box->setIconPixmap(programIcon().pixmap(64));
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setModal(false);
    box->show();
}

} // namespace halfscope
