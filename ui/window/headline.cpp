// Chooses a font and as many words as fit.
#include "ui/window/headline.h"

#include "ui/look/text_fit.h"

namespace halfscope {

Headline::Headline(QWidget* parent) : QLabel(parent) {
    setObjectName(QStringLiteral("headline"));
    setTextFormat(Qt::PlainText);
    setAlignment(Qt::AlignCenter);
    setWordWrap(true);
    // a word without an end must not make the window wider
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    // room for two lines, so that a longer sentence does not move the pictures
    setFixedHeight(2 * fontMetrics().lineSpacing() + 4);
}

void Headline::say(const QString& text, double size) {
    m_size = size;
    const QFont plain = parentWidget() ? parentWidget()->font() : font();
    const QFont sized = scaledFont(plain, size);
    const QSize room = contentsRect().size();
    const QFont chosen = heightOf(text, sized, room.width()) <= room.height() ? sized : plain;
    setFont(chosen);
    setText(fitting(text, chosen, room));
    setToolTip(text);
    setAccessibleName(text);
}

void Headline::resizeEvent(QResizeEvent* event) {
    QLabel::resizeEvent(event);
    // setting a text in the middle of a layout would ask for another one
    if (!said().isEmpty())
        QMetaObject::invokeMethod(
            this, [this] { say(said(), m_size); }, Qt::QueuedConnection);
}

} // namespace halfscope
