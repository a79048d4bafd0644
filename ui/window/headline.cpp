// Chooses the font and the longest text that fits.
#include "ui/window/headline.h"

#include "ui/look/text_fit.h"

#include <QEvent>
#include <QRegularExpression>

namespace halfscope {

namespace {
/// Keeps a name such as "B amp-fp16" on one line.
QString unbroken(QString text) {
    static const QRegularExpression kWithin(QStringLiteral("(?<=\\w)-(?=\\w)"));
    static const QRegularExpression kLetter(QStringLiteral("(?<=\\b[A-F]) (?=\\w+-)"));
    return text.replace(kLetter, QChar(QChar::Nbsp)).replace(kWithin, QStringLiteral("-\u2060"));
}
} // namespace

Headline::Headline(QWidget* parent) : QLabel(parent) {
    setObjectName(QStringLiteral("headline"));
    setTextFormat(Qt::PlainText);
    setAlignment(Qt::AlignCenter);
    setWordWrap(true);
    // a very long word must not make the window wider
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    // its own font is a copy, which does not follow the parent's
    if (parent) parent->installEventFilter(this);
    fitHeight();
}

/// Makes room for two lines, so that a longer sentence does not move the pictures.
void Headline::fitHeight() {
    const QFontMetrics metrics(parentWidget() ? parentWidget()->font() : font());
    setFixedHeight(2 * metrics.lineSpacing() + 4);
}

void Headline::say(const QStringList& texts, double size, const QString& note) {
    m_texts = texts;
    m_size = size;
    m_note = note;
    const QFont plain = parentWidget() ? parentWidget()->font() : font();
    const QSize room = contentsRect().size();
    QString shown = fitting(unbroken(texts.last()), plain, room);
    QFont chosen = plain;
    for (const QString& each : texts) {
        const QString text = unbroken(each);
        const QFont sized = scaledFont(plain, size);
        const auto fits = [&](const QFont& font) {
            return heightOf(text, font, room.width()) <= room.height();
        };
        if (!fits(sized) && !fits(plain)) continue;
        shown = text;
        chosen = fits(sized) ? sized : plain;
        break;
    }
    setFont(chosen);
    setText(shown);
    setToolTip(note.isEmpty() ? texts.first() : texts.first() + u'\n' + note);
    setAccessibleName(toolTip());
}

void Headline::resizeEvent(QResizeEvent* event) {
    QLabel::resizeEvent(event);
    sayAgain();
}

bool Headline::eventFilter(QObject* watched, QEvent* event) {
    if (watched == parentWidget() && event->type() == QEvent::FontChange) {
        fitHeight();
        sayAgain();
    }
    return QLabel::eventFilter(watched, event);
}

/// Setting a text in the middle of a layout would ask for another one.
void Headline::sayAgain() {
    if (!m_texts.isEmpty())
        QMetaObject::invokeMethod(
            this, [this] { say(m_texts, m_size, m_note); }, Qt::QueuedConnection);
}

} // namespace halfscope
