// What half precision teaches, as facts that the engine shows: values computed by its kernels,
// compared with what the formula promises on paper.
#include "engine/exec/executor.h"
#include "engine/ops/builder.h"
#include "engine/ops/functional.h"
#include "engine/ops/op_info.h"
#include "engine/scaler/scaler_api.h"
#include "engine/train/trainer.h"
#include "tests/support/run_program.h"
#include "tests/support/training.h"

#include <QTest>

#include <cmath>
#include <functional>

namespace tst_lessons {

using namespace halfscope;

namespace {

constexpr double kU32 = 0x1p-24; // the unit roundoff of float32

/// Returns the value of a composite of its input "x" on the CPU.
std::vector<double> computed(const std::vector<double>& x, DType dtype,
                             const std::function<NodeId(Builder&, NodeId)>& formula) {
    Graph graph;
    Builder b(graph);
    const NodeId in = b.input("x", {static_cast<int64_t>(x.size())}, dtype);
    graph.addOutput("y", formula(b, in));
    return test::runSteps(graph, {{in, {Shape{static_cast<int64_t>(x.size())}, x}}},
                          FuseOptions::Full, 1, 1)
        .at("y");
}

std::vector<double> timesAndBack(const std::vector<double>& x, DType dtype, double y) {
    return computed(x, dtype, [y](Builder& b, NodeId in) {
        const NodeId factor = b.constantLike(y, in);
        return b.div(b.mul(in, factor), factor);
    });
}

/// exp(x) / sum exp(x), as books write it.
NodeId naiveSoftmax(Builder& b, NodeId x) {
    const NodeId e = b.unary(Op::Exp, x);
    return b.div(e, b.expandLike(b.sumAll(e), x));
}

RunConfig amp(ScalerMode mode, double scale) {
    RunConfig config;
    config.model = {20, 1, Norm::None, Activation::Relu};
    config.optimizer.kind = OptimizerKind::Sgd;
    config.lanes = {LaneConfig{Precision::AmpFp16, {}}};
    config.lanes[0].scaler.initScale = scale;
    config.lanes[0].scaler.rules.mode = mode;
    config.device = "cpu";
    config.threads = 1;
    return config;
}

struct FirstStep {
    StepRecord record;
    bool moved = false; ///< some weight changed
};

FirstStep firstStep(const RunConfig& config) {
    const test::FixedDataset data = test::randomRegression({64, 10, 1}, 1, 3);
    Trainer trainer(config, 0, "lane", data, makeCpuExecutor(1));
    const Weights before = trainer.weights();
    std::vector<Event> events;
    FirstStep first;
    first.record = trainer.step(1, events).value();
    first.moved = trainer.weights() != before;
    return first;
}

} // namespace

class TestLessons : public QObject {
    Q_OBJECT

private slots:
    void timesAndBackIsNotTheSame();
    void softmaxOfLargeLogits_data();
    void softmaxOfLargeLogits();
    void crossEntropyOfLargeLogits();
    void halfSumsOverflow();
    void halfSumsStall();
    void updatesTooSmallForHalf_data();
    void updatesTooSmallForHalf();
    void scaleTooSmall();
    void scaleTooLarge();
    void scaleSavesSmallGradients();
};

/// x * y / y: two roundings in the best case, inf or 0 in the worst.
void TestLessons::timesAndBackIsNotTheSame() {
    std::vector<double> x(1000);
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<double>(static_cast<float>(1 + 0.001 * static_cast<double>(i)));
    const std::vector<double> back = timesAndBack(x, DType::F32, 0.7);
    int different = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        different += back[i] != x[i];
        QVERIFY(std::abs(back[i] / x[i] - 1) <= 2 * kU32 * (1 + kU32));
    }
    QVERIFY(different > 0);
    QVERIFY(std::isinf(timesAndBack({1e30}, DType::F32, 1e10)[0]));
    QCOMPARE(timesAndBack({1e-30}, DType::F32, 1e-20)[0], 0.0);
    // float16 ends at 65504.
    QVERIFY(std::isinf(timesAndBack({300}, DType::F16, 300)[0]));
    QCOMPARE(timesAndBack({0x1p-14}, DType::F16, 0x1p-12)[0], 0.0);
}

void TestLessons::softmaxOfLargeLogits_data() {
    QTest::addColumn<double>("offset");
    QTest::newRow("1000: exp is inf, and inf / inf is nan") << 1000.0;
    QTest::newRow("-1000: exp is 0, and 0 / 0 is nan") << -1000.0;
}

void TestLessons::softmaxOfLargeLogits() {
    QFETCH(double, offset);
    const std::vector<double> x{offset, offset - 1, offset - 2};
    for (const double y : computed(x, DType::F32, naiveSoftmax))
        QVERIFY(std::isnan(y));
    const auto stable =
        computed(x, DType::F32, [](Builder& b, NodeId in) { return fn::softmax(b, in, 0); });
    const double sum = 1 + std::exp(-1) + std::exp(-2);
    for (size_t i = 0; i < x.size(); ++i) {
        // exp within 2 ulp, a sum of three, a division
        const double wanted = std::exp(-static_cast<double>(i)) / sum;
        QVERIFY(std::abs(stable[i] / wanted - 1) <= 12 * kU32);
    }
}

