// Whole kernels as machine code, for each instruction set, compared with the interpreted ones bit
// for bit: random and normalising graphs, values by row, the steps of trainings.
#include "tests/support/random_graph.h"
#include "tests/support/vector_steps.h"

#include "engine/core/thread_pool.h"
#include "engine/cpu/loop.h"
#include "engine/ops/functional.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "engine/step/step_graph.h"
#include "engine/train/trainer.h"

namespace tst_vector_kernels {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Returns the values of one tensor as floats.
std::vector<float> floatsAt(const std::vector<std::byte>& arena, size_t offset, const Node& node) {
    std::vector<float> values(static_cast<size_t>(node.elements()));
    loadAsFloat(node.dtype, arena.data() + offset, values.data(), values.size());
    return values;
}

} // namespace

class TestVectorKernels : public QObject {
    Q_OBJECT
private slots:
    void initTestCase_data() { addSetRows(); }
    void init() {
        if (const char* reason = missingCode(rowsSet())) QSKIP(reason);
    }
    void randomKernels();
    void normalisation_data();
    void normalisation();
    void valuesByRow_data();
    void valuesByRow();
    void valuesByRowJoinOneSection();
    void valuesByChannelJoinOneSection();
    void valuesByRowKeepTheirPlace();
    void channels_data();
    void channels();
    void trainingStepIsCompiled_data();
    void trainingStepIsCompiled();

private:
    static void compareKernels(const Graph&, int& vectors);
};

/// Runs each loop of the program both ways over the same bytes and compares what it stores.
void TestVectorKernels::compareKernels(const Graph& graph, int& vectors) {
    const Program program = compile(graph, {.channelSums = true});
    std::vector<uint32_t> words(program.memory.arenaBytes / sizeof(uint32_t));
    Philox(5, 6).fillUniform(std::span(reinterpret_cast<float*>(words.data()), words.size()), -2,
                             2);
    for (uint32_t& word : words)
        word = (word ^ word << 13) & 0xBBFFBBFFU; // finite in each type, wherever it lies
    std::vector<std::byte> before(words.size() * sizeof(uint32_t));
    std::memcpy(before.data(), words.data(), before.size());
    ThreadPool pool(2);
    const std::atomic<bool> never{false};
    for (const Kernel& kernel : program.kernels) {
        if (!kernel.loop) continue;
        std::vector<std::byte> results[2] = {before, before};
        for (const bool interpreted : {false, true}) {
            const CpuLoop loop(program.graph, kernel, program.memory,
                               interpreted ? VectorSet::Portable : rowsSet());
            const size_t stride = (loop.scratchFloats() + 15) / 16 * 16;
            std::vector<float> scratch(2 * stride);
            std::vector<double> partials(loop.partialDoubles());
            loop.run(Arena(results[interpreted ? 1 : 0].data()), pool, scratch.data(), stride,
                     partials.data(), never);
            if (interpreted)
                QCOMPARE(loop.vectorSections(), 0);
            else
                vectors += loop.vectorSections();
        }
        for (NodeId id : kernel.stores) {
            const Node& node = program.graph[id];
            const size_t offset = program.memory.offset[static_cast<size_t>(id)];
            const auto a = floatsAt(results[0], offset, node),
                       b = floatsAt(results[1], offset, node);
            QCOMPARE(difference(a, b), QByteArray());
        }
    }
}

void TestVectorKernels::randomKernels() {
    constexpr uint64_t kSeeds = 60;
    int vectors = 0;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
        compareKernels(test::RandomGraph(seed).graph(), vectors);
        if (QTest::currentTestFailed()) qInfo("seed %llu", static_cast<unsigned long long>(seed));
    }
    // in every second graph there is a loop for which code is worth making
    QVERIFY2(vectors >= static_cast<int>(kSeeds / 2), QByteArray::number(vectors));
}

void TestVectorKernels::normalisation_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("columns");
    QTest::addColumn<int>("dtype");
    for (int rows : {1, 7, 300})
        for (int columns : {2, 16, 20, 31, 48, 100, 256, 2064})
            for (DType dtype : {DType::F32, DType::F16, DType::BF16})
                QTest::addRow("%dx%d %s", rows, columns, std::string(nameOf(dtype)).c_str())
                    << rows << columns << int(dtype);
}

