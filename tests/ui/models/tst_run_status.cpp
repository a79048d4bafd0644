// The status of a lane: the loss scale of its next step beside edits and forks, and which lane's
// zero gradients are compared with its own.
#include "engine/data/held_fault.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"
#include "tests/support/shown_lanes.h"
#include "ui/models/run_facts.h"
#include "ui/models/run_model.h"
#include "ui/models/translated.h"

#include <QTest>

namespace tst_run_status {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Returns the row of a skipped step and the backoff that comes of it.
RunBatch overflowAt(int64_t step, int lane, float scale) {
    RunBatch batch;
    batch.rows.push_back(rowAt(step, lane, scale).setFlags(kSkipped | kBackedOff));
    batch.events.push_back({EventKind::Backoff, step, lane, scale, scale / 2, {}, {}});
    return batch;
}

/// Returns a text as the summary writes it, where no line ends within a note.
QString unbroken(const char* text) { return QString::fromUtf8(text).replace(u' ', QChar::Nbsp); }

} // namespace

class TestRunStatus : public QObject {
    Q_OBJECT
private slots:
    void anEditedScale();
    void aCheckpointFillsItsRow();
    void theScaleOfAFork();
    void zerosBesideAFiniteLane();
    void skipsOfUpdates();
    void skipsOfAParent();
    void aLossThatIsLost();
    void aLostLossBesideAnAccuracy();
    void aStepThatWasTaken();
    void whatWasJudgedIsNamed();
    void anEarlierBestIsTold();
    void shortWordsHaveTheMedian();
    void shortWordsHaveTheAccuracy();
    void shortWordsAreOfTheirStep();
    void aSmallLastBatchIsTold();
    void dataThatAreNotFinite();
    void validationDataThatAreNotFinite();
    void underflowBesideFaults();
    void anotherReasonBesideDataFaults();
};

/// Before the first step, all figures of a row are those of the checkpoint that the run goes on
/// from.
void TestRunStatus::aCheckpointFillsItsRow() {
    RunModel model;
    const RunConfig config = defaultConfig();
    const auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config));
    model.setRun(run, {300, {{}, {.scale = 1024, .clean = 40, .skipped = 3}}});
    const auto shown = [&model](RunModel::Column column) {
        return model.index(1, column).data().toString();
    };
    QCOMPARE(shown(RunModel::StepColumn), QStringLiteral("300"));
    QVERIFY(shown(RunModel::ScaleColumn).endsWith(QStringLiteral("2^10")));
    QVERIFY2(shown(RunModel::TrackerColumn).startsWith(QStringLiteral("40 of ")),
             qPrintable(shown(RunModel::TrackerColumn)));
    QCOMPARE(shown(RunModel::SkippedColumn), QStringLiteral("3"));
    RunBatch step;
    for (const int lane : {0, 1})
        step.rows.push_back(rowAt(301, lane, 1024));
    run->append(std::move(step));
    model.refresh();
    QCOMPARE(shown(RunModel::StepColumn), QStringLiteral("301"));
}

