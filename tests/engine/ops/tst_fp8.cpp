// Rounding to FP8: single numbers, scales and layers against PyTorch's dtypes, and which layers of
// a lane take part.
#include "engine/core/text.h"
#include "engine/io/input_file.h"
#include "engine/ops/fp8.h"
#include "engine/ops/functional.h"
#include "engine/passes/autodiff.h"
#include "engine/passes/compile.h"
#include "engine/settings/fields.h"
#include "engine/step/step_graph.h"
#include "engine/verify/golden.h"
#include "tests/support/lane.h"
#include "tests/support/run_program.h"

#include <QTest>

#include <bit>
#include <cmath>
#include <limits>

namespace tst_fp8 {

using namespace halfscope;
using namespace halfscope::test;
using recorded::Golden;

namespace {

using Values = std::vector<double>;

const Golden& golden() {
    static const Golden file = [] {
        const std::string path = HALFSCOPE_SOURCE_DIR "/tests/golden/fp8.json";
        return Golden::parse(path, readFile(path));
    }();
    return file;
}

/// Float32 values that the file holds as their bits.
Values floatsAt(const Golden& row, const char* key) {
    Values values;
    for (const Golden& bits : row.at(key).items())
        values.push_back(
            double{std::bit_cast<float>(static_cast<uint32_t>(bits.integer() & 0xFFFFFFFF))});
    return values;
}

Fp8Format formatNamed(const std::string& name) {
    return name == nameOf(Fp8Format::E4M3) ? Fp8Format::E4M3 : Fp8Format::E5M2;
}

/// All non-negative numbers of a format, by its definition, ascending.
Values numbersOf(Fp8Format format) {
    const Fp8Facts facts = factsOf(format);
    const int steps = 1 << facts.fractionBits;
    Values numbers;
    for (int exponent = facts.minExponent; exponent <= facts.maxExponent; ++exponent)
        for (int i = exponent == facts.minExponent ? -steps : 0; i < steps; ++i)
            numbers.push_back(std::ldexp(1.0 + double(i) / steps, exponent));
    while (numbers.back() > double{facts.max})
        numbers.pop_back();
    return numbers;
}

/// Returns the nearest of the numbers, of two equally near ones that with an even number in the
/// list: its last bit is 0.
double nearestOf(const Values& numbers, double x) {
    const auto above = std::lower_bound(numbers.begin(), numbers.end(), x);
    if (above == numbers.end()) return numbers.back();
    if (above == numbers.begin()) return *above;
    const double up = *above - x, down = x - *(above - 1);
    if (up != down) return up < down ? *above : *(above - 1);
    return (above - numbers.begin()) % 2 == 0 ? *above : *(above - 1);
}

std::string differences(const Values& got, const Values& wanted) {
    std::string text;
    int count = 0;
    for (size_t i = 0; i < std::max(got.size(), wanted.size()); ++i) {
        if (i < std::min(got.size(), wanted.size()) &&
            std::bit_cast<uint64_t>(got[i]) == std::bit_cast<uint64_t>(wanted[i]))
            continue;
        if (++count <= 3 && i < std::min(got.size(), wanted.size()))
            text += std::to_string(i) + ": " + numberText(got[i]) + " instead of " +
                    numberText(wanted[i]) + "; ";
    }
    return count == 0 ? std::string() : std::to_string(count) + " differ, " + text;
}

/// Rounds values in a graph, as steps do.
Values rounded(const Values& x, Fp8Format format, Fp8Scaling scaling, DType type = DType::F32) {
    Graph graph;
    Builder b(graph);
    const Shape shape{static_cast<int64_t>(x.size())};
    const NodeId in = b.input("x", shape, type);
    graph.addOutput("y", b.cast(fp8Rounded(b, in, format, scaling), DType::F32));
    return runSteps(graph, {{in, {shape, x}}}, FuseOptions::Full, 1, 1).at("y");
}

/// A layer of the file with the gradients of everything that it takes.
struct RecordedLayer {
    Graph graph;
    std::map<NodeId, RefTensor> leaves;