void TestLessons::crossEntropyOfLargeLogits() {
    const std::vector<double> logits{1000, 999, 0};
    const auto naive = computed(logits, DType::F32, [](Builder& b, NodeId x) {
        return b.neg(b.unary(Op::Log, b.slice(naiveSoftmax(b, x), 0, 2, 3)));
    });
    QVERIFY(std::isinf(naive[0])); // -log(1 / inf)
    const auto stable = computed(logits, DType::F32, [](Builder& b, NodeId x) {
        const NodeId label = b.cast(b.constant(2, {1}, DType::F32), DType::I32);
        return fn::crossEntropy(b, b.reshape(x, {1, 3}), label);
    });
    const double wanted = 1000 + std::log1p(std::exp(-1));
    QVERIFY(std::abs(stable[0] / wanted - 1) <= 4 * kU32);
}

/// The sum of 2048 hundreds is beyond 65504; their mean is not, if the sum is never stored.
void TestLessons::halfSumsOverflow() {
    const std::vector<double> x(2048, 100);
    const auto sum = computed(x, DType::F16, [](Builder& b, NodeId in) { return b.sumAll(in); });
    QVERIFY(std::isinf(sum[0]));
    const auto divided = computed(
        x, DType::F16, [](Builder& b, NodeId in) { return b.scale(b.sumAll(in), 1.0 / 2048); });
    QVERIFY(std::isinf(divided[0]));
    const auto mean =
        computed(x, DType::F16, [](Builder& b, NodeId in) { return fn::mean(b, in, {}); });
    QCOMPARE(mean[0], 100.0);
}

/// Ones added up in float16 stop at 2048, the first whole number whose successor float16 lacks. The
/// engine's sums run in float32 and are rounded once.
void TestLessons::halfSumsStall() {
    float running = 0;
    for (int i = 0; i < 4096; ++i)
        running = roundTo(DType::F16, running + 1);
    QCOMPARE(running, 2048.0f);
    const auto sum = computed(std::vector<double>(4096, 1), DType::F16,
                              [](Builder& b, NodeId in) { return b.sumAll(in); });
    QCOMPARE(sum[0], 4096.0);
}

void TestLessons::updatesTooSmallForHalf_data() {
    QTest::addColumn<int>("dtype");
    QTest::addColumn<double>("end");
    // Below 1 float16 has steps of 2^-11: an update smaller than half of that is lost every time.
    QTest::newRow("float16") << static_cast<int>(DType::F16) << 1.0;
    QTest::newRow("bfloat16") << static_cast<int>(DType::BF16) << 1.0;
    QTest::newRow("float32 master weights") << static_cast<int>(DType::F32) << 0.9;
}

/// A weight of 1 takes a thousand updates of 1e-4.
void TestLessons::updatesTooSmallForHalf() {
    QFETCH(int, dtype);
    QFETCH(double, end);
    Graph graph;
    Builder b(graph);
    const NodeId weight = b.state("w", {1}, static_cast<DType>(dtype), StateRole::Parameter);
    graph.setNext(weight, b.sub(weight, b.constantLike(1e-4, weight)));
    std::map<NodeId, RefTensor> start;
    start[weight] = {Shape{1}, {1}};
    const auto after = test::runSteps(graph, start, FuseOptions::Full, 1, 1000).at("w")[0];
    // each of the thousand differences, and the update itself, is rounded
    QVERIFY2(std::abs(after - end) <= 1000 * (kU32 + 1e-4 * kU32), QByteArray::number(after));
}

/// At a scale of 2^-30 the gradients round to zero in float16: a step is taken and nothing changes.
void TestLessons::scaleTooSmall() {
    const FirstStep small = firstStep(amp(ScalerMode::Static, 0x1p-30));
    QCOMPARE(small.record.flags, uint32_t{0});
    QVERIFY(small.record.loss > 0);
    QCOMPARE(small.record.gradientNorm, 0.0f);
    QVERIFY(!small.moved);
    const FirstStep usual = firstStep(amp(ScalerMode::Static, 1024));
    QVERIFY(usual.record.gradientNorm > 0 && usual.moved);
}

/// At 2^24 they overflow: the step is skipped and the dynamic scale falls until they fit.
void TestLessons::scaleTooLarge() {
    const FirstStep large = firstStep(amp(ScalerMode::Dynamic, 0x1p24));
    QCOMPARE(large.record.flags, uint32_t{kSkipped | kBackedOff});
    QVERIFY(!std::isfinite(large.record.gradientNorm));
    QVERIFY(!large.moved);
}

/// A gradient of 2^-26 is below half of float16's smallest number; 65536 times larger it is exact,
/// and the float32 gradient after unscaling is correct.
void TestLessons::scaleSavesSmallGradients() {
    const float gradient = 0x1p-26f;
    QCOMPARE(roundTo(DType::F16, gradient), 0.0f);
    GradScaler scaler;
    std::vector<float> stored{roundTo(DType::F16, scaler.scale(gradient))};
    QCOMPARE(stored[0], 0x1p-10f);
    QVERIFY(scaler.step(0, std::array{hostTensor(std::span(stored))}, [] {}).stepped);
    QCOMPARE(stored[0], gradient);
}

} // namespace tst_lessons

QTEST_GUILESS_MAIN(tst_lessons::TestLessons)
#include "tst_lessons.moc"
