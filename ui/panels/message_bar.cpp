// Draws a message that is too long itself, as QStatusBar draws it.
#include "ui/panels/message_bar.h"

#include "ui/look/text_fit.h"

#include <QHelpEvent>
#include <QStyleOption>
#include <QStylePainter>
#include <QToolTip>

#include <algorithm>

namespace halfscope {

MessageBar::MessageBar(QWidget* parent) : QStatusBar(parent) {
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed); // as QMainWindow makes its own
}

QRect MessageBar::room() const {
    constexpr int kLeft = 6, kGap = 12; // pixels
    int right = width();
    for (const QWidget* each : findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly))
        if (each->isVisible()) right = std::min(right, each->x());
    return {kLeft, 0, right - kGap - kLeft, height()};
}

QString MessageBar::shown() const {
    const QString text = currentMessage();
    const int width = room().width(); // none before the first layout
    if (width <= 0 || fontMetrics().horizontalAdvance(text) <= width) return text;
    return fittingLines(text, font(), width, 1).join(QString());
}

/// Qt hides what a message covers only if that is visible when the message comes.
void MessageBar::showEvent(QShowEvent* event) {
    QStatusBar::showEvent(event);
    if (!event->spontaneous() && !currentMessage().isEmpty()) hideOrShow();
}

bool MessageBar::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip && shown() != currentMessage()) {
        QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(),
                           wrappedTip(currentMessage()), this);
        return true;
    }
    return QStatusBar::event(event);
}

void MessageBar::paintEvent(QPaintEvent* event) {
    const QString text = shown();
    if (text == currentMessage()) return QStatusBar::paintEvent(event);
    QStylePainter painter(this);
    QStyleOption option;
    option.initFrom(this);
    painter.drawPrimitive(QStyle::PE_PanelStatusBar, option);
    painter.setPen(palette().windowText().color());
    painter.drawText(room(), Qt::AlignLeading | Qt::AlignVCenter | Qt::TextSingleLine, text);
}

} // namespace halfscope
