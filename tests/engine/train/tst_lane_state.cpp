// Lane states: taken and restored, across precisions; lanes that are forked in the middle of a run;
// runs that are recorded with their forks and edits and repeat exactly.
#include "engine/core/error.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_length.h"
#include "engine/step/schedule.h"
#include "engine/train/experiment.h"
#include "tests/support/lane.h"
#include "tests/support/thrown.h"

#include <QTest>

#include <cmath>

namespace tst_lane_state {

using namespace halfscope;
using namespace halfscope::test;

namespace {

struct Run {
    Experiment experiment;
    std::vector<StepRecord> records;
    std::vector<Event> events;

    explicit Run(const RunConfig& config) : experiment(config) {}
    void to(int64_t step) {
        while (experiment.step() < step)
            QVERIFY(experiment.advance(records, events));
    }
    void toTheEnd() {
        while (!experiment.finished())
            QVERIFY(experiment.advance(records, events));
    }
};

/// Compares what a lane measures by itself; an experiment adds the epoch, for example.
bool sameRow(const StepRecord& a, const StepRecord& b) {
    return a.step == b.step && a.lane == b.lane && a.flags == b.flags &&
           differentBits({a.loss, a.scale, a.learningRate, a.gradientNorm},
                         {b.loss, b.scale, b.learningRate, b.gradientNorm}) == 0 &&
           a.growthTracker == b.growthTracker && a.skippedSoFar == b.skippedSoFar;
}

void compareRuns(const Run& a, const Run& b) {
    QCOMPARE(a.records.size(), b.records.size());
    for (size_t i = 0; i < a.records.size(); ++i)
        QVERIFY2(sameRow(a.records[i], b.records[i]), qPrintable(QString("row %1").arg(i)));
    QCOMPARE(a.events.size(), b.events.size());
    for (size_t i = 0; i < a.events.size(); ++i)
        QCOMPARE(a.events[i].text, b.events[i].text);
}

std::vector<StepRecord> rowsOf(const Run& run, int lane, int64_t fromStep) {
    std::vector<StepRecord> rows;
    for (const StepRecord& row : run.records)
        if (row.lane == lane && row.step >= fromStep) rows.push_back(row);
    return rows;
}

} // namespace

class TestLaneState : public QObject {
    Q_OBJECT

private slots:
    void goesOnElsewhereWithTheSameBits_data() {
        QTest::addColumn<QStringList>("settings");
        QTest::newRow("plain") << QStringList{};
        QTest::newRow("batch norm, schedule, accumulation")
            << QStringList{"model.norm=batch", "schedule.kind=one-cycle", "schedule.total_steps=20",
                           "schedule.cycle_momentum=true", "gradients.accumulate=3"};
        QTest::newRow("two networks") << QStringList{"model.networks=2", "optimizer.amsgrad=true"};
        QTest::newRow("rmsprop") << QStringList{"optimizer.kind=rmsprop", "optimizer.centered=true",
                                                "scaler.hysteresis=2", "scaler.tolerance=0.5"};
        QTest::newRow("nadam") << QStringList{"optimizer.kind=nadam"};
        QTest::newRow("float16") << QStringList{"precision=fp16"};
    }
    void goesOnElsewhereWithTheSameBits() {
        QFETCH(QStringList, settings);
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.lanes[0].scaler.initScale = std::ldexp(1.0, 22);
        config.lanes[0].scaler.rules.growthInterval = 4;
        for (const QString& setting : settings)
            applySetting(config, setting.toStdString());
        RunConfig other = config;
        other.seed = 99; // its weights are another run's until they are restored
        const FixedDataset data = randomRegression({64, 10, 1}, 3, config.seed);
        Lane first(config, data), second(other, data);
        for (int64_t step = 1; step <= 7; ++step)
            first.step(step);
        second.step(1); // a lane in another state
        const LaneState state = first.trainer.state();
        QCOMPARE(state.step, int64_t{7});
        second.trainer.restore(state);
        QVERIFY(second.trainer.state() == state);
        first.events.clear();
        second.events.clear();
        for (int64_t step = 8; step <= 20; ++step)
            QVERIFY(sameRow(first.step(step), second.step(step)));
        QVERIFY(second.trainer.state() == first.trainer.state());
        QCOMPARE(second.events.size(), first.events.size());
    }

