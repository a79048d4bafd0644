// Chains that would wait for each other, as those of a second backward pass do: where kernels are
// parted, that steps with a gradient penalty fuse, and what such steps compute.
#include "tests/support/chain_plans.h"
#include "tests/support/chained_step.h"
#include "tests/support/random_network.h"
#include "tests/support/step_comparison.h"

#include "engine/cuda/codegen/chain_order.h"
#include "engine/cuda/codegen/step_source.h"
#include "engine/passes/plan.h"
#include "engine/settings/fields.h"

#include <QtTest>

namespace tst_cuda_cycles {

using namespace halfscope;
using namespace halfscope::test;
using cuda::ElementForm;
using cuda::isChain;

namespace {

RunConfig withPenalty(int64_t side, int64_t width) {
    RunConfig config = checkerboard(side, width);
    config.gradients.penalty = 0.25;
    return config;
}

/// Empty, or a kernel that reads what a later one stores.
std::string firstTooEarly(const Program& program) {
    const Graph& graph = program.graph;
    std::set<NodeId> missing;
    for (const Kernel& kernel : program.kernels)
        missing.insert(kernel.stores.begin(), kernel.stores.end());
    for (const Kernel& kernel : program.kernels) {
        for (NodeId load : kernel.loads)
            if (missing.count(storageOf(graph, load)))
                return "the kernel of %" + std::to_string(kernel.stores[0]) + " reads %" +
                       std::to_string(load) + " too early";
        for (NodeId id : kernel.stores)
            missing.erase(id);
    }
    return missing.empty() ? "" : "%" + std::to_string(*missing.begin()) + " is never stored";
}

/// What every chain stored, against its members in double.
std::string firstFault(Executor& executor, const Program& program, ElementForm form) {
    const ChainCheck::Values values = runVisited(executor, program);
    for (const Kernel& kernel : program.kernels) {
        if (!isChain(kernel)) continue;
        const ChainCheck check(program, kernel, values, form);
        if (!check.firstFault().empty()) return check.firstFault();
    }
    return "";
}

} // namespace

class TestCudaCycles : public QObject {
    Q_OBJECT
private slots:
    void cheapestCut();
    void penaltyIsFused_data();
    void penaltyIsFused();
    void penaltySteps_data();
    void penaltySteps();
    void randomNetworksAreFused();
    void randomNetworksRun_data();
    void randomNetworksRun();
    void whatSavesNothingStays();
};

/// Three kernels in a cycle, two of which can be parted: {a, d} into a and d, which read a row
/// each, and {b, other} into b and other, which both read x. c stands alone.
void TestCudaCycles::cheapestCut() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {64, 64}, DType::F32), row = b.input("row", {1, 64}, DType::F32);
    const NodeId a = b.neg(row);
    const NodeId scaled = b.mul(x, b.expand(a, {64, 64}));
    const NodeId sum = b.sum(scaled, {0}), other = b.sum(x, {0});
    const NodeId c = b.unary(Op::Relu, sum);
    const NodeId d = b.add(c, row);
    const auto kernel = [](std::vector<NodeId> stores, std::vector<NodeId> loads) {
        return Kernel{stores, stores, std::move(loads), true, {}, 0};
    };
    std::vector<NodeId> both{sum, other};
    std::sort(both.begin(), both.end());
    const auto partOf = [&](size_t, const std::vector<NodeId>& stores) {
        std::set<NodeId> loads;
        for (NodeId id : stores)
            for (NodeId load : id == a       ? std::vector{row}
                               : id == d     ? std::vector{c, row}
                               : id == c     ? std::vector{sum}
                               : id == other ? std::vector{x}
                                             : std::vector{x, a})
                loads.insert(load);
        return std::optional(kernel(stores, {loads.begin(), loads.end()}));
    };
    std::vector<Kernel> kernels{kernel({c}, {sum}), kernel({a, d}, {c, row}), kernel(both, {x, a})};
    const cuda::KernelOrder order(graph, kernels);
    QVERIFY(!order.order());
    const auto cut = order.cheapestCut(partOf);
    QVERIFY(cut && cut->kernel == 1);
    QCOMPARE(cut->late, std::vector{d});

    kernels[1] = *partOf(1, {a});
    kernels.push_back(*partOf(1, {d}));
    const cuda::KernelOrder now(graph, kernels);
    QVERIFY(now.order() == std::vector<size_t>({1, 2, 0, 3}));
    QVERIFY(!now.cheapestCut(partOf)); // nothing waits for itself
    // Where the row cannot be parted the sums must be.
    kernels = {kernel({c}, {sum}), kernel({a, d}, {c, row}), kernel(both, {x, a})};
    const auto without = cuda::KernelOrder(graph, kernels)
                             .cheapestCut([&](size_t k, const std::vector<NodeId>& stores) {
                                 return k == 1 ? std::nullopt : partOf(k, stores);
                             });
    QVERIFY(without && without->kernel == 2);
    QCOMPARE(without->late, std::vector{sum});
}

