// Whole training steps as generated CUDA text, run by the emulator: against the CPU executor,
// against themselves in other launches and orders, and against PyTorch's recorded trainings.
#include "engine/ops/op_info.h"
#include "tests/support/emulated_executor.h"
#include "tests/support/random_graph.h"
#include "tests/support/run_program.h"
#include "tests/support/step_comparison.h"
#include "tests/support/stored_values.h"
#include "tests/support/training.h"

#include "engine/cuda/codegen/chain.h"
#include "engine/settings/fields.h"
#include "engine/train/step_cases.h"
#include "engine/verify/golden_runs.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace tst_cuda_steps {

using namespace halfscope;
using test::BytesByName;
using test::EmulatedExecutor;
using test::EmulationOptions;
using test::firstDifference;
using test::StepComparison;
using test::storedStates;
using test::storedValues;

namespace {

constexpr int kSteps = 4;

/// As on a large GPU: nearly all kernels of these small networks fall into chains of one block.
EmulationOptions chained() { return {}; }
/// As if blocks were slow and few: kernels spread over blocks, with sums by tickets, tails, riders,
/// and fused chains however small.
EmulationOptions spread() {
    EmulationOptions options;
    options.traits.multiprocessors = 3;
    options.traits.blockWork = 1000;
    options.source.chainElements = 1;
    return options;
}
EmulationOptions oneByOne(EmulationOptions options) {
    options.source.merge = cuda::Merge::OneByOne;
    return options;
}
EmulationOptions shuffled(EmulationOptions options) {
    options.shuffled = true;
    return options;
}

constexpr const char* kCausalNetwork =
    "model.layers=nn.Sequential(nn.Embedding(76, 8, padding_idx=1), "
    "CausalTransformerEncoderLayer(8, 2, 12, 0.1, 'gelu', batch_first=True), nn.Flatten(), "
    "nn.Linear(48, 76))";

constexpr const char* kLanguageModel =
    "model.layers=nn.Sequential(nn.Embedding(76, 8), "
    "CausalTransformerEncoderLayer(8, 2, 12, 0.0, batch_first=True), nn.Linear(8, 76))";

struct Training {
    const char* name;
    const char* preset; ///< empty: the classifier of the benches, smaller
    Precision precision;
    std::vector<const char*> settings;
    /// Low enough that these large targets do not overflow.
    double scale = 1024;
};

/// Each with something that the others lack: formats, norms, second order, several optimizers.
const std::vector<Training>& trainings() {
    static const std::vector<Training> list{
        {"mlp fp32", "regression", Precision::Fp32, {"model.depth=0"}},
        {"mlp amp-fp16, overflows", "overflow", Precision::AmpFp16, {}, 0x1p17},
        {"mlp amp-bf16, layer norm, gelu",
         "regression",
         Precision::AmpBf16,
         {"model.norm=layer", "model.activation=gelu"}},
        {"mlp fp16, sgd", "regression", Precision::Fp16, {"optimizer.kind=sgd"}},
        {"classifier amp-fp16", "", Precision::AmpFp16, {}},
        {"checkerboard fp32", "checkerboard", Precision::Fp32, {"task.side=12", "model.width=20"}},
        {"checkerboard amp-fp16",
         "checkerboard",
         Precision::AmpFp16,
         {"task.side=16", "model.width=32", "model.depth=1"}},
        {"checkerboard tf32",
         "checkerboard",
         Precision::Tf32,
         {"task.side=9", "model.width=40", "model.depth=1"}},
        {"penalty amp-fp16", "recipe-penalty", Precision::AmpFp16, {}},
        {"clip amp-fp16", "recipe-clip", Precision::AmpFp16, {}},
        {"accumulate amp-fp16", "recipe-accumulate", Precision::AmpFp16, {}},
        {"two optimizers amp-fp16", "recipe-two-optimizers", Precision::AmpFp16, {}},
        {"adamw, one cycle of beta1 amp-bf16",
         "recipe-onecycle",
         Precision::AmpBf16,
         {"optimizer.kind=adamw", "optimizer.weight_decay=0.1", "schedule.total_steps=4",
          "schedule.base_momentum=0"}},
        {"causal transformer with padding fp32",
         "transformer-tiny",
         Precision::Fp32,
         {kCausalNetwork, "data.context=6", "task.batch=5"}},
        {"causal transformer with padding amp-fp16",
         "transformer-tiny",
         Precision::AmpFp16,
         {kCausalNetwork, "data.context=6", "task.batch=8"}},
        {"language model amp-fp16",
         "transformer-lm",
         Precision::AmpFp16,
         {kLanguageModel, "data.context=6", "task.batch=4"}},
        {"classes with weights fp32",
         "mnist-mlp",
         Precision::Fp32,
         {"model.width=8", "task.batch=7", "task.label_smoothing=0.1",
          "task.class_weights=5, 1, 0.5, 1, 1, 3, 1, 0.25, 1, 40"}},
        {"classes with weights amp-fp16",
         "mnist-mlp",
         Precision::AmpFp16,
         {"model.width=8", "task.batch=8",
          "task.class_weights=5, 1, 0.5, 1, 1, 3, 1, 0.25, 1, 40"}},
        {"cosine beyond its period fp32",
         "regression",
         Precision::Fp32,
         {"schedule.kind=cosine", "schedule.total_steps=2"}},
        {"cosine behind a warm-up fp32",
         "regression",
         Precision::Fp32,
         {"schedule.kind=cosine", "schedule.total_steps=2", "schedule.warmup_steps=1"}},
    };
    return list;
}

/// On the CPU, too, the program is the one that CUDA gets.
std::unique_ptr<StepRunner> runnerOf(const Training& training, std::unique_ptr<Executor> executor) {
    LaneConfig lane = defaultLane(training.precision);
    lane.scaler.initScale = training.scale;
    if (*training.preset == 0)
        return makeRunner(classifierCase(30, 20, 10), lane, std::move(executor), CompileOptions{});
    RunConfig config;
    for (const Preset& preset : presets())
        if (preset.name == training.preset) config = preset.config;
    for (const char* setting : training.settings)
        applySetting(config, setting);
    StepCase network;
    network.config = config;
    return makeRunner(network, lane, std::move(executor), CompileOptions{});
}
std::unique_ptr<StepRunner> runnerOf(const Training& training, const EmulationOptions& options) {
    return runnerOf(training, std::make_unique<EmulatedExecutor>(options));
}

BytesByName trained(const Training& training, const EmulationOptions& options) {
    const auto runner = runnerOf(training, options);
    runner->run(kSteps);
    return storedValues(*runner);
}

std::vector<recorded::Golden> goldenRuns() { return test::goldenOf("runs").items(); }

} // namespace

