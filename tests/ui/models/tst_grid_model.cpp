// The model of a map of settings: its cells and their words, what it shows, and the sentence that
// sets the best cell in doubt.
#include "tests/fake_cuda/fake_run.h"
#include "tests/support/grid_cells.h"

#include <QAbstractItemModelTester>
#include <QLocale>
#include <QtTest>

#include <cmath>

namespace tst_grid_model {

using namespace halfscope;

namespace {

SettingGrid fourCells() {
    return {
        tinyConfig(5),
        1,
        {parseSweep("scaler.init_scale=2^10,2^20"), parseSweep("scaler.growth_interval=20,30")}};
}

} // namespace

class TestGridModel : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void table() {
        GridModel model;
        const QAbstractItemModelTester tester(
            &model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        QCOMPARE(model.rowCount(), 0);
        model.begin(fourCells());
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(model.columnCount(), 2);
        QCOMPARE(model.headerData(1, Qt::Vertical).toString(), QStringLiteral("2^20"));
        QCOMPARE(model.headerData(0, Qt::Horizontal).toString(), QStringLiteral("20"));
        QCOMPARE(model.axes(), QStringLiteral("Rows: First scale. Columns: Growth interval"));
        QCOMPARE(shownAt(model, 0, 0), QString());
        QCOMPARE(shownAt(model, 0, 0, Qt::ToolTipRole),
                 QStringLiteral("First scale 2^10, Growth interval 20: not trained"));
        model.set(0, cellOf(0.5, 3));
        model.set(1, cellOf(0.25));
        GridCell failed;
        failed.outcome = CellOutcome::Failed;
        failed.reason = Message::data("no memory <img>");
        model.set(2, failed);
        GridCell stopped = cellOf(0.125);
        stopped.outcome = CellOutcome::Stopped;
        stopped.reason = Message::data("At the floor");
        model.set(3, stopped);
        QCOMPARE(shownAt(model, 0, 0), QStringLiteral("0.5"));
        QCOMPARE(shownAt(model, 0, 1), QStringLiteral("★ 0.25"));
        QCOMPARE(shownAt(model, 1, 0), QStringLiteral("failed"));
        QCOMPARE(shownAt(model, 1, 1), QStringLiteral("0.125*")); // trained less: not the best
        QVERIFY(model.index(0, 1).data(GridModel::BestRole).toBool());
        QVERIFY(model.index(1, 0).data(GridModel::FailedRole).toBool());
        QVERIFY(!model.index(1, 0).data(GridModel::GoodnessRole).isValid());
        QCOMPARE(shownAt(model, 0, 1, Qt::AccessibleTextRole),
                 QStringLiteral("First scale 2^10, Growth interval 30: 0.25, best loss"));
        QCOMPARE(shownAt(model, 0, 0, Qt::ToolTipRole),
                 QStringLiteral("First scale 2^10, Growth interval 20\n"
                                "Loss: 0.5 (median of the last 5 steps), 1 in the last step\n"
                                "Skipped steps: 3 of 5\nLast loss scale: 1024 = 2^10"));
        QVERIFY(shownAt(model, 1, 0, Qt::ToolTipRole)
                    .endsWith(QStringLiteral("failed. no memory <img>")));
        QVERIFY(
            shownAt(model, 1, 1, Qt::ToolTipRole).endsWith(QStringLiteral("early. At the floor")));
        QCOMPARE(model.text(), QStringLiteral("First scale\t20\t30\n2^10\t0.5\t0.25\n"
                                              "2^20\tfailed\t0.125\n"));
        QCOMPARE(model.trained(), size_t{4});
    }