/// Forward and backward loops of a normalisation with relu: rows, sums over rows, masks, stores in
/// place.
void TestVectorKernels::normalisation() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    QFETCH(int, dtype);
    const Shape shape{rows, columns}, row{1, columns};
    Graph graph;
    Builder b(graph);
    const NodeId x = b.cast(b.input("x", shape, static_cast<DType>(dtype)), DType::F32);
    const NodeId dy = b.cast(b.input("dy", shape, static_cast<DType>(dtype)), DType::F32);
    const NodeId weight = b.input("weight", row, DType::F32);
    const NodeId centred = b.sub(x, b.expand(b.mean(x, {0}), shape));
    const NodeId inverse = b.unary(Op::Rsqrt, b.shift(b.mean(b.mul(centred, centred), {0}), 1e-5));
    const NodeId normal = b.mul(centred, b.expand(inverse, shape));
    const NodeId y = b.unary(Op::Relu, b.mul(normal, b.expand(weight, shape)));
    const NodeId zero = b.constant(0, shape, DType::F32);
    const NodeId masked = b.where(b.emit(Op::LessEqual, {y, zero}), zero, dy);
    const NodeId back = b.sub(b.mul(masked, b.expand(inverse, shape)),
                              b.mul(normal, b.expand(b.sum(b.mul(masked, normal), {0}), shape)));
    graph.addOutput("y", b.cast(y, static_cast<DType>(dtype)));
    graph.addOutput("back", b.cast(back, static_cast<DType>(dtype)));
    graph.addOutput("sums", b.sum(back, {0}));
    graph.addOutput("all", b.sumAll(b.mul(back, back)));
    int vectors = 0;
    compareKernels(graph, vectors);
    // with one row the sums are no loops of their own, and few elements may not fill a vector
    QVERIFY(vectors >= (rows > 1 ? 3 : 1));
}

void TestVectorKernels::valuesByRow_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("columns");
    QTest::addColumn<int>("dtype");
    for (int rows : {2, 7, 300})
        for (int columns : {16, 48, 256, 260, 272, 2064})
            for (DType dtype : {DType::F32, DType::F16, DType::BF16})
                QTest::addRow("%dx%d %s", rows, columns, std::string(nameOf(dtype)).c_str())
                    << rows << columns << int(dtype);
}

/// One value a row, in code and in what is interpreted after it, beside sums in both directions.
void TestVectorKernels::valuesByRow() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    QFETCH(int, dtype);
    const Shape shape{rows, columns}, column{rows, 1};
    for (const bool interpretedToo : {false, true}) {
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", shape, DType::F32);
        const auto byRow = [&](const char* name) {
            const NodeId value = b.input(name, column, static_cast<DType>(dtype));
            return b.cast(b.expand(value, shape), DType::F32);
        };
        const NodeId first = byRow("first"), second = byRow("second");
        NodeId y = b.add(b.mul(x, first), b.mul(b.unary(Op::Relu, x), second));
        if (interpretedToo) y = b.add(y, b.unary(Op::Tanh, first));
        graph.addOutput("y", b.cast(y, static_cast<DType>(dtype)));
        graph.addOutput("rows", b.sum(b.mul(y, second), {0}));
        graph.addOutput("columns", b.sum(b.mul(y, x), {1}));
        int vectors = 0;
        compareKernels(graph, vectors);
        QVERIFY(vectors >= 1);
    }
}

/// Filling them in beforehand would separate the operations before from those after.
void TestVectorKernels::valuesByRowJoinOneSection() {
    const Shape shape{64, 256};
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", shape, DType::F32), c = b.input("c", {64, 1}, DType::F32);
    const NodeId before = b.add(b.mul(x, x), x);
    const NodeId after = b.mul(before, b.expand(c, shape));
    graph.addOutput("y", b.add(after, before));
    int vectors = 0;
    compareKernels(graph, vectors);
    QCOMPARE(vectors, 1);
}

/// The same holds for values of the channels of images, as batch norm has them: they are gathered
/// before everything else.
void TestVectorKernels::valuesByChannelJoinOneSection() {
    const Shape shape{6, 5, 12, 12}, channels{1, 5, 1, 1};
    for (const DType type : {DType::F32, DType::F16, DType::BF16}) {
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", shape, type);
        const auto byChannel = [&](const char* name) {
            return b.cast(b.expand(b.input(name, channels, type), shape), DType::F32);
        };
        const NodeId wide = b.cast(x, DType::F32);
        const NodeId centred = b.sub(wide, byChannel("mean"));
        const NodeId scaled = b.mul(b.mul(centred, byChannel("rstd")), byChannel("weight"));
        const NodeId y = b.add(b.unary(Op::Relu, b.add(scaled, byChannel("bias"))), centred);
        graph.addOutput("y", b.cast(y, type));
        int vectors = 0;
        compareKernels(graph, vectors);
        QCOMPARE(vectors, 1);
    }
}

