// What the figures of a lane's card say where room is short, and before there is a validation.
#include "ui/panels/lane_card.h"

#include <QLabel>
#include <QLocale>
#include <QTest>

namespace tst_card_figures {

using namespace halfscope;

namespace {

/// Returns the figure behind a name; null where the card has none.
const QLabel* figureOf(const LaneCard& card, const char* name) {
    for (const QLabel* each : card.findChildren<QLabel*>())
        if (each->buddy() && each->text().startsWith(QLatin1String(name)))
            return static_cast<const QLabel*>(each->buddy());
    return nullptr;
}

LaneStatus after(int64_t step) {
    LaneStatus status;
    status.last = StepRow(step, 0).set(metric::Loss, 0.0005159F);
    return status;
}

} // namespace

class TestCardFigures : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void tellsWhenTheFirstValidationComes() {
        LaneFacts facts;
        facts.judged = LaneFacts::Judged::ByAccuracy;
        LaneCard card(0, facts, nullptr);
        card.show(after(1), 0, {}, 938);
        const QLabel* figure = figureOf(card, "Accuracy");
        QVERIFY(figure);
        QCOMPARE(figure->text(), QStringLiteral("after step 938"));
        QVERIFY(figure->toolTip().contains(QLatin1String("The first validation comes after step")));
        LaneStatus judged = after(938);
        judged.accuracy = 0.5;
        card.show(judged, 0, {}, 1876);
        QCOMPARE(figure->text(), QStringLiteral("50.00 %"));
        QVERIFY(!figure->toolTip().contains(QLatin1String("first validation")));
        facts.live = false; // a saved run is not trained further
        LaneCard saved(0, facts, nullptr);
        saved.show(after(1), 0, {}, 938);
        QCOMPARE(figureOf(saved, "Accuracy")->text(), QStringLiteral("–"));
    }

    void tellsABetterValidation() {
        LaneFacts facts;
        facts.judged = LaneFacts::Judged::ByAccuracy;
        LaneCard card(0, facts, nullptr);
        LaneStatus status = after(10);
        status.accuracy = 0.78;
        status.best = BestValue{0.792, 5};
        card.show(status);
        QCOMPARE(figureOf(card, "Accuracy")->text(), QStringLiteral("78.00 %, best 79.20 %"));
        status.best = BestValue{0.78, 10};
        card.show(status);
        QCOMPARE(figureOf(card, "Accuracy")->text(), QStringLiteral("78.00 %"));
    }

    /// A lane with a loss scale has less room beside its names than one without.
    void aSmallBatchIsToldInLessRoom() {
        LaneCard card(1, {}, nullptr);
        card.resize(600, 400);
        card.setVisible(true);
        card.show(after(157), 34);
        const QLabel* loss = figureOf(card, "Loss");
        QVERIFY(loss);
        const QString whole = QStringLiteral("0.0005159 (34 samples)");
        QTRY_COMPARE(loss->text(), whole);
        card.layout()->activate(); // the first figures have changed the width of the names
        card.resize(600 - loss->width() + loss->fontMetrics().horizontalAdvance(whole) - 4, 400);
        QTRY_COMPARE(loss->text(), QStringLiteral("0.0005159 (of 34)"));
        QVERIFY(loss->toolTip().contains(QLatin1String("34 samples")));
    }

    void aCompactCardTellsASmallBatchToo() {
        LaneCard card(1, {}, nullptr);
        card.setCompact(true);
        card.resize(600, 100);
        card.setVisible(true);
        LaneStatus status = after(157);
        status.title = QStringLiteral("amp-fp16");
        card.show(status, 34);
        const auto shows = [&card](const QString& text) {
            for (const QLabel* each : card.findChildren<QLabel*>())
                if (each->text() == text) return true;
            return false;
        };
        QTRY_VERIFY(shows(QStringLiteral("Loss 0.0005159 (34 samples)")));
    }

    /// A bare share in parentheses would be read as that of another lane. The name gives way first.
    void copiesAreNamedWhereTheyAreTold() {
        LaneFacts facts;
        facts.watched = true;
        LaneCard card(1, facts, nullptr);
        card.setVisible(true);
        LaneStatus status = after(4);
        status.unchangedWeights = 0.0005;
        status.unchangedCopies = 0.82;
        card.show(status);
        const QString all = QStringLiteral("<0.1 % (copies: 82 %)");
        for (int width = 600; width > card.minimumSizeHint().width(); width -= 20) {
            card.resize(width, 400);
            const QString shown = figureOf(card, "Unchanged")->text();
            QVERIFY2(shown == QLatin1String("<0.1 %") || shown.contains(QLatin1String("copies")),
                     qPrintable(shown));
            QVERIFY(!figureOf(card, "Unchanged weights") ||
                    shown.contains(QLatin1String("copies")));
            QVERIFY(figureOf(card, "Unchanged")->toolTip().endsWith(all));
        }
    }

    void aCriticsLossIsNamed() {
        LaneFacts facts;
        facts.loss = QStringLiteral("Critic's loss");
        facts.lossAbout = QStringLiteral("It need not fall.");
        LaneCard card(0, facts, nullptr);
        QVERIFY(!figureOf(card, "Loss"));
        const QLabel* loss = figureOf(card, "Critic's loss");
        QVERIFY(loss);
        card.show(after(1));
        QCOMPARE(loss->toolTip(), QStringLiteral("It need not fall."));
    }
};

} // namespace tst_card_figures

QTEST_MAIN(tst_card_figures::TestCardFigures)
#include "tst_card_figures.moc"
