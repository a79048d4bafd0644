// Watched weights: how many a step leaves unchanged, in which format, and how far lanes are apart.
#include "engine/train/experiment.h"
#include "engine/train/weight_watch.h"
#include "tests/support/lane.h"

#include <QTest>

#include <cmath>

namespace tst_weight_watch {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Returns a lane of y = w x that steps w by SGD at the given rate. Its gradient is 2 w x^2 for a
/// target of 0.
RunConfig oneWeight(Precision precision, double lr) {
    RunConfig config = laneConfig(precision);
    config.model.layers = "nn.Sequential(nn.Linear(1, 1, bias=False))";
    config.optimizer = {.kind = OptimizerKind::Sgd, .lr = lr};
    config.lanes[0].scaler.initScale = 1;
    config.watchWeights = 1;
    return config;
}

/// The weight is 1 and its gradient is 2: the update is 2 lr.
struct OneWeight : Lane {
    OneWeight(Precision precision, double lr) : OneWeight(oneWeight(precision, lr)) {}
    explicit OneWeight(const RunConfig& config)
        : Lane(config, FixedDataset{{1, 1, 1}, {{{1.0f}, {0.0f}}}}) {
        trainer.setWeights({{"0.weight", {1.0f}}});
    }
};

RunConfig smallExperiment(const char* lanes, int64_t every) {
    RunConfig config = defaultConfig();
    config.task.side = 8;
    config.model.width = 8;
    config.model.depth = 1;
    config.lanes = parseLanes(lanes);
    config.steps = 6;
    config.device = "cpu";
    config.threads = 1;
    config.watchWeights = every;
    return config;
}

std::vector<StepRecord> recordsOf(Experiment& experiment) {
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (!experiment.finished())
        experiment.advance(records, events);
    return records;
}

/// Returns the trained parameters in their order; running statistics are none.
std::vector<float> parametersOf(Trainer& lane) {
    std::vector<float> all;
    for (const auto& [name, values] : lane.weights())
        if (name.find("running") == std::string::npos)
            all.insert(all.end(), values.begin(), values.end());
    return all;
}

} // namespace

class TestWeightWatch : public QObject {
    Q_OBJECT

private slots:
    void whichSteps_data();
    void whichSteps();
    void whatRoundsAway_data();
    void whatRoundsAway();
    void ofASkippedStep();
    void ofACritic();
    void sharesAndDistances();
    void changesNothingElse();
};

void TestWeightWatch::whichSteps_data() {
    QTest::addColumn<int>("every");
    QTest::addColumn<int>("batches");
    QTest::addColumn<QList<int>>("watched");
    QTest::newRow("never") << 0 << 1 << QList<int>{};
    QTest::newRow("each") << 1 << 1 << QList<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    QTest::newRow("every fifth") << 5 << 1 << QList<int>{5, 10};
    QTest::newRow("the update after every fifth") << 5 << 3 << QList<int>{6, 12};
    QTest::newRow("no step twice") << 1 << 4 << QList<int>{4, 8, 12};
}

void TestWeightWatch::whichSteps() {
    QFETCH(int, every);
    QFETCH(int, batches);
    RunConfig config;
    config.watchWeights = every;
    config.gradients.accumulate = batches;
    QList<int> watched;
    for (int step = 1; step <= 12; ++step)
        if (watchesWeights(config, step)) watched << step;
    QTEST(watched, "watched");
}

/// Just below 1, fp16 numbers are 2^-11 apart and bf16 numbers 2^-8: an update of less than half of
/// that rounds away, whereas f32 keeps it.
void TestWeightWatch::whatRoundsAway_data() {
    QTest::addColumn<Precision>("precision");
    QTest::addColumn<double>("update");
    QTest::addColumn<double>("unchanged");
    QTest::addColumn<double>("copies"); // -1: there are none
    QTest::newRow("fp32") << Precision::Fp32 << 0x1p-13 << 0.0 << -1.0;
    QTest::newRow("fp16, too small") << Precision::Fp16 << 0x1p-13 << 1.0 << -1.0;
    QTest::newRow("fp16, one place") << Precision::Fp16 << 0x1p-11 << 0.0 << -1.0;
    QTest::newRow("bf16, too small") << Precision::Bf16 << 0x1p-10 << 1.0 << -1.0;
    QTest::newRow("bf16, one place") << Precision::Bf16 << 0x1p-8 << 0.0 << -1.0;
    QTest::newRow("AMP keeps it, not its copy") << Precision::AmpFp16 << 0x1p-13 << 0.0 << 1.0;
    QTest::newRow("AMP, the copy too") << Precision::AmpFp16 << 0x1p-11 << 0.0 << 0.0;
    QTest::newRow("bf16 copies are coarser") << Precision::AmpBf16 << 0x1p-11 << 0.0 << 1.0;
    QTest::newRow("master weights") << Precision::ApexO2 << 0x1p-13 << 0.0 << 1.0;
    QTest::newRow("FP8 copies too") << Precision::Fp8 << 0x1p-6 << 0.0 << 1.0;
    QTest::newRow("FP8, the copy too") << Precision::Fp8 << 0x1p-4 << 0.0 << 0.0;
    QTest::newRow("no update at all") << Precision::AmpFp16 << 0.0 << 1.0 << 1.0;
}

