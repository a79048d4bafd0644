// Fused loops as device code in the emulator, against the CPU executor: random graphs, shapes that
// take each way of summing, every op, whole training steps. And what NVRTC says of the texts.
#include "engine/ops/op_info.h"
#include "tests/emulator/loop_emulation.h"
#include "tests/emulator/nvrtc.h"
#include "tests/support/elementwise_attrs.h"
#include "tests/support/random_graph.h"
#include "tests/support/run_program.h"

#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "engine/step/step_graph.h"
#include "engine/train/step_runner.h"
#include "engine/train/trainer.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace tst_cuda_loops {

using namespace halfscope;
using test::EmulatedModule;

namespace {

/// The leaves by the names that they have in the pruned graph too.
std::map<NodeId, RefTensor> leavesOf(const test::RandomGraph& random, const Graph& graph) {
    std::map<NodeId, RefTensor> leaves;
    for (const InputInfo& input : graph.inputs())
        leaves[input.node] = random.leaves().at(random.graph().input(input.name));
    for (const StateInfo& state : graph.states())
        leaves[state.node] = random.leaves().at(random.graph().state(state.name));
    return leaves;
}

/// Every leaf filled by number(random, element, number of the leaf), rounded to its dtype; masks
/// with 0 and 1, integers with what float32 holds, in which loops compute them.
template <class Number>
void uploadNumbers(Executor& executor, const Graph& graph, Number number) {
    size_t leaf = 0;
    const auto fill = [&](NodeId id) {
        const Philox random(4711, static_cast<uint64_t>(id));
        std::vector<double> values(static_cast<size_t>(graph[id].elements()));
        for (size_t i = 0; i < values.size(); ++i)
            values[i] = number(random, i, leaf);
        if (graph[id].dtype == DType::I32)
            for (double& value : values)
                value = std::clamp(value, -0x1p31, 0x1.fffffep30);
        executor.upload(id, test::toBytes(graph[id], values));
        ++leaf;
    };
    for (const InputInfo& input : graph.inputs())
        fill(input.node);
    for (const StateInfo& state : graph.states())
        fill(state.node);
}

} // namespace

class TestCudaLoops : public QObject {
    Q_OBJECT
private slots:
    void randomGraphs_data();
    void randomGraphs();
    void shapes_data();
    void shapes();
    void doubles();
    void everyOp_data();
    void everyOp();
    void presetSteps_data();
    void presetSteps();
    void wideIndices();
    void compilesForDevices_data();
    void compilesForDevices();
};

void TestCudaLoops::randomGraphs_data() {
    QTest::addColumn<int>("seed");
    for (int seed = 0; seed < 12; ++seed)
        QTest::addRow("seed %d", seed) << seed;
}

/// Whole numbers, so every sum is exact: the CPU's bits, with one block, few and many.
void TestCudaLoops::randomGraphs() {
    QFETCH(int, seed);
    const test::RandomGraph random(static_cast<uint64_t>(seed));
    const auto program = std::make_shared<const Program>(
        compile(random.graph(), {seed % 3 == 2 ? FuseOptions::None : FuseOptions::Full}));
    const auto executor = makeCpuExecutor(1);
    executor->load(program);
    for (const auto& [id, tensor] : leavesOf(random, program->graph))
        executor->upload(id, test::toBytes(program->graph[id], tensor.values));
    test::LoopEmulation emulation(*program, *executor);
    for (const int maxBlocks : {1, 5, 1000}) {
        const EmulatedModule module(emulation.write(maxBlocks, maxBlocks == 5 ? 2 : 132),
                                    test::Effort::Unsearched);
        const std::string fault =
            emulation.firstFault(module, test::Agreement::Bits, seed + maxBlocks);
        QVERIFY2(fault.empty(), (std::to_string(maxBlocks) + " blocks: " + fault).c_str());
    }
}

