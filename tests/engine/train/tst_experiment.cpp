// Experiments: lanes that start alike and advance together, live edits, stopping and continuing.
#include "engine/core/error.h"
#include "engine/core/usable_memory.h"
#include "engine/data/dataset.h"
#include "engine/settings/layers.h"
#include "engine/settings/run_task.h"
#include "engine/step/step_graph.h"
#include "engine/train/experiment.h"
#include "tests/support/thrown.h"
#include "tests/support/training.h"

#include <QTest>

#include <cmath>
#include <thread>

namespace tst_experiment {

using namespace halfscope;
using halfscope::test::differentBits;

namespace {

LaneConfig laneOf(Precision precision) {
    LaneConfig lane;
    lane.precision = precision;
    if (precision != Precision::AmpFp16) lane.scaler.rules.mode = ScalerMode::Off;
    return lane;
}

RunConfig smallConfig(TaskKind kind, const std::vector<Precision>& lanes) {
    RunConfig config;
    config.task.kind = kind;
    config.task.side = 16;
    config.task.samples = 256;
    config.model.width = 12;
    config.model.depth = 1;
    config.seed = 5;
    config.steps = 20;
    config.device = "cpu";
    config.threads = 1;
    config.lanes.clear();
    for (const Precision p : lanes)
        config.lanes.push_back(laneOf(p));
    return config;
}

const std::vector<Precision> kPair{Precision::Fp32, Precision::AmpFp16};

struct Run {
    Experiment experiment;
    std::vector<StepRecord> records;
    std::vector<Event> events;

    explicit Run(const RunConfig& config) : experiment(config) {}
    bool advance() { return experiment.advance(records, events); }
    std::vector<float> losses() const {
        std::vector<float> list;
        for (const StepRecord& record : records)
            list.push_back(record.loss);
        return list;
    }
};

void checkRecords(const Run& run) {
    const auto lanes = static_cast<size_t>(run.experiment.lanes());
    QCOMPARE(run.records.size() % lanes, size_t{0});
    for (size_t i = 0; i < run.records.size(); ++i) {
        QCOMPARE(run.records[i].step, static_cast<int64_t>(i / lanes) + 1);
        QCOMPARE(run.records[i].lane, static_cast<int32_t>(i % lanes));
        if (i > 0) QVERIFY(run.records[i].wallSeconds >= run.records[i - 1].wallSeconds);
    }
}

} // namespace

class TestExperiment : public QObject {
    Q_OBJECT

private slots:
    void lanesStartAlike_data() {
        QTest::addColumn<int>("task");
        QTest::newRow("checkerboard") << static_cast<int>(TaskKind::Checkerboard);
        QTest::newRow("regression") << static_cast<int>(TaskKind::Regression);
    }
    void lanesStartAlike() {
        QFETCH(int, task);
        Run run(smallConfig(static_cast<TaskKind>(task), {Precision::Fp32, Precision::Fp32}));
        const Weights a = run.experiment.lane(0).weights(), b = run.experiment.lane(1).weights();
        for (const auto& [name, values] : a)
            QCOMPARE(differentBits(values, b.at(name)), 0);
        // two lanes of one precision stay equal to the bit: they have the same weights and batches
        while (!run.experiment.finished())
            QVERIFY(run.advance());
        checkRecords(run);
        for (size_t i = 0; i < run.records.size(); i += 2)
            QCOMPARE(std::bit_cast<uint32_t>(run.records[i].loss),
                     std::bit_cast<uint32_t>(run.records[i + 1].loss));
        QVERIFY(run.records.back().loss < run.records.front().loss);
    }

