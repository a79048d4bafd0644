// One lane: what a skip leaves unchanged, growth, schedules, live edits, reproducible bits,
// stopping. How a lane begins is in tst_trainer_start, what is reported about an overflow in
// tst_overflow.
#include "engine/core/error.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "engine/step/schedule.h"
#include "engine/step/step_graph.h"
#include "engine/train/lane_step.h"
#include "engine/train/trainer.h"
#include "tests/support/lane.h"
#include "tests/support/wrapped_executor.h"

#include <QTest>

#include <atomic>
#include <cmath>
#include <thread>

namespace tst_trainer {

using namespace halfscope;
using namespace halfscope::test;

class TestTrainer : public QObject {
    Q_OBJECT

private slots:
    void batchesAreLent();
    /// The optimizer's step count and the moments do not change on a skip: a run that skips its
    /// first steps continues like one that starts at the scale that works, on the same batch.
    void skipsLeaveNoTrace() {
        RunConfig high = laneConfig(Precision::AmpFp16), low = high;
        high.lanes[0].scaler.initScale = std::ldexp(1.0, 24);
        Lane a(high);
        int64_t skips = 0;
        while (a.step(skips + 1).flags & kSkipped)
            ++skips;
        QVERIFY(skips > 0 && skips < 24);
        low.lanes[0].scaler.initScale = std::ldexp(1.0, 24 - static_cast<int>(skips));
        Lane b(low);
        b.step(1);
        for (int64_t step = 2; step < 12; ++step) {
            b.step(step);
            a.step(step + skips);
            QCOMPARE(differentWeights(a.trainer.weights(), b.trainer.weights()), 0);
        }
    }

    void repeatsOfABatchAreOneStep_data() {
        QTest::addColumn<QStringList>("settings");
        QTest::newRow("plain") << QStringList();
        QTest::newRow("penalty") << QStringList{"gradients.penalty=0.5"};
        QTest::newRow("clip") << QStringList{"gradients.clip=norm", "gradients.clip_limit=0.01"};
        QTest::newRow("two networks") << QStringList{"model.networks=2"};
    }
    /// Halves of a gradient add up to it without rounding, so an update of two times the same batch
    /// is a step of that batch. The sum is divided after a penalty and clipped as a whole.
    void repeatsOfABatchAreOneStep() {
        QFETCH(QStringList, settings);
        RunConfig config = laneConfig(Precision::Fp32);
        for (const QString& setting : settings)
            applySetting(config, setting.toStdString());
        Lane once(config);
        config.gradients.accumulate = 2;
        Lane twice(config);
        for (int64_t step = 1; step <= 3; ++step) {
            once.step(step);
            twice.step(2 * step - 1);
            twice.step(2 * step);
            QCOMPARE(differentWeights(once.trainer.weights(), twice.trainer.weights()), 0);
        }
    }

    /// Adam's mean goes the rest of the way from its nearer end. Where the cycled momentum falls
    /// below a half, the step holds both ways.
    void cycledMomentumBelowAHalf() {
        const auto selects = [](double base) {
            RunConfig config = laneConfig(Precision::Fp32);
            config.schedule.kind = ScheduleKind::OneCycle;
            config.schedule.cycleMomentum = true;
            config.schedule.baseMomentum = base;
            const Graph graph = buildStep(config, config.lanes[0], {64, 10, 1});
            int count = 0;
            for (NodeId id = 0; id < graph.size(); ++id)
                count += graph[id].op == Op::Where ? 1 : 0;
            return count;
        };
        QVERIFY(selects(0.3) > selects(0.6));
    }

    void runningStatisticsMoveOnASkip() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.model.norm = Norm::BatchNorm;
        config.lanes[0].scaler.initScale = std::ldexp(1.0, 40);
        Lane lane(config);
        RunConfig plain = config;
        plain.lanes[0].scaler.initScale = 1;
        Lane other(plain);
        QVERIFY(lane.step(1).flags & kSkipped);
        QVERIFY(!(other.step(1).flags & kSkipped));
        const Weights a = lane.trainer.weights(), b = other.trainer.weights();
        QVERIFY(a.at("1.running_mean") != std::vector<float>(20, 0.0f));
        // the diagnosis runs the step again and must not leave a second update behind
        QCOMPARE(differentBits(a.at("1.running_mean"), b.at("1.running_mean")), 0);
        QCOMPARE(differentBits(a.at("4.running_var"), b.at("4.running_var")), 0);
        QCOMPARE(lane.step(2).learningRate, other.step(2).learningRate);
    }

