// When all gradients of a lane round to zero: what is told, when, and what is not underflow.
#include "engine/core/error.h"
#include "engine/runs/lane_totals.h"
#include "engine/train/trainer.h"
#include "engine/train/underflow.h"
#include "tests/support/lane.h"
#include "tests/support/wrapped_executor.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace tst_underflow {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr float kTooSmall = 0x1p-30F;

RunConfig configAt(float scale) {
    RunConfig config = laneConfig(Precision::AmpFp16);
    config.lanes[0].scaler.initScale = static_cast<double>(scale);
    config.lanes[0].scaler.rules.mode = ScalerMode::Static;
    return config;
}

/// Returns a batch whose only sample is x, with a target of 0.
FixedDataset::Batch sampleOf(float x) { return {{x}, {0.0f}}; }

/// A lane of one Linear(1, 1) without a bias, y = x, which does not learn: its gradient is 2 x^2 at
/// every step.
struct Square : Lane {
    Square(float scale, std::vector<FixedDataset::Batch> batches, int64_t accumulate = 1)
        : Lane(config(scale, accumulate), FixedDataset{{1, 1, 1}, std::move(batches)}) {
        trainer.setWeights({{"0.weight", {1.0f}}});
    }
    static RunConfig config(float scale, int64_t accumulate) {
        RunConfig config = configAt(scale);
        config.model.layers = "nn.Sequential(nn.Linear(1, 1, bias=False))";
        config.optimizer.lr = 0;
        config.gradients.accumulate = accumulate;
        return config;
    }
};

std::vector<int64_t> stepsOf(const std::vector<Event>& events) {
    std::vector<int64_t> steps;
    for (const Event& event : events)
        if (event.kind == EventKind::Underflow) steps.push_back(event.step);
    return steps;
}

/// Returns the sentence of the only event, which is about underflow at `step`, without that step.
std::string sentenceAt(int64_t step, const std::vector<Event>& events) {
    const std::string lead = "Step " + std::to_string(step) + ": all gradients rounded to zero";
    const std::string text = events.size() == 1 ? events.front().text.english() : "";
    return text.starts_with(lead) ? text.substr(lead.size()) : "";
}

/// A network y = 2^-20 x on x = 2^10, and a critic s = y, both of which never learn. The network's
/// gradient is about 2^9, the critic's about 2^-10.
struct Judged : Lane {
    Judged(Adversary adversary, int64_t criticSteps, float scale)
        : Lane(config(adversary, criticSteps, scale), {{1, 1, 1}, {{{0x1p10F}, {-0x1p-10F}}}}) {
        Weights weights = trainer.weights();
        weights["0.weight"] = {0x1p-20F};
        weights["critic.0.weight"] = {1.0f};
        trainer.setWeights(weights);
    }
    static RunConfig config(Adversary adversary, int64_t criticSteps, float scale) {
        RunConfig config = configAt(scale);
        config.model.layers = "nn.Sequential(nn.Linear(1, 1, bias=False))";
        config.model.critic = "nn.Sequential(nn.Linear(1, 1, bias=False))";
        config.model.adversary = adversary;
        config.model.criticSteps = criticSteps;
        config.optimizer = {.kind = OptimizerKind::Sgd, .lr = 0};
        config.second = {OptimizerKind::Sgd, 0};
        return config;
    }
};

/// Samples that no loss scale makes fit, and how their lane scales its loss.
struct Faults {
    float value = NAN;
    int count = 45;
    float scale = 0x1p16F;
    ScalerMode mode = ScalerMode::Dynamic;
};

/// The lane of a Square whose first samples are such ones; the next one is 1.
struct Faulty : Lane {
    explicit Faulty(const Faults& faults)
        : Lane(config(faults), FixedDataset{{1, 1, 1}, batches(faults)}), count(faults.count) {
        trainer.setWeights({{"0.weight", {1.0f}}});
    }
    static RunConfig config(const Faults& faults) {
        RunConfig config = Square::config(faults.scale, 1);
        config.lanes[0].scaler.rules.mode = faults.mode;
        return config;
    }
    static std::vector<FixedDataset::Batch> batches(const Faults& faults) {
        std::vector<FixedDataset::Batch> batches(static_cast<size_t>(faults.count),
                                                 sampleOf(faults.value));
        batches.push_back(sampleOf(1));
        return batches;
    }
    void skip() {
        for (int64_t number = 1; number <= count; ++number)
            step(number);
    }
    /// Takes the step after them, and returns the sentence about its underflow.
    std::string lostAfterThem() {
        step(count + 1);
        const auto found = std::ranges::find(events, EventKind::Underflow, &Event::kind);
        return found == events.end() ? std::string() : found->text.english();
    }
    int64_t count;
};

