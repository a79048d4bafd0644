// The CPU executor: matrix products of every layout and type compared with the reference, fused
// loops at odd sizes, the same bits for any number of threads, stopping, transfers, memory limits.
#include "engine/cpu/matmul.h"
#include "engine/ops/op_info.h"
#include "tests/support/product_bound.h"
#include "tests/support/random_graph.h"
#include "tests/support/run_program.h"
#include "tests/support/thrown.h"
#include "tests/support/wrapped_executor.h"

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/core/usable_memory.h"
#include "engine/ops/builder.h"

#include <QtTest>

#include <cmath>
#include <thread>

namespace tst_cpu_executor {

using namespace halfscope;

namespace {

RefTensor randomTensor(const Shape& shape, DType dtype, uint64_t stream) {
    const Philox random(20261, stream);
    RefTensor tensor{shape, std::vector<double>(static_cast<size_t>(shape.elements()))};
    for (size_t i = 0; i < tensor.values.size(); ++i)
        tensor.values[i] = roundTo(dtype, static_cast<double>(random.normal(i)));
    return tensor;
}

/// Lends one input where its user uploads all of them, at an address that is aligned to nothing but
/// its elements.
class Lender final : public test::WrappedExecutor {
public:
    Lender(int threads, std::string input) : WrappedExecutor(threads), m_input(std::move(input)) {}
    void load(std::shared_ptr<const Program> program) override {
        m_id = program->graph.input(m_input);
        m_bytesEach = bytesOf(program->graph[m_id].dtype);
        WrappedExecutor::load(std::move(program));
    }
    void upload(NodeId id, std::span<const std::byte> bytes) override {
        if (id != m_id) return WrappedExecutor::upload(id, bytes);
        const auto lent = std::make_shared<std::vector<std::byte>>(m_bytesEach + bytes.size());
        std::copy(bytes.begin(), bytes.end(), lent->begin() + static_cast<int64_t>(m_bytesEach));
        inner().lend(id, std::span(*lent).subspan(m_bytesEach), lent);
    }

private:
    std::string m_input;
    NodeId m_id = kNoNode;
    size_t m_bytesEach = 1;
};

} // namespace

class TestCpuExecutor : public QObject {
    Q_OBJECT
private slots:
    void matmul_data();
    void matmul();
    void productsOfFewRowsAreShared();
    void reductions_data();
    void reductions();
    void channels_data();
    void channels();
    void sumsOfNarrowRows_data();
    void sumsOfNarrowRows();
    void sameBitsForAnyThreads_data();
    void sameBitsForAnyThreads();
    void emptyTensors_data();
    void emptyTensors();
    void stopLeavesStates();
    void stopTooLateLeavesNothingHalf();
    void visitorSeesStoredValues();
    void lentInputsGiveTheSameBits();
    void lentInputIsReadInPlace();
    void wrongTransferIsRefused();
    void valuesAreRoundedOnce();
    void tooMuchMemoryIsAnEngineError();
    void memoryMustBeFree();
    void smallStepsTakeLittleWorkspace();
};

void TestCpuExecutor::matmul_data() {
    QTest::addColumn<int>("m");
    QTest::addColumn<int>("n");
    QTest::addColumn<int>("k");
    QTest::addColumn<bool>("transposeA");
    QTest::addColumn<bool>("transposeB");
    QTest::addColumn<int>("dtype");
    QTest::addColumn<int>("batch");
    QTest::addColumn<int>("exponent"); // the exponent of two by which both operands are multiplied
    struct Sizes {
        int m, n, k;
        std::vector<int> batches;
    };
    const Sizes sizes[] = {
        {1, 1, 1, {1, 3}},       {31, 33, 7, {1, 3, 9}},
        {64, 2, 257, {1, 3}},    {513, 17, 65, {1, 3}},
        {3, 5, 1100, {1}},       {40, 57, 3000, {1}},
        {7, 1030, 12, {1, 3}},   {2, 3, 0, {1, 3}},
        {67, 300, 130, {1, 3}},  {600, 70, 1100, {1}},
        {129, 100, 600, {1, 3}}, {64, 63, 17, {20}}, // small matrices that together are large
        {16, 31, 1100, {9}}};
    for (const Sizes& s : sizes)
        for (int layout = 0; layout < 4; ++layout)
            for (DType dtype : {DType::F32, DType::F16, DType::BF16})
                for (int batch : s.batches)
                    QTest::addRow("%dx%dx%d %s%s %s batch %d", s.m, s.n, s.k,
                                  layout & 1 ? "T" : "N", layout & 2 ? "T" : "N",
                                  std::string(nameOf(dtype)).c_str(), batch)
                        << s.m << s.n << s.k << bool(layout & 1) << bool(layout & 2) << int(dtype)
                        << batch << 0;
    // Sums that bfloat16 can represent only as subnormals, of whole products and of split ones.
    QTest::newRow("subnormal sums")
        << 67 << 300 << 130 << false << true << int(DType::BF16) << 1 << -65;
    QTest::newRow("subnormal sums, split")
        << 40 << 57 << 3000 << true << false << int(DType::BF16) << 1 << -67;
}

void TestCpuExecutor::matmul() {
    QFETCH(int, m);
    QFETCH(int, n);
    QFETCH(int, k);
    QFETCH(bool, transposeA);
    QFETCH(bool, transposeB);
    QFETCH(int, dtype);
    QFETCH(int, batch);
    QFETCH(int, exponent);
    const auto type = static_cast<DType>(dtype);
    Graph graph;
    Builder b(graph);
    const auto shape = [&](bool transposed, int rows, int columns) {
        Shape s = batch > 1 ? Shape{batch} : Shape{};
        s.push(transposed ? columns : rows);
        s.push(transposed ? rows : columns);
        return s;
    };
    const NodeId a = b.input("a", shape(transposeA, m, k), type),
                 w = b.input("b", shape(transposeB, k, n), type);
    graph.addOutput("y", b.matmul(a, w, {transposeA, transposeB}));
    std::map<NodeId, RefTensor> leaves{{a, randomTensor(b.shapeOf(a), type, 1)},
                                       {w, randomTensor(b.shapeOf(w), type, 2)}};
    for (auto& [id, tensor] : leaves)
        for (double& value : tensor.values)
            value = std::ldexp(value, exponent);
    const NodeId y = graph.output("y");
    const auto exact = evaluate(graph, leaves, std::vector{y}, RefRounding::None).at(y).values;
    auto magnitudes = leaves;
    for (auto& [id, tensor] : magnitudes)
        for (double& value : tensor.values)
            value = std::fabs(value);
    const auto size = evaluate(graph, magnitudes, std::vector{y}, RefRounding::None).at(y).values;
    const auto got = test::runSteps(graph, leaves, FuseOptions::Full, 2, 1).at("y");
    QCOMPARE(test::beyondBound(got, exact, size, k, type), QString());
}

/// A batch of 128 once made one task, which kept one thread busy and the others waiting.
void TestCpuExecutor::productsOfFewRowsAreShared() {
    for (const DType type : {DType::F32, DType::F16, DType::BF16})
        for (const int64_t rows : {64, 128, 129, 256}) {
            Graph graph;
            Builder b(graph);
            const NodeId x = b.input("x", {rows, 784}, type), w = b.input("w", {256, 784}, type),
                         y = b.matmul(x, w, {.transposeB = true});
            const MatmulPlan plan(graph[y], graph[x].shape, type);
            QVERIFY2(plan.tasks() > 1, qPrintable(QString("%1 rows").arg(rows)));
        }
}

void TestCpuExecutor::reductions_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("columns");
    QTest::addColumn<int>("dtype");
    for (int rows : {1, 7, 300, 5000})
        for (int columns : {1, 31, 257, 2049, 20000})
            for (DType dtype : {DType::F32, DType::F16}) {
                if (rows * columns > 3'000'000) continue;
                QTest::addRow("%dx%d %s", rows, columns, std::string(nameOf(dtype)).c_str())
                    << rows << columns << int(dtype);
            }
}

