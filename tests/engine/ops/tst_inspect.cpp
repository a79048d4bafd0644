// Names and next values, the validator, the printed forms, and the reference evaluator's own rules.
// What emit makes of a node is in tst_graph.
#include "engine/exec/reference.h"
#include "engine/ops/inspect.h"
#include "engine/ops/op_info.h"
#include "engine/passes/compile.h"
#include "tests/support/graph_bench.h"
#include "tests/support/thrown.h"

#include <QtTest>
#include <nlohmann/json.hpp>

#include <cmath>

namespace tst_inspect {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Returns the sentence with which validate() refuses a graph.
std::string invalid(const Graph& graph) {
    return thrownBy<std::logic_error>([&] { validate(graph); });
}

Node nodeOf(Op op, std::vector<NodeId> in, Shape shape, DType dtype, Attrs attrs = {}) {
    Node node;
    node.op = op;
    node.in = std::move(in);
    node.shape = shape;
    node.dtype = dtype;
    node.attrs = std::move(attrs);
    return node;
}

} // namespace

class TestInspect : public QObject {
    Q_OBJECT

private slots:
    void namesAndUses();
    void nextValues();
    void validatorAcceptsAndRefuses();
    void text();
    void textOfConvolutions();
    void dotAndJson();
    void referenceRounds();
    void referenceNeedsItsLeaves();
};

void TestInspect::namesAndUses() {
    Bench t;
    const NodeId w = t.b.state("w", {2, 3}, DType::F32, StateRole::Parameter);
    const NodeId y = t.b.add(w, t.x);
    const NodeId square = t.b.mul(y, y);
    t.graph.setNext(w, square);
    t.graph.addOutput("y", y);
    QCOMPARE(t.graph.output("y"), y);
    QCOMPARE(t.graph.input("h"), t.h);
    QCOMPARE(t.graph.state("w"), w);
    QVERIFY(!t.graph.findOutput("z"));
    QVERIFY_THROWS_EXCEPTION(std::logic_error, t.graph.output("z"));
    QVERIFY_THROWS_EXCEPTION(std::logic_error, t.graph.input("w"));
    const auto uses = t.graph.useCounts();
    QCOMPARE(uses[static_cast<size_t>(y)], 3);
    QCOMPARE(uses[static_cast<size_t>(square)], 1);
    QCOMPARE(uses[static_cast<size_t>(t.h)], 0);
}

void TestInspect::nextValues() {
    Bench t;
    const NodeId w = t.b.state("w", {2, 3}, DType::F32, StateRole::Parameter);
    QVERIFY_THROWS_EXCEPTION(std::logic_error, t.graph.setNext(w, t.h));
    QVERIFY_THROWS_EXCEPTION(std::logic_error, t.graph.setNext(w, t.column));
    QVERIFY_THROWS_EXCEPTION(std::logic_error, t.graph.setNext(t.x, t.x));
    QVERIFY_THROWS_EXCEPTION(std::logic_error, t.graph.setNext(w, 99));
    t.graph.setNext(w, t.x);
    QCOMPARE(t.graph.states()[0].next, t.x);
}