class TestCudaSteps : public QObject {
    Q_OBJECT
private slots:
    void textIsDeterministic();
    void stepsFollowTheCpu_data() { addTrainings(); }
    void stepsFollowTheCpu();
    void mergedLaunchesGiveTheSameBits_data() { addTrainings(); }
    void mergedLaunchesGiveTheSameBits();
    void randomGraphsAreExact_data();
    void randomGraphsAreExact();
    void trainingsFollowPyTorch_data();
    void trainingsFollowPyTorch();
    void statesStayUntilThePointOfNoReturn();
    void sumsSideBySideKeepApart();
    void sharedAreasTakeTurns();
    void unsafePlanIsSeen();

private:
    static void addTrainings() {
        QTest::addColumn<int>("index");
        for (size_t i = 0; i < trainings().size(); ++i)
            QTest::newRow(trainings()[i].name) << static_cast<int>(i);
    }
};

void TestCudaSteps::textIsDeterministic() {
    for (const Training& training : trainings()) {
        const auto runner = runnerOf(training, makeCpuExecutor(1));
        for (const EmulationOptions& options : {chained(), spread()}) {
            const auto write = [&] {
                return cuda::writeStep(runner->program(), options.traits, options.source);
            };
            const cuda::StepSource first = write(), second = write();
            QCOMPARE(first.text, second.text);
            QVERIFY(first.pointOfNoReturn < first.launches.size());
        }
    }
}

