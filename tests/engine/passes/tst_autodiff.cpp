// Gradients: every elementwise, reduction and movement op compared with central differences in both
// orders, PyTorch's conventions at kinks, dtypes, causes and absence. Contractions and pools are in
// tst_ops.
#include "engine/ops/families.h"
#include "engine/ops/inspect.h"
#include "tests/support/gradient_cases.h"

#include <QtTest>
#include <limits>
#include <set>

namespace tst_autodiff {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr uint64_t kSeed = 20240611;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Returns "x0", "x1", ... with these values.
template <class Values>
std::vector<NodeId> scalarInputs(Builder& b, Leaves& leaves, const Values& values) {
    std::vector<NodeId> xs;
    for (const double value : values) {
        xs.push_back(b.input("x" + std::to_string(xs.size()), {}, DType::F32));
        leaves[xs.back()] = {Shape{}, {value}};
    }
    return xs;
}

/// Returns the gradients of one scalar function at one point, evaluated in f32.
std::vector<double> slopesAt(Op op, const std::vector<double>& at, const Attrs& attrs = {}) {
    Graph graph;
    Builder b(graph);
    Leaves leaves;
    const std::vector<NodeId> xs = scalarInputs(b, leaves, at);
    std::vector<double> slopes;
    for (const auto& g : gradients(b, b.emit(op, xs, attrs), xs))
        slopes.push_back(g ? valueOf(graph, leaves, *g).values[0] : kNan);
    return slopes;
}

} // namespace

class TestAutodiff : public QObject {
    Q_OBJECT

private slots:
    void differences_data();
    void differences();
    void everyRuleHasACase();
    void kinks_data();
    void kinks();
    void secondOrderAtCorners_data();
    void secondOrderAtCorners();
    void tiesShareAnExtremum();
    void slopeOfAStep();
    void halfGradientsAreComputedInF32();
    void gradientsHaveTheDtypeOfTheirTensor();
    void contributionsAddUp();
    void absentWithoutAPath();
    void wrtInsideTheGraph();
    void cotangentIsChecked();
    void causes();
    void thirdOrder();
};

void TestAutodiff::differences_data() {
    QTest::addColumn<int>("index");
    const auto cases = allCases();
    for (size_t i = 0; i < cases.size(); ++i)
        QTest::addRow("%zu %s", i, cases[i].name.c_str()) << static_cast<int>(i);
}