enum class GoesOn : uint8_t { No, Yes }; ///< from a checkpoint
enum class ByHand : uint8_t { No, Yes }; ///< whether the scale is set

constexpr const char* kExplained =
    "Step 46: all gradients rounded to zero at loss scale 2^-29 (underflow), so nothing is "
    "learned. The scale has come down from 65536 (2^16) because of steps that would overflow at "
    "any loss scale: see their events first.";

using Steps = std::vector<int64_t>;

/// An executor that gives up one of its runs.
class Stopping final : public WrappedExecutor {
public:
    explicit Stopping(int run) : m_left(run) {}
    RunResult run(RunMode mode, const Visitor& visitor) override {
        return m_left-- == 0 ? RunResult::Stopped : WrappedExecutor::run(mode, visitor);
    }

private:
    int m_left;
};

} // namespace

class TestUnderflow : public QObject {
    Q_OBJECT

private slots:
    void suspicion();
    void isToldOnce();
    void countsUpdates();
    void theAdviceHolds();
    void aLaneWithoutALossScale_data();
    void aLaneWithoutALossScale();
    void trueZerosAreNotUnderflow();
    void comesAndGoes();
    void aNewScaleIsToldAgain();
    void betweenUpdates();
    void ofManyBatches();
    void ofACritic_data();
    void ofACritic();
    void aCriticsTrialLeavesNoTrace();
    void theTrialLeavesNoTrace();
    void aStoppedTrial();
    void goesOnElsewhere();
    void aScaleThatAFaultBroughtDown();
    void aForkKnowsTheFault();
    void whichFaultsCount();
    void aScaleSetByHandIsNoFaults();
    void aForkTellsOfItsOwn();
};

/// Gradients that vanish again within 100 updates, of any number of batches, are told once.
void TestUnderflow::countsUpdates() {
    UnderflowWatch watch;
    std::vector<Event> events;
    int trials = 0;
    const auto look = [&](int64_t step, int64_t batches) {
        StepRecord record;
        record.step = step;
        watch.look(
            record, {}, batches, [&trials] { return std::optional(float(++trials)); }, events);
    };
    for (const int64_t step : {1, 201, 401})
        look(step, 2);
    QCOMPARE(trials, 1);
    look(602, 2);
    QCOMPARE(trials, 2);
    look(703, 1);
    QCOMPARE(trials, 3);
}

void TestUnderflow::suspicion() {
    StepRecord record;
    record.loss = 1;
    QVERIFY(gradientsVanished(record));
    for (const uint32_t flag : {kSkipped, kSteppedOnOverflow, kLossNotFinite}) {
        record.flags = flag;
        QVERIFY(!gradientsVanished(record));
    }
    record.flags = kGrew;
    QVERIFY(gradientsVanished(record));
    record.gradientNorm = std::numeric_limits<float>::denorm_min();
    QVERIFY(!gradientsVanished(record));
    record.gradientNorm = record.loss = 0;
    QVERIFY(!gradientsVanished(record));
}

void TestUnderflow::isToldOnce() {
    Lane lane(configAt(kTooSmall));
    for (int64_t step = 1; step <= 150; ++step) {
        QCOMPARE(lane.step(step).gradientNorm, 0.0f);
        QCOMPARE(lane.trainer.scaler().scale, kTooSmall);
    }
    QCOMPARE(lane.events.size(), size_t{1});
    const Event& event = lane.events.front();
    QCOMPARE(event.kind, EventKind::Underflow);
    QCOMPARE(event.step, int64_t{1});
    QCOMPARE(event.scaleBefore, kTooSmall);
    QCOMPARE(event.scaleAfter, kTooSmall);
    QCOMPARE(event.text.english(),
             std::string("Step 1: all gradients rounded to zero at loss scale "
                         "2^-30 (underflow), so nothing is learned. Raise the loss scale: at 2048 "
                         "(2^11) they are not zero, and the step fits."));
}