void TestCpuExecutor::reductions() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    QFETCH(int, dtype);
    const auto type = static_cast<DType>(dtype);
    Graph graph;
    Builder b(graph);
    const Shape shape{rows, columns};
    const NodeId x = b.input("x", shape, type);
    const NodeId wide = b.cast(x, DType::F32);
    const NodeId square = b.mul(wide, wide);
    graph.addOutput("rows", b.sum(square, {0}));
    graph.addOutput("columns", b.sum(square, {1}));
    graph.addOutput("all", b.mean(square, {0, 1}));
    graph.addOutput("shifted", b.sub(square, b.expand(b.mean(square, {0}), shape)));
    const std::map<NodeId, RefTensor> leaves{{x, randomTensor(shape, type, 3)}};
    const auto got = test::runSteps(graph, leaves, FuseOptions::Full, 2, 1);
    for (const OutputInfo& output : graph.outputs()) {
        const auto exact = evaluate(graph, leaves, std::vector{output.node}, RefRounding::None)
                               .at(output.node)
                               .values;
        // Sums of squares: runs of at most 256 / 16 + 16 values in f32, the rest in double.
        const double bound = 40 * formatOf(DType::F32).unitRoundoff();
        for (size_t i = 0; i < exact.size(); ++i)
            QVERIFY2(std::fabs(got.at(output.name)[i] - exact[i]) <=
                         bound * (std::fabs(exact[i]) + (output.name == "shifted" ? 20 : 0)),
                     qPrintable(QString("%1[%2]: %3, exact %4")
                                    .arg(output.name.c_str())
                                    .arg(i)
                                    .arg(got.at(output.name)[i])
                                    .arg(exact[i])));
    }
}