void TestInspect::validatorAcceptsAndRefuses() {
    Bench good;
    good.b.matmul(good.h, good.h, {.transposeA = true});
    validate(good.graph);

    const auto withNode = [](Node node) {
        Bench t;
        t.graph.add(std::move(node));
        return invalid(t.graph);
    };
    const Shape s{2, 3};
    // nodes of the bench: 0 x, 1 h, 2 mask, 3 index, 4 column
    QVERIFY(contains(withNode(nodeOf(Op::Tanh, {0}, {3, 2}, DType::F32)), "shape is not"));
    {
        Bench t; // and nothing compiles it
        const NodeId wrong = t.graph.add(nodeOf(Op::Tanh, {0}, {3, 2}, DType::F32));
        t.graph.addOutput("wrong", wrong);
        QVERIFY_THROWS_EXCEPTION(std::logic_error, compile(t.graph));
    }
    QVERIFY(contains(withNode(nodeOf(Op::Tanh, {0}, s, DType::F16)), "dtype is not"));
    QVERIFY(contains(withNode(nodeOf(Op::Add, {0, 1}, s, DType::F32)), "one dtype"));
    QVERIFY(contains(withNode(nodeOf(Op::Add, {0, 1}, s, DType::F32)), "%5 = add(%0, %1)"));
    QVERIFY(contains(withNode(nodeOf(Op::Add, {0}, s, DType::F32)), "number of operands"));
    QVERIFY(contains(withNode(nodeOf(Op::Cast, {0}, s, DType::F16)), "attributes"));
    QVERIFY(contains(withNode(nodeOf(Op::Input, {}, s, DType::F32)), "unlisted input"));
    QVERIFY(contains(withNode(nodeOf(Op::State, {}, s, DType::F32)), "unlisted state"));
    QVERIFY(contains(withNode(nodeOf(Op::Constant, {}, s, DType::F32)), "without a value"));
    QVERIFY(contains(withNode(nodeOf(Op::Constant, {}, s, DType::F16, ConstantAttrs{0.1})),
                     "cannot hold"));
    QVERIFY(contains(withNode(nodeOf(Op::Iota, {}, s, DType::I32, AxisAttrs{2, 0})), "iota"));
    Node tf32 = nodeOf(Op::Neg, {1}, s, DType::F16);
    tf32.math = MathMode::TF32;
    QVERIFY(contains(withNode(tf32), "TF32"));
    Node half = nodeOf(Op::Neg, {0}, s, DType::F32);
    half.math = MathMode::F32FromHalf;
    QVERIFY(contains(withNode(half), "16-bit"));

    Bench twice;
    twice.graph.addOutput("y", twice.x);
    twice.graph.addOutput("y", twice.h);
    QVERIFY(contains(invalid(twice.graph), "second y"));
    Bench missing;
    missing.graph.addOutput("y", 77);
    QVERIFY(contains(invalid(missing.graph), "does not exist"));
    Bench wrongLeaf;
    wrongLeaf.graph.addState({wrongLeaf.x, kNoNode, "x", StateRole::Parameter});
    QVERIFY(contains(invalid(wrongLeaf.graph), "no leaf"));
    QVERIFY_THROWS_EXCEPTION(std::logic_error,
                             wrongLeaf.graph.add(nodeOf(Op::Neg, {50}, s, DType::F32)));
}

void TestInspect::text() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {64, 32}, DType::F32);
    const NodeId w = b.state("w", {}, DType::F32, StateRole::Parameter);
    const LabelScope label(b, "layer2");
    b.setRule("linear: lower precision (torch cuda float16)");
    const NodeId low = b.cast(x, DType::F16);
    b.setRule("");
    const NodeId y = b.unary(Op::Tanh, low);
    const NodeId total = b.sum(y, {0, 1});
    const PhaseScope backward(b, Phase::Backward);
    b.setForwardCause(y);
    const NodeId scaled = b.scale(total, roundTo(DType::F16, 0.1));
    b.matmul(y, y, {.transposeB = true});
    graph.setNext(w, b.reshape(b.cast(scaled, DType::F32), {}));
    graph.addOutput("loss", total);
    const std::string wanted =
        "%0 = input() : float32 [64, 32]  x forward\n"
        "%1 = state() : float32 []  w forward\n"
        "%2 = cast(%0) : float32 -> float16 [64, 32]  layer2 forward"
        "  [linear: lower precision (torch cuda float16)]\n"
        "%3 = tanh(%2) : float16 -> float16 [64, 32]  layer2 forward\n"
        "%4 = sum(%3, axes=[0, 1]) : float16 -> float16 [1, 1]  layer2 forward\n"
        "%5 = constant(0.099975586) : float16 [1, 1]  layer2 backward of %3\n"
        "%6 = mul(%4, %5) : float16 -> float16 [1, 1]  layer2 backward of %3\n"
        "%7 = matmul(%3, %3, transpose=b) : float16 -> float16 [64, 64] in f32 from half"
        "  layer2 backward of %3\n"
        "%8 = cast(%6) : float16 -> float32 [1, 1]  layer2 backward of %3\n"
        "%9 = reshape(%8) : float32 -> float32 []  layer2 backward of %3\n"
        "state w (parameter): %1 -> %9\n"
        "output loss: %4\n"
        "casts: 2\n"
        "  1 x float32 -> float16, 2048 elements  [linear: lower precision (torch cuda float16)]\n"
        "  1 x float16 -> float32, 1 elements  [gradient of tanh: computes in float32, rounds "
        "once]\n";
    QCOMPARE(graphText(graph), wanted);
    QVERIFY(y != kNoNode);
}

