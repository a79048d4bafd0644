// Leaves out words one by one from the end until the rest fits.
#include "ui/look/text_fit.h"

#include <QFontMetrics>
#include <QSize>
#include <QTextDocument>
#include <QTextLayout>

#include <algorithm>

namespace halfscope {

namespace {

/// The first lines of a text.
struct Broken {
    QStringList lines;
    qsizetype rest = 0; ///< where what stands in no line begins
};

/// Counts lines: their heights are rounded, and three may be higher than three times one.
Broken broken(const QString& text, const QFont& font, int width, int most) {
    QTextLayout layout(text, font);
    Broken made;
    layout.beginLayout();
    while (made.lines.size() < most) {
        QTextLine line = layout.createLine();
        if (!line.isValid()) break;
        line.setLineWidth(width);
        made.lines << text.mid(line.textStart(), line.textLength()).trimmed();
        made.rest = line.textStart() + line.textLength();
    }
    layout.endLayout();
    return made;
}

} // namespace

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
    QString shown = text;
    Broken made = broken(shown, font, width, most);
    for (qsizetype end = made.rest; made.rest < shown.size() && end > 0;) {
        end = text.lastIndexOf(QLatin1Char(' '), end - 1);
        shown = text.left(std::max<qsizetype>(end, 0)) + QChar(0x2026);
        made = broken(shown, font, width, most);
    }
    const QFontMetrics metrics(font);
    for (QString& line : made.lines)
        line = metrics.elidedText(line, Qt::ElideRight, width);
    return made.lines;
}

FittedLines largestLines(const QString& text, const QFont& font, int width, int most) {
    constexpr double kSizes[] = {1, 0.85, 0.7};
    const auto letters = [](QString all) {
        all.removeIf([](QChar each) { return each.isSpace(); }); // lines end at some
        return all;
    };
    FittedLines made;
    for (const double size : kSizes) {
        made.font = scaledFont(font, size);
        made.lines = fittingLines(text, made.font, width, static_cast<int>(most / size));
        if (letters(made.lines.join(u' ')) == letters(text)) break;
    }
    return made;
}

QString widest(const QStringList& texts, const QFontMetrics& metrics, int width,
               Qt::TextElideMode elided) {
    for (const QString& text : texts)
        if (metrics.horizontalAdvance(text) <= width) return text;
    if (texts.isEmpty()) return {};
    QString last = texts.back();
    if (elided == Qt::ElideRight)
        last = last.section(QChar(0x2026), 0, 0, QString::SectionIncludeTrailingSep);
    return metrics.elidedText(last, elided, width);
}

QString wrappedTip(const QString& text) {
    constexpr qsizetype kShort = 60; // characters
    constexpr qsizetype kLongest = 4000, kEnd = 1000;
    if (text.size() <= kShort && !Qt::mightBeRichText(text)) return text;
    if (text.size() <= kLongest) return Qt::convertFromPlainText(text, Qt::WhiteSpaceNormal);
    return wrappedTip(text.left(kLongest - kEnd - 1) + QChar(0x2026) + text.right(kEnd));
}

} // namespace halfscope