    explicit RecordedLayer(const Golden& row) {
        Builder b(graph);
        const CastPolicy policy =
            fp8Policy(row.at("scaled").flag() ? Fp8Scaling::Dynamic : Fp8Scaling::None);
        const NodeId x = leaf(b, row, "x", row.at("shapes").at(0).shape(), DType::F32);
        const NodeId weight = leaf(b, row, "weight", row.at("shapes").at(1).shape(), DType::F32);
        const bool biased = row.find("bias").has_value();
        const NodeId bias = biased ? leaf(b, row, "bias", {4}, DType::F32) : kNoNode;
        NodeId y = kNoNode;
        {
            const AutocastScope scope(b, &policy);
            y = emit(b, row.at("layer").text(), x, weight, bias);
        }
        const NodeId dy = leaf(b, row, "dy", b.shapeOf(y), b.dtypeOf(y));
        std::vector<NodeId> taken{x, weight};
        if (biased) taken.push_back(bias);
        const auto made = gradients(b, y, taken, dy);
        const NodeId v = leaf(b, row, "v", b.shapeOf(x), DType::F32);
        const auto second = gradients(b, made[0].value(), std::array{dy, weight}, v);
        graph.addOutput("y", b.cast(y, DType::F32));
        graph.addOutput("dx", made[0].value());
        graph.addOutput("dweight", made[1].value());
        if (biased) graph.addOutput("dbias", made[2].value());
        graph.addOutput("ddy", b.cast(second[0].value(), DType::F32));
        graph.addOutput("d2weight", second[1].value());
    }

    static NodeId emit(Builder& b, const std::string& layer, NodeId x, NodeId weight, NodeId bias) {
        if (layer.starts_with("linear")) return fn::linear(b, x, weight, bias);
        if (layer == "conv1d") return fn::conv1d(b, x, weight, bias, {});
        if (layer == "conv_transpose1d") return fn::convTranspose1d(b, x, weight, bias, {});
        if (layer == "conv_transpose2d") return fn::convTranspose2d(b, x, weight, bias, {}, {0, 0});
        const bool grouped = layer == "conv2d, groups";
        return fn::conv2d(b, x, weight, bias,
                          grouped ? ConvAttrs{.stride = {2, 2}, .groups = 2} : ConvAttrs{});
    }