/// Every kind of load, every dtype and sums of the wanted kinds over one space.
Graph loopOver(int64_t rows, int64_t columns, DType type, int sums) {
    Graph graph;
    Builder b(graph);
    const Shape shape{rows, columns};
    const NodeId x = b.input("x", shape, type), z = b.input("z", shape, DType::F32);
    const NodeId turned = b.input("turned", {columns, rows}, DType::F16);
    const NodeId row = b.input("row", {columns}, DType::F32);
    const NodeId column = b.input("column", {rows, 1}, DType::BF16);
    const NodeId scalar = b.input("scalar", {}, DType::F32);
    const NodeId number = b.input("number", shape, DType::I32);
    NodeId y = b.mul(b.cast(x, DType::F32), b.expand(row, shape));
    y = b.add(y, b.cast(b.expand(column, shape), DType::F32));
    const NodeId narrow = b.cast(b.sub(y, b.expand(scalar, shape)), type);
    const NodeId mask = b.emit(Op::Less, {narrow, b.cast(z, type)});
    y = b.add(b.where(mask, z, b.cast(narrow, DType::F32)),
              b.cast(b.transpose(turned, {1, 0}), DType::F32));
    graph.addOutput("narrow", narrow);
    graph.addOutput("mask", mask);
    graph.addOutput("number", b.add(number, b.cast(y, DType::I32)));
    if (sums & 1) graph.addOutput("rows", b.sum(y, {0}));
    if (sums & 1) graph.addOutput("narrow rows", b.sum(narrow, {0}));
    if (sums & 2) graph.addOutput("columns", b.sum(y, {1}));
    if (sums & 4) graph.addOutput("all", b.sumAll(y));
    if (sums & 8) graph.addOutput("mean", b.mean(y, {0, 1}));
    return graph;
}

void TestCudaLoops::shapes_data() {
    QTest::addColumn<int64_t>("rows");
    QTest::addColumn<int64_t>("columns");
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("sums");
    QTest::addColumn<int>("maxBlocks");
    QTest::addColumn<QString>("way");
    const struct {
        int64_t rows, columns;
        int sums, maxBlocks;
        const char* way; ///< words that the text must hold: the case is there for this way
    } cases[] = {
        {1, 1, 15, 9, "flat"},
        {1, 257, 7, 9, "flat"},
        {257, 1, 7, 9, "packs of 1"},
        {31, 33, 15, 1, "columnSums<"},
        {33, 31, 15, 1000, "mergeBlocks<"},
        {127, 129, 0, 1000, "i = 16380u + thread"}, // a tail
        {64, 256, 1, 1, "columnSums<64, 4>"},
        {64, 10, 3, 1, "lanesSum<8>"},
        {2051, 64, 1, 40, "mergeBlocks<33, 33, "}, // row blocks merged at once
        {30011, 24, 1, 1000, ", 16, 64>"},         // and in groups
        {20011, 8, 13, 1, "columnTotal"},          // long runs in one block
        {3, 20000, 2, 1000, "isLastBlock("},       // columns cut over blocks
        {70, 1030, 3, 1, "lanesSum<256>"},         // row sums in a sweep of their own
        {70, 1030, 3, 1000, "mergeParts(parts, "}, // and over column blocks
        {300, 700, 2, 1000, "lanesSum<32>"},       // a warp a row
        {5, 5000, 12, 7, "mergeBlocks<"},
        {700, 96, 0, 1000, "ownColumn"}, // row vectors kept
        {0, 5, 15, 3, "0.0f"},
        {5, 0, 15, 3, "0.0f"},
    };
    int turn = 0;
    for (const auto& c : cases) {
        const DType type = turn % 3 == 0 ? DType::F32 : turn % 3 == 1 ? DType::F16 : DType::BF16;
        ++turn;
        QTest::addRow("%lld x %lld %s sums %d, %d blocks", static_cast<long long>(c.rows),
                      static_cast<long long>(c.columns), std::string(nameOf(type)).c_str(), c.sums,
                      c.maxBlocks)
            << c.rows << c.columns << static_cast<int>(type) << c.sums << c.maxBlocks
            << QString(c.way);
    }
}

