// Texts of several sentences in too little room.
#include "ui/look/text_fit.h"

#include <QFontMetrics>
#include <QtTest>

namespace tst_text_fit {

using namespace halfscope;

class TestTextFit : public QObject {
    Q_OBJECT

private slots:
    void linesHaveOneEllipsis();
    void noLineIsLost();
    void lettersShrinkBeforeWordsGo();
};

/// Wrapped by hand, because a style that wraps leaves something out of each line.
void TestTextFit::linesHaveOneEllipsis() {
    const QString text = QStringLiteral("fp32 + amp-bf16, Task csv, Batch 32, Stop after 1000 step "
                                        "edits");
    const QFont font;
    const QFontMetrics metrics(font);
    for (int width = 120; width <= 700; width += 20)
        for (const int most : {1, 2, 3}) {
            const QStringList lines = fittingLines(text, font, width, most);
            QVERIFY(!lines.isEmpty() && lines.size() <= most);
            for (const QString& line : lines)
                QVERIFY2(metrics.horizontalAdvance(line) <= width, qPrintable(line));
            QString shown = lines.join(u' ');
            const bool whole = shown == text;
            QCOMPARE(shown.count(QChar(0x2026)), whole ? 0 : 1);
            QVERIFY2(whole || text.startsWith(shown.chopped(1)), qPrintable(shown));
        }
    const QString word(100, u'w'); // cut at its end as well
    const QString cut = fittingLines(word, font, 120, 1).join(u' ');
    QVERIFY2(cut.endsWith(QChar(0x2026)) && word.startsWith(cut.chopped(1)), qPrintable(cut));
}

/// The heights of lines are rounded, and several lines may be higher than as many times one.
void TestTextFit::noLineIsLost() {
    const QString text = QStringLiteral("one two three four five six seven eight nine ten eleven");
    for (int size = 10; size <= 40; ++size)
        for (const double part : {0.1, 0.25, 0.4, 0.6, 0.75, 0.9}) {
            QFont font;
            font.setPointSizeF(size + part);
            const int width = QFontMetrics(font).horizontalAdvance(text) / 2;
            const QStringList lines = fittingLines(text, font, width, 3);
            QVERIFY2(lines.join(u' ') == text, qPrintable(lines.join(u'|')));
        }
}

void TestTextFit::lettersShrinkBeforeWordsGo() {
    const QString text = QStringLiteral("0 T-shirt/top, 1 Trouser, 2 Pullover, 3 Dress, 4 Coat, "
                                        "5 Sandal, 6 Shirt, 7 Sneaker, 8 Bag, 9 Ankle boot");
    const QFont font;
    const int all = QFontMetrics(font).horizontalAdvance(text);
    const FittedLines roomy = largestLines(text, font, all + 2, 3);
    QCOMPARE(roomy.lines, QStringList(text));
    QCOMPARE(roomy.font, font);
    const FittedLines tight = largestLines(text, font, all * 3 / 10, 3);
    QCOMPARE(tight.lines.join(u' '), text);
    QVERIFY(QFontMetricsF(tight.font).height() < QFontMetricsF(font).height());
    QVERIFY(static_cast<double>(tight.lines.size()) * QFontMetricsF(tight.font).lineSpacing() <=
            3 * QFontMetricsF(font).lineSpacing() + 3);
    const FittedLines cut = largestLines(text, font, all / 10, 3);
    QVERIFY2(cut.lines.last().endsWith(QChar(0x2026)), qPrintable(cut.lines.join(u'|')));
}

} // namespace tst_text_fit

QTEST_MAIN(tst_text_fit::TestTextFit)
#include "tst_text_fit.moc"