void TestWeightWatch::whatRoundsAway() {
    QFETCH(Precision, precision);
    QFETCH(double, update);
    QFETCH(double, copies);
    OneWeight lane(precision, update / 2);
    const auto change = lane.step(1).weightChange;
    QVERIFY(change.has_value());
    QTEST(change->unchanged, "unchanged");
    QCOMPARE(change->unchangedCopies.value_or(-1), copies);
}

/// It has changed no weight, which is no loss by rounding.
void TestWeightWatch::ofASkippedStep() {
    RunConfig config = oneWeight(Precision::AmpFp16, 0x1p-10);
    config.lanes[0].scaler.initScale = 0x1p20;
    OneWeight lane(config);
    const StepRecord skipped = lane.step(1);
    QVERIFY(skipped.flags & kSkipped);
    QVERIFY(!skipped.weightChange);
    lane.trainer.setScale(1);
    QVERIFY(lane.step(2).weightChange.has_value());
}

/// While the first network sits an update out, only the critic's weights are counted.
void TestWeightWatch::ofACritic() {
    RunConfig config = oneWeight(Precision::Fp32, 0);
    config.model.critic = "nn.Sequential(nn.Linear(1, 1, bias=False))";
    config.model.adversary = Adversary::Gan;
    config.model.criticSteps = 2;
    config.second = {OptimizerKind::Sgd, 0x1p-4};
    Lane lane(config, {{1, 1, 1}, {{{1.0f}, {0.5f}}}});
    const auto waits = lane.step(1).weightChange, both = lane.step(2).weightChange;
    QVERIFY(waits && both);
    QCOMPARE(waits->unchanged, 0.0); // the critic's only weight has changed
    QCOMPARE(both->unchanged, 0.5);  // the first network's cannot: its rate is 0
}

/// Compares with the weights that the lanes themselves give before and after each step.
void TestWeightWatch::sharesAndDistances() {
    Experiment experiment(smallExperiment("fp32,bf16,amp-fp16", 2));
    std::vector<StepRecord> records;
    std::vector<Event> events;
    for (int64_t step = 1; step <= 4; ++step) {
        std::vector<std::vector<float>> before;
        for (int lane = 0; lane < experiment.lanes(); ++lane)
            before.push_back(parametersOf(experiment.lane(lane)));
        records.clear();
        QVERIFY(experiment.advance(records, events));
        const std::vector<float> first = parametersOf(experiment.lane(0));
        for (int lane = 0; lane < experiment.lanes(); ++lane) {
            const StepRecord& record = records[static_cast<size_t>(lane)];
            QCOMPARE(record.weightChange.has_value(), step % 2 == 0);
            QCOMPARE(record.weightDistance.has_value(), step % 2 == 0 && lane > 0);
            if (step % 2 != 0) continue;
            const std::vector<float> after = parametersOf(experiment.lane(lane));
            double equal = 0, difference = 0, norm = 0;
            for (size_t i = 0; i < after.size(); ++i) {
                equal += after[i] == before[static_cast<size_t>(lane)][i] ? 1 : 0;
                difference += std::pow(double{after[i]} - double{first[i]}, 2);
                norm += std::pow(double{first[i]}, 2);
            }
            QCOMPARE(record.weightChange->unchanged, equal / static_cast<double>(after.size()));
            if (lane == 0) continue;
            const double distance = std::sqrt(difference / norm);
            QVERIFY(distance > 0);
            // sums of n squares in another order: n roundings each
            const double bound = 2 * static_cast<double>(after.size()) * 0x1p-53 * distance;
            QVERIFY(std::abs(*record.weightDistance - distance) <= bound);
        }
    }
}

void TestWeightWatch::changesNothingElse() {
    const char* lanes = "fp32,amp-fp16,bf16";
    Experiment watched(smallExperiment(lanes, 1)), usual(smallExperiment(lanes, 0));
    const std::vector<StepRecord> records = recordsOf(watched), others = recordsOf(usual);
    QCOMPARE(records.size(), others.size());
    for (size_t i = 0; i < records.size(); ++i) {
        QCOMPARE(records[i].loss, others[i].loss);
        QVERIFY(!others[i].weightChange && !others[i].weightDistance);
    }
    for (int lane = 0; lane < watched.lanes(); ++lane)
        QCOMPARE(differentWeights(watched.lane(lane).weights(), usual.lane(lane).weights()), 0);
}

} // namespace tst_weight_watch

QTEST_GUILESS_MAIN(tst_weight_watch::TestWeightWatch)

#include "tst_weight_watch.moc"