/// Small whole numbers: the CPU's bits.
void TestCudaLoops::shapes() {
    QFETCH(int64_t, rows);
    QFETCH(int64_t, columns);
    QFETCH(int, type);
    QFETCH(int, sums);
    QFETCH(int, maxBlocks);
    QFETCH(QString, way);
    const auto program = std::make_shared<const Program>(
        compile(loopOver(rows, columns, static_cast<DType>(type), sums)));
    const auto executor = makeCpuExecutor(1);
    executor->load(program);
    uploadNumbers(*executor, program->graph, [](const Philox& random, uint64_t i, size_t) {
        return static_cast<double>(random.below(i, 7)) - 3;
    });
    test::LoopEmulation emulation(*program, *executor);
    const std::string text = emulation.write(maxBlocks),
                      loops = text.substr(cuda::prelude().size());
    QVERIFY2(QString::fromStdString(loops).contains(way), loops.c_str());
    const EmulatedModule module(text);
    for (int order = 0; order < 3; ++order) {
        const std::string fault = emulation.firstFault(module, test::Agreement::Bits, order);
        QVERIFY2(fault.empty(), fault.c_str());
    }
}

/// No pass puts F64 into a loop today; the text must hold it all the same.
void TestCudaLoops::doubles() {
    Graph graph;
    Builder b(graph);
    const Shape shape{33, 31};
    const NodeId x = b.input("x", shape, DType::F64), y = b.input("y", shape, DType::F64);
    const NodeId quotient = b.emit(Op::Div, {x, y});
    graph.addOutput("less", b.emit(Op::Less, {x, quotient}));
    graph.addOutput("chosen", b.where(b.emit(Op::Equal, {x, y}), quotient, b.neg(x)));
    for (DType type : {DType::F32, DType::F16, DType::BF16, DType::I32})
        graph.addOutput(std::string(nameOf(type)), b.cast(b.mul(x, quotient), type));
    Program program = compile(graph);
    for (Kernel& kernel : program.kernels) {
        kernel.loop = true;
        kernel.space = shape;
        kernel.split = 1;
    }
    const auto nodes = std::make_shared<const Program>(compile(graph));
    const auto executor = makeCpuExecutor(1);
    executor->load(nodes);
    uploadNumbers(*executor, nodes->graph, [](const Philox& random, uint64_t i, size_t) {
        return double{random.normal(i)};
    });
    test::LoopEmulation emulation(program, *executor);
    const EmulatedModule module(emulation.write(7));
    QVERIFY(emulation.texts().size() >= 6);
    const std::string fault = emulation.firstFault(module, test::Agreement::Bits, 2);
    QVERIFY2(fault.empty(), fault.c_str());
}

/// Values at which functions and conversions show their edges, then normals of every size.
double edgeOr(const Philox& random, uint64_t i, size_t leaf) {
    static const double kEdges[] = {
        0.0,     -0.0,     1.0,       -1.0,         0.5,           -0.5,    2.0,
        1e-45,   -1e-40,   0x1p-24,   0x1p-14,      65504.0,       65520.0, 3.4e38,
        -3.4e38, HUGE_VAL, -HUGE_VAL, std::nan(""), 19.9,          20.1,    88.7,
        -88.0,   -103.0,   100.0,     -5.5,         -9.2,          1.5,     2.5,
        0.999,   -0.999,   1e-8,      2147483520.0, -2147483648.0, 7e9};
    // every pair of them, in leaves 0 and 1
    constexpr uint64_t kCount = std::size(kEdges);
    if (i < kCount * kCount) return kEdges[(leaf == 0 ? i : i / kCount) % kCount];
    return random.normal(i) * std::exp2(static_cast<double>(random.below(i + (1u << 20), 25)) - 18);
}

void TestCudaLoops::everyOp_data() {
    QTest::addColumn<int>("type");
    for (DType type : {DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32})
        QTest::addRow("%s", std::string(nameOf(type)).c_str()) << static_cast<int>(type);
}

