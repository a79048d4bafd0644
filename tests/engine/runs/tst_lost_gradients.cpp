// What is told of gradients that rounded to zero: all of them at times, or many of them when they
// were last counted.
#include "engine/runs/edit_events.h"
#include "engine/runs/edit_words.h"
#include "engine/runs/lane_totals.h"
#include "engine/runs/run.h"
#include "engine/runs/zero_gradients.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_config.h"

#include <QTest>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tst_lost_gradients {

using namespace halfscope;

namespace {

constexpr int kSmall = -20, kUsual = -5; // exponents of values beside the smallest of fp16

/// Returns counts of 100 values, of which those that are not zero have one exponent.
GradientRange hundred(DType type, int64_t zeros, int exponent) {
    GradientRange range;
    range.step = 8;
    range.type = type;
    range.outputs.zeros = zeros;
    range.outputs.buckets[static_cast<size_t>(exponent - MagnitudeCounts::kLowest)] = 100 - zeros;
    return range;
}

Event underflowAt(int64_t step) {
    return {EventKind::Underflow, step, 0, 8, 8, {}, Message::data("Step: lost.")};
}

StepRow rowAt(int64_t step, float scale, float norm) {
    return StepRow(step, 0)
        .set(metric::Loss, 0.5f)
        .set(metric::Scale, scale)
        .set(metric::GradientNorm, norm);
}

/// Returns a step that was skipped, after which the scale is half as large.
Event skippedAt(int64_t step, float scale, const char* tensor) {
    return {EventKind::Overflow, step, 0, scale, scale / 2, tensor, Message::data("Skipped.")};
}

constexpr const char* kFault = "forward pass of layer 1";
constexpr const char* kOverflow = "gradient of 0.weight";

/// Returns the event of an edit of the second of two lanes, whose setting was `before`.
Event editOf(const char* key, const char* before, const char* value) {
    RunConfig config;
    config.lanes.assign(2, LaneConfig{Precision::AmpFp16, {}});
    const auto set = [&](const char* to) {
        applySetting(config, "lanes.1." + std::string(key) + "=" + to);
        return config;
    };
    const RunConfig old = set(before), now = set(value);
    const Field& field = *findField(key);
    const std::string names[] = {"a", "b"};
    return editEvent(9, 1, key, editWords(field, field.get(now, 1), old, now, 1), names);
}

} // namespace

class TestLostGradients : public QObject {
    Q_OBJECT

private slots:
    /// The first step is told, and how many others there were.
    void inSomeUpdates() {
        LaneTotals totals;
        QVERIFY(totals.underflowText().empty());
        totals.add(underflowAt(3));
        totals.add(underflowAt(7));
        QCOMPARE(totals.underflowText().english(), std::string("Step: lost."));
        for (int64_t step = 1; step <= 10; ++step)
            totals.add(rowAt(step, 8, step == 3 || step == 7 || step == 8 ? 0.0f : 1.0f));
        totals.add(rowAt(11, 8, 0).setFlags(kSkipped));
        totals.add(rowAt(12, 8, 0).set(metric::Loss, 0.0)); // at its minimum
        QCOMPARE(totals.underflowStep(), int64_t{3});
        QCOMPARE(totals.zeroUpdates(), int64_t{3});
        QCOMPARE(totals.updates(), int64_t{12});
        QCOMPARE(totals.underflowText().english(),
                 std::string("Step: lost. This happened in 3 of 12 updates."));
        totals.add(rowAt(13, 16, 1));
        QCOMPARE(totals.underflowText().english(),
                 std::string("In 3 of 13 updates, first at step 3, all gradients rounded to zero "
                             "(underflow), up to loss scale 8 (2^3). The loss scale has become "
                             "larger since."));
    }

