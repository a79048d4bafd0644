// The launch plan: an independent replay of plans of presets and random graphs, what must merge,
// and that the replay finds plans that were broken on purpose.
#include "tests/support/emulated_executor.h"
#include "tests/support/launch_oracle.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_step.h"

#include "engine/cuda/codegen/hazards.h"
#include "engine/cuda/codegen/schedule.h"
#include "engine/ops/builder.h"
#include "engine/passes/plan.h"
#include "engine/settings/run_task.h"
#include "engine/step/step_graph.h"
#include "engine/train/step_cases.h"
#include "engine/train/trainer.h"

#include "engine/settings/fields.h"

#include <QtTest>

#include <cmath>
#include <functional>

namespace tst_cuda_plan {

using namespace halfscope;
using cuda::LaunchPlan;
using cuda::SourceOptions;

namespace {

std::vector<SourceOptions> allOptions() {
    std::vector<SourceOptions> list;
    for (cuda::Merge merge : {cuda::Merge::Full, cuda::Merge::OneByOne})
        for (cuda::Chains chains : {cuda::Chains::Fused, cuda::Chains::Unfused})
            for (cuda::Libraries libraries : {cuda::Libraries::Used, cuda::Libraries::Unused})
                list.push_back({merge, chains, libraries});
    for (cuda::Chains chains : {cuda::Chains::Fused, cuda::Chains::Sums}) // however small
        list.push_back({.chains = chains, .chainElements = 1});
    return list;
}

/// Plans with all options and replays each in several orders.
void checkPlans(const Graph& graph, FuseOptions fuse, uint64_t seed) {
    const Program program = compile(graph, {fuse});
    // Unfused programs have many more kernels, and none of them chains or is a library's.
    const std::vector<SourceOptions> few{{.libraries = cuda::Libraries::Unused}};
    for (const SourceOptions& options : fuse == FuseOptions::None ? few : allOptions()) {
        const Program prepared = cuda::prepare(program, {}, options);
        checkPlan(prepared.graph, prepared.kernels, prepared.memory);
        for (const Program* each : {&program, &prepared}) {
            const LaunchPlan plan = cuda::planLaunches(*each, {}, options);
            test::LaunchOracle oracle(*each, plan);
            for (uint64_t order = 0; order < 3; ++order)
                oracle.replay(seed * 3 + order);
        }
    }
}

/// The step of a lane at the preset's own size; nothing is run.
Graph graphOf(const RunConfig& config, size_t lane) {
    RunConfig one = config;
    one.task.image.clear();
    return buildStep(one, config.lanes[lane], makeTask(one)->shape());
}

/// The plan of a network of the benches.
LaunchPlan planOf(const StepCase& network, Precision precision, Program& prepared) {
    const auto runner =
        makeRunner(network, defaultLane(precision), makeCpuExecutor(1), CompileOptions{});
    prepared = cuda::prepare(runner->program(), {}, {});
    return cuda::planLaunches(prepared, {}, {});
}

} // namespace

class TestCudaPlan : public QObject {
    Q_OBJECT
private slots:
    void hazardsOfBytes();
    void presetsReplay_data();
    void presetsReplay();
    void randomGraphsReplay_data();
    void randomGraphsReplay();
    void randomStepsReplay_data();
    void randomStepsReplay();
    void smallNetworksAreFewLaunches();
    void oneBlockMovesLittle();
    void bigNetworkLaunchesWithItsBarriers();
    void bigNetworkFitsItsMemory_data();
    void bigNetworkFitsItsMemory();
    void optimizersShareALaunch();
    void countsBeforeCasts();
    void smallValuesKeepTheirBytes();
    void brokenPlansAreFound();
};

void TestCudaPlan::hazardsOfBytes() {
    using cuda::Access;
    // a writes, b and c read it, d writes over its end, e is apart, f reads what b wrote, g writes
    // over what e wrote
    const std::vector<Access> units{
        {{}, {{0, 64}}},   {{{0, 64}}, {{64, 128}}},     {{{32, 40}}, {}},
        {{}, {{60, 70}}},  {{{256, 260}}, {{300, 301}}}, {{{64, 65}}, {}},
        {{}, {{300, 302}}}};
    const std::vector<std::vector<size_t>> expected{{}, {0}, {0}, {1}, {}, {3}, {4}};
    QCOMPARE(cuda::hazards(units), expected);
}

void TestCudaPlan::presetsReplay_data() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < presets().size(); ++i)
        QTest::addRow("%s", presets()[i].name.c_str()) << static_cast<int>(i);
}

