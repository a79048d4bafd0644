// Chains of kernels that run row by row on the CPU: which kernels form one, and that a chain gives
// the bits that its kernels give alone.
#include "engine/core/philox.h"
#include "engine/cpu/row_chain.h"
#include "engine/exec/executor.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "engine/step/step_graph.h"
#include "engine/train/step_runner.h"

#include <QTest>

#include <algorithm>
#include <vector>

namespace tst_row_chain {

using namespace halfscope;

namespace {

constexpr int64_t kRows = 8192, kWidth = 64;

struct Compiled {
    Program program;
    std::vector<std::optional<CpuLoop>> loops;

    explicit Compiled(const Graph& graph, const CompileOptions& options = {})
        : program(compile(graph, options)) {
        makeLoops();
    }
    void makeLoops() {
        loops.clear();
        for (const Kernel& kernel : program.kernels) {
            loops.emplace_back();
            if (kernel.loop) loops.back().emplace(program.graph, kernel, program.memory);
        }
    }
    std::optional<RowChain> chain(size_t first, int threads = 2) const {
        return RowChain::from(program, loops, first, threads);
    }
    /// Returns the number of kernels in the chain that begins at `first`; 0 when there is none.
    size_t length(size_t first, int threads = 2) const {
        const auto found = chain(first, threads);
        return found ? found->kernels() : 0;
    }
    size_t& offsetOf(NodeId id) { return program.memory.offset[static_cast<size_t>(id)]; }
    /// Returns the first kernel whose first member is of the op.
    const Kernel& kernelOf(Op op) const {
        return *std::find_if(program.kernels.begin(), program.kernels.end(), [&](const Kernel& k) {
            return program.graph[k.members.front()].op == op;
        });
    }
};

/// Returns relu -> matmul -> relu, summed over the rows: three kernels.
Graph layers(int64_t rows, int64_t width) {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {rows, width}, DType::F32);
    const NodeId w = b.input("w", {width, width}, DType::F32);
    const NodeId y = b.matmul(b.unary(Op::Relu, x), w);
    graph.addOutput("sum", b.sum(b.unary(Op::Relu, y), {0}));
    return graph;
}

/// Returns every state's bytes after some steps.
std::vector<std::byte> statesAfter(StepRunner& runner, bool chained, int steps) {
    for (int step = 0; step < steps; ++step) {
        if (chained)
            runner.executor().run(RunMode::Captured);
        else
            runner.executor().run(RunMode::Stepwise, [](NodeId, std::span<const std::byte>) {});
    }
    std::vector<std::byte> all;
    for (const StateInfo& state : runner.graph().states()) {
        std::vector<std::byte> bytes(runner.graph()[state.node].bytes());
        runner.executor().download(state.node, bytes);
        all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
}

RunConfig wideConfig(int64_t side, int64_t width) {
    RunConfig config = presetNamed("checkerboard").config;
    config.task.side = side;
    config.model.width = width;
    config.model.depth = 2;
    return config;
}

StepRunner runnerOf(const RunConfig& config, const LaneConfig& lane, int threads) {
    const auto dataset = makeTask(config);
    const BatchShape shape = dataset->shape();
    StepRunner runner(config, lane, buildStep(config, lane, shape), makeCpuExecutor(threads));
    std::vector<float> x(static_cast<size_t>(shape.rows * shape.inputs)),
        target(static_cast<size_t>(shape.rows * shape.outputs));
    dataset->batch(1, x, target);
    runner.set(runner.graph().input("x"), x);
    runner.set(runner.graph().input("target"), target);
    return runner;
}

} // namespace

class TestRowChain : public QObject {
    Q_OBJECT
private slots:
    void sameBits_data();
    void sameBits();
    void stepHasChains_data();
    void stepHasChains();
    void rowsOfAllKernels();
    void secondOperandIsNeededWhole();
    void squareNeedsItWhole();
    void endsWhereAllRowsAreNeeded();
    void ownBytesAtOtherRows();
    void stopsAtThePointOfNoReturn();
    void stopsMidway();
    void needsManyRows();
    void othersRunBeforeAndAfter();
};

void TestRowChain::sameBits_data() {
    QTest::addColumn<QString>("lane");
    QTest::addColumn<int>("threads");
    for (const QString lane : {"fp32", "amp-fp16", "amp-bf16"})
        for (int threads : {1, 2, 3})
            QTest::addRow("%s %d", qPrintable(lane), threads) << lane << threads;
}

/// A visitor must see each value, so a step with a visitor runs kernel by kernel.
void TestRowChain::sameBits() {
    QFETCH(QString, lane);
    QFETCH(int, threads);
    const RunConfig config = wideConfig(128, kWidth);
    const LaneConfig laneConfig = parseLanes(lane.toStdString())[0];
    StepRunner chained = runnerOf(config, laneConfig, threads),
               alone = runnerOf(config, laneConfig, 1);
    constexpr int kSteps = 3;
    QVERIFY(statesAfter(chained, true, kSteps) == statesAfter(alone, false, kSteps));
}

void TestRowChain::stepHasChains_data() {
    QTest::addColumn<QString>("lane");
    for (const char* lane : {"fp32", "amp-fp16"})
        QTest::addRow("%s", lane) << lane;
}

/// Equal bits prove nothing when no chain runs. Each hidden layer's product has at least one chain
/// in each direction.
void TestRowChain::stepHasChains() {
    QFETCH(QString, lane);
    const RunConfig config = wideConfig(128, kWidth);
    const BatchShape shape = makeTask(config)->shape();
    const Compiled step(buildStep(config, parseLanes(lane.toStdString())[0], shape),
                        makeCpuExecutor(1)->compileOptions());
    int chains = 0;
    size_t longest = 0;
    for (size_t first = 0; first < step.program.kernels.size();) {
        const auto chain = step.chain(first);
        chains += chain.has_value();
        if (chain) longest = std::max(longest, chain->kernels());
        first = chain ? chain->end() : first + 1;
    }
    QVERIFY2(chains >= 2 * config.model.depth, qPrintable(QString::number(chains)));
    // The backward step through a layer: its norm, both gradients of the product, the next norm's
    // sums.
    QCOMPARE(longest, size_t{4});
}

void TestRowChain::rowsOfAllKernels() {
    const Compiled step(layers(kRows, kWidth));
    QCOMPARE(step.program.kernels.size(), size_t{3});
    QCOMPARE(step.length(0), size_t{3});
    QCOMPARE(step.length(1), size_t{2});
    QCOMPARE(step.length(2), size_t{0});
    QCOMPARE(step.chain(0)->end(), size_t{3});
}

void TestRowChain::secondOperandIsNeededWhole() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {kRows, kWidth}, DType::F32);
    const NodeId w = b.input("w", {kRows, kWidth}, DType::F32);
    const NodeId y = b.unary(Op::Relu, x);
    graph.addOutput("y", b.matmul(w, y, {.transposeB = true})); // every row of y for each row
    const Compiled step(graph);
    QCOMPARE(step.program.kernels.size(), size_t{2});
    QCOMPARE(step.length(0), size_t{0});
}

