// What a lane reports about a step that overflows: flags, scale, events, the name of the first
// tensor that was not finite, the guards, and what passes unnoticed, as in PyTorch. Steps that are
// taken all the same are in tst_taken_steps.
#include "engine/core/error.h"
#include "engine/runs/tensor_words.h"
#include "engine/step/step_graph.h"
#include "engine/train/overflow.h"
#include "engine/train/step_runner.h"
#include "engine/train/trainer.h"
#include "tests/support/lane.h"
#include "tests/support/wrapped_executor.h"

#include <QTest>

#include <cmath>

namespace tst_overflow {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Returns a batch of one input value, and targets of 0.
FixedDataset::Batch batchOf(size_t rows, float x) {
    return {std::vector<float>(rows, x), std::vector<float>(rows, 0.0f)};
}

/// A device that rounds otherwise when it shows values, as a GPU does with kernels that are not
/// fused: here so much that nothing overflows.
class OtherwiseRounding final : public WrappedExecutor {
public:
    void load(std::shared_ptr<const Program> program) override {
        m_scaler = program->graph.state("scaler");
        WrappedExecutor::load(std::move(program));
    }
    RunResult run(RunMode mode, const Visitor& visitor) override {
        ScalerState state;
        state.scale = 1;
        const ScalerSlots small = slotsOf(state);
        if (visitor) upload(m_scaler, std::as_bytes(std::span(small)));
        return WrappedExecutor::run(mode, visitor);
    }

private:
    NodeId m_scaler = kNoNode;
};

/// A network y = w2 w1 x of two layers and its critic s = y / 4. In the first step, the critic's
/// gradient overflows, and the network's second weight becomes `second`.
struct Judged : Lane {
    static constexpr float kX = 0x1p-14F;

    explicit Judged(float second) : Lane(config(second), {{1, 1, 1}, {{{kX}, {-4096.0f}}}}) {
        Weights weights = trainer.weights();
        weights["0.weight"] = {1.0f};
        weights["1.weight"] = {0x1p-14F};
        weights["critic.0.weight"] = {0.25f};
        trainer.setWeights(weights);
    }
    static RunConfig config(float second) {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.model.layers = "nn.Sequential(nn.Linear(1, 1, bias=False), "
                              "nn.Linear(1, 1, bias=False))";
        config.model.critic = "nn.Sequential(nn.Linear(1, 1, bias=False))";
        config.model.adversary = Adversary::Gan;
        config.lanes[0].scaler.initScale = 256;
        // the gradient is that of softplus(-s), half the slope of s, where s is nearly 0
        config.optimizer = {.kind = OptimizerKind::Sgd,
                            .lr = double{second} / (0.125 * double{kX})};
        config.second = {OptimizerKind::Sgd, 0};
        return config;
    }
};

} // namespace