    /// Where the precision has no scaler, none can be switched on.
    void whatToDoWithoutAScale() {
        LaneConfig lane;
        lane.precision = Precision::AmpFp16;
        QCOMPARE(scalingAdvice(lane).english(), std::string("Switch its loss scaling on."));
        QCOMPARE(scalingAdvice(lane, 2).english(), std::string("Switch their loss scaling on."));
        lane.precision = Precision::Fp16;
        QCOMPARE(scalingAdvice(lane).english(),
                 std::string("Use a precision that can scale it, such as amp-fp16."));
        // its tensors come before its loss
        lane.precision = Precision::Fp8;
        QCOMPARE(scalingAdvice(lane).english(), std::string("Switch its loss scaling on."));
        lane.fp8Scaling = Fp8Scaling::None;
        QCOMPARE(scalingAdvice(lane).english(), std::string("Set FP8 scaling to dynamic."));
    }

    void inOneUpdate() {
        LaneTotals totals;
        totals.add(underflowAt(1));
        totals.add(rowAt(1, 8, 0));
        QCOMPARE(totals.underflowText().english(), std::string("Step: lost."));
        totals.add(rowAt(2, 16, 1));
        QCOMPARE(totals.underflowText().english(),
                 std::string("Step 1: all gradients rounded to zero at loss scale 8 (2^3) "
                             "(underflow). The loss scale has become larger since."));
    }

    /// A loss scale that has come down by 2^11 or more since a step that overflowed at any scale is
    /// not too small by itself, whatever made the step overflow.
    void zerosAfterAFault_data() {
        QTest::addColumn<QString>("tensor");
        QTest::addColumn<QString>("text");
        QTest::addColumn<float>("scale"); // of the fault
        QTest::addColumn<bool>("explained");
        const float large = 16384; // 2^11 times the scale at which gradients are zero
        const QString skipped = "Step 1 skipped: why; the scale stays.";
        QTest::newRow("data") << "the input of sample 3" << skipped << large << true;
        QTest::newRow("large inputs")
            << "the input in fp16 without data.standardise_x" << skipped << large << true;
        QTest::newRow("layer") << "forward pass of layer 1" << skipped << large << true;
        QTest::newRow("epsilon") << "the zero epsilon of Adam" << skipped << large << true;
        QTest::newRow("gradient") << "gradient of the predictions" << skipped << large << false;
        QTest::newRow("near") << "the loss" << skipped << large / 2 << false;
        QTest::newRow("no scale") << "the loss" << skipped << float(INFINITY) << false;
        QTest::newRow("taken") << "forward pass of layer 1"
                               << QString::fromStdString(
                                      Message(kTakenStep, 1, "why", "the scale stays").english())
                               << large << false;
    }

    void zerosAfterAFault() {
        QFETCH(const QString, tensor);
        QFETCH(const QString, text);
        QFETCH(const float, scale);
        QFETCH(const bool, explained);
        LaneTotals totals;
        totals.add(Event{EventKind::Overflow, 1, 0, scale, scale, tensor.toStdString(),
                         Message::data(text.toStdString())});
        totals.add(rowAt(2, 8, 1));
        QCOMPARE(totals.faultsExplainUnderflow(), explained);
        // an event knows better
        LaneTotals told = totals;
        told.add(underflowAt(3));
        QVERIFY(!told.faultsExplainUnderflow());
        Event event = underflowAt(3);
        event.text = {kUnderflowOfFault, 3, "8", "16384"};
        totals.add(event);
        QVERIFY(totals.faultsExplainUnderflow());
    }