/// The scale that the sentence names is the largest that fits, as for a step that overflows.
void TestUnderflow::theAdviceHolds() {
    Lane good(configAt(2048)), large(configAt(4096));
    const StepRecord record = good.step(1);
    QVERIFY(record.flags == 0 && record.gradientNorm > 0);
    QVERIFY(large.step(1).flags & kSkipped);
    // where all scales fit, it ends at 2^24; a gradient that is lost even there is no advice
    Square small(kTooSmall, {sampleOf(0x1p-13F)});
    QCOMPARE(small.step(1).gradientNorm, 0.0f);
    QVERIFY2(small.events.at(0).text.english().find("at 16777216 (2^24)") != std::string::npos,
             small.events.at(0).text.english().c_str());
    Square smaller(kTooSmall, {sampleOf(0x1p-26F)});
    smaller.step(1);
    QCOMPARE(stepsOf(smaller.events), Steps{});
}

void TestUnderflow::aLaneWithoutALossScale_data() {
    QTest::addColumn<Precision>("precision");
    QTest::addColumn<int>("batches");
    QTest::addColumn<bool>("told");
    QTest::newRow("amp-fp16 without its scaler") << Precision::AmpFp16 << 1 << true;
    QTest::newRow("of two batches") << Precision::AmpFp16 << 2 << true;
    QTest::newRow("fp16, which has none") << Precision::Fp16 << 1 << true;
    QTest::newRow("apex-o3") << Precision::ApexO3 << 1 << true;
    QTest::newRow("amp-bf16") << Precision::AmpBf16 << 1 << false;
    QTest::newRow("fp32") << Precision::Fp32 << 1 << false;
}

/// The step is tried at loss scales that the lane does not have, and nothing else changes.
void TestUnderflow::aLaneWithoutALossScale() {
    QFETCH(Precision, precision);
    QFETCH(int, batches);
    QFETCH(bool, told);
    RunConfig config = Square::config(1, batches);
    config.lanes[0].precision = precision;
    config.lanes[0].scaler.rules.mode = ScalerMode::Off;
    config.optimizer.kind = OptimizerKind::Sgd; // Adam divides by zero in float16
    // the gradient is about 2^-26, of two batches half of it each; the loss 2^-22
    const FixedDataset data{{1, 1, 1}, {{{0x1p-16F}, {0x1p-11F}}}};
    Lane lane(config, data), plain(config, data);
    LaneState start = plain.trainer.state();
    start.vanished = 1;
    plain.trainer.restore(start);
    for (Lane* each : {&lane, &plain})
        each->trainer.setWeights({{"0.weight", {1.0f}}});
    for (int64_t step = 1; step <= 150; ++step) {
        const StepRecord a = lane.step(step), b = plain.step(step);
        QVERIFY(a.loss == b.loss && a.loss > 0 && a.gradientNorm == b.gradientNorm);
        QCOMPARE(a.gradientNorm == 0, told);
        QVERIFY(lane.trainer.prediction() == plain.trainer.prediction());
        QVERIFY(lane.trainer.state().states == plain.trainer.state().states);
    }
    QCOMPARE(stepsOf(plain.events), Steps{});
    QCOMPARE(stepsOf(lane.events), told ? Steps{batches} : Steps{});
    if (!told) return;
    const std::string text = lane.events.front().text.english();
    QVERIFY2(text.find("this lane does not scale its loss. At a loss scale of ") !=
                     std::string::npos &&
                 text.find(" they are not zero, and the step fits.") != std::string::npos,
             text.c_str());
    QCOMPARE(lane.events.front().scaleAfter, 1.0f);
}

/// Behind dead units gradients are zero at every scale, and in FP32, too.
void TestUnderflow::trueZerosAreNotUnderflow() {
    using P = Precision;
    for (const auto& [precision, mode] :
         {std::pair(P::AmpFp16, ScalerMode::Dynamic), std::pair(P::Fp32, ScalerMode::Off),
          std::pair(P::AmpBf16, ScalerMode::Off), std::pair(P::AmpFp16, ScalerMode::Off),
          std::pair(P::Fp16, ScalerMode::Off)}) {
        RunConfig config = laneConfig(precision);
        config.lanes[0].scaler.initScale = 1024;
        config.lanes[0].scaler.rules.mode = mode;
        config.optimizer.kind = OptimizerKind::Sgd;
        config.model.layers = "nn.Sequential(nn.Linear(1, 4), nn.ReLU(), "
                              "nn.Linear(4, 1, bias=False))";
        Lane lane(config, FixedDataset{{1, 1, 1}, {{{1.0f}, {3.0f}}}});
        Weights weights = lane.trainer.weights();
        std::fill(weights["0.bias"].begin(), weights["0.bias"].end(), -100.0f);
        lane.trainer.setWeights(weights);
        for (int64_t step = 1; step <= 3; ++step) {
            const StepRecord record = lane.step(step);
            QVERIFY(gradientsVanished(record));
            QCOMPARE(record.loss, 9.0f);
        }
        QVERIFY(lane.events.empty());
    }
}

