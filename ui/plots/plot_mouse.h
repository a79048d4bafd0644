// What the pointer does in a plot, in the plot's words: it hovers, drags, clicks or turns the
// wheel.
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
    /// Any button.
    void pressed();
    /// Pixels to the right since the left button was pressed.
    void dragged(int pixels);
    /// The left button, without dragging.
    void clicked(const QPointF& position);
    void doubleClicked();
    void hovered(const QPointF& position, const QPoint& onScreen);
    void left();
    /// Eighths of a degree.
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