void TestCudaSteps::stepsFollowTheCpu() {
    QFETCH(int, index);
    const Training& training = trainings()[static_cast<size_t>(index)];
    const auto device = runnerOf(training, spread());
    const auto cpu = runnerOf(training, makeCpuExecutor(1));
    StepComparison comparison(*device, *cpu);
    for (int step = 1; step <= kSteps; ++step) {
        const std::string difference = comparison.step();
        QVERIFY2(difference.empty(), ("step " + std::to_string(step) + ": " + difference).c_str());
    }
    const auto& launched = static_cast<EmulatedExecutor&>(device->executor()).source().program;
    const auto fused = std::count_if(launched.kernels.begin(), launched.kernels.end(),
                                     [](const Kernel& kernel) { return cuda::isChain(kernel); });
    qInfo("largest deviation: %.2g of its bound, of a gradient norm %.2g; %td fused chains",
          comparison.worst, comparison.worstNorm, fused);
    QVERIFY(fused > 0 || !std::string_view(training.name).starts_with("checkerboard amp"));
}

void TestCudaSteps::mergedLaunchesGiveTheSameBits() {
    QFETCH(int, index);
    const Training& training = trainings()[static_cast<size_t>(index)];
    // Whole pictures in one block are no case that a device sees.
    const bool isPicture = std::string_view(training.name).starts_with("checkerboard");
    const std::vector<EmulationOptions> both{spread(), chained()}, one{spread()};
    for (const EmulationOptions& options : isPicture ? one : both) {
        const auto plain = trained(training, oneByOne(options));
        QCOMPARE(firstDifference(plain, trained(training, options)), std::string());
        QCOMPARE(firstDifference(plain, trained(training, shuffled(options))), std::string());
    }
}

void TestCudaSteps::randomGraphsAreExact_data() {
    QTest::addColumn<quint64>("seed");
    for (quint64 seed = 1; seed <= 8; ++seed)
        QTest::addRow("seed %llu", seed) << seed;
}

/// Whole numbers: every order of sums gives the CPU's bits, so that any difference is a fault.
void TestCudaSteps::randomGraphsAreExact() {
    QFETCH(quint64, seed);
    const test::RandomGraph random(seed);
    const FuseOptions fuse = seed % 2 == 0 ? FuseOptions::None : FuseOptions::Full;
    const auto wanted = test::runSteps(random.graph(), random.leaves(), fuse, 1, 3);
    for (const EmulationOptions& options : {shuffled(spread()), chained()}) {
        EmulatedExecutor executor(options);
        const auto values =
            recorded::runGraph(executor, random.graph(), random.leaves(), {fuse}, 3);
        for (const auto& [name, expected] : wanted)
            QVERIFY2(values.at(name) == expected, name.c_str());
    }
}

void TestCudaSteps::trainingsFollowPyTorch_data() {
    QTest::addColumn<int>("row");
    // The first seed's small network with all extras, and one picture.
    const std::vector<recorded::Golden> runs = goldenRuns();
    for (size_t i = 0; i < runs.size(); ++i) {
        const std::string kind = runs[i].at("kind").text();
        const bool halfPicture = kind == "checkerboard" && runs[i].textOr("amp", "") == "float16" &&
                                 runs[i].at("init_scale").number() == 65536;
        if (runs[i].at("seed").integer() == 0 && (kind == "mlp_mse" || halfPicture))
            QTest::newRow(recorded::runName(runs[i]).c_str()) << static_cast<int>(i);
    }
}

void TestCudaSteps::trainingsFollowPyTorch() {
    QFETCH(int, row);
    const recorded::Golden run = goldenRuns()[static_cast<size_t>(row)];
    const auto make = [] { return std::make_unique<EmulatedExecutor>(chained()); };
    const recorded::CaseResult result = recorded::compareRun(run, recorded::trainRun(run, make));
    QVERIFY2(result.passed(), result.difference.c_str());
    qInfo("largest relative difference of a loss: %.2g, bound %.2g", result.deviation,
          result.bound);
}

void TestCudaSteps::statesStayUntilThePointOfNoReturn() {
    for (const EmulationOptions& options : {spread(), oneByOne(chained())}) {
        const auto runner = runnerOf(trainings().front(), options);
        auto& executor = static_cast<EmulatedExecutor&>(runner->executor());
        const BytesByName before = storedStates(*runner);
        const size_t point = executor.source().pointOfNoReturn;
        QVERIFY(point > 0);
        executor.runLaunches(0, point);
        QCOMPARE(firstDifference(before, storedStates(*runner)), std::string());
        executor.runLaunches(point, point + 1);
        QVERIFY(!firstDifference(before, storedStates(*runner)).empty());
    }
}

