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

} // namespace tst_text_fit

QTEST_MAIN(tst_text_fit::TestTextFit)
#include "tst_text_fit.moc"
