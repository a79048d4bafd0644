// Fused chains in the emulator against their members in double: products of any size, whole steps.
#include "tests/support/chain_plans.h"
#include "tests/support/chained_step.h"
#include "tests/support/one_product.h"

#include "engine/cuda/codegen/chain_tiles.h"
#include "engine/ops/builder.h"
#include "engine/passes/plan.h"

#include <QtTest>

#include <cmath>
#include <random>

namespace tst_cuda_chains {

using namespace halfscope;
using cuda::ElementForm;
using cuda::isChain;
using test::ChainedExecutor;
using test::chainsOf;
using test::checkerboard;
using test::kForms;
using test::kH200Shared;
using test::nameOf;
using test::runVisited;
using test::small;
using test::trained;
using test::valuesOf;

class TestCudaChains : public QObject {
    Q_OBJECT
private slots:
    void products_data();
    void products();
    void steps_data();
    void steps();
    void nothingKept_data();
    void nothingKept();
    void sameBitsInAnyOrder();
    void firstLossOfTheUnfusedStep();
    void masksOfRoundedValues_data();
    void masksOfRoundedValues();
    void varianceOfLargeMeans();
    void operandsStoredOnce_data();
    void operandsStoredOnce();
};

void TestCudaChains::products_data() {
    QTest::addColumn<QString>("type"); // f16, bf16, tf32, f32
    QTest::addColumn<int>("m");
    QTest::addColumn<int>("n");
    QTest::addColumn<int>("k");
    QTest::addColumn<bool>("transposeA");
    QTest::addColumn<bool>("transposeB");
    QTest::addColumn<int>("sharedBytes");
    QTest::addColumn<int>("capability");
    const int all = static_cast<int>(kH200Shared);
    for (const char* type : {"f16", "bf16", "tf32", "f32"}) {
        const auto row = [&](const char* what, int m, int n, int k, bool transposeA,
                             bool transposeB, int sharedBytes, int capability) {
            QTest::addRow("%s, %s", type, what)
                << type << m << n << k << transposeA << transposeB << sharedBytes << capability;
        };
        row("whole tiles", 256, 64, 128, false, false, all, 90);
        row("b transposed", 160, 72, 40, false, true, all, 90);
        row("odd", 257, 33, 31, false, true, all, 90);
        row("odd, two tiles across", 131, 301, 17, false, false, all, 90);
        row("b from memory", 400, 128, 200, false, true, 72000, 90);
        row("deep", 64, 256, 517, true, false, all, 90);
        row("deep, odd", 33, 31, 257, true, false, all, 90);
        row("narrow tiles", 131, 301, 70, false, true, 72000, 90);
        row("low tiles", 131, 256, 64, false, false, all, 80);
        row("small tiles", 131, 301, 70, false, true, 50000, 80);
        row("deep, small tiles", 130, 200, 257, true, false, 30000, 80);
        row("least tiles", 131, 60, 33, false, true, all, 80);
        row("deep, narrow tiles", 130, 200, 257, true, false, 40000, 90);
        row("deep, low tiles", 130, 256, 100, true, false, all, 80);
        row("deep, least tiles", 65, 60, 257, true, false, all, 80);
    }
}

/// A product alone, of any size: the tiles, their tails and all forms of transposes.
void TestCudaChains::products() {
    QFETCH(QString, type);
    QFETCH(int, m);
    QFETCH(int, n);
    QFETCH(int, k);
    QFETCH(bool, transposeA);
    QFETCH(bool, transposeB);
    QFETCH(int, sharedBytes);
    QFETCH(int, capability);
    const DType dtype = type == "f16" ? DType::F16 : type == "bf16" ? DType::BF16 : DType::F32;
    const test::ProductCase product{dtype,
                                    type == "tf32" ? MathMode::TF32 : MathMode::F32,
                                    m,
                                    n,
                                    k,
                                    {transposeA, transposeB},
                                    static_cast<size_t>(sharedBytes),
                                    capability};
    const test::ProductOutcome outcome = test::outcomeOf(product, {});
    const Program& program = outcome.program;
    QCOMPARE(program.kernels.size(), size_t{1});
    const NodeId out = program.kernels[0].stores[0];
    const auto at = outcome.arena.begin() +
                    static_cast<std::ptrdiff_t>(program.memory.offset[static_cast<size_t>(out)]);
    test::ChainCheck::Values values = outcome.loads;
    values[out] = test::fromBytes(
        program.graph[out], {at, at + static_cast<std::ptrdiff_t>(program.graph[out].bytes())});
    const test::ChainCheck check(program, program.kernels[0], values);
    QVERIFY2(check.firstFault().empty(), check.firstFault().c_str());
}

void TestCudaChains::steps_data() {
    QTest::addColumn<int>("precision");
    QTest::addColumn<int>("side");
    QTest::addColumn<int>("width");
    QTest::addColumn<int>("sharedBytes");
    QTest::addColumn<ElementForm>("form");
    const int all = static_cast<int>(kH200Shared);
    for (const ElementForm form : kForms) {
        const auto row = [&](const char* name, Precision precision, int side, int width,
                             int sharedBytes) {
            QTest::addRow("%s%s", name, nameOf(form))
                << static_cast<int>(precision) << side << width << sharedBytes << form;
        };
        row("amp-fp16", Precision::AmpFp16, 24, 64, all);
        row("amp-fp16, odd sizes", Precision::AmpFp16, 21, 37, all);
        row("amp-bf16, little shared memory", Precision::AmpBf16, 23, 48, 100000);
        row("tf32", Precision::Tf32, 20, 40, all);
        row("fp32", Precision::Fp32, 20, 40, all);
    }
}

/// Whole steps, all blocks and threads in shuffled orders: every chain of the second step against
/// its members, and nothing of it written where it must not be (the executor's guards).
void TestCudaChains::steps() {
    QFETCH(int, precision);
    QFETCH(int, side);
    QFETCH(int, width);
    QFETCH(int, sharedBytes);
    QFETCH(ElementForm, form);
    const RunConfig config = checkerboard(side, width);
    const LaneConfig lane = defaultLane(static_cast<Precision>(precision));
    cuda::ChainOptions options;
    options.leastElements = 1;
    auto made = std::make_unique<ChainedExecutor>(small(static_cast<size_t>(sharedBytes), form),
                                                  options, cuda::Merge::Full);
    ChainedExecutor& fused = *made;
    const StepRunner runner = trained(config, lane, std::move(made), 1);
    const Program& program = fused.program();
    QCOMPARE(chainsOf(program), 10);
    checkPlan(program.graph, program.kernels, program.memory);
    const test::ChainCheck::Values values = runVisited(fused, program);
    for (const Kernel& kernel : program.kernels) {
        if (!isChain(kernel)) continue;
        const test::ChainCheck check(program, kernel, values, form);
        QVERIFY2(check.firstFault().empty(), check.firstFault().c_str());
        qInfo("chain of %%%d: error / bound %.3f", kernel.stores[0], check.closest());
    }
}

void TestCudaChains::nothingKept_data() {
    QTest::addColumn<int>("precision");
    QTest::addColumn<int>("width");
    QTest::newRow("amp-fp16") << static_cast<int>(Precision::AmpFp16) << 32;
    QTest::newRow("amp-bf16, odd sizes") << static_cast<int>(Precision::AmpBf16) << 37;
}

/// Weight gradients whose operand no chain has stored: what they sum over its rows is rounded to
/// 16 bits first, as in the node that it is.
void TestCudaChains::nothingKept() {
    QFETCH(int, precision);
    QFETCH(int, width);
    cuda::ChainOptions options;
    options.leastElements = 1;
    options.keepOperands = false;
    auto made = std::make_unique<ChainedExecutor>(small(), options, cuda::Merge::Full);
    ChainedExecutor& fused = *made;
    const StepRunner runner =
        trained(checkerboard(16, width), defaultLane(static_cast<Precision>(precision)),
                std::move(made), 1);
    const Program& program = fused.program();
    int sums = 0;
    const test::ChainCheck::Values values = runVisited(fused, program);
    for (const Kernel& kernel : program.kernels) {
        if (!isChain(kernel)) continue;
        const test::ChainCheck check(program, kernel, values);
        QVERIFY2(check.firstFault().empty(), check.firstFault().c_str());
        sums += static_cast<int>(cuda::chainShape(program.graph, kernel)->columnSums.size());
    }
    QCOMPARE(sums, 2);
}

/// Blocks and threads in their order and in another, each kernel a launch and merged: the same
/// bits.
void TestCudaChains::sameBitsInAnyOrder() {
    const RunConfig config = checkerboard(20, 40);
    const LaneConfig lane = defaultLane(Precision::AmpFp16);
    std::vector<std::vector<double>> results;
    for (const bool shuffled : {false, true}) {
        cuda::ChainOptions options;
        options.leastElements = 1;
        auto made = std::make_unique<ChainedExecutor>(
            small(), options, shuffled ? cuda::Merge::Full : cuda::Merge::OneByOne, shuffled);
        ChainedExecutor& executor = *made;
        const StepRunner runner = trained(config, lane, std::move(made), 2);
        std::vector<double> all;
        for (const StateInfo& state : executor.program().graph.states()) {
            const auto values =
                valuesOf(executor, executor.program().graph[state.node], state.node);
            all.insert(all.end(), values.begin(), values.end());
        }
        results.push_back(std::move(all));
    }
    QVERIFY(std::any_of(results[0].begin(), results[0].end(), [](double x) { return x != 0; }));
    QVERIFY(std::equal(results[0].begin(), results[0].end(), results[1].begin(), results[1].end()));
}

/// The CPU's unfused step from the same weights. Fused sums differ in their order alone, so a value
/// in fp16 differs where a rounding falls the other way: each of the four products and their
/// normalizations can move the prediction by a unit roundoff of fp16 of its largest value.
void TestCudaChains::firstLossOfTheUnfusedStep() {
    const RunConfig config = checkerboard(24, 64);
    const LaneConfig lane = defaultLane(Precision::AmpFp16);
    cuda::ChainOptions options;
    options.leastElements = 1;
    StepRunner plain = trained(config, lane, makeCpuExecutor(1), 1);
    const std::vector<float> b = plain.get(plain.graph().output("prediction"));
    for (const ElementForm form : kForms) {
        StepRunner fused = trained(
            config, lane,
            std::make_unique<ChainedExecutor>(small(kH200Shared, form), options, cuda::Merge::Full),
            1);
        const std::vector<float> a = fused.get(fused.graph().output("prediction"));
        float largest = 0, apart = 0;
        for (size_t i = 0; i < a.size(); ++i) {
            largest = std::max(largest, std::fabs(b[i]));
            apart = std::max(apart, std::fabs(a[i] - b[i]));
        }
        QVERIFY2(largest > 0.01f, "the network predicts nothing");
        QVERIFY2(apart <= 4 * 0x1p-11f * largest, std::to_string(apart / largest).c_str());
    }
}

void TestCudaChains::masksOfRoundedValues_data() {
    QTest::addColumn<ElementForm>("form");
    QTest::newRow("as written") << ElementForm::AsWritten;
    QTest::newRow("collected") << ElementForm::Collected;
}

/// Whether relu of a value rounded to fp16 is 0, from the value alone: at half the smallest number,
/// a bit above it, below zero, at NaN.
void TestCudaChains::masksOfRoundedValues() {
    const Shape shape{96, 16};
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", shape, DType::F32);
    const NodeId y = b.unary(Op::Relu, b.cast(b.add(x, x), DType::F16));
    const NodeId zero = b.constant(0, shape, DType::F16);
    const NodeId kept = b.where(b.emit(Op::LessEqual, {y, zero}), b.constant(0, shape, DType::F32),
                                b.constant(1, shape, DType::F32));
    graph.addOutput("sum", b.sum(kept, {0}));
    cuda::ChainOptions options;
    options.leastElements = 1;
    QFETCH(ElementForm, form);
    ChainedExecutor executor(small(kH200Shared, form), options, cuda::Merge::Full);
    executor.load(std::make_shared<const Program>(compile(graph)));
    const Program& program = executor.program();
    QCOMPARE(chainsOf(program), 1);
    const std::array<float, 8> cases{0x1p-26f, 0x1.000002p-26f, 0x1p-25f,      -0x1p-30f,
                                     0.0f,     0x1p-140f,       std::nanf(""), 3.0f};
    std::vector<double> values(static_cast<size_t>(shape.elements()));
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<double>(cases[i % 16 % cases.size()]);
    const NodeId input = program.graph.input("x");
    executor.upload(input, test::toBytes(program.graph[input], values));
    executor.run(RunMode::Captured, {});
    const NodeId sum = program.graph.output("sum");
    const std::vector<double> sums = valuesOf(executor, program.graph[sum], sum);
    for (size_t i = 0; i < sums.size(); ++i) {
        const float doubled = 2 * cases[i % cases.size()];
        const bool isZero = floatFromHalf(halfFromFloat(doubled)) <= 0;
        QCOMPARE(sums[i], isZero ? 0.0 : 96.0);
    }
}

/// Two-pass: columns of mean 1000 and deviation 1/16, whose squares f32 cannot tell apart.
void TestCudaChains::varianceOfLargeMeans() {
    const Shape shape{700, 20};
    Graph graph;
    Builder b(graph);
    const NodeId x =
        b.add(b.input("x", shape, DType::F32), b.expand(b.input("shift", {20}, DType::F32), shape));
    const NodeId mean = b.mean(x, {0});
    const NodeId apart = b.sub(x, b.expand(mean, shape));
    graph.addOutput("mean", mean);
    graph.addOutput("variance", b.mean(b.mul(apart, apart), {0}));
    cuda::ChainOptions options;
    options.leastElements = 1;
    ChainedExecutor executor(small(), options, cuda::Merge::Full);
    executor.load(std::make_shared<const Program>(compile(graph)));
    const Program& program = executor.program();
    QCOMPARE(chainsOf(program), 1);
    std::mt19937 random(3);
    std::normal_distribution<double> normal(1000, 0.0625);
    for (const InputInfo& input : program.graph.inputs()) {
        const Node& node = program.graph[input.node];
        std::vector<double> values(static_cast<size_t>(node.elements()), 0.5);
        if (input.name == "x")
            std::generate(values.begin(), values.end(), [&] { return normal(random); });
        executor.upload(input.node, test::toBytes(node, values));
    }
    const test::ChainCheck::Values values = runVisited(executor, program);
    const double variance = values.at(program.graph.output("variance"))[0];
    QVERIFY2(std::fabs(variance / 0.00390625 - 1) < 5 * std::sqrt(2.0 / 700),
             "not the deviation asked for");
    for (const Kernel& kernel : program.kernels)
        if (isChain(kernel)) {
            const test::ChainCheck check(program, kernel, values);
            QVERIFY2(check.firstFault().empty(), check.firstFault().c_str());
        }
}

void TestCudaChains::operandsStoredOnce_data() {
    QTest::addColumn<bool>("lean");
    QTest::newRow("as usual") << false;
    QTest::newRow("lean") << true;
}

/// The blocks of every tile of columns compute a product's operand. Where the chain also stores it,
/// one of them does: from the others the emulator would see a race, and a device would write the
/// same bits as often as there are tiles.
void TestCudaChains::operandsStoredOnce() {
    QFETCH(bool, lean);
    const Shape shape{400, 100};
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", shape, DType::F32);
    NodeId value = x;
    for (int i = 0; i < 6; ++i) // dear enough to be stored
        value = b.unary(Op::Relu, b.add(value, x));
    const NodeId operand = b.cast(value, DType::F16);
    const NodeId product = b.matmul(operand, b.input("weights", {100, 100}, DType::F16));
    graph.addOutput("product", product);
    graph.addOutput("gradient",
                    b.matmul(operand, product, {.transposeA = true, .transposeB = false}));
    cuda::DeviceTraits traits = small(30000); // for tiles of 64 columns
    traits.capability = 80;
    traits.chainWay.lean = lean;
    cuda::ChainOptions options;
    options.leastElements = 1;
    ChainedExecutor executor(traits, options, cuda::Merge::Full);
    executor.load(std::make_shared<const Program>(compile(graph)));
    const Program& program = executor.program();
    for (const InputInfo& input : program.graph.inputs()) {
        const Node& node = program.graph[input.node];
        std::vector<double> values(static_cast<size_t>(node.elements()));
        for (size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<double>(i * 37 % 101) / 512 - 0.09375;
        executor.upload(input.node, test::toBytes(node, values));
    }
    const test::ChainCheck::Values values = runVisited(executor, program);
    int tiles = 0;
    for (const Kernel& kernel : program.kernels) {
        if (!isChain(kernel)) continue;
        const auto chain = cuda::chainShape(program.graph, kernel);
        if (chain->storesOperand)
            tiles = cuda::chainTiles(program.graph, *chain, traits)->acrossOf(*chain);
        const test::ChainCheck check(program, kernel, values);
        QVERIFY2(check.firstFault().empty(), check.firstFault().c_str());
    }
    QCOMPARE(tiles, 2);
}

} // namespace tst_cuda_chains

QTEST_GUILESS_MAIN(tst_cuda_chains::TestCudaChains)
#include "tst_cuda_chains.moc"
