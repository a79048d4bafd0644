// Trials of ways to run a step: what does not compile, does not run or gives other results is left
// out; what a fault leaves behind; searches that are stopped.
#include "engine/core/error.h"
#include "engine/cuda/step_distance.h"
#include "engine/ops/builder.h"
#include "engine/settings/precision_plan.h"
#include "engine/step/step_graph.h"
#include "tests/emulator/cuda_emulator.h"
#include "tests/support/cuda_ways.h"
#include "tests/support/library_steps.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <limits>

namespace tst_cuda_trials {

using namespace halfscope;
using namespace halfscope::cuda;
using namespace halfscope::test;

namespace {

/// Writes steps in which the library computes the products of the way kOther, and of no other.
StepSource writeForOneWay(const Program& program, const DeviceTraits& traits,
                          const SourceOptions& options) {
    if (options.chains != Chains::Sums) return writeStep(program, traits, options);
    SourceOptions plain = options;
    plain.merge = Merge::OneByOne;
    StepSource source = writeStep(program, traits, plain);
    for (Launch& launch : source.launches) {
        if (launch.kernels.size() != 1) continue;
        const Kernel& kernel = source.program.kernels[launch.kernels.front()];
        const NodeId node = kernel.members.front();
        if (kernel.members.size() != 1 || source.program.graph[node].op != Op::Matmul) continue;
        if (options.refused.contains(node)) continue;
        launch.kind = LaunchKind::Matmul;
        launch.node = node;
    }
    return source;
}

/// Returns a program with outputs "y", a product that is a chain in the way kFirst, and "z", one
/// that never is. It changes a state, so that the fastest way to run it is looked for.
std::shared_ptr<const Program> twoProducts() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {300, 24}, DType::F32), dy = b.input("dy", {300, 16}, DType::F32);
    graph.addOutput("y", b.matmul(b.unary(Op::Relu, x), b.unary(Op::Tanh, dy), {true, false}));
    graph.addOutput("z",
                    b.matmul(b.input("a", {5, 7}, DType::F32), b.input("b", {7, 3}, DType::F32)));
    const NodeId state = b.state("kept", {4}, DType::F32, StateRole::Parameter);
    graph.setNext(state, b.scale(state, 2));
    return std::make_shared<const Program>(compile(graph));
}

} // namespace

class TestCudaTrials : public QObject {
    Q_OBJECT

private slots:
    void init() {
        resetFakeCuda();
        fakeCuda().launchMilliseconds = kKernel;
    }
    void cleanup() { checkFakeCuda(); }
    void shortOfTime();
    void shortOfTimeForTheOnlyOne();
    void notCompiling();
    void lastResorts();
    void noneCompiles();
    void failingCalls_data();
    void failingCalls();
    void otherResults();
    void refusedNode();
    void noRoomForASecond();
    void noRoomForTheFirst();
    void lostInATrial();
    void endedInATrial();
    void wrongGradients();
    void slightlyWrongGradients();
    void allEndedBadly();
    void stoppedSearch();
    void stopBeforeTheLoad();
    void aForwardPassIsNotTimed();
    void howFarResultsMayBeApart();
};

/// The first one is there at once; what was not compiled or tried in time is told.
void TestCudaTrials::shortOfTime() {
    SourceOptions hasty = options();
    hasty.searchSeconds = 1e-9;
    Machine machine({}, hasty);
    machine.load();
    QCOMPARE(chosenOf(*machine.executor), std::string(kFirst));
    const VariantTime low = variantOf(*machine.executor, kOther);
    QVERIFY2(has(low.note, "the search has taken long enough"), low.note.c_str());
    (void)machine.step();
}

/// Time is up when it turns out that the first one cannot be had.
void TestCudaTrials::shortOfTimeForTheOnlyOne() {
    fakeCuda().compile = [](std::string& text) {
        return has(text, "kTileM = ") ? NVRTC_ERROR_COMPILATION : NVRTC_SUCCESS;
    };
    SourceOptions hasty = options();
    hasty.searchSeconds = 1e-9;
    Machine machine({}, hasty);
    machine.load();
    QVERIFY(has(variantOf(*machine.executor, kFirst).note, "do not compile"));
    QCOMPARE(chosenOf(*machine.executor), std::string(kOther));
    QCOMPARE(variantOf(*machine.executor, kOther).note, std::string());
    (void)machine.step();
}