    /// What faults have brought down, and not what fell because the scale was too large.
    void whichFaultsExplainZeros() {
        const auto explained = [](const std::vector<std::pair<const char*, float>>& skipped,
                                  float scale) {
            LaneTotals once, twice; // a run that goes on may be told them again
            int64_t step = 0;
            for (LaneTotals* each : {&once, &twice, &twice}) {
                step = 0;
                for (const auto& [tensor, at] : skipped)
                    each->add(skippedAt(++step, at, tensor));
            }
            for (LaneTotals* each : {&once, &twice})
                each->add(rowAt(step + 1, scale, 1));
            const bool found = once.faultsExplainUnderflow();
            return found == twice.faultsExplainUnderflow() ? int{found} : -1;
        };
        std::vector<std::pair<const char*, float>> early{{kFault, 16.0f}}, late{{kFault, 65536.0f}};
        for (int power = 24; power > 0; --power)
            early.emplace_back(kFault, std::ldexp(1.0f, power));
        QCOMPARE(explained(early, 1), 1);
        for (int power = 15; power > 4; --power)
            late.emplace_back(kOverflow, std::ldexp(1.0f, power));
        QCOMPARE(explained(late, 16), 0);
        late.assign({{kOverflow, 131072.0f}, {kFault, 65536.0f}});
        QCOMPARE(explained(late, 32), 1);
        late.assign({{kFault, 65536.0f}, {"", 32768.0f}}); // nobody knows why
        QCOMPARE(explained(late, 32), 1);
    }

    /// Such as one that the user sets to 8: it is the user's, whatever brought it down before.
    void noFaultExplainsAScaleThatWasSet_data() {
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("before");
        QTest::addColumn<QString>("value");
        QTest::addColumn<bool>("explained");
        const auto row = [](const char* name, const char* key, const char* before,
                            const char* value, bool explained) {
            QTest::newRow(name) << key << before << value << explained;
        };
        row("off", "scaler.mode", "dynamic", "off", false);
        row("on", "scaler.mode", "off", "static", false);
        row("static", "scaler.mode", "dynamic", "static", true);
        row("another setting", "scaler.growth_interval", "100", "200", true);
    }

    void noFaultExplainsAScaleThatWasSet() {
        QFETCH(const QString, key);
        QFETCH(const QString, before);
        QFETCH(const QString, value);
        QFETCH(const bool, explained);
        const Event edit = editOf(qPrintable(key), qPrintable(before), qPrintable(value));
        Event saved = edit; // with its English words alone
        saved.text = Message::data(edit.text.english());
        for (const Event& each : {edit, saved}) {
            LaneTotals totals;
            totals.add(skippedAt(1, 65536, kFault));
            totals.add(each);
            totals.add(rowAt(10, 8, 1));
            QCOMPARE(totals.faultsExplainUnderflow(), explained);
        }
    }

    /// Also an edit of all lanes, which belongs to none.
    void noFaultExplainsALiveScale() {
        for (const int edited : {-1, 0, 1}) {
            std::vector<LaneInfo> lanes(2);
            lanes[0].name = "a";
            lanes[1].name = "b";
            RunInfo info;
            info.config.lanes.resize(2);
            info.recorded = info.config;
            Run run(std::move(info), lanes);
            const std::string names[] = {"a", "b"};
            RunBatch batch;
            batch.events.push_back(skippedAt(1, 65536, kFault));
            batch.events.push_back(editEvent(2, edited, kLiveScale, {kScaleSet, "8 (2^3)"}, names));
            run.append(std::move(batch));
            LaneTotals totals = run.now().totals(0);
            totals.add(rowAt(2, 8, 1));
            QCOMPARE(totals.faultsExplainUnderflow(), edited == 1);
        }
    }

