// Sentences in the room that there is for them.
#pragma once

#include <QString>
#include <QStringList>

class QFont;
class QFontMetrics;
class QSize;

namespace halfscope {

/// The font so many times as large, whether its size is in points or in pixels.
QFont scaledFont(const QFont&, double factor);
/// The height that the words need in so many pixels of width.
int heightOf(const QString& text, const QFont&, int width);
/// The text, or as many of its words as there is room for, with an ellipsis: half a line would look
/// like the end, half a number like another number.
QString fitting(const QString& text, const QFont&, const QSize& room);
/// The same of several sentences: as many whole ones as there is room for, and " …"; words of the
/// first one where there is room for less.
QString fittingSentences(const QString& text, const QFont&, const QSize& room);
/// The first text that is no wider, else the last one with its middle left out: at both ends stands
/// what tells it from the others.
QString widest(const QStringList& texts, const QFontMetrics&, int width);
/// For a tool tip, which Qt shows as one line, however long, or as markup where it looks like it.
/// Takes plain text alone, and shows it as such; of one that is very long both ends.
QString wrappedTip(const QString& text);

} // namespace halfscope