    void sixLanes() {
        RunConfig config = smallConfig(TaskKind::Regression,
                                       {Precision::Fp32, Precision::AmpFp16, Precision::AmpBf16,
                                        Precision::Fp16, Precision::AmpFp16, Precision::AmpFp16});
        config.lanes[5].scaler.initScale = std::ldexp(1.0, 24);
        config.optimizer.kind = OptimizerKind::Sgd; // Adam divides by zero in float16
        config.steps = 4;
        Run run(config);
        QCOMPARE(run.experiment.lanes(), 6);
        const std::vector<std::string> names{"fp32", "amp-fp16",   "amp-bf16",
                                             "fp16", "amp-fp16-2", "amp-fp16-3"};
        for (int i = 0; i < 6; ++i) {
            QCOMPARE(run.experiment.laneName(i), names[static_cast<size_t>(i)]);
            QCOMPARE(run.experiment.lane(i).name(), names[static_cast<size_t>(i)]);
        }
        while (!run.experiment.finished())
            QVERIFY(run.advance());
        checkRecords(run);
        // all lanes see the same first batch with the same weights: they differ by rounding alone
        for (size_t i = 1; i < 6; ++i)
            QVERIFY(std::abs(run.records[i].loss / run.records[0].loss - 1) < 0.02f);
        QVERIFY(run.records[5].flags & kSkipped);
        for (const Event& event : run.events) {
            const auto lane = static_cast<size_t>(event.lane);
            QCOMPARE(config.lanes[lane].precision, Precision::AmpFp16);
        }
    }

    /// Three batches of 100, 100 and 56 samples an epoch; for a picture, each step is an epoch.
    void epochsAndBatches() {
        RunConfig config = smallConfig(TaskKind::Regression, kPair);
        config.task.batch = 100;
        config.epochs = 3; // whatever `steps` says
        Run run(config);
        while (!run.experiment.finished())
            QVERIFY(run.advance());
        QCOMPARE(run.records.size(), size_t{2 * 3 * 3});
        for (const StepRecord& record : run.records) {
            QCOMPARE(int64_t{record.epoch}, (record.step + 2) / 3);
            QCOMPARE(int64_t{record.batch}, record.step - 3 * (record.epoch - 1));
            QVERIFY(rowOf(record).measured(metric::Epoch));
        }
        Run painting(smallConfig(TaskKind::Checkerboard, kPair));
        QVERIFY(painting.advance());
        QCOMPARE(painting.records[0].epoch, 0);
        QVERIFY(!rowOf(painting.records[0]).measured(metric::Epoch));
        QVERIFY(!rowOf(painting.records[0]).measured(metric::Batch));
    }

    void refusesWrongConfigurations() {
        RunConfig config = smallConfig(TaskKind::Checkerboard, kPair);
        config.lanes.resize(7, config.lanes[0]);
        QVERIFY_THROWS_EXCEPTION(InputError, Experiment{config});
        config = smallConfig(TaskKind::Checkerboard, kPair);
        config.device = "tpu";
        QVERIFY_THROWS_EXCEPTION(InputError, Experiment{config});
    }

    void liveEdits() {
        Run run(smallConfig(TaskKind::Checkerboard, {Precision::AmpFp16, Precision::AmpFp16}));
        for (int i = 0; i < 3; ++i)
            QVERIFY(run.advance());
        auto& [experiment, records, events] = run;
        experiment.setLive(1, "scaler.growth_interval", int64_t{4}, events);
        QCOMPARE(events.size(), size_t{1});
        QCOMPARE(events[0].kind, EventKind::Edit);
        QCOMPARE(events[0].step, int64_t{4});
        QCOMPARE(events[0].lane, 1);
        QCOMPARE(events[0].tensor, std::string("scaler.growth_interval"));
        QCOMPARE(experiment.config().lanes[1].scaler.rules.growthInterval, int64_t{4});
        QCOMPARE(experiment.config().lanes[0].scaler.rules.growthInterval, int64_t{2000});
        QVERIFY(run.advance());
        QVERIFY(!(records[6].flags & kGrew));
        QVERIFY(records[7].flags & kGrew);

        // a setting of the whole run, whichever lane it is given with
        experiment.setLive(1, "optimizer.lr", 0.125, events);
        QCOMPARE(events.back().lane, -1);
        QVERIFY2(events.back().text.english().find("0.125") != std::string::npos,
                 events.back().text.english().c_str());
        experiment.setLive(-1, "scaler.growth_factor", 4.0, events);
        experiment.setLive(-1, "run.steps", int64_t{6}, events);
        QVERIFY(run.advance());
        QCOMPARE(records[8].learningRate, 0.125f);
        QCOMPARE(records[9].learningRate, 0.125f);
        QVERIFY(run.advance());
        QVERIFY(experiment.finished());
        for (const LaneConfig& lane : experiment.config().lanes)
            QCOMPARE(lane.scaler.rules.growthFactor, 4.0);
    }

