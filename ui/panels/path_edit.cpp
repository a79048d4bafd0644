// The style draws the frame; the shortened text is painted where the line would paint its own.
#include "ui/panels/path_edit.h"

#include <QStyle>
#include <QStyleOptionFrame>
#include <QStylePainter>

namespace halfscope {
namespace {
constexpr int kBesideLetters = 2; // pixels, as QLineEdit has it
} // namespace

QRect PathEdit::room() const {
    QStyleOptionFrame frame;
    initStyleOption(&frame);
    const QRect inside = style()->subElementRect(QStyle::SE_LineEditContents, &frame, this);
    return inside.marginsRemoved(textMargins()).adjusted(kBesideLetters, 0, -kBesideLetters, 0);
}

QString PathEdit::shown() const {
    if (hasFocus()) return text();
    return fontMetrics().elidedText(text(), Qt::ElideLeft, room().width());
}

void PathEdit::paintEvent(QPaintEvent* event) {
    const QString brief = shown();
    if (brief == text()) return QLineEdit::paintEvent(event);
    QStylePainter painter(this);
    QStyleOptionFrame frame;
    initStyleOption(&frame);
    painter.drawPrimitive(QStyle::PE_PanelLineEdit, frame);
    style()->drawItemText(&painter, room(), Qt::AlignLeft | Qt::AlignVCenter, palette(),
                          isEnabled(), brief, QPalette::Text);
}

} // namespace halfscope
