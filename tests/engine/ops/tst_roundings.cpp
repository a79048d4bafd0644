// Where values and gradients in 16 bits are rounded, as PyTorch's own operations round them.
#include "engine/models/emit_model.h"
#include "engine/ops/functional.h"
#include "engine/passes/autodiff.h"
#include "engine/verify/run_graph.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace tst_roundings {

using namespace halfscope;

namespace {

constexpr int64_t kCount = 997;

/// Returns values between `low` and `high`, none of them twice.
RefTensor spread(const Shape& shape, double low, double high, DType type, int64_t first = 1) {
    RefTensor tensor{shape, {}};
    for (int64_t i = 0; i < shape.elements(); ++i) {
        const double share = static_cast<double>((first + i) * 607 % (shape.elements() + 11)) /
                             static_cast<double>(shape.elements() + 11);
        tensor.values.push_back(roundTo(type, low + (high - low) * share));
    }
    return tensor;
}

using Values = std::map<std::string, std::vector<double>>;

/// A graph with inputs, run on the CPU.
struct Bench {
    Graph graph;
    Builder b{graph};
    std::map<NodeId, RefTensor> leaves;

    NodeId leaf(const std::string& name, const RefTensor& values, DType type) {
        const NodeId id = b.input(name, values.shape, type);
        leaves[id] = values;
        return id;
    }
    Values run() {
        const auto executor = makeCpuExecutor(1);
        return recorded::runGraph(*executor, graph, leaves, executor->compileOptions());
    }
};

int64_t differing(const std::vector<double>& a, const std::vector<double>& b) {
    int64_t count = 0;
    for (size_t i = 0; i < a.size(); ++i)
        count += a[i] != b[i];
    return count;
}

/// A function, its gradient as PyTorch writes it, and values for which it is defined.
struct Composed {
    const char* name;
    std::function<NodeId(Builder&, NodeId x)> call;
    std::function<NodeId(Builder&, NodeId dy, NodeId x, NodeId y)> gradient;
    double low = -1, high = 1;
};

NodeId one(Builder& b, NodeId like) { return b.constantLike(1, like); }

template <Op Code>
NodeId unary(Builder& b, NodeId x) {
    return fn::unary(b, Code, x);
}

const std::vector<Composed>& composed() {
    static const std::vector<Composed> all{
        {"sin", unary<Op::Sin>,
         [](Builder& b, NodeId dy, NodeId x, NodeId) { return b.mul(dy, b.unary(Op::Cos, x)); }},
        {"cos", unary<Op::Cos>,
         [](Builder& b, NodeId dy, NodeId x, NodeId) {
             return b.mul(dy, b.neg(b.unary(Op::Sin, x)));
         }},
        {"tanh", unary<Op::Tanh>,
         [](Builder& b, NodeId dy, NodeId, NodeId y) {
             return b.mul(dy, b.sub(one(b, y), b.mul(y, y)));
         }},
        {"sigmoid", unary<Op::Sigmoid>,
         [](Builder& b, NodeId dy, NodeId, NodeId y) {
             return b.mul(b.mul(dy, b.sub(one(b, y), y)), y);
         }},
        {"erf", unary<Op::Erf>,
         [](Builder& b, NodeId dy, NodeId x, NodeId) {
             const NodeId bell = b.unary(Op::Exp, b.neg(b.mul(x, x)));
             return b.mul(b.scale(bell, 2 * std::numbers::inv_sqrtpi), dy);
         }},
        {"reciprocal", unary<Op::Reciprocal>,
         [](Builder& b, NodeId dy, NodeId, NodeId y) { return b.mul(b.neg(dy), b.mul(y, y)); }, 0.5,
         2},
        {"tan", unary<Op::Tan>,
         [](Builder& b, NodeId dy, NodeId, NodeId y) {
             return b.mul(dy, b.shift(b.mul(y, y), 1));
         }},
        {"asin", unary<Op::Asin>,
         [](Builder& b, NodeId dy, NodeId x, NodeId) {
             return b.mul(dy, b.unary(Op::Rsqrt, b.sub(one(b, x), b.mul(x, x))));
         },
         -0.9, 0.9},
        {"acos", unary<Op::Acos>,
         [](Builder& b, NodeId dy, NodeId x, NodeId) {
             return b.mul(dy, b.neg(b.unary(Op::Rsqrt, b.sub(one(b, x), b.mul(x, x)))));
         },
         -0.9, 0.9},
        {"sinh", unary<Op::Sinh>,
         [](Builder& b, NodeId dy, NodeId x, NodeId) { return b.mul(dy, b.unary(Op::Cosh, x)); }},
        {"cosh", unary<Op::Cosh>,
         [](Builder& b, NodeId dy, NodeId x, NodeId) { return b.mul(dy, b.unary(Op::Sinh, x)); }},
        {"log10", unary<Op::Log10>,
         [](Builder& b, NodeId dy, NodeId x, NodeId) {
             return b.div(dy, b.scale(x, std::numbers::ln10));
         },
         0.5, 2},
        {"log2", unary<Op::Log2>,
         [](Builder& b, NodeId dy, NodeId x, NodeId) {
             return b.div(dy, b.scale(x, std::numbers::ln2));
         },
         0.5, 2},
        {"log1p", unary<Op::Log1p>,
         [](Builder& b, NodeId dy, NodeId x, NodeId) { return b.div(dy, b.shift(x, 1)); }, -0.5, 2},
        {"erfinv", unary<Op::Erfinv>,
         [](Builder& b, NodeId dy, NodeId, NodeId y) {
             const NodeId bell = b.unary(Op::Exp, b.mul(y, y));
             return b.mul(dy, b.scale(bell, 1 / (2 * std::numbers::inv_sqrtpi)));
         },
         -0.9, 0.9},
        {"one over x",
         [](Builder& b, NodeId x) { return fn::div(b, b.constant(3, {}, b.dtypeOf(x)), x); },
         [](Builder& b, NodeId dy, NodeId x, NodeId y) { return b.mul(b.neg(dy), b.div(y, x)); },
         0.5, 2}};
    return all;
}

} // namespace

