// Small products joined with the loops behind them: which loops join, that the results are those of
// the CPU, and that none is written over what its product still reads.
#include "tests/support/emulated_executor.h"

#include "engine/cuda/codegen/launch_plan.h"
#include "engine/cuda/codegen/product_loops.h"
#include "engine/ops/builder.h"
#include "engine/passes/plan.h"
#include "engine/verify/run_graph.h"

#include <QtTest>

#include <functional>
#include <set>

namespace tst_cuda_product_loops {

using namespace halfscope;
using test::EmulatedExecutor;
using test::EmulationOptions;

namespace {

constexpr MatmulAttrs kWeightsAsStored{.transposeA = false, .transposeB = true};

/// A graph whose leaves are quarters, so that sums in f32 are exact in any order and only what is
/// stored in 16 bits is rounded.
struct Bench {
    Graph graph;
    Builder b{graph};
    std::map<NodeId, RefTensor> leaves;

    NodeId leaf(const std::string& name, const Shape& shape, DType dtype) {
        return filled(b.input(name, shape, dtype), shape);
    }
    NodeId state(const std::string& name, const Shape& shape, DType dtype) {
        return filled(b.state(name, shape, dtype, StateRole::Parameter), shape);
    }
    NodeId rowsOf(NodeId bias, const Shape& shape) { return b.expand(bias, shape); }

private:
    NodeId filled(NodeId id, const Shape& shape) {
        RefTensor& values = leaves[id] = {shape, {}};
        for (int64_t i = 0; i < shape.elements(); ++i)
            values.values.push_back(static_cast<double>((i * 37 + id) % 9 - 4) / 4);
        return id;
    }
};

struct Row {
    const char* name;
    int joined; ///< product loops
    int loops;  ///< others
    std::function<void(Bench&)> build;
};

void biasAndRelu(Bench& t, const Shape& x, const Shape& weight, DType dtype) {
    const NodeId sum = t.b.matmul(t.leaf("x", x, dtype), t.leaf("weight", weight, dtype),
                                  kWeightsAsStored, t.leaf("bias", {weight[0]}, dtype));
    t.graph.addOutput("y", t.b.unary(Op::Relu, sum));
}

std::vector<Row> rowsOfLayers() {
    return {
        {"a layer by lanes", 1, 0,
         [](Bench& t) {
             biasAndRelu(t, {5, 7}, {6, 7}, DType::F16);
         }},
        {"by warps", 1, 0,
         [](Bench& t) {
             biasAndRelu(t, {64, 784}, {40, 784}, DType::F16);
         }},
        {"by warps of bf16", 1, 0,
         [](Bench& t) {
             biasAndRelu(t, {70, 200}, {90, 200}, DType::BF16);
         }},
        {"by tiles", 1, 0,
         [](Bench& t) {
             biasAndRelu(t, {70, 200}, {90, 200}, DType::F32);
         }},
        {"by parts of k", 1, 0,
         [](Bench& t) {
             biasAndRelu(t, {20, 4000}, {30, 4000}, DType::F32);
         }},
        {"a batch", 1, 0,
         [](Bench& t) {
             const NodeId p =
                 t.b.matmul(t.leaf("x", {3, 5, 4}, DType::F16), t.leaf("w", {3, 4, 6}, DType::F16));
             t.graph.addOutput("y", t.b.cast(t.b.scale(p, 3), DType::F32));
         }},
        {"a view", 1, 0,
         [](Bench& t) {
             const NodeId p = t.b.reshape(
                 t.b.matmul(t.leaf("x", {6, 4}, DType::BF16), t.leaf("w", {4, 8}, DType::BF16)),
                 {2, 3, 8});
             const NodeId rows = t.b.expandLike(t.leaf("rows", {2, 3, 1}, DType::BF16), p);
             t.graph.addOutput("y", t.b.mul(p, rows));
         }},
    };
}

std::vector<Row> rowsOfUses() {
    const auto productOf = [](Bench& t) {
        return t.b.matmul(t.leaf("x", {8, 4}, DType::F16), t.leaf("w", {4, 8}, DType::F16));
    };
    return {
        {"the product is read again", 1, 0,
         [=](Bench& t) {
             const NodeId p = productOf(t);
             t.graph.addOutput("y", t.b.neg(p));
             t.graph.addOutput("again", t.b.matmul(p, p));
         }},
        {"sums stay behind", 1, 1,
         [=](Bench& t) {
             const NodeId y = t.b.unary(Op::Relu, productOf(t));
             t.graph.addOutput("columns", t.b.sum(y, {0}));
             t.graph.addOutput("next", t.b.matmul(y, y));
         }},
        {"nothing goes on without the sums", 0, 1,
         [=](Bench& t) {
             const NodeId y = t.b.cast(productOf(t), DType::F32);
             t.graph.addOutput("y", y);
             t.graph.addOutput("sum", t.b.sumAll(y));
         }},
        {"two products, of which the later one takes the loop", 1, 0,
         [=](Bench& t) {
             const NodeId p = productOf(t);
             t.graph.addOutput("y", t.b.add(p, t.b.matmul(p, p)));
         }},
        {"transposed", 0, 1,
         [=](Bench& t) {
             t.graph.addOutput("y", t.b.neg(t.b.transpose(productOf(t), {1, 0})));
         }},
        {"the next value of what others read", 0, 1,
         [=](Bench& t) {
             const NodeId w = t.state("weight", {8, 8}, DType::F16);
             const NodeId p = productOf(t);
             t.graph.setNext(w, t.b.add(w, p));
             t.graph.addOutput("y", t.b.matmul(w, p));
         }},
    };
}

std::vector<Row> rows() {
    std::vector<Row> all = rowsOfLayers(), uses = rowsOfUses();
    all.insert(all.end(), uses.begin(), uses.end());
    return all;
}

} // namespace

class TestCudaProductLoops : public QObject {
    Q_OBJECT
private slots:
    void joins_data();
    void joins();
    void staysOffItsOperands();
};

void TestCudaProductLoops::joins_data() {
    QTest::addColumn<int>("index");
    QTest::addColumn<bool>("alone");
    for (const bool alone : {false, true})
        for (size_t i = 0; i < rows().size(); ++i)
            QTest::addRow("%s%s", rows()[i].name, alone ? ", in one block" : "")
                << static_cast<int>(i) << alone;
}

void TestCudaProductLoops::joins() {
    QFETCH(int, index);
    QFETCH(bool, alone);
    const Row row = rows()[static_cast<size_t>(index)];
    Bench bench;
    row.build(bench);
    EmulationOptions options;
    options.shuffled = true;
    options.traits.blockWork = alone ? 1e9 : 100; // one block does it all, or many are worth it
    EmulatedExecutor executor(options);
    const auto values = recorded::runGraph(executor, bench.graph, bench.leaves);
    const Program& program = executor.source().program;
    int joined = 0, loops = 0;
    for (const Kernel& kernel : program.kernels)
        (cuda::isProductLoop(program.graph, kernel) ? joined : loops) += kernel.loop ? 1 : 0;
    QCOMPARE(joined, row.joined);
    QCOMPARE(loops, row.loops);
    QVERIFY(values == recorded::runGraph(*makeCpuExecutor(1), bench.graph, bench.leaves));
}

/// A loop may write over what it reads at its own place, but not where its product reads all of it.
void TestCudaProductLoops::staysOffItsOperands() {
    constexpr int64_t kRows = 17000, kWidth = 32; // values above 1 MiB share memory
    Graph graph;
    Builder b(graph);
    const NodeId input = b.input("x", {kRows, kWidth}, DType::F16),
                 weight = b.input("w", {kWidth, kWidth}, DType::F16);
    const NodeId x = b.emit(Op::Cumsum, {input}, ScanAttrs{1, false});
    const NodeId other = b.emit(Op::Cumsum, {b.neg(input)}, ScanAttrs{1, false});
    const NodeId first = b.matmul(x, weight), y = b.add(first, x);
    const NodeId second = b.matmul(y, weight), z = b.add(second, other);
    graph.addOutput("sum", b.emit(Op::Cumsum, {z}, ScanAttrs{1, false}));
    const Program program =
        cuda::prepare(compile(graph), {}, {.libraries = cuda::Libraries::Unused});
    QVERIFY(std::count_if(program.kernels.begin(), program.kernels.end(), [&](const Kernel& k) {
                return cuda::isProductLoop(program.graph, k);
            }) == 2);
    const auto placeOf = [&](NodeId id) { return program.memory.offset[static_cast<size_t>(id)]; };
    const std::set writtenFirst{placeOf(first), placeOf(y)},
        writtenThen{placeOf(second), placeOf(z)};
    QVERIFY(!writtenFirst.contains(placeOf(x))); // the product reads all of it
    QVERIFY(!writtenThen.contains(placeOf(y)));
    QVERIFY(writtenThen.contains(placeOf(other)));
    checkPlan(program.graph, program.kernels, program.memory);
}

} // namespace tst_cuda_product_loops

QTEST_GUILESS_MAIN(tst_cuda_product_loops::TestCudaProductLoops)
#include "tst_cuda_product_loops.moc"