/// Every elementwise op on every dtype that it takes, against the CPU.
void TestCudaLoops::everyOp() {
    QFETCH(int, type);
    const auto dtype = static_cast<DType>(type);
    Graph graph;
    Builder b(graph);
    const Shape shape{2047};
    const NodeId x = b.input("x", shape, dtype), y = b.input("y", shape, dtype);
    const NodeId m = b.emit(Op::Less, {x, y}), n = b.emit(Op::Equal, {x, x});
    int ops = 0;
    for (int i = 0; i < kOpCount; ++i) {
        const OpInfo& info = infoOf(static_cast<Op>(i));
        const bool leaves = info.op == Op::Cast;
        if (!info.flags.has(OpFlag::Elementwise) || leaves) continue;
        const bool logical =
            info.op == Op::LogicalAnd || info.op == Op::LogicalOr || info.op == Op::LogicalNot;
        std::vector<NodeId> in{logical ? m : x};
        if (info.arity > 1) in.push_back(logical ? n : y);
        if (info.op == Op::Where) in.assign({m, x, y});
        const Attrs attrs = test::elementwiseAttrs(info.op, {-0.7, 1.3});
        try {
            graph.addOutput(std::string(info.name), b.emit(info.op, in, attrs));
            if (info.op == Op::QuantizeFp8)
                graph.addOutput("e5m2", b.emit(info.op, in, Fp8Attrs{Fp8Format::E5M2}));
        } catch (const std::logic_error&) {
            // no function of integers, no 8-bit number of doubles
            const bool fp8 = info.op == Op::QuantizeFp8 || info.op == Op::QuantizeGradient;
            QVERIFY2(dtype == DType::I32 || (fp8 && dtype == DType::F64), nameOf(info.op).data());
            continue;
        }
        ++ops;
    }
    QVERIFY(ops >= (dtype == DType::I32 ? 15 : 50));
    for (DType to : {DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32, DType::Bool})
        graph.addOutput("to " + std::string(nameOf(to)), b.cast(x, to));
    const auto nodes = std::make_shared<const Program>(compile(graph, {FuseOptions::None}));
    Program program = *nodes;
    for (Kernel& kernel : program.kernels) {
        kernel.loop = true;
        kernel.space = shape;
        kernel.split = 1;
    }
    const auto executor = makeCpuExecutor(1);
    executor->load(nodes);
    uploadNumbers(*executor, nodes->graph, edgeOr);
    test::LoopEmulation emulation(program, *executor);
    const EmulatedModule module(emulation.write(3));
    const std::string fault = emulation.firstFault(module, test::Agreement::Bounds, 3);
    QVERIFY2(fault.empty(), fault.c_str());
}

/// A preset at a size for tests: odd, and with packs of several elements where `even`.
RunConfig small(RunConfig config, bool even) {
    if (config.task.kind == TaskKind::Image && config.model.layers.empty())
        config.task.kind = TaskKind::Checkerboard;
    config.task.side = even ? 16 : 13;
    config.task.batch = even ? 64 : 31;
    config.task.samples = 4 * config.task.batch;
    config.model.width = even ? 32 : 33;
    config.model.depth = std::min<int64_t>(config.model.depth, 2);
    return config;
}

void TestCudaLoops::presetSteps_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QString>("lane");
    QTest::addColumn<int>("maxBlocks");
    const char* lanes[] = {"fp32", "amp-fp16", "amp-bf16", "fp16", "fp8"};
    constexpr size_t kLanes = std::size(lanes);
    const int blocks[] = {1000, 1, 6};
    size_t turn = 0;
    for (const Preset& preset : presets()) {
        // schedules differ in a table's values alone, which no kernel's text holds
        if (preset.name.starts_with("recipe-schedule-") && preset.name != "recipe-schedule-step")
            continue;
        // Each with two of the lanes, the checkerboard with all; an optimizer's recipe, which is
        // the plain one in all else, with one.
        const bool variation = preset.group.text() == std::string("Recipes: optimizers");
        const size_t count = preset.name == "checkerboard" ? kLanes : variation ? 1 : 2;
        for (size_t i = 0; i < count; ++i, ++turn) {
            const char* lane = lanes[(turn + turn / kLanes) % kLanes];
            QTest::addRow("%s %s", preset.name.c_str(), lane)
                << QString::fromStdString(preset.name) << QString(lane) << blocks[turn % 3];
        }
    }
}

