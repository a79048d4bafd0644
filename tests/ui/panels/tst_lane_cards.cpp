// The lanes' cards: the words for skipped steps, and what is left out when room is short because a
// tool tip has it, so that two cards can be compared.
#include "tests/support/fed_run.h"
#include "tests/support/opened_window.h"
#include "ui/panels/lane_card.h"
#include "ui/panels/memory_bar.h"
#include "ui/panels/scaler_panel.h"
#include "ui/plots/gradient_view.h"

#include <QLabel>
#include <QLocale>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace tst_lane_cards {

using namespace halfscope;

namespace {

constexpr int kRoomy = 1000, kTight = 120;

/// A lane in FP32 and one that scales its loss, after a step.
struct Cards {
    ScalerPanel panel;
    FedModel run;
    Cards() {
        run.start({"fp32", "amp-fp16"});
        run.setGrowthInterval(1, 2000);
        setLanes();
        panel.resize(280, kRoomy);
        panel.show();
        StepRecord rows[2];
        for (int lane = 0; lane < 2; ++lane) {
            rows[lane].step = 1;
            rows[lane].lane = lane;
            rows[lane].loss = 0.25F;
        }
        run.append(rows, {});
        panel.refresh(run);
    }
    void setLanes() {
        MemoryUse memory;
        memory.peakBytes = 100 << 10;
        memory.peakByCause[static_cast<size_t>(MemoryCause::Parameters)] = 100 << 10;
        panel.setLanes({{false, memory, {}}, {true, memory, {}}});
    }
    QStringList texts() const {
        QStringList all;
        for (const QLabel* label : panel.findChildren<QLabel*>())
            if (label->isVisible()) all << label->text();
        return all;
    }
};

LaneStatus judged(double accuracy, double loss) {
    LaneStatus status;
    status.last.step = 1;
    status.accuracy = accuracy;
    status.validationLoss = loss;
    return status;
}

/// Returns the share of zero gradients on the last card that has one; null: none has.
const QLabel* zerosIn(const ScalerPanel& panel) {
    const QLabel* figure = nullptr;
    for (const QLabel* name : panel.findChildren<QLabel*>())
        if (name->text() == QStringLiteral("Zero gradients"))
            figure = static_cast<const QLabel*>(name->buddy());
    return figure;
}

/// Whether a widget lies entirely in the visible part of the panel.
bool isSeen(const ScalerPanel& panel, const QWidget& widget) {
    const QRect place(widget.mapTo(panel.viewport(), QPoint()), widget.size());
    return widget.isVisible() && panel.viewport()->rect().contains(place);
}

/// Shows a lane of the preset with this loss in this step.
void showRegression(ScalerPanel& panel, int64_t step, float loss) {
    FedModel run;
    run.start({"fp32"});
    run.edit([](RunConfig& config) { config.task = presetNamed("regression").config.task; });
    StepRecord row;
    row.step = step;
    row.loss = loss;
    run.append(std::vector{row}, {});
    LaneFacts facts;
    facts.scales = false;
    panel.setLanes({facts});
    panel.refresh(run);
}

} // namespace

