// Steps that a lane takes although their gradients overflowed, as Apex does at a static scale: what
// they change, and what is reported of them.
#include "engine/scaler/scaler_presets.h"
#include "engine/train/checkpoint.h"
#include "engine/train/experiment.h"
#include "tests/support/lane.h"
#include "tests/support/training.h"

#include <QTest>

#include <algorithm>
#include <cmath>

namespace tst_taken_steps {

using namespace halfscope;
using namespace halfscope::test;

class TestTakenSteps : public QObject {
    Q_OBJECT

private slots:
    void stepsOnOverflow_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<bool>("steps");
        QTest::newRow("static") << QString("static") << false;
        QTest::newRow("apex-static") << QString("apex-static") << true;
        QTest::newRow("dynamic") << QString() << true;
    }
    /// As in Apex at a static scale, the optimizer takes the step with whatever the gradients hold,
    /// the schedule advances, and the overflow is reported once, not in every step that nan weights
    /// spoil.
    void stepsOnOverflow() {
        QFETCH(QString, preset);
        QFETCH(bool, steps);
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.schedule.kind = ScheduleKind::OneCycle;
        config.schedule.totalSteps = 10;
        ScalerConfig& scaler = config.lanes[0].scaler;
        applyScalerPreset(scaler, preset.toStdString());
        if (preset.isEmpty()) scaler.onOverflow = OverflowAction::Step;
        scaler.initScale = std::ldexp(1.0, 24);
        scaler.holdSchedule = true;
        Lane lane(config);
        const Weights before = lane.trainer.weights();
        const StepRecord record = lane.step(1);
        const uint32_t backsOff = preset.isEmpty() ? kBackedOff : 0u;
        QCOMPARE(record.flags, (steps ? uint32_t{kSteppedOnOverflow} : kSkipped) | backsOff);
        QCOMPARE(record.skippedSoFar, int64_t{steps ? 0 : 1});
        QCOMPARE(differentWeights(before, lane.trainer.weights()) == 0, !steps);
        QCOMPARE(lane.step(2).learningRate == record.learningRate, !steps);
        lane.step(3);
        QCOMPARE(lane.count(EventKind::Overflow), steps ? 1 : 3);
        QCOMPARE(lane.count(EventKind::LossNotFinite), steps ? 1 : 0);
        QCOMPARE(isOfTakenStep(lane.events.front()), steps);
        if (steps) { // the scale of that step was the reason
            const auto event =
                std::find_if(lane.events.begin(), lane.events.end(), [](const Event& each) {
                    return each.kind == EventKind::LossNotFinite;
                });
            const std::string lost = event->text.english();
            QVERIFY2(
                lost.starts_with("Step 2: the loss itself is ") &&
                    lost.ends_with(". Step 1 was taken although its gradients were not finite.") &&
                    lost.find("at any loss scale") == std::string::npos,
                lost.c_str());
        }
        const std::string text = lane.events.front().text.english();
        const std::string start =
            steps ? "Step 1 overflowed, but the step was taken: gradient of 4."
                  : "Step 1 skipped: gradient of the predictions reached inf at loss scale ";
        QVERIFY2(text.starts_with(start), text.c_str());
        const char* const where =
            steps ? " (output layer) was not finite at loss scale 16777216 (2^24); the scale "
                  : " 16777216 (2^24); the scale stays. ";
        QVERIFY2(text.find(where) != std::string::npos, text.c_str());
    }

    /// A fork, a rebuilt lane and a run that goes on from a checkpoint explain the lost loss as the
    /// lane itself would.
    void restoredLanesKnowOfATakenStep() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.lanes[0].scaler.onOverflow = OverflowAction::Step;
        config.lanes[0].scaler.initScale = std::ldexp(1.0, 24);
        Lane lane(config), other(config);
        QVERIFY(lane.step(1).flags & kSteppedOnOverflow);
        const LaneState state = lane.trainer.state();
        QVERIFY(state.tookOverflow);
        other.trainer.restore(state);
        QVERIFY(other.trainer.state() == state);
        lane.events.clear();
        lane.step(2);
        other.step(2);
        QCOMPARE(other.count(EventKind::LossNotFinite), 1);
        QCOMPARE(other.events.size(), lane.events.size());
        for (size_t i = 0; i < lane.events.size(); ++i)
            QCOMPARE(other.events[i].text.english(), lane.events[i].text.english());
        Experiment experiment(skippingRegression());
        std::vector<StepRecord> records;
        std::vector<Event> events;
        QVERIFY(experiment.advance(records, events));
        ExperimentState all = experiment.state();
        for (const bool took : {true, false}) {
            all.lanes.at(0).tookOverflow = took;
            QCOMPARE(readKept(*keptCheckpoint(all, "1"), "run").lanes.at(0).tookOverflow, took);
        }
    }

    /// The scale is at its floor, but a step that was nevertheless taken ends nothing.
    void steppingOnTheFloorGoesOn() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        ScalerConfig& scaler = config.lanes[0].scaler;
        scaler.onOverflow = OverflowAction::Step;
        scaler.initScale = scaler.rules.floor = std::ldexp(1.0, 24);
        scaler.rules.atFloor = FloorAction::Stop;
        Lane lane(config);
        QCOMPARE(lane.step(1).flags, uint32_t{kSteppedOnOverflow});
        QVERIFY(lane.trainer.stopReason().empty());
    }

    /// Skipped or taken, the event names the same gradient. Clipping would let others become nan,
    /// or take inf from some, so it names none then.
    void namesTheGradientThatOverflowed_data() {
        QTest::addColumn<bool>("skips");
        QTest::addColumn<ClipKind>("clip");
        QTest::addColumn<QString>("tensor");
        const QString weight = QStringLiteral("gradient of 2.weight (output layer)");
        QTest::newRow("skipped") << true << ClipKind::None << weight;
        QTest::newRow("taken") << false << ClipKind::None << weight;
        QTest::newRow("clipped by the norm") << false << ClipKind::Norm2 << QString();
        QTest::newRow("clipped by value") << false << ClipKind::Value << QString();
    }
    void namesTheGradientThatOverflowed() {
        QFETCH(const bool, skips);
        QFETCH(const ClipKind, clip);
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.model = {4, 0, Norm::None, Activation::Relu};
        config.gradients.clip = clip;
        ScalerConfig& scaler = config.lanes[0].scaler;
        scaler.initScale = 32;
        scaler.onOverflow = skips ? OverflowAction::Skip : OverflowAction::Step;
        const FixedDataset::Batch batch{std::vector<float>(256, 100), std::vector<float>(256, 0)};
        Lane lane(config, {{256, 1, 1}, {batch}});
        setOnes(lane.trainer);
        // y = 400, dy = 2 * 400 / 256 * 32 = 100; dW1 = sum of 256 * 100 * 100 = 2.56e6 > 65504
        QVERIFY(lane.step(1).flags & (skips ? kSkipped : kSteppedOnOverflow));
        QTEST(QString::fromStdString(lane.events.front().tensor), "tensor");
    }
};

} // namespace tst_taken_steps

QTEST_GUILESS_MAIN(tst_taken_steps::TestTakenSteps)
#include "tst_taken_steps.moc"