/// What a lane skipped before a fork is not the fork's fault; two lanes are joined by "and".
void TestRunStatus::skipsOfAParent() {
    RunConfig config = defaultConfig();
    config.forks.push_back({105, 1, 0, config.lanes[1]});
    std::vector<LaneInfo> lanes = lanesOf(config);
    RunBatch forked;
    forked.lanes.push_back(lanes.back());
    lanes.pop_back();
    RunInfo info = cpuRunInfo(config);
    info.config = settingsAtEnd(config);
    const auto run = std::make_shared<Run>(std::move(info), lanes);
    RunModel model;
    model.setRun(run);
    const auto take = [&](int64_t from, int64_t to, int lane, int64_t skippedBefore, bool skips) {
        RunBatch steps;
        for (int64_t step = from; step <= to; ++step) {
            StepRow row = rowAt(step, lane, 1024);
            const bool skipped = skips && step % 2 == 0;
            skippedBefore += skipped ? 1 : 0;
            row.set(metric::SkippedSoFar, skippedBefore);
            if (skipped) row.setFlags(kSkipped);
            row.set(metric::GrowthTracker, skips ? int64_t{1} : step); // it has found its place
            steps.rows.push_back(row);
        }
        run->append(std::move(steps));
    };
    take(1, 104, 0, 0, false);
    take(1, 52, 1, 0, false);
    take(53, 104, 1, 0, true);
    run->append(std::move(forked));
    take(105, 110, 0, 0, false);
    take(105, 110, 1, 26, true);
    take(105, 110, 2, 26, false);
    model.refresh();
    QString text = model.summary().replace(QChar::Nbsp, u' ');
    // the reason, too, where there is room for it
    QVERIFY2(text.contains(QLatin1String(" B skipped more steps than is normal. 29 of them did not "
                                         "follow a growth of the loss scale.")),
             qPrintable(text));
    for (const QString& brief : model.summaries().mid(1))
        QVERIFY2(brief.endsWith(QLatin1String("B skipped more steps than is normal.")),
                 qPrintable(brief));
    // its parent has told of them
    QVERIFY2(text.contains(QLatin1String("29 skipped)")) && !text.contains(QLatin1String("26 sk")),
             qPrintable(text));
    take(111, 160, 1, 29, true);
    take(111, 160, 2, 26, true);
    model.refresh();
    text = model.summary().replace(QChar::Nbsp, u' ');
    QVERIFY2(
        text.contains(QLatin1String(" B and C skipped more steps than is normal. B: 54 of them "
                                    "did not follow a growth of the loss scale.")),
        qPrintable(text));
    QVERIFY2(text.count(QLatin1String(" skipped)")) == 2, qPrintable(text));
}

/// Where room is short, lanes that predict classes are compared by how often they are right.
void TestRunStatus::shortWordsHaveTheAccuracy() {
    RunModel model;
    const auto run = shownIn(model);
    RunBatch steps;
    for (int64_t step = 1; step <= 30; ++step)
        for (const int lane : {0, 1})
            steps.rows.push_back(rowAt(step, lane, 1).set(metric::Accuracy, lane == 0 ? 0.75 : 1));
    run->append(std::move(steps));
    model.refresh();
    const QStringList texts = model.summaries();
    const QString first =
        unbroken("75.00 %") + QStringLiteral(" (%1), ").arg(unbroken("median training loss 0.25"));
    QVERIFY2(texts[0].startsWith(QLatin1String("After step 30 the validation accuracy is: A")) &&
                 texts[0].contains(first),
             qPrintable(texts[0]));
    const QString both = unbroken("A 75.00 %") + QStringLiteral(", ") + unbroken("B 100.00 %.");
    QVERIFY(texts[0].endsWith(QStringLiteral("accuracy is 25.00 points above A's.")));
    QCOMPARE(texts[2], QStringLiteral("After step 30 the validation accuracy is: ") + both);
    QCOMPARE(texts[3], QStringLiteral("Validation accuracy after step 30: ") + both);
}

/// A run that ends between two validations has no accuracy of its last step. An accuracy from
/// before a loss was lost would hide that, and so would the median while most losses are finite.
void TestRunStatus::shortWordsAreOfTheirStep() {
    const RunConfig config = defaultConfig();
    const auto told = [&config](int64_t steps, int64_t lostAt, double validationLoss) {
        RunModel model;
        const auto run = shownIn(model, config);
        RunBatch batch;
        for (int64_t step = 1; step <= steps; ++step)
            for (const int lane : {0, 1}) {
                StepRow row = rowAt(step, lane, 1);
                if (lane == 1 && lostAt > 0 && step >= lostAt)
                    row.set(metric::Loss, NAN).setFlags(kLossNotFinite);
                const bool isNan = lane == 1 && std::isnan(validationLoss);
                if (step % 50 == 0)
                    row.set(metric::ValidationLoss, isNan ? validationLoss : 0.5)
                        .set(metric::Accuracy, isNan ? 0 : 0.97);
                batch.rows.push_back(row);
            }
        run->append(std::move(batch));
        model.refresh();
        return model.summaries().last().replace(QChar::Nbsp, u' ');
    };
    QCOMPARE(told(200, 0, 0.5), QStringLiteral("Validation accuracy after step 200: A 97.00 %, "
                                               "B 97.00 %."));
    QCOMPARE(told(227, 0, 0.5), QStringLiteral("Median loss after step 227: A 0.25, B 0.25."));
    QCOMPARE(told(227, 220, 0.5),
             QStringLiteral("Median loss after step 227: A 0.25, B not a number."));
    QCOMPARE(told(200, 195, 0.5),
             QStringLiteral("Median loss after step 200: A 0.25, B not a number."));
    QCOMPARE(told(200, 0, NAN),
             QStringLiteral("Validation accuracy after step 200: A 97.00 %, B: output is nan."));
}