void TestCudaTrials::notCompiling() {
    makeOtherFast();
    fakeCuda().compile = [](std::string& text) {
        return isOtherWay(text) ? NVRTC_ERROR_COMPILATION : NVRTC_SUCCESS;
    };
    Machine machine;
    machine.load();
    QVERIFY(chosenOf(*machine.executor) != kOther && !chosenOf(*machine.executor).empty());
    const VariantTime low = variantOf(*machine.executor, kOther);
    QVERIFY2(has(low.note, "do not compile for sm_90a"), low.note.c_str());
    QCOMPARE(low.seconds, 0.0);
    (void)machine.step();
}

/// Ways that are neither compiled nor tried as long as another one works.
void TestCudaTrials::lastResorts() {
    {
        Machine machine;
        machine.load();
        QCOMPARE(fakeCuda().compiled, 2);
        for (const char* name : {kFrugal, "unfused"})
            QCOMPARE(variantOf(*machine.executor, name).note,
                     std::string("not compiled: only where no other way works"));
    }
    fakeCuda().compile = [](std::string& text) {
        return isFirstWay(text) || isOtherWay(text) ? NVRTC_ERROR_COMPILATION : NVRTC_SUCCESS;
    };
    const auto chosen = [] {
        Machine machine;
        machine.load();
        (void)machine.step();
        return chosenOf(*machine.executor);
    };
    QCOMPARE(chosen(), std::string(kFrugal));
    fakeCuda().compile = [](std::string& text) { // no chains at all
        return has(text, "hs::Row") ? NVRTC_ERROR_COMPILATION : NVRTC_SUCCESS;
    };
    QCOMPARE(chosen(), std::string("unfused"));
}

void TestCudaTrials::noneCompiles() {
    fakeCuda().compile = [](std::string&) { return NVRTC_ERROR_COMPILATION; };
    Machine machine;
    const std::string words = thrownBy<EngineError>([&] { machine.load(); });
    QVERIFY2(words.starts_with("the step's kernels do not compile for sm_90a"), words.c_str());
    fakeCuda().compile = {};
    machine.load();
    (void)machine.step();
}

void TestCudaTrials::failingCalls_data() {
    QTest::addColumn<std::string>("function");
    for (const char* function : {"cuModuleLoadData", "cuGraphInstantiate", "cuLaunchKernel"})
        QTest::newRow(function) << std::string(function);
}

/// A call that fails in the second trial drops that variant alone.
void TestCudaTrials::failingCalls() {
    QFETCH(std::string, function);
    const int call = firstCallOfSecond(function);
    fakeCuda().fault = {function, call, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES};
    Machine machine;
    machine.load();
    const std::vector<VariantTime> variants = machine.executor->variants();
    QVERIFY(variants.size() >= 4);
    for (size_t i = 0; i < 2; ++i) {
        QCOMPARE(variants[i].seconds > 0, i != 1);
        QCOMPARE(variants[i].note.empty(), i != 1);
    }
    (void)machine.step();
}

void TestCudaTrials::otherResults() {
    if (test::emulatedCapability() != 0) QSKIP("the sum that is spoilt is the emulator's own");
    makeOtherFast();
    fakeCuda().compile = [](std::string& text) {
        const std::string sum = "sums[0] = fmaf(a[0][k], b, sums[0]);";
        if (isFirstWay(text))
            text.replace(text.find(sum), sum.size(), "sums[0] = fmaf(a[0][k], b, sums[0] + 0.5f);");
        return NVRTC_SUCCESS;
    };
    Machine machine;
    machine.load();
    const VariantTime low = variantOf(*machine.executor, kOther);
    QVERIFY2(has(low.note, "other results than the first way: ") && has(low.note, " apart, "),
             low.note.c_str());
    QVERIFY(chosenOf(*machine.executor) != kOther);
}

