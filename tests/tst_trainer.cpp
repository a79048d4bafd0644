// One lane: skipped steps, the scaler's life in events, live edits, reproducible bits, stopping.
#include "engine/core/error.h"
#include "engine/ops/functional.h"
#include "engine/train/overflow.h"
#include "engine/train/schedule.h"
#include "engine/train/trainer.h"
#include "tests/support/training.h"

#include <QTest>

#include <cmath>
#include <thread>

using namespace halfscope;
using halfscope::test::differentBits;
using halfscope::test::FixedDataset;
using halfscope::test::randomRegression;

namespace {

constexpr uint64_t kSeed = 11;

RunConfig smallConfig(Precision precision) {
    RunConfig config;
    config.model = {20, 1, Norm::None, Activation::Relu};
    config.lanes = {LaneConfig{precision, {}}};
    if (precision != Precision::AmpFp16) config.lanes[0].scaler.rules.mode = ScalerMode::Off;
    config.threads = 1;
    config.device = "cpu";
    config.seed = kSeed;
    return config;
}

struct Lane {
    FixedDataset data;
    Trainer trainer;
    std::vector<Event> events;

    explicit Lane(const RunConfig& config, BatchShape shape = {64, 10, 1}, int batches = 1)
        : data(randomRegression(shape, batches, config.seed)),
          trainer(config, 0, "lane", data, makeCpuExecutor(static_cast<int>(config.threads))) {}

    StepRecord step(int64_t number) {
        const auto record = trainer.step(number, events);
        require(record.has_value(), "nobody asked the step to stop");
        return *record;
    }
    int count(EventKind kind) const {
        return static_cast<int>(std::count_if(events.begin(), events.end(),
                                              [&](const Event& e) { return e.kind == kind; }));
    }
};

int differentWeights(const Weights& a, const Weights& b) {
    int different = a.size() == b.size() ? 0 : -1000000;
    for (const auto& [name, values] : a)
        different += differentBits(values, b.at(name));
    return different;
}

} // namespace

class TestTrainer : public QObject {
    Q_OBJECT

private slots:
    void overflowSkipsAndHalves() {
        RunConfig config = smallConfig(Precision::AmpFp16);
        config.lanes[0].scaler.initScale = 16777216;
        Lane lane(config);
        const Weights before = lane.trainer.weights();
        const StepRecord record = lane.step(1);
        QCOMPARE(record.flags, uint32_t{kSkipped | kBackedOff});
        QCOMPARE(record.scale, 16777216.0f);
        QCOMPARE(record.skippedSoFar, int64_t{1});
        QCOMPARE(lane.trainer.scaler().scale, 8388608.0f);
        QVERIFY(!std::isfinite(record.gradientNorm));
        QVERIFY(std::isfinite(record.loss));
        QCOMPARE(differentWeights(before, lane.trainer.weights()), 0);
        QCOMPARE(lane.count(EventKind::Overflow), 1);
        QCOMPARE(lane.count(EventKind::Backoff), 1);
        const Event& event = lane.events.front();
        QCOMPARE(event.scaleBefore, 16777216.0f);
        QCOMPARE(event.scaleAfter, 8388608.0f);
        QVERIFY2(!event.tensor.empty(), event.text.c_str());
        const std::string wanted = "Step 1 skipped: " + event.tensor +
                                   " reached inf at loss scale 16777216 (2^24); the scale falls to "
                                   "8388608 (2^23).";
        QCOMPARE(event.text, wanted);
        QVERIFY2(event.tensor.find(" of ") != std::string::npos, event.tensor.c_str());
    }

    /// With one weight layer only dW can overflow first: x and dy are small, their product is not.
    void namesTheGradientThatOverflowed() {
        RunConfig config = smallConfig(Precision::AmpFp16);
        config.model = {4, 0, Norm::None, Activation::Relu};
        config.lanes[0].scaler.initScale = 32;
        FixedDataset::Batch batch{std::vector<float>(256, 100.0f), std::vector<float>(256, 0.0f)};
        const FixedDataset data({256, 1, 1}, {batch});
        Trainer trainer(config, 0, "lane", data, makeCpuExecutor(1));
        Weights weights = trainer.weights();
        weights["layers.0.weight"] = {1, 1, 1, 1};
        weights["layers.0.bias"] = {0, 0, 0, 0};
        weights["layers.1.weight"] = {1, 1, 1, 1};
        weights["layers.1.bias"] = {0};
        trainer.setWeights(weights);
        std::vector<Event> events;
        const auto record = trainer.step(1, events);
        // y = 400, dy = 2 * 400 / 256 * 32 = 100; dW1 = sum of 256 * 100 * 100 = 2.56e6 > 65504
        QVERIFY(record && (record->flags & kSkipped));
        QCOMPARE(events.front().tensor, std::string("gradient of layers.1.weight"));
    }