/// Partial sums of one launch's kernels lie in scratch areas of their own.
void TestCudaSteps::sumsSideBySideKeepApart() {
    Graph graph;
    Builder b(graph);
    std::map<NodeId, RefTensor> leaves;
    for (const Shape& shape : {Shape{200, 20}, Shape{300, 12}, Shape{400, 8}}) {
        const NodeId x = b.input("x" + shape.text(), shape, DType::F32);
        RefTensor& values = leaves[x] = {shape, {}};
        for (int64_t i = 0; i < shape.elements(); ++i)
            values.values.push_back(static_cast<double>(i * 37 % 101) - 50);
        graph.addOutput("sum" + shape.text(), b.sum(x, {0}));
        graph.addOutput("product" + shape.text(),
                        b.matmul(x, x, {.transposeA = true, .transposeB = false}));
    }
    EmulationOptions options = shuffled(spread());
    options.source.chains = cuda::Chains::Unfused; // a chain's sums are merged in a second launch
    EmulatedExecutor executor(options);
    const auto values = recorded::runGraph(executor, graph, leaves, {}, 8);
    QCOMPARE(executor.source().launches.size(), size_t{1});
    QVERIFY(executor.source().tickets >= 2);
    QVERIFY(values == recorded::runGraph(*makeCpuExecutor(1), graph, leaves));
}

/// Kernels of one phase whose shared areas do not fit side by side: a barrier lies between them.
void TestCudaSteps::sharedAreasTakeTurns() {
    constexpr int64_t kLong = 600; // scanned by the block
    Graph graph;
    Builder b(graph);
    const Shape shape{1, kLong};
    const NodeId x = b.input("x", shape, DType::F32);
    RefTensor values{shape, {}};
    for (int64_t i = 0; i < kLong; ++i)
        values.values.push_back(static_cast<double>(i * 37 % 101) - 50);
    const NodeId doubled = b.add(x, x);
    const NodeId running = b.emit(Op::Cumsum, {doubled}, ScanAttrs{1, false});
    const NodeId largest = b.emit(Op::ReduceMax, {doubled}, AxesAttrs{{1}});
    graph.addOutput("y", b.add(running, b.expand(largest, shape)));
    EmulationOptions options = shuffled(chained());
    options.traits.sharedBytes = 5000; // for each of the two, not for both
    EmulatedExecutor executor(options);
    const auto got = recorded::runGraph(executor, graph, {{x, values}}, {}, 8);
    QCOMPARE(executor.source().launches.size(), size_t{1});
    const size_t bytes = executor.source().launches[0].sharedBytes;
    QVERIFY(bytes > options.traits.sharedBytes / 2 && bytes <= options.traits.sharedBytes);
    QVERIFY(got == recorded::runGraph(*makeCpuExecutor(1), graph, {{x, values}}));
}

/// That the comparisons above would see a launch too many or too early.
void TestCudaSteps::unsafePlanIsSeen() {
    const Training& training = trainings().front();
    const auto good = trained(training, spread());
    const auto runner = runnerOf(training, makeCpuExecutor(1));
    cuda::StepSource source = cuda::writeStep(runner->program(), spread().traits, spread().source);
    size_t seen = 0;
    for (size_t i = 0; i + 1 < source.launches.size(); ++i) {
        auto executor = std::make_unique<EmulatedExecutor>(spread());
        EmulatedExecutor& emulated = *executor;
        const auto damaged = runnerOf(training, std::move(executor));
        emulated.swapLaunches(i);
        damaged->run(kSteps);
        if (!firstDifference(good, storedValues(*damaged)).empty()) ++seen;
    }
    QCOMPARE(seen, source.launches.size() - 1);
}

} // namespace tst_cuda_steps

QTEST_GUILESS_MAIN(tst_cuda_steps::TestCudaSteps)
#include "tst_cuda_steps.moc"