/// A product that the library refuses in a later way costs that way nothing but this product, also
/// when the choice is read from disk.
void TestCudaTrials::refusedNode() {
    fakeCuda().blasSlowness = 0;
    fakeCuda().millisecondsOf = [](const std::string& text, const std::string&) {
        return has(text, "kTileM = ") ? kKernel : 0.01 * kKernel;
    };
    const auto program = twoProducts();
    const auto wanted = resultOf(*makeCpuExecutor(1), program);
    QTemporaryDir folder;
    for (const bool kept : {false, true}) {
        fakeCuda().calls.clear();
        fakeCuda().blasUsed.clear();
        fakeCuda().fault = {"cublasLtMatmulAlgoGetHeuristic", 1, CUBLAS_STATUS_NOT_SUPPORTED};
        Platform platform(fakeCuda().api());
        CudaExecutor executor(platform.open(0), StepWriter{writeForOneWay, describeLaunch},
                              options(), FileCache(folder.path().toStdString()));
        const auto got = resultOf(executor, program);
        QCOMPARE(variantOf(executor, kOther).note, std::string());
        QCOMPARE(chosenOf(executor), std::string(kOther));
        // asked for two products, then for the one that it did not refuse
        QCOMPARE(fakeCuda().calls["cublasLtMatmulAlgoGetHeuristic"], 3);
        QVERIFY(!fakeCuda().blasUsed.empty());
        QCOMPARE(fakeCuda().calls["cuModuleLoadData"], kept ? 2 : 3);
        for (size_t i = 0; i < got.size(); ++i)
            QVERIFY(std::abs(double(got[i]) - double(wanted[i])) <= boundOf(DType::F32, 300, 0));
    }
}

void TestCudaTrials::noRoomForASecond() {
    makeOtherFast();
    size_t used = 0;
    {
        Machine machine({}, only(kFirst));
        machine.load();
        used = fakeCuda().used;
    }
    fakeCuda().gpus[0].bytes = used + used / 4;
    Machine machine;
    machine.load();
    QCOMPARE(chosenOf(*machine.executor), std::string(kFirst));
    QVERIFY(has(variantOf(*machine.executor, kOther).note, "out of memory"));
    fakeCuda().gpus[0].bytes = used / 4; // not even for the first
    QVERIFY(has(thrownBy<EngineError>([&] { machine.load(); }), "out of memory"));
    fakeCuda().gpus[0].bytes = size_t{1} << 30;
    machine.load();
    (void)machine.step();
}

/// A way that needs less memory runs where the first one has none, as long as that is so.
void TestCudaTrials::noRoomForTheFirst() {
    RunConfig config = smallRun(Precision::AmpFp16);
    config.model = {16, 2, Norm::BatchNorm, Activation::Relu};
    const Loaded deep(config, {256, 2, 1}); // two hidden layers keep more than partial sums take
    const auto values = [&](Executor& executor) {
        deep.upload(executor);
        executor.run(RunMode::Captured);
        return valuesOf(executor, deep.graph());
    };
    size_t least = 0;
    std::vector<std::vector<std::byte>> expected;
    {
        Machine machine({}, only(kFrugal));
        machine.executor->load(deep.program);
        least = fakeCuda().used;
        expected = values(*machine.executor);
    }
    QTemporaryDir folder;
    const std::string cache = folder.path().toStdString();
    const auto chosen = [&](size_t memory) {
        fakeCuda().gpus[0].bytes = memory;
        Machine machine(cache);
        machine.executor->load(deep.program);
        if (memory == least) {
            const std::string note = variantOf(*machine.executor, kFirst).note;
            if (!has(note, "out of memory")) return "the first one: " + note;
            if (values(*machine.executor) != expected) return std::string("other values");
        }
        return chosenOf(*machine.executor);
    };
    QCOMPARE(chosen(least), std::string(kFrugal));
    // with room again it is looked for again, and what is then chosen does not last for ever either
    QVERIFY(chosen(size_t{1} << 30) != kFrugal);
    QCOMPARE(chosen(least), std::string(kFrugal));
}

/// A kernel that faults takes the device; the next program leaves that variant alone.
void TestCudaTrials::lostInATrial() {
    QTemporaryDir folder;
    const std::string cache = folder.path().toStdString();
    const int launch = firstCallOfSecond("cuLaunchKernel");
    {
        Machine machine(cache);
        fakeCuda().fault = {"cuLaunchKernel", launch, CUDA_ERROR_ILLEGAL_ADDRESS};
        const std::string words = thrownBy<EngineError>([&] { machine.load(); });
        QVERIFY2(words.starts_with("cuda:0 (Fake GPU) failed: "), words.c_str());
    }
    init(); // the program starts again
    Machine machine(cache);
    machine.load();
    const std::vector<VariantTime> variants = machine.executor->variants();
    for (size_t i = 0; i < 2; ++i)
        QCOMPARE(variants[i].note,
                 std::string(i == 1 ? "not tried: the program ended in earlier trials" : ""));
    (void)machine.step();
}