void TestCudaCycles::penaltyIsFused_data() {
    QTest::addColumn<int>("precision");
    QTest::addColumn<ElementForm>("form");
    for (const ElementForm form : kForms) {
        const auto row = [&](const char* name, Precision precision) {
            QTest::addRow("%s%s", name, nameOf(form)) << static_cast<int>(precision) << form;
        };
        row("amp-fp16", Precision::AmpFp16);
        row("amp-bf16", Precision::AmpBf16);
        row("tf32", Precision::Tf32);
        row("fp32", Precision::Fp32);
    }
}

/// The size of the preset: what remains of the traffic and of the memory.
void TestCudaCycles::penaltyIsFused() {
    QFETCH(int, precision);
    QFETCH(ElementForm, form);
    const Program plain = stepOf(withPenalty(512, 256), static_cast<Precision>(precision));
    const Program fused = cuda::fuseChains(plain, h200(form));
    checkPlan(fused.graph, fused.kernels, fused.memory);
    const std::string early = firstTooEarly(fused);
    QVERIFY2(early.empty(), early.c_str());
    const double tensor = 512.0 * 512 * 256 * 4;
    qInfo("%d chains; passes over an activation in f32: %.1f, unfused %.1f; peak %.0f MB, unfused "
          "%.0f MB",
          chainsOf(fused), passesOf(fused, tensor), passesOf(plain, tensor),
          static_cast<double>(fused.memory.peakBytes) / 1e6,
          static_cast<double>(plain.memory.peakBytes) / 1e6);
    // 10 chains of the first order; of the second, each of the three layers has at least 6: two
    // products and a weight gradient of both, and three normalizations' sums.
    QVERIFY(chainsOf(fused) >= 28);
    QVERIFY(passesOf(fused, tensor) < 0.65 * passesOf(plain, tensor));
    QVERIFY(static_cast<double>(fused.memory.peakBytes) <
            0.6 * static_cast<double>(plain.memory.peakBytes));
    const auto text = [&] {
        cuda::SourceOptions options;
        options.chainWay.form = form;
        return cuda::writeStep(plain, h200(form), options).text;
    };
    QVERIFY(text() == text());
}

void TestCudaCycles::penaltySteps_data() {
    QTest::addColumn<int>("precision");
    QTest::addColumn<int>("side");
    QTest::addColumn<int>("width");
    QTest::addColumn<ElementForm>("form");
    const auto row = [](const char* name, Precision precision, int side, int width,
                        ElementForm form) {
        QTest::newRow(name) << static_cast<int>(precision) << side << width << form;
    };
    row("amp-fp16", Precision::AmpFp16, 16, 32, ElementForm::AsWritten);
    row("amp-fp16, odd sizes, collected", Precision::AmpFp16, 13, 37, ElementForm::Collected);
    row("amp-bf16, collected", Precision::AmpBf16, 16, 40, ElementForm::Collected);
    row("fp32, odd sizes", Precision::Fp32, 15, 33, ElementForm::AsWritten);
}

