// What the headline says of losses: which one it tells of a lane, how a critic's is called, and
// that a lane overfits.
#include "tests/support/array_files.h"
#include "tests/support/shown_lanes.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>

namespace tst_loss_words {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Returns what the model says of lanes with these rows, without its hard spaces.
QString summaryOf(RunModel& model) {
    model.refresh();
    return model.summary().replace(QChar::Nbsp, u' ');
}

/// Appends steps up to `last`, with a validation after it.
void train(Run& run, int64_t last, float loss, double validationLoss, double accuracy = NAN) {
    RunBatch steps;
    for (int64_t step = run.now().step() + 1; step <= last; ++step)
        for (const int lane : {0, 1}) {
            StepRow row = rowAt(step, lane, 1);
            row.set(metric::Loss, loss);
            if (step == last) row.set(metric::ValidationLoss, validationLoss);
            if (step == last && !std::isnan(accuracy)) row.set(metric::Accuracy, accuracy);
            steps.rows.push_back(row);
        }
    run.append(std::move(steps));
}

} // namespace

class TestLossWords : public QObject {
    Q_OBJECT

private slots:
    /// The two are of the same samples; the training loss may be thousands of times smaller.
    void anAccuracyStandsBesideTheLossOfItsSamples() {
        RunModel model;
        const auto run = shownIn(model);
        train(*run, 30, 0.0005F, 1.75, 0.75);
        const QString text = summaryOf(model);
        QVERIFY2(text.contains(QLatin1String("75.00 % (validation loss 1.75)")), qPrintable(text));
        QVERIFY2(!text.contains(QLatin1String("median")), qPrintable(text));
        QCOMPARE(model.medianNote(), QString());
    }

    void anEarlierBestLossIsTold() {
        RunModel model;
        const auto run = shownIn(model);
        train(*run, 30, 1.0F, 1.0);
        train(*run, 60, 0.5F, 1.05);
        QString text = summaryOf(model);
        QVERIFY2(text.contains(QLatin1String("(median 0.5, validation loss 1.05)")) &&
                     !text.contains(QLatin1String("overfit")),
                 qPrintable(text));
        QCOMPARE(model.lane(0).judgedForms(), (QStringList{"1.05, best 1", "1.05"}));
        train(*run, 90, 0.5F, 1.5);
        text = summaryOf(model);
        QVERIFY2(text.contains(QLatin1String("(median 0.5, validation loss 1.5, best 1 after step "
                                             "30)")),
                 qPrintable(text));
        QVERIFY2(text.contains(QLatin1String(
                     " A and B overfit: since their best validations their training losses have "
                     "fallen, but their validation losses have risen.")),
                 qPrintable(text));
        QVERIFY(!model.summaries().at(1).contains(QLatin1String("overfit"))); // where room is short
        train(*run, 120, 0.5F, 1.0);
        model.refresh();
        QCOMPARE(model.lane(0).judgedForms(), QStringList{"1"}); // as good as the best
    }

    void anEarlierBestAccuracyIsTold() {
        RunModel model;
        const auto run = shownIn(model);
        train(*run, 30, 1.0F, 1.0, 0.792);
        train(*run, 60, 0.5F, 1.2, 0.75);
        const QString text = summaryOf(model);
        QVERIFY2(text.contains(QLatin1String("75.00 % (best 79.20 % after step 30, validation loss "
                                             "1.2)")) &&
                     text.contains(QLatin1String("so have their validation accuracies.")),
                 qPrintable(text));
        QCOMPARE(model.lane(0).judgedForms().front(), QStringLiteral("75.00 %, best 79.20 %"));
    }

    /// Without validations, the losses of the same batches are compared.
    void theDifferenceOfTheMediansIsTold() {
        for (const auto& [loss, told] :
             {std::pair(1.1F, " B's median loss is 10 % higher than A's."),
              std::pair(1.004F, " A and B have nearly the same median loss.")}) {
            RunModel model;
            const auto run = shownIn(model);
            for (const int64_t steps : {24, 1}) {
                QVERIFY2(!summaryOf(model).contains(QLatin1String("than A's")),
                         "a few losses were compared");
                RunBatch batch;
                for (int64_t step = 0; step < steps; ++step)
                    for (const int lane : {0, 1}) {
                        StepRow row = rowAt(run->now().step() + 1 + step, lane, 1);
                        row.set(metric::Loss, lane == 0 ? 1.0F : loss);
                        batch.rows.push_back(row);
                    }
                run->append(std::move(batch));
            }
            const QString text = summaryOf(model);
            QVERIFY2(text.contains(QLatin1String(told)), qPrintable(text));
        }
    }