/// Dilation and groups stand there only where they do something.
void TestInspect::textOfConvolutions() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {1, 4, 5, 5}, DType::F32);
    const NodeId w = b.input("w", {4, 1, 2, 2}, DType::F32);
    b.emit(Op::Conv2d, {x, w}, ConvAttrs{.dilation = {1, 2}, .groups = 4});
    b.emit(Op::Conv2dInputGrad, {x, w}, ConvAttrs{.target = {6, 6}});
    const QString text = QString::fromStdString(graphText(graph));
    QVERIFY(text.contains("conv2d(%0, %1, stride=[1, 1], padding=[0, 0], dilation=[1, 2], "
                          "groups=4) : "));
    QVERIFY(text.contains("(%0, %1, stride=[1, 1], padding=[0, 0], target=[6, 6]) : "));
}

void TestInspect::dotAndJson() {
    Bench t;
    const LabelScope label(t.b, "layer \"one\"");
    const NodeId y = t.b.unary(Op::Tanh, t.h);
    t.graph.addOutput("y", y);
    const std::string dot = graphDot(t.graph);
    QVERIFY(contains(
        dot, "n5 [label=\"%5 tanh float16 [2, 3]\", tooltip=\"layer \\\"one\\\" forward\""));
    QVERIFY(contains(dot, "n1 -> n5;"));
    const auto json = nlohmann::json::parse(graphJson(t.graph));
    QCOMPARE(json["nodes"].size(), size_t{6});
    const auto& node = json["nodes"][5];
    QCOMPARE(node["op"].get<std::string>(), std::string("tanh"));
    QCOMPARE(node["dtype"].get<std::string>(), std::string("float16"));
    QCOMPARE(node["in"].get<std::vector<int>>(), std::vector<int>{t.h});
    QCOMPARE(node["shape"].get<std::vector<int>>(), (std::vector<int>{2, 3}));
    QCOMPARE(node["bytes"].get<int>(), 12);
    QCOMPARE(node["cause"]["label"].get<std::string>(), std::string("layer \"one\""));
    QCOMPARE(json["outputs"][0]["node"].get<int>(), y);
    QCOMPARE(json["inputs"].size(), size_t{5});
}

void TestInspect::referenceRounds() {
    Bench t;
    const NodeId third = t.b.div(t.h, t.like(t.h, 3));
    const NodeId wanted[] = {third};
    const std::map<NodeId, RefTensor> leaves{{t.h, {{2, 3}, {1, 2, 3, 4, 5, 6.0001}}}};
    const auto exact = evaluate(t.graph, leaves, wanted, RefRounding::None).at(third).values;
    const auto stored = evaluate(t.graph, leaves, wanted).at(third).values;
    QCOMPARE(exact[0], 1.0 / 3);
    QCOMPARE(stored[0], roundTo(DType::F16, 1.0 / 3));
    QCOMPARE(stored[5], 2.0); // the leaf, too, is stored in half
    QVERIFY(exact[5] > 2.0);
}

void TestInspect::referenceNeedsItsLeaves() {
    Bench t;
    const NodeId y = t.b.neg(t.x);
    const NodeId wanted[] = {y};
    QVERIFY_THROWS_EXCEPTION(std::logic_error, evaluate(t.graph, {}, wanted));
    QVERIFY_THROWS_EXCEPTION(std::logic_error,
                             evaluate(t.graph, {{t.x, {{3, 2}, std::vector<double>(6)}}}, wanted));
    QVERIFY_THROWS_EXCEPTION(std::logic_error,
                             evaluate(t.graph, {{t.x, {{2, 3}, std::vector<double>(5)}}}, wanted));
    // a node that is given needs nothing itself
    const NodeId after = t.b.neg(t.b.unary(Op::Tanh, y));
    const std::map<NodeId, RefTensor> given{{y, {{2, 3}, std::vector<double>(6, 0.5)}}};
    const auto found = evaluate(t.graph, given, std::vector{after}, RefRounding::None);
    QCOMPARE(found.at(after).values, std::vector<double>(6, -std::tanh(0.5)));
}

} // namespace tst_inspect

QTEST_GUILESS_MAIN(tst_inspect::TestInspect)
#include "tst_inspect.moc"