    /// A fork that switches scaling on or off begins anew, and so does one of such a fork.
    void noFaultExplainsScalingThatAForkSwitched() {
        RunConfig config;
        config.lanes.assign(1, LaneConfig{Precision::AmpFp16, {}});
        const LaneConfig scaled = config.lanes[0];
        LaneConfig off = scaled;
        off.scaler.rules.mode = ScalerMode::Off;
        config.forks = {{3, 0, 0, off}, {3, 0, 0, scaled}, {4, 1, 0, scaled}};
        const std::vector<LaneInfo> lanes = lanesOf(config);
        RunInfo info;
        info.config = info.recorded = config;
        Run run(std::move(info), {lanes[0]});
        RunBatch first, forks, last;
        first.rows = {rowAt(1, 65536, 1), rowAt(2, 8, 1)};
        first.events.push_back(skippedAt(1, 65536, kFault));
        run.append(std::move(first));
        forks.lanes = {lanes[1], lanes[2]};
        for (int32_t lane = 0; lane < 3; ++lane) {
            forks.rows.push_back(rowAt(3, 8, 1));
            forks.rows.back().lane = lane;
        }
        run.append(std::move(forks));
        last.lanes = {lanes[3]};
        run.append(std::move(last));
        const std::vector<bool> explained{true, false, true, false};
        for (int lane = 0; lane < 4; ++lane) {
            LaneTotals totals = run.now().totals(lane);
            totals.add(rowAt(4, 8, 1));
            QCOMPARE(totals.faultsExplainUnderflow(), bool(explained[static_cast<size_t>(lane)]));
        }
    }

    /// The parent may have been edited before the fork, or only after it.
    void aForkOfALaneThatWasEdited() {
        RunConfig config;
        config.lanes.assign(1, LaneConfig{Precision::AmpFp16, {}});
        const LaneConfig scaled = config.lanes[0];
        config.lanes[0].scaler.rules.mode = ScalerMode::Off;
        config.edits.push_back({3, 0, "scaler.mode", std::string("dynamic")});
        for (const int64_t before : {0, 1}) {
            config.forks = {{3, 0, before, scaled}};
            QCOMPARE(lanesOf(config).at(1).scalesAnew, before == 0);
        }
    }

    /// It hears of no event twice, and of none that came after the step from which it goes on.
    void aRunThatGoesOnKnowsItsFaults() {
        RunConfig config;
        config.lanes.assign(1, LaneConfig{Precision::AmpFp16, {}});
        config.forks = {{4, 0, 0, config.lanes[0]}};
        const std::vector<LaneInfo> lanes = lanesOf(config);
        const std::string names[] = {lanes[0].name, lanes[1].name};
        for (const bool edited : {false, true}) {
            RunInfo info;
            info.config = info.recorded = config;
            Run run(std::move(info), {lanes[0]});
            RunBatch first, second;
            first.rows = {rowAt(1, 65536, 1), rowAt(2, 65536, 1), rowAt(3, 65536, 1)};
            first.events = {editEvent(2, -1, kLiveScale, {kScaleSet, "65536 (2^16)"}, names),
                            skippedAt(3, 65536, kFault)};
            run.append(std::move(first));
            second.lanes = {lanes[1]};
            second.rows = {rowAt(4, 8, 1), rowAt(4, 8, 1)};
            second.rows[1].lane = 1;
            if (edited)
                second.events.push_back(
                    editEvent(5, -1, kLiveScale, {kScaleSet, "8 (2^3)"}, names));
            run.append(std::move(second));
            for (const int64_t step : {3, 4}) { // the fork has no row of its own yet, or one
                const std::shared_ptr<Run> next = Run::goingOn(config, run.now(), step);
                QCOMPARE(next->events().size(), size_t{2});
                QCOMPARE(next->now().laneCount(), 2);
                for (int lane = 0; lane < 2; ++lane) {
                    LaneTotals totals = next->now().totals(lane);
                    totals.add(rowAt(step + 1, 8, 1));
                    QVERIFY(totals.faultsExplainUnderflow());
                }
            }
        }
    }

    /// Whichever version has saved the event.
    void savedEventsKeepTheirVerdict() {
        const std::string begin =
            "Step 3: all gradients rounded to zero at loss scale 8 (2^3) (underflow), so nothing "
            "is learned. ";
        Event event = underflowAt(3);
        for (const char* end :
             {"inf or nan that no loss scale can fix: correct those first.",
              "steps that overflowed at any loss scale: see their events first.",
              "steps that would overflow at any loss scale: see their events first."}) {
            event.text = Message::data(
                begin + "The scale has come down from 65536 (2^16) because of " + end);
            QVERIFY2(isUnderflowOfFault(event), end);
        }
        event.text = Message::data(begin + "Raise the loss scale: at 2048 (2^11) they are not "
                                           "zero, and the step fits.");
        QVERIFY(!isUnderflowOfFault(event));
    }