    /// What a lane was like before it was lost is no verdict.
    void aLostLaneIsNotCompared() {
        RunModel model;
        const auto run = shownIn(model);
        train(*run, 30, 1.0F, 1.0, 0.75);
        QVERIFY(summaryOf(model).contains(QLatin1String(" A and B have the same")));
        RunBatch step;
        for (const int lane : {0, 1}) {
            StepRow row = rowAt(31, lane, 1);
            row.set(metric::Loss, lane == 0 ? 1.0F : NAN);
            step.rows.push_back(row);
        }
        run->append(std::move(step));
        const QString text = summaryOf(model);
        QVERIFY2(!text.contains(QLatin1String("A and B have")), qPrintable(text));
    }

    void theFarthestOfSeveralIsTold_data() {
        QTest::addColumn<QList<double>>("losses");
        QTest::addColumn<QString>("told");
        QTest::newRow("times") << QList<double>{1, 1.2, 4, 0.5}
                               << "C is farthest from A: its validation loss is 4 times A's.";
        QTest::newRow("lower")
            << QList<double>{1, 1.2, 0.4}
            << "C is farthest from A: its validation loss is 60 % lower than A's.";
        QTest::newRow("higher")
            << QList<double>{1, 1.2, 1.1}
            << "B is farthest from A: its validation loss is 20 % higher than A's.";
        QTest::newRow("two as far")
            << QList<double>{1, 1.25, 1.25, 1.1}
            << "No lane is farther from A than C: its validation loss is 25 % higher than A's.";
        QTest::newRow("near") << QList<double>{1, 1.0002, 0.9999}
                              << "All lanes have nearly the same validation loss.";
        QTest::newRow("one is lost") << QList<double>{1, INFINITY, 0.5} << QString();
    }

    void theFarthestOfSeveralIsTold() {
        QFETCH(const QList<double>, losses);
        QFETCH(const QString, told);
        RunModel model;
        RunConfig config = defaultConfig();
        config.lanes.resize(static_cast<size_t>(losses.size()), config.lanes[0]);
        const auto run = shownIn(model, config);
        RunBatch step;
        for (int lane = 0; lane < losses.size(); ++lane) {
            StepRow row = rowAt(1, lane, 1);
            row.set(metric::ValidationLoss, losses[lane]);
            step.rows.push_back(row);
        }
        run->append(std::move(step));
        const QString text = summaryOf(model);
        if (told.isEmpty())
            QVERIFY2(!text.contains(QLatin1String("farthest")), qPrintable(text));
        else
            QVERIFY2(text.contains(u' ' + told), qPrintable(text));
    }

    /// Whether half precision cost anything is what most people want to know.
    void theDifferenceIsTold_data() {
        QTest::addColumn<double>("loss");
        QTest::addColumn<double>("accuracy");
        QTest::addColumn<QString>("told");
        const double none = NAN;
        QTest::newRow("points") << 2.0 << 0.7475
                                << "B's validation accuracy is 0.25 points below A's.";
        QTest::newRow("more") << 2.0 << 0.76 << "B's validation accuracy is 1.00 points above A's.";
        QTest::newRow("same") << 2.0 << 0.75 << "A and B have the same validation accuracy.";
        QTest::newRow("higher") << 1.03 << none << "B's validation loss is 3 % higher than A's.";
        QTest::newRow("lower") << 0.5 << none << "B's validation loss is 50 % lower than A's.";
        QTest::newRow("much higher")
            << 2.5 << none << "B's validation loss is 150 % higher than A's.";
        QTest::newRow("much lower")
            << 0.15 << none << "B's validation loss is 85 % lower than A's.";
        QTest::newRow("a little of it")
            << 0.0034 << none << "B's validation loss is 0.34 % of A's.";
        QTest::newRow("next to nothing")
            << 3e-8 << none << "B's validation loss is less than 0.01 % of A's.";
        QTest::newRow("beyond all")
            << 2e9 << none << "B's validation loss is more than a million times A's.";
        QTest::newRow("very far") << 2300.0 << none << "B's validation loss is 2,300 times A's.";
        QTest::newRow("nearly the same")
            << 2.0 << 0.75001 << "A and B have nearly the same validation accuracy.";
        QTest::newRow("far") << 7.5 << none << "B's validation loss is 7.5 times A's.";
        QTest::newRow("near") << 1.0002 << none << "A and B have nearly the same validation loss.";
        QTest::newRow("lost") << double(INFINITY) << none << QString();
    }

