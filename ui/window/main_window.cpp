// Layout, which widget a key goes to, and what is remembered of both. Menus are in
// main_window_menus.cpp, what happens to a run is in main_window_run.cpp.
#include "ui/window/main_window.h"

#include "ui/images/compare_view.h"
#include "ui/look/icons.h"
#include "ui/look/owned.h"
#include "ui/look/text_fit.h"
#include "ui/panels/banner.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/panels/transport_bar.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_stack.h"

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QCloseEvent>
#include <QComboBox>
#include <QDragEnterEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QSettings>
#include <QSplitter>
#include <QStatusBar>
#include <QToolTip>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace halfscope {
namespace {
// Raised when the layout changes: older saved layouts are then forgotten.
constexpr int kLayoutVersion = 1;
// Of the middle column: pictures beside a full set of plots.
constexpr double kMostPictures = 0.42;
// Of the right column: counters above the events.
constexpr double kMostCounters = 0.62, kMostBesideGradients = 0.42;
} // namespace

MainWindow::MainWindow(WindowOptions options) : m_options(std::move(options)) {
    setObjectName(QStringLiteral("mainWindow"));
    setWindowTitle(tr("Halfscope"));
    setWindowIcon(programIcon());
    setAcceptDrops(true);
    resize(1280, 800);
    m_controller = std::make_unique<ExperimentController>(m_options.factory);
    buildCentre();
    buildStatusBar();
    buildMenus();
    connectPanels();
    connectSession();
    if (m_options.remember) restoreLayout();
    chooseTheme(m_options.theme);
    qApp->installEventFilter(this);
}

MainWindow::~MainWindow() {
    qApp->removeEventFilter(this);
    m_frameTimer.stop();
    m_controller.reset(); // joins the thread before the models go
}

