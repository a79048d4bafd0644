// Finds the part that has the keyboard, and the first control of another one.
#include "ui/window/pane_keys.h"

#include "ui/images/compare_view.h"
#include "ui/look/owned.h"
#include "ui/panels/banner.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/runs_panel.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/panels/transport_bar.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_stack.h"

#include <QAbstractSpinBox>
#include <QComboBox>
#include <QDockWidget>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMainWindow>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QShortcut>

namespace halfscope {
namespace {

bool takesTab(const QWidget& widget) {
    return (widget.focusPolicy() & Qt::TabFocus) && widget.isEnabled() && widget.isVisible();
}

/// Whether somebody may be typing in a control.
bool takesText(const QWidget& widget) {
    const auto* box = qobject_cast<const QComboBox*>(&widget);
    return qobject_cast<const QAbstractSpinBox*>(&widget) ||
           qobject_cast<const QLineEdit*>(&widget) || (box && box->isEditable());
}

/// Returns the control that a part names, Play among the buttons, or the one that Tab reaches
/// first; null when there is none to be seen. An area that scrolls has little to say: it is taken
/// only where there is nothing else, also one that Tab leaves out.
QWidget* firstStop(QWidget* pane) {
    if (!pane->isVisible()) return nullptr;
    if (pane->focusProxy()) return pane->focusProxy();
    // no focus proxy, which Tab would follow, too: past the buttons before it
    if (const auto* bar = qobject_cast<TransportBar*>(pane); bar && takesTab(*bar->play()))
        return bar->play();
    QWidget* area = nullptr;
    QWidget* each = pane;
    do {
        if ((each == pane || pane->isAncestorOf(each)) && takesTab(*each)) {
            if (!qobject_cast<QScrollArea*>(each)) return each;
            if (!area) area = each;
        }
        each = each->nextInFocusChain();
    } while (each != pane);
    const auto* cut = qobject_cast<QScrollArea*>(pane);
    return !area && cut && cut->verticalScrollBar()->maximum() > 0 ? pane : area;
}

/// Gives a control the keyboard, and scrolls to it. Styles draw a ring around it only once they
/// know that the keyboard leads there, which Qt tells them of Tab alone.
void goTo(QWidget& stop) {
    stop.window()->setAttribute(Qt::WA_KeyboardFocusChange);
    stop.setFocus(Qt::TabFocusReason);
    for (QWidget* around = stop.parentWidget(); around; around = around->parentWidget())
        if (auto* area = qobject_cast<QScrollArea*>(around)) area->ensureWidgetVisible(&stop);
}

} // namespace

PaneKeys::PaneKeys(const WindowParts& parts, QMainWindow& window)
    : QObject(&window), m_parts(parts), m_window(window) {
    const auto onKeys = [this](const QKeySequence& keys, int by) {
        connect(make<QShortcut>(keys, &m_window), &QShortcut::activated, this,
                [this, by] { go(by); });
    };
    onKeys(Qt::Key_F6, 1);
    onKeys(Qt::SHIFT | Qt::Key_F6, -1);
    m_parts.banner->setHeir(*m_parts.transport->play());
    m_window.installEventFilter(this);
}

void PaneKeys::leadToPlay() {
    const QWidget* focus = m_window.focusWidget();
    QPushButton* play = m_parts.transport->play();
    if (focus && (focus == m_parts.page || !m_parts.page->isAncestorOf(focus))) return;
    if (focus && takesText(*focus)) return;
    if (play->isEnabled() && play->isVisible())
        play->setFocus(Qt::OtherFocusReason);
    else
        m_parts.page->setFocus(Qt::OtherFocusReason);
}

/// Esc has come up to the window from a part that has no other use for it.
bool PaneKeys::eventFilter(QObject* watched, QEvent* event) {
    if (watched == &m_window && event->type() == QEvent::KeyPress &&
        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape && m_parts.banner->isVisible()) {
        m_parts.banner->dismiss();
        return true;
    }
    return QObject::eventFilter(watched, event);
}

QList<QWidget*> PaneKeys::panes() const {
    QList<QWidget*> panes;
    for (QDockWidget* dock : m_window.findChildren<QDockWidget*>())
        panes << dock;
    return panes << m_parts.transport << m_parts.banner << m_parts.setup << m_parts.pictures
                 << m_parts.plots << m_parts.scaler << m_parts.runs << m_parts.gradients
                 << m_parts.events;
}

void PaneKeys::go(int by) {
    const QList<QWidget*> all = panes();
    const QWidget* focus = m_window.focusWidget();
    qsizetype now = by > 0 ? -1 : 0;
    for (qsizetype i = 0; i < all.size(); ++i)
        if (focus && (focus == all[i] || all[i]->isAncestorOf(focus))) now = i;
    for (qsizetype i = 1; i <= all.size(); ++i) {
        const qsizetype at = (now + by * i + 2 * all.size()) % all.size();
        if (QWidget* stop = firstStop(all[at])) return goTo(*stop);
    }
}

} // namespace halfscope
