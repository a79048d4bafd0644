// The contents of an area that scrolls. While the area itself has the keyboard, a frame shows that:
// an area without one of its own shows nothing.
#pragma once

#include <QEvent>
#include <QPainter>
#include <QScrollArea>
#include <QWidget>

namespace halfscope {

class CardColumn : public QWidget {
public:
    explicit CardColumn(QScrollArea& area) : m_area(area) { area.installEventFilter(this); }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        switch (event->type()) {
        case QEvent::FocusIn:
        case QEvent::FocusOut:
        case QEvent::Resize: update(); break;
        default: break;
        }
        return QWidget::eventFilter(watched, event);
    }
    /// Scrolling moves the contents, but not the frame.
    void moveEvent(QMoveEvent*) override { update(); }
    void paintEvent(QPaintEvent*) override {
        if (!m_area.hasFocus()) return;
        QPainter painter(this);
        painter.setPen(palette().color(QPalette::Highlight));
        painter.drawRect(QRect(-pos(), m_area.viewport()->size()).adjusted(0, 0, -1, -1));
    }

private:
    QScrollArea& m_area; ///< outlives its contents
};

} // namespace halfscope