void TestCpuExecutor::channels_data() {
    QTest::addColumn<int>("samples");
    QTest::addColumn<int>("channels");
    QTest::addColumn<int>("pixels");
    for (const int samples : {2, 70})
        for (const int channels : {2, 33})
            for (const int pixels : {2, 49, 64, 225, 900, 2116, 4096})
                QTest::addRow("%d x %d x %d", samples, channels, pixels)
                    << samples << channels << pixels;
}

/// The sums and means of squares about a value by channel, with the same bits for any number of
/// threads.
void TestCpuExecutor::channels() {
    QFETCH(int, samples);
    QFETCH(int, channels);
    QFETCH(int, pixels);
    const Shape shape{samples, channels, pixels}, channel{1, channels, 1};
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", shape, DType::F16), value = b.input("value", channel, DType::F32);
    const NodeId moved = b.sub(b.cast(x, DType::F32), b.expand(value, shape));
    const NodeId square = b.mul(moved, moved);
    graph.addOutput("sum", b.sum(square, {0, 2}));
    graph.addOutput("mean", b.mean(square, {0, 2}));
    const std::map<NodeId, RefTensor> leaves{{x, randomTensor(shape, DType::F16, 3)},
                                             {value, randomTensor(channel, DType::F32, 4)}};
    const auto got = test::runSteps(graph, leaves, FuseOptions::Full, 2, 1);
    QCOMPARE(test::runSteps(graph, leaves, FuseOptions::Full, 1, 1), got);
    for (const OutputInfo& output : graph.outputs()) {
        const auto exact = evaluate(graph, leaves, std::vector{output.node}, RefRounding::None)
                               .at(output.node)
                               .values;
        // As in reductions(), and the difference and its square round before the sum does.
        const double bound = 43 * formatOf(DType::F32).unitRoundoff();
        for (size_t i = 0; i < exact.size(); ++i)
            QVERIFY2(std::fabs(got.at(output.name)[i] - exact[i]) <= bound * std::fabs(exact[i]),
                     qPrintable(QString("%1[%2]: %3, exact %4")
                                    .arg(output.name.c_str())
                                    .arg(i)
                                    .arg(got.at(output.name)[i])
                                    .arg(exact[i])));
    }
}

void TestCpuExecutor::sumsOfNarrowRows_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("columns");
    for (const int rows : {64, 576, 961})
        for (const int columns : {1, 2, 16, 20, 31, 128, 255})
            QTest::addRow("%dx%d", rows, columns) << rows << columns;
}