/// Batches with and without gradients do not fill the list of events.
void TestUnderflow::comesAndGoes() {
    const auto lost = sampleOf(0x1p-10F), kept = sampleOf(1);
    Square turns(0x1p-10F, {lost, kept});
    for (int64_t step = 1; step <= 150; ++step)
        QCOMPARE(turns.step(step).gradientNorm == 0, step % 2 == 1);
    QCOMPARE(stepsOf(turns.events), Steps{1});
    std::vector<FixedDataset::Batch> batches(102, kept);
    batches.front() = lost;
    Square apart(0x1p-10F, batches);
    for (int64_t step = 1; step <= 210; ++step)
        apart.step(step);
    QCOMPARE(stepsOf(apart.events), (Steps{1, 103, 205}));
}

void TestUnderflow::aNewScaleIsToldAgain() {
    Lane lane(configAt(kTooSmall));
    auto train = [&, step = int64_t{0}](int64_t steps) mutable {
        for (const int64_t end = step + steps; step < end;)
            lane.step(++step);
    };
    train(3);
    lane.trainer.setScale(1024);
    train(3);
    QCOMPARE(stepsOf(lane.events), Steps{1});
    lane.trainer.setScale(kTooSmall);
    train(3);
    QCOMPARE(stepsOf(lane.events), (Steps{1, 7}));
    ScalerConfig other = configAt(kTooSmall).lanes[0].scaler;
    other.rules.growthInterval = 7; // nothing new about the gradients
    lane.trainer.setScaler(other);
    train(3);
    QCOMPARE(stepsOf(lane.events), (Steps{1, 7}));
}

/// The gradients of an update are complete at its last batch.
void TestUnderflow::betweenUpdates() {
    const auto lost = sampleOf(0x1p-10F), kept = sampleOf(1);
    Square mixed(0x1p-10F, {lost, kept}, 2);
    Square all(0x1p-10F, {lost}, 2);
    for (int64_t step = 1; step <= 8; ++step) {
        mixed.step(step);
        all.step(step);
    }
    QCOMPARE(stepsOf(mixed.events), Steps{});
    QCOMPARE(stepsOf(all.events), Steps{2});
}

/// A sum of many batches is told of as one batch is.
void TestUnderflow::ofManyBatches() {
    Square one(kTooSmall, {sampleOf(1)}), many(kTooSmall, {sampleOf(1)}, 32);
    one.step(1);
    for (int64_t step = 1; step <= 64; ++step)
        many.step(step);
    const std::string sentence = sentenceAt(1, one.events);
    QVERIFY2(sentence.find("at 16384 (2^14) they are not zero") != std::string::npos,
             sentence.c_str());
    // the sum is kept in float32: what must fit in float16 is a batch's 32nd part of the gradient
    std::string sum = sentence;
    sum.replace(sum.find("16384 (2^14)"), 12, "524288 (2^19)");
    QCOMPARE(sentenceAt(32, many.events), sum);
}

void TestUnderflow::ofACritic_data() {
    QTest::addColumn<Adversary>("adversary");
    QTest::newRow("gan") << Adversary::Gan;
    QTest::newRow("wgan-gp") << Adversary::WganGp;
}

