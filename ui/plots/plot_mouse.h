// Turns events of the pointer in a plot into signals: it hovers, drags, clicks or turns the wheel.
#pragma once

#include <QObject>
#include <QPoint>
#include <QPointF>

#include <optional>

class QCustomPlot;
class QMouseEvent;

namespace halfscope {

class PlotMouse : public QObject {
    Q_OBJECT
public:
    /// Watches the plot, which must outlive it.
    explicit PlotMouse(QCustomPlot&);

signals:
    /// Emitted for any button.
    void pressed();
    /// Reports the pixels to the right since the left button was pressed.
    void dragged(int pixels);
    /// Emitted for the left button, when nothing was dragged.
    void clicked(const QPointF& position);
    void doubleClicked();
    void hovered(const QPointF& position, const QPoint& onScreen);
    void left();
    /// `angle` is in eighths of a degree.
    void wheelTurned(const QPointF& position, const QPoint& angle);
    void menuAsked(const QPoint& onScreen);

protected:
    bool eventFilter(QObject*, QEvent*) override;

private:
    void press(const QMouseEvent&);
    void move(const QMouseEvent&);
    void release(const QMouseEvent&);

    std::optional<QPoint> m_pressed;
    bool m_dragging = false;
};

} // namespace halfscope