void TestAutodiff::differences() {
    QFETCH(int, index);
    const GradientCase given = allCases()[static_cast<size_t>(index)];
    for (uint64_t seed = kSeed; seed < kSeed + 2; ++seed) {
        const std::string wrong = checkGradients(given, seed);
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
}

void TestAutodiff::everyRuleHasACase() {
    std::set<Op> covered;
    for (const GradientCase& given : allCases()) {
        Graph graph;
        Builder b(graph);
        std::vector<NodeId> xs;
        for (const auto& operand : given.operands)
            xs.push_back(b.input("x" + std::to_string(xs.size()), operand.shape, DType::F64));
        given.build(b, xs);
        for (NodeId id = 0; id < graph.size(); ++id)
            covered.insert(graph[id].op);
    }
    for (const auto family : {elementwiseOps(), reduceOps(), scanOps(), movementOps()})
        for (const OpInfo& row : family)
            QVERIFY2(row.vjp == nullptr || covered.contains(row.op), row.name.data());
}

void TestAutodiff::kinks_data() {
    QTest::addColumn<int>("op");
    QTest::addColumn<QList<double>>("at");
    QTest::addColumn<QList<double>>("slopes");
    const auto row = [](const char* name, Op op, QList<double> at, QList<double> slopes) {
        QTest::newRow(name) << static_cast<int>(op) << at << slopes;
    };
    row("relu 0", Op::Relu, {0}, {0});
    row("relu -0", Op::Relu, {-0.0}, {0});
    row("relu smallest", Op::Relu, {0x1p-149}, {1});
    row("relu nan", Op::Relu, {kNan}, {1});
    row("abs 0", Op::Abs, {0}, {0});
    row("abs -0", Op::Abs, {-0.0}, {0});
    row("clamp at low", Op::Clamp, {-1}, {1});
    row("clamp at high", Op::Clamp, {2}, {1});
    row("clamp below", Op::Clamp, {-1.0000001}, {0});
    row("clamp above", Op::Clamp, {2.001}, {0});
    row("clamp nan", Op::Clamp, {kNan}, {0});
    row("maximum tie", Op::Maximum, {3, 3}, {0.5, 0.5});
    row("maximum of zeros", Op::Maximum, {0, -0.0}, {0.5, 0.5});
    row("maximum first", Op::Maximum, {4, 3}, {1, 0});
    row("maximum second", Op::Maximum, {3, 4}, {0, 1});
    row("minimum tie", Op::Minimum, {3, 3}, {0.5, 0.5});
    row("minimum first", Op::Minimum, {3, 4}, {1, 0});
    row("minimum second", Op::Minimum, {4, 3}, {0, 1});
    row("pow 0^0", Op::Pow, {0, 0}, {0, 0});
    row("pow 0^2", Op::Pow, {0, 2}, {0, 0});
    row("pow 0^1", Op::Pow, {0, 1}, {1, 0});
    row("pow 3^0", Op::Pow, {3, 0}, {0, std::log(3.0)});
    row("pow 2^3", Op::Pow, {2, 3}, {12, 8 * std::log(2.0)});
    row("sqrt 0", Op::Sqrt, {0}, {std::numeric_limits<double>::infinity()});
    row("softplus far", Op::Softplus, {30}, {1});
    row("sigmoid far", Op::Sigmoid, {-200}, {0});
    row("tanh far", Op::Tanh, {50}, {0});
    row("gelu far", Op::Gelu, {-50}, {0});
}

void TestAutodiff::kinks() {
    QFETCH(int, op);
    QFETCH(QList<double>, at);
    QFETCH(QList<double>, slopes);
    const Attrs attrs = op == static_cast<int>(Op::Clamp) ? Attrs(RangeAttrs{-1, 2}) : Attrs();
    const auto found = slopesAt(static_cast<Op>(op), {at.begin(), at.end()}, attrs);
    QCOMPARE(found.size(), static_cast<size_t>(slopes.size()));
    for (size_t i = 0; i < found.size(); ++i) {
        const double wanted = slopes[static_cast<qsizetype>(i)];
        // a few f32 roundings in the rule
        const bool close =
            found[i] == wanted || std::fabs(found[i] - wanted) <= 4 * 0x1p-24 * std::fabs(wanted);
        QVERIFY2(close, std::to_string(found[i]).c_str());
    }
}

void TestAutodiff::secondOrderAtCorners_data() {
    QTest::addColumn<int>("op");
    QTest::addColumn<QList<double>>("at");
    QTest::addColumn<QList<double>>("curvatures"); // of the first operand's slope, by each operand
    const auto row = [](const char* name, Op op, QList<double> at, QList<double> curvatures) {
        QTest::newRow(name) << static_cast<int>(op) << at << curvatures;
    };
    row("pow 0^0", Op::Pow, {0, 0}, {0, 0});
    row("pow 0^2", Op::Pow, {0, 2}, {2, 0});
    row("atan2 at the origin", Op::Atan2, {0, 0}, {0, 0});
    row("atan2 beside it", Op::Atan2, {0, 1}, {0, -1});
    row("maximum tie", Op::Maximum, {3, 3}, {0, 0});
}

/// The branch that a select leaves out must be finite, too: its gradient is multiplied by 0.
void TestAutodiff::secondOrderAtCorners() {
    QFETCH(int, op);
    QFETCH(QList<double>, at);
    QFETCH(QList<double>, curvatures);
    Graph graph;
    Builder b(graph);
    Leaves leaves;
    const std::vector<NodeId> xs = scalarInputs(b, leaves, at);
    const NodeId slope = *gradients(b, b.emit(static_cast<Op>(op), xs), {{xs[0]}})[0];
    const auto found = gradients(b, slope, xs);
    for (size_t i = 0; i < found.size(); ++i) {
        const double value = found[i] ? valueOf(graph, leaves, *found[i]).values[0] : 0;
        QCOMPARE(value, curvatures[static_cast<qsizetype>(i)]);
    }
}

void TestAutodiff::tiesShareAnExtremum() {
    for (const Op op : {Op::ReduceMax, Op::ReduceMin}) {
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", {1, 4}, DType::F16);
        const NodeId y = b.emit(op, {x}, AxesAttrs{Shape{1}});
        const auto g = gradients(b, y, {{x}}, b.constantLike(3, y));
        const double other = op == Op::ReduceMax ? 1 : 9;
        const Leaves leaves{{x, {{1, 4}, {5, other, 5, other}}}};
        QCOMPARE(valueOf(graph, leaves, *g[0]).values, (std::vector<double>{1.5, 0, 1.5, 0}));
    }
}

void TestAutodiff::slopeOfAStep() {
    for (const Op op : {Op::Sign, Op::Floor}) {
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", {}, DType::F32);
        QVERIFY(!gradients(b, b.unary(op, x), {{x}})[0]);
    }
}

void TestAutodiff::halfGradientsAreComputedInF32() {
    Graph graph;
    Builder b(graph);
    const Shape shape{257};
    const NodeId x = b.input("x", shape, DType::F16), dy = b.input("dy", shape, DType::F16);
    const NodeId y = b.unary(Op::Rsqrt, x);
    const NodeId dx = *gradients(b, y, {{x}}, dy)[0];
    QCOMPARE(b.dtypeOf(dx), DType::F16);
    Leaves leaves;
    leaves[x] = randomTensor(shape, kSeed, 1, 0.5, 3);
    leaves[dy] = randomTensor(shape, kSeed, 2, -1, 1);
    const NodeId wanted[] = {y, dx, dy};
    const auto values = evaluate(graph, leaves, wanted);
    for (size_t i = 0; i < 257; ++i) {
        // y is stored in half; after that the rule rounds in f32, and to half once
        const double stored = values.at(y).values[i];
        const auto f32 = [](double v) { return roundTo(DType::F32, v); };
        const double cube = f32(stored * f32(stored * stored));
        const double once = roundTo(DType::F16, f32(f32(values.at(dy).values[i] * -0.5) * cube));
        QCOMPARE(values.at(dx).values[i], once);
    }
}

void TestAutodiff::gradientsHaveTheDtypeOfTheirTensor() {
    Graph graph;
    Builder b(graph);
    const NodeId w = b.state("w", {3}, DType::F32, StateRole::Parameter);
    const NodeId h = b.input("h", {3}, DType::BF16);
    const NodeId low = b.mul(b.cast(w, DType::BF16), b.unary(Op::Exp, h));
    const NodeId loss = b.sumAll(b.cast(low, DType::F32));
    const NodeId wrt[] = {w, h, low};
    const auto found = gradients(b, loss, wrt);
    for (size_t i = 0; i < 3; ++i) {
        QVERIFY(found[i]);
        QVERIFY(b.dtypeOf(*found[i]) == b.dtypeOf(wrt[i]));
        QVERIFY(b.shapeOf(*found[i]) == b.shapeOf(wrt[i]));
    }
    validate(graph);
}

void TestAutodiff::contributionsAddUp() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {}, DType::F32);
    const NodeId cube = b.mul(x, b.mul(x, x));
    const NodeId y = b.add(b.add(cube, x), b.neg(b.mul(x, x)));
    const NodeId g = *gradients(b, y, {{x}})[0];
    const Leaves leaves{{x, {{}, {3}}}};
    QCOMPARE(valueOf(graph, leaves, g).values[0], 27 + 1 - 6.0);
    // asking again gives the same nodes
    QCOMPARE(*gradients(b, y, {{x}})[0], g);
}