/// A small step in shuffled orders: every chain against its members, and the states that it leaves
/// against those of the CPU's unfused step.
void TestCudaCycles::penaltySteps() {
    QFETCH(int, precision);
    QFETCH(int, side);
    QFETCH(int, width);
    QFETCH(ElementForm, form);
    const RunConfig config = withPenalty(side, width);
    LaneConfig lane = defaultLane(static_cast<Precision>(precision));
    lane.scaler.initScale = 1024;
    auto made = std::make_unique<ChainedExecutor>(small(kH200Shared, form), ofAllSizes(),
                                                  cuda::Merge::Full);
    ChainedExecutor& fused = *made;
    StepRunner runner = trained(config, lane, std::move(made), 1);
    const Program& program = fused.program();
    QVERIFY(chainsOf(program) >= 28);
    checkPlan(program.graph, program.kernels, program.memory);
    const std::string fault = firstFault(fused, program, form);
    QVERIFY2(fault.empty(), fault.c_str());
    StepRunner plain = trained(config, lane, makeCpuExecutor(1), 0);
    StepComparison comparison(runner, plain);
    const std::string difference = comparison.step();
    QVERIFY2(difference.empty(), difference.c_str());
    qInfo("largest deviation: %.2g of its bound, of a gradient norm %.2g", comparison.worst,
          comparison.worstNorm);
}

/// Nearly all of second order fuse: of every hundred some 15 have cycles.
void TestCudaCycles::randomNetworksAreFused() {
    constexpr int kSeeds = 150;
    int fusedOnes = 0;
    for (int seed = 1; seed < 2 * kSeeds; seed += 2) {
        const Program plain = compile(RandomNetwork(static_cast<uint64_t>(seed)).graph());
        const ElementForm form = kForms[seed / 2 % 2]; // seeds are odd
        const Program fused = cuda::fuseChains(plain, h200(form), ofAllSizes());
        checkPlan(fused.graph, fused.kernels, fused.memory);
        const std::string early = firstTooEarly(fused);
        QVERIFY2(early.empty(), ("seed " + std::to_string(seed) + ": " + early).c_str());
        fusedOnes += chainsOf(fused) > 0 ? 1 : 0;
        QVERIFY(passesOf(fused, 1) <= passesOf(plain, 1) ||
                fused.memory.peakBytes < plain.memory.peakBytes);
    }
    qInfo("%d of %d", fusedOnes, kSeeds);
    QVERIFY(fusedOnes >= kSeeds * 97 / 100);
}

void TestCudaCycles::randomNetworksRun_data() {
    QTest::addColumn<quint64>("seed");
    for (const quint64 seed : {1u, 9u, 11u, 23u}) // each has a cycle
        QTest::addRow("seed %llu", seed) << seed;
}

void TestCudaCycles::randomNetworksRun() {
    QFETCH(quint64, seed);
    const RandomNetwork network(seed);
    const ElementForm form = kForms[seed / 2 % 2]; // seeds are odd
    ChainedExecutor executor(small(kH200Shared, form), ofAllSizes(), cuda::Merge::Full);
    executor.load(std::make_shared<const Program>(compile(network.graph())));
    const Program& program = executor.program();
    QVERIFY(chainsOf(program) > 0);
    for (const InputInfo& input : network.graph().inputs()) {
        const NodeId id = program.graph.input(input.name); // numbers change where a graph is pruned
        executor.upload(id, toBytes(program.graph[id], network.leaves().at(input.node).values));
    }
    const std::string fault = firstFault(executor, program, form);
    QVERIFY2(fault.empty(), fault.c_str());
}

/// Gelu of second order: chains would read more, and their values need more memory.
void TestCudaCycles::whatSavesNothingStays() {
    RunConfig config = withPenalty(512, 256);
    applySetting(config, "model.activation=gelu");
    QCOMPARE(chainsOf(cuda::fuseChains(stepOf(config, Precision::AmpFp16), h200())), 0);
}

} // namespace tst_cuda_cycles

QTEST_GUILESS_MAIN(tst_cuda_cycles::TestCudaCycles)
#include "tst_cuda_cycles.moc"