/// While only the critic steps, only its gradients count: the advice fits the critic, although the
/// network would overflow. In its turn the network has gradients that are not lost.
void TestUnderflow::ofACritic() {
    QFETCH(Adversary, adversary);
    constexpr float kLost = 0x1p-18F;
    Judged together(adversary, 1, kLost), turns(adversary, 2, kLost);
    for (int64_t step = 1; step <= 6; ++step) {
        QVERIFY(together.step(step).gradientNorm > 0);
        QCOMPARE(turns.step(step).gradientNorm == 0, step % 2 != 0);
    }
    QVERIFY(together.events.empty());
    const std::string sentence = sentenceAt(1, turns.events);
    const size_t at = sentence.find("at ", sentence.find("Raise"));
    QVERIFY2(at != std::string::npos, sentence.c_str());
    const float advice = std::stof(sentence.substr(at + 3));
    Judged good(adversary, 2, advice), large(adversary, 2, 2 * advice);
    const StepRecord record = good.step(1);
    QVERIFY(record.flags == 0 && record.gradientNorm > 0);
    QVERIFY(large.step(1).flags & kSkipped);
    QVERIFY(Judged(adversary, 1, advice).step(1).flags & kSkipped);
    // a skip of the critic alone, too, names the scale that fits it
    const std::string skip = large.events.front().text.english();
    QVERIFY2(skip.ends_with("The step would have fitted at " + scaleText(advice).english() +
                            " or below."),
             skip.c_str());
    // where all gradients are lost, every number of steps has the event
    Judged one(adversary, 1, 0x1p-60F), three(adversary, 3, 0x1p-60F);
    for (int64_t step = 1; step <= 6; ++step)
        QVERIFY(one.step(step).gradientNorm == 0 && three.step(step).gradientNorm == 0);
    QCOMPARE(stepsOf(one.events), Steps{1});
    QCOMPARE(stepsOf(three.events), Steps{1});
}

/// The network's turn comes after as many steps of its critic as without a trial.
void TestUnderflow::aCriticsTrialLeavesNoTrace() {
    RunConfig config = Judged::config(Adversary::WganGp, 3, kTooSmall);
    config.model.layers = "nn.Sequential(nn.Linear(10, 4), nn.Dropout(0.5), nn.Linear(4, 1))";
    config.model.critic = "nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))";
    config.optimizer.lr = config.second.lr = 0.1;
    config.optimizer.weightDecay = 0.1;
    Lane looks(config), plain(config);
    LaneState start = plain.trainer.state();
    start.vanished = 1;
    plain.trainer.restore(start);
    for (int64_t step = 1; step <= 7; ++step) {
        const StepRecord a = looks.step(step), b = plain.step(step);
        QVERIFY(a.loss == b.loss && a.gradientNorm == b.gradientNorm && a.flags == b.flags);
        QVERIFY(looks.trainer.state().states == plain.trainer.state().states);
    }
    QCOMPARE(stepsOf(looks.events), Steps{1});
    QCOMPARE(stepsOf(plain.events), Steps{});
}

/// A lane that does not look, having looked a moment ago, has the same bits.
void TestUnderflow::theTrialLeavesNoTrace() {
    RunConfig config = configAt(kTooSmall);
    config.model.layers = "nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16), nn.Dropout(0.5), "
                          "nn.Linear(16, 1))";
    config.optimizer.weightDecay = 0.1;
    Lane looks(config), plain(config);
    LaneState start = plain.trainer.state();
    start.vanished = 1;
    plain.trainer.restore(start);
    for (int64_t step = 1; step <= 5; ++step) {
        const StepRecord a = looks.step(step), b = plain.step(step);
        QVERIFY(a.loss == b.loss && a.gradientNorm == b.gradientNorm && a.flags == b.flags);
        QVERIFY(looks.trainer.prediction() == plain.trainer.prediction());
        QVERIFY(looks.trainer.state().states == plain.trainer.state().states);
    }
    QCOMPARE(stepsOf(looks.events), Steps{1});
    QCOMPARE(stepsOf(plain.events), Steps{});
}

void TestUnderflow::aStoppedTrial() {
    const RunConfig config = configAt(kTooSmall);
    Lane plain(config);
    for (const int stopped : {1, 2, 3}) { // run 0 is the step itself
        Trainer trainer(config, 0, "lane", plain.data, std::make_unique<Stopping>(stopped));
        std::vector<Event> events;
        QVERIFY(!trainer.step(1, events));
        QVERIFY(events.empty());
        QVERIFY(trainer.step(1, events));
        QVERIFY(trainer.step(2, events));
        QCOMPARE(stepsOf(events), Steps{1});
    }
}

void TestUnderflow::goesOnElsewhere() {
    Lane first(configAt(kTooSmall)), second(configAt(1024));
    first.step(1);
    second.trainer.restore(first.trainer.state());
    second.step(2);
    QCOMPARE(stepsOf(second.events), Steps{});
    first.trainer.setScale(kTooSmall); // the one in force
    QCOMPARE(first.trainer.state().vanished, int64_t{1});
    first.trainer.setScale(1024);
    QCOMPARE(first.trainer.state().vanished, int64_t{0});
}