    /// The run is the one that begins with the setting, to the last bit, and that in which the
    /// setting is edited at the first step; but it has no edit.
    void settingsBeforeTheStart() {
        const RunConfig config = smallConfig(TaskKind::Checkerboard, kPair);
        const LiveEdit edits[] = {{1, -1, "optimizer.lr", 0.125},
                                  {1, -1, "optimizer.beta1", 0.5},
                                  {1, 1, "scaler.growth_interval", int64_t{4}},
                                  {1, 1, "scaler.mode", std::string("off")},
                                  {1, 1, "scaler.preset", std::string("megatron")},
                                  {1, -1, "run.steps", int64_t{6}}};
        const auto toTheEnd = [](Run& run) {
            while (!run.experiment.finished())
                if (!run.advance()) return false;
            return true;
        };
        for (const LiveEdit& each : edits) {
            Run run(config), edited(config);
            const size_t changes = run.experiment.changes();
            run.experiment.setBeforeStart(each.lane, each.key, each.value, run.events);
            QVERIFY2(run.events.empty(), each.key.c_str());
            QVERIFY(run.experiment.changes() != changes);
            const RunConfig recorded = run.experiment.recorded();
            QVERIFY(recorded.edits.empty() && configText(recorded) != configText(config));
            edited.experiment.setLive(each.lane, each.key, each.value, edited.events);
            QCOMPARE(edited.events.size(), size_t{1});
            Run again(recorded);
            QVERIFY(toTheEnd(run) && toTheEnd(again) && toTheEnd(edited));
            QVERIFY2(differentBits(run.losses(), again.losses()) == 0, each.key.c_str());
            QVERIFY2(differentBits(run.losses(), edited.losses()) == 0, each.key.c_str());
            QCOMPARE(run.events.size(), again.events.size());
            QCOMPARE(configText(again.experiment.recorded()), configText(recorded));
        }
    }

    void settingsBeforeTheStartGoBack() {
        const RunConfig config = smallConfig(TaskKind::Checkerboard, kPair);
        Run run(config);
        auto& [experiment, records, events] = run;
        experiment.setBeforeStart(-1, "optimizer.lr", 0.125, events);
        experiment.setBeforeStart(-1, "optimizer.lr", config.optimizer.lr, events);
        QCOMPARE(configText(experiment.recorded()), configText(config));
        QVERIFY(events.empty());
        experiment.setBeforeStart(1, kLiveScale, 8.0, events); // no setting of the start says so
        QCOMPARE(events.size(), size_t{1});
        experiment.setBeforeStart(-1, "optimizer.lr", 0.125, events); // comes after that edit
        QCOMPARE(events.size(), size_t{2});
        Run begun(config);
        QVERIFY(begun.advance());
        begun.experiment.setBeforeStart(-1, "optimizer.lr", 0.125, begun.events);
        QCOMPARE(begun.events.size(), size_t{1});
        RunConfig scheduled = config; // a run that began with this length would fall sooner
        scheduled.schedule.kind = ScheduleKind::OneCycle;
        Run shorter(scheduled);
        shorter.experiment.setBeforeStart(-1, "run.steps", int64_t{6}, shorter.events);
        QCOMPARE(shorter.events.size(), size_t{1});
    }

