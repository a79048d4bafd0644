// Hides, enlarges and restores the parts.
#include "ui/window/presentation.h"

#include "ui/dialogs/figure_dialog.h"
#include "ui/images/compare_view.h"
#include "ui/look/owned.h"
#include "ui/look/text_fit.h"
#include "ui/panels/banner.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/figure_strip.h"
#include "ui/panels/runs_panel.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/panels/transport_bar.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_stack.h"
#include "ui/session/experiment_controller.h"
#include "ui/window/headline.h"
#include "ui/window/window_borders.h"

#include <QAbstractItemModel>
#include <QAction>
#include <QBoxLayout>
#include <QDockWidget>
#include <QEvent>
#include <QLabel>
#include <QMainWindow>
#include <QMenuBar>
#include <QShortcut>
#include <QSplitter>
#include <QStatusBar>
#include <QTableView>

#include <algorithm>
#include <utility>

namespace halfscope {
namespace {

// Letters of which so many lines fill the window's height, and so many widths its width: a slide
// has about as many.
constexpr double kLines = 27, kLetters = 110;
constexpr double kStripFont = 1.3; // relative to the other letters
constexpr double kGradients = 0.4; // of the width, beside pictures and plots
constexpr double kDialog = 0.9;    // of the window
constexpr int kNoticeMs = 8000;    // enough to read it twice
constexpr int kReadMs = 2000;      // enough to read it once, for one that comes during a training
constexpr int kMessageLines = 2;   // as many as the sentence that it covers
constexpr QMargins kAroundHeading(4, 4, 4, 0);

} // namespace

Presentation::Presentation(const WindowParts& parts, const ViewActions& actions,
                           ExperimentController& controller, QMainWindow& window)
    : QObject(&window), m_parts(parts), m_actions(actions), m_window(window) {
    m_escape = make<QShortcut>(QKeySequence(Qt::Key_Escape), &window);
    m_escape->setEnabled(false);
    connect(m_escape, &QShortcut::activated, this, [this] { set(false); });
    connect(parts.strip, &FigureStrip::leaveAsked, this, [this] { set(false); });
    connect(parts.plots, &PlotStack::wayBackNeeded, parts.strip, &FigureStrip::offerNewest);
    connect(parts.strip, &FigureStrip::newestAsked, parts.plots,
            [plots = parts.plots] { plots->setFollow(true); });
    connect(actions.gradients, &QAction::toggled, this, [this] {
        if (m_on) showParts();
    });
    for (QWidget* each :
         {static_cast<QWidget*>(&window), parts.heading, static_cast<QWidget*>(parts.headline)})
        each->installEventFilter(this);
    buildMessage();
    connect(&controller, &ExperimentController::stateChanged, this, [this](SessionState state) {
        if (state == SessionState::Running) endMessage();
    });
    connect(parts.banner, &Banner::toldElsewhere, &window,
            [&window](const QString& text) { window.statusBar()->showMessage(text, kNoticeMs); });
}

void Presentation::buildMessage() {
    m_message = make<QLabel>(&m_window);
    m_message->setObjectName(QStringLiteral("presentationMessage"));
    m_message->setTextFormat(Qt::PlainText);
    m_message->setAttribute(Qt::WA_TransparentForMouseEvents);
    m_message->setFrameShape(QFrame::Box);
    m_message->setAlignment(Qt::AlignCenter);
    m_message->setAutoFillBackground(true);
    m_message->setBackgroundRole(QPalette::ToolTipBase);
    m_message->setForegroundRole(QPalette::ToolTipText);
    m_message->hide();
    m_ends.setSingleShot(true);
    connect(&m_ends, &QTimer::timeout, this, &Presentation::endMessage);
    connect(m_window.statusBar(), &QStatusBar::messageChanged, this, [this] {
        m_ends.stop();
        m_told.start();
        showMessage();
    });
    connect(m_parts.plots, &PlotStack::eventClicked, this, &Presentation::endMessage);
    connect(m_parts.events->table()->model(), &QAbstractItemModel::rowsInserted, this,
            &Presentation::endReadMessage);
}

void Presentation::set(bool on) {
    if (on == m_on) return;
    m_on = on;
    m_escape->setEnabled(on);
    for (QAction* action :
         {m_actions.settings, m_actions.right, m_actions.runs, m_actions.fullScreen})
        action->setEnabled(!on);
    on ? begin() : end();
    emit changed(on);
}

void Presentation::begin() {
    m_states = m_window.windowState();
    m_focus = m_window.focusWidget();
    m_columns = m_parts.columns->saveState();
    m_centre = m_parts.centre->saveState();
    m_right = m_parts.right->saveState();
    for (QDockWidget* dock : m_window.findChildren<QDockWidget*>()) {
        if (dock->isHidden()) continue;
        m_docks << dock;
        dock->hide();
    }
    m_parts.borders->present(true);
    m_parts.banner->holdNoticesBack(true);
    placeHeading();
    showParts();
    enlarge(factorNow());
    showMessage();
    m_parts.page->setFocus(); // Space plays, and nothing has a frame
    m_window.setWindowState(m_states | Qt::WindowFullScreen);
}

void Presentation::end() {
    m_window.setWindowState(m_states);
    m_parts.borders->present(false);
    m_parts.banner->holdNoticesBack(false);
    for (const QPointer<QDockWidget>& dock : std::exchange(m_docks, {}))
        if (dock) dock->show();
    placeHeading();
    enlarge(1);
    showParts();
    showMessage();
    m_parts.columns->restoreState(m_columns);
    m_parts.centre->restoreState(m_centre);
    m_parts.right->restoreState(m_right);
    if (m_focus && m_focus->isVisible()) m_focus->setFocus();
    m_parts.borders->divideCentre();
    m_parts.borders->divideRight();
}

void Presentation::showParts() {
    const bool gradients = m_actions.gradients->isChecked();
    // a hidden menu bar would take its shortcuts along
    m_window.menuBar()->setMaximumHeight(m_on ? 0 : QWIDGETSIZE_MAX);
    // a hidden status bar would not take its texts away for a message, and show both afterwards
    m_window.statusBar()->setMaximumHeight(m_on ? 0 : QWIDGETSIZE_MAX);
    m_parts.transport->setVisible(!m_on);
    m_parts.strip->setVisible(m_on);
    m_parts.pictures->setBare(m_on);
    m_parts.setup->setVisible(!m_on && m_actions.settings->isChecked());
    m_parts.scaler->setVisible(!m_on);
    m_parts.events->setVisible(!m_on);
    m_parts.runs->setVisible(!m_on && m_actions.runs->isChecked());
    m_parts.right->setVisible(m_on ? gradients : m_actions.right->isChecked());
    m_parts.gradients->setSizePolicy(QSizePolicy::Preferred,
                                     m_on ? QSizePolicy::Expanding : QSizePolicy::Fixed);
    if (!m_on || !gradients) return;
    const int right = static_cast<int>(kGradients * m_window.width());
    m_parts.columns->setSizes({0, m_window.width() - right, right});
}

void Presentation::placeHeading() {
    const QWidget* column = m_on ? m_parts.page : m_parts.centre->parentWidget();
    const QWidget* below = m_on ? m_parts.columns : m_parts.centre;
    auto& layout = static_cast<QBoxLayout&>(*column->layout());
    layout.insertWidget(layout.indexOf(below), m_parts.heading);
    // Lines that break make the page ask for all the height that its parts would like to have.
    QSizePolicy policy = m_parts.columns->sizePolicy();
    policy.setVerticalPolicy(m_on ? QSizePolicy::Ignored : QSizePolicy::Preferred);
    m_parts.columns->setSizePolicy(policy);
    m_parts.heading->show(); // at once: Qt would do it with a later event
    m_parts.heading->setContentsMargins(m_on ? kAroundHeading : QMargins());
}

void Presentation::showMessage() {
    const QString text = m_window.statusBar()->currentMessage();
    m_message->setVisible(m_on && !text.isEmpty());
    if (m_message->isHidden()) return;
    const QWidget& place = *m_parts.headline;
    m_message->setGeometry({place.mapTo(&m_window, QPoint()), place.size()});
    const FittedLines fitted = largestLines(text, scaledFont(m_window.font(), m_factor),
                                            m_message->contentsRect().width(), kMessageLines);
    m_message->setFont(fitted.font);
    m_message->setText(fitted.lines.join(u'\n'));
    m_message->setAccessibleName(text);
    m_message->raise();
}

void Presentation::endMessage() {
    if (m_on) m_window.statusBar()->clearMessage();
}

void Presentation::endReadMessage() {
    if (m_message->isHidden() || m_ends.isActive()) return;
    m_ends.start(static_cast<int>(std::max<qint64>(0, kReadMs - m_told.elapsed())));
}

double Presentation::factorNow() const {
    const QFontMetrics usual(m_window.font());
    const double byHeight = m_window.height() / (kLines * usual.lineSpacing());
    const double byWidth = m_window.width() / (kLetters * usual.averageCharWidth());
    return std::max(1.2, std::min(byHeight, byWidth));
}

void Presentation::enlarge(double factor) {
    m_factor = factor;
    // a font without any property is the parent's again
    const bool large = factor > 1;
    const QFont font = large ? scaledFont(m_window.font(), factor) : QFont();
    m_parts.centre->parentWidget()->setFont(font);
    m_parts.heading->setFont(font);
    m_parts.banner->setFont(font);
    m_parts.gradients->setFont(font);
    m_parts.strip->setFont(large ? scaledFont(font, kStripFont) : font);
    m_parts.plots->magnify(factor);
    m_parts.borders->divideCentre();
    enlargeDialogs();
}

void Presentation::open(FigureDialog& dialog) {
    enlargeDialogs();
    dialog.show();
    dialog.raise();
    dialog.activateWindow();
}

void Presentation::enlargeDialogs() {
    const QFont font = scaledFont(m_window.font(), m_factor);
    for (FigureDialog* each : m_window.findChildren<FigureDialog*>())
        m_on ? each->present(font, kDialog * m_window.size()) : each->endPresenting();
}

bool Presentation::eventFilter(QObject* watched, QEvent* event) {
    const bool resized = event->type() == QEvent::Resize;
    // the window manager makes the window fill the screen a moment later
    if (m_on && resized && watched == &m_window) {
        enlarge(factorNow());
        showParts();
    }
    if (m_on && (resized || event->type() == QEvent::Move)) showMessage();
    return QObject::eventFilter(watched, event);
}

} // namespace halfscope
