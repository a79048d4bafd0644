// Stochastic rounding of updates to weights of 16 bits: which numbers come out, how often, and what
// a training gains.
#include "engine/ops/functions/activations.h"
#include "engine/settings/fields.h"
#include "engine/step/optimizer.h"
#include "engine/train/experiment.h"
#include "tests/support/lane.h"
#include "tests/support/run_program.h"

#include <QTest>

#include <cmath>
#include <set>

namespace tst_stochastic_rounding {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr int64_t kDraws = 4096;
constexpr uint64_t kSeed = 5;

/// Casts the same value many times, each with a random number of its own, in step number `step`.
std::vector<double> castOf(float value, DType to, uint64_t seed = kSeed, int step = 1) {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {kDraws}, DType::F32);
    const NodeId counter = b.state("counter", {}, DType::F32, StateRole::Counter);
    graph.setNext(counter, b.shift(counter, 1));
    graph.addOutput("y", b.cast(stochasticCast(b, x, to, counter, seed), DType::F32));
    const std::vector<double> values(static_cast<size_t>(kDraws), double{value});
    return runSteps(graph, {{x, {Shape{kDraws}, values}}, {counter, {Shape{}, {0.0}}}},
                    FuseOptions::Full, 1, step)
        .at("y");
}

/// Returns the number next to a positive one of 16 bits, away from zero or towards it.
double neighbour(DType type, double value, int way) {
    if (type == DType::F16)
        return double{floatFromHalf(static_cast<uint16_t>(halfFromDouble(value) + way))};
    return double{floatFromBfloat16(static_cast<uint16_t>(bfloat16FromDouble(value) + way))};
}

/// A weight of 1, gradient 2, and an update of a quarter of the gap below 1 in bf16.
RunConfig quarterUpdates(WeightRounding rounding) {
    RunConfig config = laneConfig(Precision::Bf16);
    config.model.layers = "nn.Sequential(nn.Linear(1, 1, bias=False))";
    config.optimizer = {.kind = OptimizerKind::Sgd, .lr = 0x1p-11};
    config.optimizer.momentum = 0;
    config.lanes[0].rounding = rounding;
    config.watchWeights = 1;
    return config;
}

} // namespace

class TestStochasticRounding : public QObject {
    Q_OBJECT

private slots:
    void goesToANeighbour_data();
    void goesToANeighbour();
    void keepsWhatFits_data();
    void keepsWhatFits();
    void dependsOnSeedAndStep();
    void smallUpdatesArrive();
    void otherLanesStayAsTheyAre();
    void repeatsItself();
};

void TestStochasticRounding::goesToANeighbour_data() {
    QTest::addColumn<DType>("type");
    QTest::addColumn<double>("value");
    for (const DType type : {DType::F16, DType::BF16}) {
        const double gap = std::ldexp(1.0, 1 - formatOf(type).significandBits); // above 1
        const auto row = [&](const char* name, double value) {
            QTest::addRow("%s, %s", std::string(nameOf(type)).c_str(), name) << type << value;
        };
        row("a tenth above 1", 1 + 0.1 * gap);
        row("half way", 1 + 0.5 * gap);
        row("nearly the next", 1 + 0.9 * gap);
        row("below a power of two", 1 - 0.25 * gap / 2);
        row("within an octave", 1.5 + 0.3 * gap);
        row("small", 0x1p-12 * (1 + 0.7 * gap));
    }
    QTest::newRow("float16, subnormal") << DType::F16 << 5.25 * 0x1p-24;
    QTest::newRow("float16, below the least") << DType::F16 << 0.25 * 0x1p-24;
    QTest::newRow("bfloat16, beyond fp16") << DType::BF16 << 1e-20;
}

/// The share that goes up is the distance from the lower neighbour, within five deviations of a
/// binomial distribution.
void TestStochasticRounding::goesToANeighbour() {
    QFETCH(DType, type);
    QFETCH(double, value);
    value = double{static_cast<float>(value)};
    double low = roundTo(type, value);
    if (low > value) low = neighbour(type, low, -1);
    const double high = neighbour(type, low, 1);
    const double wanted = (value - low) / (high - low);
    for (const double sign : {1.0, -1.0}) {
        double up = 0;
        for (const double y : castOf(static_cast<float>(sign * value), type)) {
            QVERIFY2(y == sign * low || y == sign * high, qPrintable(QString::number(y, 'g', 9)));
            up += y == sign * high ? 1 : 0;
        }
        const double bound = 5 * std::sqrt(wanted * (1 - wanted) / kDraws);
        QVERIFY2(std::abs(up / kDraws - wanted) <= bound,
                 qPrintable(QStringLiteral("%1, not %2").arg(up / kDraws).arg(wanted)));
    }
}