class TestLaneCards : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void skippedShare() {
        Cards cards;
        QVERIFY(cards.texts().contains(QStringLiteral("0")));
        StepRecord record;
        record.lane = 1;
        record.loss = 0.25F;
        record.growthTracker = 1;
        const auto shows = [&](int64_t step, int64_t skipped, const char* text) {
            record.step = step;
            record.skippedSoFar = skipped;
            cards.run.append(std::vector{record}, {});
            cards.panel.refresh(cards.run);
            return cards.texts().contains(QLatin1String(text));
        };
        QVERIFY(shows(2, 2, "2 (100.00 %)"));
        QVERIFY(shows(1000, 7, "7 (0.70 %)"));
    }

    /// The figures end at the same place, but for the scale, which has a button beside it: that of
    /// a saved run tells what to do first.
    void figuresEndBelowEachOther() {
        for (const bool live : {false, true}) {
            LaneFacts facts;
            facts.scales = true;
            facts.live = live;
            ScalerPanel panel;
            panel.setLanes({facts});
            panel.resize(280, kRoomy);
            panel.show();
            std::map<QString, int> ends;
            for (const QLabel* name : panel.findChildren<QLabel*>())
                if (const QWidget* figure = name->buddy(); figure && figure->isVisible())
                    ends[name->text()] = figure->geometry().right();
            QVERIFY(ends.contains("Next loss scale") && ends.contains("Skipped steps"));
            QVERIFY(ends["Next loss scale"] < ends["Skipped steps"]);
            QCOMPARE(ends["Clean steps"], ends["Skipped steps"]);
        }
    }

    /// An output of nan has no class at all: 0 % would be read as classes that are wrong.
    void nanHasNoAccuracy() {
        LaneFacts facts;
        facts.judged = LaneFacts::Judged::ByAccuracy;
        LaneCard card(0, facts, nullptr);
        const auto shown = [&card](const LaneStatus& status) {
            card.show(status);
            for (const QLabel* name : card.findChildren<QLabel*>())
                if (name->text() == QStringLiteral("Accuracy"))
                    return static_cast<const QLabel*>(name->buddy())->text();
            return QString();
        };
        QCOMPARE(shown(judged(0.5, 1.25)), QStringLiteral("50.00 %"));
        QCOMPARE(shown(judged(0, 3)), QStringLiteral("0.00 %"));
        QCOMPARE(shown(judged(0, std::nan(""))), QStringLiteral("output is nan"));
        QCOMPARE(shown(judged(0.25, std::nan(""))),
                 QStringLiteral("25.00 %")); // of some samples
    }

    /// The loss of a few samples is not taken for that of a whole batch.
    void tellsASmallBatch() {
        for (const int64_t step : {156, 157}) { // 157 is the last step of an epoch
            ScalerPanel panel;
            showRegression(panel, step, 0.25F);
            QStringList texts;
            for (const QLabel* label : panel.findChildren<QLabel*>())
                texts << label->text();
            QVERIFY2(texts.contains(step == 157 ? QStringLiteral("0.25 (16 samples)")
                                                : QStringLiteral("0.25")),
                     qPrintable(texts.join(u'|')));
        }
    }

    /// Words in place of a number make no card wider, which would reach beyond the panel.
    void staysNarrowWithoutANumber() {
        const auto width = [](float loss) {
            ScalerPanel panel;
            panel.resize(240, 400);
            panel.show();
            showRegression(panel, 157, loss); // the last batch of an epoch is small
            return panel.findChild<LaneCard*>()->minimumSizeHint().width();
        };
        QCOMPARE(width(std::numeric_limits<float>::quiet_NaN()), width(0.25F));
    }

    /// The test stands behind the validation, and goes when the run goes on.
    void tellsTheTest() {
        LaneFacts facts;
        facts.judged = LaneFacts::Judged::ByAccuracy;
        LaneCard card(0, facts, nullptr);
        const QLabel* figure = nullptr;
        for (const QLabel* name : card.findChildren<QLabel*>())
            if (name->text() == QStringLiteral("Accuracy"))
                figure = static_cast<const QLabel*>(name->buddy());
        QVERIFY(figure);
        LaneStatus status = judged(0.5, 1.25);
        status.test = Validation{1.5, 0.375, {}, {}};
        card.show(status);
        QCOMPARE(figure->text(), QStringLiteral("50.00 %, test 37.50 %"));
        QVERIFY(figure->toolTip().contains("neither the training nor a validation"));
        status.test.reset();
        card.show(status);
        QCOMPARE(figure->text(), QStringLiteral("50.00 %"));
        QVERIFY(!figure->toolTip().contains("neither"));
        QVERIFY(!figure->toolTip().contains("Best"));
        status.best = LaneTotals::Best{0.75, 120};
        card.show(status);
        QVERIFY2(figure->toolTip().endsWith("\nBest: 75.00 % after step 120"),
                 qUtf8Printable(figure->toolTip()));
        status.accuracy.reset();
        status.validationError = 2.5;
        status.test = Validation{1.5, {}, {}, 3.25};
        QCOMPARE(status.judgedForms().front(), QStringLiteral("2.5, test 3.25"));
        status.validationError.reset();
        status.test = Validation{1.5, {}, {}, {}};
        QCOMPARE(status.judgedForms().at(1), QStringLiteral("1.25, test 1.5"));
    }

    /// AMP's card tells two shares, in as many words as there is room for; its tool tip has all.
    void tellsUnchangedWeights() {
        LaneFacts facts;
        facts.watched = true;
        LaneCard card(1, facts, nullptr);
        const auto figure = [&card]() -> const QLabel* {
            for (const QLabel* name : card.findChildren<QLabel*>())
                if (name->text().startsWith(QStringLiteral("Unchanged")))
                    return static_cast<const QLabel*>(name->buddy());
            return nullptr;
        };
        QVERIFY(figure());
        card.resize(600, kRoomy);
        card.setVisible(true);
        LaneStatus status;
        status.last.step = 4;
        card.show(status);
        QCOMPARE(figure()->text(), QStringLiteral("–"));
        status.unchangedWeights = 0.73;
        card.show(status);
        QCOMPARE(figure()->text(), QStringLiteral("73 %"));
        status.unchangedWeights = 0;
        status.unchangedCopies = 0.64;
        card.show(status);
        QCOMPARE(figure()->text(), QStringLiteral("0 % (copies: 64 %)"));
        status.unchangedWeights = 0.0005;
        status.unchangedCopies = 0.9999;
        card.show(status);
        card.resize(card.minimumSizeHint());
        QTRY_COMPARE(figure()->text(), QStringLiteral("<0.1 %")); // a bare second share is unclear
        const auto titles = card.findChildren<QLabel*>();
        QVERIFY(std::any_of(titles.begin(), titles.end(), [](const QLabel* each) {
            return each->toolTip().contains(QStringLiteral("weights: <0.1 % (copies: >99.9 %)"));
        }));
        const LaneCard other(0, LaneFacts(), nullptr);
        for (const QLabel* name : other.findChildren<QLabel*>())
            QVERIFY(name->text() != QStringLiteral("Unchanged weights"));
    }

    /// The panel cuts off what is wider than it: a watched lane needs no more room than another.
    void unchangedWeightsTakeNoMoreWidth() {
        LaneFacts facts;
        facts.half = true;
        const LaneCard plain(1, facts, nullptr);
        facts.watched = true;
        LaneCard card(1, facts, nullptr);
        card.setVisible(true);
        LaneStatus status;
        status.last.step = 4;
        status.unchangedWeights = 0.0005;
        status.unchangedCopies = 0.9999;
        card.show(status);
        const auto figureOf = [&card](const QString& name) {
            for (const QLabel* each : card.findChildren<QLabel*>())
                if (each->text() == name) return static_cast<const QLabel*>(each->buddy());
            return static_cast<const QLabel*>(nullptr);
        };
        card.resize(600, kRoomy);
        QTRY_VERIFY(figureOf(QStringLiteral("Unchanged weights")));
        QVERIFY(card.minimumSizeHint().width() <= plain.minimumSizeHint().width());
        card.resize(plain.minimumSizeHint().width(), kRoomy);
        QTRY_VERIFY(figureOf(QStringLiteral("Unchanged")));
        const QLabel* figure = figureOf(QStringLiteral("Unchanged"));
        QCOMPARE(figure->text(), QStringLiteral("<0.1 %"));
        QVERIFY(figure->geometry().right() < card.width());
        card.resize(600, kRoomy);
        QTRY_VERIFY(figureOf(QStringLiteral("Unchanged weights")));
    }

    /// A lane that does not scale its loss has room for its weights in a compact card.
    void compactCardsKeepUnchangedWeights() {
        LaneFacts facts;
        facts.watched = true;
        for (const bool scales : {false, true}) {
            facts.scales = scales;
            LaneCard card(1, facts, nullptr);
            card.setCompact(true);
            card.setVisible(true);
            const auto labels = card.findChildren<QLabel*>();
            const bool shown = std::any_of(labels.begin(), labels.end(), [](const QLabel* each) {
                return each->text().startsWith(QStringLiteral("Unchanged")) && each->isVisible();
            });
            QCOMPARE(shown, !scales);
        }
    }

    /// The plot shows the scale that a step used; after a growth, the card has another number, and
    /// its name says which.
    void namesTheScaleOfTheNextStep() {
        Cards cards;
        StepRecord record;
        record.lane = 1;
        record.step = 2;
        record.scale = 1024;
        Event growth;
        growth.kind = EventKind::Growth;
        growth.step = 2;
        growth.lane = 1;
        growth.scaleBefore = 1024;
        growth.scaleAfter = 2048;
        cards.run.append(std::vector{record}, std::vector{growth});
        cards.panel.refresh(cards.run);
        QStringList shown;
        for (const QLabel* name : cards.panel.findChildren<QLabel*>())
            if (name->text() == QLatin1String("Next loss scale"))
                shown << static_cast<const QLabel*>(name->buddy())->text();
        QCOMPARE(shown.join(u'|'), QStringLiteral("2048 = 2^11"));
        QVERIFY(!cards.texts().contains(QStringLiteral("Loss scale")));
    }

    /// The error in the units of the data stands in place of a loss without a unit.
    void errorOfStandardisedTargets() {
        Cards cards;
        cards.panel.setLanes(
            {{.judged = LaneFacts::Judged::ByError}, {.judged = LaneFacts::Judged::ByError}});
        StepRecord record;
        record.step = 2;
        record.validation = Validation{.loss = 0.0078, .error = 14108};
        cards.run.append(std::vector{record}, {});
        cards.panel.refresh(cards.run);
        QVERIFY2(cards.texts().contains("Validation error") &&
                     !cards.texts().contains("Validation loss"),
                 qPrintable(cards.texts().join('|')));
        QVERIFY2(cards.texts().contains("14108"), qPrintable(cards.texts().join('|')));
        record.step = 3;
        record.validation->error = 0.01234567;
        cards.run.append(std::vector{record}, {});
        cards.panel.refresh(cards.run);
        QVERIFY2(cards.texts().contains("0.01235"), qPrintable(cards.texts().join('|')));
    }

    void compactWhereTheyDoNotFit() {
        Cards cards;
        cards.panel.fitInto(kRoomy);
        const int full = cards.panel.contentHeight();
        QVERIFY(cards.texts().contains(QStringLiteral("100 KiB")));
        QVERIFY(cards.texts().contains(QStringLiteral("0.25")));
        for (int i = 0; i < 3; ++i) { // it stays so
            cards.panel.fitInto(kTight);
            QVERIFY(!cards.texts().contains(QStringLiteral("100 KiB")));
            QVERIFY(cards.texts().contains(QStringLiteral("Loss 0.25")));
            QVERIFY(cards.texts().contains(QStringLiteral("Skipped steps")));
        }
        QVERIFY2(cards.panel.contentHeight() < 0.6 * full,
                 qPrintable(QString::number(cards.panel.contentHeight())));
        QVERIFY(!cards.panel.findChild<MemoryLegend*>()->isVisible());
        for (const LaneCard* card : cards.panel.findChildren<LaneCard*>())
            QVERIFY(
                card->findChild<QLabel*>()->toolTip().contains(QStringLiteral("Memory: 100 KiB")));
        cards.panel.fitInto(kRoomy);
        QCOMPARE(cards.panel.contentHeight(), full);
        QVERIFY(cards.texts().contains(QStringLiteral("100 KiB")));
        QVERIFY(cards.texts().contains(QStringLiteral("0.25")));
    }

    /// The third card must not be cut off where two would have room in full.
    void compactWhereTheThirdDoesNotFit() {
        Cards cards;
        cards.panel.fitInto(kRoomy);
        const int two = cards.panel.contentHeight();
        cards.run.start({"fp32", "amp-fp16", "amp-bf16"});
        cards.panel.setLanes({{false, {}, {}}, {true, {}, {}}, {true, {}, {}}});
        cards.panel.refresh(cards.run);
        cards.panel.fitInto(two);
        QVERIFY(cards.texts().contains(QStringLiteral("Skipped steps")));
        QVERIFY2(cards.panel.contentHeight() < two,
                 qPrintable(QString::number(cards.panel.contentHeight())));
    }

    /// It would be cut off, and the bar that scrolls to it would take width from the figures.
    void legendOnlyWhereItFits() {
        Cards cards;
        const auto* legend = cards.panel.findChild<MemoryLegend*>();
        cards.panel.fitInto(kRoomy);
        const int full = cards.panel.contentHeight();
        QVERIFY(legend->isVisible());
        cards.panel.fitInto(full - 1);
        QVERIFY(!legend->isVisible());
        QVERIFY(cards.texts().contains(QStringLiteral("100 KiB"))); // the cards are whole
        QVERIFY(cards.panel.contentHeight() < full);
        cards.panel.fitInto(full);
        QVERIFY(legend->isVisible());
        QCOMPARE(cards.panel.contentHeight(), full);
    }

    /// A share only where one is known, beside that of FP32; the card keeps its height.
    void zeroGradients() {
        FedRun fed;
        fed.start({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}, {false, true});
        RunModel run;
        run.setRun(fed.run);
        ScalerPanel panel;
        panel.setLanes({{.scales = false}, {.half = true}});
        panel.resize(280, kRoomy);
        panel.show();
        const QLabel* figure = zerosIn(panel);
        QVERIFY(figure && figure->parent() == panel.findChildren<LaneCard*>().at(1));
        StepRecord rows[2];
        rows[0].step = rows[1].step = 1;
        rows[1].lane = 1;
        rows[1].scale = 2048;
        fed.append(rows, {});
        const auto text = [&] {
            run.refresh();
            panel.refresh(run);
            return figure->text();
        };
        QCOMPARE(text(), QStringLiteral("–"));
        QVERIFY(figure->toolTip().contains(QStringLiteral("not been counted yet")));
        const int height = panel.contentHeight();
        GradientRange exact, half;
        exact.step = half.step = 2;
        exact.outputs.buckets[40] = half.weights.buckets[40] = 3;
        exact.weights.zeros = 1;
        half.outputs.zeros = 9;
        half.type = DType::F16;
        half.scale = 2048;
        fed.appendGradients({exact, half});
        QCOMPARE(text(), QStringLiteral("75 % (A: 25 %)"));
        QVERIFY2(figure->toolTip().contains(
                     QStringLiteral("Counted after step 1, at loss scale 2048 = 2^11.")),
                 qPrintable(figure->toolTip()));
        panel.fitInto(kTight); // the tip has it, too
        QVERIFY(figure->isVisible());
        QVERIFY(figure->parent()->findChild<QLabel*>()->toolTip().contains(
            QStringLiteral("\nZero gradients: 75 % (A: 25 %)")));
        panel.fitInto(kRoomy);
        fed.appendGradients({half, half}); // no lane in FP32
        QCOMPARE(text(), QStringLiteral("75 %"));
        for (const auto& [step, scale, known] :
             {std::tuple(2, 512.0F, true), std::tuple(3, 256.0F, false),
              std::tuple(4, 8192.0F, true), std::tuple(5, 16384.0F, false)}) {
            rows[0].step = rows[1].step = step;
            rows[1].scale = scale;
            fed.append(rows, {});
            QCOMPARE(text() == QStringLiteral("75 %"), known);
            QCOMPARE(figure->toolTip().contains(QStringLiteral("has changed since")), !known);
        }
        rows[0].step = rows[1].step = 6;
        rows[1].scale = 2048;
        fed.append(rows, {});
        half.outputs.notFinite = 1;
        fed.appendGradients({exact, half});
        QCOMPARE(text(), QStringLiteral("–"));
        QVERIFY(figure->toolTip().contains(QStringLiteral("some are inf or nan")));
        QCOMPARE(panel.contentHeight(), height);
        panel.setLanes({{.live = false, .half = true}}); // a saved run
        QVERIFY(!zerosIn(panel));
    }

    /// Its last count is still known.
    void aRestoredRunKeepsItsZeros() {
        Opened opened(tinyConfig(30));
        MainWindow& window = opened.window;
        const auto& panel = *window.findChild<ScalerPanel*>();
        const auto known = [&panel] {
            return zerosIn(panel) && zerosIn(panel)->text().contains(QStringLiteral(" % (A: "));
        };
        QVERIFY(trainsTo(window, 30));
        QTRY_VERIFY_WITH_TIMEOUT(known(), kPatience);
        window.restart();
        QTRY_VERIFY_WITH_TIMEOUT(window.canBringBack(), kPatience);
        window.bringBack();
        QVERIFY(window.showsSaved());
        QVERIFY(known());
    }

    /// Nobody has to open the view of the gradients, whose history stays as it is, nor to see the
    /// cards: the headline warns of gradients that are lost, also in a presentation.
    void zerosAreCountedWhileTheWindowIsSeen() {
        Opened opened(tinyConfig(30));
        MainWindow& window = opened.window;
        const auto& panel = *window.findChild<ScalerPanel*>();
        QVERIFY(test::isActive(&window));
        QTest::keyClick(&window, Qt::Key_F5);
        QVERIFY(!panel.isVisible());
        window.play();
        QVERIFY(reaches(window, SessionState::Finished));
        QTRY_VERIFY_WITH_TIMEOUT(zerosIn(panel)->text().contains(QStringLiteral(" % (A: ")),
                                 kPatience);
        QVERIFY(window.shown().run()->now().gradients(1).empty());
        QVERIFY(window.shown().run()->now().lastGradients().empty());
    }

    /// The first lesson points at them. A fixed scale has no clean steps to count, in any card.
    void compactCardsShowZeros() {
        FedModel run;
        run.start({"amp-fp16", "amp-fp16"});
        run.setGrowthInterval(1, 2000);
        ScalerPanel panel;
        panel.setLanes({{.half = true}, {.half = true}});
        panel.resize(280, kRoomy);
        panel.show();
        panel.refresh(run);
        const auto named = [&panel](const char* name) {
            int cards = 0;
            for (const QLabel* label : panel.findChildren<QLabel*>())
                if (label->text() == QLatin1String(name) && label->isVisible()) ++cards;
            return cards;
        };
        QCOMPARE(named("Zero gradients"), 2);
        QCOMPARE(named("Clean steps"), 1);
        QCOMPARE(named("Fixed scale"), 1); // says why
        panel.fitInto(kTight);
        QCOMPARE(named("Zero gradients"), 2);
        QCOMPARE(named("Clean steps"), 1);
        panel.fitInto(kRoomy);
        QCOMPARE(named("Clean steps"), 1);
    }

    /// The loss stands at the end of the title's line: the title has the rest, and no more.
    void titlesHaveTheRoomBesideTheLoss() {
        LaneStatus status = judged(0, 0);
        status.title = QStringLiteral("fp8, layer 0=bf16, layer 1=fp16");
        for (const bool scales : {false, true}) {
            LaneFacts facts;
            facts.scales = scales;
            LaneCard card(2, facts, nullptr);
            card.setCompact(true);
            const auto* title = card.findChild<QLabel*>(); // the first one
            const QFontMetrics metrics(title->font());
            const QString full = QStringLiteral("C ") + status.title;
            constexpr int kAround = 120; // for the loss, and around both
            card.resize(metrics.horizontalAdvance(full) + kAround, 120);
            card.setVisible(true);
            card.show(status);
            QCOMPARE(title->text(), full);
            card.resize(card.width() - kAround + 20, 120);
            QVERIFY2(title->text() != full, qPrintable(title->text()));
            const auto labels = card.findChildren<QLabel*>();
            const auto loss = std::find_if(labels.begin(), labels.end(), [](const QLabel* each) {
                return each->text().startsWith(QStringLiteral("Loss "));
            });
            QVERIFY(loss != labels.end());
            QVERIFY(title->x() + metrics.horizontalAdvance(title->text()) <= (*loss)->x());
        }
    }

    /// Cards that a fork or an edit made anew are as compact.
    void newCardsAreAsCompact() {
        Cards cards;
        cards.panel.fitInto(kTight);
        const int compact = cards.panel.contentHeight();
        cards.setLanes();
        cards.panel.refresh(cards.run);
        QCOMPARE(cards.panel.contentHeight(), compact);
        cards.panel.fitInto(kTight);
        QVERIFY(cards.texts().contains(QStringLiteral("Loss 0.25")));
    }

    /// 1920 x 1080 at scale factor 2.
    void bothLanesBesideTheGradients() {
        RunConfig config = tinyConfig(30);
        config.lanes[1].scaler.initScale = 1e30; // it skips at first
        Opened opened(config);
        MainWindow& window = opened.window;
        window.resize(960, 540);
        window.play();
        QVERIFY(reaches(window, SessionState::Finished));
        QTest::keyClick(&window, Qt::Key_G);
        QTRY_VERIFY_WITH_TIMEOUT(!window.gradients().figures(1).isEmpty(), kPatience);
        auto& panel = *window.findChild<ScalerPanel*>();
        const auto cards = window.findChildren<LaneCard*>();
        for (const LaneCard* card : cards)
            QTRY_VERIFY2(isSeen(panel, *card), qPrintable(card->accessibleName()));
        for (const LaneCard* card : cards) // the whole title
            QCOMPARE(card->findChild<QLabel*>()->text(), card->accessibleName());
        // until there is room again
        window.resize(1920, 1080);
        QTRY_VERIFY(window.findChild<MemoryLegend*>()->isVisible());
        QTRY_VERIFY(isSeen(panel, *window.findChild<MemoryLegend*>()));
    }
};

} // namespace tst_lane_cards

QTEST_MAIN(tst_lane_cards::TestLaneCards)
#include "tst_lane_cards.moc"