/// A program that hangs in a trial and is ended leaves its files as they were just then.
void TestCudaTrials::endedInATrial() {
    QTemporaryDir folder, left;
    const std::string cache = folder.path().toStdString();
    const int launch = firstCallOfSecond("cuLaunchKernel");
    const auto notes = [&] {
        Machine machine(left.path().toStdString());
        int seen = 0;
        fakeCuda().watch = [&](const std::string& function) {
            if (function != "cuLaunchKernel" || ++seen != launch) return;
            for (const auto& file : std::filesystem::directory_iterator(left.path().toStdString()))
                std::filesystem::copy(file.path(), folder.path().toStdString(),
                                      std::filesystem::copy_options::overwrite_existing);
        };
        machine.load();
        fakeCuda().watch = {};
        return machine.executor->variants().at(1).note;
    };
    // twice: what was on disk in the trial is where the next program begins
    for (int program = 0; program < 2; ++program) {
        QCOMPARE(notes(), std::string());
        QVERIFY(left.remove());
        left = QTemporaryDir();
        for (const auto& file : std::filesystem::directory_iterator(cache))
            std::filesystem::copy(file.path(), left.path().toStdString());
    }
    QCOMPARE(notes(), std::string("not tried: the program ended in earlier trials"));
}

/// A weight gradient that is wrong shows in no output of the same step.
void TestCudaTrials::wrongGradients() {
    makeOtherFast();
    fakeCuda().compile = [](std::string& text) {
        const std::string put = "static HS_D void put(char* arena, i64 at, float x) {\n";
        if (isFirstWay(text)) text.insert(text.find(put) + put.size(), "        x = -x;\n");
        return NVRTC_SUCCESS;
    };
    Machine machine;
    machine.load();
    const VariantTime low = variantOf(*machine.executor, kOther);
    QVERIFY2(has(low.note, "other results than the first way: ") && has(low.note, ".exp_avg: "),
             low.note.c_str());
    QVERIFY(chosenOf(*machine.executor) != kOther);
}

/// One element in sixteen is half as large again: one of each row and column of the weight, because
/// some of its columns are too small to count.
void TestCudaTrials::slightlyWrongGradients() {
    makeOtherFast();
    fakeCuda().compile = [](std::string& text) {
        const std::string put = "static HS_D void put(char* arena, i64 at, float x) {\n";
        if (isFirstWay(text))
            text.insert(text.find(put) + put.size(),
                        "        if ((at + at / 16) % 16 == 7) x *= 1.5f;\n");
        return NVRTC_SUCCESS;
    };
    Machine machine;
    machine.load();
    const VariantTime low = variantOf(*machine.executor, kOther);
    QVERIFY2(has(low.note, "other results than the first way: ") && has(low.note, ".exp_avg: 0.0"),
             low.note.c_str());
}

/// Every way took the device with it once: the program says so at its next start, and how to begin
/// anew.
void TestCudaTrials::allEndedBadly() {
    QTemporaryDir folder;
    const std::string cache = folder.path().toStdString();
    std::string words;
    for (int starts = 0; starts < 20; ++starts) {
        init();
        Machine machine(cache);
        fakeCuda().fault = {"cuLaunchKernel", 1, CUDA_ERROR_ILLEGAL_ADDRESS, true};
        words = thrownBy<EngineError>([&] { machine.load(); });
        if (!has(words, "The next start leaves out the way to run the step")) break;
    }
    QVERIFY2(words.starts_with("cuda:0 (Fake GPU): each way to run this step ended the program or "
                               "the device when it was tried; to have them tried again, remove "),
             words.c_str());
    init();
    Machine machine(cache);
    QCOMPARE(thrownBy<EngineError>([&] { machine.load(); }), words);
    const size_t from = words.find("remove ") + 7;
    QVERIFY(std::filesystem::remove(words.substr(from, words.find(". A new run") - from)));
    Machine mended(cache);
    mended.load();
    (void)mended.step();
}