    void theDifferenceIsTold() {
        QFETCH(const double, loss);
        QFETCH(const double, accuracy);
        QFETCH(const QString, told);
        RunModel model;
        const auto run = shownIn(model);
        RunBatch step;
        for (const int lane : {0, 1}) {
            StepRow row = rowAt(1, lane, 1);
            row.set(metric::ValidationLoss, lane == 0 ? 1.0 : loss);
            if (!std::isnan(accuracy)) row.set(metric::Accuracy, lane == 0 ? 0.75 : accuracy);
            step.rows.push_back(row);
        }
        run->append(std::move(step));
        const QString text = summaryOf(model);
        if (told.isEmpty())
            QVERIFY2(!text.contains(QLatin1String("B's validation")) &&
                         !text.contains(QLatin1String("A and B have")),
                     qPrintable(text));
        else
            QVERIFY2(text.contains(u' ' + told), qPrintable(text));
    }

    /// A few samples may have any loss: their own must not lead where there is a steadier figure.
    void aSmallLastBatchHasTheMedian() {
        RunConfig config = defaultConfig();
        config.task = presetNamed("regression").config.task; // 157 steps an epoch, the last of 16
        RunModel model;
        const auto run = shownIn(model, config);
        RunBatch steps;
        for (int64_t step = 1; step <= 157; ++step)
            for (const int lane : {0, 1})
                steps.rows.push_back(
                    rowAt(step, lane, 1).set(metric::Loss, step == 157 ? 52.58F : 24.5F));
        run->append(std::move(steps));
        const QString text = summaryOf(model);
        QVERIFY2(text.startsWith(QLatin1String("After step 157 the median loss is: A fp32 24.5")),
                 qPrintable(text));
        QVERIFY2(!text.contains(QLatin1String("52.58")), qPrintable(text));
        QVERIFY(!model.medianNote().isEmpty());
    }

    void aCriticsLossIsNamed() {
        RunConfig config = defaultConfig();
        const auto told = [&config](Adversary adversary, int64_t last) {
            config.model.adversary = adversary;
            RunModel model;
            const auto run = shownIn(model, config);
            RunBatch steps;
            for (int64_t step = 1; step <= last; ++step)
                for (const int lane : {0, 1})
                    steps.rows.push_back(rowAt(step, lane, 1));
            run->append(std::move(steps));
            model.refresh();
            return model.summaries();
        };
        QVERIFY(told(Adversary::Gan, 12)[0].startsWith("In step 12 the critic's loss is: A"));
        QVERIFY(told(Adversary::Gan, 12).last().startsWith("Critic's loss in step 12: A"));
        QVERIFY(told(Adversary::WganGp, 12)[0].startsWith("In step 12 the critic's distance is: "));
        const QStringList many = told(Adversary::Gan, 30);
        QVERIFY2(many.last().startsWith("Critic's loss after step 30 (median): A"),
                 qPrintable(many.last()));
        QVERIFY2(many.contains("After step 30 the median of the critic's loss is: A\u00a00.25, "
                               "B\u00a00.25."),
                 qPrintable(many.join(u'|')));
    }

    void theNextValidationIsKnown() {
        RunConfig config = defaultConfig();
        config.task = presetNamed("moons").config.task;
        config.validation = {.epochs = 0, .steps = 40};
        config.steps = 100;
        RunModel model;
        const auto run = shownIn(model, config);
        QCOMPARE(model.nextValidation(), int64_t{40});
        train(*run, 40, 1, 1);
        model.refresh();
        QCOMPARE(model.nextValidation(), int64_t{80});
        train(*run, 85, 1, 1);
        model.refresh();
        QCOMPARE(model.nextValidation(), int64_t{100}); // the end
        train(*run, 100, 1, 1);
        model.refresh();
        QCOMPARE(model.nextValidation(), int64_t{0});
    }

    void noValidationIsPromisedWithoutSamples() {
        const QTemporaryDir folder;
        RunConfig config = defaultConfig();
        config.task.kind = TaskKind::Arrays;
        config.task.x = folder.filePath("x.npy").toStdString();
        config.task.y = folder.filePath("y.npy").toStdString();
        config.task.loss.kind = LossKind::CrossEntropy;
        writeBytes(config.task.x, npy("<f4", "(4, 1)", std::string(16, '\0')));
        writeBytes(config.task.y, npy("|u1", "(4,)", std::string("\0\1\0\1", 4)));
        config.validation = {.epochs = 0, .steps = 40};
        config.steps = 100;
        const auto next = [&config](double share) {
            config.task.validation = share;
            RunModel model;
            const auto run = shownIn(model, config);
            return model.nextValidation();
        };
        QCOMPARE(next(0.5), int64_t{40});
        QCOMPARE(next(0), int64_t{0});
    }
};

} // namespace tst_loss_words

QTEST_GUILESS_MAIN(tst_loss_words::TestLossWords)
#include "tst_loss_words.moc"