    void growsAfterTheInterval() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.lanes[0].scaler.initScale = 16;
        config.lanes[0].scaler.rules.growthInterval = 3;
        Lane lane(config);
        const std::vector<float> scales{16, 16, 16, 32, 32, 32, 64};
        for (size_t i = 0; i < scales.size(); ++i) {
            const StepRecord record = lane.step(static_cast<int64_t>(i) + 1);
            QCOMPARE(record.scale, scales[i]);
            QCOMPARE((record.flags & kGrew) != 0, i % 3 == 2);
            QCOMPARE(record.growthTracker, static_cast<int32_t>((i + 1) % 3));
        }
        QCOMPARE(lane.count(EventKind::Growth), 2);
        QCOMPARE(lane.events[0].text.english(),
                 std::string("Step 3: the loss scale grows from 16 (2^4) to 32 (2^5)."));
    }

    void editsActAtTheNextStep() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.lanes[0].scaler.initScale = 16;
        Lane lane(config);
        for (int64_t step = 1; step <= 4; ++step)
            QVERIFY(!(lane.step(step).flags & kGrew));
        ScalerConfig scaler = config.lanes[0].scaler;
        scaler.rules.growthInterval = 5;
        scaler.rules.growthFactor = 8;
        lane.trainer.setScaler(scaler);
        QVERIFY(lane.step(5).flags & kGrew);
        QCOMPARE(lane.step(6).scale, 128.0f);
        lane.trainer.setLearningRates(0.25, 0);
        QCOMPARE(lane.step(7).learningRate, 0.25f);
        lane.trainer.setScale(4);
        const StepRecord record = lane.step(8);
        QCOMPARE(record.scale, 4.0f);
        QCOMPARE(record.growthTracker, 3); // a new scale does not change the tracker
    }

    /// These settings need another step to be compiled. Every state that they do not change is
    /// carried along: weights, moments, running statistics, accumulated gradients, scale, tracker,
    /// schedule.
    void anotherStepCarriesAllStates_data() {
        QTest::addColumn<bool>("check");
        QTest::addColumn<bool>("hold");
        QTest::addColumn<bool>("stepOn");
        QTest::newRow("check after unscaling") << true << false << false;
        QTest::newRow("hold the schedule") << false << true << false;
        QTest::newRow("step on overflow") << false << false << true;
    }
    void anotherStepCarriesAllStates() {
        QFETCH(bool, check);
        QFETCH(bool, hold);
        QFETCH(bool, stepOn);
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.model.norm = Norm::BatchNorm;
        config.schedule.kind = ScheduleKind::OneCycle;
        config.schedule.totalSteps = 20;
        config.gradients.accumulate = 2;
        ScalerConfig& scaler = config.lanes[0].scaler;
        scaler.initScale = 16;
        scaler.rules.growthInterval = 3;
        Lane edited(config, {64, 10, 1}, 3), plain(config, {64, 10, 1}, 3);
        for (int64_t step = 1; step <= 12; ++step) {
            if (step == 6) {
                const std::vector<float> before = edited.trainer.prediction();
                scaler.checkUnscaled = check;
                scaler.holdSchedule = hold;
                scaler.onOverflow = stepOn ? OverflowAction::Step : OverflowAction::Skip;
                edited.trainer.setScaler(scaler);
                QCOMPARE(edited.trainer.prediction(), before); // the picture on the screen
            }
            const StepRecord a = edited.step(step), b = plain.step(step);
            QCOMPARE(a.loss, b.loss);
            QCOMPARE(a.scale, b.scale);
            QCOMPARE(a.growthTracker, b.growthTracker);
            QCOMPARE(a.learningRate, b.learningRate);
            QCOMPARE(a.flags, b.flags);
        }
        QCOMPARE(differentWeights(edited.trainer.weights(), plain.trainer.weights()), 0);
    }

    void scalingGoesOffAndOn() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        ScalerConfig& scaler = config.lanes[0].scaler;
        scaler.initScale = std::ldexp(1.0, 24);
        scaler.rules.mode = ScalerMode::Static;
        Lane lane(config);
        QVERIFY(lane.step(1).flags & kSkipped);
        scaler.rules.mode = ScalerMode::Off;
        lane.trainer.setScaler(scaler);
        StepRecord record = lane.step(2);
        QCOMPARE(record.scale, 1.0f);
        QVERIFY(!(record.flags & kSkipped));
        scaler.rules.mode = ScalerMode::Dynamic;
        lane.trainer.setScaler(scaler);
        record = lane.step(3);
        QCOMPARE(record.scale, std::ldexp(1.0f, 24)); // it begins to scale, with the initial scale
        QCOMPARE(record.flags, uint32_t{kSkipped | kBackedOff});
        QCOMPARE(record.skippedSoFar, int64_t{2});
        scaler.rules.mode = ScalerMode::Static;
        lane.trainer.setScaler(scaler);
        QCOMPARE(lane.step(4).scale, std::ldexp(1.0f, 23)); // the present scale, kept
        QCOMPARE(lane.step(5).scale, std::ldexp(1.0f, 23));
    }

    void overflowRulesActAtTheNextStep() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.schedule.kind = ScheduleKind::OneCycle;
        config.schedule.totalSteps = 10;
        ScalerConfig& scaler = config.lanes[0].scaler;
        scaler.initScale = std::ldexp(1.0, 24);
        scaler.rules.mode = ScalerMode::Static;
        Lane lane(config);
        const float first = lane.step(1).learningRate, second = lane.step(2).learningRate;
        QVERIFY(second > first);
        scaler.holdSchedule = true;
        lane.trainer.setScaler(scaler);
        const float third = lane.step(3).learningRate;
        QVERIFY(third > second); // the step before continued
        QCOMPARE(lane.step(4).learningRate, third);
        scaler.onOverflow = OverflowAction::Step;
        lane.trainer.setScaler(scaler);
        QCOMPARE(lane.step(5).flags & kSkipped, 0u);
        QVERIFY(std::isnan(lane.trainer.weights().at("0.weight")[0]));
    }

    void modes_data() {
        QTest::addColumn<int>("precision");
        QTest::addColumn<int>("mode");
        QTest::addColumn<bool>("skips");
        QTest::addColumn<float>("scaleAfter");
        const auto row = [](const char* name, Precision p, ScalerMode m, bool skips, float after) {
            QTest::newRow(name) << static_cast<int>(p) << static_cast<int>(m) << skips << after;
        };
        const float high = std::ldexp(1.0f, 24);
        row("dynamic", Precision::AmpFp16, ScalerMode::Dynamic, true, high / 2);
        row("static skips and stays", Precision::AmpFp16, ScalerMode::Static, true, high);
        row("off", Precision::AmpFp16, ScalerMode::Off, false, 1);
        row("bfloat16 has the range", Precision::AmpBf16, ScalerMode::Dynamic, false, high);
        row("bfloat16 off", Precision::AmpBf16, ScalerMode::Off, false, 1);
        row("fp32 never scales", Precision::Fp32, ScalerMode::Dynamic, false, 1);
        row("fp16 never scales", Precision::Fp16, ScalerMode::Dynamic, false, 1);
    }
    void modes() {
        QFETCH(int, precision);
        QFETCH(int, mode);
        QFETCH(bool, skips);
        QFETCH(float, scaleAfter);
        RunConfig config = laneConfig(static_cast<Precision>(precision));
        config.lanes[0].scaler.initScale = std::ldexp(1.0, 24);
        config.lanes[0].scaler.rules.mode = static_cast<ScalerMode>(mode);
        Lane lane(config);
        const Weights before = lane.trainer.weights();
        const StepRecord record = lane.step(1);
        QCOMPARE((record.flags & kSkipped) != 0, skips);
        QCOMPARE(lane.trainer.scaler().scale, scaleAfter);
        QCOMPARE(differentWeights(before, lane.trainer.weights()) == 0, skips);
    }

    void schedule_data() {
        QTest::addColumn<bool>("hold");
        QTest::newRow("advances on a skip, as in PyTorch") << false;
        QTest::newRow("held on a skip") << true;
    }
    void schedule() {
        QFETCH(bool, hold);
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.schedule.kind = ScheduleKind::OneCycle;
        config.schedule.totalSteps = 40;
        config.lanes[0].scaler.initScale = std::ldexp(1.0, 24);
        config.lanes[0].scaler.holdSchedule = hold;
        Lane lane(config);
        const std::vector<float> table = learningRateTable(config.schedule, config.optimizer.lr);
        size_t taken = 0;
        for (size_t i = 0; i < 20; ++i) {
            const StepRecord record = lane.step(static_cast<int64_t>(i) + 1);
            QCOMPARE(record.learningRate, table[hold ? taken : i]);
            taken += record.flags & kSkipped ? 0 : 1;
        }
        QVERIFY(taken > 0 && taken < 20);
    }

    /// PyTorch's recipe calls scheduler.step() once an update, not once a micro-batch.
    void scheduleTicksWithUpdates() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.schedule.kind = ScheduleKind::Step;
        config.schedule.stepSize = 1;
        config.schedule.gamma = 0.5;
        config.schedule.totalSteps = 100;
        config.gradients.accumulate = 3;
        Lane lane(config);
        const std::vector<float> table = learningRateTable(config.schedule, config.optimizer.lr);
        for (size_t i = 0; i < 12; ++i)
            QCOMPARE(lane.step(static_cast<int64_t>(i) + 1).learningRate, table[i / 3]);
    }

    /// Compares the same step with one kernel a node and with fused loops.
    void fusedFollowsUnfused() {
        RunConfig config = laneConfig(Precision::Fp32);
        config.model = {20, 1, Norm::BatchNorm, Activation::Tanh};
        const BatchShape shape{64, 10, 1};
        const FixedDataset data = randomRegression(shape, 1, kLaneSeed);
        std::vector<float> x(640), target(64), rate{1e-3f};
        QVERIFY(data.batch(1, x, target));
        const Graph graph = buildStep(config, config.lanes[0], shape);
        std::vector<std::vector<float>> losses;
        for (const FuseOptions fuse : {FuseOptions::Full, FuseOptions::None}) {
            const auto program = std::make_shared<const Program>(compile(graph, {.fuse = fuse}));
            const Graph& g = program->graph;
            const std::unique_ptr<Executor> executor = makeCpuExecutor(1);
            executor->load(program);
            const auto upload = [&](NodeId id, const std::vector<float>& values) {
                executor->upload(id, std::as_bytes(std::span(values)));
            };
            for (const auto& [name, values] : initialWeights(g, kLaneSeed))
                upload(g.state(name), values);
            upload(g.input("x"), x);
            upload(g.input("target"), target);
            upload(g.state("schedule.table"), rate);
            auto& list = losses.emplace_back(20);
            for (float& loss : list) {
                QCOMPARE(executor->run(RunMode::Captured), RunResult::Done);
                executor->download(g.output("loss"), std::as_writable_bytes(std::span(&loss, 1)));
            }
        }
        for (size_t i = 0; i < losses[0].size(); ++i) {
            // sums of 64 terms in another order, 20 smooth steps
            const double difference = std::abs(double{losses[0][i]} / double{losses[1][i]} - 1);
            QVERIFY2(difference <= 64 * 0x1p-24,
                     qPrintable(QString("step %1: %2").arg(i + 1).arg(difference)));
        }
    }

    void bitsDoNotDependOnThreads_data() {
        QTest::addColumn<int>("precision");
        for (int p = 0; p <= static_cast<int>(Precision::Fp16); ++p)
            QTest::newRow(nameOf(static_cast<Precision>(p))) << p;
    }
    void bitsDoNotDependOnThreads() {
        QFETCH(int, precision);
        RunConfig config = laneConfig(static_cast<Precision>(precision));
        config.model = {33, 2, Norm::BatchNorm, Activation::Gelu};
        const BatchShape shape{257, 3, 2};
        std::vector<std::vector<float>> losses;
        std::vector<Weights> weights;
        for (const int threads : {1, 2, 2}) {
            config.threads = threads;
            Lane lane(config, shape, 3);
            auto& list = losses.emplace_back();
            for (int64_t step = 1; step <= 10; ++step)
                list.push_back(lane.step(step).loss);
            weights.push_back(lane.trainer.weights());
        }
        for (size_t run = 1; run < losses.size(); ++run) {
            QCOMPARE(differentBits(losses[0], losses[run]), 0);
            QCOMPARE(differentWeights(weights[0], weights[run]), 0);
        }
    }

    /// Another thread stops the run at random moments; it then has the bits of an undisturbed run.
    void stoppingChangesNothing() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.model = {96, 2, Norm::BatchNorm, Activation::Relu};
        config.lanes[0].scaler.initScale = std::ldexp(1.0, 30);
        const BatchShape shape{4096, 2, 1};
        Lane calm(config, shape, 2), disturbed(config, shape, 2);
        std::atomic<bool> done{false}, asked{false};
        std::thread disturber([&] {
            while (!done) {
                disturbed.trainer.requestStop();
                asked = true;
                std::this_thread::sleep_for(std::chrono::milliseconds(7));
            }
        });
        while (!asked) // the first step is stopped in any case
            std::this_thread::yield();
        int stopped = 0;
        for (int64_t step = 1; step <= 30; ++step) {
            while (!disturbed.trainer.step(step, disturbed.events).has_value()) {
                ++stopped;
                if (stopped > 60) done = true;
            }
        }
        done = true;
        disturber.join();
        for (int64_t step = 1; step <= 30; ++step)
            calm.step(step);
        QCOMPARE(differentWeights(calm.trainer.weights(), disturbed.trainer.weights()), 0);
        QCOMPARE(calm.trainer.scaler(), disturbed.trainer.scaler());
        QCOMPARE(calm.trainer.skipped(), disturbed.trainer.skipped());
        QVERIFY(stopped > 0);
    }

    void oneCycleSetsTheRate() {
        RunConfig config = laneConfig(Precision::Fp32);
        config.schedule.kind = ScheduleKind::OneCycle;
        config.schedule.totalSteps = 5;
        Lane lane(config);
        std::vector<float> rates;
        for (int64_t step = 1; step <= 7; ++step)
            rates.push_back(lane.step(step).learningRate);
        QCOMPARE(rates[0], static_cast<float>(config.schedule.maxLr / config.schedule.divFactor));
        QVERIFY(rates[4] < rates[0] / 100);
        QCOMPARE(rates[6], rates[4]); // the last rate stays
    }
};

