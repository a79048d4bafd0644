// The test at the end of a run: which samples it judges, when, and where its values are found.
#include "engine/runs/run_reader.h"
#include "engine/runs/run_writer.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "engine/train/experiment.h"
#include "engine/train/run_info.h"
#include "tests/support/array_files.h"
#include "tests/support/picture_folder.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <chrono>
#include <cmath>
#include <thread>

namespace tst_test_at_end {

using namespace halfscope;

namespace {

RunConfig digits(int64_t steps) {
    RunConfig config = presetNamed("mnist-mlp").config;
    config.lanes = parseLanes("fp32,amp-bf16");
    config.device = "cpu";
    config.model.width = 16;
    config.epochs = 0;
    config.steps = steps;
    config.validation.steps = 10;
    config.task.testShare = 0.3;
    return config;
}

std::vector<StepRecord> train(Experiment& experiment) {
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (!experiment.finished())
        experiment.advance(records, events);
    return records;
}

std::string textOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
}

} // namespace

class TestTestAtEnd : public QObject {
    Q_OBJECT

private slots:
    void onceAtTheEnd();
    void judgesOtherSamples();
    void stopsAndGoesOn();
    void filesHaveIt();
    void goesWithLaterSteps();
    void errorsInUnitsOfTheData();
    void damagedSamples_data();
    void damagedSamples();
};

void TestTestAtEnd::onceAtTheEnd() {
    Experiment experiment(digits(25));
    QVERIFY(experiment.tests());
    for (const StepRecord& each : train(experiment))
        QCOMPARE(each.test.has_value(), each.step == 25);
    RunConfig without = digits(5);
    without.task.testShare = 0;
    Experiment untested(without);
    QVERIFY(!untested.tests());
    for (const StepRecord& each : train(untested))
        QVERIFY(!each.test);
}

/// The values are those of the predictions for the samples of the test; the last validation stays
/// what pictures show.
void TestTestAtEnd::judgesOtherSamples() {
    Experiment experiment(digits(25));
    const std::vector<StepRecord> records = train(experiment);
    const auto whole = makeDataset(taskOf(digits(25)), 0);
    const Dataset& data = *whole->test();
    const std::atomic<bool> goesOn{false};
    for (int lane = 0; lane < 2; ++lane) {
        Trainer& trainer = experiment.lane(lane);
        Predictions all;
        const Validation found = trainer.evaluate(goesOn, &all, JudgedOn::Test).value();
        QCOMPARE(trainer.judgedSamples(), int64_t{150});
        QCOMPARE(all.samples, int64_t{150});
        const auto taken = highestClasses(all.values, 10);
        int64_t right = 0;
        for (size_t i = 0; i < taken.size(); ++i) {
            QCOMPARE(all.numbers[i], data.number(Split::Validation, static_cast<int64_t>(i)));
            right += static_cast<float>(taken[i]) == all.targets[i];
        }
        const auto& record = records[records.size() - 2 + static_cast<size_t>(lane)];
        QCOMPARE(record.test->accuracy.value(), static_cast<double>(right) / 150);
        QCOMPARE(record.test->loss, found.loss);
        QVERIFY(record.test->loss != record.validation->loss);
        QCOMPARE(trainer.evaluate(goesOn)->loss, record.validation->loss); // as before the test
        QCOMPARE(trainer.judgedSamples(), int64_t{350});
    }
}

/// A stop request may come at any moment of a step; all values are then those of a run
/// without one.
void TestTestAtEnd::stopsAndGoesOn() {
    Experiment whole(digits(3));
    const std::vector<StepRecord> expected = train(whole);
    Experiment experiment(digits(3));
    std::vector<StepRecord> records;
    std::vector<Event> events;
    int stops = 0;
    for (int i = 0; i < 30 && !experiment.finished(); ++i) {
        std::thread stopper([&experiment, i] {
            std::this_thread::sleep_for(std::chrono::microseconds(200 * i));
            experiment.requestStop();
        });
        stops += !experiment.advance(records, events);
        stopper.join();
        experiment.clearStop();
    }
    while (!experiment.finished()) // what is left of the requests stops it a few times more
        experiment.advance(records, events);
    QVERIFY(stops > 0);
    QCOMPARE(records.size(), expected.size());
    for (size_t i = 0; i < records.size(); ++i) {
        QCOMPARE(records[i].test.has_value(), expected[i].test.has_value());
        if (!records[i].test) continue;
        QCOMPARE(records[i].test->loss, expected[i].test->loss);
        QCOMPARE(records[i].validation->loss, expected[i].validation->loss);
    }
    // 350 samples are shown, not the 150 of the test
    const Snapshot shown = experiment.snapshot(), wanted = whole.snapshot();
    QCOMPARE(shown.validated, int64_t{3});
    QCOMPARE(shown.outputs.size(), size_t{2});
    for (size_t i = 0; i < 2; ++i)
        QCOMPARE(shown.outputs[i].values, wanted.outputs[i].values);
}