/// In a tensor's product with itself, the second operand is needed whole, too.
void TestRowChain::squareNeedsItWhole() {
    constexpr int64_t kSide = 2048;
    for (const bool square : {false, true}) {
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", {kSide, kSide}, DType::F32);
        const NodeId w = b.input("w", {kSide, kSide}, DType::F32);
        const NodeId y = b.unary(Op::Relu, x);
        graph.addOutput("y", b.matmul(y, square ? y : w));
        QCOMPARE(Compiled(graph).length(0), size_t(square ? 0 : 2));
    }
}

void TestRowChain::endsWhereAllRowsAreNeeded() {
    Graph graph;
    Builder b(graph);
    const Shape shape{kRows, kWidth};
    const NodeId w = b.input("w", {kWidth, kWidth}, DType::F32);
    const NodeId y = b.matmul(b.input("x", shape, DType::F32), w);
    const NodeId mean = b.mean(y, {0});
    graph.addOutput("z", b.matmul(b.sub(y, b.expand(mean, shape)), w));
    const Compiled step(graph);
    QCOMPARE(step.program.kernels.size(), size_t{4});
    QCOMPARE(step.length(0), size_t{2}); // up to the mean
    QCOMPARE(step.length(2), size_t{2});
}

/// The plan may give a later kernel the bytes that an earlier one still reads: that is safe row for
/// row, but not at other rows.
void TestRowChain::ownBytesAtOtherRows() {
    Compiled step(layers(kRows, kWidth));
    const NodeId product = step.kernelOf(Op::Matmul).stores.front();
    const size_t x = step.offsetOf(step.program.graph.input("x"));
    step.offsetOf(product) = x;
    step.makeLoops();
    QCOMPARE(step.length(0), size_t{3});
    step.offsetOf(product) = x + size_t{kWidth} * sizeof(float);
    step.makeLoops();
    QCOMPARE(step.length(0), size_t{0});
}

