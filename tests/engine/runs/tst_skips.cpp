// Whether skipped steps are normal: tested with hand-made histories, each with one cause, and with
// trainings of the listed experiments that are known to go well or wrong.
#include "engine/runs/skips.h"
#include "engine/settings/fields.h"
#include "engine/train/experiment.h"
#include "tests/support/cpu_run.h"

#include <QTest>

#include <cmath>

namespace tst_skips {

using namespace halfscope;

namespace {

/// A lane's steps as a scaler that halves and doubles leaves them.
class History {
public:
    /// Each update takes so many steps, of which all but the last are clean.
    explicit History(float scale, int stepsPerUpdate = 1)
        : m_tally(stepsPerUpdate), m_scale(scale), m_stepsPerUpdate(stepsPerUpdate) {}

    History& clean(int steps) {
        for (int i = 0; i < steps; ++i)
            add(0);
        return *this;
    }
    History& skip(int steps) {
        for (int i = 0; i < steps; ++i)
            add(kSkipped | kBackedOff);
        return *this;
    }
    History& skipAtFloor(int steps) {
        for (int i = 0; i < steps; ++i)
            add(kSkipped);
        return *this;
    }
    History& grow() { return add(kGrew), *this; }
    History& lose(int steps) {
        for (int i = 0; i < steps; ++i)
            add(kSkipped | kBackedOff | kLossNotFinite);
        return *this;
    }
    /// The steps before the first one were done elsewhere, as those before a checkpoint, and so
    /// many of them were skipped.
    History& from(int64_t step, int64_t skipped = 0) {
        return m_before = step - 1, m_skipped = skipped, *this;
    }
    const SkipTally& tally() const { return m_tally; }
    int64_t step() const { return m_before + m_tally.steps(); }
    History& fork() { return m_tally.fork(step()), *this; }
    History& scaled(float scale) { return m_scale = scale, *this; }
    /// An overflow of the last step that no loss scale would have prevented.
    History& tell(const char* tensor) {
        Event event;
        event.kind = EventKind::Overflow;
        event.step = step();
        event.tensor = tensor;
        event.text = Message::data("Step 1 skipped. No loss scale would have helped.");
        m_tally.add(event);
        return *this;
    }

    /// A step whose loss is not finite, before the last one of its update.
    History& loseEarly() { return addStep(kLossNotFinite), *this; }
    /// A step that is not the last one of its update.
    History& part() { return addStep(0), *this; }
    /// A step that is taken although a gradient is not finite.
    History& take() { return addStep(0, INFINITY), *this; }
    /// Steps that are taken although the loss is not finite.
    History& lostStep(int steps) {
        for (int i = 0; i < steps; ++i)
            addStep(kLossNotFinite, NAN);
        return *this;
    }

private:
    void add(uint32_t flags) {
        while ((m_tally.steps() + 1) % m_stepsPerUpdate != 0)
            addStep(flags & kLossNotFinite);
        m_tracker = (flags & (kSkipped | kGrew)) ? 0 : m_tracker + 1;
        addStep(flags);
        if (flags & kBackedOff) m_scale /= 2;
        if (flags & kGrew) m_scale *= 2;
    }
    void addStep(uint32_t flags, float norm = 1) {
        StepRecord record;
        record.step = m_before + m_tally.steps() + 1;
        record.flags = flags;
        record.scale = m_scale;
        record.growthTracker = m_tracker;
        record.gradientNorm = norm;
        m_skipped += (flags & kSkipped) ? 1 : 0;
        record.skippedSoFar = m_skipped;
        m_tally.add(record);
    }
    SkipTally m_tally;
    float m_scale;
    int m_stepsPerUpdate;
    int m_tracker = 0;
    int64_t m_before = 0, m_skipped = 0;
};

/// Returns what a lane of an experiment leaves.
SkipTally trained(const RunConfig& config, size_t lane) {
    Experiment experiment(config);
    SkipTally tally(config.gradients.accumulate);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (!experiment.finished() && experiment.stopReason().empty()) {
        records.clear();
        experiment.advance(records, events);
        tally.add(records[lane]);
    }
    return tally;
}

RunConfig onCpu(const char* preset) {
    RunConfig config = presetNamed(preset).config;
    config.device = "cpu";
    return config;
}

} // namespace

class TestSkips : public QObject {
    Q_OBJECT

private slots:
    void without() {
        const SkipTally tally = History(65536).clean(5).tally();
        QCOMPARE(tally.verdict(true), SkipVerdict::None);
        QCOMPARE(tally.verdict(false), SkipVerdict::None); // FP32 has no scale to judge
        QVERIFY(tally.sentence(true).empty());
        QVERIFY(SkipTally().sentence(true).empty());
    }
    void nothingLearned_data();
    void nothingLearned();

