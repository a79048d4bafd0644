// How one lane begins: its first weights, names of all its nodes, what is stored in 16 bits, the
// first picture, weights and steps to start from, and stops while it is built; and whether lanes
// have room.
#include "engine/core/error.h"
#include "engine/ops/op_info.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "engine/step/step_graph.h"
#include "engine/train/lanes_fit.h"
#include "engine/train/trainer.h"
#include "tests/support/lane.h"
#include "tests/support/thrown.h"

#include <QTest>

#include <atomic>
#include <cmath>
#include <stop_token>
#include <thread>

namespace tst_trainer_start {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Loads until it is asked to stop.
class SearchingExecutor final : public Executor {
public:
    const DeviceInfo& device() const override { return m_device; }
    void load(std::shared_ptr<const Program>) override {
        while (!m_stop)
            std::this_thread::yield();
    }
    RunResult run(RunMode, const Visitor&) override { return RunResult::Stopped; }
    void upload(NodeId, std::span<const std::byte>) override {}
    void download(NodeId, std::span<std::byte>) override {}
    void requestStop() override { m_stop = true; }
    double lastStepSeconds() const override { return 0; }
    CompileOptions compileOptions() const override {
        ++compiled;
        return {};
    }
    static inline std::atomic<int> compiled = 0; ///< how often options were asked for

private:
    DeviceInfo m_device{"Searching", "cuda", "none", 0};
    std::atomic<bool> m_stop{false};
};

} // namespace

class TestTrainerStart : public QObject {
    Q_OBJECT

private slots:
    /// Whatever overflows first has a name in the event's sentence, and a place in describe.
    void everyNodeHasALabel_data() {
        QTest::addColumn<QString>("precision");
        for (const PrecisionPreset& preset : precisionPresets())
            if (preset.precision != Precision::User) QTest::newRow(preset.name) << preset.name;
    }
    void everyNodeHasALabel() {
        QFETCH(const QString, precision);
        RunConfig config;
        config.lanes = parseLanes(precision.toStdString());
        for (const char* setting :
             {"model.networks=2", "model.norm=layer", "gradients.accumulate=2",
              "gradients.penalty=0.1", "gradients.clip=norm", "schedule.kind=one-cycle",
              "schedule.cycle_momentum=true", "scaler.check_unscaled=true",
              "scaler.hold_schedule=true", "optimizer.kind=rmsprop", "model.norm=batch",
              "schedule.kind=cosine", "gradients.accumulate=1", "model.networks=1"}) {
            applySetting(config, setting);
            const Graph graph = buildStep(config, config.lanes[0], {4, 3, 2});
            for (NodeId id = 0; id < graph.size(); ++id) {
                const Op op = graph[id].op;
                if (op == Op::State || op == Op::Input || op == Op::Constant) continue;
                QVERIFY2(!graph[id].cause.label.empty(),
                         (std::string(setting) + ": " + std::string(nameOf(op))).c_str());
            }
        }
    }