/// Where room is short, the losses that are compared are not those of a single step, in which the
/// order may be another one.
void TestRunStatus::shortWordsHaveTheMedian() {
    RunModel model;
    const auto run = shownIn(model);
    const auto take = [&](int64_t first, int64_t last, float loss) {
        RunBatch steps;
        for (int64_t step = first; step <= last; ++step)
            for (const int lane : {0, 1}) {
                StepRow row = rowAt(step, lane, 1);
                row.set(metric::Loss, lane == 0 ? loss : 2.0f);
                steps.rows.push_back(row);
            }
        run->append(std::move(steps));
        model.refresh();
    };
    take(1, 24, 1);
    QCOMPARE(model.summaries()[1], QStringLiteral("In step 24 the loss is: A\u00a01, B\u00a02."));
    take(25, 29, 1);
    take(30, 30, 8);
    QStringList texts = model.summaries();
    QVERIFY2(texts[0].contains(QStringLiteral("\u00a08 (median")) &&
                 texts[0].endsWith(QStringLiteral("B's median loss is 100 % higher than A's.")),
             qPrintable(texts[0]));
    texts.removeFirst(); // the next one lacks the last sentence alone
    QCOMPARE(texts[1], QStringLiteral("After step 30 the median loss is: A\u00a01, B\u00a02."));
    QCOMPARE(texts[2], QStringLiteral("Median loss after step 30: A\u00a01, B\u00a02."));
}

/// The loss of the few samples that an epoch leaves over says little.
void TestRunStatus::aSmallLastBatchIsTold() {
    RunConfig config = defaultConfig();
    config.task = presetNamed("regression").config.task;
    QCOMPARE(epochPlanOf(config).lastRows(), int64_t{16}); // the others have 64
    RunModel model;
    const auto run = shownIn(model, config);
    const auto take = [&](int64_t step) {
        RunBatch steps;
        for (const int lane : {0, 1})
            steps.rows.push_back(rowAt(step, lane, 1));
        run->append(std::move(steps));
        model.refresh();
    };
    take(156);
    QCOMPARE(model.smallBatch(), int64_t{0});
    QVERIFY2(!model.summary().contains(QStringLiteral("samples")), qPrintable(model.summary()));
    take(157);
    QCOMPARE(model.smallBatch(), int64_t{16});
    const QStringList texts = model.summaries();
    const QString full = QStringLiteral("In step 157 the loss of the last batch (16 samples) is: ");
    QVERIFY2(texts.first().startsWith(full), qPrintable(texts.first()));
    QCOMPARE(texts.last(),
             QStringLiteral("Loss of 16 samples in step 157: A\u00a00.25, B\u00a00.25."));
    take(158);
    QCOMPARE(model.smallBatch(), int64_t{0});
}

/// A median of losses that are not finite tells nothing; the step since when they are does.
void TestRunStatus::aLossThatIsLost() {
    RunModel model;
    const auto run = shownIn(model);
    RunBatch steps;
    for (int64_t step = 1; step <= 300; ++step)
        for (const int lane : {0, 1}) {
            StepRow row = rowAt(step, lane, 1);
            if (lane == 1 && step > 3) row.set(metric::Loss, NAN).setFlags(kLossNotFinite);
            steps.rows.push_back(row);
        }
    run->append(std::move(steps));
    model.refresh();
    const QString text = model.summary().replace(QChar::Nbsp, u' ');
    QVERIFY2(text.contains(QLatin1String("B amp-fp16 not finite since step 4.")), qPrintable(text));
    QCOMPARE(text.section(QStringLiteral("not finite"), 0, 0).count(u':'), 1);
    QVERIFY2(text.contains(QLatin1String("(median 0.25)")), qPrintable(text));
}