    /// Zeros long after an underflow are not lost: a larger scale was tried and has not helped.
    void zerosOfAnotherKind() {
        LaneTotals totals;
        totals.add(rowAt(3, 8, 0));
        totals.add(underflowAt(3)); // it may come after its row
        for (int64_t step = 4; step <= 3 + kUnderflowsApart; ++step)
            totals.add(rowAt(step, 8, 1));
        for (int64_t step = 4 + kUnderflowsApart; step <= 8 + kUnderflowsApart; ++step)
            totals.add(rowAt(step, 8, 0));
        QCOMPARE(totals.zeroUpdates(), int64_t{1});
        totals.add(underflowAt(8 + kUnderflowsApart));
        totals.add(rowAt(9 + kUnderflowsApart, 8, 0));
        QCOMPARE(totals.zeroUpdates(), int64_t{7}); // so there was underflow again
    }

    /// Where the scale was set by hand, an event would tell of underflow at once: without one, the
    /// units are dead.
    void zerosAtAScaleOfTheUser() {
        for (const float scale : {65536.0f, 0.5f}) {
            LaneTotals totals;
            for (int64_t step = 1; step <= 20; ++step)
                totals.add(rowAt(step, 1, step < 5 ? 1 : 0));
            totals.add(rowAt(21, scale, 0)); // in the next update, too
            for (int64_t step = 22; step <= 200; ++step)
                totals.add(rowAt(step, scale, step < 60 ? 1 : 0));
            totals.add(underflowAt(5)); // events come after all rows of their batch
            QCOMPARE(totals.zeroUpdates(), int64_t{16});
            totals.add(underflowAt(21));
            QCOMPARE(totals.zeroUpdates(), int64_t{16 + 1 + 141});
        }
    }

    /// A scale that its rule has changed brings no new event: the underflow goes on.
    void zerosWhileTheScaleGrows() {
        LaneTotals totals;
        totals.add(underflowAt(1));
        for (int64_t step = 1; step <= 6; ++step)
            totals.add(rowAt(step, step <= 3 ? 8 : 16, 0).setFlags(step == 3 ? kGrew : 0u));
        QCOMPARE(totals.zeroUpdates(), int64_t{6});
        totals.add(rowAt(7, 16, 1).setFlags(kSkipped | kBackedOff));
        totals.add(rowAt(8, 8, 0));
        QCOMPARE(totals.zeroUpdates(), int64_t{7});
    }

    void zerosAtAScaleSetAfterAGrowth_data() {
        QTest::addColumn<int>("growths"); // after every third step
        QTest::addColumn<float>("scale"); // of the steps after the last growth
        QTest::addColumn<int>("zeros");
        QTest::newRow("the grown one") << 1 << 16.0f << 6; // also where it was set to what it was
        QTest::newRow("a larger one") << 1 << 64.0f << 3;
        QTest::newRow("the one before") << 1 << 8.0f << 3;
        QTest::newRow("grown twice") << 2 << 32.0f << 9;
        QTest::newRow("set after the second growth") << 2 << 64.0f << 6;
    }