/// With more values alive than there are registers, the first one goes to memory, but not to the
/// place of the row's value, which the next columns still read.
void TestVectorKernels::valuesByRowKeepTheirPlace() {
    constexpr size_t kAlive = 40;
    const Shape shape{64, 256};
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", shape, DType::F32), c = b.input("c", {64, 1}, DType::F32);
    std::vector<NodeId> values{b.mul(x, b.expand(c, shape))};
    while (values.size() < kAlive)
        values.push_back(b.add(values.back(), x));
    NodeId sum = values.back();
    for (size_t i = kAlive - 1; i-- > 0;)
        sum = b.add(sum, values[i]);
    graph.addOutput("y", sum);
    int vectors = 0;
    compareKernels(graph, vectors);
    QCOMPARE(vectors, 1);
}

void TestVectorKernels::channels_data() {
    QTest::addColumn<int>("samples");
    QTest::addColumn<int>("channels");
    QTest::addColumn<int>("side");
    QTest::addColumn<int>("dtype");
    for (const int samples : {2, 37})
        for (const int channels : {3, 20})
            for (const int side : {1, 2, 4, 5, 8, 15, 16, 30, 31, 47, 48})
                for (DType dtype : {DType::F32, DType::F16, DType::BF16})
                    QTest::addRow("%dx%dx%d %s", samples, channels, side,
                                  std::string(nameOf(dtype)).c_str())
                        << samples << channels << side << int(dtype);
}

/// Batch norm of images with relu, and its gradient: sums and values by channel. Images are less
/// than a vector, whole vectors or not, and more than a tile.
void TestVectorKernels::channels() {
    QFETCH(int, samples);
    QFETCH(int, channels);
    QFETCH(int, side);
    QFETCH(int, dtype);
    const Shape shape{samples, channels, side, side}, channel{1, channels, 1, 1};
    Graph graph;
    Builder b(graph);
    const NodeId x = b.cast(b.input("x", shape, static_cast<DType>(dtype)), DType::F32);
    const NodeId dy = b.cast(b.input("dy", shape, static_cast<DType>(dtype)), DType::F32);
    const auto byChannel = [&](const char* name) {
        const NodeId value = b.input(name, channel, static_cast<DType>(dtype));
        return b.cast(b.expand(value, shape), DType::F32);
    };
    const NodeId centred = b.sub(x, b.expand(b.mean(x, {0, 2, 3}), shape));
    const NodeId variance = b.mean(b.mul(centred, centred), {0, 2, 3});
    const NodeId inverse = b.expand(b.unary(Op::Rsqrt, b.shift(variance, 1e-5)), shape);
    const NodeId normal = b.mul(centred, inverse);
    const NodeId y =
        b.unary(Op::Relu, b.add(b.mul(normal, byChannel("weight")), byChannel("bias")));
    const NodeId zero = b.constant(0, shape, DType::F32);
    const NodeId masked = b.where(b.emit(Op::LessEqual, {y, zero}), zero, dy);
    const NodeId slope = b.sum(b.mul(masked, normal), {0, 2, 3});
    graph.addOutput("y", b.cast(y, static_cast<DType>(dtype)));
    graph.addOutput("weight gradient", slope);
    graph.addOutput("bias gradient", b.sum(masked, {0, 2, 3}));
    graph.addOutput("back", b.sub(b.mul(masked, inverse), b.mul(normal, b.expand(slope, shape))));
    int vectors = 0;
    compareKernels(graph, vectors);
    // In an image of 31 x 31 few runs of rows are whole vectors: its sums may be interpreted.
    QVERIFY2(vectors >= (side == 31                              ? 1
                         : side * side % VectorLoop::kLanes == 0 ? 4
                                                                 : 2),
             QByteArray::number(vectors));
}

void TestVectorKernels::trainingStepIsCompiled_data() {
    QTest::addColumn<QString>("lane");
    for (const char* lane : {"fp32", "amp-fp16", "amp-bf16"})
        QTest::addRow("%s", lane) << lane;
}

/// Interpreted loops give the same bits: only this test can tell that the code is in use.
void TestVectorKernels::trainingStepIsCompiled() {
    QFETCH(QString, lane);
    const RunConfig config = presetNamed("checkerboard").config;
    const BatchShape batch = makeTask(config)->shape();
    const Program program = compile(buildStep(config, parseLanes(lane.toStdString())[0], batch));
    const int64_t activations = batch.rows * config.model.width;
    int large = 0;
    for (const Kernel& kernel : program.kernels) {
        if (!kernel.loop || kernel.space.elements() < activations) continue;
        const CpuLoop loop(program.graph, kernel, program.memory, rowsSet());
        QVERIFY2(loop.vectorSections() > 0, kernel.space.text().c_str());
        ++large;
    }
    QVERIFY(large > config.model.depth); // each layer has some
}

} // namespace tst_vector_kernels

QTEST_GUILESS_MAIN(tst_vector_kernels::TestVectorKernels)
#include "tst_vector_kernels.moc"