/// The mean over rows that batch norm takes, within the loop that makes the summed values: the
/// values are 0.1, where all additions of float32 err to the same side. Four values a strand, then
/// double, and one rounding.
void TestCpuExecutor::sumsOfNarrowRows() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    const Shape shape{rows, columns};
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", shape, DType::F32);
    const NodeId bias = b.input("bias", {1, columns}, DType::F32);
    const NodeId y = b.add(x, b.expand(bias, shape));
    graph.addOutput("y", y);
    graph.addOutput("mean", b.mean(y, {0}));
    const auto filled = [](const Shape& of, double value) {
        return RefTensor{of, std::vector<double>(static_cast<size_t>(of.elements()), value)};
    };
    const double tenth = static_cast<double>(0.1f);
    const auto outputs =
        test::runSteps(graph, {{x, filled(shape, tenth)}, {bias, filled({1, columns}, 0)}},
                       FuseOptions::Full, 2, 1);
    constexpr double kStrand = 4, kUnit = 0x1p-24;
    for (const double mean : outputs.at("mean"))
        QVERIFY2(std::fabs(mean - tenth) <= kStrand * kUnit * tenth,
                 qPrintable(QString::number((mean - tenth) / (kUnit * tenth))));
}

void TestCpuExecutor::sameBitsForAnyThreads_data() {
    QTest::addColumn<int>("threads");
    for (int threads : {2, 3, 5, 8})
        QTest::addRow("%d threads", threads) << threads;
}

void TestCpuExecutor::sameBitsForAnyThreads() {
    QFETCH(int, threads);
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {3000, 40}, DType::F16), w = b.input("w", {40, 40}, DType::F16);
    const NodeId y = b.cast(b.matmul(x, w), DType::F32);
    const NodeId mean = b.mean(y, {0});
    graph.addOutput("mean", mean);
    graph.addOutput("gram", b.matmul(x, b.cast(b.sub(y, b.expand(mean, {3000, 40})), DType::F16),
                                     {.transposeA = true}));
    graph.addOutput("all", b.sumAll(b.mul(y, y)));
    const std::map<NodeId, RefTensor> leaves{{x, randomTensor({3000, 40}, DType::F16, 4)},
                                             {w, randomTensor({40, 40}, DType::F16, 5)}};
    QVERIFY(test::runSteps(graph, leaves, FuseOptions::Full, 1, 1) ==
            test::runSteps(graph, leaves, FuseOptions::Full, threads, 1));
}

void TestCpuExecutor::emptyTensors_data() {
    QTest::addColumn<int>("fuse");
    QTest::newRow("fused") << int(FuseOptions::Full);
    QTest::newRow("alone") << int(FuseOptions::None);
}

/// A mean over nothing is NaN, as in PyTorch; nothing is computed for tensors without elements.
void TestCpuExecutor::emptyTensors() {
    QFETCH(int, fuse);
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {0, 3}, DType::F32);
    graph.addOutput("mean", b.mean(x, {0}));
    graph.addOutput("sum", b.sum(x, {0}));
    graph.addOutput("turned", b.transpose(x, {1, 0}));
    graph.addOutput("both", b.concat(std::vector{x, x}, 0));
    const std::map<NodeId, RefTensor> leaves{{x, RefTensor{{0, 3}, {}}}};
    const auto got = test::runSteps(graph, leaves, static_cast<FuseOptions>(fuse), 2, 1);
    for (const double mean : got.at("mean"))
        QVERIFY(std::isnan(mean));
    QCOMPARE(got.at("mean").size(), size_t{3});
    QCOMPARE(got.at("sum"), std::vector<double>(3, 0.0));
    QVERIFY(got.at("turned").empty());
}

