// What the skips of a lane say of its loss scale: how far it came down at the start, and whether
// one that was made static later is too large.
#include "engine/runs/skips.h"
#include "engine/settings/fields.h"

#include <QTest>

#include <cmath>

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
    void aScaleThatOnlyFalls();
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
    // most of the training so far
    QCOMPARE(far.verdict(true), SkipVerdict::TooMany);
    QCOMPARE(far.sentence(true).english(),
             std::string("all 25 steps were skipped. That is not normal: 25 of them were at the "
                         "start, while the loss scale was coming down. A smaller first scale or "
                         "backoff factor makes this shorter."));
    add(far, 0x1p15F, 24);
    QCOMPARE(far.verdict(true), SkipVerdict::TooMany);
    add(far, 0x1p15F, 251);
    QCOMPARE(far.verdict(true), SkipVerdict::Normal);
    QCOMPARE(far.sentence(true).english(),
             "25 of 300 steps were skipped. That is normal: at the start, until the loss scale was "
             "low enough." +
                 advice);
    add(farthest, 0x1p32F, 16, kFalls); // the largest usual one, down to PyTorch's
    QCOMPARE(farthest.verdict(true), SkipVerdict::Normal);
    add(farthest, 0x1p16F, 1, kFalls);
    QCOMPARE(farthest.verdict(true), SkipVerdict::TooMany);
    // which a fork has not walked itself
    far.fork(300);
    QVERIFY(far.startAdvice().empty());
}

/// Few skips in many steps are too many where the scale never finds a place: then the loss is too
/// large.
void TestScaleHeld::aScaleThatOnlyFalls() {
    SkipTally tally, edited, later;
    add(tally, 65536, 12, kFalls);
    for (const float scale : {16.0F, 8.0F, 4.0F, 2.0F}) {
        add(tally, scale, 400);
        QCOMPARE(tally.verdict(true), SkipVerdict::Normal);
        add(tally, scale, 1, kFalls);
    }
    add(tally, 1, 400);
    QCOMPARE(tally.verdict(true), SkipVerdict::TooMany);
    const std::string reason = tally.badReason(true).english();
    QVERIFY2(reason.starts_with("the loss scale has fallen from 65536 (2^16) to 1"),
             reason.c_str());
    QVERIFY2(reason.find("too large for the lane's type. Standardise the targets") !=
                 std::string::npos,
             reason.c_str());
    add(tally, 1, 1, kGrew);
    add(tally, 2, 1, kFalls);
    add(tally, 1, 1);
    QCOMPARE(tally.verdict(true), SkipVerdict::Normal); // the scaler searches
    // a scale that was set by hand has not fallen there
    add(edited, 65536, 8, kFalls);
    Event set;
    set.kind = EventKind::Edit;
    set.tensor = kLiveScale;
    edited.add(set);
    add(edited, 8, 3, kFalls);
    add(edited, 1, 400);
    QCOMPARE(edited.verdict(true), SkipVerdict::Normal);
    // far above one, it falls again and again
    add(later, 0x1p24F, 30);
    for (int i = 24; i > 16; --i) {
        QCOMPARE(later.verdict(true), i == 24 ? SkipVerdict::None : SkipVerdict::Normal);
        add(later, std::ldexp(1.0F, i), 1, kFalls);
        add(later, std::ldexp(1.0F, i - 1), 30);
    }
    QCOMPARE(later.verdict(true), SkipVerdict::TooMany);
    later.fork(later.steps());
    QCOMPARE(later.verdict(true), SkipVerdict::None);
    add(later, 0x1p16F, 1, kFalls);
    QCOMPARE(later.verdict(true), SkipVerdict::Normal);
}

} // namespace tst_scale_held

QTEST_GUILESS_MAIN(tst_scale_held::TestScaleHeld)
#include "tst_scale_held.moc"