void TestCudaPlan::presetsReplay() {
    QFETCH(int, index);
    const RunConfig& config = presets()[static_cast<size_t>(index)].config;
    for (size_t i = 0; i < config.lanes.size(); ++i) {
        const Graph graph = graphOf(config, i);
        checkPlans(graph, FuseOptions::Full, i);
        checkPlans(graph, FuseOptions::None, i);
    }
}

void TestCudaPlan::randomGraphsReplay_data() {
    QTest::addColumn<quint64>("seed");
    for (quint64 seed = 1; seed <= 120; ++seed)
        QTest::addRow("seed %llu", seed) << seed;
}

void TestCudaPlan::randomGraphsReplay() {
    QFETCH(quint64, seed);
    const test::RandomGraph random(seed, 20 + static_cast<int>(seed % 4) * 30);
    checkPlans(random.graph(), FuseOptions::Full, seed);
    checkPlans(random.graph(), FuseOptions::None, seed);
}

void TestCudaPlan::randomStepsReplay_data() {
    QTest::addColumn<quint64>("seed");
    for (quint64 seed = 1; seed <= 60; ++seed)
        QTest::addRow("seed %llu", seed) << seed;
}

/// Whole steps: policies, gradients, states read through views and transposed.
void TestCudaPlan::randomStepsReplay() {
    QFETCH(quint64, seed);
    const test::RandomStep step(seed, seed % 4 == 0 ? test::RandomStep::Kind::Large
                                                    : test::RandomStep::Kind::Mixed);
    checkPlans(step.graph(), FuseOptions::Full, seed);
    checkPlans(step.graph(), FuseOptions::None, seed);
}

/// Launches are what small networks wait for.
void TestCudaPlan::smallNetworksAreFewLaunches() {
    for (Precision precision : {Precision::Fp32, Precision::AmpFp16, Precision::AmpBf16}) {
        Program program;
        const LaunchPlan small = planOf(regressionCase(), precision, program);
        qInfo().noquote() << QString::fromStdString(cuda::describe(program, small));
        QVERIFY(small.launches.size() <= 3);
        const LaunchPlan classifier = planOf(classifierCase(784, 256, 10), precision, program);
        qInfo().noquote() << QString::fromStdString(cuda::describe(program, classifier));
        QVERIFY(classifier.launches.size() < 16);
    }
}

/// What has few operations may still be more than one block can move while others wait: the
/// rounding of a batch of MNIST to float16, but not that of a bias, nor a few rows of a large
/// table.
void TestCudaPlan::oneBlockMovesLittle() {
    Graph graph;
    Builder b(graph);
    graph.addOutput("batch", b.cast(b.input("x", {64, 784}, DType::F32), DType::F16));
    graph.addOutput("bias", b.cast(b.input("bias", {256}, DType::F32), DType::F16));
    const NodeId rows = b.input("rows", {8, 16}, DType::I32);
    graph.addOutput(
        "rows of a table",
        b.emit(Op::Gather, {b.input("table", {65536, 16}, DType::F32), rows}, AxisAttrs{0, 65536}));
    const cuda::DeviceTraits traits;
    const Program program = cuda::prepare(compile(graph, {FuseOptions::None}), traits, {});
    const cuda::LaunchPlan plan = cuda::planLaunches(program, traits, {});
    int wide = 0;
    for (const cuda::Unit& unit : plan.units) {
        const NodeId result = program.kernels[unit.kernel].members.front();
        QCOMPARE(unit.wide, program.graph[result].elements() == 64 * 784);
        wide += unit.wide ? 1 : 0;
    }
    QCOMPARE(wide, 1);
}

void TestCudaPlan::bigNetworkLaunchesWithItsBarriers() {
    const StepCase big = checkerboardCase(512, 256);
    for (Precision precision : {Precision::Fp32, Precision::AmpFp16}) {
        const Program program =
            cuda::prepare(compile(buildStep(big.config, defaultLane(precision), {512 * 512, 2, 1})),
                          {}, {.chains = cuda::Chains::Unfused});
        const LaunchPlan plan = cuda::planLaunches(program, {}, {.chains = cuda::Chains::Unfused});
        qInfo().noquote() << QString::fromStdString(cuda::describe(program, plan));
        // A launch for each large kernel; at most eight for all the small ones together.
        size_t large = 0;
        for (const cuda::Unit& unit : plan.units)
            large += unit.alone;
        QVERIFY(plan.launches.size() <= large + 8);
    }
}