/// "since" is told of the loss, and takes its place whatever else is known: it may have been
/// infinite first, as its event says, and nan later.
void TestRunStatus::aLostLossBesideAnAccuracy() {
    RunModel model;
    const auto run = shownIn(model);
    RunBatch steps;
    for (int64_t step = 1; step <= 4; ++step) {
        const bool lost = step > 2;
        steps.rows.push_back(rowAt(step, 1, 1)
                                 .set(metric::ValidationLoss, lost ? double{NAN} : 0.5)
                                 .set(metric::Accuracy, lost ? 0 : 0.975)
                                 .set(metric::SkippedSoFar, int64_t{lost}));
        if (lost) steps.rows.back().set(metric::Loss, NAN).setFlags(kLossNotFinite);
    }
    run->append(std::move(steps));
    model.refresh();
    const QString text = model.summary().replace(QChar::Nbsp, u' ');
    QVERIFY2(text.contains(QLatin1String(" not finite since step 3 (output is nan, best 97.50 % "
                                         "after step 1, 1 skipped)")),
             qPrintable(text));
}

/// The lanes have no skips to be judged by, and the loss was lost a step later. In the first lane,
/// which does not scale its loss, the training may just diverge.
void TestRunStatus::aStepThatWasTaken() {
    RunConfig config = defaultConfig();
    config.lanes.push_back(config.lanes[1]);
    RunModel model;
    const auto run = shownIn(model, config);
    RunBatch steps;
    for (const int lane : {0, 1, 2}) {
        steps.rows.push_back(rowAt(1, lane, 1).set(metric::GradientNorm, INFINITY));
        for (int64_t step = 2; step <= 5; ++step)
            steps.rows.push_back(
                rowAt(step, lane, 1).set(metric::Loss, NAN).setFlags(kLossNotFinite));
    }
    run->append(std::move(steps));
    model.refresh();
    const QString told =
        QStringLiteral(" Step 1 of B and C was taken although its gradients were not finite.");
    QVERIFY2(model.summary().endsWith(told), qPrintable(model.summary()));
    QVERIFY2(!model.summaries().last().contains(QLatin1String("was taken")),
             qPrintable(model.summaries().last()));
    QVERIFY(translated(model.lane(1).skipSentence()).contains(QLatin1String("A scaler that")));
    QVERIFY(translated(model.lane(0).skipSentence()).contains(QLatin1String("learning rate")));
}

/// The loss is that of the last batch, and the accuracy of other samples.
void TestRunStatus::whatWasJudgedIsNamed() {
    const RunConfig config = defaultConfig();
    const auto summaryOf = [&config](MetricId id, double a, double b) {
        RunModel model;
        const auto run = shownIn(model, config);
        RunBatch step;
        step.rows = {rowAt(1, 0, 1).set(id, a), rowAt(1, 1, 1).set(id, b)};
        run->append(std::move(step));
        model.refresh();
        return model.summary().replace(QChar::Nbsp, u' ');
    };
    const QString shares = summaryOf(metric::Accuracy, 0.75, 0.9731);
    QVERIFY2(shares.startsWith(QLatin1String("After step 1 the validation accuracy is: A")) &&
                 shares.contains(QLatin1String(" 75.00 % (training loss 0.25), ")) &&
                 shares.contains(QLatin1String(" 97.31 % (training loss 0.25).")),
             qPrintable(shares));
    QVERIFY(summaryOf(metric::Accuracy, 1, 1)
                .contains(QLatin1String(" 100.00 % (training loss 0.25)")));
    QVERIFY(summaryOf(metric::Accuracy, 1, 0.99996)
                .contains(QLatin1String(" >99.99 % (training loss")));
    const QString errors = summaryOf(metric::ValidationError, 12.5, 3);
    QVERIFY2(errors.contains(QLatin1String("0.25 (validation error 12.5)")) &&
                 errors.contains(QLatin1String("0.25 (validation error 3)")),
             qPrintable(errors));
    RunModel model; // and it is told how many samples these figures are not of
    RunBatch lost;
    lost.rows = {rowAt(1, 0, 1), rowAt(1, 1, 1)};
    lost.events = {{EventKind::Damaged, 1, -1, 1, 1, {}, {kNotValidatedOn, 1, "a.png: cut off"}}};
    shownIn(model, config)->append(std::move(lost));
    model.refresh();
    QVERIFY(model.summary().contains(QLatin1String("were left out: 1 (of those")));
}