    void measures() {
        GridModel model;
        model.begin(fourCells());
        const auto good = [&model](int row, int column) {
            return model.index(row, column).data(GridModel::GoodnessRole).toDouble();
        };
        model.set(0, cellOf(1, 4));
        model.set(1, cellOf(2, 0));
        model.set(2, cellOf(3, 2));
        QCOMPARE(good(0, 0), 1.0); // the least loss is best
        QCOMPARE(good(0, 1), 0.5);
        QCOMPARE(good(1, 0), 0.0);
        QCOMPARE(model.range().worst + ' ' + model.range().best, QStringLiteral("3 1"));
        model.set(3, cellOf(10000)); // by powers of ten
        QVERIFY(std::abs(good(0, 1) - (1 - std::log(2) / std::log(10000))) < 1e-12);
        model.set(3, cellOf(NAN));
        QCOMPARE(good(1, 1), 0.0);
        QCOMPARE(good(0, 1), 0.5); // the range is that of numbers
        QCOMPARE(shownAt(model, 1, 1), QStringLiteral("not a number"));
        model.show(GridModel::Measure::Skipped);
        QCOMPARE(shownAt(model, 0, 0), QStringLiteral("★ 4")); // best of all by its loss
        QCOMPARE(good(0, 0), 0.0);
        QVERIFY(!model.measures().contains(GridModel::Measure::Accuracy));
        QVERIFY2(
            model.starRule().startsWith("The star marks the cell with the lowest loss. Of equal "
                                        "cells it is the one with the fewest skipped steps, then "
                                        "the first one"),
            qPrintable(model.starRule()));
        GridCell judged = cellOf(5);
        judged.score.accuracy = 0.75;
        judged.score.validationLoss = 0.5;
        model.set(3, judged);
        QCOMPARE(model.measures().size(), 5);
        QVERIFY2(
            model.starRule().startsWith("The star marks the cell with the highest accuracy. Of "
                                        "equal cells it is the one with the lowest validation "
                                        "loss, then the lowest loss, then the fewest"),
            qPrintable(model.starRule()));
        model.show(GridModel::Measure::Accuracy);
        QCOMPARE(shownAt(model, 1, 1), QStringLiteral("★ 75.00 %"));
        judged.score.accuracy = 0.99996;
        model.set(3, judged);
        QCOMPARE(shownAt(model, 1, 1), QStringLiteral("★ >99.99 %"));
        judged.score.accuracy = 0.75;
        model.set(3, judged);
        QCOMPARE(shownAt(model, 0, 0), QStringLiteral("–"));
        model.show(GridModel::Measure::Scale);
        QCOMPARE(shownAt(model, 0, 0), QStringLiteral("2^10"));
        judged.zeroGradients = 0.25;
        judged.gradientError = 0.5;
        model.set(3, judged);
        judged.zeroGradients = 0.99996;
        model.set(2, judged);
        model.show(GridModel::Measure::ZeroGradients);
        QCOMPARE(shownAt(model, 1, 0), QStringLiteral("★ >99.9 %"));
        judged.zeroGradients = 0.5;
        judged.gradientError = 2;
        model.set(2, judged);
        QCOMPARE(model.measures().size(), 7);
        model.show(GridModel::Measure::ZeroGradients);
        QCOMPARE(shownAt(model, 1, 0), QStringLiteral("★ 50 %"));
        QCOMPARE(good(1, 0), 0.0);
        QCOMPARE(shownAt(model, 0, 0), QStringLiteral("–"));
        QVERIFY(model.about(2).contains(QStringLiteral("Zero gradients: 50 %\nGradient error: 2")));
        model.show(GridModel::Measure::GradientError);
        QCOMPARE(shownAt(model, 1, 1), QStringLiteral("0.5"));
        QCOMPARE(good(1, 1), 1.0);
        model.show(GridModel::Measure::Scale);
        const SettingGrid one(tinyConfig(5), 1, {parseSweep("scaler.init_scale=1,2,4")});
        model.begin(one);
        QCOMPARE(model.columnCount(), 1);
        QCOMPARE(model.headerData(0, Qt::Horizontal).toString(), QStringLiteral("Last loss scale"));
        QCOMPARE(model.axes(), QStringLiteral("Rows: First scale"));
    }

