// Hides, enlarges and restores the parts.
#include "ui/window/presentation.h"

#include "ui/images/compare_view.h"
#include "ui/look/owned.h"
#include "ui/look/text_fit.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/figure_strip.h"
#include "ui/panels/runs_panel.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/panels/transport_bar.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_stack.h"
#include "ui/window/window_borders.h"

#include <QAction>
#include <QDockWidget>
#include <QEvent>
#include <QMainWindow>
#include <QMenuBar>
#include <QShortcut>
#include <QSplitter>
#include <QStatusBar>

#include <algorithm>
#include <utility>

namespace halfscope {
namespace {

// Letters of which so many lines fill the window's height, and so many widths its width: a slide
// has about as many.
constexpr double kLines = 27, kLetters = 110;
constexpr double kStripFont = 1.3; // relative to the other letters
constexpr double kGradients = 0.4; // of the width, beside pictures and plots

} // namespace

Presentation::Presentation(const WindowParts& parts, const ViewActions& actions,
                           QMainWindow& window)
    : QObject(&window), m_parts(parts), m_actions(actions), m_window(window) {
    m_escape = make<QShortcut>(QKeySequence(Qt::Key_Escape), &window);
    m_escape->setEnabled(false);
    connect(m_escape, &QShortcut::activated, this, [this] { set(false); });
    connect(parts.strip, &FigureStrip::leaveAsked, this, [this] { set(false); });
    connect(actions.gradients, &QAction::toggled, this, [this] {
        if (m_on) showParts();
    });
    window.installEventFilter(this);
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
    showParts();
    enlarge(factorNow());
    m_parts.page->setFocus(); // Space plays, and nothing has a frame
    m_window.setWindowState(m_states | Qt::WindowFullScreen);
}

void Presentation::end() {
    m_window.setWindowState(m_states);
    m_parts.borders->present(false);
    for (const QPointer<QDockWidget>& dock : std::exchange(m_docks, {}))
        if (dock) dock->show();
    enlarge(1);
    showParts();
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
    m_window.statusBar()->setVisible(!m_on);
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
    m_parts.gradients->setFont(font);
    m_parts.strip->setFont(large ? scaledFont(font, kStripFont) : font);
    m_parts.plots->magnify(factor);
    m_parts.borders->divideCentre();
}

bool Presentation::eventFilter(QObject* watched, QEvent* event) {
    // the window manager makes the window fill the screen a moment later
    if (m_on && event->type() == QEvent::Resize) {
        enlarge(factorNow());
        showParts();
    }
    return QObject::eventFilter(watched, event);
}

} // namespace halfscope