/// The best so far, and the next program searches again.
void TestCudaTrials::stoppedSearch() {
    makeOtherFast();
    QTemporaryDir folder;
    const std::string cache = folder.path().toStdString();
    {
        Machine machine(cache);
        int modules = 0;
        fakeCuda().watch = [&](const std::string& function) {
            if (function == "cuModuleLoadData" && ++modules == 1) machine.executor->requestStop();
        };
        machine.load();
        fakeCuda().watch = {};
        QCOMPARE(modules, 1);
        QCOMPARE(chosenOf(*machine.executor), std::string(kFirst));
        QCOMPARE(variantOf(*machine.executor, kOther).note,
                 std::string("not tried: the search was stopped"));
        QCOMPARE(machine.executor->run(RunMode::Captured), RunResult::Stopped);
        (void)machine.step();
    }
    Machine machine(cache);
    machine.load();
    QCOMPARE(chosenOf(*machine.executor), std::string(kOther));
    QCOMPARE(variantOf(*machine.executor, kOther).note, std::string());
}

/// A request of which no run has heard yet is none to the search.
void TestCudaTrials::stopBeforeTheLoad() {
    makeOtherFast();
    Machine machine;
    machine.executor->requestStop();
    machine.load();
    QCOMPARE(chosenOf(*machine.executor), std::string(kOther));
    QCOMPARE(machine.executor->run(RunMode::Captured), RunResult::Stopped);
    QCOMPARE(machine.executor->run(RunMode::Captured), RunResult::Done);
}

void TestCudaTrials::aForwardPassIsNotTimed() {
    Machine machine;
    RunConfig config = chained().config;
    machine.executor->load(std::make_shared<const Program>(
        compile(buildForward(config, planOf(config.lanes[0]), {128, 2, 1}))));
    QVERIFY(machine.executor->variants().empty());
    QCOMPARE(fakeCuda().calls["cuModuleLoadData"], 1);
}

void TestCudaTrials::howFarResultsMayBeApart() {
    // results of 100 values of which one differs, in a step that sums 10,000 rows
    const auto differ = [](DType type, const char* kind, float want, float got) {
        Graph graph;
        Builder b(graph);
        (void)b.sum(b.input("x", {10000, 2}, type), {0});
        std::vector<StepResult> wanted{{"x", kind, std::vector<float>(100, 1)}};
        wanted[0].values[7] = want;
        std::vector<StepResult> changed = wanted;
        changed[0].values[7] = got;
        return !stepDistance(graph, wanted, changed).fault.empty();
    };
    constexpr const char *kFirst = "exp_avg", *kSecond = "exp_avg_sq", *kMetrics = "";
    // f32: 2 sqrt(10,000) / 2^24 + 1 / 10,000, of a norm of 10
    QVERIFY(!differ(DType::F32, kFirst, 1, 1.0011f));
    QVERIFY(differ(DType::F32, kFirst, 1, 1.0013f));
    QVERIFY(!differ(DType::F32, kSecond, 1, 1.0022f));
    QVERIFY(differ(DType::F32, kSecond, 1, 1.0026f));
    // float16: 1.2e-3 more; bfloat16: 7e-3
    QVERIFY(!differ(DType::F16, kFirst, 1, 1.012f));
    QVERIFY(differ(DType::F16, kFirst, 1, 1.014f));
    QVERIFY(!differ(DType::BF16, kFirst, 1, 1.06f));
    QVERIFY(differ(DType::BF16, kFirst, 1, 1.08f));
    // each by its own size
    QVERIFY(!differ(DType::F32, kFirst, 0x1p-11f, 0));
    QVERIFY(differ(DType::F32, kMetrics, 0x1p-11f, 0));
    QVERIFY(!differ(DType::F32, kMetrics, 1000, 1000.1f));
    QVERIFY(differ(DType::F32, kMetrics, 1000, 1000.2f));
    constexpr float kInf = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    QVERIFY(!differ(DType::F32, kFirst, kInf, nan));
    for (const float bad : {kInf, -kInf, nan})
        for (const char* kind : {kFirst, kMetrics}) {
            QVERIFY(differ(DType::F32, kind, bad, 0.5f));
            QVERIFY(differ(DType::F32, kind, 0.5f, bad));
        }
}

} // namespace tst_cuda_trials

QTEST_GUILESS_MAIN(tst_cuda_trials::TestCudaTrials)
#include "tst_cuda_trials.moc"