void TestAutodiff::absentWithoutAPath() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {4}, DType::F32), other = b.input("other", {4}, DType::F32);
    const NodeId index = b.input("index", {4}, DType::I32);
    const NodeId mask = b.emit(Op::Less, {other, x});
    const NodeId y = b.where(mask, x, b.constantLike(0, x));
    const NodeId picked = b.emit(Op::Gather, {y, index}, AxisAttrs{0, 0});
    const NodeId wrt[] = {x, other, index, mask};
    const auto found = gradients(b, b.sumAll(picked), wrt);
    QVERIFY(found[0]);
    QVERIFY(!found[1]); // only through the mask
    QVERIFY(!found[2]);
    QVERIFY(!found[3]);
    const NodeId whole = b.cast(x, DType::I32), rounded = b.cast(whole, DType::F32);
    QVERIFY(!gradients(b, b.sumAll(rounded), {{x}})[0]);
    QVERIFY(!gradients(b, b.sumAll(rounded), {{whole}})[0]); // a cast has a gradient, a count has
                                                             // none
    QVERIFY(!gradients(b, b.sumAll(other), {{x}})[0]);
    const NodeId later = b.unary(Op::Exp, y);
    QVERIFY(!gradients(b, b.sumAll(y), {{later}})[0]);
}