    void goesBack() {
        Lane lane(laneConfig(Precision::AmpFp16), {64, 10, 1}, 3);
        for (int64_t step = 1; step <= 4; ++step)
            lane.step(step);
        const LaneState state = lane.trainer.state();
        const StepRecord once = lane.step(5);
        lane.step(6);
        lane.trainer.restore(state);
        const std::vector<float> restored = lane.trainer.prediction();
        QCOMPARE(restored.size(), size_t{64});
        QVERIFY(restored[0] != 0);
        QVERIFY(sameRow(lane.step(5), once));
    }

    void keepsWhatALossThatStaysBadIsDueTo() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.optimizer.lr = 100;
        config.optimizer.kind = OptimizerKind::Sgd;
        Lane first(config), second(config);
        int64_t step = 1;
        while (!(first.step(step).flags & kLossNotFinite))
            QVERIFY(++step < 200);
        second.trainer.restore(first.trainer.state());
        QVERIFY(second.trainer.state().lossWasBad);
        second.step(step + 1);
        QCOMPARE(second.count(EventKind::LossNotFinite), 0); // it was reported before
    }

    void convertsToAnotherPrecision() {
        Lane single(laneConfig(Precision::Fp32)), half(laneConfig(Precision::Fp16));
        for (int64_t step = 1; step <= 3; ++step)
            single.step(step);
        half.trainer.restore(single.trainer.state());
        const Weights exact = single.trainer.weights(), rounded = half.trainer.weights();
        for (const auto& [name, values] : exact)
            for (size_t i = 0; i < values.size(); ++i)
                QCOMPARE(rounded.at(name)[i], roundTo(DType::F16, values[i]));
        const LaneState state = half.trainer.state();
        QCOMPARE(state.states.at("0.weight").dtype, DType::F16);
        QCOMPARE(state.states.at("scaler").dtype, DType::F64);
        single.trainer.restore(state); // loses nothing
        QCOMPARE(differentWeights(single.trainer.weights(), rounded), 0);
    }

    void refusesWhatIsNoStateOfTheStep() {
        Lane lane(laneConfig(Precision::Fp32));
        lane.step(1);
        const LaneState good = lane.trainer.state();
        const auto refused = [&](const LaneState& bad, const char* wanted) {
            const std::string text = thrownBy<InputError>([&] { lane.trainer.restore(bad); });
            QVERIFY2(text.find(wanted) != std::string::npos, text.c_str());
            QVERIFY(lane.trainer.state() == good);
        };
        LaneState bad = good;
        bad.states.erase("2.bias");
        refused(bad, "2.bias is missing");
        bad = good;
        bad.states["99.bias"] = good.states.at("2.bias");
        refused(bad, "the step has no state 99.bias");
        bad = good;
        bad.states["2.bias"].shape = {21};
        refused(bad, "2.bias has the shape [21], the step wants [20]");
        bad = good;
        bad.states["2.bias"].bytes.pop_back();
        refused(bad, "2.bias has 79 bytes, 80 are expected");
    }

    /// With the parent's own settings a fork is its twin.
    void aForkIsItsParentsTwin() {
        Run run(skippingRegression());
        run.to(9);
        const LaneConfig parent = run.experiment.config().lanes[1];
        QCOMPARE(run.experiment.fork(1, parent, run.events), 2);
        QCOMPARE(run.experiment.laneName(2), std::string("amp-fp16-2"));
        QCOMPARE(run.experiment.snapshot().outputs[2].values,
                 run.experiment.snapshot().outputs[1].values);
        QCOMPARE(run.events.back().lane, 2);
        QCOMPARE(run.events.back().text.english(),
                 std::string("From step 10: lane amp-fp16-2 continues lane amp-fp16."));
        run.toTheEnd();
        std::vector<StepRecord> twin = rowsOf(run, 2, 1);
        const std::vector<StepRecord> rows = rowsOf(run, 1, 10);
        QCOMPARE(twin.size(), rows.size());
        for (size_t i = 0; i < rows.size(); ++i) {
            twin[i].lane = 1;
            QVERIFY(sameRow(twin[i], rows[i]));
        }
    }

    /// The parent has no loss scale: the fork begins with its own initial scale.
    void aForkOfAnUnscaledLaneBeginsToScale() {
        Run run(skippingRegression());
        run.to(6);
        LaneConfig lane = defaultLane(Precision::AmpFp16);
        lane.scaler.initScale = 512;
        lane.scaler.rules.growthInterval = 2;
        run.experiment.fork(0, lane, run.events);
        run.experiment.fork(1, defaultLane(Precision::Fp32), run.events);
        run.to(8);
        const std::vector<StepRecord> scaled = rowsOf(run, 2, 1), plain = rowsOf(run, 3, 1);
        QCOMPARE(scaled[0].step, int64_t{7});
        QCOMPARE(scaled[0].scale, 512.0f);
        QVERIFY(scaled[1].flags & kGrew); // after two clean steps of its own
        QCOMPARE(plain[0].scale, 1.0f);
        // the same weights and batch: the first losses differ by rounding alone
        QVERIFY(std::abs(scaled[0].loss / rowsOf(run, 0, 7)[0].loss - 1) < 0.01f);
        QCOMPARE(plain[0].skippedSoFar, rowsOf(run, 1, 6)[0].skippedSoFar);
    }

