// Extreme sizes: tensors without elements in values and gradients of both orders, extents beyond 64
// bits, operands whose extents do not fit together.
#include "engine/ops/functional.h"
#include "tests/support/gradient_check.h"
#include "tests/support/run_program.h"
#include "tests/support/thrown.h"

#include <QTest>

#include <functional>
#include <limits>

namespace tst_sizes {

using namespace halfscope;

namespace {

using In = std::span<const NodeId>;
using Build = std::function<NodeId(Builder&, In)>;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

/// A function of operands of which one has no elements.
struct EmptyCase {
    const char* name;
    std::vector<Shape> shapes;
    Build build;
    Shape result;
};

std::vector<EmptyCase> emptyMatrices() {
    return {
        {"tensordot over nothing",
         {{2, 0, 3}, {0, 3, 4}},
         [](Builder& b, In x) { return fn::tensordot(b, x[0], x[1], 2); },
         {2, 4}},
        {"tensordot of no rows",
         {{0, 2, 3}, {2, 3, 4}},
         [](Builder& b, In x) { return fn::tensordot(b, x[0], x[1], 2); },
         {0, 4}},
        {"einsum over nothing",
         {{2, 3, 0}, {2, 0, 4}},
         [](Builder& b, In x) { return fn::einsum(b, "bij,bjk->bik", x[0], x[1]); },
         {2, 3, 4}},
        {"matmul over nothing",
         {{3, 0}, {0, 2}},
         [](Builder& b, In x) { return fn::matmul(b, x[0], x[1]); },
         {3, 2}},
        {"linear of no rows",
         {{0, 3}, {2, 3}, {2}},
         [](Builder& b, In x) { return fn::linear(b, x[0], x[1], x[2]); },
         {0, 2}},
    };
}

std::vector<EmptyCase> emptyReductions() {
    return {
        {"group_norm of no images",
         {{0, 4, 3}, {4}, {4}},
         [](Builder& b, In x) { return fn::groupNorm(b, x[0], 2, x[1], x[2], 1e-5); },
         {0, 4, 3}},
        {"instance_norm of no images",
         {{0, 2, 5}},
         [](Builder& b, In x) { return fn::instanceNorm(b, x[0], kNoNode, kNoNode, 1e-5); },
         {0, 2, 5}},
        {"softmax of no rows",
         {{0, 3}},
         [](Builder& b, In x) { return fn::softmax(b, x[0], 1); },
         {0, 3}},
        {"logsumexp of no rows",
         {{3, 0}},
         [](Builder& b, In x) { return fn::logsumexp(b, x[0], 0); },
         {0}},
        {"attention of no queries",
         {{2, 0, 3}, {2, 4, 3}, {2, 4, 1}},
         [](Builder& b, In x) { return fn::scaledDotProductAttention(b, x[0], x[1], x[2]); },
         {2, 0, 1}},
        {"amax of no rows", {{0, 3}}, [](Builder& b, In x) { return fn::amax(b, x[0], {1}); }, {0}},
        {"prod of no rows", {{0, 3}}, [](Builder& b, In x) { return fn::prod(b, x[0], {1}); }, {0}},
        {"prod of nothing", {{3, 0}}, [](Builder& b, In x) { return fn::prod(b, x[0], {1}); }, {3}},
        {"cumprod of no rows",
         {{0, 3}},
         [](Builder& b, In x) { return fn::cumprod(b, x[0], 1); },
         {0, 3}},
        {"cumprod of nothing",
         {{2, 0}},
         [](Builder& b, In x) { return fn::cumprod(b, x[0], 1); },
         {2, 0}},
    };
}

std::vector<EmptyCase> emptyMoves() {
    return {
        {"cat of columns without rows",
         {{0, 2}, {0, 3}},
         [](Builder& b, In x) { return fn::cat(b, x, 1); },
         {0, 5}},
        {"cat of rows and no rows",
         {{2, 3}, {0, 3}},
         [](Builder& b, In x) { return fn::cat(b, x, 0); },
         {2, 3}},
        {"stack of nothing",
         {{2, 0}, {2, 0}},
         [](Builder& b, In x) { return fn::stack(b, x, 0); },
         {2, 2, 0}},
        {"slice of rows without columns",
         {{4, 0}},
         [](Builder& b, In x) { return b.slice(x[0], 0, 1, 4, 2); },
         {2, 0}},
        {"pad of rows without columns",
         {{2, 0}},
         [](Builder& b, In x) {
             return b.emit(Op::Pad, {x[0]}, PadAttrs{{1, 0}, {0, 0}, {2, 0}, 7});
         },
         {5, 0}},
        {"cross of no vectors",
         {{3, 0}, {3, 0}},
         [](Builder& b, In x) { return fn::cross(b, x[0], x[1], 0); },
         {3, 0}},
        {"adaptive_avg_pool2d of no images",
         {{0, 2, 5, 4}},
         [](Builder& b, In x) {
             return fn::adaptiveAvgPool2d(b, x[0], {3, 2});
         },
         {0, 2, 3, 2}},
    };
}

std::vector<EmptyCase> emptyCases() {
    std::vector<EmptyCase> all = emptyMatrices();
    for (const auto& more : {emptyReductions(), emptyMoves()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

/// A call that is refused, and a part of the sentence that says why.
struct Refused {
    const char* name;
    std::function<void(Builder&)> call;
    const char* reason;
};

NodeId tensor(Builder& b, const Shape& shape) {
    return b.input("x" + std::to_string(b.graph().size()), shape, DType::F32);
}

std::vector<Refused> refusedExtents() {
    return {
        {"negative",
         [](Builder& b) {
             tensor(b, {2, -3});
         },
         "below 0"},
        {"two negative",
         [](Builder& b) {
             tensor(b, {-2, -3});
         },
         "below 0"},
        {"2^60 elements",
         [](Builder& b) {
             tensor(b, {1 << 30, 1 << 30});
         },
         "2^47"},
        {"2^64 elements",
         [](Builder& b) {
             tensor(b, {int64_t{1} << 32, int64_t{1} << 32});
         },
         "2^63"},
        {"2^64 elements but for a 0",
         [](Builder& b) {
             tensor(b, {0, int64_t{1} << 32, int64_t{1} << 32});
         },
         "2^63"},
        {"constant", [](Builder& b) { b.constant(1, {kHuge}, DType::F32); }, "2^47"},
        {"expand",
         [](Builder& b) {
             b.expand(tensor(b, {1}), {1 << 30, 1 << 30});
         },
         "2^47"},
        {"slice step", [](Builder& b) { b.slice(tensor(b, {4}), 0, 0, 5, kHuge); }, "out of range"},
        {"pad",
         [](Builder& b) {
             b.emit(Op::Pad, {tensor(b, {3})}, PadAttrs{{0}, {0}, {kHuge}, 0});
         },
         "2^63"},
        {"pool padding",
         [](Builder& b) {
             fn::maxPool2d(b, tensor(b, {1, 1, 4, 4}), {{2, 2}, {1, 1}, {kHuge, kHuge}, {}});
         },
         "half the kernel"},
        {"pool kernel",
         [](Builder& b) {
             fn::avgPool2d(b, tensor(b, {1, 1, 4, 4}), {{kHuge, 2}, {1, 1}, {kHuge / 2, 0}, {}});
         },
         "1 to 2^31"},
        {"conv padding",
         [](Builder& b) {
             const NodeId x = tensor(b, {1, 1, 4, 4});
             fn::conv2d(b, x, x, kNoNode, {{1, 1}, {kHuge, 0}, {}});
         },
         "padding"},
        {"transposed conv stride",
         [](Builder& b) {
             const NodeId x = tensor(b, {1, 1, 4, 4});
             fn::convTranspose2d(b, x, x, kNoNode, {{kHuge, 1}, {0, 0}, {}});
         },
         "stride"},
        {"axis", [](Builder& b) { fn::sum(b, tensor(b, {4}), {int64_t{1} << 32}); }, "axis"},
    };
}

std::vector<Refused> refusedOperands() {
    return {
        {"tensordot",
         [](Builder& b) {
             fn::tensordot(b, tensor(b, {4, 2, 3}), tensor(b, {3, 2, 4}), 2);
         },
         "summed axes differ"},
        {"einsum",
         [](Builder& b) {
             fn::einsum(b, "bij,bjk->bik", tensor(b, {2, 5, 3}), tensor(b, {3, 2, 5}));
         },
         "two extents"},
        {"linear of a scalar",
         [](Builder& b) {
             fn::linear(b, tensor(b, {}), tensor(b, {2, 1}), kNoNode);
         },
         "scalar"},
        {"no operand", [](Builder& b) { fn::add(b, tensor(b, {2}), kNoNode); }, "does not exist"},
        {"no such operand", [](Builder& b) { fn::softmax(b, 7, 0); }, "does not exist"},
        {"amax over nothing",
         [](Builder& b) {
             fn::amax(b, tensor(b, {3, 0}), {1});
         },
         "of nothing"},
    };
}

std::vector<Refused> refusals() {
    std::vector<Refused> all = refusedExtents();
    for (const Refused& more : refusedOperands())
        all.push_back(more);
    return all;
}

} // namespace

class TestSizes : public QObject {
    Q_OBJECT

private slots:
    void empty_data();
    void empty();
    void emptyGradients_data() { empty_data(); }
    void emptyGradients();
    void refuses_data();
    void refuses();
    void lastOfNoExtents();
    void countersThatAreNone();
};

void TestSizes::empty_data() {
    QTest::addColumn<int>("index");
    const auto cases = emptyCases();
    for (size_t i = 0; i < cases.size(); ++i)
        QTest::newRow(cases[i].name) << static_cast<int>(i);
}

/// Checks the result's shape, and the CPU's values against the reference's.
void TestSizes::empty() {
    QFETCH(int, index);
    const EmptyCase given = emptyCases()[static_cast<size_t>(index)];
    Graph graph;
    Builder b(graph);
    test::Leaves leaves;
    std::vector<NodeId> in;
    for (const Shape& shape : given.shapes) {
        in.push_back(tensor(b, shape));
        leaves[in.back()] = test::randomTensor(shape, 5, in.size(), -2, 2);
        for (double& value : leaves[in.back()].values)
            value = roundTo(DType::F32, value);
    }
    const NodeId y = given.build(b, in);
    graph.addOutput("y", y);
    QVERIFY2(b.shapeOf(y) == given.result, b.shapeOf(y).text().c_str());
    const auto wanted = test::valueOf(graph, leaves, y).values;
    for (const FuseOptions fuse : {FuseOptions::Full, FuseOptions::None})
        QCOMPARE(test::runSteps(graph, leaves, fuse, 2, 1).at("y"), wanted);
}

void TestSizes::emptyGradients() {
    QFETCH(int, index);
    const EmptyCase given = emptyCases()[static_cast<size_t>(index)];
    test::GradientCase gradient{given.name, {}, given.build};
    for (const Shape& shape : given.shapes)
        gradient.operands.push_back({shape});
    const std::string wrong = test::checkGradients(gradient, 5);
    QVERIFY2(wrong.empty(), wrong.c_str());
}

void TestSizes::refuses_data() {
    QTest::addColumn<int>("index");
    const auto rows = refusals();
    for (size_t i = 0; i < rows.size(); ++i)
        QTest::newRow(rows[i].name) << static_cast<int>(i);
}

void TestSizes::refuses() {
    QFETCH(int, index);
    const Refused row = refusals()[static_cast<size_t>(index)];
    const std::string said = thrownBy<std::logic_error>([&] {
        Graph graph;
        Builder b(graph);
        row.call(b);
    });
    QVERIFY2(said.find(row.reason) != std::string::npos, said.c_str());
}

void TestSizes::lastOfNoExtents() { QVERIFY_THROWS_EXCEPTION(std::logic_error, Shape().back()); }

/// A counter without elements still draws numbers.
void TestSizes::countersThatAreNone() {
    for (const double counter : {std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::infinity(), -1e300}) {
        Graph graph;
        Builder b(graph);
        const NodeId count = b.input("counter", {}, DType::F32);
        graph.addOutput("y", b.emit(Op::Random, {count}, RandomAttrs{{64}, 1, 1}));
        const auto got = test::runSteps(graph, {{count, {{}, {roundTo(DType::F32, counter)}}}},
                                        FuseOptions::Full, 1, 1);
        for (const double y : got.at("y"))
            QVERIFY(y >= 0 && y < 1);
    }
}

} // namespace tst_sizes

QTEST_GUILESS_MAIN(tst_sizes::TestSizes)
#include "tst_sizes.moc"