/// A lane whose accuracy fell since says when it was best; small differences may be chance.
void TestRunStatus::anEarlierBestIsTold() {
    RunModel model;
    const auto run = shownIn(model);
    RunBatch steps;
    steps.rows = {
        rowAt(1, 0, 1).set(metric::Accuracy, 1.0), rowAt(1, 1, 1).set(metric::Accuracy, 0.97),
        rowAt(2, 0, 1).set(metric::Accuracy, 0.9615), rowAt(2, 1, 1).set(metric::Accuracy, 0.9615)};
    run->append(std::move(steps));
    model.refresh();
    const QString text = model.summary().replace(QChar::Nbsp, u' ');
    QVERIFY2(
        text.contains(QLatin1String(" 96.15 % (best 100.00 % after step 1, training loss 0.25)")),
        qPrintable(text));
    QVERIFY2(text.contains(QLatin1String(" 96.15 % (training loss 0.25)")), qPrintable(text));
}

/// The reason comes first, and the loss scale that it brought down is none.
void TestRunStatus::dataThatAreNotFinite() {
    RunModel model;
    const auto run = shownIn(model);
    const auto summary = [&] {
        model.refresh();
        return model.summary().replace(QChar::Nbsp, u' ');
    };
    const auto skip = [&](int64_t first, int64_t last, std::vector<Event> events) {
        RunBatch batch;
        batch.events = std::move(events);
        for (int64_t step = first; step <= last; ++step)
            batch.rows.push_back(rowAt(step, 1, 1)
                                     .set(metric::SkippedSoFar, step)
                                     .set(metric::Loss, NAN)
                                     .setFlags(kSkipped | kLossNotFinite));
        run->append(std::move(batch));
    };
    Event fault{EventKind::Overflow, 41, 1, 4096, 4096, {}, {}};
    fault.tensor = Message(kInputOf, int64_t{362}).english();
    skip(1, 41, {fault});
    model.refresh();
    QCOMPARE(model.lane(1).lastBrief, QStringLiteral("Step 41: Bad data, scale stays"));
    skip(42, 60, {});
    const QString reason = QStringLiteral(
        "The data hold inf or nan: the input of sample 362 in step 41. Every step of B was "
        "skipped, so its weights never changed.");
    QVERIFY2(summary().endsWith(u' ' + reason), qPrintable(summary()));
    QCOMPARE(model.summaries().last(), reason);
}

/// Skips tell nothing of samples that no step sees. A run of other data has no such sentence.
void TestRunStatus::validationDataThatAreNotFinite() {
    RunConfig config = defaultConfig();
    config.task.kind = TaskKind::Arrays;
    config.task.x = "held-back-nan.npy";
    setHeldFault(taskOf(config), Message::data("The validation data hold inf or nan."));
    const QString told = QStringLiteral(
        " The validation data hold inf or nan. Such values can make the validation loss inf or "
        "nan, whatever the precision: correct them, or leave the samples out.");
    for (const double loss : {double{NAN}, 0.5}) {
        RunModel model;
        const auto run = shownIn(model, config);
        RunBatch batch = overflowAt(1, 1, 65536);
        batch.rows[0].set(metric::SkippedSoFar, int64_t{1});
        for (int64_t step = 2; step <= 40; ++step)
            batch.rows.push_back(rowAt(step, 1, 32768).set(metric::SkippedSoFar, int64_t{1}));
        batch.rows.back().set(metric::ValidationLoss, loss);
        run->append(std::move(batch));
        model.refresh();
        const QString text = model.summary();
        QVERIFY2(text.endsWith(told) == std::isnan(loss), qPrintable(text));
        QVERIFY2(text.endsWith(QLatin1String("B's skip is normal.")) != std::isnan(loss),
                 qPrintable(text));
    }
}