void TestAutodiff::wrtInsideTheGraph() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {}, DType::F32);
    const NodeId square = b.mul(x, x);
    const NodeId y = b.unary(Op::Exp, square);
    const NodeId wrt[] = {x, square, y};
    const auto found = gradients(b, y, wrt);
    const Leaves leaves{{x, {{}, {1}}}};
    const double e = std::exp(1.0);
    const double wanted[] = {2 * e, e, 1};
    for (size_t i = 0; i < 3; ++i)
        QVERIFY(std::fabs(valueOf(graph, leaves, *found[i], RefRounding::None).values[0] -
                          wanted[i]) <= 4 * 0x1p-53 * wanted[i]);
}

void TestAutodiff::cotangentIsChecked() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {2}, DType::F16);
    const NodeId y = b.neg(x);
    QVERIFY_THROWS_EXCEPTION(std::logic_error, gradients(b, y, {{x}}));
    const NodeId wide = b.constant(1, {2}, DType::F32), small = b.constant(1, {}, DType::F16);
    QVERIFY_THROWS_EXCEPTION(std::logic_error, gradients(b, y, {{x}}, wide));
    QVERIFY_THROWS_EXCEPTION(std::logic_error, gradients(b, y, {{x}}, small));
    QVERIFY_THROWS_EXCEPTION(std::logic_error, gradients(b, b.cast(x, DType::I32), {{x}}));
}

void TestAutodiff::causes() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {}, DType::F32);
    NodeId y = kNoNode;
    {
        const LabelScope label(b, "layer1");
        y = b.unary(Op::Tanh, x);
    }
    b.setLabel("outside");
    const NodeId g = *gradients(b, y, {{x}})[0];
    QVERIFY(b[g].cause.phase == Phase::Backward);
    QCOMPARE(b[g].cause.forward, y);
    QCOMPARE(b[g].cause.label, std::string("layer1"));
    QVERIFY(b.phase() == Phase::Forward);
    QCOMPARE(b.label(), std::string("outside"));
    QCOMPARE(b.forwardCause(), kNoNode);
    const PhaseScope metrics(b, Phase::Metrics);
    const NodeId z = b.unary(Op::Sin, x);
    const NodeId other = *gradients(b, z, {{x}})[0];
    QVERIFY(b[other].cause.phase == Phase::Metrics);
}

void TestAutodiff::thirdOrder() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {}, DType::F64);
    NodeId y = b.unary(Op::Tanh, x);
    for (int order = 0; order < 3; ++order)
        y = *gradients(b, y, {{x}})[0];
    const Leaves leaves{{x, {{}, {0.3}}}};
    const double t = std::tanh(0.3), s = 1 - t * t;
    const double wanted = -2 * s * s + 4 * t * t * s; // tanh'''
    QVERIFY(std::fabs(valueOf(graph, leaves, y).values[0] - wanted) <= 64 * 0x1p-53);
    validate(graph);
}

} // namespace tst_autodiff

QTEST_GUILESS_MAIN(tst_autodiff::TestAutodiff)
#include "tst_autodiff.moc"