/// Whole steps of trainings: exact members the CPU's bits, the others within their bounds.
void TestCudaLoops::presetSteps() {
    QFETCH(QString, preset);
    QFETCH(QString, lane);
    QFETCH(int, maxBlocks);
    const RunConfig config = small(presetNamed(preset.toStdString()).config, maxBlocks == 6);
    const LaneConfig laneConfig = parseLanes(lane.toStdString()).front();
    const BatchShape shape = makeTask(config)->shape();
    // grouped as for CUDA, whose loops do less than the CPU's
    StepRunner runner(config, laneConfig, buildStep(config, laneConfig, shape), makeCpuExecutor(1),
                      CompileOptions{});
    for (const InputInfo& input : runner.graph().inputs()) {
        const Node& node = runner.graph()[input.node];
        if (node.dtype == DType::I32) { // class numbers
            std::vector<int32_t> classes(static_cast<size_t>(node.elements()));
            for (size_t i = 0; i < classes.size(); ++i)
                classes[i] = static_cast<int32_t>(i * 7 % static_cast<size_t>(shape.outputs));
            runner.set(input.node, classes);
            continue;
        }
        std::vector<float> values(static_cast<size_t>(node.elements()));
        Philox(7, static_cast<uint64_t>(input.node)).fillNormal(values);
        runner.set(input.node, values);
    }
    test::LoopEmulation emulation(runner.program(), runner.executor());
    const EmulatedModule module(emulation.write(maxBlocks), test::Effort::Unsearched);
    QVERIFY(!emulation.texts().empty());
    const std::string fault = emulation.firstFault(module, test::Agreement::Bounds, 5);
    QVERIFY2(fault.empty(), fault.c_str());
}

/// More elements than 32 bits count: compiled, not run.
void TestCudaLoops::wideIndices() {
    for (int sums : {0, 1, 2, 12}) {
        const Program program = compile(loopOver(70001, 70000, DType::F16, sums));
        const std::string text = test::loopTexts(program, 1000, 132);
        QVERIFY(text.find("u64 first") != std::string::npos);
        const EmulatedModule module(text, test::Effort::Unsearched);
    }
}

void TestCudaLoops::compilesForDevices_data() {
    QTest::addColumn<int>("capability");
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QString>("lane");
    for (int capability : {75, 80, 90, 120})
        QTest::addRow("%d amp-fp16", capability)
            << capability << QString("checkerboard-seed") << QString("amp-fp16");
    QTest::addRow("90 fp32") << 90 << QString("checkerboard-seed") << QString("fp32");
    QTest::addRow("75 amp-bf16") << 75 << QString("recipe-penalty") << QString("amp-bf16");
}

/// Real texts with NVRTC, at their own sizes: they compile, and nothing spills.
void TestCudaLoops::compilesForDevices() {
    QFETCH(int, capability);
    QFETCH(QString, preset);
    QFETCH(QString, lane);
    const test::Nvrtc nvrtc;
    if (!nvrtc.unavailable().empty()) QSKIP(nvrtc.unavailable().c_str());
    if (!nvrtc.supports(capability)) QSKIP("this NVRTC does not know the architecture");
    const RunConfig& config = presetNamed(preset.toStdString()).config;
    const LaneConfig laneConfig = parseLanes(lane.toStdString()).front();
    const Program program = compile(buildStep(config, laneConfig, makeTask(config)->shape()));
    const auto costs = nvrtc.compile(test::loopTexts(program, 1056, 132), capability);
    QVERIFY(costs.size() >= 10);
    for (const auto& [kernel, cost] : costs) {
        const std::string what = kernel + ": " + std::to_string(cost.registers) + " registers, " +
                                 std::to_string(cost.spillBytes) + " bytes spilt, " +
                                 std::to_string(cost.stackBytes) + " of stack";
        QVERIFY2(cost.registers > 0 && cost.spillBytes == 0 && cost.stackBytes == 0, what.c_str());
    }
}

} // namespace tst_cuda_loops

QTEST_GUILESS_MAIN(tst_cuda_loops::TestCudaLoops)
#include "tst_cuda_loops.moc"