/// Batches are read where the loader keeps them, see Executor::lend().
void TestTrainer::batchesAreLent() {
    struct Lent {
        const std::byte* at = nullptr;
        int times = 0;
    } lent;
    class Watched final : public test::WrappedExecutor {
    public:
        explicit Watched(Lent& watched) : m_lent(watched) {}
        void lend(NodeId id, std::span<const std::byte> bytes,
                  std::shared_ptr<const void> owner) override {
            m_lent = {bytes.data(), m_lent.times + 1};
            inner().lend(id, bytes, std::move(owner));
        }

    private:
        Lent& m_lent;
    };
    const RunConfig config = presetNamed("mnist-mlp").config;
    const std::unique_ptr<Task> task = makeTask(config);
    const LaneConfig lane = defaultLane(Precision::AmpFp16);
    LaneStep step(std::make_unique<Watched>(lent), buildStep(config, lane, task->shape()),
                  task->rows(), *task, {});
    for (const int number : {1, 2}) {
        step.loadBatch(number);
        step.loadBatch(number); // it is there already
        QCOMPARE(lent.times, number);
        QCOMPARE(lent.at, task->load(number)->tensors[kX].bytes.data());
    }
}

} // namespace tst_trainer

QTEST_GUILESS_MAIN(tst_trainer::TestTrainer)
#include "tst_trainer.moc"