    void refusesForks() {
        Run run(skippingRegression());
        LaneConfig user = defaultLane(Precision::User);
        QVERIFY_THROWS_EXCEPTION(InputError, run.experiment.fork(0, user, run.events));
        QCOMPARE(run.experiment.lanes(), 2);
        for (int i = 0; i < 4; ++i)
            run.experiment.fork(0, defaultLane(Precision::AmpBf16), run.events);
        const std::string text = thrownBy<InputError>(
            [&] { run.experiment.fork(0, defaultLane(Precision::Fp32), run.events); });
        QCOMPARE(text, std::string("lanes: there are 6 already, the most that a run has: no lane "
                                   "can be forked"));
        QCOMPARE(run.experiment.lanes(), 6);
        run.to(1);
        QCOMPARE(run.records.size(), size_t{6});
    }

    /// With edits of every kind and two forks, one of them of a fork, the file of the run trains
    /// the same.
    void aRecordedRunGoesTheSameWay() {
        Run run(skippingRegression());
        Experiment& experiment = run.experiment;
        experiment.setLive(-1, "optimizer.lr", 0.0025, run.events); // before the first step
        run.to(5);
        experiment.setLive(1, kLiveScale, int64_t{4096}, run.events);
        LaneConfig lane = experiment.config().lanes[1];
        lane.scaler.rules.growthInterval = 2;
        experiment.fork(1, lane, run.events); // has that scale
        experiment.setLive(1, kLiveScale, 64.0, run.events);
        run.to(11);
        experiment.setLive(2, "scaler.growth_factor", 4.0, run.events);
        experiment.fork(2, defaultLane(Precision::Fp16), run.events);
        experiment.setLive(-1, "run.steps", int64_t{27}, run.events);
        run.toTheEnd();
        QCOMPARE(experiment.step(), int64_t{27});

        const RunConfig recorded = experiment.recorded();
        QCOMPARE(recorded.lanes.size(), size_t{2});
        QCOMPARE(recorded.forks.size(), size_t{2});
        QCOMPARE(recorded.edits.size(), size_t{5});
        QCOMPARE(recorded.steps, int64_t{24});
        const std::string text = configText(recorded);
        const RunConfig read = parseConfig(text, "experiment.json");
        QCOMPARE(configText(read), text);
        Run again(read);
        QCOMPARE(configText(again.experiment.recorded()), text); // with what is to come
        again.toTheEnd();
        compareRuns(run, again);
        QCOMPARE(configText(again.experiment.recorded()), text);
        QCOMPARE(configText(again.experiment.config()), configText(experiment.config()));
    }

    /// When a user intervenes in a replayed run, its record replays that, too.
    void aReplayedRunCanBeEdited() {
        RunConfig config = skippingRegression();
        config.edits = {{8, 2, "scaler.growth_factor", 4.0}};
        config.forks = {{4, 1, 0, config.lanes[1]}};
        Run run(config);
        run.to(2);
        run.experiment.setLive(1, "scaler.backoff_factor", 0.25, run.events);
        run.experiment.fork(0, defaultLane(Precision::AmpBf16), run.events); // lane 2 is this one
        run.toTheEnd();
        QCOMPARE(run.experiment.lanes(), 4);
        QCOMPARE(run.experiment.config().lanes[3].scaler.rules.growthFactor, 4.0);
        Run again(parseConfig(configText(run.experiment.recorded()), "experiment.json"));
        again.toTheEnd();
        compareRuns(run, again);
    }

    /// A live edit and a live fork come before planned ones: a planned fork still follows the edit
    /// that it followed, and continues the planned fork that it continued.
    void plannedForksKeepTheirPlace() {
        RunConfig config = skippingRegression();
        config.edits = {{5, 1, kLiveScale, 256.0}};
        config.forks = {{5, 1, 1, config.lanes[1]}, {7, 2, 1, config.lanes[1]}};
        Run run(config);
        run.to(2);
        run.experiment.setLive(-1, "optimizer.lr", 0.002, run.events);
        run.experiment.fork(0, defaultLane(Precision::AmpBf16), run.events);
        run.to(4);
        QCOMPARE(run.experiment.lanes(), 4); // step 5 begins with the edit and the fork
        QCOMPARE(run.experiment.lane(3).scaler().scale, 256.0f);
        run.to(6);
        QCOMPARE(run.experiment.recorded().forks.at(2).parent, 3);
    }