void TestCpuExecutor::stopLeavesStates() {
    Graph graph;
    Builder b(graph);
    const NodeId w = b.state("w", {900, 900}, DType::F32, StateRole::Parameter);
    NodeId y = w;
    for (int i = 0; i < 60; ++i)
        y = b.matmul(y, w);
    graph.setNext(w, b.add(w, b.expand(b.sumAll(y), {900, 900})));
    const auto program = std::make_shared<const Program>(compile(graph));
    const auto executor = makeCpuExecutor(2);
    executor->load(program);
    const NodeId state = program->graph.state("w");
    std::vector<std::byte> before(program->graph[state].bytes(), std::byte{1}),
        after(before.size());
    executor->upload(state, before);
    auto result = RunResult::Done;
    // a busy machine may let the other thread ask only after the run
    for (int tries = 0; tries < 10 && result != RunResult::Stopped; ++tries) {
        executor->upload(state, before);
        std::thread stopper([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
            executor->requestStop();
        });
        result = executor->run(RunMode::Captured);
        stopper.join();
    }
    QCOMPARE(result, RunResult::Stopped);
    executor->download(state, after);
    QVERIFY(before == after);
}

/// Once a state is being overwritten, a step runs to its end despite any request to stop.
void TestCpuExecutor::stopTooLateLeavesNothingHalf() {
    Graph graph;
    Builder b(graph);
    const NodeId first = b.state("first", {4, 4}, DType::F32, StateRole::Parameter);
    const NodeId second = b.state("second", {4, 4}, DType::F32, StateRole::Parameter);
    graph.setNext(first, b.unary(Op::Neg, first));
    NodeId product = b.matmul(second, second);
    for (int i = 0; i < 3; ++i)
        product = b.matmul(product, second);
    graph.setNext(second, product);
    const auto program = std::make_shared<const Program>(compile(graph));
    QVERIFY(program->pointOfNoReturn + 1 < program->kernels.size());
    const auto executor = makeCpuExecutor(1);
    executor->load(program);
    const auto upload = [&](const char* name, double value) {
        const NodeId id = program->graph.state(name);
        executor->upload(id,
                         test::toBytes(program->graph[id], std::vector<double>(size_t{16}, value)));
    };
    upload("first", 3);
    upload("second", 1);
    size_t kernels = 0;
    const RunResult result = executor->run(RunMode::Stepwise, [&](NodeId, const auto&) {
        if (++kernels == program->pointOfNoReturn + 1) executor->requestStop();
    });
    QCOMPARE(result, RunResult::Done);
    const auto valuesOf = [&](const char* name) {
        const NodeId id = program->graph.state(name);
        std::vector<std::byte> bytes(program->graph[id].bytes());
        executor->download(id, bytes);
        return test::fromBytes(program->graph[id], bytes);
    };
    QCOMPARE(valuesOf("first"), std::vector<double>(size_t{16}, -3));
    QCOMPARE(valuesOf("second"), std::vector<double>(size_t{16}, 256)); // four products of 4
    // the request ends with the step in which it was made
    QCOMPARE(executor->run(RunMode::Stepwise, {}), RunResult::Done);
    QCOMPARE(valuesOf("first"), std::vector<double>(size_t{16}, 3));
}

void TestCpuExecutor::visitorSeesStoredValues() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {4, 4}, DType::F32);
    graph.addOutput("y", b.matmul(b.unary(Op::Relu, x), x));
    const auto program = std::make_shared<const Program>(compile(graph));
    const auto executor = makeCpuExecutor(1);
    executor->load(program);
    std::vector<Op> seen;
    executor->run(RunMode::Stepwise, [&](NodeId id, std::span<const std::byte> bytes) {
        seen.push_back(program->graph[id].op);
        QCOMPARE(bytes.size(), program->graph[id].bytes());
    });
    QCOMPARE(seen, (std::vector{Op::Relu, Op::Matmul}));
}