    /// The event of a growth tells which scale it left, before its row or after all rows.
    void zerosAtAScaleSetAfterAGrowth() {
        QFETCH(const int, growths);
        QFETCH(const float, scale);
        QFETCH(const int, zeros);
        const int end = 3 * growths; // the step of the last growth
        for (const bool first : {true, false}) {
            LaneTotals totals;
            totals.add(underflowAt(1));
            std::vector<Event> later;
            float grown = 8;
            for (int64_t step = 1; step <= end + 3; ++step) {
                const bool grows = step % 3 == 0 && step <= end;
                const Event growth{EventKind::Growth, step, 0, grown, 2 * grown, {}, {}};
                if (grows && first) totals.add(growth);
                totals.add(
                    rowAt(step, step <= end ? grown : scale, 0).setFlags(grows ? kGrew : 0u));
                if (!grows) continue;
                grown *= 2;
                if (!first) later.push_back(growth);
            }
            for (const Event& growth : later)
                totals.add(growth);
            QCOMPARE(totals.zeroUpdates(), int64_t{zeros});
            totals.add(underflowAt(end + 1)); // as the watch would tell of it
            QCOMPARE(totals.zeroUpdates(), int64_t{end + 3});
        }
    }

    /// The trial of the fork is its own.
    void zerosOfAFork() {
        LaneTotals totals;
        totals.add(underflowAt(1));
        totals.add(rowAt(1, 8, 0));
        totals.fork(1);
        totals.add(rowAt(2, 8, 0));
        QCOMPARE(totals.zeroUpdates(), int64_t{1});
        totals.add(underflowAt(2));
        QCOMPARE(totals.zeroUpdates(), int64_t{2});
    }

    /// Only the last of several batches is an update.
    void ofSeveralBatches() {
        LaneTotals totals(2);
        totals.add(underflowAt(2));
        for (int64_t step = 1; step <= 6; ++step)
            totals.add(rowAt(step, 8, 0));
        QCOMPARE(totals.zeroUpdates(), int64_t{3});
        QCOMPARE(totals.updates(), int64_t{3});
    }

    void inPart_data();
    void inPart();
};

void TestLostGradients::inPart_data() {
    QTest::addColumn<GradientRange>("own");
    QTest::addColumn<bool>("lost");
    QTest::addColumn<int>("beside");
    QTest::newRow("far more") << hundred(DType::F16, 56, kSmall) << true << 1;
    QTest::newRow("somewhat more") << hundred(DType::F16, 54, kSmall) << false << -1;
    QTest::newRow("nearly all") << hundred(DType::F16, 99, kSmall) << true << -1;
    QTest::newRow("where nothing is small") << hundred(DType::F16, 80, kUsual) << false << -1;
    QTest::newRow("all in float32") << hundred(DType::F32, 100, kSmall) << false << -1;
    QTest::newRow("in float32") << hundred(DType::F32, 80, kSmall) << false << -1;
    QTest::newRow("in bfloat16") << hundred(DType::BF16, 80, kSmall) << false << -1;
    GradientRange infinite = hundred(DType::F16, 80, kSmall), fp8 = hundred(DType::F32, 80, kSmall);
    infinite.outputs.notFinite = 1;
    QTest::newRow("with inf") << infinite << false << -1;
    fp8.layers.push_back({"Linear 0", DType::F32, true, fp8.outputs, {}});
    QTest::newRow("in 8 bits that are emulated") << fp8 << true << 1;
}

/// Lane B has the fewest zeros: 35 of 100.
void TestLostGradients::inPart() {
    QFETCH(const GradientRange, own);
    QFETCH(const bool, lost);
    QFETCH(const int, beside);
    const std::vector lanes{hundred(DType::F32, 40, kUsual), hundred(DType::F16, 35, kUsual), own};
    const std::optional<LostGradients> found = lostGradientsOf(lanes, 2);
    QCOMPARE(found.has_value(), lost);
    if (!found) return;
    QCOMPARE(found->beside, beside);
    QCOMPARE(found->kept, 0.35);
    QCOMPARE(found->share, static_cast<double>(own.zeros()) / 100);
    QVERIFY(!lostGradientsOf(lanes, 0));
    QVERIFY(!lostGradientsOf(lanes, 3));
}

} // namespace tst_lost_gradients

QTEST_GUILESS_MAIN(tst_lost_gradients::TestLostGradients)
#include "tst_lost_gradients.moc"
