// What the skips of a lane say of its loss scale: how far it came down at the start, and whether
// one that was made static later is too large.
#include "engine/runs/skips.h"

#include <QTest>

namespace tst_scale_held {

using namespace halfscope;

namespace {

constexpr uint32_t kFalls = kSkipped | kBackedOff;

/// Adds steps with the same flags; a scale that falls is halved after each.
void add(SkipTally& tally, float scale, int steps, uint32_t flags = 0) {
    for (int i = 0; i < steps; ++i) {
        StepRecord record;
        record.step = tally.steps() + 1;
        record.flags = flags;
        record.scale = scale;
        record.growthTracker = flags == 0 ? i + 1 : 0;
        record.gradientNorm = 1;
        tally.add(record);
        if (flags & kBackedOff) scale /= 2;
    }
}

} // namespace

class TestScaleHeld : public QObject {
    Q_OBJECT
private slots:
    void onlyItsOwnSkipsTell();
    void aLongWayDown();
};

/// A scale that was made static has come down before: only what overflows at the scale that it has
/// now tells that it is too large.
void TestScaleHeld::onlyItsOwnSkipsTell() {
    SkipTally tally;
    add(tally, 65536, 9);
    add(tally, 65536, 1, kFalls);
    // no step has used what is held from now on
    QCOMPARE(tally.verdict(false), SkipVerdict::Normal);
    add(tally, 32768, 280);
    QCOMPARE(tally.verdict(false), SkipVerdict::Normal);
    QCOMPARE(tally.sentence(false).english(), tally.sentence(true).english());
    add(tally, 32768, 1, kSkipped);
    QCOMPARE(tally.verdict(false), SkipVerdict::TooMany);
    const std::string reason = tally.badReason(false).english();
    QVERIFY2(reason.starts_with("the loss scale is held at 32768 (2^15)"), reason.c_str());
    add(tally, 1024, 1); // a smaller one was set
    QCOMPARE(tally.verdict(false), SkipVerdict::Normal);
}

void TestScaleHeld::aLongWayDown() {
    const std::string advice = " A smaller first scale makes the start shorter.";
    SkipTally near, far, farthest;
    add(near, 0x1p24F, 9, kFalls);
    QVERIFY(near.startAdvice().empty());
    add(near, 0x1p15F, 30);
    QVERIFY(!near.sentence(true).english().ends_with(advice));
    add(far, 0x1p40F, 25, kFalls);
    QCOMPARE(far.sentence(true).english(),
             "all 25 steps were skipped. That is normal: the loss scale is coming down." + advice);
    add(far, 0x1p15F, 275);
    QCOMPARE(far.verdict(true), SkipVerdict::Normal);
    QCOMPARE(far.sentence(true).english(),
             "25 of 300 steps were skipped. That is normal: at the start, until the loss scale was "
             "low enough." +
                 advice);
    add(farthest, 0x1p32F, 32, kFalls); // the largest usual one
    QCOMPARE(farthest.verdict(true), SkipVerdict::Normal);
    // which a fork has not walked itself
    far.fork(300);
    QVERIFY(far.startAdvice().empty());
}

} // namespace tst_scale_held

QTEST_GUILESS_MAIN(tst_scale_held::TestScaleHeld)
#include "tst_scale_held.moc"