    /// The schedule is as long as the run was at its start, in lanes that are forked later, too.
    void forksShareTheSchedule() {
        RunConfig config = skippingRegression();
        config.schedule.kind = ScheduleKind::Cosine;
        config.steps = 8;
        Run run(config);
        run.to(2);
        run.experiment.setLive(-1, "run.steps", int64_t{12}, run.events);
        run.experiment.fork(1, config.lanes[1], run.events);
        run.toTheEnd();
        for (const StepRecord& record : run.records)
            QCOMPARE(record.learningRate,
                     static_cast<float>(
                         learningRate(scheduleOf(config), config.optimizer.lr, record.step - 1)));
    }

    /// A run ended, was given more steps, and continued.
    void aRunThatWentOnAfterItsEnd() {
        RunConfig config = skippingRegression();
        config.steps = 3;
        Run run(config);
        run.toTheEnd();
        run.experiment.setLive(-1, "run.steps", int64_t{5}, run.events);
        run.toTheEnd();
        Run again(run.experiment.recorded());
        again.toTheEnd();
        compareRuns(run, again);
        QCOMPARE(again.experiment.step(), int64_t{5});
    }

    /// After an edit in the middle, a lane continues like one that was built with the new value and
    /// given the state.
    void everyNumberOfTheOptimizersIsLive_data() {
        QTest::addColumn<QStringList>("settings");
        QTest::addColumn<QString>("edit");
        const QStringList sgd{"optimizer.kind=sgd", "optimizer.lr=1e-3"};
        QTest::newRow("learning rate") << QStringList{} << "optimizer.lr=0.01";
        QTest::newRow("beta 1") << QStringList{} << "optimizer.beta1=0.5";
        QTest::newRow("beta 2") << QStringList{} << "optimizer.beta2=0.9";
        QTest::newRow("epsilon") << QStringList{} << "optimizer.eps=0.1";
        QTest::newRow("weight decay")
            << QStringList{"optimizer.kind=adamw"} << "optimizer.weight_decay=0.5";
        QTest::newRow("momentum") << sgd << "optimizer.momentum=0.2";
        QTest::newRow("no momentum") << sgd << "optimizer.momentum=0";
        QTest::newRow("dampening") << sgd << "optimizer.dampening=0.5";
        QTest::newRow("alpha") << QStringList{"optimizer.kind=rmsprop"} << "optimizer.alpha=0.5";
        QTest::newRow("second rate")
            << QStringList{"model.networks=2"} << "optimizer.second_lr=1e-5";
        QTest::newRow("clip limit")
            << QStringList{"gradients.clip=norm"} << "gradients.clip_limit=0.01";
        QTest::newRow("penalty") << QStringList{} << "gradients.penalty=0.5";
        QTest::newRow("penalty epsilon")
            << QStringList{"gradients.penalty=0.5"} << "gradients.penalty_eps=0.1";
    }
    void everyNumberOfTheOptimizersIsLive() {
        QFETCH(QStringList, settings);
        QFETCH(QString, edit);
        RunConfig config = skippingRegression();
        config.lanes[1].scaler.initScale = 256;
        for (const QString& setting : settings)
            applySetting(config, setting.toStdString());
        RunConfig edited = config;
        applySetting(edited, edit.toStdString());
        Run run(config), same(config), other(edited);
        run.to(5);
        same.to(5);
        const std::string key = edit.section('=', 0, 0).toStdString();
        run.experiment.setLive(-1, key, findField(key)->get(edited, 0), run.events);
        for (int lane = 0; lane < 2; ++lane) {
            LaneState state = run.experiment.lane(lane).state();
            if (edit == "optimizer.momentum=0") // the edited lane has no buffers any more
                QVERIFY(!state.states.contains("layers.0.weight.momentum_buffer"));
            Trainer& to = other.experiment.lane(lane);
            to.restore(state);
        }
        for (int64_t step = 6; step <= 9; ++step) {
            run.to(step);
            for (int lane = 0; lane < 2; ++lane) {
                std::vector<Event> events;
                const StepRecord row = *other.experiment.lane(lane).step(step, events);
                QVERIFY(sameRow(rowsOf(run, lane, step).front(), row));
            }
        }
        same.to(9);
        QVERIFY(differentWeights(run.experiment.lane(0).weights(),
                                 same.experiment.lane(0).weights()) > 0); // the edit has an effect
    }