/// The headline says of a loss scale what the event of the underflow does, and never keeps silent
/// about it.
void TestRunStatus::underflowBesideFaults() {
    const RunConfig config = defaultConfig();
    const auto endsWith = [&config](QLatin1String cause, std::vector<Event> events) {
        RunModel model;
        const auto run = shownIn(model, config);
        RunBatch batch;
        for (int64_t step = 1; step <= 60; ++step)
            batch.rows.push_back(rowAt(step, 1, 1));
        batch.events = std::move(events);
        run->append(std::move(batch));
        model.refresh();
        return model.summary().replace(QChar::Nbsp, u' ').endsWith(cause);
    };
    const auto endsWithAdvice = [&](const std::vector<Event>& events) {
        return endsWith(QLatin1String("rounded to zero: its loss scale was too small."), events);
    };
    const auto blamesFaults = [&](const std::vector<Event>& events) {
        return endsWith(QLatin1String("At step 56 all gradients of B rounded to zero: steps that "
                                      "overflow at any loss scale have brought its loss scale "
                                      "down."),
                        events);
    };
    const auto underflow = [](int64_t step, const Message& text) {
        return Event{EventKind::Underflow, step, 1, 2, 2, {}, text};
    };
    const Message small = Message::data("Step: lost."), ofFault{kUnderflowOfFault, 56, "2", "4096"};
    for (const std::string& tensor :
         {Message(kInputOf, int64_t{362}).english(), Message(kForwardPass, "layer 1").english()}) {
        const Event fault{EventKind::Overflow, 41, 1, 4096, 2048, tensor, {}};
        QVERIFY(blamesFaults({fault, underflow(56, ofFault)}));
        QVERIFY(endsWithAdvice({fault, underflow(56, small)}));
        QVERIFY(endsWithAdvice({underflow(20, small), fault}));
        QVERIFY(endsWithAdvice({underflow(20, small), fault, underflow(56, ofFault)}));
        QVERIFY(endsWithAdvice({fault, underflow(56, ofFault), underflow(58, small)}));
    }
}

/// Once a layer has lost the loss, that is why the steps are skipped, and nothing else tells it.
void TestRunStatus::anotherReasonBesideDataFaults() {
    constexpr int64_t kLost = 50;
    RunModel model;
    const auto run = shownIn(model);
    RunBatch batch;
    for (int64_t step = 1; step <= 60; ++step) {
        batch.rows.push_back(rowAt(step, 1, 1).set(metric::GradientNorm, 1.0));
        if (step == 41)
            batch.rows.back().setFlags(kSkipped).set(metric::SkippedSoFar, int64_t{1});
        else if (step >= kLost)
            batch.rows.back()
                .setFlags(kSkipped | kLossNotFinite)
                .set(metric::SkippedSoFar, step - kLost + 2)
                .set(metric::Loss, NAN);
    }
    Event fault{EventKind::Overflow, 41, 1, 4096, 4096, {}, {}};
    fault.tensor = Message(kInputOf, int64_t{362}).english();
    Event layer{EventKind::Overflow, kLost, 1, 4096, 4096, {}, {}};
    layer.tensor = "forward pass of layer 1";
    batch.events = {fault, layer};
    run->append(std::move(batch));
    model.refresh();
    const QString summary = model.summary().replace(QChar::Nbsp, u' ');
    for (const char* reason : {"The data hold inf or nan: the input of sample 362 in step 41.",
                               "B skipped more steps than is normal.", "orward pass of layer 1"})
        QVERIFY2(summary.contains(QLatin1String(reason)), qPrintable(summary));
}