    void liveScale() {
        RunConfig config = smallConfig(TaskKind::Checkerboard,
                                       {Precision::Fp32, Precision::AmpFp16, Precision::AmpFp16});
        config.lanes[1].scaler.rules.growthInterval = 3;
        Run run(config);
        QVERIFY(run.advance());
        auto& [experiment, records, events] = run;
        experiment.setLive(1, kLiveScale, 1024.0, events);
        QCOMPARE(events.back().text.english(),
                 std::string("From step 2: Loss scale set to 1024 (2^10) in lane amp-fp16."));
        QVERIFY(run.advance() && run.advance());
        QCOMPARE(records[4].scale, 1024.0f);
        QVERIFY(records[7].flags & kGrew); // the tracker continued
        experiment.setLive(-1, kLiveScale, int64_t{8}, events);
        QVERIFY(run.advance());
        for (size_t i = 9; i < 12; ++i)
            QCOMPARE(records[i].scale, i == 9 ? 1.0f : 8.0f);
        // set once: from then on the scaler's rules move it
        QVERIFY(run.advance() && run.advance() && run.advance());
        QVERIFY(records[16].flags & kGrew);
        QCOMPARE(records[19].scale, 16.0f);
        QVERIFY_THROWS_EXCEPTION(InputError, experiment.setLive(0, kLiveScale, 8.0, events));
        QVERIFY_THROWS_EXCEPTION(InputError, experiment.setLive(1, kLiveScale, 0.0, events));
    }

    /// Every rule can be edited in the middle of a run and takes effect at the next step.
    void liveGuards() {
        RunConfig config = smallConfig(TaskKind::Regression, {Precision::AmpFp16});
        config.lanes[0].scaler.initScale = std::ldexp(1.0, 40);
        Run run(config);
        auto& [experiment, records, events] = run;
        experiment.setLive(0, "scaler.floor", std::ldexp(1.0, 39), events);
        QVERIFY(run.advance() && run.advance());
        QCOMPARE(experiment.lane(0).scaler().scale, std::ldexp(1.0f, 39));
        experiment.setLive(0, "scaler.at_floor", std::string("stop"), events);
        QVERIFY(run.advance());
        QVERIFY(records.back().flags & kAtFloor);
    }

    /// A preset sets its rules at once and leaves only the present scale unchanged.
    void livePreset() {
        Run run(smallConfig(TaskKind::Regression, {Precision::AmpFp16}));
        QVERIFY(run.advance());
        const float scale = run.experiment.lane(0).scaler().scale;
        run.experiment.setLive(0, "scaler.preset", std::string("megatron"), run.events);
        QCOMPARE(run.events.back().text.english(),
                 std::string("From step 2: Scaler rules set to megatron (before: pytorch) in lane "
                             "amp-fp16."));
        const ScalerConfig& now = run.experiment.config().lanes[0].scaler;
        QCOMPARE(now.rules.hysteresis, int64_t{2});
        QCOMPARE(now.initScale, 65536.0);
        QVERIFY(run.advance());
        QCOMPARE(run.records.back().scale, scale);
        run.experiment.setLive(0, "scaler.mode", std::string("off"), run.events);
        QVERIFY(run.advance());
        QCOMPARE(run.records.back().scale, 1.0f);
    }

    void stopsAtTheFloor() {
        RunConfig config = smallConfig(TaskKind::Regression, kPair);
        ScalerConfig& scaler = config.lanes[1].scaler;
        scaler.initScale = scaler.rules.floor = std::ldexp(1.0, 40);
        scaler.rules.atFloor = FloorAction::Stop;
        Run run(config);
        QVERIFY(run.experiment.stopReason().empty());
        QVERIFY(run.advance()); // the rows of the step are delivered
        QCOMPARE(run.records.size(), size_t{2});
        const std::string reason = run.experiment.stopReason().english();
        QVERIFY2(reason.starts_with("The loss scale reached its floor 1099511627776 (2^40) in lane "
                                    "amp-fp16 at step 1 "),
                 reason.c_str());
        QVERIFY_THROWS_EXCEPTION(RunError, run.advance());
        QCOMPARE(run.records.size(), size_t{2});
        run.experiment.setLive(1, "scaler.at_floor", std::string("continue"), run.events);
        QVERIFY(run.advance());
        run.experiment.setLive(1, "scaler.at_floor", std::string("stop"), run.events);
        QVERIFY(run.advance());
        QVERIFY(!run.experiment.stopReason().empty());
        run.experiment.fork(1, config.lanes[1], run.events);    // has not been at the floor itself
        run.experiment.setLive(1, kLiveScale, 1.0, run.events); // another way out
        QVERIFY(run.experiment.stopReason().empty());
        QVERIFY(run.advance());
    }