void TestStochasticRounding::keepsWhatFits_data() {
    QTest::addColumn<DType>("type");
    QTest::addColumn<float>("value");
    for (const DType type : {DType::F16, DType::BF16})
        for (const float value : {0.0f, 1.0f, -1.0f, 0.25f, -1.5f, 0x1p-14f, 65280.0f})
            QTest::addRow("%s %g", std::string(nameOf(type)).c_str(), static_cast<double>(value))
                << type << value;
}

/// A number that the type has, such as a power of two with its narrower gap below, never moves.
void TestStochasticRounding::keepsWhatFits() {
    QFETCH(DType, type);
    QFETCH(float, value);
    for (const double y : castOf(value, type))
        QCOMPARE(y, double{value});
}

void TestStochasticRounding::dependsOnSeedAndStep() {
    constexpr float kValue = 1.003f;
    const std::vector<double> first = castOf(kValue, DType::BF16);
    QCOMPARE(castOf(kValue, DType::BF16), first);
    QVERIFY(castOf(kValue, DType::BF16, kSeed + 1) != first);
    QVERIFY(castOf(kValue, DType::BF16, kSeed, 2) != first);
}

/// Rounded to the nearest number, the weight stays 1 for ever; by chance it follows SGD on average.
void TestStochasticRounding::smallUpdatesArrive() {
    constexpr int kSteps = 200;
    double last[2] = {};
    for (const WeightRounding rounding : {WeightRounding::Nearest, WeightRounding::Stochastic}) {
        Lane lane(quarterUpdates(rounding), FixedDataset{{1, 1, 1}, {{{1.0f}, {0.0f}}}});
        lane.trainer.setWeights({{"0.weight", {1.0f}}});
        double unchanged = 0;
        for (int step = 1; step <= kSteps; ++step)
            unchanged += lane.step(step).weightChange->unchanged;
        const bool nearest = rounding == WeightRounding::Nearest;
        last[nearest ? 0 : 1] = double{lane.trainer.weights().at("0.weight").front()};
        if (nearest) QCOMPARE(unchanged, double{kSteps});
    }
    QCOMPARE(last[0], 1.0);
    const double exact = std::pow(1 - 2 * 0x1p-11, kSteps); // each step takes 2 lr of the weight
    // a random walk of gaps of at most 2^-8 with probabilities of at most a quarter, five
    // deviations
    const double bound = 5 * 0x1p-8 * std::sqrt(kSteps * 0.25 * 0.75);
    QVERIFY2(std::abs(last[1] - exact) < bound,
             qPrintable(QStringLiteral("%1, exactly %2").arg(last[1]).arg(exact)));
}

/// The setting means nothing where weights are float32: the step is the same then.
void TestStochasticRounding::otherLanesStayAsTheyAre() {
    for (const Precision precision : {Precision::Fp32, Precision::AmpFp16, Precision::ApexO2}) {
        LaneConfig lane = defaultLane(precision);
        QVERIFY(!storesHalf(lane));
        RunConfig usual = laneConfig(precision), other = usual;
        other.lanes[0].rounding = WeightRounding::Stochastic;
        Lane a(usual), b(other);
        QCOMPARE(b.trainer.program().graph.size(), a.trainer.program().graph.size());
    }
    LaneConfig pure = defaultLane(Precision::Bf16);
    QVERIFY(storesHalf(pure));
    pure.masterWeights = Override::On;
    QVERIFY(!storesHalf(pure));
}

void TestStochasticRounding::repeatsItself() {
    RunConfig config = laneConfig(Precision::Fp16);
    config.lanes[0].rounding = WeightRounding::Stochastic;
    std::set<std::vector<float>> seen;
    for (const int64_t threads : {1, 2}) {
        config.threads = threads;
        Lane lane(config);
        for (int step = 1; step <= 5; ++step)
            lane.step(step);
        seen.insert(lane.trainer.weights().begin()->second);
    }
    QCOMPARE(seen.size(), size_t{1});
}

} // namespace tst_stochastic_rounding

QTEST_GUILESS_MAIN(tst_stochastic_rounding::TestStochasticRounding)
#include "tst_stochastic_rounding.moc"