void TestTestAtEnd::filesHaveIt() {
    const QTemporaryDir folder;
    Experiment experiment(digits(12));
    RunInfo info = runInfo(experiment, "0");
    const std::vector<LaneInfo> lanes = lanesOf(info.config);
    const std::vector<StepRecord> records = train(experiment);
    {
        RunWriter writer(folder.path().toStdString(), info, lanes, experiment.target(),
                         extraMetrics(experiment));
        RunBatch batch;
        for (const StepRecord& each : records)
            batch.rows.push_back(rowOf(each));
        writer.append(batch);
        info.outcome = RunOutcome::Finished;
        writer.finish(info, experiment.snapshot());
    }
    const std::string steps = textOf(folder.filePath("steps.csv"));
    QVERIFY(steps.substr(0, steps.find('\n')).ends_with("test_loss,test_accuracy"));
    const auto run = readRun(folder.path().toStdString());
    const LaneTotals& totals = run->now().totals(1);
    QCOMPARE(totals.test()->loss, records.back().test->loss);
    QCOMPARE(totals.test()->accuracy.value(), records.back().test->accuracy.value());
    const std::string summary = textOf(folder.filePath("summary.json"));
    QVERIFY(summary.find("\"test_loss\"") != summary.npos);
    QVERIFY(summary.find("\"test_accuracy\"") != summary.npos);
}

/// A run that goes on has no test until its new end.
void TestTestAtEnd::goesWithLaterSteps() {
    Experiment experiment(digits(4));
    LaneTotals totals;
    std::vector<StepRecord> records = train(experiment);
    for (const StepRecord& each : records)
        if (each.lane == 0) totals.add(rowOf(each));
    QVERIFY(totals.test().has_value());
    std::vector<Event> events;
    experiment.setLive(-1, "run.steps", FieldValue{int64_t{6}}, events);
    records.clear();
    experiment.advance(records, events);
    totals.add(rowOf(records.front()));
    QVERIFY(!totals.test().has_value());
    totals.add(rowOf(train(experiment)[0]));
    QVERIFY(totals.test().has_value());
}

void TestTestAtEnd::errorsInUnitsOfTheData() {
    QTemporaryDir folder;
    std::string text = "a,b\n";
    for (int i = 0; i < 60; ++i)
        text += std::to_string(i % 9) + "," + std::to_string(100 + 30 * (i % 9)) + "\n";
    RunConfig config = presetNamed("checkerboard").config;
    config.lanes = parseLanes("fp32");
    config.device = "cpu";
    config.steps = 2;
    config.model.norm = Norm::None;
    config.task.kind = TaskKind::Csv;
    config.task.path = writeBytes(folder.filePath("t.csv").toStdString(), text);
    config.task.batch = 8;
    config.task.loss.kind = LossKind::Mse;
    config.task.standardiseTarget = true;
    config.task.validation = 0.5;
    config.task.testShare = 0.5;
    Experiment experiment(config);
    const std::vector<StepRecord> records = train(experiment);
    Predictions all;
    const std::atomic<bool> goesOn{false};
    experiment.lane(0).evaluate(goesOn, &all, JudgedOn::Test);
    double error = 0, largest = 0;
    for (size_t i = 0; i < all.values.size(); ++i) {
        error += std::abs(double{all.values[i]} - double{all.targets[i]});
        for (const float value : {all.values[i], all.targets[i]})
            largest = std::max(largest, std::abs(double{value}));
    }
    error /= static_cast<double>(all.samples);
    QCOMPARE(all.samples, int64_t{15});
    // predictions and targets are rounded when they are standardised and restored
    QVERIFY(std::abs(records.back().test->error.value() - error) < 4 * largest * 0x1p-24);
    QVERIFY(error > 1); // not in units of the deviation
}

void TestTestAtEnd::damagedSamples_data() {
    QTest::addColumn<Damaged>("damaged");
    QTest::addColumn<QString>("told");
    QTest::newRow("refused") << Damaged::Refuse << "So there is no test.";
    QTest::newRow("skipped") << Damaged::Skip << "The test leaves it out.";
}

/// A sample that is read for the first time after the last step does not cost the run.
void TestTestAtEnd::damagedSamples() {
    QFETCH(const Damaged, damaged);
    QFETCH(const QString, told);
    const QTemporaryDir folder;
    for (int i = 0; i < 40; ++i) {
        const QString of = folder.filePath("c%1").arg(i % 2);
        QDir().mkpath(of);
        writePng(test::plain(0, 0, 0), QStringLiteral("%1/%2.png").arg(of).arg(i).toStdString());
    }
    RunConfig config = digits(3);
    config.task = {};
    config.task.kind = TaskKind::Pictures;
    config.task.path = folder.path().toStdString();
    config.task.pictureSide = 4;
    config.task.batch = 4;
    config.task.loss.kind = LossKind::CrossEntropy;
    config.task.validation = 0.5;
    config.task.testShare = 0.5;
    config.task.damaged = damaged;
    config.model.layers = "nn.Sequential(nn.Flatten(), nn.Linear(48, 2))";
    Experiment experiment(config);
    const auto data = makeDataset(taskOf(config), 0);
    const auto files = data->files();
    writeBytes(files.at(static_cast<size_t>(data->test()->number(Split::Validation, 3))), "no PNG");
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (!experiment.finished())
        experiment.advance(records, events);
    QCOMPARE(records.size(), size_t{6});
    QVERIFY(records.back().validation.has_value());
    QCOMPARE(records.back().test.has_value(), damaged == Damaged::Skip);
    QCOMPARE(events.size(), size_t{1});
    QCOMPARE(events[0].kind, EventKind::Damaged);
    const QString text = QString::fromStdString(events[0].text.english());
    QVERIFY2(text.startsWith("Step 3: ") && text.endsWith(told), qPrintable(text));
}

} // namespace tst_test_at_end

QTEST_GUILESS_MAIN(tst_test_at_end::TestTestAtEnd)
#include "tst_test_at_end.moc"