    /// A GPU compares ways to run the step: closing the window meanwhile must not wait for that.
    void stopsWhileItLoads() {
        const RunConfig config = laneConfig(Precision::Fp32);
        const auto dataset = makeTask(config);
        std::stop_source stop;
        std::jthread user([&stop] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            stop.request_stop();
        });
        const std::string words = thrownBy<RunError>([&] {
            Trainer(config, 0, "a", *dataset, std::make_unique<SearchingExecutor>(), Draw::Now,
                    stop.get_token());
        });
        QVERIFY(!words.empty());
    }

    /// Compiling is the longest part of the building on a CPU.
    void stopsBeforeItCompiles() {
        const RunConfig config = laneConfig(Precision::Fp32);
        const auto dataset = makeTask(config);
        std::stop_source stop;
        stop.request_stop();
        const int before = SearchingExecutor::compiled;
        QVERIFY_THROWS_EXCEPTION(RunError, Trainer(config, 0, "a", *dataset,
                                                   std::make_unique<SearchingExecutor>(), Draw::Now,
                                                   stop.get_token()));
        QCOMPARE(SearchingExecutor::compiled.load(), before);
    }

    /// The untrained network's output is what the first step computes.
    void previewIsTheFirstForward_data() {
        QTest::addColumn<int>("precision");
        for (int p = 0; p <= static_cast<int>(Precision::Fp16); ++p)
            QTest::newRow(nameOf(static_cast<Precision>(p))) << p;
    }
    void previewIsTheFirstForward() {
        QFETCH(int, precision);
        RunConfig config = laneConfig(static_cast<Precision>(precision));
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
        RunConfig config = laneConfig(Precision::Fp32);
        config.model.norm = Norm::BatchNorm;
        const Graph graph = buildStep(config, config.lanes[0], {64, 10, 1});
        const Weights weights = initialWeights(graph, kLaneSeed);
        QCOMPARE(weights.size(), size_t{14});
        QCOMPARE(weights.at("4.weight"), std::vector<float>(20, 1.0f));
        QCOMPARE(weights.at("4.running_var"), std::vector<float>(20, 1.0f));
        QCOMPARE(weights.at("1.bias"), std::vector<float>(20, 0.0f));
        for (const auto& [name, fanIn] :
             std::map<std::string, double>{{"0.weight", 10}, {"0.bias", 10}, {"3.weight", 20}}) {
            float largest = 0;
            for (const float w : weights.at(name))
                largest = std::max(largest, std::abs(w));
            const double bound = 1 / std::sqrt(fanIn);
            QVERIFY2(double{largest} <= bound * (1 + 1e-6) && double{largest} > bound * 0.75,
                     name.c_str());
        }
        // each parameter has a stream of its own
        const double a = double{weights.at("0.bias")[0]} * std::sqrt(10.0);
        const double b = double{weights.at("3.bias")[0]} * std::sqrt(20.0);
        QVERIFY(std::abs(a - b) > 1e-6);
        QVERIFY(initialWeights(graph, kLaneSeed + 1) != weights);
        QCOMPARE(initialWeights(graph, kLaneSeed), weights);
    }

    /// Even a batch that does not change is uploaded by a training that starts late.
    void startsAtAnyStep() {
        const RunConfig config = laneConfig(Precision::Fp32);
        Lane first(config), late(config);
        QCOMPARE(late.step(5).loss, first.step(1).loss);
        QCOMPARE(late.step(6).loss, first.step(2).loss);
    }

    void wrongWeightsAreRefused() {
        Lane lane(laneConfig(Precision::Fp32));
        Weights weights = lane.trainer.weights();
        weights["99.weight"] = {1};
        QVERIFY_THROWS_EXCEPTION(InputError, lane.trainer.setWeights(weights));
        weights.erase("99.weight");
        weights["0.bias"].pop_back();
        QVERIFY_THROWS_EXCEPTION(InputError, lane.trainer.setWeights(weights));
    }

    /// Everything that the pure fp16 lane trains is stored in 16 bits, and nothing that AMP trains
    /// is.
    void storageOfTheLanes() {
        for (const Precision p : {Precision::Fp32, Precision::AmpFp16, Precision::Fp16}) {
            const RunConfig config = laneConfig(p);
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

    void lanesFitTogether() {
        const DeviceInfo device{"Small", "cpu", "none", size_t{3} << 30};
        checkLanesFit(std::vector<size_t>{size_t{1} << 30, size_t{2} << 30}, device);
        checkLanesFit(std::vector<size_t>{size_t{9} << 30}, {"Unknown", "cpu", "none", 0});
        const std::vector<size_t> lanes{size_t{2} << 30, size_t{3} << 29};
        QCOMPARE(thrownBy<EngineError>([&] { checkLanesFit(lanes, device); }),
                 std::string("cpu: 2 lanes need 3.5 GiB of memory together, Small has 3 GiB for "
                             "this program (use fewer lanes, or a smaller picture, batch or "
                             "width)"));
        QCOMPARE(
            thrownBy<EngineError>(
                [&] { checkLanesFit(std::vector<size_t>{size_t{4} << 30}, device); }),
            std::string("cpu: a lane needs 4 GiB of memory, Small has 3 GiB for this program (use "
                        "a smaller picture, batch or width)"));
    }

    /// Memory that weights have filled is not asked for again, and none is after a step.
    void lanesFillWhatTheyTake() {
        const RunConfig config = laneConfig(Precision::Fp32);
        const std::unique_ptr<Task> task = makeTask(config);
        Trainer lane(config, 0, "a", *task, makeCpuExecutor(1), Draw::Later);
        const size_t all = lane.memory().bytesToFill;
        QVERIFY(all > 0 && all < lane.memory().bytes); // the settings are there already
        lane.drawWeights({});
        QVERIFY(lane.memory().bytesToFill < all);
        std::vector<Event> events;
        QVERIFY(lane.step(1, events));
        QCOMPARE(lane.memory().bytesToFill, size_t{0});
    }

    void lanesFitIntoFreeMemory() {
        const std::vector<size_t> lanes{size_t{2} << 30, size_t{3} << 29};
        checkLanesFree(lanes, std::nullopt); // unknown
        checkLanesFree(lanes, size_t{7} << 29);
        QCOMPARE(thrownBy<EngineError>([&] { checkLanesFree(lanes, size_t{3} << 30); }),
                 std::string("cpu: 2 lanes need 3.5 GiB of memory together, and only 3 GiB is free "
                             "(close other programs, or use fewer lanes, or a smaller picture, "
                             "batch or width)"));
        QCOMPARE(
            thrownBy<EngineError>([&] { checkLanesFree(std::vector<size_t>(1, 2048), 1024); }),
            std::string("cpu: a lane needs 2 KiB of memory, and only 1 KiB is free (close other "
                        "programs, or use a smaller picture, batch or width)"));
        QVERIFY_THROWS_EXCEPTION(EngineError, checkLanesFree(lanes, 0));
    }
};

} // namespace tst_trainer_start

QTEST_GUILESS_MAIN(tst_trainer_start::TestTrainerStart)
#include "tst_trainer_start.moc"