void TestRowChain::stopsAtThePointOfNoReturn() {
    Compiled step(layers(kRows, kWidth));
    step.program.pointOfNoReturn = 2;
    QCOMPARE(step.length(0), size_t{2});
}

/// A stop request that was made before: no row is computed any more.
void TestRowChain::stopsMidway() {
    const auto program = std::make_shared<const Program>(compile(layers(kRows, kWidth)));
    const auto executor = makeCpuExecutor(2);
    executor->load(program);
    for (const InputInfo& input : program->graph.inputs())
        uploadFloats(
            *executor, program->graph, input.node,
            std::vector<float>(static_cast<size_t>(program->graph[input.node].elements()), 1));
    const auto largest = [&] {
        const auto sums = downloadFloats(*executor, program->graph, program->graph.output("sum"));
        return *std::max_element(sums.begin(), sums.end());
    };
    executor->requestStop();
    QVERIFY(executor->run(RunMode::Captured) == RunResult::Stopped);
    QCOMPARE(largest(), 0.0F);
    QVERIFY(executor->run(RunMode::Captured) == RunResult::Done);
    QCOMPARE(largest(), static_cast<float>(kRows * kWidth));
}

/// Too few tasks for the threads, or so little data that it stays in cache anyway.
void TestRowChain::needsManyRows() {
    const Compiled step(layers(kRows, kWidth));
    QCOMPARE(step.length(0, 4), size_t{3});
    QCOMPARE(step.length(0, 64), size_t{0});
    QCOMPARE(Compiled(layers(512, kWidth)).length(0, 1), size_t{0});
    QCOMPARE(Compiled(layers(kRows, 8)).length(0, 1), size_t{0});
}

/// Between the members stand a kernel that they need and a kernel that needs them.
void TestRowChain::othersRunBeforeAndAfter() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {kRows, kWidth}, DType::F32);
    const NodeId w = b.input("w", {kWidth, kWidth}, DType::F32);
    const NodeId activation = b.unary(Op::Relu, x);
    const NodeId y = b.matmul(activation, b.unary(Op::Neg, w));
    graph.addOutput("half", b.scale(b.sum(y, {0}), 0.5));
    graph.addOutput("z", b.matmul(y, w));
    const Compiled step(graph);
    QCOMPARE(step.program.kernels.size(), size_t{6});
    const auto chain = step.chain(0);
    QVERIFY(chain.has_value());
    QCOMPARE(chain->kernels(), size_t{4});
    QCOMPARE(chain->before(), std::vector<size_t>{1});
    QCOMPARE(chain->after(), std::vector<size_t>{4});
    QCOMPARE(chain->end(), size_t{6});

    std::vector<std::vector<std::byte>> results[2];
    for (const bool chained : {false, true}) {
        const auto program = std::make_shared<const Program>(compile(graph));
        const auto executor = makeCpuExecutor(2);
        executor->load(program);
        for (const InputInfo& input : program->graph.inputs()) {
            std::vector<float> values(static_cast<size_t>(program->graph[input.node].elements()));
            Philox(7, static_cast<uint64_t>(input.node)).fillNormal(values);
            uploadFloats(*executor, program->graph, input.node, values);
        }
        if (chained)
            executor->run(RunMode::Captured);
        else
            executor->run(RunMode::Stepwise, [](NodeId, std::span<const std::byte>) {});
        for (const OutputInfo& output : program->graph.outputs()) {
            results[chained].emplace_back(program->graph[output.node].bytes());
            executor->download(output.node, results[chained].back());
        }
    }
    QVERIFY(results[0] == results[1]);
}

} // namespace tst_row_chain

QTEST_GUILESS_MAIN(tst_row_chain::TestRowChain)
#include "tst_row_chain.moc"