    /// The pictures are those of the last step until the next one, also when an edit builds a
    /// lane's step again, and a fork shows its parent's.
    void picturesOutlastEditsAndForks() {
        Run run(smallConfig(TaskKind::Checkerboard, kPair));
        for (int step = 0; step < 3; ++step)
            QVERIFY(run.advance());
        const std::vector<Picture> before = run.experiment.snapshot().outputs;
        run.experiment.setLive(-1, "optimizer.beta1", 0.5, run.events);
        run.experiment.fork(1, laneOf(Precision::AmpFp16), run.events);
        const std::vector<Picture> after = run.experiment.snapshot().outputs;
        QCOMPARE(after.size(), size_t{3});
        QCOMPARE(differentBits(after[0].values, before[0].values), 0);
        QCOMPARE(differentBits(after[1].values, before[1].values), 0);
        QCOMPARE(differentBits(after[2].values, before[1].values), 0);
    }

    /// A lane without a loss scaler takes no edit of one, but a run that recorded such an edit in
    /// an earlier version can be trained again.
    void scalerEditsNeedAScaler() {
        RunConfig config =
            smallConfig(TaskKind::Checkerboard, {Precision::Fp16, Precision::AmpFp16});
        Run run(config);
        const std::string key = "scaler.growth_interval";
        const auto edit = [&](int lane) {
            run.experiment.setLive(lane, key, int64_t{1}, run.events);
        };
        QCOMPARE(thrownBy<InputError>([&] { edit(0); }),
                 key + " cannot be changed: with precision fp16, the lane does not scale its loss");
        QVERIFY(run.events.empty() && run.experiment.recorded().edits.empty());
        edit(1);
        edit(-1);
        QCOMPARE(run.events.size(), size_t{2});
        config.edits.push_back({2, 0, key, int64_t{1}});
        Run again(config);
        QVERIFY(again.advance() && again.advance());
        QCOMPARE(again.experiment.recorded().edits.size(), size_t{1});
    }

    void editsThatNeedARestartAreRefused() {
        Run run(smallConfig(TaskKind::Checkerboard, kPair));
        QVERIFY_THROWS_EXCEPTION(InputError,
                                 run.experiment.setLive(-1, "model.width", int64_t{8}, run.events));
        QVERIFY_THROWS_EXCEPTION(InputError,
                                 run.experiment.setLive(-1, "optimizer.l", 0.1, run.events));
        QVERIFY_THROWS_EXCEPTION(InputError,
                                 run.experiment.setLive(-1, "optimizer.lr", -1.0, run.events));
        QVERIFY(run.events.empty());
        RunConfig config = smallConfig(TaskKind::Checkerboard, kPair);
        config.schedule.kind = ScheduleKind::OneCycle;
        Run cycle(config);
        QVERIFY_THROWS_EXCEPTION(InputError,
                                 cycle.experiment.setLive(-1, "optimizer.lr", 0.1, cycle.events));
    }

    void stopHoldsUntilCleared() {
        Run run(smallConfig(TaskKind::Checkerboard, kPair));
        QVERIFY(run.advance());
        run.experiment.requestStop();
        QVERIFY(!run.advance());
        QCOMPARE(run.experiment.step(), int64_t{1});
        QCOMPARE(run.records.size(), size_t{2});
        run.experiment.clearStop();
        QVERIFY(run.advance());
        QCOMPARE(run.experiment.step(), int64_t{2});
    }

