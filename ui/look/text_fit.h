// Fits sentences into the room that there is for them.
#pragma once

#include <QFont>
#include <QString>
#include <QStringList>

class QFontMetrics;
class QSize;

namespace halfscope {

/// Returns the font at `factor` times its size, whether that is in points or in pixels.
QFont scaledFont(const QFont&, double factor);
/// Returns the height that the text needs at a width, both in pixels.
int heightOf(const QString& text, const QFont&, int width);
/// Returns the text, or as many of its words as there is room for and an ellipsis: half a line
/// would look like the end, half a number like another number.
QString fitting(const QString& text, const QFont&, const QSize& room);
/// Returns the text broken into at most `most` lines of this width. What there is no room for is
/// left out at the end of the text, and of a very long word at its end.
QStringList fittingLines(const QString& text, const QFont&, int width, int most);
struct FittedLines {
    QFont font;
    QStringList lines;
};
/// Returns the text in the largest letters in which all of it has the room of `most` lines in this
/// font, for those who cannot ask for what is cut. Smaller letters have more lines; what even they
/// leave no room for is left out, as above.
FittedLines largestLines(const QString& text, const QFont&, int width, int most);
/// Returns the first text that is no wider than `width`. When all are wider it returns the last one
/// elided: by default in its middle, because its two ends tell it from the others. At its end, it
/// loses at once what is behind an ellipsis that it has already.
QString widest(const QStringList& texts, const QFontMetrics&, int width,
               Qt::TextElideMode = Qt::ElideMiddle);
/// Returns a text for a tool tip. Qt shows a tip as one line, however long, or as markup when it
/// looks like markup; this takes plain text and shows it as such. Of a very long text both ends are
/// kept.
QString wrappedTip(const QString& text);

} // namespace halfscope