class TestRoundings : public QObject {
    Q_OBJECT

private slots:
    void gradientsOfSeveralOperations_data();
    void gradientsOfSeveralOperations();
    void numbersAreTakenInF32_data();
    void numbersAreTakenInF32();
    void readersOfAnActivation();
    void attentionScoresAreWide();
    void attentionProjectionRoundsTwice();
    void biasOfConvolutions_data();
    void biasOfConvolutions();
};

void TestRoundings::gradientsOfSeveralOperations_data() {
    QTest::addColumn<int>("function");
    QTest::addColumn<int>("type");
    for (size_t i = 0; i < composed().size(); ++i)
        for (const DType type : {DType::F16, DType::BF16})
            QTest::addRow("%s, %s", composed()[i].name, std::string(nameOf(type)).c_str())
                << static_cast<int>(i) << static_cast<int>(type);
}

/// Each operation of the gradient rounds: the bits are those of the same operations by hand, and
/// not those of one rounding.
void TestRoundings::gradientsOfSeveralOperations() {
    QFETCH(int, function);
    QFETCH(int, type);
    const Composed& f = composed()[static_cast<size_t>(function)];
    const auto dtype = static_cast<DType>(type);
    const auto values = [&](bool byRule) { // in graphs of their own: equal nodes would be one node
        Bench t;
        const NodeId x = t.leaf("x", spread({kCount}, f.low, f.high, dtype), dtype),
                     dy = t.leaf("dy", spread({kCount}, -2, 3, dtype, 77), dtype);
        const NodeId y = f.call(t.b, x);
        const auto wide = [&](NodeId id) { return t.b.cast(id, DType::F32); };
        t.graph.addOutput("dx", byRule ? gradients(t.b, y, std::array{x}, dy)[0].value()
                                       : f.gradient(t.b, dy, x, y));
        t.graph.addOutput("once", t.b.cast(f.gradient(t.b, wide(dy), wide(x), wide(y)), dtype));
        return t.run();
    };
    const Values got = values(true), byHand = values(false);
    QCOMPARE(got.at("dx"), byHand.at("dx"));
    QVERIFY(differing(got.at("dx"), got.at("once")) > kCount / 20);
}

