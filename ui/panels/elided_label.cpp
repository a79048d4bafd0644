// Draws the text itself, as the style would.
#include "ui/panels/elided_label.h"

#include "ui/look/text_fit.h"

#include <QHelpEvent>
#include <QStyle>
#include <QStylePainter>
#include <QToolTip>

#include <algorithm>

namespace halfscope {
namespace {
constexpr int kWidest = 60, kNarrowest = 4; // characters
} // namespace

ElidedLabel::ElidedLabel(QWidget* parent) : QLabel(parent) { setTextFormat(Qt::PlainText); }

QSize ElidedLabel::sizeHint() const {
    const QSize whole = QLabel::sizeHint();
    return {std::min(whole.width(), kWidest * fontMetrics().averageCharWidth()), whole.height()};
}

QSize ElidedLabel::minimumSizeHint() const {
    const QSize whole = QLabel::minimumSizeHint();
    return {std::min(whole.width(), kNarrowest * fontMetrics().averageCharWidth()), whole.height()};
}

QString ElidedLabel::shown() const {
    const int room = contentsRect().width() - 2 * margin() - std::max(indent(), 0);
    return fontMetrics().elidedText(text(), Qt::ElideMiddle, room);
}

bool ElidedLabel::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip && toolTip().isEmpty() && shown() != text()) {
        QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), wrappedTip(text()), this);
        return true;
    }
    return QLabel::event(event);
}

void ElidedLabel::paintEvent(QPaintEvent*) {
    QStylePainter painter(this);
    drawFrame(&painter);
    const int side = margin();
    QRect room = contentsRect().adjusted(side, side, -side, -side);
    room.setLeft(room.left() + std::max(indent(), 0));
    style()->drawItemText(&painter, room, static_cast<int>(alignment()), palette(), isEnabled(),
                          shown(), foregroundRole());
}

} // namespace halfscope