/// A larger scale is no advice where nan in the data, or values beyond fp16, would bring it down
/// again; a lane that goes on from a checkpoint knows it, too. One halving explains nothing, nor
/// does a scale set by hand. What is told of the whole run agrees.
void TestUnderflow::aScaleThatAFaultBroughtDown() {
    struct Told {
        std::string text;
        bool ofFault = false;
    };
    const auto told = [](const Faults& faults, GoesOn goesOn, ByHand set) {
        Faulty lane(faults), second(faults);
        lane.skip();
        Faulty& last = goesOn == GoesOn::Yes ? second : lane;
        if (goesOn == GoesOn::Yes) second.trainer.restore(lane.trainer.state());
        if (set == ByHand::Yes) last.trainer.setScale(kTooSmall);
        const std::string text = last.lostAfterThem();
        LaneTotals totals;
        for (const Event& event : last.events)
            totals.add(event);
        return Told{text, totals.faultsExplainUnderflow()};
    };
    for (const float value : {NAN, 1e6F})
        for (const GoesOn goesOn : {GoesOn::No, GoesOn::Yes}) {
            const Told fault = told({.value = value}, goesOn, ByHand::No);
            QCOMPARE(fault.text, std::string(kExplained));
            QVERIFY(fault.ofFault);
        }
    for (const Told& small : {told({.count = 1, .scale = kTooSmall}, GoesOn::No, ByHand::No),
                              told(Faults{}, GoesOn::No, ByHand::Yes)}) {
        QVERIFY2(small.text.find("Raise the loss scale") != std::string::npos, small.text.c_str());
        QVERIFY(!small.ofFault);
    }
}

/// A fork goes on at the scale that a fault has brought down. One whose parent did not scale its
/// loss begins at a scale of its own.
void TestUnderflow::aForkKnowsTheFault() {
    Faulty lane(Faults{}), fork(Faults{});
    lane.skip();
    fork.trainer.continueFrom(lane.trainer);
    QCOMPARE(fork.lostAfterThem(), std::string(kExplained));
    Faulty off(Faults{.mode = ScalerMode::Off}), own(Faults{.scale = kTooSmall});
    off.trainer.continueFrom(lane.trainer);
    own.trainer.continueFrom(off.trainer);
    const std::string text = own.lostAfterThem();
    QVERIFY2(text.find("Raise the loss scale") != std::string::npos, text.c_str());
}

/// The largest one, but not beyond what overflows of another kind have left since.
void TestUnderflow::whichFaultsCount() {
    constexpr auto kFault = FittingScale::Known::None, kTooLarge = FittingScale::Known::Largest;
    UnderflowWatch watch;
    watch.addSkip(INFINITY, INFINITY, kFault);
    QCOMPARE(watch.faultScale(), 0.0F);
    watch.addSkip(16, 8, kFault);
    watch.addSkip(8, 4, kFault);
    QCOMPARE(watch.faultScale(), 16.0F);
    watch.addSkip(0x1p24F, 0x1p23F, kFault); // it has grown meanwhile
    QCOMPARE(watch.faultScale(), 0x1p24F);
    watch.addSkip(0x1p23F, 0x1p22F, FittingScale::Known::Nothing);
    QCOMPARE(watch.faultScale(), 0x1p24F);
    watch.addSkip(0x1p22F, 0x1p21F, kTooLarge);
    QCOMPARE(watch.faultScale(), 0x1p21F);
    watch.addSkip(0x1p-130F, 0x1p-131F, kTooLarge); // too small to divide by
    QCOMPARE(watch.faultScale(), 0x1p21F);
}

/// Also where it is set to the scale that it has.
void TestUnderflow::aScaleSetByHandIsNoFaults() {
    for (const float set : {4.0F, 8.0F}) {
        UnderflowWatch watch;
        watch.restore(3, 65536);
        watch.setScale(8, double{set});
        QCOMPARE(watch.faultScale(), 0.0F);
        QCOMPARE(watch.lastStep(), int64_t{set == 8 ? 3 : 0});
    }
}

void TestUnderflow::aForkTellsOfItsOwn() {
    Lane parent(configAt(kTooSmall)), fork(configAt(kTooSmall));
    parent.step(1);
    fork.trainer.continueFrom(parent.trainer);
    fork.step(2);
    QCOMPARE(stepsOf(fork.events), Steps{2});
}

} // namespace tst_underflow

QTEST_GUILESS_MAIN(tst_underflow::TestUnderflow)
#include "tst_underflow.moc"
