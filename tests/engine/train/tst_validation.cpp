// Lanes judged on samples that they do not train on: the values compared with arithmetic by hand,
// when they are measured, that the training does not depend on them, and where they are written.
#include "engine/data/dataset.h"
#include "engine/runs/run_reader.h"
#include "engine/runs/run_writer.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "engine/train/checkpoint.h"
#include "engine/train/experiment.h"
#include "engine/train/lane_file.h"
#include "engine/train/run_info.h"
#include "tests/support/all_samples.h"
#include "tests/support/array_files.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>

namespace tst_validation {

using namespace halfscope;

namespace {

RunConfig digits(const std::string& lanes = "fp32") {
    RunConfig config = presetNamed("mnist-mlp").config;
    config.lanes = parseLanes(lanes);
    config.device = "cpu";
    config.model.width = 16;
    return config;
}

std::vector<StepRecord> train(Experiment& experiment) {
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (!experiment.finished())
        experiment.advance(records, events);
    return records;
}

std::vector<int64_t> validatedSteps(const RunConfig& config) {
    Experiment experiment(config);
    std::vector<int64_t> steps;
    for (const StepRecord& each : train(experiment))
        if (each.validation) steps.push_back(each.step);
    return steps;
}

/// Returns loss and accuracy of Flatten, BatchNorm1d, Dropout, Linear with running statistics, in
/// float64.
Validation byHand(const RunConfig& config, const Weights& weights) {
    const auto data = makeDataset(config.task, config.seed);
    const auto count = static_cast<size_t>(data->samples(Split::Validation));
    const Batch batch = allOf(*data, Split::Validation);
    constexpr size_t kPixels = 784, kClasses = 10;
    const auto at = [&](const char* name, size_t i) { return double{weights.at(name).at(i)}; };
    double loss = 0;
    size_t correct = 0;
    for (size_t row = 0; row < count; ++row) {
        std::vector<double> scores(kClasses);
        for (size_t out = 0; out < kClasses; ++out)
            scores[out] = at("3.bias", out);
        for (size_t i = 0; i < kPixels; ++i) {
            const double x = double{batch.floats(kX)[row * kPixels + i]};
            const double normed = (x - at("1.running_mean", i)) /
                                      std::sqrt(at("1.running_var", i) + 1e-5) * at("1.weight", i) +
                                  at("1.bias", i);
            for (size_t out = 0; out < kClasses; ++out)
                scores[out] += normed * at("3.weight", out * kPixels + i);
        }
        const auto label = static_cast<size_t>(batch.labels(kTarget)[row]);
        const auto best = std::max_element(scores.begin(), scores.end());
        correct += best == scores.begin() + static_cast<std::ptrdiff_t>(label);
        double sum = 0;
        for (const double score : scores)
            sum += std::exp(score - *best);
        loss += std::log(sum) + *best - scores[label];
    }
    return {loss / static_cast<double>(count),
            static_cast<double>(correct) / static_cast<double>(count)};
}

/// Returns a run on two classes as one number each, 1 and what stands for 0 here.
RunConfig sidesIn(const QTemporaryDir& folder, const std::string& zero = "0") {
    std::string text = "a,b,y\n";
    for (int i = 0; i < 300; ++i)
        text += std::to_string(i % 17) + "," + std::to_string(i * 7 % 23) + "," +
                (i % 17 + i % 5 > 9 ? "1" : zero) + "\n";
    const Assignment loss[] = {parseAssignment("task.loss=bce-with-logits")};
    RunConfig config =
        *experimentOn(writeBytes(folder.filePath("sides.csv").toStdString(), text), loss);
    config.lanes = parseLanes("fp32,amp-fp16");
    config.device = "cpu";
    config.task.validation = 0.5;
    config.task.testShare = 0.4;
    config.validation.steps = 20;
    config.epochs = 0;
    config.steps = 50;
    return config;
}

int64_t rightOnItsSide(std::span<const float> targets, std::span<const float> logits) {
    int64_t right = 0;
    for (size_t i = 0; i < targets.size(); ++i)
        right += (targets[i] >= 0.5f) == (logits[i] > 0);
    return right;
}

} // namespace

class TestValidation : public QObject {
    Q_OBJECT

private slots:
    void valuesByHand();
    void when_data();
    void when();
    void trainingDoesNotDependOnIt();
    void learns();
    void picturesTellOfIt();
    void numbersAreShownForTheSameSamples();
    void stopsAndGoesOn();
    void filesHaveIt();
    void numbersHaveNoAccuracy();
    void twoClassesAsOneNumber();
    void sharesHaveNoAccuracy();
    void aBestLossIsNoAccuracy();
    void aLogitOfNanHasNoClass();
    void errorOverBatchesOfTwoSizes();
    void errorOfLargeNumbers();
    void trainingAccuracyByHand();
    void trainingAccuracyGoesOn();
};

void TestValidation::valuesByHand() {
    RunConfig config = digits();
    config.model.layers =
        "nn.Sequential(nn.Flatten(), nn.BatchNorm1d(784), nn.Dropout(0.8), nn.Linear(784, 10))";
    config.epochs = 0;
    config.steps = 20;
    Experiment experiment(config);
    const std::vector<StepRecord> records = train(experiment);
    const Validation expected = byHand(config, experiment.lane(0).weights());
    const Validation found = records.back().validation.value();
    // products of 784 terms in float32, summed over logits near 1
    QVERIFY2(std::abs(found.loss - expected.loss) < 784 * 1.2e-7 * 10,
             qPrintable(QString::number(found.loss - expected.loss)));
    QCOMPARE(found.accuracy.value(), expected.accuracy.value());
    // a second time gives the same: judging changes nothing
    const std::atomic<bool> goesOn{false};
    QCOMPARE(experiment.lane(0).evaluate(goesOn)->loss, found.loss);
}

void TestValidation::when_data() {
    QTest::addColumn<int>("epochs");
    QTest::addColumn<int>("every");
    QTest::addColumn<int>("steps");
    QTest::addColumn<QList<int>>("expected"); // an epoch has 32 steps
    QTest::newRow("each epoch") << 1 << 0 << 70 << QList<int>{32, 64, 70};
    QTest::newRow("each second epoch") << 2 << 0 << 100 << QList<int>{64, 100};
    QTest::newRow("at the end alone") << 0 << 0 << 40 << QList<int>{40};
    QTest::newRow("by steps") << 0 << 15 << 40 << QList<int>{15, 30, 40};
    QTest::newRow("both") << 1 << 20 << 40 << QList<int>{20, 32, 40};
}

void TestValidation::when() {
    QFETCH(int, epochs);
    QFETCH(int, every);
    QFETCH(int, steps);
    QFETCH(QList<int>, expected);
    RunConfig config = digits();
    config.validation = {epochs, every};
    config.epochs = 0;
    config.steps = steps;
    QCOMPARE(validatedSteps(config), std::vector<int64_t>(expected.begin(), expected.end()));
}

void TestValidation::trainingDoesNotDependOnIt() {
    const auto losses = [](int64_t every) {
        RunConfig config = digits("fp32,amp-fp16");
        config.validation.steps = every;
        config.epochs = 0;
        config.steps = 12;
        Experiment experiment(config);
        std::vector<float> values;
        for (const StepRecord& each : train(experiment))
            values.push_back(each.loss);
        return values;
    };
    QCOMPARE(losses(1), losses(0));
}

void TestValidation::learns() {
    RunConfig config = presetNamed("mnist-mlp").config;
    config.device = "cpu";
    Experiment experiment(config);
    const std::vector<StepRecord> records = train(experiment);
    for (size_t lane = 0; lane < 2; ++lane) {
        const StepRecord& last = records[records.size() - 2 + lane];
        QVERIFY(last.validation.has_value());
        // 2,000 digits, two epochs: measured 0.83 to 0.85 over seeds; guessing gives 0.1
        QVERIFY2(*last.validation->accuracy > 0.8,
                 qPrintable(QString::number(*last.validation->accuracy)));
    }
}

/// Tables show the batch until the lanes have been validated, and all validation samples then.
void TestValidation::picturesTellOfIt() {
    RunConfig config = digits("fp32,amp-fp16");
    config.validation.steps = 3;
    config.epochs = 0;
    config.steps = 7;
    Experiment experiment(config);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    experiment.advance(records, events);
    Snapshot early = experiment.snapshot();
    QCOMPARE(early.validated, int64_t{0});
    QVERIFY(tableCaption(early.outputs[0].caption).right.ends_with("/64"));
    for (int i = 0; i < 3; ++i)
        experiment.advance(records, events);
    Snapshot late = experiment.snapshot();
    QCOMPARE(late.validated, int64_t{3});
    for (size_t lane = 0; lane < 2; ++lane) {
        const double accuracy = records[2 * 2 + lane].validation->accuracy.value();
        QCOMPARE(std::string(tableCaption(late.outputs[lane].caption).right),
                 std::to_string(std::lround(accuracy * 500)) + "/500");
    }
    experiment.addGalleries(late);
    QCOMPARE(late.galleries.size(), size_t{3});
    QVERIFY(late.galleries[0].values != late.galleries[2].values);
    QVERIFY(early.mistakes.empty());
    QCOMPARE(late.mistakes.size(), size_t{2});
    for (size_t lane = 0; lane < 2; ++lane) {
        const JudgedSamples judged = experiment.judged(static_cast<int>(lane));
        const ClassCounts& counts = judged.counts;
        for (const Mistake& each : judged.mistakes)
            QVERIFY(each.values); // it is not read again
        QCOMPARE(std::string(tableCaption(late.mistakes[lane].caption).right),
                 "64/" + std::to_string(counts.samples() - counts.correct()));
    }

    // predictions of a later step do not belong to that validation
    experiment.advance(records, events);
    laneFileBytes(experiment, LaneFile::Predictions, 0, "");
    const Snapshot after = experiment.snapshot();
    QCOMPARE(after.validated, int64_t{3});
    QCOMPARE(after.outputs[0].caption, late.outputs[0].caption);
    QVERIFY(after.outputs[0].values == late.outputs[0].values);
    experiment.fork(1, experiment.config().lanes[0], events); // its past is its parent's
    const Snapshot forked = experiment.snapshot();
    QCOMPARE(forked.validated, int64_t{3});
    QCOMPARE(forked.outputs.size(), size_t{3});
    QVERIFY(forked.outputs[2].values == late.outputs[1].values);
}

/// The last batch of an epoch may have two samples, and each batch has others.
void TestValidation::numbersAreShownForTheSameSamples() {
    QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("houses.csv")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("area,price\n");
    for (int i = 0; i < 73; ++i)
        file.write(QByteArray::number(i) + ".5," + QByteArray::number(1000 * i + i % 7) + "\n");
    file.close();
    RunConfig config = experimentOn(file.fileName().toStdString()).value();
    config.device = "cpu";
    config.epochs = 2;
    Experiment experiment(config);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    experiment.advance(records, events);
    QCOMPARE(experiment.snapshot().validated, int64_t{0});
    QCOMPARE(experiment.snapshot().target.width, 0); // the run's own shows the batch
    while (!experiment.finished())
        experiment.advance(records, events);
    const Snapshot last = experiment.snapshot();
    QCOMPARE(last.validated, records.back().step);
    const auto data = makeDataset(config.task, config.seed);
    const Batch held = allOf(*data, Split::Validation);
    QVERIFY(held.rows() > 2);
    Trainer& lane = experiment.lane(0);
    QVERIFY(lane.judged().targets ==
            std::vector<float>(held.floats(kTarget).begin(), held.floats(kTarget).end()));
    const Picture wanted = pictureOf(data->view(), held, lane.judged().predictions);
    QVERIFY(last.outputs[0].values == wanted.values);
    QVERIFY(last.target.values == targetPictureOf(data->view(), held).values);
    QVERIFY(last.target.values != experiment.target().values); // of the first batch
    QVERIFY(!last.target.caption.empty());                     // where the axes run
    QCOMPARE(last.target.caption, experiment.target().caption);
    RunInfo info = runInfo(experiment, "0");
    const std::string saved = folder.filePath("run").toStdString();
    RunWriter writer(saved, info, lanesOf(config), experiment.target(), extraMetrics(experiment));
    RunBatch rows;
    for (const StepRecord& each : records)
        rows.rows.push_back(rowOf(each));
    writer.append(rows);
    info.outcome = RunOutcome::Finished;
    writer.finish(info, last);
    const Picture back = readPicture(saved + "/target.png");
    writePng(last.target, saved + "/wanted.png");
    QVERIFY(back.values == readPicture(saved + "/wanted.png").values);
}

void TestValidation::stopsAndGoesOn() {
    RunConfig config = digits("fp32,amp-fp16");
    config.epochs = 0;
    config.steps = 1;
    Experiment experiment(config);
    const std::atomic<bool> stop{true};
    QVERIFY(!experiment.lane(0).evaluate(stop).has_value());
    std::vector<StepRecord> records;
    std::vector<Event> events;
    experiment.requestStop();
    QVERIFY(!experiment.advance(records, events));
    QVERIFY(records.empty());
    experiment.clearStop();
    while (!experiment.finished())
        experiment.advance(records, events);
    QCOMPARE(records.size(), size_t{2});
    QVERIFY(records[0].validation && records[1].validation);
}

void TestValidation::filesHaveIt() {
    const QTemporaryDir folder;
    RunConfig config = digits("fp32,amp-fp16");
    Experiment experiment(config);
    RunInfo info = runInfo(experiment, "0");
    const std::vector<LaneInfo> lanes = lanesOf(config);
    std::vector<StepRecord> records;
    {
        RunWriter writer(folder.filePath("run").toStdString(), info, lanes, experiment.target(),
                         extraMetrics(experiment));
        records = train(experiment);
        RunBatch batch;
        for (const StepRecord& each : records)
            batch.rows.push_back(rowOf(each));
        writer.append(batch);
        info.outcome = RunOutcome::Finished;
        writer.finish(info, experiment.snapshot());
    }
    const auto run = readRun(folder.filePath("run").toStdString(), config);
    QVERIFY(run && run->info().missing.empty());
    const Column& accuracy = run->column(1, metric::Accuracy);
    QCOMPARE(accuracy.size(), int64_t{2});
    QVERIFY(!accuracy.at(31).has_value());
    QCOMPARE(accuracy.at(64).value(), records.back().validation->accuracy.value());
    QCOMPARE(run->column(0, metric::ValidationLoss).at(32).value(), records[62].validation->loss);
    QCOMPARE(run->now().totals(1).accuracy(), records.back().validation->accuracy);
    QCOMPARE(run->column(1, metric::TrainingAccuracy).at(64), records.back().trainingAccuracy);
    QCOMPARE(run->now().totals(0).trainingAccuracy(), records[126].trainingAccuracy);
    QFile summary(folder.filePath("run/summary.json"));
    QVERIFY(summary.open(QIODevice::ReadOnly));
    const QByteArray text = summary.readAll();
    QCOMPARE(text.count("\"accuracy\": "), 2);
    QCOMPARE(text.count("\"validation_loss\": "), 2);
}

/// A set without validation samples has no such columns.
void TestValidation::numbersHaveNoAccuracy() {
    RunConfig config = presetNamed("regression").config;
    config.device = "cpu";
    config.epochs = 0;
    config.steps = 2;
    Experiment experiment(config);
    QVERIFY(!experiment.validates() && !experiment.hasClasses());
    const StepRow row = rowOf(train(experiment).back());
    QVERIFY(!row.measured(metric::ValidationLoss) && !row.measured(metric::Accuracy) &&
            !row.measured(metric::TrainingAccuracy));
    QCOMPARE(extraMetrics(experiment), (std::vector<MetricId>{metric::Epoch, metric::Batch}));
}

/// Two classes as one output: a logit above 0 stands for 1. Training batches, validation and test
/// are counted so, in a table of both classes.
void TestValidation::twoClassesAsOneNumber() {
    const QTemporaryDir folder;
    const RunConfig config = sidesIn(folder);
    Experiment experiment(config);
    QVERIFY(experiment.measuresAccuracy() && !experiment.hasClasses());
    const auto task = makeTask(config);
    QVERIFY(factsOf(taskOf(config)).sides && task->targetsAreSides());
    std::vector<StepRecord> records;
    std::vector<Event> events;
    int64_t all = 0;
    std::array<int64_t, 2> right{};
    while (!experiment.finished()) {
        experiment.advance(records, events);
        if ((experiment.step() - 1) % experiment.stepsPerEpoch() == 0) right = {}, all = 0;
        const std::shared_ptr<const Batch> batch = task->load(experiment.step());
        all += batch->rows();
        for (const int lane : {0, 1})
            right[static_cast<size_t>(lane)] +=
                rightOnItsSide(batch->floats(kTarget), experiment.lane(lane).prediction());
    }
    const std::atomic<bool> goesOn{false};
    for (const int lane : {0, 1}) {
        const auto at = static_cast<size_t>(lane);
        const StepRecord& last = records.at(records.size() - 2 + at);
        QCOMPARE(last.trainingAccuracy.value(),
                 static_cast<double>(right[at]) / static_cast<double>(all));
        for (const JudgedOn on : {JudgedOn::Validation, JudgedOn::Test}) {
            Predictions found;
            const Validation judged = experiment.lane(lane).evaluate(goesOn, &found, on).value();
            QCOMPARE(found.values.size(), on == JudgedOn::Test ? size_t{60} : size_t{90});
            const int64_t own = rightOnItsSide(found.targets, found.values);
            const double wanted = static_cast<double>(own) / static_cast<double>(found.samples);
            QVERIFY(own > 0 && own < found.samples); // else a mistake might not show
            QCOMPARE(judged.accuracy.value(), wanted);
            QCOMPARE((on == JudgedOn::Test ? last.test : last.validation)->accuracy.value(),
                     wanted);
            const ClassCounts counts = experiment.lane(lane).judged().counts;
            QCOMPARE(counts.count(0, 0) + counts.count(1, 1), own);
            QCOMPARE(counts.count(0, 1) + counts.count(1, 0), found.samples - own);
        }
    }
    const std::vector<MetricId> extra = extraMetrics(experiment);
    for (const MetricId id : {metric::Accuracy, metric::TrainingAccuracy, metric::TestAccuracy})
        QVERIFY(std::ranges::count(extra, id) == 1);
}

/// One target between 0 and 1 among the others makes them all shares.
void TestValidation::sharesHaveNoAccuracy() {
    const QTemporaryDir folder;
    const RunConfig config = sidesIn(folder, "0.25");
    Experiment experiment(config);
    QVERIFY(!experiment.measuresAccuracy() && !factsOf(taskOf(config)).sides);
    const StepRecord last = train(experiment).back();
    QVERIFY(last.validation && !last.validation->accuracy && !last.test->accuracy &&
            !last.trainingAccuracy);
    const auto of = [&](const std::string& fourth) {
        const std::string x = folder.filePath("x.npy").toStdString();
        writeBytes(x, npy("<f4", "(4, 1)", std::string(16, '\0')));
        RunConfig arrays = defaultConfig();
        arrays.task.kind = TaskKind::Arrays;
        arrays.task.loss.kind = LossKind::BceWithLogits;
        arrays.task.x = x;
        arrays.task.y = folder.filePath(QString::fromStdString(fourth + ".npy")).toStdString();
        writeBytes(arrays.task.y,
                   npy("<f4", "(4,)", bytesOfValues<float>({0, 1, 1, std::stof(fourth)})));
        const bool sides = makeDataset(arrays.task, 1)->targetsAreSides();
        return sides == factsOf(arrays.task).sides ? std::optional(sides) : std::nullopt;
    };
    QCOMPARE(of("0"), std::optional(true));
    QCOMPARE(of("0.5"), std::optional(false));
}

/// Earlier versions measured no accuracy of such targets: what their checkpoints call the best is a
/// loss, which no accuracy may have to exceed.
void TestValidation::aBestLossIsNoAccuracy() {
    const QTemporaryDir folder;
    const RunConfig config = sidesIn(folder);
    Experiment before(config);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    before.advance(records, events);
    ExperimentState state = before.state();
    for (const bool old : {false, true}) {
        for (LaneState& lane : state.lanes) {
            lane.sinceBest = {BestValue{2.5, 1}, 0};
            if (old) lane.seen = {};
        }
        Experiment after(config);
        after.resume(state);
        QCOMPARE(after.state().lanes[0].sinceBest.best.has_value(), !old);
    }
}

void TestValidation::aLogitOfNanHasNoClass() {
    const QTemporaryDir folder;
    Experiment experiment(sidesIn(folder));
    Weights lost = experiment.lane(0).weights();
    for (auto& [name, values] : lost)
        std::ranges::fill(values, std::nanf(""));
    experiment.lane(0).setWeights(lost);
    const std::atomic<bool> goesOn{false};
    QCOMPARE(experiment.lane(0).evaluate(goesOn)->accuracy, std::optional(0.0));
    QCOMPARE(experiment.lane(0).judged().counts.none(), int64_t{90});
}

/// The mean absolute error of 620 samples, which are judged in batches of 500 and 120, is that of
/// their predictions. The last samples are far off, so that a mean of the two batches differs.
void TestValidation::errorOverBatchesOfTwoSizes() {
    constexpr int kJudged = 620, kAll = 1240;
    std::string text = "x,y\n";
    for (int i = 0; i < kAll; ++i)
        text += std::to_string(i % 10) + "," + std::to_string(i < kAll - 100 ? i % 3 : 5000) +
                ".25" + "\n";
    const QTemporaryDir folder;
    RunConfig config = *experimentOn(writeBytes(folder.filePath("far.csv").toStdString(), text));
    config.task.standardiseTarget = true;
    config.task.validation = 0.5;
    config.task.held = Held::Last;
    config.epochs = 0;
    config.steps = 2;
    Experiment experiment(config);
    train(experiment);
    Predictions predictions;
    const std::atomic<bool> goesOn{false};
    const Validation found = experiment.lane(1).evaluate(goesOn, &predictions).value();
    QCOMPARE(predictions.values.size(), size_t{kJudged});
    double sum = 0;
    for (size_t i = 0; i < predictions.values.size(); ++i)
        sum += std::abs(double{predictions.values[i]} - double{predictions.targets[i]});
    // predictions and targets of up to 5000 are rounded when they are standardised and restored
    QVERIFY(std::abs(found.error.value() - sum / kJudged) < 4 * 5001 * 0x1p-24);
}

/// Targets 1 apart that float32 holds 128 apart are judged before they are restored.
void TestValidation::errorOfLargeNumbers() {
    constexpr int kAll = 60;
    std::string text = "x,y\n";
    for (int i = 0; i < kAll; ++i)
        text += std::to_string(i % 10) + "," + std::to_string(1600000000 + i % 10) +
                ".0\n"; // no classes
    const QTemporaryDir folder;
    RunConfig config = *experimentOn(writeBytes(folder.filePath("time.csv").toStdString(), text));
    config.task.standardiseTarget = true;
    config.task.loss.kind = LossKind::L1;
    config.device = "cpu";
    config.epochs = 0;
    config.steps = 2;
    Experiment experiment(config);
    train(experiment);
    const std::atomic<bool> goesOn{false};
    const Validation found = experiment.lane(0).evaluate(goesOn).value();
    const double deviation =
        makeDataset(config.task, config.seed)->targetScale().spreads()[0].deviation;
    const double wanted = deviation * found.loss; // the mean distance of standardised values
    QVERIFY2(wanted > 0.01 && wanted < 10, qPrintable(QString::number(wanted)));
    // the loss is summed in float32
    QVERIFY2(std::abs(found.error.value() / wanted - 1) < kAll * 0x1p-24,
             qPrintable(QString::number(found.error.value())));
}

/// The accuracy over every batch of the epoch so far, by the outputs of each batch's own step.
void TestValidation::trainingAccuracyByHand() {
    RunConfig config = digits("fp32,amp-fp16");
    config.lanes[1].scaler.initScale = 1e30; // its first steps are skipped, and count, too
    config.validation.steps = 3;
    config.epochs = 0;
    config.steps = 34; // an epoch has 32, the last one smaller
    Experiment experiment(config);
    const auto task = makeTask(config);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    int64_t all = 0;
    std::array<int64_t, 2> right{};
    for (int64_t step = 1; step <= config.steps; ++step) {
        experiment.advance(records, events);
        const std::shared_ptr<const Batch> batch = task->load(step);
        if (step == 33) right = {}, all = 0; // another epoch
        all += batch->rows();
        const bool due = step % 3 == 0 || step == 32 || step == 34;
        for (size_t lane = 0; lane < 2; ++lane) {
            const std::vector<float> scores = experiment.lane(static_cast<int>(lane)).prediction();
            for (size_t row = 0; row < static_cast<size_t>(batch->rows()); ++row) {
                const auto first = scores.begin() + static_cast<std::ptrdiff_t>(row * 10);
                right[lane] +=
                    std::max_element(first, first + 10) - first == batch->labels(kTarget)[row];
            }
            const auto& found = records[records.size() - 2 + lane].trainingAccuracy;
            QCOMPARE(found.has_value(), due);
            if (due) QCOMPARE(*found, static_cast<double>(right[lane]) / static_cast<double>(all));
        }
    }
    QVERIFY(experiment.lane(1).skipped() > 0);
}

/// A checkpoint in the middle of an epoch contains what was counted of it so far.
void TestValidation::trainingAccuracyGoesOn() {
    const QTemporaryDir folder;
    const std::string path = folder.filePath("x.safetensors").toStdString();
    RunConfig config = digits();
    config.epochs = 1;
    std::vector<StepRecord> whole, resumed;
    std::vector<Event> events;
    Experiment first(config);
    while (!first.finished()) {
        if (first.step() == 20) writeCheckpoint(path, first.state(), "0");
        first.advance(whole, events);
    }
    const ExperimentState state = readCheckpoint(path);
    QVERIFY(state.lanes[0].seen.all == 20 * 64 && state.lanes[0].seen.right > 0);
    Experiment second(state.recorded);
    second.resume(state);
    while (!second.finished())
        second.advance(resumed, events);
    QVERIFY(whole.back().trainingAccuracy.has_value());
    QCOMPARE(resumed.back().trainingAccuracy, whole.back().trainingAccuracy);
}

} // namespace tst_validation

QTEST_GUILESS_MAIN(tst_validation::TestValidation)
#include "tst_validation.moc"