/// All kinds of reads in loops, and products that run alone and in a chain with loops.
void TestCpuExecutor::lentInputsGiveTheSameBits() {
    std::vector<std::pair<Graph, std::map<NodeId, RefTensor>>> cases;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        const test::RandomGraph random(seed);
        cases.emplace_back(random.graph(), random.leaves());
    }
    Graph chain;
    Builder b(chain);
    const NodeId x = b.input("x", {4096, 256}, DType::F32),
                 w = b.input("w", {256, 256}, DType::F32);
    const NodeId y = b.matmul(b.unary(Op::Relu, b.matmul(x, w, {})), w, {});
    chain.addOutput("y", b.add(y, x));
    chain.addOutput("dw", b.matmul(x, y, {.transposeA = true}));
    cases.emplace_back(chain,
                       std::map<NodeId, RefTensor>{{x, randomTensor(b.shapeOf(x), DType::F32, 1)},
                                                   {w, randomTensor(b.shapeOf(w), DType::F32, 2)}});
    const auto cpu = makeCpuExecutor(2);
    for (const auto& [graph, leaves] : cases) {
        const auto copied = recorded::runGraph(*cpu, graph, leaves, cpu->compileOptions(), 2);
        for (const InputInfo& input : graph.inputs()) {
            Lender lender(2, input.name);
            QCOMPARE(recorded::runGraph(lender, graph, leaves, cpu->compileOptions(), 2), copied);
        }
    }
}

void TestCpuExecutor::lentInputIsReadInPlace() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {3}, DType::F32), z = b.input("z", {3}, DType::F32);
    graph.addOutput("y", b.sub(x, z));
    const auto program = std::make_shared<const Program>(compile(graph));
    const NodeId lentX = program->graph.input("x"), lentZ = program->graph.input("z");
    const auto executor = makeCpuExecutor(1);
    executor->load(program);
    const auto batchOf = [](float value) { return std::make_shared<std::vector<float>>(3, value); };
    const auto lend = [&](NodeId id, const std::shared_ptr<std::vector<float>>& batch) {
        executor->lend(id, std::as_bytes(std::span(*batch)), batch);
    };
    const auto valueOf = [&](NodeId id) {
        std::vector<std::byte> bytes(program->graph[id].bytes());
        executor->download(id, bytes);
        return test::fromBytes(program->graph[id], bytes).at(2);
    };
    const auto result = [&] {
        executor->run(RunMode::Captured, {});
        return valueOf(program->graph.output("y"));
    };
    const auto first = batchOf(5), second = batchOf(7), other = batchOf(1);
    lend(lentX, first);
    lend(lentZ, other); // a second input is copied
    QCOMPARE(first.use_count(), 2);
    QCOMPARE(other.use_count(), 1);
    QCOMPARE(result(), 4.0);
    first->assign(3, 50); // the owner breaks its word, which shows where the values are read
    QCOMPARE(result(), 49.0);
    QCOMPARE(valueOf(lentX), 50.0);
    lend(lentX, second);
    QCOMPARE(first.use_count(), 1);
    QCOMPARE(result(), 6.0);
    executor->upload(lentX, std::as_bytes(std::span(*first))); // copied again
    QCOMPARE(second.use_count(), 1);
    QCOMPARE(result(), 49.0);
    lend(lentZ, second); // nothing is lent now, so this is
    QCOMPARE(result(), 43.0);
    executor->load(program);
    QCOMPARE(second.use_count(), 1);
    QCOMPARE(result(), 0.0);
    const std::vector<std::byte> wrong(11), right(12);
    QVERIFY_THROWS_EXCEPTION(std::logic_error, executor->lend(lentX, wrong, nullptr));
    QVERIFY_THROWS_EXCEPTION(std::logic_error,
                             executor->lend(program->graph.output("y"), right, nullptr));
}

void TestCpuExecutor::wrongTransferIsRefused() {
    Graph graph;
    Builder b(graph);
    graph.addOutput("y", b.unary(Op::Neg, b.input("x", {3}, DType::F32)));
    const auto program = std::make_shared<const Program>(compile(graph));
    const auto executor = makeCpuExecutor(1);
    executor->load(program);
    std::vector<std::byte> bytes(11);
    QVERIFY_THROWS_EXCEPTION(std::logic_error, executor->upload(program->graph.input("x"), bytes));
    QVERIFY_THROWS_EXCEPTION(std::logic_error,
                             executor->download(program->graph.output("y"), bytes));
}

