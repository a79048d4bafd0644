// Early stopping: what counts as better, when a run ends for want of it, and that checkpoints,
// forks, edits, tests and maps of settings go along.
#include "engine/core/error.h"
#include "engine/runs/edit_words.h"
#include "engine/settings/idle_settings.h"
#include "engine/step/pytorch_script.h"
#include "engine/train/checkpoint.h"
#include "engine/train/experiment.h"
#include "engine/train/setting_grid.h"
#include "tests/support/stuck_digits.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <limits>

namespace tst_patience {

using namespace halfscope;
using halfscope::test::stuckDigits;

namespace {

struct Trained {
    std::vector<StepRecord> records;
    std::vector<Event> events;
};

Trained train(Experiment& experiment, int64_t until = 1000) {
    Trained made;
    while (!experiment.finished() && experiment.step() < until)
        experiment.advance(made.records, made.events);
    return made;
}

StepRecord row(int64_t step, int32_t lane, double loss) {
    StepRecord record;
    record.step = step;
    record.lane = lane;
    record.validation = Validation{loss};
    return record;
}

} // namespace

class TestPatience : public QObject {
    Q_OBJECT

private slots:
    void better();
    void countsTheLaneThatWaitsLeast();
    void endsARun();
    void waitsForAllLanes();
    void theEndAloneIsNone();
    void checkpointsGoOnCounting();
    void forksGoOnCounting();
    void editsLetItGoOn();
    void testsAtThatEnd();
    void mapsTellWhy();
    void refuses_data();
    void refuses();
    void meansNothingWithoutValidation();
    void inPython();
};

void TestPatience::better() {
    std::optional<BestValue> best;
    const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
    QVERIFY(!takeBetter(best, Validation{nan}, 1));
    QVERIFY(!takeBetter(best, Validation{inf}, 2));
    QVERIFY(takeBetter(best, Validation{2}, 3)); // the first is better than none
    QVERIFY(!takeBetter(best, Validation{2}, 4));
    QVERIFY(!takeBetter(best, Validation{3}, 5));
    QVERIFY(takeBetter(best, Validation{1.9999999}, 6));
    QCOMPARE(best->value, 1.9999999);
    QCOMPARE(best->step, int64_t{6});
    best.reset();
    QVERIFY(takeBetter(best, Validation{1, 0.5}, 1)); // by accuracy, whatever the loss does
    QVERIFY(!takeBetter(best, Validation{0.5, 0.5}, 2));
    QVERIFY(takeBetter(best, Validation{9, 0.6}, 3));
    for (const double lost : {nan, inf})
        QVERIFY(!takeBetter(best, Validation{lost, 0.7}, 4));
    QCOMPARE(best->value, 0.6);
}

void TestPatience::countsTheLaneThatWaitsLeast() {
    Patience patience;
    QCOMPARE(patience.waited(), int64_t{0});
    const auto validate = [&](int64_t step, double first, double second) {
        const std::vector<StepRecord> rows{row(step, 0, first), row(step, 1, second)};
        patience.add(rows);
        return patience.waited();
    };
    const double nan = std::nan("");
    QCOMPARE(validate(1, 1, nan), int64_t{0});
    QCOMPARE(validate(2, 1, nan), int64_t{1}); // 1 and 2
    QCOMPARE(validate(3, 1, 5), int64_t{0});   // 2 and 0
    QCOMPARE(validate(4, 1, 6), int64_t{1});   // 3 and 1
    QCOMPARE(validate(5, 0.5, 6), int64_t{0}); // 0 and 2
    QCOMPARE(validate(6, 0.5, 6), int64_t{1});
    QCOMPARE(patience.of(1).without, int64_t{3});
    patience.addLane(1);
    QVERIFY(patience.of(2) == patience.of(1));
}

void TestPatience::endsARun() {
    Experiment experiment(stuckDigits(100, 2));
    const Trained made = train(experiment);
    QCOMPARE(experiment.step(), int64_t{30}); // the first validation is the best
    QCOMPARE(experiment.outOfPatience(), int64_t{2});
    QVERIFY(experiment.stopReason().empty());
    QCOMPARE(made.records.size(), size_t{30});
    QCOMPARE(patienceWords(2).english(), std::string("In the last 2 validations no lane had a new "
                                                     "best, so the run ended (run.patience)."));
    QCOMPARE(patienceWords(1).english(), std::string("No lane's last validation was a new best, so "
                                                     "the run ended (run.patience)."));
    Experiment patient(stuckDigits(50, 0)); // off
    train(patient);
    QCOMPARE(patient.step(), int64_t{50});
    QCOMPARE(patient.outOfPatience(), int64_t{0});
}

/// The other lane learns: the run ends by the count of the lane that got better last.
void TestPatience::waitsForAllLanes() {
    Experiment experiment(stuckDigits(200, 1, "fp32,amp-fp16"));
    const Trained made = train(experiment);
    double best = -1;
    int64_t end = 200;
    for (const StepRecord& each : made.records) {
        if (each.lane > 0 || !each.validation) continue;
        if (*each.validation->accuracy <= best) {
            end = each.step;
            break;
        }
        best = *each.validation->accuracy;
    }
    QVERIFY(end > 20); // where the other lane alone would have ended it
    QCOMPARE(experiment.step(), end);
}

/// The validation at the last step is not one of those that count: a longer run would not have it.
void TestPatience::theEndAloneIsNone() {
    Experiment experiment(stuckDigits(35, 3));
    Trained made = train(experiment);
    QCOMPARE(experiment.step(), int64_t{35});
    QVERIFY(made.records.back().validation.has_value());
    QCOMPARE(experiment.outOfPatience(), int64_t{0});
    experiment.setLive(-1, "run.steps", FieldValue{int64_t{60}}, made.events);
    train(experiment);
    QCOMPARE(experiment.step(), int64_t{40});
    QCOMPARE(experiment.outOfPatience(), int64_t{3});
}

void TestPatience::checkpointsGoOnCounting() {
    const QTemporaryDir folder;
    const std::string path = folder.filePath("c.safetensors").toStdString();
    Experiment first(stuckDigits(100, 2));
    train(first, 25);
    writeCheckpoint(path, first.state(), "0");
    ExperimentState state = readCheckpoint(path);
    QCOMPARE(state.lanes[0].sinceBest.without, int64_t{1});
    QVERIFY(state.lanes[0].sinceBest == first.state().lanes[0].sinceBest);
    QCOMPARE(state.lanes[0].sinceBest.best->step, int64_t{10});
    Experiment second(state.recorded);
    second.resume(state);
    train(second);
    QCOMPARE(second.step(), int64_t{30});
    // one that was written at the end has ended
    Experiment ended(state.recorded);
    ended.resume(second.state());
    QVERIFY(ended.finished());
    QCOMPARE(ended.outOfPatience(), int64_t{2});
    // one of an earlier version counts from there
    state.lanes[0].sinceBest = {};
    Experiment old(state.recorded);
    old.resume(state);
    train(old);
    QCOMPARE(old.step(), int64_t{50});
}

void TestPatience::forksGoOnCounting() {
    Experiment experiment(stuckDigits(100, 2));
    Trained made = train(experiment, 25);
    experiment.fork(0, experiment.config().lanes[0], made.events);
    QVERIFY(experiment.state().lanes[1].sinceBest == experiment.state().lanes[0].sinceBest);
    train(experiment);
    QCOMPARE(experiment.step(), int64_t{30});
}

void TestPatience::editsLetItGoOn() {
    Experiment experiment(stuckDigits(100, 2));
    Trained made = train(experiment);
    experiment.setLive(-1, "run.patience", FieldValue{int64_t{4}}, made.events);
    QCOMPARE(made.events.back().text.english(),
             std::string("From step 31: Early stopping set to 4 validations (before: 2)."));
    QVERIFY(!experiment.finished());
    train(experiment);
    QCOMPARE(experiment.step(), int64_t{50});
    Experiment again(experiment.recorded()); // with the edit, at its step
    train(again);
    QCOMPARE(again.step(), int64_t{50});
    experiment.setLive(-1, "run.patience", FieldValue{int64_t{0}}, made.events);
    train(experiment);
    QCOMPARE(experiment.step(), int64_t{100});
    QCOMPARE(experiment.outOfPatience(), int64_t{0});
    // the count goes on while the setting is off, and the next validation decides
    experiment.setLive(-1, "run.patience", FieldValue{int64_t{1}}, made.events);
    experiment.setLive(-1, "run.steps", FieldValue{int64_t{200}}, made.events);
    QVERIFY(!experiment.finished());
    train(experiment);
    QCOMPARE(experiment.step(), int64_t{110});
    QCOMPARE(experiment.outOfPatience(), int64_t{10});
    RunConfig before, after;
    const FieldValue one{int64_t{1}};
    QCOMPARE(editWords(*findField("run.patience"), one, before, after, -1).english(),
             std::string("Early stopping set to 1 validation (before: 0)"));
}

void TestPatience::testsAtThatEnd() {
    RunConfig config = stuckDigits(100, 2);
    config.task.testShare = 0.3;
    Experiment experiment(config);
    const Trained made = train(experiment);
    for (const StepRecord& each : made.records)
        QCOMPARE(each.test.has_value(), each.step == 30);
    // less patience between two validations ends the run with the next one, and not untested
    config.patience = 9;
    Experiment other(config);
    Trained rows = train(other, 35);
    other.setLive(-1, "run.patience", FieldValue{int64_t{1}}, rows.events);
    QVERIFY(!other.finished());
    const ExperimentState kept = other.state();
    const Trained rest = train(other);
    QCOMPARE(other.step(), int64_t{40});
    QVERIFY(rest.records.back().test.has_value());
    Experiment resumed(kept.recorded);
    resumed.resume(kept);
    QVERIFY(!resumed.finished());
    train(resumed);
    QCOMPARE(resumed.step(), int64_t{40});
}

/// A cell that ended early is ranked with those that came to their last step.
void TestPatience::mapsTellWhy() {
    const SettingGrid grid(stuckDigits(100, 2), 0,
                           {parseSweep("optimizer.lr=0.1,0.2", SweptBy::Trainings)});
    GridCells cells(grid.cells());
    GridListener listener;
    listener.finished = [&](size_t cell, const GridCell& one) { cells[cell] = one; };
    QVERIFY(trainGrid(grid, listener));
    QCOMPARE(cells[0]->outcome, CellOutcome::Finished);
    QCOMPARE(cells[0]->steps, int64_t{30});
    QCOMPARE(cells[0]->reason.english(), patienceWords(2).english());
}

void TestPatience::refuses_data() {
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<QString>("message");
    QTest::newRow("none held back")
        << QStringList{"data.kind=moons", "data.validation=0"}
        << "run.patience: 2 is not allowed where there are no samples to validate on: only 0 is";
    QTest::newRow("at the end") << QStringList{"validation.steps=0"}
                                << "run.patience: 2 is not allowed where validation.epochs and "
                                   "validation.steps are 0, so that lanes are validated at the end "
                                   "alone: only 0 is";
    QTest::newRow("less than none") << QStringList{"run.patience=-1"}
                                    << "run.patience: -1 is not allowed: a whole number from 0 to "
                                       "1000000000";
}

void TestPatience::refuses() {
    QFETCH(const QStringList, settings);
    QFETCH(const QString, message);
    RunConfig config = stuckDigits(10, 2);
    checkConfig(config);
    try {
        for (const QString& each : settings)
            applySetting(config, each.toStdString());
        checkConfig(config);
        QFAIL("it was allowed");
    } catch (const InputError& error) {
        QCOMPARE(QString::fromStdString(error.message().english()), message);
    }
}

/// The command line and the window name settings that have no effect.
void TestPatience::meansNothingWithoutValidation() {
    RunConfig config = presetNamed("checkerboard").config;
    config.patience = 2;
    checkConfig(config);
    QCOMPARE(idleSettings(config), std::vector<std::string>{"run.patience"});
}

void TestPatience::inPython() {
    const QString note = QStringLiteral("# Left out, because PyTorch has nothing like it: "
                                        "run.patience, which ends all lanes at the same step\n");
    const auto scriptOf = [](int64_t patience) {
        return QString::fromStdString(pytorchScript(stuckDigits(10, patience, "fp32,amp-fp16")));
    };
    QVERIFY(scriptOf(2).contains(note));
    QVERIFY(!scriptOf(0).contains(QLatin1String("run.patience")));
}

} // namespace tst_patience

QTEST_GUILESS_MAIN(tst_patience::TestPatience)
#include "tst_patience.moc"
