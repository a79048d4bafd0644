// How far a lane's gradient is from float32's: exact where nothing is rounded, 1 where all is lost,
// as large as the formats' roundings otherwise; and nothing else of a training depends on it.
#include "engine/settings/fields.h"
#include "engine/train/experiment.h"
#include "tests/support/lane.h"

#include <QTest>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

namespace tst_gradient_error {

using namespace halfscope;
using namespace halfscope::test;

namespace {

RunConfig smallExperiment(const char* lanes, int64_t every) {
    RunConfig config = defaultConfig();
    config.task.side = 16;
    config.model.width = 32;
    config.model.depth = 2;
    // smooth, and without differences of rounded numbers: errors are in proportion to roundings
    config.model.activation = Activation::Tanh;
    config.model.norm = Norm::None;
    config.lanes = parseLanes(lanes);
    config.steps = 6;
    config.device = "cpu";
    config.threads = 1;
    config.gradientError = every;
    return config;
}

std::vector<StepRecord> recordsOf(const RunConfig& config) {
    Experiment experiment(config);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (!experiment.finished())
        experiment.advance(records, events);
    return records;
}

/// Returns the value of the last step of each lane.
std::vector<double> errorsOf(const RunConfig& config) {
    const std::vector<StepRecord> records = recordsOf(config);
    std::vector<double> errors;
    for (size_t i = records.size() - config.lanes.size(); i < records.size(); ++i)
        errors.push_back(records[i].gradientError.value_or(std::nan("")));
    return errors;
}

/// A lane of y = w x, whose gradient is 2 (w x - target) x.
RunConfig oneWeight(Precision precision) {
    RunConfig config = laneConfig(precision);
    config.model.layers = "nn.Sequential(nn.Linear(1, 1, bias=False))";
    config.optimizer = {.kind = OptimizerKind::Sgd, .lr = 0};
    config.lanes[0].scaler.initScale = 1;
    config.gradientError = 1;
    return config;
}

std::optional<double> errorOfOne(const RunConfig& config, float weight, float x, float target = 0) {
    Lane lane(config, FixedDataset{{1, 1, 1}, {{{x}, {target}}}});
    lane.trainer.setWeights({{"0.weight", {weight}}});
    std::vector<Event> events;
    return lane.trainer.step(1, events)->gradientError;
}

/// Where the weight is 0, these make a gradient of 2^-25.
constexpr float kSmallX = 0x1p-14f, kSmallTarget = -0x1p-12f;

} // namespace

class TestGradientError : public QObject {
    Q_OBJECT

private slots:
    void oneRounding();
    void lostGradients();
    void formats();
    void otherGraphs_data();
    void otherGraphs();
    void whenItIsMeasured();
    void changesNothingElse();
    void liveEdits();
    void byLayer();
    void layersOnDemand();
    void smallerLastBatch();
    void forksAndResumedRuns();
    void stopsMidway();
    void noRoom();
};

void TestGradientError::oneRounding() {
    QCOMPARE(errorOfOne(oneWeight(Precision::AmpFp16), 1.5f, 2), std::optional(0.0)); // all exact
    // w and x as float16 has them: 1 + 2^-12 rounds to 1, so that 2 w x^2 becomes 2
    const double part = 0x1p-12;
    const auto error = errorOfOne(oneWeight(Precision::AmpFp16), 1 + static_cast<float>(part), 1);
    QVERIFY(error);
    const double exact = 2 * (1 + part);
    QVERIFY2(std::abs(*error - (exact - 2) / exact) < 0x1p-23, qPrintable(QString::number(*error)));
    // the input is rounded likewise: 1 + 2^-9 is 1 in bfloat16
    const double x = 1 + 0x1p-9;
    const auto input = errorOfOne(oneWeight(Precision::AmpBf16), 1, static_cast<float>(x));
    QVERIFY(input);
    QVERIFY(std::abs(*input - (x * x - 1) / (x * x)) < 0x1p-22);
}

void TestGradientError::lostGradients() {
    RunConfig config = oneWeight(Precision::AmpFp16);
    // a gradient of 2^-25, which float16 makes zero
    QCOMPARE(errorOfOne(config, 0, kSmallX, kSmallTarget), std::optional(1.0));
    config.lanes[0].scaler.initScale = 1024; // and a loss scale keeps
    QCOMPARE(errorOfOne(config, 0, kSmallX, kSmallTarget), std::optional(0.0));
    // a gradient that overflows: the step is skipped, and has no error
    config.lanes[0].scaler.initScale = 0x1p30;
    QCOMPARE(errorOfOne(config, 1, 1), std::nullopt);
    // a gradient of zero has no error either
    QCOMPARE(errorOfOne(oneWeight(Precision::AmpFp16), 0, 1), std::nullopt);
}

/// Rounding to p bits makes errors in proportion to 2^-p: float16 has 11, bfloat16 has 8, E4M3 has
/// 4 and E5M2 3; TF32 rounds only what enters products.
void TestGradientError::formats() {
    const std::vector<double> errors =
        errorsOf(smallExperiment("fp32,tf32,amp-fp16,amp-bf16,fp8", 2));
    QVERIFY(std::isnan(errors[0])); // float32 has no such error
    const double tf32 = errors[1], fp16 = errors[2], bf16 = errors[3], fp8 = errors[4];
    QVERIFY2(tf32 > 0 && tf32 < 4 * fp16, qPrintable(QString::number(tf32)));
    QVERIFY2(fp16 > 0x1p-13 && fp16 < 0x1p-6, qPrintable(QString::number(fp16)));
    QVERIFY2(bf16 > 4 * fp16 && bf16 < 16 * fp16, qPrintable(QString::number(bf16 / fp16)));
    QVERIFY2(fp8 > 4 * bf16 && fp8 < 1, qPrintable(QString::number(fp8 / bf16)));
}

void TestGradientError::otherGraphs_data() {
    QTest::addColumn<QStringList>("settings");
    const auto row = [](const char* name, const QStringList& settings) {
        QTest::newRow(name) << settings;
    };
    row("dropout", {"model.layers=Sequential(Linear(2, 64), ReLU(), Dropout(0.5), Linear(64, 1))"});
    row("accumulated", {"gradients.accumulate=2"});
    row("convolution",
        {"model.layers=Sequential(Conv2d(2, 16, 3, padding=1), Tanh(), Conv2d(16, 1, 1))"});
    row("penalty", {"gradients.penalty=0.1", "gradients.penalty_eps=1e-3"});
    row("clipped", {"gradients.clip=norm", "gradients.clip_limit=0.001"});
    row("two networks", {"model.networks=2"});
    row("critic", {"data.kind=image", "model.adversary=gan",
                   "model.layers=Sequential(Linear(2, 16), Tanh(), Linear(16, 3))",
                   "model.critic=Sequential(Linear(3, 16), Tanh(), Linear(16, 1))"});
}

/// Both gradients are those of the same function, before they are clipped: dropout has the same
/// mask, and only the present batch counts. With another mask the error would be about 1. Layers
/// that are asked for have the same gradients.
void TestGradientError::otherGraphs() {
    QFETCH(const QStringList, settings);
    RunConfig config = smallExperiment("fp32,amp-fp16", 1);
    for (const QString& setting : settings)
        applySetting(config, setting.toStdString());
    config.lanes[1].scaler.initScale = 1024; // nothing overflows
    const double error = errorsOf(config)[1];
    QVERIFY2(error > 0x1p-14 && error < 0x1p-5, qPrintable(QString::number(error)));
    Experiment asked(config);
    const std::vector<LayerGradients> layers = asked.gradientRanges(true)[1].layers;
    QVERIFY(layers.size() > 1);
    for (const LayerGradients& layer : layers)
        QVERIFY2(layer.error && *layer.error < 0x1p-3, layer.layer.c_str());
}

/// A fork is measured as its own precision, and a run that goes on from a checkpoint has the values
/// that it would have had.
void TestGradientError::forksAndResumedRuns() {
    RunConfig config = smallExperiment("fp32,amp-fp16", 2);
    std::vector<StepRecord> whole, first, rest;
    std::vector<Event> events;
    Experiment straight(config);
    while (!straight.finished()) {
        if (straight.step() == 2) straight.fork(0, defaultLane(Precision::Bf16), events);
        straight.advance(whole, events);
    }
    Experiment begun(config);
    for (int step = 0; step < 3; ++step) {
        if (begun.step() == 2) begun.fork(0, defaultLane(Precision::Bf16), events);
        begun.advance(first, events);
    }
    const ExperimentState state = begun.state();
    Experiment resumed(state.recorded);
    resumed.resume(state);
    while (!resumed.finished())
        resumed.advance(rest, events);
    QCOMPARE(first.size() + rest.size(), whole.size());
    int measured = 0;
    for (size_t i = 0; i < rest.size(); ++i) {
        const StepRecord& wanted = whole[first.size() + i];
        QCOMPARE(rest[i].step, wanted.step);
        QCOMPARE(rest[i].gradientError, wanted.gradientError);
        if (wanted.lane == 2 && wanted.step % 2 == 0) {
            QVERIFY(wanted.gradientError && *wanted.gradientError > 0x1p-10);
            ++measured;
        }
    }
    QCOMPARE(measured, 2);
}

void TestGradientError::whenItIsMeasured() {
    RunConfig config = smallExperiment("fp32,amp-bf16", 3);
    for (const StepRecord& record : recordsOf(config))
        QCOMPARE(record.gradientError.has_value(), record.lane == 1 && record.step % 3 == 0);
    // one layer in float16 is enough
    config.lanes[0].layers = "layer 1=float16";
    for (const StepRecord& record : recordsOf(config))
        QCOMPARE(record.gradientError.has_value(), record.step % 3 == 0);
    // an epoch's smaller last batch is left out: 10 samples in batches of 4
    RunConfig batches = config;
    batches.task = {};
    batches.task.kind = TaskKind::Regression;
    batches.task.samples = 10;
    batches.task.batch = 4;
    batches.gradientError = 1;
    batches.lanes[0].layers.clear();
    for (const StepRecord& record : recordsOf(batches))
        QCOMPARE(record.gradientError.has_value(), record.lane == 1 && record.step % 3 != 0);
    batches.gradientError = 3; // the step after it is measured instead
    for (const StepRecord& record : recordsOf(batches))
        QCOMPARE(record.gradientError.has_value(), record.lane == 1 && record.step == 4);
    // Apex O0 computes in float32
    QVERIFY(std::isnan(errorsOf(smallExperiment("apex-o0", 1))[0]));
}

void TestGradientError::changesNothingElse() {
    const char* lanes = "fp32,amp-fp16,bf16,fp8";
    const std::vector<StepRecord> measured = recordsOf(smallExperiment(lanes, 1));
    const std::vector<StepRecord> usual = recordsOf(smallExperiment(lanes, 0));
    QCOMPARE(measured.size(), usual.size());
    for (size_t i = 0; i < measured.size(); ++i) {
        QCOMPARE(measured[i].loss, usual[i].loss);
        QCOMPARE(measured[i].gradientNorm, usual[i].gradientNorm);
        QVERIFY(!usual[i].gradientError);
    }
    // the same bits whenever it is measured again
    const std::vector<StepRecord> again = recordsOf(smallExperiment(lanes, 1));
    for (size_t i = 0; i < measured.size(); ++i)
        QCOMPARE(again[i].gradientError, measured[i].gradientError);
}

/// A lane that begins to scale its loss is measured with its new scale.
void TestGradientError::liveEdits() {
    RunConfig config = oneWeight(Precision::AmpFp16);
    config.lanes[0].scaler.rules.mode = ScalerMode::Off;
    Lane lane(config, FixedDataset{{1, 1, 1}, {{{kSmallX}, {kSmallTarget}}}});
    lane.trainer.setWeights({{"0.weight", {0.0f}}});
    std::vector<Event> events;
    QCOMPARE(lane.trainer.step(1, events)->gradientError, std::optional(1.0));
    ScalerConfig scaler = config.lanes[0].scaler;
    scaler.rules.mode = ScalerMode::Dynamic;
    scaler.initScale = 1024;
    lane.trainer.setScaler(scaler);
    QCOMPARE(lane.trainer.step(2, events)->gradientError, std::optional(0.0));
}

/// The error of all parameters is a mean of those of the layers, weighted by their gradients.
void TestGradientError::byLayer() {
    RunConfig config = smallExperiment("fp32,amp-fp16,fp8", 1);
    Experiment experiment(config);
    const std::vector<GradientRange> ranges = experiment.gradientRanges(true);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    experiment.advance(records, events);
    for (const LayerGradients& layer : ranges[0].layers)
        QVERIFY(!layer.error);
    for (const size_t lane : {1u, 2u}) {
        QCOMPARE(ranges[lane].layers.size(), size_t{4});
        double least = 1e9, most = 0;
        for (const LayerGradients& layer : ranges[lane].layers) {
            QVERIFY2(layer.error && *layer.error > 0, layer.layer.c_str());
            least = std::min(least, *layer.error);
            most = std::max(most, *layer.error);
        }
        QVERIFY(least < most);
        const double all = records[lane].gradientError.value_or(-1);
        QVERIFY2(least <= all && all <= most, qPrintable(QString::number(all)));
    }
    // a single layer has the error of the whole
    RunConfig one = oneWeight(Precision::AmpFp16);
    one.gradientError = 1;
    Lane lane(one, FixedDataset{{1, 1, 1}, {{{1.0f}, {0.0f}}}});
    lane.trainer.setWeights({{"0.weight", {1 + 0x1p-12f}}});
    const auto range = lane.trainer.gradientRange([] {});
    QVERIFY(range && range->layers.size() == 1);
    std::vector<Event> none;
    QCOMPARE(range->layers[0].error, lane.trainer.step(1, none)->gradientError);
}

/// Layers are measured whenever somebody asks, whatever the setting says, and the training does not
/// depend on it.
void TestGradientError::layersOnDemand() {
    const char* lanes = "fp32,amp-fp16,bf16";
    Experiment set(smallExperiment(lanes, 1)), asked(smallExperiment(lanes, 0));
    std::vector<StepRecord> records, others;
    std::vector<Event> events;
    while (!asked.finished()) {
        const auto a = set.gradientRanges(true), b = asked.gradientRanges(true);
        for (size_t lane = 0; lane < a.size(); ++lane)
            for (size_t i = 0; i < a[lane].layers.size(); ++i)
                QCOMPARE(b[lane].layers[i].error, a[lane].layers[i].error);
        const std::vector<GradientRange> without = asked.gradientRanges();
        for (const LayerGradients& layer : without[1].layers)
            QVERIFY(!layer.error);
        set.advance(records, events);
        asked.advance(others, events);
    }
    const std::vector<StepRecord> usual = recordsOf(smallExperiment(lanes, 0));
    for (size_t i = 0; i < usual.size(); ++i) {
        QCOMPARE(others[i].loss, usual[i].loss);
        QCOMPARE(records[i].loss, usual[i].loss);
        QVERIFY(!others[i].gradientError);
    }
}

/// Before a smaller last batch the errors are those of the batch after it.
void TestGradientError::smallerLastBatch() {
    RunConfig config = smallExperiment("amp-bf16", 0);
    config.task = {};
    config.task.kind = TaskKind::Regression;
    config.task.samples = 10;
    config.task.batch = 4;
    Experiment experiment(config);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    for (int step = 1; step <= 4; ++step) { // step 3 has two samples
        const std::vector<GradientRange> ranges = experiment.gradientRanges(true);
        for (const LayerGradients& layer : ranges.front().layers)
            QVERIFY2(layer.error && *layer.error > 0, layer.layer.c_str());
        experiment.advance(records, events);
    }
}

/// Requests to stop come at any moment of a measurement; what was stopped is done again, and the
/// training is as if nobody had asked.
void TestGradientError::stopsMidway() {
    const RunConfig config = smallExperiment("fp32,amp-fp16,fp8", 1);
    Experiment experiment(config);
    std::atomic<bool> over{false};
    std::atomic<int> asked{0};
    std::thread nags([&] {
        for (int i = 0; !over; ++i) {
            experiment.requestStop();
            ++asked;
            std::this_thread::sleep_for(std::chrono::microseconds(50 << i % 12)); // to 0.1 s
        }
    });
    std::vector<StepRecord> records;
    std::vector<Event> events;
    int stopped = 0;
    constexpr int kMostTries = 100000;
    for (int i = 0; i < kMostTries && !experiment.finished(); ++i) {
        experiment.clearStop();
        if (i == 0) // one request comes in any case, however busy the machine is
            for (const int before = asked; asked == before;)
                std::this_thread::yield();
        if (!experiment.advance(records, events)) ++stopped;
        if (experiment.atStepBoundary() && experiment.gradientRanges(true).empty()) ++stopped;
    }
    over = true;
    nags.join();
    QVERIFY(experiment.finished());
    QVERIFY(stopped > 0);
    const std::vector<StepRecord> usual = recordsOf(config);
    QCOMPARE(records.size(), usual.size());
    for (size_t i = 0; i < usual.size(); ++i) {
        QCOMPARE(records[i].loss, usual[i].loss);
        QCOMPARE(records[i].gradientError, usual[i].gradientError);
    }
}

/// Where there is no room, the gradients are counted all the same, and say why they have no errors;
/// it is tried again only after a release, which also frees the memory.
void TestGradientError::noRoom() {
    RunConfig config = oneWeight(Precision::AmpFp16);
    config.gradientError = 0;
    Lane lane(config, FixedDataset{{1, 1, 1}, {{{1.0f}, {0.0f}}}});
    int asked = 0;
    const auto full = [&asked] {
        ++asked;
        throw EngineError(Message::data("no room"));
    };
    const auto fits = [&asked] { ++asked; };
    for (int time = 0; time < 2; ++time) {
        const auto range = lane.trainer.gradientRange(full);
        QVERIFY(range && range->layers.size() == 1 && !range->layers[0].error);
        QCOMPARE(range->noErrors.english(), std::string("no room"));
        QCOMPARE(lane.trainer.instrumentMemory().bytes, size_t{0});
    }
    QCOMPARE(asked, 1);
    lane.trainer.releaseErrors();
    const auto range = lane.trainer.gradientRange(fits);
    QVERIFY(range && range->layers[0].error);
    QVERIFY(range->noErrors.empty());
    QCOMPARE(asked, 2);
    lane.trainer.gradientRange(fits);
    QCOMPARE(asked, 2); // only before the first measurement
    QVERIFY(lane.trainer.instrumentMemory().bytes > 0);
    lane.trainer.releaseErrors();
    QCOMPARE(lane.trainer.instrumentMemory().bytes, size_t{0});
}

} // namespace tst_gradient_error

QTEST_GUILESS_MAIN(tst_gradient_error::TestGradientError)
#include "tst_gradient_error.moc"
