// The last batch of an epoch, which may be smaller: trainings compared with PyTorch's, recorded by
// tests/golden/record_last_batch.py, and what is exchanged between the two sizes of a lane's step.
#include "engine/io/input_file.h"
#include "engine/settings/fields.h"
#include "engine/train/experiment.h"
#include "engine/verify/golden.h"
#include "tests/support/lane.h"

#include <QTest>

#include <cmath>

namespace tst_last_batch {

using namespace halfscope;
using namespace halfscope::test;
using recorded::Golden;

namespace {

/// The relative bound of a float32 loss about the float64 one, as verify requires of its recorded
/// runs.
constexpr double kFloat32Bound = 2e-6;
/// The bound of losses in half precision, as in tst_recipe_runs.
constexpr double kHalfBound = 2e-3;

const Golden& recordedRuns() {
    static const std::string path = HALFSCOPE_SOURCE_DIR "/tests/golden/last_batch.json";
    static const Golden file = Golden::parse(path, readFile(path));
    return file;
}

FixedDataset recordedData() {
    const Golden& file = recordedRuns();
    std::vector<FixedDataset::Batch> batches;
    for (size_t i = 0; i < file.at("x").size(); ++i)
        batches.push_back({file.at("x").at(i).floats(), file.at("target").at(i).floats()});
    return {{file.at("batch").integer(), file.at("inputs").integer(), 1}, std::move(batches)};
}

RunConfig recordedConfig(bool amp) {
    const Golden& file = recordedRuns();
    RunConfig config = laneConfig(amp ? Precision::AmpFp16 : Precision::Fp32);
    config.model = {file.at("width").integer(), 0, Norm::BatchNorm, Activation::Relu};
    config.optimizer.lr = file.at("rate").number();
    config.lanes[0].scaler.initScale = file.at("first_scale").number();
    config.lanes[0].scaler.rules.growthInterval = file.at("growth_interval").integer();
    return config;
}

Weights recordedStart() {
    Weights start;
    for (const auto& [name, values] : recordedRuns().at("start").members())
        start[name] = values.floats();
    return start;
}

double worstDeviation(const std::vector<float>& got, const std::vector<float>& wanted) {
    double worst = got.size() == wanted.size() ? 0 : INFINITY;
    for (size_t i = 0; i < got.size(); ++i)
        worst = std::max(worst, std::abs(double{got[i]} - double{wanted[i]}) /
                                    std::max(1.0, std::abs(double{wanted[i]})));
    return worst;
}

/// 21 samples in batches of 8, with overflows in both sizes of a step.
RunConfig unevenConfig() {
    RunConfig config = defaultConfig();
    config.task.kind = TaskKind::Regression;
    config.task.samples = 21;
    config.task.batch = 8;
    config.model = {12, 1, Norm::BatchNorm, Activation::Relu};
    config.steps = 30;
    config.device = "cpu";
    config.threads = 1;
    config.lanes[1].scaler.initScale = std::ldexp(1.0, 26);
    return config;
}

} // namespace

class TestLastBatch : public QObject {
    Q_OBJECT

private slots:
    void followsPyTorch_data() {
        QTest::addColumn<bool>("amp");
        QTest::newRow("float32") << false;
        QTest::newRow("float16 autocast") << true;
    }
    void followsPyTorch() {
        QFETCH(bool, amp);
        const Golden run = recordedRuns().at("runs").at(amp ? 1 : 0);
        Lane lane(recordedConfig(amp), recordedData());
        lane.trainer.setWeights([&] {
            Weights start = lane.trainer.weights();
            for (auto& [name, values] : recordedStart())
                start.at(name) = values;
            return start;
        }());
        const double bound = amp ? kHalfBound : kFloat32Bound;
        double worst = 0;
        for (size_t i = 0; i < run.at("losses").size(); ++i) {
            const StepRecord record = lane.step(static_cast<int64_t>(i) + 1);
            const std::string step = "step " + std::to_string(i + 1);
            QVERIFY2(double{record.scale} == run.at("scales").at(i).number(), step.c_str());
            const double wanted = run.at("losses").at(i).number();
            const double deviation = std::abs(double{record.loss} - wanted) / wanted;
            QVERIFY2(deviation <= bound, (step + ": " + std::to_string(deviation)).c_str());
            worst = std::max(worst, deviation);
        }
        const Weights end = lane.trainer.weights();
        // The running mean is not compared: the bias before a batch norm has no gradient but
        // rounding errors, which Adam turns into steps of full size.
        QVERIFY(worstDeviation(end.at("1.running_var"), run.at("running_var").floats()) <= bound);
        qInfo("largest relative deviation of a loss: %.2g", worst);
    }