    /// Stops come at any moment, in either lane, and edits come while lanes wait in the middle of a
    /// step: the run has the bits of one that was never stopped.
    void stopAndGoOnGivesTheSameBits() {
        RunConfig config = smallConfig(TaskKind::Checkerboard, kPair);
        config.task.side = 64;
        config.model.width = 64;
        config.lanes[1].scaler.initScale = std::ldexp(1.0, 30);
        Run calm(config), disturbed(config);
        std::atomic<bool> done{false}, asked{false};
        std::thread disturber([&] {
            for (int i = 0; !done; ++i) {
                std::this_thread::sleep_for(std::chrono::milliseconds(3 + i % 11));
                disturbed.experiment.requestStop();
                asked = true;
            }
        });
        while (!asked) // it is stopped once in any case
            std::this_thread::yield();
        std::vector<std::pair<int64_t, double>> edits; // the steps at which they take effect, in
                                                       // order
        std::vector<Snapshot> snapshots;
        while (!disturbed.experiment.finished()) {
            if (disturbed.advance()) continue;
            snapshots.push_back(disturbed.experiment.snapshot());
            const double rate = 0.001 + 0.0001 * static_cast<double>(edits.size());
            disturbed.experiment.setLive(-1, "optimizer.lr", rate, disturbed.events);
            edits.emplace_back(disturbed.events.back().step, rate);
            if (edits.size() > 100) done = true;
            disturbed.experiment.clearStop();
        }
        done = true;
        disturber.join();
        checkRecords(disturbed);

        std::vector<Picture> painted; // painted by the first lane, in f32
        size_t next = 0;
        while (!calm.experiment.finished()) {
            for (; next < edits.size() && edits[next].first == calm.experiment.step() + 1; ++next)
                calm.experiment.setLive(-1, "optimizer.lr", edits[next].second, calm.events);
            QVERIFY(calm.advance());
            painted.push_back(calm.experiment.snapshot().outputs[0]);
        }
        QVERIFY(!edits.empty());
        QCOMPARE(differentBits(calm.losses(), disturbed.losses()), 0);
        for (const Snapshot& shot : snapshots) {
            if (shot.step == 0) continue;
            const Picture& wanted = painted[static_cast<size_t>(shot.step - 1)];
            float largest = 0;
            for (size_t i = 0; i < wanted.values.size(); ++i)
                largest = std::max(largest, std::abs(wanted.values[i] - shot.outputs[0].values[i]));
            // the same forward pass in other kernels; one more step changes a pixel by far more
            QVERIFY2(largest < 1e-4f,
                     qPrintable(QString("step %1: %2").arg(shot.step).arg(largest)));
        }
        const auto isEdit = [](const Event& event) { return event.kind == EventKind::Edit; };
        std::erase_if(calm.events, isEdit);
        std::erase_if(disturbed.events, isEdit);
        QCOMPARE(calm.events.size(), disturbed.events.size());
        for (int lane = 0; lane < 2; ++lane) {
            const Weights a = calm.experiment.lane(lane).weights();
            const Weights b = disturbed.experiment.lane(lane).weights();
            for (const auto& [name, values] : a)
                QCOMPARE(differentBits(values, b.at(name)), 0);
        }
    }

    void snapshots() {
        Run run(smallConfig(TaskKind::Checkerboard, kPair));
        const Snapshot untrained = run.experiment.snapshot();
        QCOMPARE(untrained.step, int64_t{0});
        QVERIFY(run.advance());
        const Snapshot first = run.experiment.snapshot();
        QCOMPARE(first.step, int64_t{1});
        for (size_t i = 0; i < 2; ++i) {
            QCOMPARE(first.outputs[i].width, 16);
            // the weights before step 1 draw its picture
            for (size_t p = 0; p < first.outputs[i].values.size(); ++p)
                QVERIFY(std::abs(first.outputs[i].values[p] - untrained.outputs[i].values[p]) <
                        0.01f);
        }
        for (int i = 0; i < 10; ++i)
            QVERIFY(run.advance());
        QVERIFY(run.experiment.snapshot().outputs[0].values != first.outputs[0].values);
        QCOMPARE(run.experiment.target().width, 16);
    }

    void saysWhyThereIsNoCuda() {
        RunConfig config = smallConfig(TaskKind::Checkerboard, kPair);
        QVERIFY(Run(config).experiment.cudaReason().empty()); // the CPU was asked for
        config.device = "auto";
        const Run run(config);
        QCOMPARE(run.experiment.cudaReason().empty(), run.experiment.device().kind == "cuda");
    }

