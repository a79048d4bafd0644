// Leaves out words one by one from the end until the rest fits.
#include "ui/look/text_fit.h"

#include <QFontMetrics>
#include <QSize>
#include <QTextDocument>
#include <QTextLayout>

#include <algorithm>

namespace halfscope {

QFont scaledFont(const QFont& font, double factor) {
    QFont scaled = font;
    if (font.pointSizeF() > 0)
        scaled.setPointSizeF(font.pointSizeF() * factor);
    else
        scaled.setPixelSize(std::max(1, qRound(font.pixelSize() * factor)));
    return scaled;
}

int heightOf(const QString& text, const QFont& font, int width) {
    constexpr int kAnyHeight = 1 << 20;
    const QRect room(0, 0, width, kAnyHeight);
    return QFontMetrics(font).boundingRect(room, Qt::TextWordWrap, text).height();
}

QString fitting(const QString& text, const QFont& font, const QSize& room) {
    QString shown = text;
    for (qsizetype end = text.size();
         end > 0 && heightOf(shown, font, room.width()) > room.height();) {
        end = text.lastIndexOf(QLatin1Char(' '), end - 1);
        shown = text.left(std::max<qsizetype>(end, 0)) + QChar(0x2026);
    }
    return shown;
}

QStringList fittingLines(const QString& text, const QFont& font, int width, int most) {
    const QFontMetrics metrics(font);
    QTextLayout layout(fitting(text, font, {width, most * metrics.lineSpacing()}), font);
    QStringList lines;
    layout.beginLayout();
    for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine()) {
        line.setLineWidth(width);
        const QString words = layout.text().mid(line.textStart(), line.textLength()).trimmed();
        lines << metrics.elidedText(words, Qt::ElideRight, width);
    }
    layout.endLayout();
    return lines;
}

QString widest(const QStringList& texts, const QFontMetrics& metrics, int width) {
    for (const QString& text : texts)
        if (metrics.horizontalAdvance(text) <= width) return text;
    return texts.isEmpty() ? QString() : metrics.elidedText(texts.back(), Qt::ElideMiddle, width);
}

QString wrappedTip(const QString& text) {
    constexpr qsizetype kShort = 60; // characters
    constexpr qsizetype kLongest = 4000, kEnd = 1000;
    if (text.size() <= kShort && !Qt::mightBeRichText(text)) return text;
    if (text.size() <= kLongest) return Qt::convertFromPlainText(text, Qt::WhiteSpaceNormal);
    return wrappedTip(text.left(kLongest - kEnd - 1) + QChar(0x2026) + text.right(kEnd));
}

} // namespace halfscope