    /// Stop requests, gradient counts and pictures between the steps do not change the numbers.
    void nothingElseMovesTheNumbers() {
        RunConfig config = unevenConfig();
        config.gradients.accumulate = 2; // an overflow is searched for in batches of both sizes
        Experiment calm(config), busy(config);
        std::vector<StepRecord> a, b;
        std::vector<Event> eventsA, eventsB;
        while (!calm.finished())
            QVERIFY(calm.advance(a, eventsA));
        for (int64_t i = 0; !busy.finished(); ++i) {
            if (i % 3 == 1) QCOMPARE(busy.gradientRanges().size(), size_t{2});
            if (i % 4 == 2) busy.snapshot();
            if (i % 5 == 3) busy.lane(1).setScaler(config.lanes[1].scaler);
            QVERIFY(busy.advance(b, eventsB));
        }
        QCOMPARE(a.size(), b.size());
        bool skippedSmall = false, skippedWhole = false;
        for (size_t i = 0; i < a.size(); ++i) {
            QCOMPARE(differentBits({a[i].loss, a[i].scale}, {b[i].loss, b[i].scale}), 0);
            (a[i].step % 3 == 0 ? skippedSmall : skippedWhole) |= (a[i].flags & kSkipped) != 0;
        }
        QVERIFY(skippedSmall || skippedWhole);
        QCOMPARE(eventsA.size(), eventsB.size());
        for (size_t i = 0; i < eventsA.size(); ++i)
            QCOMPARE(eventsA[i].text, eventsB[i].text);
    }

    /// A lane is rebuilt, restored or forked while the small batch has its states.
    void stateIsTheSameInBothSizes() {
        const RunConfig config = unevenConfig();
        for (const int64_t at : {2, 3}) { // of three steps an epoch
            Experiment run(config), other(config);
            std::vector<StepRecord> rows;
            std::vector<Event> events;
            while (run.step() < at)
                QVERIFY(run.advance(rows, events));
            const LaneState state = run.lane(1).state();
            QCOMPARE(state.step, at);
            other.lane(1).restore(state);
            QVERIFY(other.lane(1).state() == state);
            run.fork(1, config.lanes[1], events);
            rows.clear();
            while (run.step() < 9)
                QVERIFY(run.advance(rows, events));
            for (size_t i = 0; i < rows.size(); i += 3) {
                QCOMPARE(rows[i + 1].loss, rows[i + 2].loss);
                const auto record = other.lane(1).step(rows[i].step, events);
                QCOMPARE(record->loss, rows[i + 1].loss);
            }
        }
    }

    void memoryCountsBothSizes() {
        RunConfig config = unevenConfig(), even = config;
        even.task.samples = 24;
        const size_t both = Experiment(config).lane(0).memory().bytes;
        const size_t one = Experiment(even).lane(0).memory().bytes;
        QVERIFY(both > one);
        QVERIFY(both < 2 * one);
    }
};

} // namespace tst_last_batch

QTEST_GUILESS_MAIN(tst_last_batch::TestLastBatch)
#include "tst_last_batch.moc"
