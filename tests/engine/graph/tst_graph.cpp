// Emission: shape rules that refuse, node reuse, causes, the op table. Exact folds are in
// tst_folds, the validator and the printed forms in tst_inspect, values of gradients in
// tst_autodiff, values of loops in tst_elementwise.
#include "engine/cpu/op_table.h"
#include "engine/exec/reference.h"
#include "engine/ops/builder.h"
#include "engine/ops/inspect.h"
#include "engine/ops/op_info.h"
#include "tests/support/graph_bench.h"

#include <QtTest>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

namespace tst_graph {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// Returns emit's complaint about a node; empty when it accepts the node.
std::string refusal(const std::function<void(Bench&)>& build) {
    Bench bench;
    try {
        build(bench);
    } catch (const std::logic_error& error) {
        return error.what();
    }
    return {};
}

struct Refused {
    const char* name;
    std::function<void(Bench&)> build;
    const char* reason;
};

std::vector<Refused> refusedArithmetic() {
    return {
        {"shapes", [](Bench& t) { t.b.add(t.x, t.column); },
         "add(float32 [2, 3], float32 [2, 1]): operands must have one shape"},
        {"dtypes", [](Bench& t) { t.b.mul(t.x, t.h); },
         "mul(float32 [2, 3], float16 [2, 3]): operands must have one dtype"},
        {"compared dtypes",
         [](Bench& t) {
             t.b.emit(Op::Less, {t.x, t.h});
         },
         "one dtype"},
        {"bool sum", [](Bench& t) { t.b.add(t.mask, t.mask); }, "cast first"},
        {"tanh of int", [](Bench& t) { t.b.unary(Op::Tanh, t.index); }, "floating-point"},
        {"int quotient", [](Bench& t) { t.b.div(t.index, t.index); }, "floating-point"},
        {"isfinite of int", [](Bench& t) { t.b.unary(Op::IsFinite, t.index); }, "floating-point"},
        {"not of float", [](Bench& t) { t.b.unary(Op::LogicalNot, t.x); }, "bool"},
        {"and of float",
         [](Bench& t) {
             t.b.emit(Op::LogicalAnd, {t.x, t.x});
         },
         "bool"},
        {"where of float", [](Bench& t) { t.b.where(t.x, t.x, t.x); }, "must be bool"},
        {"where branches", [](Bench& t) { t.b.where(t.mask, t.x, t.h); }, "one dtype"},
        {"where shape", [](Bench& t) { t.b.where(t.mask, t.column, t.column); }, "one shape"},
        {"clamp bounds",
         [](Bench& t) {
             t.b.emit(Op::Clamp, {t.x}, RangeAttrs{2, 1});
         },
         "bound"},
        {"clamp nan",
         [](Bench& t) {
             t.b.emit(Op::Clamp, {t.x}, RangeAttrs{kNan, 1});
         },
         "bound"},
        {"no attributes", [](Bench& t) { t.b.emit(Op::Clamp, {t.x}); }, "attributes"},
        {"arity", [](Bench& t) { t.b.emit(Op::Add, {t.x}); }, "number of operands"},
        {"unknown node", [](Bench& t) { t.b.neg(99); }, "does not exist"},
        {"no node", [](Bench& t) { t.b.neg(kNoNode); }, "does not exist"},
        {"emitted leaf", [](Bench& t) { t.b.emit(Op::Input, {}); }, "leaf"},
        {"iota of bool", [](Bench& t) { t.b.iota({3}, 0, DType::Bool); }, "bool"},
        {"iota axis", [](Bench& t) { t.b.iota({3}, 1, DType::I32); }, "axis"},
    };
}

std::vector<Refused> refusedShapes() {
    return {
        {"sum of bool", [](Bench& t) { t.b.sum(t.mask, {0}); }, "cast first"},
        {"mean of int", [](Bench& t) { t.b.mean(t.index, {0}); }, "floating-point"},
        {"axes order",
         [](Bench& t) {
             t.b.sum(t.x, {1, 0});
         },
         "ascending"},
        {"axis twice",
         [](Bench& t) {
             t.b.sum(t.x, {1, 1});
         },
         "ascending"},
        {"axis range", [](Bench& t) { t.b.sum(t.x, {2}); }, "rank"},
        {"negative axis", [](Bench& t) { t.b.sum(t.x, {-1}); }, "ascending"},
        {"reshape",
         [](Bench& t) {
             t.b.reshape(t.x, {4, 2});
         },
         "number of elements"},
        {"expand",
         [](Bench& t) {
             t.b.expand(t.x, {4, 3});
         },
         "cannot expand"},
        {"expand down",
         [](Bench& t) {
             t.b.expand(t.x, {1, 3});
         },
         "cannot expand"},
    };
}

std::vector<Refused> refusedMoves() {
    return {
        {"transpose rank", [](Bench& t) { t.b.transpose(t.x, {0}); }, "every axis once"},
        {"transpose twice",
         [](Bench& t) {
             t.b.transpose(t.x, {1, 1});
         },
         "every axis once"},
        {"slice range", [](Bench& t) { t.b.slice(t.x, 1, 1, 4); }, "out of range"},
        {"slice empty", [](Bench& t) { t.b.slice(t.x, 1, 2, 2); }, "empty"},
        {"slice step", [](Bench& t) { t.b.slice(t.x, 1, 0, 2, 0); }, "steps"},
        {"pad",
         [](Bench& t) {
             t.b.emit(Op::Pad, {t.x}, PadAttrs{{-1, 0}, {0, 0}, {0, 0}, 0});
         },
         "negative"},
        {"concat shape",
         [](Bench& t) {
             t.b.concat(std::vector{t.x, t.column}, 0);
         },
         "axis only"},
        {"concat dtype",
         [](Bench& t) {
             t.b.concat(std::vector{t.x, t.h}, 0);
         },
         "one dtype"},
        {"concat nothing", [](Bench& t) { t.b.concat({}, 0); }, "number of operands"},
        {"gather index",
         [](Bench& t) {
             t.b.emit(Op::Gather, {t.x, t.x}, AxisAttrs{1, 0});
         },
         "int32"},
        {"gather shape",
         [](Bench& t) {
             t.b.emit(Op::Gather, {t.column, t.index}, AxisAttrs{0, 0});
         },
         "axis only"},
        {"scatter extent",
         [](Bench& t) {
             t.b.emit(Op::ScatterAdd, {t.x, t.index}, AxisAttrs{1, 0});
         },
         "extent"},
        {"scatter shape",
         [](Bench& t) {
             t.b.emit(Op::ScatterAdd, {t.column, t.index}, AxisAttrs{1, 3});
         },
         "one shape"},
        {"sumTo",
         [](Bench& t) {
             t.b.sumTo(t.column, {2, 3});
         },
         "expanding"},
    };
}

std::vector<Refused> allRefused() {
    std::vector<Refused> all = refusedArithmetic();
    for (const auto& more : {refusedShapes(), refusedMoves()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

} // namespace

class TestGraph : public QObject {
    Q_OBJECT

private slots:
    void everyOpHasItsRow();
    void refuses_data();
    void refuses();
    void resultTypes();
    void constantsAreRoundedAndToldApart();
    void equalNodesAreOne();
    void everyAttributeCounts();
    void leavesAreNeverMerged();
    void mathModes();
    void reduceToShape();
    void causesAreRecorded();
};

void TestGraph::everyOpHasItsRow() {
    std::set<std::string_view> names;
    for (int i = 0; i < kOpCount; ++i) {
        const Op op = static_cast<Op>(i);
        const OpInfo& row = infoOf(op);
        QVERIFY(row.op == op);
        const QByteArray name(row.name.data(), static_cast<qsizetype>(row.name.size()));
        QVERIFY2(!name.isEmpty() && name.toLower() == name, name);
        QVERIFY2(names.insert(row.name).second, name);
        QVERIFY2(row.infer != nullptr, name);
        QVERIFY2(row.reference != nullptr || op == Op::Input || op == Op::State, name);
        const bool exempt = row.flags.has(OpFlag::Leaf) || row.flags.has(OpFlag::NoGradient);
        QVERIFY2(exempt == (row.vjp == nullptr), name);
        const bool elementwise = row.flags.has(OpFlag::Elementwise);
        const CpuOp& cpu = cpuOpOf(op);
        QVERIFY2(cpu.op == op, name);
        QVERIFY2(elementwise == (cpu.loop != nullptr), name);
        const bool moves =
            row.flags.has(OpFlag::View) || op == Op::Input || op == Op::State || op == Op::Constant;
        QVERIFY2((elementwise || moves) == (cpu.kernel == nullptr), name);
    }
}

void TestGraph::refuses_data() {
    QTest::addColumn<int>("index");
    const auto rows = allRefused();
    for (size_t i = 0; i < rows.size(); ++i)
        QTest::newRow(rows[i].name) << static_cast<int>(i);
}

void TestGraph::refuses() {
    QFETCH(int, index);
    const Refused row = allRefused()[static_cast<size_t>(index)];
    const std::string said = refusal(row.build);
    QVERIFY2(contains(said, row.reason), said.c_str());
}

void TestGraph::resultTypes() {
    Bench t;
    const auto is = [&](NodeId id, const Shape& shape, DType dtype) {
        return t.b.shapeOf(id) == shape && t.b.dtypeOf(id) == dtype;
    };
    QVERIFY(is(t.b.unary(Op::IsFinite, t.h), {2, 3}, DType::Bool));
    QVERIFY(is(t.b.emit(Op::Less, {t.h, t.h}), {2, 3}, DType::Bool));
    QVERIFY(is(t.b.where(t.mask, t.h, t.like(t.h, 0)), {2, 3}, DType::F16));
    QVERIFY(is(t.b.unary(Op::Tanh, t.h), {2, 3}, DType::F16));
    QVERIFY(is(t.b.sum(t.h, {0}), {1, 3}, DType::F16));
    QVERIFY(is(t.b.sumAll(t.h), {}, DType::F16));
    QVERIFY(is(t.b.expand(t.column, {4, 2, 3}), {4, 2, 3}, DType::F32));
    QVERIFY(is(t.b.slice(t.x, -1, 0, 3, 2), {2, 2}, DType::F32));
    QVERIFY(is(t.b.transpose(t.x, {1, 0}), {3, 2}, DType::F32));
    QVERIFY(is(t.b.concat(std::vector{t.x, t.column}, 1), {2, 4}, DType::F32));
    const PadAttrs pad{{1, 0}, {0, 2}, {3, 1}, 0};
    QVERIFY(is(t.b.emit(Op::Pad, {t.x}, pad), {6, 7}, DType::F32));
    QVERIFY(is(t.b.emit(Op::Gather, {t.x, t.index}, AxisAttrs{1, 0}), {2, 3}, DType::F32));
    QVERIFY(is(t.b.emit(Op::ScatterAdd, {t.x, t.index}, AxisAttrs{1, 9}), {2, 9}, DType::F32));
}

void TestGraph::constantsAreRoundedAndToldApart() {
    Bench t;
    const auto value = [&](NodeId id) { return std::get<ConstantAttrs>(t.b[id].attrs).value; };
    QCOMPARE(value(t.b.constant(0.1, {}, DType::F32)), double{0.1f});
    QCOMPARE(value(t.b.constant(1e6, {}, DType::F16)), kInf);
    QCOMPARE(value(t.b.constant(7, {}, DType::Bool)), 1.0);
    const NodeId zero = t.b.constant(0.0, {}, DType::F32),
                 minus = t.b.constant(-0.0, {}, DType::F32);
    QVERIFY(zero != minus);
    QVERIFY(std::signbit(value(minus)) && !std::signbit(value(zero)));
    QCOMPARE(t.b.neg(zero), minus);
    const NodeId nan = t.b.constant(kNan, {}, DType::F32);
    QCOMPARE(t.b.constant(-kNan, {}, DType::F32), nan);
    QCOMPARE(t.b.sub(t.b.constant(kInf, {}, DType::F32), t.b.constant(kInf, {}, DType::F32)), nan);
    QVERIFY(t.b.constant(1, {1}, DType::F32) != t.b.constant(1, {}, DType::F32));
    QVERIFY(t.b.constant(1, {}, DType::F16) != t.b.constant(1, {}, DType::F32));
}

void TestGraph::equalNodesAreOne() {
    Bench t;
    QCOMPARE(t.b.add(t.x, t.x), t.b.add(t.x, t.x));
    QCOMPARE(t.b.iota({2, 3}, 1, DType::I32), t.b.iota({2, 3}, -1, DType::I32));
    QVERIFY(t.b.iota({2, 3}, 0, DType::I32) != t.b.iota({2, 3}, 1, DType::I32));
    const NodeId other = t.b.neg(t.x);
    QVERIFY(t.b.sub(t.x, other) != t.b.sub(other, t.x));
    QVERIFY(t.b.sum(t.x, {0}) != t.b.sum(t.x, {1}));
    const auto clamp = [&](double low) { return t.b.emit(Op::Clamp, {t.x}, RangeAttrs{low, 1}); };
    QCOMPARE(clamp(-1), clamp(-1));
    QVERIFY(clamp(0.0) != clamp(-0.0));
    QVERIFY(t.b.cast(t.x, DType::F16) != t.b.cast(t.x, DType::BF16));
    QCOMPARE(t.b.cast(t.x, DType::F16), t.b.cast(t.x, DType::F16));
    QVERIFY(t.b.matmul(t.x, t.x, {.transposeB = true}) !=
            t.b.matmul(t.x, t.x, {.transposeA = true}));
    QVERIFY(t.b.slice(t.x, 1, 0, 2) != t.b.slice(t.x, 1, 1, 3));
}

/// Nodes that differ in any attribute are different nodes, or one would get the other's value.
void TestGraph::everyAttributeCounts() {
    Bench t;
    const NodeId image = t.b.input("image", {1, 1, 4, 4}, DType::F32);
    const auto differ = [&](Op op, std::vector<NodeId> in, std::vector<Attrs> all) {
        std::set<NodeId> found;
        for (const Attrs& attrs : all)
            found.insert(t.b.emit(op, in, attrs));
        return found.size() == all.size();
    };
    QVERIFY(
        differ(Op::Cumsum, {t.x}, {ScanAttrs{1, false}, ScanAttrs{1, true}, ScanAttrs{0, false}}));
    const NodeId amax = t.b.unary(Op::Abs, t.x);
    QVERIFY(differ(Op::QuantizeFp8, {t.x, amax},
                   {Fp8Attrs{Fp8Format::E4M3}, Fp8Attrs{Fp8Format::E5M2}}));
    QVERIFY(differ(Op::QuantizeGradient, {t.x},
                   {Fp8GradientAttrs{Fp8Format::E4M3, Fp8Scaling::None},
                    Fp8GradientAttrs{Fp8Format::E5M2, Fp8Scaling::None},
                    Fp8GradientAttrs{Fp8Format::E5M2, Fp8Scaling::Dynamic}}));
    QVERIFY(differ(Op::Pad, {t.column},
                   {PadAttrs{{1, 0}, {0, 0}, {0, 0}, 0}, PadAttrs{{0, 1}, {0, 0}, {0, 0}, 0},
                    PadAttrs{{0, 0}, {1, 0}, {0, 0}, 0}, PadAttrs{{0, 0}, {0, 0}, {1, 0}, 0},
                    PadAttrs{{1, 0}, {0, 0}, {0, 0}, 2}}));
    QVERIFY(differ(Op::AvgPool2d, {image},
                   {PoolAttrs{{2, 2}, {1, 1}, {0, 0}, {}}, PoolAttrs{{1, 2}, {1, 1}, {0, 0}, {}},
                    PoolAttrs{{2, 2}, {1, 2}, {0, 0}, {}}, PoolAttrs{{2, 2}, {1, 1}, {0, 1}, {}}}));
    QVERIFY(differ(Op::Conv2d, {image, image},
                   {ConvAttrs{{1, 1}, {0, 0}, {}}, ConvAttrs{{1, 2}, {0, 0}, {}},
                    ConvAttrs{{1, 1}, {0, 1}, {}}, ConvAttrs{{8, 8}, {2, 2}, {}, {1, 1}},
                    ConvAttrs{{8, 8}, {2, 2}, {}, {2, 1}}}));
    QVERIFY(differ(Op::ScatterAdd, {t.x, t.index},
                   {AxisAttrs{1, 3}, AxisAttrs{1, 4}, AxisAttrs{0, 3}}));
    QVERIFY(differ(Op::Clamp, {t.x}, {RangeAttrs{0, 1}, RangeAttrs{0, 2}, RangeAttrs{-1, 1}}));
}

void TestGraph::leavesAreNeverMerged() {
    Graph graph;
    Builder b(graph);
    QVERIFY(b.input("a", {2}, DType::F32) != b.input("b", {2}, DType::F32));
    QVERIFY(b.state("s", {2}, DType::F32, StateRole::Parameter) !=
            b.state("t", {2}, DType::F32, StateRole::Parameter));
}

void TestGraph::mathModes() {
    Bench t;
    const auto product = [&](NodeId a) { return t.b.matmul(a, a, {.transposeB = true}); };
    QVERIFY(t.b[product(t.x)].math == MathMode::F32);
    QVERIFY(t.b[product(t.h)].math == MathMode::F32FromHalf);
    t.b.setMathMode(MathMode::TF32);
    QVERIFY(t.b[product(t.x)].math == MathMode::TF32);
    QVERIFY(t.b[product(t.h)].math == MathMode::F32FromHalf);
    QVERIFY(t.b[t.b.neg(t.x)].math == MathMode::F32);
    validate(t.graph);
}

void TestGraph::reduceToShape() {
    Bench t;
    const NodeId cube = t.b.expand(t.column, {4, 2, 3});
    const NodeId back = t.b.sumTo(cube, {2, 1});
    QVERIFY(t.b.shapeOf(back) == (Shape{2, 1}));
    const NodeId wanted[] = {back};
    const RefTensor column{{2, 1}, {1, 10}};
    QCOMPARE(evaluate(t.graph, {{t.column, column}}, wanted).at(back).values,
             (std::vector<double>{12, 120}));
    // the shape may lie in the graph, which grows meanwhile
    for (int i = 0; i < 200; ++i) {
        const NodeId wide = t.b.expand(t.b.shift(t.column, i + 1), {5, 2, 3});
        QVERIFY(t.b.shapeOf(t.b.sumTo(wide, t.graph[t.column].shape)) == (Shape{2, 1}));
    }
    // the result of shapeOf() survives the growth
    static_assert(!std::is_reference_v<decltype(t.b.shapeOf(t.column))>);
}

void TestGraph::causesAreRecorded() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {2}, DType::F32);
    NodeId y = kNoNode;
    {
        const LabelScope label(b, "layer2");
        const PhaseScope phase(b, Phase::Loss);
        b.setRule("mse_loss: full precision");
        b.setForwardCause(x);
        y = b.unary(Op::Tanh, x);
    }
    b.setRule("");
    b.setForwardCause(kNoNode);
    QCOMPARE(b[y].cause.label, std::string("layer2"));
    QVERIFY(b[y].cause.phase == Phase::Loss);
    QCOMPARE(b[y].cause.rule, std::string("mse_loss: full precision"));
    QCOMPARE(b[y].cause.forward, x);
    QCOMPARE(b.unary(Op::Tanh, x), y); // the first reason stays
    QCOMPARE(b[y].cause.label, std::string("layer2"));
    QCOMPARE(b[b.neg(x)].cause.label, std::string());
}

} // namespace tst_graph

QTEST_GUILESS_MAIN(tst_graph::TestGraph)
#include "tst_graph.moc"