/// Where the batches of three steps add up, each third step can be skipped.
void TestRunStatus::skipsOfUpdates() {
    RunConfig config = defaultConfig();
    config.gradients.accumulate = 3;
    RunModel model;
    const auto run = shownIn(model, config);
    RunBatch steps;
    for (int64_t step = 1; step <= 7; ++step)
        for (const int lane : {0, 1}) {
            StepRow row = rowAt(step, lane, 1024);
            row.set(metric::SkippedSoFar, lane == 1 ? step / 3 : 0);
            if (lane == 1 && step % 3 == 0) row.setFlags(kSkipped);
            steps.rows.push_back(row);
        }
    run->append(std::move(steps));
    model.refresh();
    QCOMPARE(model.lane(1).updates(), int64_t{2});
    QCOMPARE(model.lane(1).skippedShare(), 1.0);
    QCOMPARE(model.lane(0).skippedShare(), 0.0);
    QVERIFY2(model.summary().contains("Every update of B"), qPrintable(model.summary()));
}

/// An edit counts until its step has been taken, and no longer.
void TestRunStatus::anEditedScale() {
    RunConfig config = defaultConfig();
    config.edits.push_back({6, 1, kLiveScale, 1024.0});
    RunModel model;
    const auto run = shownIn(model, config);
    RunBatch before;
    before.rows = {rowAt(5, 0, 1), rowAt(5, 1, 65536)};
    run->append(std::move(before));
    model.refresh();
    QCOMPARE(model.lane(1).scale(), 1024.0f);
    GradientRange counted;
    counted.step = 6;
    counted.scale = 1024;
    QVERIFY(haveNewScale(counted, run->now(), 1));
    run->append(overflowAt(6, 1, 1024)); // the first step with the edited scale
    model.refresh();
    QCOMPARE(model.lane(1).scale(), 512.0f);
}

/// A fork of a lane without a loss scale begins with its own, and goes on with what its steps left.
void TestRunStatus::theScaleOfAFork() {
    RunConfig config = defaultConfig();
    config.forks.push_back({6, 0, 0, defaultLane(Precision::AmpFp16)});
    config.forks.back().lane.scaler.initScale = 256;
    std::vector<LaneInfo> lanes = lanesOf(config);
    const LaneInfo fork = lanes.back();
    lanes.pop_back();
    RunInfo info = cpuRunInfo(config);
    info.config = settingsAtEnd(config);
    const auto run = std::make_shared<Run>(std::move(info), lanes);
    RunModel model;
    model.setRun(run);
    RunBatch before, forked;
    before.rows = {rowAt(5, 0, 1), rowAt(5, 1, 65536)};
    run->append(std::move(before));
    forked.lanes.push_back(fork);
    run->append(std::move(forked));
    model.refresh();
    QCOMPARE(model.lanes(), 3);
    QCOMPARE(model.lane(2).scale(), 256.0f);
    GradientRange counted;
    counted.step = run->now().totals(2).last().step + 1;
    counted.scale = 256;
    QCOMPARE(counted.step, int64_t{6});
    QVERIFY(!haveNewScale(counted, run->now(), 2)); // nobody has set it
    run->append(overflowAt(6, 2, 256));             // its first step
    model.refresh();
    QCOMPARE(model.lane(2).scale(), 128.0f);
}

/// Gradients that overflowed in FP32, too, tell nothing about what 16 bits lost.
void TestRunStatus::zerosBesideAFiniteLane() {
    const GradientRange broken = rangeOf(DType::F32, 90, 1), whole = rangeOf(DType::F32, 10, 0),
                        half = rangeOf(DType::F16, 40, 0);
    const std::vector both{broken, whole, half};
    const ZeroGradients found = zeroGradientsOf(both, 2).value();
    QCOMPARE(found.share, 0.4);
    QVERIFY(found.finite);
    QCOMPARE(found.reference, 1);
    QCOMPARE(found.expected, 0.1);
    const std::vector none{broken, half};
    QCOMPARE(zeroGradientsOf(none, 1).value().reference, -1);
    QVERIFY(!zeroGradientsOf(none, 0).value().finite);
}

} // namespace tst_run_status

QTEST_GUILESS_MAIN(tst_run_status::TestRunStatus)
#include "tst_run_status.moc"