    /// The overflow of an earlier batch is named at the update that it spoils, and looking for it
    /// leaves no trace.
    void namesTheTensorOfAnEarlierBatch() {
        RunConfig config = smallConfig(Precision::AmpFp16);
        config.model = {4, 0, Norm::None, Activation::Relu};
        config.lanes[0].scaler.initScale = 128; // divided among four batches
        config.gradients.accumulate = 4;
        std::vector<FixedDataset::Batch> batches(
            4, {std::vector<float>(256, 0.125f), std::vector<float>(256, 0.0f)});
        batches[1].x.assign(256, 100);
        const FixedDataset data({256, 1, 1}, batches);
        Trainer trainer(config, 0, "lane", data, makeCpuExecutor(1));
        Weights weights = trainer.weights();
        for (auto& [name, values] : weights)
            std::fill(values.begin(), values.end(), name.ends_with("weight") ? 1.0f : 0.0f);
        trainer.setWeights(weights);
        std::vector<Event> events;
        std::vector<float> losses;
        for (int64_t step = 1; step <= 5; ++step) {
            const auto record = trainer.step(step, events);
            QVERIFY(record.has_value());
            QCOMPARE((record->flags & kSkipped) != 0, step == 4);
            losses.push_back(record->loss);
        }
        QCOMPARE(events.front().tensor, std::string("gradient of layers.1.weight"));
        QCOMPARE(events.front().step, int64_t{4});
        QVERIFY(losses[4] == losses[0]); // the first batch again, on unchanged weights
        QCOMPARE(differentWeights(trainer.weights(), weights), 0);
    }

    void namesTheForwardThatOverflowed() {
        RunConfig config = smallConfig(Precision::AmpFp16);
        FixedDataset::Batch batch{std::vector<float>(64, 60000.0f), std::vector<float>(64, 0.0f)};
        const FixedDataset data({64, 1, 1}, {batch});
        Trainer trainer(config, 0, "lane", data, makeCpuExecutor(1));
        Weights weights = trainer.weights();
        for (auto& [name, values] : weights)
            std::fill(values.begin(), values.end(), name.ends_with("weight") ? 1.0f : 0.0f);
        trainer.setWeights(weights);
        std::vector<Event> events;
        for (int64_t step = 1; step <= 3; ++step)
            QVERIFY(trainer.step(step, events).has_value());
        QCOMPARE(events.front().tensor, std::string("forward of layer 1"));
        std::vector<Event> losses;
        for (const Event& event : events)
            if (event.kind == EventKind::LossNotFinite) losses.push_back(event);
        QCOMPARE(losses.size(), size_t{1}); // told once, not at every step
        QVERIFY2(losses[0].text.find("no loss scale can cure this") != std::string::npos,
                 losses[0].text.c_str());
    }