    /// An accuracy of 0 that says nothing is told as on the cards.
    void anOutputOfNanIsTold() {
        GridModel model;
        model.begin(fourCells());
        GridCell lost = cellOf(1);
        lost.score.accuracy = 0;
        lost.score.validationLoss = NAN;
        model.set(0, lost);
        lost.score.validationLoss = 0.5; // all predictions are wrong
        model.set(1, lost);
        model.show(GridModel::Measure::Accuracy);
        QCOMPARE(shownAt(model, 0, 0, Qt::EditRole), QStringLiteral("output is nan"));
        QCOMPARE(shownAt(model, 0, 1, Qt::EditRole), QStringLiteral("0.00 %"));
        QVERIFY2(model.about(0).contains(QStringLiteral("\nAccuracy: output is nan\n")),
                 qPrintable(model.about(0)));
    }

    /// Equal accuracies decide nothing: the words and the measure to open with are the next one's.
    void theStarTellsWhatDecided() {
        GridModel model;
        model.begin(fourCells());
        QCOMPARE(model.starReason(), QString());
        const auto judged = [](double accuracy, double validation) {
            GridCell cell = cellOf(1);
            cell.score.accuracy = accuracy;
            cell.score.validationLoss = validation;
            return cell;
        };
        model.set(0, judged(1, 0.25));
        QCOMPARE(model.starReason(), QStringLiteral("best accuracy"));
        QVERIFY(model.deciding() == GridModel::Measure::Accuracy);
        GridCell stopped = judged(1, 0.125);
        stopped.outcome = CellOutcome::Stopped;
        model.set(1, stopped); // is none of the equal ones
        model.set(2, judged(1, 0.5));
        QCOMPARE(model.starReason(),
                 QStringLiteral("best validation loss of 2 cells with equal accuracy"));
        QVERIFY(model.deciding() == GridModel::Measure::ValidationLoss);
        QVERIFY2(model.about(0).startsWith(
                     QStringLiteral("First scale 2^10, Growth interval 20: ★ best validation loss "
                                    "of 2 cells with equal accuracy\n")),
                 qPrintable(model.about(0)));
        model.set(3, judged(1, 0.25 + 1e-9)); // shown with the same digits
        QCOMPARE(model.starReason(),
                 QStringLiteral("best validation loss of 3 cells with equal accuracy; 1 other cell "
                                "shows the same digits"));
        model.set(3, judged(1, 0.25));
        QVERIFY(shownAt(model, 0, 0).startsWith(QStringLiteral("★"))); // it came first
        QCOMPARE(model.starReason(),
                 QStringLiteral("best accuracy; the first of 2 cells with equal accuracy, "
                                "validation loss, loss and skipped steps"));
        QVERIFY(model.deciding() == GridModel::Measure::Accuracy);
        model.begin(fourCells());
        QVERIFY(model.deciding() == GridModel::Measure::Loss);
    }

    void zerosSetTheBestInDoubt() {
        GridModel model;
        QCOMPARE(model.doubt(), QString());
        model.begin(fourCells());
        GridCell many = cellOf(1), few = cellOf(2);
        many.zeroGradients = 0.6;
        few.zeroGradients = 0.25;
        model.set(0, many);
        QCOMPARE(model.doubt(), QString());
        model.set(1, few);
        QCOMPARE(model.doubt(),
                 QStringLiteral("In the best cell, 60 % of the gradients are zero, in "
                                "others as few as 25 %: that it does best may be "
                                "chance."));
        many.score.accuracy = 0.25;
        many.classes = JudgedClasses{8, 2, 3};
        model.set(0, many);
        QVERIFY2(model.doubt().endsWith(QStringLiteral(
                     "be chance. In the best cell, 2 of 8 predicted classes are right, and always "
                     "naming the most frequent class gets 3 right: its accuracy may be chance.")),
                 qPrintable(model.doubt()));
    }
};

} // namespace tst_grid_model

QTEST_MAIN(tst_grid_model::TestGridModel)
#include "tst_grid_model.moc"
