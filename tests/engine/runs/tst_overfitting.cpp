// Which lanes are said to overfit, and in which words.
#include "engine/runs/lane_totals.h"
#include "engine/runs/shown_loss.h"

#include <QTest>

#include <cmath>
#include <optional>

namespace tst_overfitting {

using namespace halfscope;

namespace {

/// A lane with a validation after every 30 steps.
struct Lane {
    LaneTotals totals;
    int64_t step = 0;
    void train(float loss, double validationLoss, std::optional<double> accuracy = {}) {
        for (int i = 0; i < 30; ++i) {
            StepRow row(++step, 0);
            row.set(metric::Loss, loss);
            if (i == 29) row.set(metric::ValidationLoss, validationLoss);
            if (i == 29 && accuracy) row.set(metric::Accuracy, *accuracy);
            totals.add(row);
        }
    }
};

} // namespace

class TestOverfitting : public QObject {
    Q_OBJECT

private slots:
    void smallDifferencesAreChance() {
        QVERIFY(isClearlyWorse(JudgedBy::Accuracy, 0.78, 0.80));
        QVERIFY(!isClearlyWorse(JudgedBy::Accuracy, 0.795, 0.80));
        QVERIFY(isClearlyWorse(JudgedBy::Loss, 1.2, 1.0));
        QVERIFY(!isClearlyWorse(JudgedBy::Loss, 1.05, 1.0));
        QVERIFY(!isClearlyWorse(JudgedBy::Loss, 0.5, 1.0));
        QVERIFY(isClearlyWorse(JudgedBy::Loss, NAN, 1.0));
        QVERIFY(isClearlyWorse(JudgedBy::Loss, INFINITY, 1.0));
    }

    void lossesThatPart() {
        Lane lane;
        QVERIFY(!lane.totals.fellFromItsBest() && !lane.totals.overfits());
        lane.train(1.0F, 1.0);
        QVERIFY(!lane.totals.fellFromItsBest() && !lane.totals.overfits());
        lane.train(0.5F, 1.05); // hardly worse
        QVERIFY(!lane.totals.fellFromItsBest() && !lane.totals.overfits());
        lane.train(0.5F, 1.5);
        QVERIFY(lane.totals.fellFromItsBest() && lane.totals.overfits());
        QCOMPARE(lane.totals.best()->step, int64_t{30});
        lane.train(0.4F, 0.9); // a new best
        QVERIFY(!lane.totals.fellFromItsBest() && !lane.totals.overfits());
        lane.train(0.39F, 1.5); // of about the same training loss
        QVERIFY(lane.totals.fellFromItsBest() && !lane.totals.overfits());
    }

    /// A lane that gets worse at everything diverges.
    void aLaneThatDivergesDoesNotOverfit() {
        Lane lane;
        lane.train(1.0F, 1.0);
        lane.train(2.0F, 2.0);
        QVERIFY(lane.totals.fellFromItsBest() && !lane.totals.overfits());
        lane.train(NAN, NAN);
        QVERIFY(lane.totals.fellFromItsBest() && !lane.totals.overfits());
        for (const double loss : {double{NAN}, double{INFINITY}}) { // though the training goes well
            Lane broken, classes;
            broken.train(1.0F, 1.0);
            broken.train(0.5F, loss);
            classes.train(1.0F, 1.0, 0.8);
            classes.train(0.5F, loss, 0.1);
            QVERIFY(broken.totals.fellFromItsBest() && !broken.totals.overfits());
            QVERIFY(classes.totals.fellFromItsBest() && !classes.totals.overfits());
        }
    }

    /// Of 30 samples one is 3 %.
    void oneSampleIsChance() {
        Lane lane;
        lane.train(1.0F, 0.2, 1.0);
        lane.train(0.5F, 0.2, 29.0 / 30);
        QVERIFY(lane.totals.fellFromItsBest() && !lane.totals.overfits());
        lane.train(0.4F, 0.3, 29.0 / 30);
        QVERIFY(lane.totals.overfits());
    }

    /// Where there are classes, a loss that rises while as many are right is none.
    void classesAreJudgedByTheirAccuracy() {
        Lane lane;
        lane.train(1.0F, 1.0, 0.8);
        lane.train(0.5F, 2.0, 0.8);
        QVERIFY(!lane.totals.fellFromItsBest() && !lane.totals.overfits());
        lane.train(0.5F, 2.0, 0.7);
        QVERIFY(lane.totals.fellFromItsBest() && lane.totals.overfits());
        QVERIFY(lane.totals.judgedBy() == JudgedBy::Accuracy);
    }

    void levelIsTheMedianOfTheLastLosses() {
        TrainingLevel level;
        QVERIFY(std::isnan(level.median()));
        level.add(8);
        QCOMPARE(level.median(), 8.0);
        for (size_t i = 0; i < TrainingLevel::kMost; ++i)
            level.add(i == 3 ? 100 : 2);
        QCOMPARE(level.median(), 2.0); // the first one is forgotten, and an outlier counts little
    }

    void words() {
        QCOMPARE(overfittingText(Message::data("A"), 1, JudgedBy::Loss).english(),
                 std::string("A overfits: since its best validation its training loss has fallen, "
                             "but its validation loss has risen."));
        QVERIFY(overfittingText(Message::data("A and B"), 2, JudgedBy::Accuracy)
                    .english()
                    .starts_with("A and B overfit: since their best validations "));
    }

    /// The loss of a critic is named as what it is.
    void aCriticsLossHasItsName() {
        RunConfig config;
        const auto titleOf = [&config](Adversary adversary) {
            config.model.adversary = adversary;
            return shownLoss(config).title.english() + "/" + shownLossInWords(config).english();
        };
        QCOMPARE(titleOf(Adversary::None), std::string("Loss/the loss"));
        QCOMPARE(titleOf(Adversary::Gan), std::string("Critic's loss/the critic's loss"));
        QCOMPARE(titleOf(Adversary::WganGp),
                 std::string("Critic's distance/the critic's distance"));
    }
};

} // namespace tst_overfitting

QTEST_GUILESS_MAIN(tst_overfitting::TestOverfitting)
#include "tst_overfitting.moc"