    /// The optimizer's step count and the moments stay on a skip: a run that skips its first steps
    /// goes on like one that starts at the scale that works, on the same batch.
    void skipsLeaveNoTrace() {
        RunConfig high = smallConfig(Precision::AmpFp16), low = high;
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

    void runningStatisticsMoveOnASkip() {
        RunConfig config = smallConfig(Precision::AmpFp16);
        config.model.norm = Norm::BatchNorm;
        config.lanes[0].scaler.initScale = std::ldexp(1.0, 40);
        Lane lane(config);
        RunConfig plain = config;
        plain.lanes[0].scaler.initScale = 1;
        Lane other(plain);
        QVERIFY(lane.step(1).flags & kSkipped);
        QVERIFY(!(other.step(1).flags & kSkipped));
        const Weights a = lane.trainer.weights(), b = other.trainer.weights();
        QVERIFY(a.at("norms.0.running_mean") != std::vector<float>(20, 0.0f));
        // the diagnosis runs the step again and must not leave a second update behind
        QCOMPARE(differentBits(a.at("norms.0.running_mean"), b.at("norms.0.running_mean")), 0);
        QCOMPARE(differentBits(a.at("norms.1.running_var"), b.at("norms.1.running_var")), 0);
        QCOMPARE(lane.step(2).learningRate, other.step(2).learningRate);
    }

    void growsAfterTheInterval() {
        RunConfig config = smallConfig(Precision::AmpFp16);
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
        QCOMPARE(lane.events[0].text,
                 std::string("Step 3: the loss scale grows from 16 (2^4) to 32 (2^5)."));
    }

    void editsActAtTheNextStep() {
        RunConfig config = smallConfig(Precision::AmpFp16);
        config.lanes[0].scaler.initScale = 16;
        Lane lane(config);
        for (int64_t step = 1; step <= 4; ++step)
            QVERIFY(!(lane.step(step).flags & kGrew));
        ScalerRules rules;
        rules.growthInterval = 5;
        rules.growthFactor = 8;
        lane.trainer.setScalerRules(rules);
        QVERIFY(lane.step(5).flags & kGrew);
        QCOMPARE(lane.step(6).scale, 128.0f);
        lane.trainer.setLearningRate(0.25);
        QCOMPARE(lane.step(7).learningRate, 0.25f);
        lane.trainer.setScale(4);
        const StepRecord record = lane.step(8);
        QCOMPARE(record.scale, 4.0f);
        QCOMPARE(record.growthTracker, 3); // a new scale does not touch the tracker
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
        RunConfig config = smallConfig(static_cast<Precision>(precision));
        config.lanes[0].scaler.initScale = std::ldexp(1.0, 24);
        config.lanes[0].scaler.rules.mode = static_cast<ScalerMode>(mode);
        Lane lane(config);
        const Weights before = lane.trainer.weights();
        const StepRecord record = lane.step(1);
        QCOMPARE((record.flags & kSkipped) != 0, skips);
        QCOMPARE(lane.trainer.scaler().scale, scaleAfter);
        QCOMPARE(differentWeights(before, lane.trainer.weights()) == 0, skips);
    }

    /// The check stands before the multiplication, as in PyTorch: a gradient that only the inverse
    /// of a tiny scale makes infinite is let through.
    void unscalingIsNotChecked() {
        RunConfig config = smallConfig(Precision::AmpFp16);
        config.lanes[0].scaler.initScale = std::ldexp(1.0, -130);
        Lane lane(config);
        const StepRecord record = lane.step(1);
        QCOMPARE(record.flags, uint32_t{0});
        QVERIFY(!std::isfinite(record.gradientNorm));
        QVERIFY(std::isnan(lane.trainer.weights()["layers.2.bias"][0]));
    }

    /// The second check closes that: the step is skipped and says what became infinite.
    void unscalingCanBeChecked() {
        RunConfig config = smallConfig(Precision::AmpFp16);
        config.lanes[0].scaler.initScale = std::ldexp(1.0, -130);
        config.lanes[0].scaler.checkUnscaled = true;
        Lane lane(config);
        const Weights before = lane.trainer.weights();
        const StepRecord record = lane.step(1);
        QCOMPARE(record.flags, uint32_t{kSkipped | kBackedOff});
        QCOMPARE(differentWeights(before, lane.trainer.weights()), 0);
        QCOMPARE(lane.events[0].tensor, std::string("the inverse loss scale"));
        // where the inverse is finite it changes nothing
        config.lanes[0].scaler.initScale = 1024;
        Lane checked(config);
        config.lanes[0].scaler.checkUnscaled = false;
        Lane plain(config);
        for (int64_t step = 1; step <= 3; ++step) {
            checked.step(step);
            plain.step(step);
        }
        QCOMPARE(differentWeights(checked.trainer.weights(), plain.trainer.weights()), 0);
    }

    void hysteresisForgivesAnOverflow() {
        RunConfig config = smallConfig(Precision::AmpFp16);
        config.lanes[0].scaler.initScale = std::ldexp(1.0, 30);
        config.lanes[0].scaler.rules.hysteresis = 2;
        Lane lane(config);
        QCOMPARE(lane.step(1).flags, uint32_t{kSkipped});
        QVERIFY2(lane.events[0].text.ends_with("at loss scale 1073741824 (2^30); the scale stays."),
                 lane.events[0].text.c_str());
        QCOMPARE(lane.step(2).flags, uint32_t{kSkipped | kBackedOff});
        QCOMPARE(lane.step(3).scale, std::ldexp(1.0f, 29));
        lane.trainer.setScale(64); // a new scale leaves what the guards have counted
        QCOMPARE(lane.trainer.scaler().absorbed, 2);
    }

    void stopsAtTheFloor() {
        RunConfig config = smallConfig(Precision::AmpFp16);
        ScalerConfig& scaler = config.lanes[0].scaler;
        scaler.initScale = std::ldexp(1.0, 30);
        scaler.rules.floor = std::ldexp(1.0, 29);
        scaler.rules.atFloor = FloorAction::Stop;
        Lane lane(config);
        QCOMPARE(lane.step(1).flags, uint32_t{kSkipped | kBackedOff});
        QVERIFY(lane.trainer.stopReason().empty());
        QCOMPARE(lane.step(2).flags, uint32_t{kSkipped | kAtFloor});
        QVERIFY2(lane.events.back().text.ends_with("at loss scale 536870912 (2^29); the scale has "
                                                   "reached its floor: the run ends."),
                 lane.events.back().text.c_str());
        QVERIFY2(lane.trainer.stopReason().starts_with(
                     "The loss scale reached its floor 536870912 (2^29) in lane lane at step 2 "),
                 lane.trainer.stopReason().c_str());
        // new rules are a new try
        scaler.rules.atFloor = FloorAction::Continue;
        lane.trainer.setScalerRules(scaler.rules);
        QVERIFY(lane.trainer.stopReason().empty());
        QCOMPARE(lane.step(3).flags, uint32_t{kSkipped});
    }

    void schedule_data() {
        QTest::addColumn<bool>("hold");
        QTest::newRow("advances on a skip, as in PyTorch") << false;
        QTest::newRow("held on a skip") << true;
    }
    void schedule() {
        QFETCH(bool, hold);
        RunConfig config = smallConfig(Precision::AmpFp16);
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

    /// The same step in one kernel a node and in fused loops.
    void fusedFollowsUnfused() {
        RunConfig config = smallConfig(Precision::Fp32);
        config.model = {20, 1, Norm::BatchNorm, Activation::Tanh};
        const BatchShape shape{64, 10, 1};
        const FixedDataset data = randomRegression(shape, 1, kSeed);
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
            for (const auto& [name, values] : initialWeights(g, kSeed))
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

    /// Without a scaler nothing is checked: nan goes into the weights, as in PyTorch.
    void withoutScalerNanGoesThrough() {
        RunConfig config = smallConfig(Precision::Fp32);
        Lane lane(config);
        Weights weights = lane.trainer.weights();
        weights["layers.2.bias"][0] = INFINITY;
        lane.trainer.setWeights(weights);
        const StepRecord record = lane.step(1);
        QCOMPARE(record.flags, uint32_t{kLossNotFinite});
        QCOMPARE(lane.count(EventKind::LossNotFinite), 1);
        QCOMPARE(lane.count(EventKind::Overflow), 0);
        QVERIFY(std::isnan(lane.trainer.weights()["layers.2.weight"][0]));
    }

    void bitsDoNotDependOnThreads_data() {
        QTest::addColumn<int>("precision");
        for (int p = 0; p <= static_cast<int>(Precision::Fp16); ++p)
            QTest::newRow(nameOf(static_cast<Precision>(p))) << p;
    }
    void bitsDoNotDependOnThreads() {
        QFETCH(int, precision);
        RunConfig config = smallConfig(static_cast<Precision>(precision));
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

    /// Stops at random moments from another thread; the run then has the bits of an undisturbed
    /// one.
    void stoppingChangesNothing() {
        RunConfig config = smallConfig(Precision::AmpFp16);
        config.model = {96, 2, Norm::BatchNorm, Activation::Relu};
        config.lanes[0].scaler.initScale = std::ldexp(1.0, 30);
        const BatchShape shape{4096, 2, 1};
        Lane calm(config, shape, 2), disturbed(config, shape, 2);
        std::atomic<bool> done{false};
        std::thread disturber([&] {
            while (!done) {
                disturbed.trainer.requestStop();
                std::this_thread::sleep_for(std::chrono::milliseconds(7));
            }
        });
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
        qInfo("%d stops in 30 steps", stopped);
    }

    void oneCycleSetsTheRate() {
        RunConfig config = smallConfig(Precision::Fp32);
        config.schedule.kind = ScheduleKind::OneCycle;
        config.schedule.totalSteps = 5;
        Lane lane(config);
        std::vector<float> rates;
        for (int64_t step = 1; step <= 7; ++step)
            rates.push_back(lane.step(step).learningRate);
        QCOMPARE(rates[0], static_cast<float>(config.schedule.maxLr / config.schedule.divFactor));
        QVERIFY(rates[4] < rates[0] / 100);
        QCOMPARE(rates[6], rates[4]); // the last rate stays
        QVERIFY_EXCEPTION_THROWN(lane.trainer.setLearningRate(1), InputError);
    }

    /// The untrained network's output is what the first step computes.
    void previewIsTheFirstForward_data() { bitsDoNotDependOnThreads_data(); }
    void previewIsTheFirstForward() {
        QFETCH(int, precision);
        RunConfig config = smallConfig(static_cast<Precision>(precision));
        config.model.norm = Norm::BatchNorm;
        Lane lane(config, {64, 3, 2}, 2);
        const Weights before = lane.trainer.weights();
        const std::vector<float> preview = lane.trainer.preview();
        QCOMPARE(differentWeights(before, lane.trainer.weights()), 0);
        lane.step(1);
        const std::vector<float> prediction = lane.trainer.prediction();
        QCOMPARE(preview.size(), size_t{128});
        // the same nodes, perhaps in other kernels: equal within a few roundings of the storage
        const double u = precision == static_cast<int>(Precision::Fp32)      ? 0x1p-24
                         : precision == static_cast<int>(Precision::AmpBf16) ? 0x1p-8
                                                                             : 0x1p-11;
        for (size_t i = 0; i < preview.size(); ++i)
            QVERIFY(std::abs(double{preview[i]} - double{prediction[i]}) <= 64 * u);
    }

    void initialWeightsFollowTheRule() {
        RunConfig config = smallConfig(Precision::Fp32);
        config.model.norm = Norm::BatchNorm;
        const Graph graph = buildStep(config, config.lanes[0], {64, 10, 1});
        const Weights weights = initialWeights(graph, kSeed);
        QCOMPARE(weights.size(), size_t{14});
        QCOMPARE(weights.at("norms.1.weight"), std::vector<float>(20, 1.0f));
        QCOMPARE(weights.at("norms.1.running_var"), std::vector<float>(20, 1.0f));
        QCOMPARE(weights.at("norms.0.bias"), std::vector<float>(20, 0.0f));
        for (const auto& [name, fanIn] : std::map<std::string, double>{
                 {"layers.0.weight", 10}, {"layers.0.bias", 10}, {"layers.1.weight", 20}}) {
            float largest = 0;
            for (const float w : weights.at(name))
                largest = std::max(largest, std::abs(w));
            const double bound = 1 / std::sqrt(fanIn);
            QVERIFY2(double{largest} <= bound * (1 + 1e-6) && double{largest} > bound * 0.75,
                     name.c_str());
        }
        // each parameter has a stream of its own
        const double a = double{weights.at("layers.0.bias")[0]} * std::sqrt(10.0);
        const double b = double{weights.at("layers.1.bias")[0]} * std::sqrt(20.0);
        QVERIFY(std::abs(a - b) > 1e-6);
        QVERIFY(initialWeights(graph, kSeed + 1) != weights);
        QCOMPARE(initialWeights(graph, kSeed), weights);
    }

    /// A batch that does not change is uploaded all the same by a training that starts late.
    void startsAtAnyStep() {
        const RunConfig config = smallConfig(Precision::Fp32);
        Lane first(config), late(config);
        QCOMPARE(late.step(5).loss, first.step(1).loss);
        QCOMPARE(late.step(6).loss, first.step(2).loss);
    }

    void wrongWeightsAreRefused() {
        Lane lane(smallConfig(Precision::Fp32));
        Weights weights = lane.trainer.weights();
        weights["layers.9.weight"] = {1};
        QVERIFY_EXCEPTION_THROWN(lane.trainer.setWeights(weights), InputError);
        weights.erase("layers.9.weight");
        weights["layers.0.bias"].pop_back();
        QVERIFY_EXCEPTION_THROWN(lane.trainer.setWeights(weights), InputError);
    }

    /// Everything that the pure fp16 lane trains is stored in 16 bits, nothing that AMP trains is.
    void storageOfTheLanes() {
        for (const Precision p : {Precision::Fp32, Precision::AmpFp16, Precision::Fp16}) {
            const RunConfig config = smallConfig(p);
            const Graph graph = buildStep(config, config.lanes[0], {64, 10, 1});
            const DType wanted = p == Precision::Fp16 ? DType::F16 : DType::F32;
            for (const StateInfo& state : graph.states())
                if (state.role == StateRole::Parameter || state.role == StateRole::Moment)
                    QCOMPARE(graph[state.node].dtype, wanted);
            QCOMPARE(graph[graph.output("loss")].dtype, DType::F32);
            const DType output = p == Precision::Fp32 ? DType::F32 : DType::F16;
            QCOMPARE(graph[graph.output("prediction")].dtype, output);
        }
    }

    void scaleInWords() {
        QCOMPARE(scaleText(65536), std::string("65536 (2^16)"));
        QCOMPARE(scaleText(1), std::string("1 (2^0)"));
        QCOMPARE(scaleText(1000), std::string("1000"));
        QCOMPARE(scaleText(0.125f), std::string("0.125 (2^-3)"));
        QCOMPARE(scaleText(0), std::string("0"));
    }
};

QTEST_GUILESS_MAIN(TestTrainer)
#include "tst_trainer.moc"