    void normal_data();
    void normal();
    void beforeTheRows();
    void beforeAFork();
    void tooMany_data();
    void tooMany();
    void costlyGrowths();
    void causesBySize();
    void adviceAboutALayer();
    void counts();
    void ofARun();
    void ofTrainings();
};

/// No step was skipped, and still the training is lost.
void TestSkips::nothingLearned_data() {
    QTest::addColumn<SkipTally>("tally");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("taken on an overflow")
        << History(65536).clean(3).take().lostStep(2).tally()
        << "step 4 was taken although its gradients were not finite, and the loss is not finite "
           "from step 5 on. A scaler that skips such steps, a smaller loss scale or a wider type "
           "may help.";
    QTest::newRow("the forward pass")
        << History(1).clean(3).lostStep(2).tally()
        << "the loss is not finite from step 4 on. No loss scale can fix that; a lower learning "
           "rate or clipping may help and, in a lane of 16 bits or fewer, a wider type.";
    QTest::newRow("again")
        << History(1).lostStep(2).clean(1).lostStep(3).tally()
        << "the loss is not finite from step 4 on, nor was it at 2 earlier steps. No loss scale "
           "can fix that; a lower learning rate or clipping may help and, in a lane of 16 bits or "
           "fewer, a wider type.";
    QTest::newRow("the data")
        << History(1).lostStep(2).tally()
        << "the loss is not finite from step 1 on, before any step changed the weights. No loss "
           "scale, learning rate or clipping can fix that. Look for inf or nan in the data, and "
           "for values that fp16 cannot hold (it ends at 65,504); smaller inputs may help and, in "
           "a lane of 16 bits or fewer, a wider type.";
    QTest::newRow("a sample")
        << History(1).clean(3).lostStep(1).tell("the input of sample 13").lostStep(1).tally()
        << "the input of sample 13 (step 4) holds inf or nan, and the loss is not finite from step "
           "4 on. No loss scale, learning rate or wider type can fix that: correct such values, or "
           "leave the samples out.";
    QTest::newRow("an epsilon of zero")
        << History(1).clean(1).lostStep(1).tell("the zero epsilon of Adam").lostStep(1).tally()
        << "Adam's epsilon is zero in fp16, so an update divided by zero, and the loss is not "
           "finite from step 2 on. Set Epsilon to 1e-4 and train from the start, or use AMP.";
    QTest::newRow("a step at a scale of 0")
        << History(0).clean(3).take().lostStep(1).tell("forward pass of layer 0").tally()
        << "the loss scale has fallen to 0, with which step 4 was taken, and the loss is not "
           "finite from step 5 on. A larger first scale, or a floor of the scaler, prevents that.";
    QTest::newRow("a step at a scale without a reciprocal")
        << History(0x1p-130f).clean(3).take().lostStep(2).tally()
        << "step 4 was taken at a loss scale of 2^-130. In float32, 1 divided by it is inf, so the "
           "gradients became inf or nan when they were unscaled, and the loss is not finite from "
           "step 5 on. A larger first scale, or a floor of the scaler, prevents that.";
    QTest::newRow("it came back") << History(1).clean(1).lostStep(2).clean(1).tally() << "";
    QTest::newRow("too few steps for an update")
        << History(1, 4).part().part().tally()
        << "the weights are as they were at first: an update takes 4 steps, and there were 2.";
    QTest::newRow("one update") << History(1, 4).clean(1).part().tally() << "";
}

void TestSkips::nothingLearned() {
    QFETCH(const SkipTally, tally);
    QFETCH(const QString, sentence);
    QCOMPARE(QString::fromStdString(tally.sentence(true).english()), sentence);
    QCOMPARE(tally.verdict(true), SkipVerdict::None);
}

void TestSkips::normal_data() {
    QTest::addColumn<SkipTally>("tally");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("the first step") << History(65536).skip(1).clean(299).tally()
                                    << "1 of 300 steps was skipped. That is normal: at the start, "
                                       "until the loss scale was low enough.";
    QTest::newRow("nothing else yet")
        << History(16777216).skip(3).tally()
        << "all 3 steps were skipped. That is normal: the loss scale is coming down.";
    QTest::newRow("one step alone")
        << History(65536).skip(1).tally()
        << "1 step was skipped. That is normal: the loss scale is coming down.";
    // a growth is tried and taken back; later gradients grow by themselves
    QTest::newRow("all causes")
        << History(1024).skip(1).clean(2).skip(1).clean(40).grow().skip(1).clean(30).skip(1).tally()
        << "4 of 77 steps were skipped. That is normal: 2 at the start, until the loss scale was "
           "low enough, 1 after a growth that tried too large a scale, 1 after the gradients had "
           "become larger.";
    // a scale that someone set below 1 has not fallen there
    QTest::newRow("a small first scale") << History(0.25f).clean(30).grow().skip(1).clean(1).tally()
                                         << "1 of 33 steps was skipped. That is normal: after a "
                                            "growth that tried too large a scale.";
    // 1.5 overflowed, 0.75 did not; 1 was not tried
    QTest::newRow("a scale beside 1") << History(1.5f).skip(1).clean(2).tally()
                                      << "1 of 3 steps was skipped. That is normal: at the start, "
                                         "until the loss scale was low enough.";
    History tenth(65536);
    tenth.clean(20);
    for (int i = 0; i < 4; ++i)
        tenth.skip(1).clean(4);
    QTest::newRow("one step in ten")
        << tenth.tally()
        << "4 of 40 steps were skipped. That is normal: after the gradients had become larger.";
    // the rows begin after a checkpoint
    QTest::newRow("steps before them, too")
        << History(2048).from(21, 13).clean(20).grow().skip(1).clean(10).tally()
        << "14 of 52 steps were skipped. That is normal: 13 before step 21, 1 after a growth that "
           "tried too large a scale.";
    // updates of 16 steps are counted, not steps
    QTest::newRow("one update in ten")
        << History(65536, 16).clean(24).skip(1).clean(15).tally()
        << "1 of 40 updates was skipped. That is normal: after the gradients had become larger.";
    QTest::newRow("one update")
        << History(65536, 3).skip(1).tally()
        << "1 update was skipped. That is normal: the loss scale is coming down.";
    QTest::newRow("every update yet")
        << History(65536, 3).skip(5).tally()
        << "all 5 updates were skipped. That is normal: the loss scale is coming down.";
    QTest::newRow("updates at the start")
        << History(65536, 4).skip(2).clean(6).tally()
        << "2 of 8 updates were skipped. That is normal: at the start, until the loss scale was "
           "low enough.";
    QTest::newRow("a floor that was touched")
        << History(128).skipAtFloor(6).clean(1).skipAtFloor(10).tally()
        << "16 of 17 steps were skipped. That is normal: at the start, until the loss scale was "
           "low enough.";
}

void TestSkips::normal() {
    QFETCH(const SkipTally, tally);
    QFETCH(const QString, sentence);
    QCOMPARE(QString::fromStdString(tally.sentence(true).english()), sentence);
    QCOMPARE(tally.verdict(true), SkipVerdict::Normal);
}

/// Of steps before the rows no more is known than how many were skipped.
void TestSkips::beforeTheRows() {
    const SkipTally tally = History(2048).from(21, 13).clean(20).tally();
    QCOMPARE(tally.sentence(true).english(),
             std::string("13 of 40 steps were skipped, before step 21."));
    QCOMPARE(tally.verdict(true), SkipVerdict::None);
}

/// A fork is judged by what it skips itself.
void TestSkips::beforeAFork() {
    History parent = History(1024).clean(20);
    for (int i = 0; i < 10; ++i)
        parent.skip(1).clean(1);
    QCOMPARE(parent.tally().verdict(true), SkipVerdict::TooMany);
    QVERIFY(!parent.tally().areOfParent());
    History fork = parent.fork();
    QCOMPARE(fork.tally().verdict(true), SkipVerdict::None);
    QCOMPARE(fork.tally().sentence(true).english(),
             std::string("10 of 40 steps were skipped, before the fork."));
    fork.clean(30);
    QCOMPARE(fork.tally().skipped(), int64_t{10});
    QVERIFY(fork.tally().areOfParent());
    QCOMPARE(fork.tally().verdict(true), SkipVerdict::None);
    fork.grow().skip(1).clean(1);
    QVERIFY(!fork.tally().areOfParent());
    QCOMPARE(fork.tally().verdict(true), SkipVerdict::Normal);
    QCOMPARE(fork.tally().sentence(true).english(),
             std::string("11 of 73 steps were skipped. That is normal: 10 before the fork, 1 after "
                         "a growth that tried too large a scale."));
    for (int i = 0; i < 10; ++i)
        fork.skip(1).clean(1);
    QCOMPARE(fork.tally().verdict(true), SkipVerdict::TooMany);
    QCOMPARE(History(1).clean(1).lostStep(2).fork().tally().lossLostAt(), int64_t{2});
    // a fork with a larger scale looks for its place anew
    History raised = History(1024).clean(200).fork().scaled(1 << 24).skip(8).clean(20);
    QCOMPARE(raised.tally().verdict(true), SkipVerdict::Normal);
}

void TestSkips::tooMany_data() {
    QTest::addColumn<SkipTally>("tally");
    QTest::addColumn<bool>("dynamic");
    QTest::addColumn<QString>("part");
    QTest::newRow("the loss is lost") << History(65536).clean(7).lose(5).tally() << true
                                      << "the loss is not finite from step 8 on";
    QTest::newRow("a damaged sample, epoch by epoch")
        << History(65536).clean(7).lose(1).clean(9).lose(1).clean(3).tally() << true
        << "no loss scale would have helped in 2 of them: the loss itself was not finite. Look";
    QTest::newRow("a loss that came back")
        << History(65536).lose(2).clean(10).tally() << true
        << "2 of 12 steps were skipped. That is not normal: no loss scale would have helped in 2 "
           "of them: the loss itself was not finite. Look for inf, nan and large values in the "
           "data.";
    QTest::newRow("a damaged sample, once")
        << History(65536).clean(3).lose(1).clean(1).tally() << true
        << "1 of 5 steps was skipped. That is not normal: no loss scale would have helped in 1 of "
           "them: the loss itself was not finite.";
    QTest::newRow("a sample with nan")
        << History(65536).clean(3).lose(1).tell("the target of sample 7").clean(1).tally() << true
        << "in 1 of them: the target of sample 7 (step 4) holds inf or nan. Correct such values";
    QTest::newRow("a layer, and the loss is finite again")
        << History(65536).clean(3).lose(1).tell("forward pass of Linear 2").clean(1).tally() << true
        << "in 1 of them: the forward pass of Linear 2 reached inf or nan in step 4, before any "
           "other. If that layer computes in float16, run it and those that take its output in "
           "float32 or bfloat16. A lower learning rate, clipping, or smaller";
    QTest::newRow("the output layer, and the loss is finite again")
        << History(65536).clean(3).lose(1).tell("forward pass of output layer").clean(1).tally()
        << true
        << "in 1 of them: the forward pass of the output layer reached inf or nan in step 4, ";
    QTest::newRow("a gradient that is nan at any scale")
        << History(65536).clean(3).skip(1).tell("gradient of 0.weight (layer 0)").tally() << true
        << "in 1 of them: the gradients are not finite even at the smallest.";
    // the scale fell to 0 after the layer had overflowed, and a step at 0 then lost the weights
    QTest::newRow("a layer, then the scale")
        << History(0)
               .clean(3)
               .lose(9)
               .tell("forward pass of output layer")
               .take()
               .lose(2)
               .tell("forward pass of Linear 0")
               .tally()
        << true
        << "the forward pass of the output layer reached inf or nan in step 12, before any other, "
           "and the loss is not finite from step 14 on, nor was it at 9 earlier steps. No loss "
           "scale can fix that. If that layer computes in float16, run it and those that";
    QTest::newRow("down to 1/8") << History(4).skip(6).tally() << true << "fell below 1";
    QTest::newRow("past 1") << History(1.5f).skip(2).clean(1).tally() << true << "fell below 1";
    // weights that no step has changed: the learning rate and clipping have done nothing yet
    QTest::newRow("down to 1/8 at once, then trained")
        << History(4).skip(6).clean(9).tally() << true
        << "fell below 1 before any step changed the weights, so the gradients overflow even "
           "unscaled. No learning rate or clipping can fix that. Smaller targets";
    QTest::newRow("down to 1/8 later")
        << History(4).clean(1).skip(6).tally() << true
        << "fell below 1, so the gradients overflow even unscaled. A lower learning rate";
    QTest::newRow("below 1 again, from above")
        << History(1).skip(1).clean(2).grow().clean(2).skip(1).clean(1).tally() << true
        << "fell below 1, so the gradients";
    QTest::newRow("the loss is lost at once")
        << History(65536).lose(5).tally() << true
        << "the loss is not finite from step 1 on, before any step changed the weights. No loss "
           "scale, learning rate or clipping can fix that. Look for inf or nan";
    QTest::newRow("a fork's loss is lost at once")
        << History(65536).from(50).lose(5).tally() << true
        << "from step 50 on. No loss scale can fix that; a lower learning rate";
    QTest::newRow("the loss is lost later")
        << History(65536).skip(1).clean(1).lose(5).tally() << true
        << "from step 3 on. No loss scale can fix that; a lower learning rate";
    QTest::newRow("static") << History(65536).skipAtFloor(3).clean(1).tally() << false
                            << "the loss scale is held at 65536 (2^16)";
    QTest::newRow("a floor")
        << History(128).skipAtFloor(11).tally() << true
        << "the loss scale does not fall below 128 (2^7), where the gradients overflow before any "
           "step changed the weights. A lower floor or less hysteresis of the scaler, or smaller";
    QTest::newRow("a floor later")
        << History(128).clean(1).skipAtFloor(11).tally() << true
        << "below 128 (2^7), where the gradients overflow. A lower floor or less hysteresis of the "
           "scaler, a lower learning rate";
    QTest::newRow("a scale of inf") << History(INFINITY).skip(2).tally() << true
                                    << "or scaler.clamp set to keep, prevents that";
    QTest::newRow("a scale of zero")
        << History(0x1p-149f).skip(2).tally() << true << "has fallen to 0 and cannot come back";
    QTest::newRow("a long start") << History(0x1p100f).skip(33).clean(1).tally() << true
                                  << "33 of them were at the start";
    QTest::newRow("the scale of several batches is held")
        << History(128, 4).skipAtFloor(11).tally() << true
        << "the loss scale does not fall below 128 (2^7)";
    QTest::newRow("several batches, down to 1/8 at once")
        << History(4, 4).skip(6).tally() << true
        << "all 6 updates were skipped. That is not normal: the loss scale fell below 1 before any";
    QTest::newRow("a damaged sample in an update of several batches")
        << History(65536, 4)
               .clean(2)
               .loseEarly()
               .skip(1)
               .clean(2)
               .loseEarly()
               .skip(1)
               .clean(1)
               .tally()
        << true
        << "2 of 7 updates were skipped. That is not normal: no loss scale would have "
           "helped in 2 of them: the loss itself";
    History rare(65536, 16);
    for (int i = 0; i < 10; ++i)
        rare.clean(7).grow().skip(1);
    QTest::newRow("a growth interval that is short for several batches")
        << rare.tally() << true << "10 of 90 updates were skipped. That is not normal: 10 of them";
    History trials(65536);
    for (int i = 0; i < 10; ++i)
        trials.clean(7).grow().skip(1);
    QTest::newRow("a short growth interval")
        << trials.tally() << true << "10 of them followed a growth";
    History often(16777216);
    for (int i = 0; i < 5; ++i)
        often.clean(15).grow().skip(1).clean(1).skip(3);
    QTest::newRow("without a growth before")
        << often.tally() << true << "20 of 105 steps were skipped. That is not normal: 15 of them";
}

void TestSkips::tooMany() {
    QFETCH(const SkipTally, tally);
    QFETCH(const bool, dynamic);
    QFETCH(const QString, part);
    const QString sentence = QString::fromStdString(tally.sentence(dynamic).english());
    QVERIFY2(sentence.contains(part), qPrintable(sentence));
    QVERIFY2(sentence.contains(QStringLiteral("That is not normal: ")), qPrintable(sentence));
    QCOMPARE(tally.verdict(dynamic), SkipVerdict::TooMany);
}

/// A growth may cost several skips until the scale is low enough again: none of them tells that the
/// gradients vary.
void TestSkips::costlyGrowths() {
    const std::string reason = " of them followed a growth, until the scale was low enough again. "
                               "A smaller growth factor or a longer growth interval "
                               "makes this rarer.";
    History large(2048), tolerant(2048);
    for (int i = 0; i < 10; ++i) {
        large.clean(10).grow().scaled(2048 * 16).skip(4);
        // the first overflow leaves the scale as it is, and a batch between them fits
        tolerant.clean(7).grow().skipAtFloor(1).clean(2).skip(1);
    }
    QCOMPARE(large.tally().afterGrowth(), int64_t{40});
    QCOMPARE(large.tally().verdict(true), SkipVerdict::TooMany);
    QCOMPARE(large.tally().sentence(true).english(),
             "40 of 150 steps were skipped. That is not normal: 40" + reason);
    QCOMPARE(tolerant.tally().sentence(true).english(),
             "20 of 120 steps were skipped. That is not normal: 20" + reason);
    // what overflows at the scale before the growth, or long after it, does so by itself
    const SkipTally low = History(2048).grow().scaled(2048 * 16).skip(6).clean(1).tally();
    QCOMPARE(low.afterGrowth(), int64_t{4});
    QCOMPARE(low.others(), int64_t{2});
    const SkipTally late = History(2048).grow().scaled(2048 * 16).skip(1).clean(20).skip(1).tally();
    QCOMPARE(late.afterGrowth(), int64_t{1});
    QCOMPARE(late.others(), int64_t{1});
}

/// Of several causes, each of which is too many, the largest two are told.
void TestSkips::causesBySize() {
    History start(0x1p60f), trials(0x1p60f);
    start.skip(36);
    trials.skip(36);
    for (int i = 0; i < 50; ++i) {
        if (i < 10) start.clean(7).grow().skip(1);
        trials.clean(7).grow().skip(1);
    }
    QCOMPARE(start.tally().sentence(true).english(),
             "46 of 126 steps were skipped. That is not normal: 36 of them were at the start, "
             "while the loss scale was coming down. A smaller first scale or backoff factor makes "
             "this shorter. Another 10 followed a growth that tried too large a scale. With a "
             "longer growth interval this happens less often.");
    const std::string grown = trials.tally().sentence(true).english();
    QVERIFY2(grown.find("not normal: 50 of them followed a growth that") != std::string::npos &&
                 grown.find("less often. Another 36 were at the start, ") != std::string::npos,
             grown.c_str());
}

/// Its output is too large for the layers behind it, too. Where it computes in a wider type, and
/// where no step has changed the weights, other advice is wrong.
void TestSkips::adviceAboutALayer() {
    const SkipTally once =
        History(65536).clean(3).lose(1).tell("forward pass of Linear 2").clean(1).tally();
    const SkipTally always = History(65536).lose(9).tell("forward pass of Linear 2").tally();
    LaneConfig lane;
    const auto ends = [&lane](const SkipTally& tally, const char* words,
                              Precision precision = Precision::Fp16) {
        lane.precision = precision;
        const std::string text = tally.sentence(true, &lane).english();
        if (!text.ends_with(words)) qWarning("%s", text.c_str());
        return text.ends_with(words);
    };
    QVERIFY(ends(once, "before any other. Run that layer and those that take its output in "
                       "float32 or bfloat16. A lower learning rate, clipping, or smaller weights "
                       "or inputs may help."));
    QVERIFY(ends(always, "No loss scale can fix that. Run that layer and those that take its "
                         "output in float32 or bfloat16. Smaller weights or inputs may help."));
    History first = History(65536).lose(1).tell("forward pass of Linear 2").clean(3).lose(1);
    QVERIFY(ends(first.tally(), "in float32 or bfloat16. Smaller weights or inputs may help."));
    lane.layers = "Linear 2=bfloat16";
    QVERIFY(ends(always, "No loss scale can fix that. Smaller weights or inputs may help."));
    lane.layers = "Linear 4=bfloat16";
    QVERIFY(ends(always, "in float32 or bfloat16. Smaller weights or inputs may help."));
    lane.layers.clear();
    for (const Precision wide : {Precision::Fp32, Precision::AmpBf16})
        QVERIFY(ends(always, "fix that. Smaller weights or inputs may help.", wide));
    for (const Precision each : {Precision::AmpFp16, Precision::User}) // not all of its functions
        QVERIFY(ends(always,
                     "If that layer computes in float16, run it and those that take its "
                     "output in float32 or bfloat16. Smaller weights or inputs may help.",
                     each));
    QCOMPARE(always.badLayer().english(), std::string("Linear 2"));
    QVERIFY(History(65536).lose(9).tally().badLayer().empty());
}

/// Tests where the start ends, and what a growth excuses: the scale that it tried.
void TestSkips::counts() {
    const SkipTally early = History(65536).skip(1).clean(19).skip(1).tally();
    QCOMPARE(early.atStart(), int64_t{2});
    const SkipTally late = History(65536).skip(1).clean(20).skip(1).tally();
    QCOMPARE(late.atStart(), int64_t{1});
    QCOMPARE(late.others(), int64_t{1});
    const SkipTally grown = History(65536).clean(3).grow().clean(5).skip(2).tally();
    QCOMPARE(grown.atStart(), int64_t{0});
    QCOMPARE(grown.afterGrowth(), int64_t{1});
    QCOMPARE(grown.others(), int64_t{1});
    QCOMPARE(grown.skipped(), int64_t{2});
    QCOMPARE(grown.steps(), int64_t{11});
}

/// Three batches make an update: of six steps, both that could be skipped were, also in a fork.
void TestSkips::ofARun() {
    RunConfig config = defaultConfig();
    config.gradients.accumulate = 3;
    Run run(cpuRunInfo(config), lanesOf(config));
    RunBatch batch, forked;
    for (int64_t step = 1; step <= 6; ++step)
        batch.rows.push_back(StepRow(step, 1)
                                 .set(metric::Loss, 1.0)
                                 .setFlags(step % 3 == 0 ? kSkipped | kBackedOff : 0));
    run.append(std::move(batch));
    LaneInfo fork{"fork", "fork", 1, 3}; // after half of them: they are counted again
    forked.lanes.push_back(fork);
    run.append(std::move(forked));
    const auto sentence = [&](int lane) {
        return run.now().totals(lane).skips().sentence(true).english();
    };
    QVERIFY2(sentence(1).starts_with("all 2 updates were skipped."), sentence(1).c_str());
    QCOMPARE(sentence(2), "1 update was skipped, before the fork.");
    QVERIFY(run.now().totals(2).skips().areOfParent());
    QCOMPARE(run.now().totals(2).skips().verdict(true), SkipVerdict::None);
}

void TestSkips::ofTrainings() {
    const SkipTally overflow = trained(onCpu("overflow"), 1);
    QCOMPARE(overflow.atStart(), int64_t{13}); // from 2^24 down to 2^11
    QVERIFY(overflow.afterGrowth() > 5);
    QCOMPARE(overflow.verdict(true), SkipVerdict::Normal);
    QCOMPARE(trained(onCpu("overflow"), 0).verdict(false), SkipVerdict::None);
    RunConfig unclipped = onCpu("recipe-clip");
    unclipped.gradients.clip = ClipKind::None;
    QCOMPARE(trained(unclipped, 1).verdict(true), SkipVerdict::TooMany);
    RunConfig stops = onCpu("overflow"); // DeepSpeed's rule ends it after few skips
    stops.lanes[1].scaler.rules.floor = std::ldexp(1.0, 22);
    stops.lanes[1].scaler.rules.atFloor = FloorAction::Stop;
    const SkipTally stopped = trained(stops, 1);
    QCOMPARE(stopped.steps(), int64_t{3});
    const std::string why = stopped.sentence(true).english();
    QVERIFY2(why.find("does not fall below 4194304 (2^22)") != std::string::npos, why.c_str());
    QCOMPARE(stopped.verdict(true), SkipVerdict::TooMany);
    for (const Preset& preset : presets()) {
        if (!preset.name.starts_with("recipe-")) continue;
        const SkipTally tally = trained(onCpu(preset.name.c_str()), 1);
        QVERIFY2(tally.skipped() > 0, preset.name.c_str());
        QVERIFY2(tally.verdict(true) == SkipVerdict::Normal,
                 (preset.name + ": " + tally.sentence(true).english()).c_str());
    }
}

} // namespace tst_skips

QTEST_GUILESS_MAIN(tst_skips::TestSkips)
#include "tst_skips.moc"