class TestOverflow : public QObject {
    Q_OBJECT

private slots:
    void overflowSkipsAndHalves() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.lanes[0].scaler.initScale = 16777216;
        Lane lane(config);
        const Weights before = lane.trainer.weights();
        const StepRecord record = lane.step(1);
        QCOMPARE(record.flags, uint32_t{kSkipped | kBackedOff});
        QCOMPARE(record.scale, 16777216.0f);
        QCOMPARE(record.skippedSoFar, int64_t{1});
        QCOMPARE(lane.trainer.scaler().scale, 8388608.0f);
        QVERIFY(!std::isfinite(record.gradientNorm));
        QVERIFY(std::isfinite(record.loss));
        QCOMPARE(differentWeights(before, lane.trainer.weights()), 0);
        QCOMPARE(lane.count(EventKind::Overflow), 1);
        QCOMPARE(lane.count(EventKind::Backoff), 1);
        const Event& event = lane.events.front();
        QCOMPARE(event.scaleBefore, 16777216.0f);
        QCOMPARE(event.scaleAfter, 8388608.0f);
        QVERIFY2(!event.tensor.empty(), event.text.english().c_str());
        QVERIFY(!overflowedBeforeScaling(event));
        const std::string wanted = "Step 1 skipped: " + event.tensor +
                                   " reached inf at loss scale 16777216 (2^24); the scale falls to "
                                   "8388608 (2^23). The step would have fitted at 2048 (2^11) or "
                                   "below.";
        QCOMPARE(event.text.english(), wanted);
        QVERIFY2(event.tensor.find(" of ") != std::string::npos, event.tensor.c_str());
    }

    /// With one weight layer only dW can overflow first: x and dy are small, but their product is
    /// not.
    void namesTheGradientThatOverflowed() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.model = {4, 0, Norm::None, Activation::Relu};
        config.lanes[0].scaler.initScale = 32;
        Lane lane(config, {{256, 1, 1}, {batchOf(256, 100)}});
        setOnes(lane.trainer);
        // y = 400, dy = 2 * 400 / 256 * 32 = 100; dW1 = sum of 256 * 100 * 100 = 2.56e6 > 65504
        QVERIFY(lane.step(1).flags & kSkipped);
        QCOMPARE(lane.events.front().tensor, std::string("gradient of 2.weight (output layer)"));
        // the sum is 40000 at a scale of 0.5, and 80000 at 1
        const std::string text = lane.events.front().text.english();
        QVERIFY2(text.ends_with(" The step would have fitted at 0.5 (2^-1) or below."),
                 text.c_str());
    }

    /// In a network that was written as text, the layer is named by its kind and place.
    void namesTheLayerOfTheGradient() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.model.layers = "nn.Sequential(nn.ReLU(), nn.Linear(1, 1))";
        config.lanes[0].scaler.initScale = 32;
        Lane lane(config, {{256, 1, 1}, {batchOf(256, 100)}});
        setOnes(lane.trainer);
        QVERIFY(lane.step(1).flags & kSkipped);
        QCOMPARE(lane.events.front().tensor, std::string("gradient of 1.weight (Linear 1)"));
        QVERIFY(!overflowedBeforeScaling(lane.events.front()));
    }

    /// The repeated step has the weights that the other optimizer has changed. What overflows
    /// because of that was not there in the step itself.
    void namesTheNetworkThatOverflowed() {
        constexpr uint32_t kFlags = kSkipped | kFirstStepped | kBackedOff;
        Judged backward(16384); // times the gradient of y, 32, it is beyond fp16
        QCOMPARE(backward.step(1).flags, kFlags);
        QCOMPARE(backward.trainer.weights().at("1.weight"), std::vector<float>{16384 + 0x1p-14F});
        const std::string named = backward.events.front().tensor;
        QVERIFY2(named.starts_with("gradient of critic.0.weight ("), named.c_str());
        Judged forward(0x1p20F); // it is inf in fp16, and the critic's values come from it
        QCOMPARE(forward.step(1).flags, kFlags);
        QCOMPARE(forward.events.front().tensor, std::string());
        const std::string text = forward.events.front().text.english();
        QVERIFY2(
            text.starts_with("Step 1 skipped by the critic's optimizer: a gradient was not finite "
                             "at loss scale 256 (2^8); "),
            text.c_str());
    }

    /// Two networks without a critic have optimizers that are told apart by their order alone.
    void optimizersHaveTheNamesOfTheirNetworks() {
        const auto text = [](uint32_t flag, bool hasCritic) {
            StepRecord record;
            record.step = 3;
            record.flags = kSkipped | flag;
            std::vector<Event> events;
            SkipReason reason;
            reason.hasCritic = hasCritic;
            describeStep(record, 1, reason, {}, events);
            return events.front().text.english();
        };
        QVERIFY(text(kSecondStepped, true).starts_with("Step 3 skipped by the generator's optim"));
        QVERIFY(text(kFirstStepped, true).starts_with("Step 3 skipped by the critic's optimizer:"));
        QVERIFY(text(kSecondStepped, false).starts_with("Step 3 skipped by the first optimizer:"));
    }

    /// The overflow of an earlier batch is named at the update that it spoils, and the search for
    /// it leaves no trace.
    void namesTheTensorOfAnEarlierBatch() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.model = {4, 0, Norm::None, Activation::Relu};
        config.lanes[0].scaler.initScale = 128; // divided among four batches
        config.gradients.accumulate = 4;
        const FixedDataset::Batch small = batchOf(256, 0.125f), large = batchOf(256, 100);
        Lane lane(config, {{256, 1, 1}, {small, large, small, small}});
        const Weights weights = setOnes(lane.trainer);
        std::vector<float> losses;
        for (int64_t step = 1; step <= 5; ++step) {
            const StepRecord record = lane.step(step);
            QCOMPARE((record.flags & kSkipped) != 0, step == 4);
            losses.push_back(record.loss);
            // 4 units of x each: the picture is of this batch, not of one that was searched
            const float x = step == 2 ? 100.0f : 0.125f;
            QCOMPARE(lane.trainer.prediction(), std::vector<float>(256, 4 * x));
        }
        QCOMPARE(lane.events.front().tensor, std::string("gradient of 2.weight (output layer)"));
        QCOMPARE(lane.events.front().step, int64_t{4});
        QVERIFY(losses[4] == losses[0]); // the first batch again, with unchanged weights
        QCOMPARE(differentWeights(lane.trainer.weights(), weights), 0);
    }

    /// So many batches are not run at other scales, and what the search shows is not kept.
    void nothingIsToldOfVeryManyBatches() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.model = {4, 0, Norm::None, Activation::Relu};
        config.lanes[0].scaler.initScale = 512; // divided among 17 batches
        config.gradients.accumulate = 17;
        std::vector<FixedDataset::Batch> batches(17, batchOf(256, 0.125f));
        batches[9] = batchOf(256, 100);
        Lane lane(config, {{256, 1, 1}, batches});
        setOnes(lane.trainer);
        for (int64_t step = 1; step <= 17; ++step)
            QCOMPARE((lane.step(step).flags & kSkipped) != 0, step == 17);
        const std::string text = lane.events.front().text.english();
        QVERIFY2(text.ends_with("the scale falls to 256 (2^8)."), text.c_str());
        QCOMPARE(lane.trainer.prediction(), std::vector<float>(256, 0.5f));
    }

    /// A search that does not find the overflow again has taken the step: that must not count.
    void aSearchLeavesNoTrace() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.lanes[0].scaler.initScale = 16777216;
        Lane plain(config);
        Trainer other(config, 0, "lane", plain.data, std::make_unique<OtherwiseRounding>());
        std::vector<Event> events;
        for (int64_t step = 1; step <= 24; ++step) {
            const StepRecord wanted = plain.step(step);
            const auto record = other.step(step, events);
            QVERIFY(record && record->flags == wanted.flags && record->loss == wanted.loss);
            QCOMPARE(differentWeights(plain.trainer.weights(), other.weights()), 0);
        }
        QVERIFY(plain.trainer.skipped() > 0 && plain.trainer.skipped() < 24);
        QVERIFY(
            events.front().text.english().starts_with("Step 1 skipped: a gradient was not finite"));
    }

    /// A mask's -inf is present in every step, with and without fusion. It must not hide the cause
    /// of an overflow.
    void masksAreNoOverflow() {
        const auto tensorOf = [](const char* layer, FuseOptions fuse) {
            RunConfig config = laneConfig(Precision::AmpFp16);
            config.model.layers = std::string("nn.Sequential(nn.Unflatten(1, (5, 2)), ") + layer +
                                  "(2, 1, 4, 0., batch_first=True), nn.Flatten(), "
                                  "nn.Linear(10, 1))";
            config.lanes[0].scaler.initScale = 16777216;
            Lane lane(config);
            lane.step(1);
            require(lane.events.front().kind == EventKind::Overflow, "the step is skipped");
            const Graph step = buildStep(config, config.lanes[0], lane.data.shape());
            StepRunner runner(config, config.lanes[0], step, makeCpuExecutor(1),
                              CompileOptions{.fuse = fuse});
            const auto first = lane.data.load(1);
            uploadTensor(runner.executor(), runner.graph(), runner.graph().input("x"),
                         first->tensors[kX]);
            uploadTensor(runner.executor(), runner.graph(), runner.graph().input("target"),
                         first->tensors[kTarget]);
            const auto culprit =
                OverflowFinder(runner.graph()).find(runner.executor(), runner.graph(), 0x1p24f);
            const std::string found = culprit.value().tensor.english();
            return fuse == FuseOptions::Full ? lane.events.front().tensor + " " + found : found;
        };
        const std::string wanted = "gradient of the predictions";
        for (const char* layer : {"TransformerEncoderLayer", "CausalTransformerEncoderLayer"}) {
            QCOMPARE(tensorOf(layer, FuseOptions::None), wanted);
            QCOMPARE(tensorOf(layer, FuseOptions::Full), wanted + " " + wanted);
        }
    }

    /// Projections beyond float16 are found where they arise, before the mask; a nan behind the
    /// mask counts.
    void projectionsOfAttentionCanOverflow() {
        for (const float weight : {60000.0f, NAN}) {
            RunConfig config = laneConfig(Precision::AmpFp16);
            config.model.layers = "nn.Sequential(nn.Unflatten(1, (5, 2)), "
                                  "CausalTransformerEncoderLayer(2, 1, 4, 0., batch_first=True), "
                                  "nn.Flatten(), nn.Linear(10, 1))";
            Lane lane(config);
            Weights weights = lane.trainer.weights();
            for (float& value : weights["1.self_attn.in_proj_weight"])
                value = weight;
            lane.trainer.setWeights(weights);
            QVERIFY(lane.step(1).flags & kSkipped);
            QCOMPARE(lane.events.front().tensor,
                     std::string("forward pass of CausalTransformerEncoderLayer 1.self_attn"));
            const bool inf =
                lane.events.front().text.english().find("inf before") != std::string::npos;
            QCOMPARE(inf, !std::isnan(weight));
        }
    }

    void namesTheForwardThatOverflowed() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        Lane lane(config, {{64, 1, 1}, {batchOf(64, 60000)}});
        setOnes(lane.trainer);
        for (int64_t step = 1; step <= 3; ++step)
            lane.step(step);
        QCOMPARE(lane.events.front().tensor, std::string("forward pass of layer 1"));
        QVERIFY(overflowedBeforeScaling(lane.events.front()));
        std::vector<Event> losses;
        for (const Event& event : lane.events)
            if (event.kind == EventKind::LossNotFinite) losses.push_back(event);
        QCOMPARE(losses.size(), size_t{1}); // reported once, not at every step
        QVERIFY2(losses[0].text.english().ends_with(
                     ", at any loss scale. The forward pass of layer 1 was the first to reach "
                     "inf."),
                 losses[0].text.english().c_str());
        config.lanes[0].scaler.checkUnscaled = true; // another step is compiled for it
        lane.trainer.setScaler(config.lanes[0].scaler);
        QVERIFY(lane.step(4).flags & kLossNotFinite);
        QCOMPARE(lane.count(EventKind::LossNotFinite), 1);
    }

    /// The loss itself is finite and its scaled gradient is not.
    void namesTheBackwardThatOverflowed() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.lanes[0].scaler.initScale = std::ldexp(1.0, 24);
        Lane lane(config);
        QVERIFY(lane.step(1).flags & kSkipped);
        const std::string& tensor = lane.events.front().tensor;
        QCOMPARE(tensor, std::string("gradient of the predictions"));
        QVERIFY(isGradientOfPredictions(tensor) && !isGradientOfPredictions("the predictions"));
    }

    /// A tensor with both inf and nan has reached inf, wherever the first nan stands in it.
    void infCountsBeforeNan() {
        Lane lane(laneConfig(Precision::AmpFp16));
        Weights weights = lane.trainer.weights();
        weights["0.weight"].front() = NAN;
        weights["0.weight"].back() = 1e6f; // beyond float16
        lane.trainer.setWeights(weights);
        QVERIFY(lane.step(1).flags & kSkipped);
        const std::string text = lane.events.front().text.english();
        const std::string tensor = lane.events.front().tensor;
        QVERIFY2(tensor.starts_with("forward pass of "), tensor.c_str());
        QCOMPARE(text, "Step 1 skipped: the " + tensor +
                           " reached inf before the loss was scaled by 65536 (2^16); the scale "
                           "falls to 32768 (2^15). No loss scale would have helped.");
    }

    /// Some names of layers are nouns that take an article, and some begin with their network.
    void saysTheOutputLayer() {
        const auto said = [](const char* tensor) {
            return tensorInWords(Message::data(tensor)).english();
        };
        QCOMPARE(said("forward pass of output layer"), "the forward pass of the output layer");
        QCOMPARE(said("forward pass of layer 0"), "the forward pass of layer 0");
        QCOMPARE(said("backward pass of output layer"), "the backward pass of the output layer");
        QCOMPARE(said("backward pass of second output layer"),
                 "the backward pass of the output layer of the second network");
        QCOMPARE(said("forward pass of critic output"),
                 "the forward pass of the output of the critic");
        QCOMPARE(said("backward pass of critic layer 1"),
                 "the backward pass of layer 1 of the critic");
        QCOMPARE(said("gradient of 4.bias (output layer)"), "gradient of 4.bias (output layer)");
    }

    /// A sample with nan is named by every lane that meets it, and no layer is blamed.
    void namesTheDataThatAreNotFinite() {
        FixedDataset::Batch bad = batchOf(8, 1), odd = batchOf(8, 1), clean = batchOf(8, 1);
        bad.x[5] = NAN;
        odd.target[2] = INFINITY;
        const FixedDataset data{{8, 1, 1}, {clean, bad, odd, clean}};
        Lane half(laneConfig(Precision::AmpFp16), data);
        for (int64_t step = 1; step <= 4; ++step)
            half.step(step);
        std::vector<Event> skips;
        for (const Event& event : half.events)
            if (event.kind == EventKind::Overflow) skips.push_back(event);
        QCOMPARE(skips.size(), size_t{2});
        QCOMPARE(skips[0].text.english(),
                 std::string("Step 2 skipped: the input of sample 5 holds nan; the scale falls to "
                             "32768 (2^15). No loss scale would have helped."));
        QCOMPARE(skips[0].tensor, std::string("the input of sample 5"));
        QCOMPARE(skips[1].tensor, std::string("the target of sample 2"));
        QVERIFY(isHelpless(skips[0]) && overflowedBeforeScaling(skips[1]));
        Lane full(laneConfig(Precision::Fp32), data);
        for (int64_t step = 1; step <= 4; ++step)
            full.step(step);
        QCOMPARE(full.events.size(), size_t{1}); // from then on, its weights are nan
        QCOMPARE(full.events[0].text.english(),
                 std::string("Step 2: the loss itself is nan. The reason is in "
                             "the data: the input of sample 5 holds nan."));
    }

    /// A lower floor is no advice where the loss scale is not the reason.
    void dataStopARunAtItsFloor() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        ScalerConfig& scaler = config.lanes[0].scaler;
        scaler.initScale = scaler.rules.floor = 1024;
        scaler.rules.atFloor = FloorAction::Stop;
        Lane lane(config, {{8, 1, 1}, {batchOf(8, NAN)}});
        QVERIFY(lane.step(1).flags & kAtFloor);
        QCOMPARE(lane.trainer.stopReason().english(),
                 std::string("The loss scale reached its floor 1024 (2^10) in lane lane at step 1, "
                             "and the run ends. No loss scale would have helped."));
    }

    /// Of an update of several batches, the one that the nan is in.
    void namesTheDataOfAnEarlierBatch() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.gradients.accumulate = 2;
        FixedDataset::Batch bad = batchOf(8, 1);
        bad.x[3] = NAN;
        Lane lane(config, {{8, 1, 1}, {bad, batchOf(8, 1)}});
        lane.step(1);
        QVERIFY(lane.step(2).flags & kSkipped);
        QCOMPARE(lane.events.back().step, int64_t{2});
        for (const Event& event : lane.events)
            if (event.kind == EventKind::Overflow)
                QCOMPARE(event.tensor, std::string("the input of sample 3"));
        QCOMPARE(lane.count(EventKind::Overflow), 1);
    }

    /// The check comes before the multiplication, as in PyTorch: a gradient that only the inverse
    /// of a tiny scale makes infinite passes.
    void unscalingIsNotChecked() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.lanes[0].scaler.initScale = std::ldexp(1.0, -130);
        Lane lane(config);
        const StepRecord record = lane.step(1);
        QCOMPARE(record.flags, uint32_t{0});
        QVERIFY(!std::isfinite(record.gradientNorm));
        QVERIFY(std::isnan(lane.trainer.weights()["4.bias"][0]));
        QVERIFY(lane.step(2).flags & kSkipped);
        // the forward pass of such weights is lost at any scale
        QVERIFY(overflowedBeforeScaling(lane.events.front()));
        const std::string text = lane.events.front().text.english();
        QVERIFY2(text.ends_with("falls to 2^-131. No loss scale would have helped."), text.c_str());
    }

    /// Halving and doubling leave 0 and inf as they are.
    void scalesThatCannotComeBack() {
        const auto told = [](float scale, const Message& tensor = {kForwardPass, "layer 0"}) {
            StepRecord record;
            record.step = 293;
            record.flags = kSkipped | kLossNotFinite;
            record.scale = scale;
            std::vector<Event> events;
            describeStep(record, scale, {{tensor, false}}, {.lossWasBad = true}, events);
            return events.at(0).text.english();
        };
        QCOMPARE(told(0), "Step 293 skipped: the forward pass of layer 0 became nan before the "
                          "loss was scaled by 0; the loss scale is 0 and cannot grow again.");
        QVERIFY2(told(1024, kLossTensor)
                     .starts_with("Step 293 skipped: the loss became nan before it was scaled by "
                                  "1024 (2^10); "),
                 told(1024, kLossTensor).c_str());
        QVERIFY2(told(INFINITY).ends_with("; the loss scale is inf and cannot fall again."),
                 told(INFINITY).c_str());
        QVERIFY2(told(1024).ends_with("; the scale stays."), told(1024).c_str());
    }

    /// The second check prevents that: the step is skipped, and the lane reports what became
    /// infinite.
    void unscalingCanBeChecked() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.lanes[0].scaler.initScale = std::ldexp(1.0, -130);
        config.lanes[0].scaler.checkUnscaled = true;
        Lane lane(config);
        const Weights before = lane.trainer.weights();
        const StepRecord record = lane.step(1);
        QCOMPARE(record.flags, uint32_t{kSkipped | kBackedOff});
        QCOMPARE(differentWeights(before, lane.trainer.weights()), 0);
        QCOMPARE(lane.events[0].tensor, std::string("the inverse loss scale"));
        const std::string text = lane.events[0].text.english();
        QVERIFY2(text.ends_with("In float32, 1 divided by this scale is inf, so that gradients "
                                "become inf or nan when they are unscaled: use a larger scale."),
                 text.c_str());
        // when the inverse is finite the check changes nothing
        config.lanes[0].scaler.initScale = 1024;
        Lane checked(config);
        config.lanes[0].scaler.checkUnscaled = false;
        Lane plain(config);
        for (int64_t step = 1; step <= 3; ++step) {
            checked.step(step);
            plain.step(step);
        }
        QCOMPARE(differentWeights(checked.trainer.weights(), plain.trainer.weights()), 0);
    }

    void hysteresisForgivesAnOverflow() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.lanes[0].scaler.initScale = std::ldexp(1.0, 30);
        config.lanes[0].scaler.rules.hysteresis = 2;
        Lane lane(config);
        QCOMPARE(lane.step(1).flags, uint32_t{kSkipped});
        QVERIFY2(lane.events[0].text.english().find(
                     "at loss scale 1073741824 (2^30); the scale stays. The step would have "
                     "fitted at ") != std::string::npos,
                 lane.events[0].text.english().c_str());
        QCOMPARE(lane.step(2).flags, uint32_t{kSkipped | kBackedOff});
        QCOMPARE(lane.step(3).scale, std::ldexp(1.0f, 29));
        lane.trainer.setScale(64); // a new scale does not change what the guards have counted
        QCOMPARE(lane.trainer.scaler().absorbed, 2);
    }

    void stopsAtTheFloor() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        ScalerConfig& scaler = config.lanes[0].scaler;
        scaler.initScale = std::ldexp(1.0, 30);
        scaler.rules.floor = std::ldexp(1.0, 29);
        scaler.rules.atFloor = FloorAction::Stop;
        Lane lane(config);
        QCOMPARE(lane.step(1).flags, uint32_t{kSkipped | kBackedOff});
        QVERIFY(lane.trainer.stopReason().empty());
        QCOMPARE(lane.step(2).flags, uint32_t{kSkipped | kAtFloor});
        QVERIFY2(lane.events.back().text.english().find(
                     "at loss scale 536870912 (2^29); the loss scale has reached its floor, so the "
                     "run ends. The step would have fitted at ") != std::string::npos,
                 lane.events.back().text.english().c_str());
        QVERIFY2(lane.trainer.stopReason().english().starts_with(
                     "The loss scale reached its floor 536870912 (2^29) in lane lane at step 2 "),
                 lane.trainer.stopReason().english().c_str());
        // new rules are a new attempt
        scaler.rules.atFloor = FloorAction::Continue;
        lane.trainer.setScaler(scaler);
        QVERIFY(lane.trainer.stopReason().empty());
        QCOMPARE(lane.step(3).flags, uint32_t{kSkipped});
    }

    /// Between updates nothing is searched for: the tensor of an earlier overflow says nothing
    /// about a loss that becomes nan there.
    void lossIsLostBetweenUpdates() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.gradients.accumulate = 2;
        config.lanes[0].scaler.initScale = std::ldexp(1.0, 40);
        Lane lane(config);
        lane.step(1);
        QVERIFY(lane.step(2).flags & kSkipped);
        QVERIFY(!lane.events.front().tensor.empty());
        Weights weights = lane.trainer.weights();
        weights["4.bias"][0] = NAN;
        lane.trainer.setWeights(weights);
        QCOMPARE(lane.step(3).flags, uint32_t{kLossNotFinite});
        QCOMPARE(lane.events.back().kind, EventKind::LossNotFinite);
        QCOMPARE(lane.events.back().tensor, std::string());
    }

    /// Without a scaler nothing is checked: nan reaches the weights, as in PyTorch.
    void withoutScalerNanGoesThrough() {
        RunConfig config = laneConfig(Precision::Fp32);
        Lane lane(config);
        Weights weights = lane.trainer.weights();
        weights["4.bias"][0] = INFINITY;
        lane.trainer.setWeights(weights);
        const StepRecord record = lane.step(1);
        QCOMPARE(record.flags, uint32_t{kLossNotFinite});
        QCOMPARE(lane.count(EventKind::LossNotFinite), 1);
        QCOMPARE(lane.count(EventKind::Overflow), 0);
        QVERIFY(std::isnan(lane.trainer.weights()["4.weight"][0]));
    }

    void scaleInWords() {
        QCOMPARE(scaleText(65536).english(), std::string("65536 (2^16)"));
        QCOMPARE(scaleText(1).english(), std::string("1 (2^0)"));
        QCOMPARE(scaleText(1000).english(), std::string("1000"));
        QCOMPARE(scaleText(0.125f).english(), std::string("0.125 (2^-3)"));
        QCOMPARE(scaleText(0x1p-10f).english(), std::string("0.0009765625 (2^-10)"));
        QCOMPARE(scaleText(0x1p-11f).english(), std::string("2^-11"));
        QCOMPARE(scaleText(0x1p-36f).english(), std::string("2^-36"));
        QCOMPARE(scaleText(0).english(), std::string("0"));
    }
};

} // namespace tst_overflow

QTEST_GUILESS_MAIN(tst_overflow::TestOverflow)
#include "tst_overflow.moc"