    NodeId leaf(Builder& b, const Golden& row, const char* name, const Shape& shape, DType type) {
        const NodeId node = b.input(name, shape, type);
        leaves.emplace(node, RefTensor{shape, floatsAt(row, name)});
        return node;
    }
};

int countOf(const Graph& graph, Op op, const std::string& label = {}) {
    int count = 0;
    for (NodeId id = 0; id < graph.size(); ++id)
        count += graph[id].op == op && (label.empty() || graph[id].cause.label == label);
    return count;
}

Graph stepOf(const LaneConfig& lane) {
    RunConfig config = laneConfig(lane.precision);
    config.lanes = {lane};
    return buildStep(config, lane, {64, 10, 1});
}

} // namespace

class TestFp8 : public QObject {
    Q_OBJECT

private slots:
    void numbersFollowPyTorch_data();
    void numbersFollowPyTorch();
    void everyNumberGoesToTheNearest_data();
    void everyNumberGoesToTheNearest();
    void scaleFillsTheRange_data();
    void scaleFillsTheRange();
    void notFiniteNumbers();
    void layersFollowPyTorch_data();
    void layersFollowPyTorch();
    void onlyLayersTakePart();
    void marksLeaveNothing();
    void smallGradientsNeedAScale();
    void penaltyHasSecondDerivatives();
};

void TestFp8::numbersFollowPyTorch_data() {
    QTest::addColumn<int>("row");
    for (size_t i = 0; i < golden().at("formats").size(); ++i)
        QTest::newRow(golden().at("formats").at(i).at("format").text().c_str())
            << static_cast<int>(i);
}

void TestFp8::numbersFollowPyTorch() {
    QFETCH(int, row);
    const Golden table = golden().at("formats").at(static_cast<size_t>(row));
    const Values x = floatsAt(table, "x"), wanted = floatsAt(table, "rounded");
    QVERIFY(x.size() > 1000);
    const std::string different =
        differences(rounded(x, formatNamed(table.at("format").text()), Fp8Scaling::None), wanted);
    QVERIFY2(different.empty(), different.c_str());
}

void TestFp8::everyNumberGoesToTheNearest_data() {
    QTest::addColumn<int>("format");
    QTest::newRow("e4m3") << static_cast<int>(Fp8Format::E4M3);
    QTest::newRow("e5m2") << static_cast<int>(Fp8Format::E5M2);
}

/// Every positive number of bfloat16, in bfloat16.
void TestFp8::everyNumberGoesToTheNearest() {
    QFETCH(int, format);
    const Values numbers = numbersOf(Fp8Format(format));
    QCOMPARE(numbers.size(), size_t(format == 0 ? 127 : 124));
    Values x, wanted;
    for (uint32_t bits = 0; bits < 0x7F80; ++bits) {
        x.push_back(double{floatFromBfloat16(static_cast<uint16_t>(bits))});
        wanted.push_back(nearestOf(numbers, x.back()));
    }
    const std::string different =
        differences(rounded(x, Fp8Format(format), Fp8Scaling::None, DType::BF16), wanted);
    QVERIFY2(different.empty(), different.c_str());
}

void TestFp8::scaleFillsTheRange_data() { everyNumberGoesToTheNearest_data(); }

/// The greatest magnitude of a tensor comes to the upper half of the range, and stays in it, where
/// the power of two is one that a float can hold.
void TestFp8::scaleFillsTheRange() {
    QFETCH(int, format);
    const Fp8Facts facts = factsOf(Fp8Format(format));
    for (uint32_t bits = 1; bits < 0x7F800000U; bits += 1009) {
        const float amax = std::bit_cast<float>(bits);
        const int exponent = fp8ScaleExponent(facts, amax);
        const double scaled = std::ldexp(double{amax}, exponent);
        const std::string text = numberText(double{amax}) + " becomes " + numberText(scaled);
        QVERIFY2(scaled <= double{facts.max}, text.c_str());
        QVERIFY2(2 * scaled > double{facts.max} || exponent == 126, text.c_str());
        QVERIFY2(fp8ScaleExponent(facts, -amax) == exponent, text.c_str());
    }
    QCOMPARE(fp8ScaleExponent(facts, facts.max), 0);
    QCOMPARE(fp8ScaleExponent(facts, std::nextafter(facts.max, 1e9f)), -1);
    QCOMPARE(fp8ScaleExponent(facts, 0.0f), 0);
    // 3 and its 1/100 keep the relative error of the format, however small the tensor is.
    for (const double size : {1e-30, 1e-3, 1.0, 1e30}) {
        const Values x{3 * size, 0.03 * size},
            y = rounded(x, Fp8Format(format), Fp8Scaling::Dynamic);
        for (size_t i = 0; i < x.size(); ++i)
            QVERIFY2(std::fabs(y[i] / x[i] - 1) <= std::ldexp(1.0, -1 - facts.fractionBits),
                     numberText(y[i]).c_str());
    }
}

void TestFp8::notFiniteNumbers() {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    const Values x{1.1, kInf, -kInf, std::numeric_limits<double>::quiet_NaN()};
    for (const Fp8Scaling scaling : {Fp8Scaling::Dynamic, Fp8Scaling::None}) {
        const Values y = rounded(x, Fp8Format::E4M3, scaling);
        QCOMPARE(y[0], 1.125); // such a tensor has a scale of 1
        QCOMPARE(y[1], 448.0);
        QCOMPARE(y[2], -448.0);
        QVERIFY(std::isnan(y[3]));
    }
}

void TestFp8::layersFollowPyTorch_data() {
    QTest::addColumn<int>("row");
    const auto rows = golden().at("layers").items();
    for (size_t i = 0; i < rows.size(); ++i)
        QTest::addRow("%zu %s, %s", i, rows[i].at("layer").text().c_str(),
                      rows[i].at("scaled").flag() ? "scaled" : "not scaled")
            << static_cast<int>(i);
}

/// Products of numbers with 4 and 3 bits and sums of a few of them are exact in float32, or so
/// nearly that rounding them to bfloat16 gives the same bits in any order.
void TestFp8::layersFollowPyTorch() {
    QFETCH(int, row);
    const Golden recordedRow = golden().at("layers").at(static_cast<size_t>(row));
    RecordedLayer layer(recordedRow);
    for (const FuseOptions fuse : {FuseOptions::Full, FuseOptions::None}) {
        const auto got = runSteps(layer.graph, layer.leaves, fuse, 2, 1);
        for (const char* name : {"y", "dx", "dweight", "dbias", "ddy", "d2weight"}) {
            if (!recordedRow.find(name)) continue;
            const std::string different = differences(got.at(name), floatsAt(recordedRow, name));
            QVERIFY2(different.empty(), (std::string(name) + ": " + different).c_str());
        }
    }
}

void TestFp8::onlyLayersTakePart() {
    LaneConfig lane = defaultLane(Precision::Fp8);
    const Graph all = stepOf(lane);
    // three for each of three layers: input, weight, gradient
    QCOMPARE(countOf(all, Op::QuantizeFp8), 9);
    QCOMPARE(countOf(all, Op::QuantizeGradient), 3);
    lane.layers = "output layer=bfloat16";
    const Graph first = stepOf(lane);
    QCOMPARE(countOf(first, Op::QuantizeFp8), 6);
    QCOMPARE(countOf(first, Op::QuantizeFp8, "output layer"), 0);
    QCOMPARE(countOf(stepOf(defaultLane(Precision::AmpBf16)), Op::QuantizeFp8), 0);
    // without a scale nothing looks for the greatest magnitude
    lane = defaultLane(Precision::Fp8);
    lane.fp8Scaling = Fp8Scaling::None;
    QCOMPARE(countOf(stepOf(lane), Op::ReduceMax), 0);
    QCOMPARE(countOf(all, Op::ReduceMax), 9);
}

void TestFp8::marksLeaveNothing() {
    const Program program = compile(stepOf(defaultLane(Precision::Fp8)));
    QCOMPARE(countOf(program.graph, Op::QuantizeGradient), 0);
    QCOMPARE(countOf(program.graph, Op::QuantizeFp8), 9);
}

/// A weight of 1 whose gradient is 2^-18, less than half of the least number of E5M2.
void TestFp8::smallGradientsNeedAScale() {
    for (const Fp8Scaling scaling : {Fp8Scaling::Dynamic, Fp8Scaling::None}) {
        RunConfig config = laneConfig(Precision::Fp8);
        config.model.layers = "nn.Sequential(nn.Linear(1, 1, bias=False))";
        config.optimizer = {.kind = OptimizerKind::Sgd, .lr = 0.5};
        config.optimizer.momentum = 0;
        config.lanes[0].fp8Scaling = scaling;
        Lane lane(config, FixedDataset{{1, 1, 1}, {{{1.0f}, {1.0f - 0x1p-19f}}}});
        lane.trainer.setWeights({{"0.weight", {1.0f}}});
        lane.step(1);
        const float weight = lane.trainer.weights().at("0.weight").front();
        const bool scaled = scaling == Fp8Scaling::Dynamic;
        QCOMPARE(weight, scaled ? 1.0f - 0x1p-19f : 1.0f);
        QCOMPARE(lane.count(EventKind::Underflow), scaled ? 0 : 1);
    }
}

void TestFp8::penaltyHasSecondDerivatives() {
    RunConfig config = laneConfig(Precision::Fp8);
    config.gradients.penalty = 0.1;
    config.gradients.penaltyEps = 1e-12;
    Lane lane(config);
    const double first = lane.step(1).loss;
    double last = first;
    for (int64_t step = 2; step <= 50; ++step)
        last = lane.step(step).loss;
    QVERIFY2(std::isfinite(last) && last < first, numberText(last).c_str());
}

} // namespace tst_fp8

QTEST_GUILESS_MAIN(tst_fp8::TestFp8)
#include "tst_fp8.moc"
