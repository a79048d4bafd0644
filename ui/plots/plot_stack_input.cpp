// Mouse, wheel, keys and menu of the plots.
#include "ui/plots/plot_stack.h"

#include "ui/look/owned.h"
#include "ui/look/text_fit.h"
#include "ui/plots/readout_item.h"

#include <qcustomplot.h>

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {
constexpr double kWheelStep = 1.25; // zoom per notch of 120 eighths of a degree
constexpr int kDragStart = 4;       // pixels: less is a click with an unsteady hand
} // namespace

void PlotStack::connectMouse() {
    m_plot->setMouseTracking(true);
    m_plot->installEventFilter(this);
    connect(m_plot.get(), &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
        setFocus(Qt::MouseFocusReason);
        if (event->button() != Qt::LeftButton) return;
        m_pressed = event->pos();
        m_dragging = false;
        m_dragFrom = m_from;
        m_dragTo = m_to;
    });
    connect(m_plot.get(), &QCustomPlot::mouseMove, this, &PlotStack::pointerMoved);
    connect(m_plot.get(), &QCustomPlot::mouseRelease, this, [this](QMouseEvent* event) {
        const bool click = m_pressed && !m_dragging;
        m_pressed.reset();
        m_dragging = false;
        if (!click || event->button() != Qt::LeftButton) return;
        if (const auto index = m_events->eventAt(event->position()))
            Q_EMIT eventClicked(*index);
        else if (m_lastStep > 0)
            pinOrUnpin(nearestStep(event->position()));
    });
    connect(m_plot.get(), &QCustomPlot::mouseWheel, this, [this](QWheelEvent* event) {
        const QPoint turned = event->angleDelta();
        if (turned.y() != 0)
            zoom(stepAt(event->position()), std::pow(kWheelStep, turned.y() / 120.0));
        else if (turned.x() != 0)
            setRange(m_from - turned.x() / 1200.0 * (m_to - m_from),
                     m_to - turned.x() / 1200.0 * (m_to - m_from));
        event->accept();
    });
    connect(m_plot.get(), &QCustomPlot::mouseDoubleClick, this, [this] {
        setFollow(true);
        refresh();
    });
}

qint64 PlotStack::nearestStep(const QPointF& position) const {
    return std::clamp<qint64>(std::llround(stepAt(position)), std::min<qint64>(1, m_lastStep),
                              m_lastStep);
}

void PlotStack::pointerMoved(QMouseEvent* event) {
    if (m_pressed) {
        const int moved = event->pos().x() - m_pressed->x();
        m_dragging = m_dragging || std::abs(moved) >= kDragStart;
        if (m_dragging) {
            const double shift = moved * (m_dragTo - m_dragFrom) / plotWidth();
            setRange(m_dragFrom - shift, m_dragTo - shift);
        }
        return;
    }
    const auto index = m_events->eventAt(event->position());
    const QString tip = wrappedTip(index ? m_events->text(*index) : helpAt(event->pos()));
    if (tip.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(event->globalPosition().toPoint(), tip, m_plot.get());
    if (m_lastStep == 0) return;
    moveCrosshair(index ? m_events->step(*index) : nearestStep(event->position()));
}

void PlotStack::pinOrUnpin(qint64 step) {
    pinCrosshair(m_pinned == step ? std::nullopt : std::optional(step));
}

QString PlotStack::helpAt(const QPoint& position) const {
    const int header = ReadoutItem::heightFor(m_plot->font());
    for (const StackedPlot* shown : shownPlots()) {
        const QRect plot = shown->rect().rect();
        if (QRect(plot.left(), plot.top() - header, plot.width(), header).contains(position))
            return shown->explanation();
    }
    const QRect events = m_eventRect->rect();
    if (QRect(0, events.top(), events.left(), events.height()).contains(position))
        return tr("What happened to each lane: \u25bc overflow, \u25b2 growth of the loss scale, "
                  "\u25ac fall of it, \u25c6 loss not finite, \u2691 a changed setting");
    return {};
}

bool PlotStack::eventFilter(QObject* object, QEvent* event) {
    if (object == m_plot.get() && event->type() == QEvent::Leave) moveCrosshair(m_pinned);
    // QCustomPlot passes nothing of the mouse on to its parent
    if (object == m_plot.get() && event->type() == QEvent::ContextMenu) {
        contextMenuEvent(static_cast<QContextMenuEvent*>(event));
        return true;
    }
    return QWidget::eventFilter(object, event);
}

void PlotStack::keyPressEvent(QKeyEvent* event) {
    const qint64 newest = m_lastStep;
    // a whole step, or about a hundredth of what is visible
    const auto stride = std::max<qint64>(
        1, event->modifiers() & Qt::ShiftModifier ? std::llround((m_to - m_from) / 100) : 1);
    std::optional<qint64> target;
    const qint64 now = m_crosshair.value_or(newest);
    switch (event->key()) {
    case Qt::Key_Left: target = now - stride; break;
    case Qt::Key_Right: target = now + stride; break;
    case Qt::Key_Home: target = std::llround(std::max(m_from, 1.0)); break;
    case Qt::Key_End: target = std::llround(m_to); break;
    case Qt::Key_Plus:
    case Qt::Key_Equal: zoom(static_cast<double>(now), kWheelStep); return;
    case Qt::Key_Minus: zoom(static_cast<double>(now), 1 / kWheelStep); return;
    case Qt::Key_F:
        setFollow(true);
        refresh();
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_crosshair) pinOrUnpin(*m_crosshair);
        return;
    case Qt::Key_Escape:
        if (m_crosshair) {
            pinCrosshair(std::nullopt);
            return;
        }
        break;
    default: break;
    }
    if (!target || newest == 0) {
        QWidget::keyPressEvent(event);
        return;
    }
    const qint64 reached = std::clamp(*target, qint64{1}, newest);
    const auto step = static_cast<double>(reached);
    if (step < m_from || step > m_to) {
        const double half = (m_to - m_from) / 2;
        setRange(step - half, step + half);
    }
    moveCrosshair(reached);
    describe(true);
}

void PlotStack::contextMenuEvent(QContextMenuEvent* event) {
    auto* menu = make<QMenu>(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    QAction* follow = menu->addAction(tr("Follow the newest step"));
    follow->setCheckable(true);
    follow->setChecked(m_following);
    connect(follow, &QAction::toggled, this, [this](bool on) {
        setFollow(on);
        refresh();
    });
    menu->addSeparator();
    menu->addAction(tr("Save picture of the plots…"), this, &PlotStack::saveRequested);
    menu->popup(event->globalPos()); // training is drawn meanwhile
}

void PlotStack::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    describe(true);
    update();
}

void PlotStack::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    update();
}

} // namespace halfscope