void MainWindow::buildCentre() {
    auto* page = make<QWidget>(this);
    // a click beside the boxes ends what is typed in one, and Space means Play again
    page->setFocusPolicy(Qt::ClickFocus);
    auto* column = make<QVBoxLayout>(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_transport = make<TransportBar>(page);
    m_banner = make<Banner>(page);
    m_columns = make<QSplitter>(Qt::Horizontal, page);
    column->addWidget(m_transport);
    column->addWidget(m_banner);
    column->addWidget(m_columns, 1);

    m_setup = make<SetupPanel>(m_config, m_columns);
    m_setup->setMinimumWidth(270);

    auto* middle = make<QWidget>(m_columns);
    auto* middleColumn = make<QVBoxLayout>(middle);
    middleColumn->setContentsMargins(4, 4, 4, 0);
    middleColumn->setSpacing(4);
    m_headline = make<QLabel>(middle);
    m_headline->setObjectName(QStringLiteral("headline"));
    m_headline->setTextFormat(Qt::PlainText);
    m_headline->setAlignment(Qt::AlignCenter);
    m_headline->setWordWrap(true);
    // room for two lines, so that a longer sentence does not move the pictures
    m_headline->setFixedHeight(2 * m_headline->fontMetrics().lineSpacing() + 4);
    m_centre = make<QSplitter>(Qt::Vertical, middle);
    m_pictures = make<CompareView>(m_centre);
    m_plots = make<PlotStack>(m_centre);
    m_centre->setChildrenCollapsible(false);
    connect(m_centre, &QSplitter::splitterMoved, this, [this] { m_dividedByHand = true; });
    middleColumn->addWidget(m_headline);
    middleColumn->addWidget(m_centre, 1);

    m_right = make<QSplitter>(Qt::Vertical, m_columns);
    m_scaler = make<ScalerPanel>(m_right);
    auto* lower = make<QWidget>(m_right);
    auto* lowerColumn = make<QVBoxLayout>(lower);
    lowerColumn->setContentsMargins(0, 0, 0, 0);
    m_gradients = make<GradientView>(lower);
    m_gradients->hide();
    m_eventPanel = make<EventPanel>(m_events, lower);
    lowerColumn->addWidget(m_gradients);
    lowerColumn->addWidget(m_eventPanel, 1);
    m_right->setMinimumWidth(230);
    connect(m_right, &QSplitter::splitterMoved, this, [this] { m_rightByHand = true; });
    m_right->setChildrenCollapsible(false);
    m_right->setStretchFactor(0, 0);
    m_right->setStretchFactor(1, 1);
    m_columns->setStretchFactor(0, 0);
    m_columns->setStretchFactor(1, 1);
    m_columns->setStretchFactor(2, 0);
    m_columns->setSizes({kSetupWidth, 700, kRightWidth});
    setCentralWidget(page);
    page->setFocus();
}

void MainWindow::buildStatusBar() {
    m_stateLabel = make<QLabel>(this);
    m_rateLabel = make<QLabel>(this);
    m_deviceLabel = make<QLabel>(this);
    m_deviceLabel->setObjectName(QStringLiteral("statusDevice"));
    m_stateLabel->setObjectName(QStringLiteral("state"));
    m_stateLabel->setIndent(6);
    m_rateLabel->setContentsMargins(8, 0, 6, 0);
    statusBar()->addWidget(m_stateLabel, 1);
    statusBar()->addPermanentWidget(m_deviceLabel);
    // room for three digits, so that a new one is not cut off until the next layout
    const QMargins margins = m_rateLabel->contentsMargins();
    m_rateLabel->setMinimumWidth(
        m_rateLabel->fontMetrics().horizontalAdvance(tr("%1 frames/s").arg(999)) + margins.left() +
        margins.right());
    statusBar()->addPermanentWidget(m_rateLabel);
    statusBar()->setSizeGripEnabled(false);
}

void MainWindow::changeEvent(QEvent* event) {
    // the window manager and a remembered layout change it too
    if (event->type() == QEvent::WindowStateChange && m_fullScreenAction)
        m_fullScreenAction->setChecked(isFullScreen());
    QMainWindow::changeEvent(event);
}

void MainWindow::connectPanels() {
    connect(m_transport, &TransportBar::presetChosen, this, &MainWindow::openPreset);
    connect(m_transport, &TransportBar::resetRequested, this, &MainWindow::restart);
    connect(m_transport, &TransportBar::playRequested, this, &MainWindow::playOrPause);
    connect(m_transport, &TransportBar::stepRequested, this, &MainWindow::stepOnce);
    connect(m_transport, &TransportBar::stopStepChosen, this, &MainWindow::setStopStep);
    connect(m_transport, &TransportBar::themeChosen, this, &MainWindow::chooseTheme);
    connect(m_transport, &TransportBar::helpRequested, this, &MainWindow::showHelp);
    connect(m_scaler, &ScalerPanel::scaleChosen, this, &MainWindow::setScale);
    connect(m_eventPanel, &EventPanel::stepChosen, m_plots, &PlotStack::showStep);
    connect(m_plots, &PlotStack::eventClicked, m_eventPanel, &EventPanel::choose);
    connect(m_plots, &PlotStack::saveRequested, this, &MainWindow::savePlots);
}

void MainWindow::divideCentre() {
    if (!m_headline->toolTip().isEmpty()) setHeadline(m_headline->toolTip(), m_headlineSize);
    if (m_dividedByHand) return;
    const int room = m_centre->height() - m_centre->handleWidth();
    const int pictures =
        m_pictures->usefulHeight(m_centre->width(), static_cast<int>(kMostPictures * room));
    if (m_centre->sizes().front() != pictures) m_centre->setSizes({pictures, room - pictures});
}

void MainWindow::divideRight() {
    const int room = m_right->height() - m_right->handleWidth();
    const double most = m_gradients->isHidden() ? kMostCounters : kMostBesideGradients;
    const int counters = std::min(m_scaler->contentHeight(), static_cast<int>(most * room));
    if (m_rightByHand || room <= 0 || m_right->sizes().front() == counters) return;
    m_right->setSizes({counters, room - counters});
}

MainWindow::KeyGoes MainWindow::whereGoes(const QKeyEvent& key, const QObject& watched) {
    const auto* spin = qobject_cast<const QAbstractSpinBox*>(&watched);
    const auto* line =
        spin ? spin->findChild<QLineEdit*>() : qobject_cast<const QLineEdit*>(&watched);
    // what is not typed any more cannot be taken back letter by letter: the setting is
    if (key.matches(QKeySequence::Undo) || key.matches(QKeySequence::Redo))
        return line && !line->isModified() ? KeyGoes::Past : KeyGoes::AsUsual;
    if ((key.modifiers() & ~Qt::KeypadModifier) != Qt::NoModifier) return KeyGoes::AsUsual;
    const bool space = key.key() == Qt::Key_Space;
    // A focused button, box or list keeps the plain keys that it answers itself.
    if (qobject_cast<const QAbstractButton*>(&watched) && space) return KeyGoes::ToWidget;
    const bool function = key.key() >= Qt::Key_F1 && key.key() <= Qt::Key_F35;
    if (qobject_cast<const QComboBox*>(&watched) && !function) return KeyGoes::ToWidget;
    // a number has no spaces: there the key plays, too
    const bool number = spin || qobject_cast<const QAbstractSpinBox*>(watched.parent());
    return number && space ? KeyGoes::Past : KeyGoes::AsUsual;
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
    // once the splitter has laid out its parts itself
    if (watched == m_centre && event->type() == QEvent::Resize)
        QMetaObject::invokeMethod(this, &MainWindow::divideCentre, Qt::QueuedConnection);
    if (watched == m_right && event->type() == QEvent::Resize)
        QMetaObject::invokeMethod(this, &MainWindow::divideRight, Qt::QueuedConnection);
    if (event->type() == QEvent::ToolTip) {
        const auto* widget = qobject_cast<QWidget*>(watched);
        const auto* help = static_cast<QHelpEvent*>(event);
        const QString tip = widget ? wrappedTip(widget->toolTip()) : QString();
        if (!tip.isEmpty() && tip != widget->toolTip()) {
            QToolTip::showText(help->globalPos(), tip, qobject_cast<QWidget*>(watched));
            return true;
        }
    }
    // a box would take the address of a dropped file for text to insert
    if (event->type() == QEvent::DragEnter && qobject_cast<QLineEdit*>(watched) &&
        isAncestorOf(static_cast<QWidget*>(watched)) &&
        static_cast<QDragEnterEvent*>(event)->mimeData()->hasUrls()) {
        event->ignore(); // the window gets it then
        return true;
    }
    if (event->type() == QEvent::ShortcutOverride) {
        const KeyGoes goes = whereGoes(*static_cast<QKeyEvent*>(event), *watched);
        if (goes != KeyGoes::AsUsual) {
            event->setAccepted(goes == KeyGoes::ToWidget);
            return true;
        }
    }
    return QMainWindow::eventFilter(watched, event);
}

void MainWindow::chooseTheme(Theme theme) {
    m_options.theme = theme;
    applyTheme(*qApp, theme);
    m_transport->setTheme(theme);
    m_transport->setFigures(m_run); // in the new colours
}

void MainWindow::restoreLayout() {
    const QSettings settings;
    if (settings.value(QStringLiteral("layout/version")).toInt() != kLayoutVersion) return;
    restoreGeometry(settings.value(QStringLiteral("layout/geometry")).toByteArray());
    m_columns->restoreState(settings.value(QStringLiteral("layout/columns")).toByteArray());
    m_dividedByHand = settings.value(QStringLiteral("layout/byHand")).toBool();
    if (m_dividedByHand)
        m_centre->restoreState(settings.value(QStringLiteral("layout/centre")).toByteArray());
    m_settingsAction->setChecked(
        settings.value(QStringLiteral("layout/settingsShown"), true).toBool());
    m_gradientsAction->setChecked(
        settings.value(QStringLiteral("layout/gradientsShown"), false).toBool());
    m_previousAction->setChecked(settings.value(QStringLiteral("plots/previous")).toBool());
    m_plots->setSmoothing(settings.value(QStringLiteral("plots/smoothing")).toDouble());
    m_rightByHand = settings.value(QStringLiteral("layout/rightByHand")).toBool();
    if (m_rightByHand)
        m_right->restoreState(settings.value(QStringLiteral("layout/right")).toByteArray());
}

void MainWindow::saveLayout() const {
    QSettings settings;
    settings.setValue(QStringLiteral("layout/version"), kLayoutVersion);
    settings.setValue(QStringLiteral("layout/geometry"), saveGeometry());
    settings.setValue(QStringLiteral("layout/columns"), m_columns->saveState());
    settings.setValue(QStringLiteral("layout/byHand"), m_dividedByHand);
    settings.setValue(QStringLiteral("layout/centre"), m_centre->saveState());
    settings.setValue(QStringLiteral("layout/rightByHand"), m_rightByHand);
    settings.setValue(QStringLiteral("layout/right"), m_right->saveState());
    settings.setValue(QStringLiteral("layout/settingsShown"), m_settingsAction->isChecked());
    settings.setValue(QStringLiteral("layout/gradientsShown"), m_gradientsAction->isChecked());
    settings.setValue(QStringLiteral("plots/smoothing"), m_plots->smoothing());
    settings.setValue(QStringLiteral("plots/previous"), m_previousAction->isChecked());
    settings.setValue(QStringLiteral("theme"), nameOf(m_options.theme));
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (!mayClose()) return event->ignore();
    m_frameTimer.stop();
    if (m_options.remember) saveLayout();
    m_controller->pause();
    QMainWindow::closeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    if (urls.size() == 1 && urls.front().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    if (urls.isEmpty()) return;
    event->acceptProposedAction();
    tryFile(urls.front().toLocalFile());
}

} // namespace halfscope
