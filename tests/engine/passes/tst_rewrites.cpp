// How the CPU's steps are rewritten before they are fused: thin products by element, sums of linear
// terms apart. The values are the same, there are fewer passes, and nothing else changes.
#include "engine/ops/op_info.h"
#include "tests/support/run_program.h"

#include "engine/core/philox.h"
#include "engine/passes/linear_sums.h"
#include "engine/passes/rewrite.h"
#include "engine/passes/thin_products.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "engine/step/step_graph.h"
#include "engine/train/step_runner.h"

#include <QtTest>

#include <algorithm>
#include <cmath>

namespace tst_rewrites {

using namespace halfscope;

namespace {

RefTensor normal(const Node& node, uint64_t stream) {
    std::vector<float> values(static_cast<size_t>(node.elements()));
    Philox(11, stream).fillNormal(values);
    RefTensor tensor{node.shape, {}};
    for (float value : values)
        tensor.values.push_back(roundTo(node.dtype, static_cast<double>(value)));
    return tensor;
}

/// Returns normal values for all inputs, by name, so that they are the same in a rewritten graph.
std::map<NodeId, RefTensor> leavesOf(const Graph& graph) {
    std::map<NodeId, RefTensor> leaves;
    uint64_t stream = 1;
    for (const InputInfo& input : graph.inputs())
        leaves[input.node] = normal(graph[input.node], stream++);
    return leaves;
}

std::vector<double> valuesOf(const Graph& graph, const char* output, RefRounding rounding) {
    const NodeId id = graph.output(output);
    return evaluate(graph, leavesOf(graph), std::span(&id, 1), rounding).at(id).values;
}

int64_t count(const Graph& graph, Op op, int64_t fewestElements = 0) {
    int64_t found = 0;
    for (NodeId id = 0; id < graph.size(); ++id)
        if (graph[id].op == op) {
            const NodeId of = graph[id].in.empty() ? id : graph[id].in[0];
            found += graph[of].elements() >= fewestElements;
        }
    return found;
}

Graph product(int64_t m, int64_t n, int64_t k, MatmulAttrs how, DType dtype,
              MathMode math = MathMode::F32) {
    Graph graph;
    Builder b(graph);
    b.setMathMode(math);
    const NodeId a = b.input("a", how.transposeA ? Shape{k, m} : Shape{m, k}, dtype);
    const NodeId c = b.input("b", how.transposeB ? Shape{n, k} : Shape{k, n}, dtype);
    graph.addOutput("y", b.matmul(a, c, how));
    return graph;
}

constexpr int64_t kRows = 40, kColumns = 9, kLarge = kRows * kColumns;

/// Returns the gradient of a batch norm with respect to its input, and to its scale and shift.
Graph normGradient(DType dtype, int64_t rows = kRows, int64_t columns = kColumns) {
    Graph graph;
    Builder b(graph);
    const Shape shape{rows, columns}, row{1, columns};
    const NodeId x = b.cast(b.input("x", shape, dtype), DType::F32);
    const NodeId dy = b.cast(b.input("dy", shape, dtype), DType::F32);
    const NodeId weight = b.input("weight", row, DType::F32);
    const NodeId centred = b.sub(x, b.expand(b.mean(x, {0}), shape));
    const NodeId inverse = b.unary(Op::Rsqrt, b.shift(b.mean(b.mul(centred, centred), {0}), 1e-5));
    const NodeId xhat = b.mul(centred, b.expand(inverse, shape));
    const NodeId scaled = b.mul(dy, b.expand(weight, shape));
    graph.addOutput("dShift", b.sum(dy, {0}));
    graph.addOutput("dWeight", b.sum(b.mul(dy, xhat), {0}));
    const NodeId dInverse = b.sum(b.mul(scaled, centred), {0});
    const NodeId slope = b.mul(dInverse, b.mul(inverse, b.mul(inverse, inverse)));
    const NodeId part = b.mul(centred, b.expand(slope, shape));
    const NodeId dCentred =
        b.add(b.mul(scaled, b.expand(inverse, shape)), b.scale(part, -1.0 / double(rows)));
    const NodeId dMean = b.sum(b.neg(dCentred), {0});
    graph.addOutput("dx", b.add(dCentred, b.expand(b.scale(dMean, 1.0 / double(rows)), shape)));
    return graph;
}

} // namespace

class TestRewrites : public QObject {
    Q_OBJECT
private slots:
    void thinProducts_data();
    void thinProducts();
    void otherProductsStay_data();
    void otherProductsStay();
    void linearSums();
    void linearTerms();
    void linearSumsNeedOnePassLess();
    void otherSumsStay();
    void deadNodesGoAndCausesStay();
    void trainingStep_data();
    void trainingStep();
    void smallStepsStay();
};

void TestRewrites::thinProducts_data() {
    QTest::addColumn<int>("m");
    QTest::addColumn<int>("n");
    QTest::addColumn<int>("k");
    QTest::addColumn<int>("dtype");
    for (const std::array<int, 3> mnk : {std::array{40, 9, 1},
                                         {40, 9, 2},
                                         {40, 1, 9},
                                         {40, 2, 9},
                                         {1, 9, 40},
                                         {2, 9, 40},
                                         {9, 2, 40}})
        for (const DType dtype : {DType::F32, DType::F16, DType::BF16})
            QTest::addRow("%dx%dx%d %s", mnk[0], mnk[1], mnk[2], std::string(nameOf(dtype)).c_str())
                << mnk[0] << mnk[1] << mnk[2] << int(dtype);
}

void TestRewrites::thinProducts() {
    QFETCH(int, m);
    QFETCH(int, n);
    QFETCH(int, k);
    QFETCH(int, dtype);
    for (const bool transposeA : {false, true})
        for (const bool transposeB : {false, true}) {
            const Graph graph =
                product(m, n, k, {transposeA, transposeB}, static_cast<DType>(dtype));
            const Graph written = thinProductsByElement(graph, kLarge);
            QCOMPARE(count(written, Op::Matmul), 0);
            const auto want = valuesOf(graph, "y", RefRounding::None);
            // in double: the same terms in the same order, up to a cast
            const auto exact = valuesOf(written, "y", RefRounding::None);
            const auto stored = valuesOf(written, "y", RefRounding::Storage);
            const auto run =
                recorded::runGraph(*makeCpuExecutor(2), written, leavesOf(written), {}, 1).at("y");
            // two roundings in f32 a term, one to storage; terms of normal values stay below 25
            const double unit = formatOf(static_cast<DType>(dtype)).unitRoundoff();
            for (size_t i = 0; i < want.size(); ++i) {
                const double bound = 2 * k * 25 * 0x1p-24 + unit * std::fabs(want[i]);
                QVERIFY(std::fabs(exact[i] - want[i]) <= 1e-12);
                QVERIFY(std::fabs(stored[i] - want[i]) <= bound);
                QVERIFY(std::fabs(run[i] - want[i]) <= bound);
            }
        }
}

void TestRewrites::otherProductsStay_data() {
    QTest::addColumn<int>("m");
    QTest::addColumn<int>("n");
    QTest::addColumn<int>("k");
    QTest::addColumn<int>("math");
    QTest::addRow("three vectors") << 40 << 9 << 3 << int(MathMode::F32);
    QTest::addRow("nothing thin") << 40 << 9 << 5 << int(MathMode::F32);
    QTest::addRow("small") << 39 << 9 << 1 << int(MathMode::F32);
    QTest::addRow("TF32") << 40 << 9 << 1 << int(MathMode::TF32);
    QTest::addRow("nothing to sum") << 40 << 9 << 0 << int(MathMode::F32);
    QTest::addRow("no columns") << 40 << 0 << 9 << int(MathMode::F32);
    QTest::addRow("no rows") << 0 << 40 << 9 << int(MathMode::F32);
}

void TestRewrites::otherProductsStay() {
    QFETCH(int, m);
    QFETCH(int, n);
    QFETCH(int, k);
    QFETCH(int, math);
    const Graph graph = product(m, n, k, {}, DType::F32, static_cast<MathMode>(math));
    QCOMPARE(count(thinProductsByElement(graph, kLarge), Op::Matmul), 1);
}

/// In double both forms are the same formula.
void TestRewrites::linearSums() {
    for (const DType dtype : {DType::F32, DType::F16}) {
        const Graph graph = normGradient(dtype), written = linearSumsApart(graph, kLarge);
        for (const char* output : {"dShift", "dWeight", "dx"}) {
            const auto want = valuesOf(graph, output, RefRounding::None),
                       got = valuesOf(written, output, RefRounding::None);
            for (size_t i = 0; i < want.size(); ++i)
                QVERIFY2(std::fabs(got[i] - want[i]) <= 1e-12, output);
        }
    }
}

/// Factors of all kinds, and the same term twice, along each axis and along both.
void TestRewrites::linearTerms() {
    const Shape shape{kRows, kColumns};
    for (const Shape& axes : {Shape{0}, Shape{1}, Shape{0, 1}}) {
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", shape, DType::F32), y = b.input("y", shape, DType::F32);
        const NodeId scalar = b.expand(b.input("scalar", {}, DType::F32), shape);
        const NodeId sum = b.expand(b.sum(b.mul(x, y), axes), shape); // what the operands wait for
        const NodeId term = b.mul(b.mul(y, scalar), sum);
        const NodeId terms = b.add(b.add(b.mul(sum, x), term), b.neg(b.scale(term, 3)));
        graph.addOutput("sum", b.sum(b.neg(b.add(terms, term)), axes));
        const Graph written = linearSumsApart(graph, kLarge);
        QCOMPARE(count(written, Op::Sum, kLarge), 3); // of x y, of x, of y
        const auto want = valuesOf(graph, "sum", RefRounding::None),
                   got = valuesOf(written, "sum", RefRounding::None);
        for (size_t i = 0; i < want.size(); ++i)
            QVERIFY(std::fabs(got[i] - want[i]) <= 1e-12 * (1 + std::fabs(want[i])) * kLarge);
    }
}

/// Passes over x: its mean, its variance, the sums, then the result, and none for dMean. The sums
/// of dy, dy * centred (for the weight and for the inverse) and centred are one each.
void TestRewrites::linearSumsNeedOnePassLess() {
    const Graph graph = normGradient(DType::F32), written = linearSumsApart(graph, kLarge);
    QCOMPARE(count(graph, Op::Sum, kLarge), 4);
    QCOMPARE(count(written, Op::Sum, kLarge), 3);
    // spaces this small merge; use large ones, as real steps do
    const Graph large = normGradient(DType::F32, 2000, kColumns);
    const auto passes = [](const Graph& g) {
        const Program program = compile(g);
        return std::count_if(program.kernels.begin(), program.kernels.end(), [](const Kernel& k) {
            return k.space == Shape{2000, kColumns};
        });
    };
    QCOMPARE(passes(large), 5);
    QCOMPARE(passes(linearSumsApart(large, 2000 * kColumns)), 4);
}

void TestRewrites::otherSumsStay() {
    const Shape shape{kRows, kColumns};
    const auto sums = [&](auto operand) {
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", shape, DType::F32), y = b.input("y", shape, DType::F32);
        const NodeId row = b.expand(b.input("row", {1, kColumns}, DType::F32), shape);
        const NodeId column = b.expand(b.input("column", {kRows, 1}, DType::F32), shape);
        const NodeId of = operand(b, x, y, row, column);
        graph.addOutput("sum", b.sum(of, {0}));
        const Graph written = linearSumsApart(graph, kLarge);
        const Graph plain = pruned(graph);
        bool same = written.size() == plain.size();
        for (NodeId id = 0; same && id < plain.size(); ++id)
            same = written[id].op == plain[id].op && written[id].in == plain[id].in;
        return std::pair{same, count(written, Op::Mul, kLarge)};
    };
    // a value that changes along the summed axis is no factor
    QVERIFY(sums([](Builder& b, NodeId x, NodeId, NodeId, NodeId column) {
                return b.mul(x, column);
            }).first);
    // both terms exist as early as their sum
    QVERIFY(sums([](Builder& b, NodeId x, NodeId y, NodeId row, NodeId) {
                return b.add(x, b.mul(y, row));
            }).first);
    // x - mean stays a term: sum(x) - n mean would cancel
    QVERIFY(
        sums([](Builder& b, NodeId x, NodeId, NodeId row, NodeId) { return b.sub(x, row); }).first);
    // a second reader computes the operand anyway
    QVERIFY(sums([](Builder& b, NodeId x, NodeId, NodeId row, NodeId) {
                const NodeId product = b.mul(x, row);
                b.graph().addOutput("product", product);
                return product;
            }).first);
    // and a lone factor stands before its sum
    QCOMPARE(
        sums([](Builder& b, NodeId x, NodeId, NodeId row, NodeId) { return b.mul(x, row); }).second,
        0);
}

void TestRewrites::deadNodesGoAndCausesStay() {
    Graph graph;
    Builder b(graph);
    b.setPhase(Phase::Backward);
    b.setLabel("output layer");
    const NodeId a = b.input("a", {kRows, 1}, DType::F32),
                 c = b.input("b", {1, kColumns}, DType::F32);
    graph.addOutput("y", b.matmul(a, c));
    const Graph written = thinProductsByElement(graph, kLarge);
    const Node& y = written[written.output("y")];
    QCOMPARE(y.op, Op::Mul);
    QCOMPARE(y.cause.label, std::string("output layer"));
    QCOMPARE(y.cause.phase, Phase::Backward);
    QCOMPARE(written.size(), 5); // two inputs, two expansions, the product
}

void TestRewrites::trainingStep_data() {
    QTest::addColumn<QString>("lane");
    QTest::addColumn<int>("norm");
    for (const QString lane : {"fp32", "amp-fp16", "amp-bf16"})
        for (const Norm norm : {Norm::BatchNorm, Norm::LayerNorm, Norm::None})
            QTest::addRow("%s norm %d", qPrintable(lane), int(norm)) << lane << int(norm);
}

/// Compares a whole step, large enough for both rewrites, as the executor takes it and as it was
/// built: the same loss and, before they differ by roundings, nearly the same gradient norm.
void TestRewrites::trainingStep() {
    QFETCH(QString, lane);
    QFETCH(int, norm);
    RunConfig config = presetNamed("checkerboard").config;
    config.task.side = 64;
    config.model.width = 128;
    config.model.norm = static_cast<Norm>(norm);
    const LaneConfig laneConfig = parseLanes(lane.toStdString())[0];
    config.lanes = {laneConfig};
    const auto dataset = makeTask(config);
    const BatchShape shape = dataset->shape();
    std::vector<float> x(static_cast<size_t>(shape.rows * shape.inputs)),
        target(static_cast<size_t>(shape.rows * shape.outputs));
    dataset->batch(1, x, target);
    const Graph graph = buildStep(config, laneConfig, shape);
    std::vector<MetricsRow> metrics;
    for (const std::optional<CompileOptions>& options :
         {std::optional<CompileOptions>{}, std::optional(CompileOptions{})}) {
        StepRunner runner(config, laneConfig, graph, makeCpuExecutor(2), options);
        const int64_t thin = count(runner.graph(), Op::Matmul);
        QCOMPARE(thin, options ? count(compile(graph).graph, Op::Matmul) : 3 * config.model.depth);
        runner.set(runner.graph().input("x"), x);
        runner.set(runner.graph().input("target"), target);
        runner.run(1);
        metrics.push_back(runner.metrics());
    }
    // f32: sums of 128 and 8192 terms in another order; 16 bits: roundings that these change
    const double bound = laneConfig.precision == Precision::Fp32 ? 1e-5 : 1e-2;
    for (const auto slot : {kLossMetric, kGradientNormMetric})
        QVERIFY2(metrics[0][slot] == metrics[1][slot] || // both infinite
                     std::fabs(metrics[0][slot] - metrics[1][slot]) <=
                         bound * std::fabs(metrics[1][slot]),
                 qPrintable(QString("%1, %2").arg(metrics[0][slot]).arg(metrics[1][slot])));
}

/// The bits of a small training depend on its roundings, and golden runs are small.
void TestRewrites::smallStepsStay() {
    RunConfig config = presetNamed("checkerboard").config;
    config.task.side = 24;
    config.model.width = 16;
    const Graph graph = buildStep(config, config.lanes[0], makeTask(config)->shape());
    const CompileOptions all = makeCpuExecutor(1)->compileOptions();
    CompileOptions none = all;
    none.rewrites = Rewrites::None;
    const Graph plain = compile(graph, none).graph, wanted = compile(graph, all).graph;
    QCOMPARE(wanted.size(), plain.size());
    for (NodeId id = 0; id < plain.size(); ++id)
        QVERIFY(wanted[id].op == plain[id].op && wanted[id].in == plain[id].in);
}

} // namespace tst_rewrites

QTEST_GUILESS_MAIN(tst_rewrites::TestRewrites)
#include "tst_rewrites.moc"