void TestRoundings::numbersAreTakenInF32_data() {
    QTest::addColumn<int>("type");
    QTest::newRow("float16") << static_cast<int>(DType::F16);
    QTest::newRow("bfloat16") << static_cast<int>(DType::BF16);
}

/// A Python number is not rounded to the dtype of the tensor that it multiplies.
void TestRoundings::numbersAreTakenInF32() {
    QFETCH(int, type);
    const auto dtype = static_cast<DType>(type);
    constexpr double kNumber = 2 * std::numbers::pi;
    Bench t;
    const RefTensor values = spread({kCount}, -1, 1, dtype);
    const NodeId x = t.leaf("x", values, dtype);
    t.graph.addOutput("scaled", t.b.scale(x, kNumber));
    t.graph.addOutput("shifted", t.b.shift(x, kNumber));
    const Values got = t.run();
    const double number = roundTo(DType::F32, kNumber), low = roundTo(dtype, kNumber);
    int64_t differ = 0;
    for (size_t i = 0; i < kCount; ++i) {
        const double x0 = values.values[i];
        QCOMPARE(got.at("scaled")[i], roundTo(dtype, roundTo(DType::F32, x0 * number)));
        QCOMPARE(got.at("shifted")[i], roundTo(dtype, roundTo(DType::F32, x0 + number)));
        differ += got.at("scaled")[i] != roundTo(dtype, x0 * low);
    }
    QVERIFY(differ > kCount / 50);
    const NodeId exact = t.b.scale(x, 0.5); // one operation where the dtype holds the number
    QCOMPARE(t.graph[exact].op, Op::Mul);
}

/// Two layers in 16 bits that read one activation in float32 cast it once each: their gradients are
/// added in float32. A weight is cast once for both, and its gradients are added in 16 bits.
void TestRoundings::readersOfAnActivation() {
    constexpr DType kLow = DType::BF16;
    const Shape shape{2, 4, 16}; // the product's operand is another shape of the cast
    Bench t;
    const NodeId leaf = t.leaf("x", spread(shape, -1, 1, DType::F32), DType::F32);
    const NodeId activation = t.b.unary(Op::Softplus, leaf);
    std::array<NodeId, 2> weight{}, dy{}, parts{};
    for (size_t i = 0; i < 2; ++i) {
        const std::string name = std::to_string(i);
        const auto at = static_cast<int64_t>(i);
        weight[i] = t.leaf("w" + name, spread({16, 16}, -1, 1, kLow, 3 + 5 * at), kLow);
        dy[i] = t.leaf("dy" + name, spread(shape, -1, 1, kLow, 11 + 7 * at), kLow);
        parts[i] = t.b.reshape(t.b.matmul(t.b.reshape(dy[i], {8, 16}), weight[i]), shape);
    }
    const auto wide = [&](NodeId id) { return t.b.cast(id, DType::F32); };
    const auto gradientOf = [&](NodeId of) {
        const NodeId low = t.b.autocast(of, kLow);
        NodeId sum = kNoNode;
        for (size_t i = 0; i < 2; ++i) {
            const NodeId y = fn::linear(t.b, low, weight[i], kNoNode);
            const NodeId part = t.b.sumAll(t.b.mul(wide(y), wide(dy[i])));
            sum = sum == kNoNode ? part : t.b.add(sum, part);
        }
        return gradients(t.b, sum, std::array{of})[0].value();
    };
    t.graph.addOutput("activation", gradientOf(activation));
    t.graph.addOutput("leaf", gradientOf(leaf));
    t.graph.addOutput("in f32", t.b.add(wide(parts[0]), wide(parts[1])));
    t.graph.addOutput("in 16 bits", wide(t.b.add(parts[0], parts[1])));
    const Values got = t.run();
    QCOMPARE(got.at("activation"), got.at("in f32"));
    QCOMPARE(got.at("leaf"), got.at("in 16 bits"));
    QVERIFY(differing(got.at("in f32"), got.at("in 16 bits")) > shape.elements() / 10);
}