    void stopsWhileItIsBuilt() {
        const RunConfig config = smallConfig(TaskKind::Checkerboard, kPair);
        std::stop_source stop;
        Experiment experiment(config, stop.get_token());
        QCOMPARE(experiment.snapshot(stop.get_token()).outputs.size(), size_t{2});
        stop.request_stop();
        // the first pictures of a wide network take as long as building it
        QVERIFY_THROWS_EXCEPTION(RunError, experiment.snapshot(stop.get_token()));
        QVERIFY_THROWS_EXCEPTION(RunError, Experiment(config, stop.get_token()));
        std::vector<StepRecord> records;
        std::vector<Event> events;
        QVERIFY(experiment.advance(records, events)); // only requestStop() stops a step
    }

    void stopReachesALongBuild() {
        RunConfig config = smallConfig(TaskKind::Checkerboard, kPair);
        config.task.side = 64;
        config.model.width = 1024;
        config.model.depth = 8;
        bool gaveUp = false; // a busy machine may let the other thread ask only after the build
        for (int tries = 0; tries < 10 && !gaveUp; ++tries) {
            std::stop_source stop;
            const std::jthread other([&stop] {
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
                stop.request_stop();
            });
            try {
                Experiment(config, stop.get_token()).snapshot(stop.get_token());
            } catch (const RunError&) {
                gaveUp = true;
            }
        }
        QVERIFY(gaveUp);
    }

    /// All lanes are counted before the first step fills the memory of the first.
    void lanesAreRefusedTogether() {
#if defined(__SANITIZE_ADDRESS__)
        QSKIP("the sanitizer's memory is filled when it is taken");
#endif
        RunConfig config = smallConfig(TaskKind::Checkerboard, std::vector(4, Precision::Fp32));
        config.model.width = 4096;
        const size_t most = freeMemory().value_or(usableMemory());
        size_t one = 0;
        while (one <= most / 3) { // such as no more than two lanes fit
            config.task.side = config.task.side * 6 / 5;
            RunConfig alone = config;
            alone.lanes.resize(1);
            const std::unique_ptr<Task> task = makeTask(alone);
            one = Trainer(alone, 0, "a", *task, makeCpuExecutor(1), Draw::Later).memory().bytes;
        }
        std::vector<StepRecord> records;
        std::vector<Event> events;
        // while it is built where the machine has too little, else by the first step
        const std::string refusal =
            thrownBy<EngineError>([&] { Experiment(config).advance(records, events); });
        QVERIFY2(refusal.starts_with("cpu: 4 lanes need "), refusal.c_str());
    }

    void weightsCanBeDrawnLater() {
        const RunConfig config = smallConfig(TaskKind::Regression, {Precision::Fp32});
        const std::unique_ptr<Task> task = makeTask(config);
        Trainer now(config, 0, "a", *task, makeCpuExecutor(1));
        Trainer later(config, 0, "a", *task, makeCpuExecutor(1), Draw::Later);
        QVERIFY(later.weights() != now.weights());
        later.drawWeights({});
        QVERIFY(later.weights() == now.weights());
    }

    /// The network accepts the layers that the window offers.
    void layersCanBeForced() {
        for (const Preset& preset : presets()) {
            const std::vector<std::string> layers = layersOf(preset.config);
            QVERIFY2(layers.size() >= 2, // a single Linear layer and its loss
                     preset.name.c_str());
            LaneConfig lane = defaultLane(Precision::AmpFp16);
            for (const std::string& layer : layers)
                lane.layers += (lane.layers.empty() ? "" : ", ") + layer + "=float32";
            QVERIFY2(forcedLayers(lane.layers).has_value(), lane.layers.c_str());
            const auto shape = batchShape(factsOf(preset.config.task).tensors, 4);
            const Graph graph = buildStep(preset.config, lane, shape);
            for (NodeId id = 0; id < graph.size(); ++id)
                QVERIFY2(graph[id].cause.phase != Phase::Forward || graph[id].dtype != DType::F16,
                         preset.name.c_str());
        }
    }
};

} // namespace tst_experiment

QTEST_GUILESS_MAIN(tst_experiment::TestExperiment)
#include "tst_experiment.moc"