/// A double just above the middle of two halves is exactly at the middle in float32.
void TestCpuExecutor::valuesAreRoundedOnce() {
    Graph graph;
    const NodeId x = Builder(graph).input("x", {1}, DType::F16);
    const std::vector<std::byte> bytes = test::toBytes(graph[x], {0x1.002000001p0});
    QCOMPARE(test::fromBytes(graph[x], bytes).at(0), 0x1.004p0);
}

void TestCpuExecutor::tooMuchMemoryIsAnEngineError() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {1 << 20, 1 << 20}, DType::F32);
    graph.addOutput("y", b.sumAll(x));
    const auto program = std::make_shared<const Program>(compile(graph));
    const auto executor = makeCpuExecutor(1);
    const std::string start = "cpu: the step needs 4096 GiB of memory, the machine has ";
    const std::string refusal = thrownBy<EngineError>([&] { executor->load(program); });
    QVERIFY2(refusal.starts_with(start), refusal.c_str()); // before anything is allocated
    // nor may the earlier program remain loaded: a run would use its memory for the new sizes
    Graph small;
    small.addOutput("y", Builder(small).state("s", {4}, DType::F32, StateRole::Counter));
    executor->load(std::make_shared<const Program>(compile(small)));
    QVERIFY(executor->run(RunMode::Captured, {}) == RunResult::Done);
    QVERIFY_THROWS_EXCEPTION(EngineError, executor->load(program));
    QVERIFY_THROWS_EXCEPTION(std::logic_error, executor->run(RunMode::Captured, {}));
}

/// What other programs have taken is not there for a step.
void TestCpuExecutor::memoryMustBeFree() {
#if defined(__SANITIZE_ADDRESS__)
    QSKIP("the sanitizer's memory is filled when it is taken");
#endif
    const size_t all = usableMemory(), free = freeMemory().value_or(all);
    constexpr size_t kRow = size_t{4} << 20, kNoise = 64 * kRow; // what others take meanwhile
    if (all < free + 2 * kNoise) QSKIP("nearly all memory is free");
    Graph graph;
    Builder b(graph);
    const auto rows = static_cast<int64_t>((free + kNoise) / kRow);
    graph.addOutput("y", b.sumAll(b.input("x", {rows, 1 << 20}, DType::F32)));
    const auto program = std::make_shared<const Program>(compile(graph));
    const auto executor = makeCpuExecutor(1);
    executor->load(program); // which may never run
    const size_t bytes = static_cast<size_t>(rows) * kRow;
    const auto values = std::make_unique_for_overwrite<std::byte[]>(bytes); // takes no memory yet
    const auto upload = [&] { executor->upload(program->graph.input("x"), {&values[0], bytes}); };
    const std::string refusal = thrownBy<EngineError>(upload);
    QVERIFY2(refusal.find("and only ") != refusal.npos, refusal.c_str());
}

/// Values by which lanes of a small network are compared must not depend on the size of a tile or
/// the number of threads.
void TestCpuExecutor::smallStepsTakeLittleWorkspace() {
    const int64_t m = 64, k = 10, n = 20;
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {m, k}, DType::F16), w = b.input("w", {k, n}, DType::F16);
    graph.addOutput("y", b.unary(Op::Relu, b.matmul(x, w, {})));
    const auto program = std::make_shared<const Program>(compile(graph));
    const auto taken = [&](int threads) {
        const auto executor = makeCpuExecutor(threads);
        executor->load(program);
        return executor->workspaceBytes();
    };
    // both operands and the result in f32, then the loop's values, of which two are held at a time
    const auto bytes = sizeof(float) * static_cast<size_t>(m * k + k * n + 3 * m * n);
    const size_t rounded = 8 * 64 * sizeof(float); // each area is rounded to whole lines, apart
                                                   // from the next
    QVERIFY2(taken(1) <= bytes + rounded, qPrintable(QString::number(taken(1))));
    QCOMPARE(taken(8), taken(1));
}

} // namespace tst_cpu_executor

QTEST_GUILESS_MAIN(tst_cpu_executor::TestCpuExecutor)
#include "tst_cpu_executor.moc"
