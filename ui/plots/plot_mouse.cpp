// Tells clicks from drags.
#include "ui/plots/plot_mouse.h"

#include <qcustomplot.h>

#include <QContextMenuEvent>
#include <QMouseEvent>
#include <QWheelEvent>

#include <cstdlib>
#include <utility>

namespace halfscope {

namespace {
constexpr int kDragStart = 4; // pixels: a shorter movement is a click with an unsteady hand
} // namespace

PlotMouse::PlotMouse(QCustomPlot& plot) {
    plot.setMouseTracking(true);
    plot.installEventFilter(this);
    connect(&plot, &QCustomPlot::mousePress, this, [this](QMouseEvent* event) { press(*event); });
    connect(&plot, &QCustomPlot::mouseMove, this, [this](QMouseEvent* event) { move(*event); });
    connect(&plot, &QCustomPlot::mouseRelease, this,
            [this](QMouseEvent* event) { release(*event); });
    connect(&plot, &QCustomPlot::mouseWheel, this, [this](QWheelEvent* event) {
        Q_EMIT wheelTurned(event->position(), event->angleDelta());
        event->accept();
    });
    connect(&plot, &QCustomPlot::mouseDoubleClick, this, &PlotMouse::doubleClicked);
}

void PlotMouse::press(const QMouseEvent& event) {
    Q_EMIT pressed();
    if (event.button() != Qt::LeftButton) return;
    m_pressed = event.pos();
    m_dragging = false;
}

void PlotMouse::move(const QMouseEvent& event) {
    if (!m_pressed) {
        Q_EMIT hovered(event.position(), event.globalPosition().toPoint());
        return;
    }
    const int moved = event.pos().x() - m_pressed->x();
    m_dragging = m_dragging || std::abs(moved) >= kDragStart;
    if (m_dragging) Q_EMIT dragged(moved);
}

void PlotMouse::release(const QMouseEvent& event) {
    const bool click = m_pressed && !std::exchange(m_dragging, false);
    m_pressed.reset();
    if (click && event.button() == Qt::LeftButton) Q_EMIT clicked(event.position());
}

bool PlotMouse::eventFilter(QObject* object, QEvent* event) {
    if (event->type() == QEvent::Leave) Q_EMIT left();
    // QCustomPlot passes no mouse event on to its parent
    if (event->type() == QEvent::ContextMenu) {
        Q_EMIT menuAsked(static_cast<QContextMenuEvent*>(event)->globalPos());
        return true;
    }
    return QObject::eventFilter(object, event);
}

} // namespace halfscope