    void refusesLiveEditsWithoutEffect() {
        Run run(skippingRegression());
        const auto refused = [&](const char* key, double value) {
            return thrownBy<InputError>(
                [&] { run.experiment.setLive(-1, key, value, run.events); });
        };
        QCOMPARE(refused("optimizer.momentum", 0.5),
                 std::string("optimizer.momentum cannot be changed: with the other settings of "
                             "this run it has no effect"));
        QVERIFY(refused("gradients.clip_limit", 0.5).starts_with("gradients.clip_limit"));
        run.experiment.setLive(1, "scaler.ceiling", 1024.0, run.events);
        const char* const above = "lanes.1.scaler.floor: 2048 is not allowed: at most 1024, "
                                  "scaler.ceiling"; // as at the start of a run
        QCOMPARE(refused("scaler.floor", 2048), std::string(above));
        LaneConfig beyond = run.experiment.config().lanes[1];
        QCOMPARE(beyond.scaler.rules.floor, 0.0);
        beyond.scaler.rules.floor = 2048;
        QVERIFY(thrownBy<InputError>([&] {
                    run.experiment.fork(1, beyond, run.events);
                }).ends_with("scaler.floor: 2048 is not allowed: at most 1024, scaler.ceiling"));
        RunConfig config = skippingRegression();
        config.optimizer.kind = OptimizerKind::Sgd;
        config.optimizer.nesterov = true;
        Run sgd(config);
        QVERIFY_THROWS_EXCEPTION(InputError,
                                 sgd.experiment.setLive(-1, "optimizer.momentum", 0.0, sgd.events));
        QCOMPARE(sgd.experiment.config().optimizer.momentum, 0.9);
    }

    void refusedInFiles_data() {
        QTest::addColumn<QString>("part");
        QTest::addColumn<QString>("wanted");
        const auto row = [](const char* name, const char* part, const char* wanted) {
            QTest::newRow(name) << part << wanted;
        };
        row("parent", R"("forks": [{"step": 2, "parent": 2, "lane": {"precision": "fp32"}}])",
            "forks.0.parent: 2 is not allowed: a lane that is there, 0 to 1");
        row("lane", R"("forks": [{"step": 2, "parent": 1, "lane": {"precision": "fp31"}}])",
            "forks.0.lane.precision: \"fp31\" is not allowed");
        row("no lane", R"("forks": [{"step": 2, "parent": 1}])", "forks.0.lane: missing");
        row("step", R"("forks": [{"step": 0, "parent": 1, "lane": {"precision": "fp32"}}])",
            "forks.0.step: 0 is not allowed: a whole number from 1");
        row("misspelt", R"("edits": [{"stap": 2, "key": "optimizer.lr", "value": 1}])",
            "edits.0.stap: unknown key; the nearest known one is step");
        row("not live", R"("edits": [{"step": 2, "key": "model.width", "value": 1}])",
            "edits.0: model.width cannot be changed during a run");
        row("unknown", R"("edits": [{"step": 2, "key": "optimizer.lrr", "value": 1}])",
            "the nearest known one is optimizer.lr");
        row("value", R"("edits": [{"step": 2, "key": "optimizer.lr", "value": -1}])",
            "edits.0.value: -1 is not allowed: a number from 0 to 1000");
        row("edited lane",
            R"("edits": [{"step": 2, "lane": 2, "key": "scaler.scale", "value": 1}])",
            "edits.0.lane: 2 is not allowed: a lane that is there, 0 to 1");
        row("order", R"("edits": [{"step": 3, "key": "optimizer.lr", "value": 1},
                                  {"step": 2, "key": "optimizer.lr", "value": 1}])",
            "edits.1.step: 2 is not allowed: at least 1 and the step of the edit before it");
    }
    void refusedInFiles() {
        QFETCH(QString, part);
        QFETCH(QString, wanted);
        const std::string text = R"({"version": 1, )" + part.toStdString() + "}";
        const std::string said = thrownBy<InputError>([&] { parseConfig(text, "x.json"); });
        QVERIFY2(said.find(wanted.toStdString()) != std::string::npos, said.c_str());
    }
};

} // namespace tst_lane_state

QTEST_GUILESS_MAIN(tst_lane_state::TestLaneState)
#include "tst_lane_state.moc"