/// q k before its division by the root of the width may be far beyond float16.
void TestRoundings::attentionScoresAreWide() {
    constexpr int64_t kWidth = 64;
    Bench t;
    const RefTensor large{{1, 3, kWidth}, std::vector<double>(3 * kWidth, 40)};
    const NodeId query = t.leaf("q", large, DType::F16), key = t.leaf("k", large, DType::F16),
                 value = t.leaf("v", spread({1, 3, kWidth}, -1, 1, DType::F16), DType::F16);
    const NodeId y = fn::scaledDotProductAttention(t.b, query, key, value);
    QCOMPARE(t.b.dtypeOf(y), DType::F16);
    t.graph.addOutput("y", y);
    const auto d =
        gradients(t.b, t.b.sumAll(t.b.cast(y, DType::F32)), std::array{query, key, value});
    t.graph.addOutput("dq", d[0].value());
    t.graph.addOutput("dk", d[1].value());
    t.graph.addOutput("dv", d[2].value());
    QCOMPARE(t.b.dtypeOf(d[0].value()), DType::F16);
    const Values got = t.run();
    const auto isFinite = [](double v) { return std::isfinite(v); };
    for (const char* name : {"y", "dq", "dk", "dv"})
        QVERIFY(std::all_of(got.at(name).begin(), got.at(name).end(), isFinite));
    for (size_t i = 0; i < kWidth; ++i) { // all keys are alike: the mean of the values
        double mean = 0;
        for (size_t k = 0; k < 3; ++k)
            mean += t.leaves.at(value).values[k * kWidth + i] / 3;
        QVERIFY(std::abs(got.at("y")[i] - mean) <= 4 * formatOf(DType::F16).unitRoundoff());
    }
}

/// The packed projection of an encoder layer adds its bias to rounded products, because its input
/// is a view of samples and places that change their places; with one sample or one place it is
/// not.
void TestRoundings::attentionProjectionRoundsTwice() {
    const ModelSpec model = readModel("TransformerEncoderLayer(8, 2, 4, batch_first=True)");
    const auto operandsOfProjection = [&](const Shape& in) {
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", in, DType::BF16);
        emitModel(b, model, {x, in});
        size_t operands = 0;
        for (NodeId id = 0; id < graph.size(); ++id)
            if (graph[id].op == Op::Matmul && graph[id].shape.back() == 24)
                operands = graph[id].in.size();
        return operands;
    };
    QCOMPARE(operandsOfProjection({2, 5, 8}), size_t{2});
    QCOMPARE(operandsOfProjection({1, 5, 8}), size_t{3});
    QCOMPARE(operandsOfProjection({2, 1, 8}), size_t{3});
}

namespace {

/// A convolution with the shapes of its input and its weight; axis 1 of its result are channels.
struct BiasedConvolution {
    const char* name;
    Shape x, weight;
    int64_t outputs;
    NodeId (*emit)(Builder&, NodeId x, NodeId weight, NodeId bias);
    bool transposed = false;
};
std::array<BiasedConvolution, 5> biasedConvolutions() {
    return {{{"conv2d",
              {3, 4, 9, 8},
              {6, 4, 3, 3},
              6,
              [](Builder& b, NodeId x, NodeId w, NodeId bias) {
                  return fn::conv2d(b, x, w, bias, {{2, 1}, {1, 1}, {}});
              }},
             {"1x1", {120, 12}, {6, 12, 1, 1}, 6, fn::pointwiseConv2d},
             {"conv1d",
              {3, 4, 40},
              {6, 4, 3},
              6,
              [](Builder& b, NodeId x, NodeId w, NodeId bias) {
                  return fn::conv1d(b, x, w, bias, {.padding = 1});
              }},
             {"transposed",
              {3, 4, 6, 7},
              {4, 6, 3, 3},
              6,
              [](Builder& b, NodeId x, NodeId w, NodeId bias) {
                  return fn::convTranspose2d(b, x, w, bias, {{2, 2}, {1, 1}, {}});
              },
              true},
             {"transposed, of sequences",
              {3, 4, 40},
              {4, 6, 3},
              6,
              [](Builder& b, NodeId x, NodeId w, NodeId bias) {
                  return fn::convTranspose1d(b, x, w, bias, {.stride = 2, .padding = 1});
              },
              true}}};
}

} // namespace