void TestCudaPlan::bigNetworkFitsItsMemory_data() {
    QTest::addColumn<int>("precision");
    QTest::addColumn<bool>("keepOperands");
    QTest::addColumn<int>("mostMebibytes");
    // PyTorch took 910 MiB for this step with AMP. A value of the network's width has 128 MiB in 16
    // bits: four live at once, or three where operands of products are computed again.
    const auto row = [](const char* name, Precision precision, bool keepOperands, int most) {
        QTest::newRow(name) << static_cast<int>(precision) << keepOperands << most;
    };
    row("amp-fp16", Precision::AmpFp16, true, 550);
    row("amp-fp16, operands again", Precision::AmpFp16, false, 450);
    row("amp-bf16", Precision::AmpBf16, true, 550);
    row("amp-bf16, operands again", Precision::AmpBf16, false, 450);
    row("fp32", Precision::Fp32, true, 1100);
}

/// Of what a step asks a device for, all but the libraries' workspaces, of which only chains that
/// are left unfused have some.
void TestCudaPlan::bigNetworkFitsItsMemory() {
    QFETCH(int, precision);
    QFETCH(bool, keepOperands);
    QFETCH(int, mostMebibytes);
    const StepCase big = checkerboardCase(512, 256);
    const LaneConfig lane = defaultLane(static_cast<Precision>(precision));
    const Program program = compile(buildStep(big.config, lane, {512 * 512, 2, 1}));
    cuda::DeviceTraits h200;
    h200.sharedBytes = 232448;
    const cuda::StepSource source = cuda::writeStep(program, h200, {.keepOperands = keepOperands});
    const size_t bytes = source.program.memory.arenaBytes + source.scratchBytes +
                         static_cast<size_t>(source.tickets) * sizeof(unsigned);
    qInfo("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
    QVERIFY(bytes <= static_cast<size_t>(mostMebibytes) << 20);
}

void TestCudaPlan::optimizersShareALaunch() {
    Program program;
    const LaunchPlan plan = planOf(classifierCase(784, 256, 10), Precision::AmpFp16, program);
    std::vector<size_t> launchesOf[2]; // of updates, of finite checks
    for (size_t i = 0; i < plan.launches.size(); ++i) {
        std::set<int> kinds;
        const auto look = [&](const cuda::Strand& strand) {
            for (const auto& phase : strand.phases)
                for (size_t unit : phase) {
                    if (plan.units[unit].kernel == cuda::Unit::kNoKernel) continue;
                    const Kernel& kernel = program.kernels[plan.units[unit].kernel];
                    for (NodeId id : kernel.stores)
                        for (const StateInfo& state : program.graph.states())
                            if (state.next == id && state.role == StateRole::Parameter)
                                kinds.insert(0);
                    if (program.graph[kernel.members.front()].op == Op::CountNonFinite)
                        kinds.insert(1);
                }
        };
        for (const cuda::Strand& head : plan.launches[i].heads)
            look(head);
        look(plan.launches[i].tail);
        for (int kind : kinds)
            launchesOf[kind].push_back(i);
    }
    QCOMPARE(launchesOf[0].size(), size_t{1});
    QVERIFY(!launchesOf[1].empty());
}

/// Gradients of half a float are looked at before they are widened: a launch earlier, and half the
/// bytes. What is infinite or no number is so in both.
void TestCudaPlan::countsBeforeCasts() {
    Program program;
    const LaunchPlan plan = planOf(checkerboardCase(64, 256), Precision::AmpFp16, program);
    test::LaunchOracle(program, plan).replay(1);
    std::set<NodeId> stored;
    for (const Kernel& kernel : program.kernels)
        stored.insert(kernel.stores.begin(), kernel.stores.end());
    int early = 0;
    for (const Kernel& kernel : program.kernels) {
        const Node& node = program.graph[kernel.members.front()];
        if (node.op != Op::CountNonFinite) continue;
        const Node& operand = program.graph[node.in[0]];
        const bool widened = program.graph[kernel.loads.front()].dtype == DType::F16;
        if (operand.op == Op::Cast && stored.contains(storageOf(program.graph, operand.in[0])))
            QVERIFY2(widened, operand.cause.label.c_str());
        early += widened ? 1 : 0;
    }
    QVERIFY(early >= 6); // three hidden layers' and the last one's weights among them
    QVERIFY2(plan.launches.size() <= 21, cuda::describe(program, plan).c_str());

    Graph graph;
    Builder b(graph);
    const NodeId half = b.state("x", {40, 7}, DType::F16, StateRole::Gradient),
                 wide = b.cast(half, DType::F32);
    graph.addOutput("count", b.emit(Op::CountNonFinite, {wide}));
    graph.addOutput("twice", b.scale(wide, 2));
    const auto counting = std::make_shared<const Program>(compile(graph));
    test::EmulationOptions options;
    test::EmulatedExecutor executor(options);
    executor.load(counting);
    std::vector<float> values(280, 65504.0f);
    for (const size_t at : {size_t{3}, size_t{100}, size_t{279}})
        values[at] = at == 100 ? std::nanf("") : -INFINITY;
    uploadFloats(executor, counting->graph, half, values);
    executor.run(RunMode::Captured, {});
    QCOMPARE(downloadFloats(executor, counting->graph, counting->graph.output("count")),
             std::vector<float>{3});
}

/// Side by side needs bytes of one's own, and the peak says what that costs.
void TestCudaPlan::smallValuesKeepTheirBytes() {
    const StepCase big = checkerboardCase(64, 64);
    const Program program =
        compile(buildStep(big.config, defaultLane(Precision::AmpFp16), {64 * 64, 2, 1}));
    const Program prepared = cuda::prepare(program, {}, {.chains = cuda::Chains::Unfused});
    QVERIFY(prepared.memory.peakBytes >= program.memory.peakBytes);
    QVERIFY(prepared.memory.peakBytes <= prepared.memory.arenaBytes);
    size_t sum = 0;
    for (size_t bytes : prepared.memory.peakByCause)
        sum += bytes;
    QCOMPARE(sum, prepared.memory.peakBytes);
    std::map<size_t, NodeId> owner;
    std::set<NodeId> next;
    for (const StateInfo& state : prepared.graph.states())
        next.insert(state.next);
    for (const Kernel& kernel : prepared.kernels)
        for (NodeId id : kernel.stores) {
            if (prepared.graph[id].bytes() > (64 << 10) || next.count(id) != 0) continue;
            const size_t offset = prepared.memory.offset[static_cast<size_t>(id)];
            QVERIFY2(owner.emplace(offset, id).second, "two small values share bytes");
        }
}

/// Every way to break a plan that the planner could come upon by a slip.
void TestCudaPlan::brokenPlansAreFound() {
    Program program;
    const LaunchPlan good = planOf(classifierCase(784, 256, 10), Precision::Fp32, program);
    test::LaunchOracle(program, good).replay(1);
    int broken = 0;
    const auto mustFail = [&](const char* what, const std::function<void(LaunchPlan&)>& damage) {
        LaunchPlan plan = good;
        damage(plan);
        bool found = false;
        try {
            for (uint64_t seed = 0; seed < 4; ++seed)
                test::LaunchOracle(program, plan).replay(seed);
        } catch (const std::logic_error&) {
            found = true;
        }
        QVERIFY2(found, what);
        ++broken;
    };
    for (size_t i = 0; i + 1 < good.launches.size(); ++i) {
        mustFail("two launches in the wrong order",
                 [&](LaunchPlan& plan) { std::swap(plan.launches[i], plan.launches[i + 1]); });
        mustFail("two launches made one", [&](LaunchPlan& plan) {
            auto& heads = plan.launches[i].heads;
            const auto& more = plan.launches[i + 1].heads;
            heads.insert(heads.end(), more.begin(), more.end());
            plan.launches[i + 1].heads.clear();
            plan.launches.erase(plan.launches.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        });
        mustFail("a lost launch", [&](LaunchPlan& plan) {
            plan.launches.erase(plan.launches.begin() + static_cast<std::ptrdiff_t>(i));
        });
    }
    for (size_t i = 0; i < good.launches.size(); ++i) {
        if (!good.launches[i].tail.phases.empty())
            mustFail("a tail beside its heads", [&](LaunchPlan& plan) {
                cuda::PlannedLaunch& launch = plan.launches[i];
                launch.heads.push_back(launch.tail);
                launch.tail.phases.clear();
            });
        for (size_t head = 0; head < good.launches[i].heads.size(); ++head) {
            if (good.launches[i].heads[head].phases.size() < 2) continue;
            mustFail("a missing barrier", [&](LaunchPlan& plan) {
                auto& phases = plan.launches[i].heads[head].phases;
                phases[0].insert(phases[0].end(), phases[1].begin(), phases[1].end());
                phases.erase(phases.begin() + 1);
            });
        }
    }
    mustFail("a copy of states that is left out", [&](LaunchPlan& plan) {
        for (cuda::Unit& unit : plan.units)
            if (unit.kernel == cuda::Unit::kNoKernel) unit.commits.pop_back();
    });
    // A value that lies where another one still lives: the last one that a kernel stores is read.
    Program shared = program;
    size_t& offset = shared.memory.offset[static_cast<size_t>(shared.kernels[2].stores.back())];
    offset = shared.memory.offset[static_cast<size_t>(shared.kernels[1].stores.back())];
    QVERIFY_THROWS_EXCEPTION(std::logic_error, test::LaunchOracle(shared, good).replay(1));
    QVERIFY(broken > 20);
}

} // namespace tst_cuda_plan

QTEST_GUILESS_MAIN(tst_cuda_plan::TestCudaPlan)
#include "tst_cuda_plan.moc"
