// When a lane in float32 clears the precision of another one: both diverged, and not because of the
// data.
#include "engine/runs/divergence.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_config.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tst_divergence {

using namespace halfscope;

namespace {

constexpr int64_t kSteps = 60;

/// Returns a lane's steps: its loss is 2, and from `from` to `to` another one.
SkipTally finite(int64_t from, int64_t to, float loss) {
    SkipTally tally;
    for (int64_t step = 1; step <= kSteps; ++step)
        tally.add(StepRow(step, 0)
                      .set(metric::Loss, step >= from && step <= to ? loss : 2.0f)
                      .set(metric::GradientNorm, 1.0)
                      .setFlags(0));
    return tally;
}

/// Returns a lane that skips all steps from one on, because a tensor is not finite.
SkipTally lost(int64_t from, const char* tensor) {
    SkipTally tally;
    for (int64_t step = 1; step <= kSteps; ++step) {
        const bool skips = step >= from;
        StepRow row(step, 1);
        row.set(metric::Loss, skips ? NAN : 2.0f)
            .set(metric::Scale, 65536.0f)
            .set(metric::GradientNorm, skips ? NAN : 1.0)
            .set(metric::SkippedSoFar, std::max<int64_t>(0, step - from + 1));
        tally.add(row.setFlags(skips ? kSkipped | kBackedOff | kLossNotFinite : 0));
        if (!skips) continue;
        Event event;
        event.kind = EventKind::Overflow;
        event.step = step;
        event.tensor = tensor;
        event.text = Message::data("Step skipped. No loss scale would have helped.");
        tally.add(event);
    }
    return tally;
}

int beside(const SkipTally& first, const SkipTally& second, const RunConfig& config) {
    const std::vector<const SkipTally*> tallies{&first, &second};
    return divergedBeside(config, tallies, 1);
}

const char* const kLayer = "forward pass of layer 0";

} // namespace

class TestDivergence : public QObject {
    Q_OBJECT

private slots:
    void whichLossesDiverge_data() {
        QTest::addColumn<int>("from");
        QTest::addColumn<int>("to");
        QTest::addColumn<float>("loss");
        QTest::addColumn<int>("failed");
        QTest::addColumn<int>("lane");
        QTest::newRow("for good") << 2 << 60 << 900.0f << 2 << 0;
        QTest::newRow("and comes back") << 2 << 12 << 900.0f << 2 << 0;
        QTest::newRow("a few steps later") << 8 << 60 << 900.0f << 2 << 0;
        QTest::newRow("nan") << 2 << 60 << NAN << 2 << 0;
        QTest::newRow("long before") << 2 << 12 << 900.0f << 50 << -1;
        QTest::newRow("long after") << 50 << 60 << 900.0f << 2 << -1;
        QTest::newRow("a spike") << 2 << 4 << 900.0f << 2 << -1;
        QTest::newRow("a little worse") << 2 << 60 << 5.0f << 2 << -1;
        QTest::newRow("before any step changed the weights") << 1 << 60 << NAN << 1 << -1;
    }

    void whichLossesDiverge() {
        QFETCH(const int, from);
        QFETCH(const int, to);
        QFETCH(const float, loss);
        QFETCH(const int, failed);
        QFETCH(const int, lane);
        QCOMPARE(beside(finite(from, to, loss), lost(failed, kLayer), defaultConfig()), lane);
    }

    /// After an early rise, a later one counts, too.
    void aSecondRise() {
        SkipTally twice;
        for (int64_t step = 1; step <= 100; ++step)
            twice.add(StepRow(step, 0).set(metric::Loss,
                                           (step > 1 && step < 10) || step > 48 ? 900.0f : 2.0f));
        for (const int64_t failed : {2, 50})
            QCOMPARE(beside(twice, lost(failed, kLayer), defaultConfig()), 0);
    }

    void whatClearsNoPrecision() {
        const SkipTally high = finite(2, kSteps, 900);
        RunConfig config = defaultConfig();
        QCOMPARE(beside(high, lost(2, "the input of sample 7"), config), -1);
        QCOMPARE(beside(high, finite(2, kSteps, 2), config), -1); // has not failed
        config.lanes[0].precision = Precision::AmpFp16;
        QCOMPARE(beside(high, lost(2, kLayer), config), -1);
        config = defaultConfig();
        config.lanes[1].precision = Precision::Fp32; // nobody doubts its precision
        QCOMPARE(beside(high, lost(2, kLayer), config), -1);
        config = defaultConfig();
        config.model.adversary = Adversary::Gan; // a loss of two that compete may rise
        QCOMPARE(beside(high, lost(2, kLayer), config), -1);
    }

    /// The learning rate comes first, and no wider type is advised.
    void words() {
        const Message fp32 = Message::data("fp32");
        const SkipTally tally = lost(2, kLayer);
        const LaneConfig lane = defaultConfig().lanes[1];
        const std::string reason =
            "fp32 diverged as well, so the precision is not the cause. Lower the learning rate "
            "first, or clip the gradients. The forward pass of layer 0 reached inf or nan in "
            "step 2, before any other.";
        QCOMPARE(tally.badReason(true, &lane, fp32).english(), reason);
        QCOMPARE(tally.sentence(true, &lane, fp32).english(),
                 "59 of 60 steps were skipped. That is not normal: " + reason);
        QVERIFY(tally.badReason(true, &lane).english().find("bfloat16") != std::string::npos);
        SkipTally taken; // a lane that skips nothing
        for (int64_t step = 1; step <= kSteps; ++step)
            taken.add(StepRow(step, 1)
                          .set(metric::Loss, step > 3 ? NAN : 2.0f)
                          .set(metric::GradientNorm, 1.0)
                          .setFlags(step > 3 ? uint32_t{kLossNotFinite} : 0));
        QCOMPARE(taken.sentence(false, &lane, fp32).english(),
                 std::string("fp32 diverged as well, so the precision is not the cause. Lower the "
                             "learning rate first, or clip the gradients. The loss is not finite "
                             "from step 4 on."));
    }
};

} // namespace tst_divergence

QTEST_GUILESS_MAIN(tst_divergence::TestDivergence)
#include "tst_divergence.moc"