void TestRoundings::biasOfConvolutions_data() {
    QTest::addColumn<int>("index");
    QTest::addColumn<int>("type");
    int index = 0;
    for (const BiasedConvolution& each : biasedConvolutions()) {
        for (const DType type : {DType::F16, DType::BF16})
            QTest::addRow("%s, %s", each.name, std::string(nameOf(type)).c_str())
                << index << static_cast<int>(type);
        ++index;
    }
}

/// PyTorch's kernels for a CPU add the bias of a convolution before they round, those for CUDA
/// after it. Gradients are rounded alike.
void TestRoundings::biasOfConvolutions() {
    QFETCH(int, index);
    QFETCH(int, type);
    const BiasedConvolution layer = biasedConvolutions()[static_cast<size_t>(index)];
    const auto low = static_cast<DType>(type);
    Bench t;
    const std::array<NodeId, 3> in{
        t.leaf("x", spread(layer.x, -1, 1, DType::F32), DType::F32),
        t.leaf("w", spread(layer.weight, -1, 1, DType::F32, 5), DType::F32),
        t.leaf("bias", spread({layer.outputs}, -3, 3, DType::F32, 3), DType::F32)};
    NodeId dy = kNoNode;
    const auto add = [&](const std::string& name, const CastPolicy& policy) {
        NodeId y = kNoNode;
        {
            const AutocastScope scope(t.b, &policy);
            y = layer.emit(t.b, in[0], in[1], in[2]);
        }
        QCOMPARE(t.b.dtypeOf(y), low);
        const NodeId wide = t.b.cast(y, DType::F32);
        if (dy == kNoNode)
            dy = t.leaf("dy", spread(t.b.shapeOf(y), -1, 1, DType::F32, 7), DType::F32);
        const auto d = gradients(t.b, t.b.sumAll(t.b.mul(wide, dy)), in);
        t.graph.addOutput(name, wide);
        for (size_t i = 0; i < in.size(); ++i)
            t.graph.addOutput(name + " d" + std::to_string(i), d[i].value());
    };
    add("cpu", torchCpuPolicy(low));
    add("cuda", torchCudaPolicy(low));
    const auto rounded = [&](NodeId id) { return t.b.cast(t.b.cast(id, low), DType::F32); };
    const NodeId sums = layer.emit(t.b, rounded(in[0]), rounded(in[1]), kNoNode);
    Shape row = Shape::filled(t.b.shapeOf(sums).rank(), 1);
    row[1] = layer.outputs;
    const NodeId bias = t.b.expandLike(t.b.reshape(rounded(in[2]), row), sums);
    t.graph.addOutput("once", rounded(t.b.add(sums, bias)));
    t.graph.addOutput("twice", rounded(t.b.add(rounded(sums), bias)));
    const Values got = t.run();

    const auto few = static_cast<int64_t>(got.at("once").size() / 100);
    const bool twice = layer.transposed && low == DType::F16;
    QVERIFY(differing(got.at("once"), got.at("twice")) > 10 * few);
    QVERIFY(differing(got.at("cpu"), got.at(twice ? "twice" : "once")) <= few);
    QVERIFY(differing(got.at("cuda"), got.at("twice")) <= few);
    for (const char* gradient : {" d0", " d1", " d2"}) {
        const std::string name = gradient;
        // the sums of the bias may have another order
        const int64_t most = name == " d2" ? 1 : 0;
        QVERIFY(differing(got.at("cpu" + name), got.at("cuda" + name)) <= most);
    }
}

} // namespace tst_roundings

QTEST_GUILESS_MAIN(tst_roundings::TestRoundings)
#include "tst_roundings.moc"
