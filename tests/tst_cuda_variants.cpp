// The choice among ways to run a step: by the fake machine's clock, kept on disk, without those
// that do not compile, do not run or give other results; and what a fault leaves behind.
#include "engine/core/error.h"
#include "engine/cuda/variants.h"
#include "tests/support/cuda_lane.h"
#include "tests/support/thrown.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <filesystem>

using namespace halfscope;
using namespace halfscope::cuda;
using test::fakeCuda;

namespace {

constexpr double kKernel = 1.5; ///< milliseconds of each: few launches take a trial's time
constexpr const char* kLow = "tiles of 64 x 256";
constexpr const char* kLowText = "kTileM = 64;"; ///< only its text has it

/// A step with chains of products, of which there is more than one way.
const test::Loaded& chained() {
    static const test::Loaded lane = [] {
        RunConfig config = test::smallRun(Precision::AmpFp16);
        config.model = {16, 1, Norm::BatchNorm, Activation::Relu};
        return test::Loaded(config, {128, 2, 1});
    }();
    return lane;
}
SourceOptions options() {
    SourceOptions options;
    options.chainElements = 1;
    options.searchSeconds = 1e9; // the emulator is slow
    return options;
}
bool has(const std::string& text, const char* words) {
    return text.find(words) != std::string::npos;
}
/// The fake's clock: the variant of low tiles is the fastest.
void makeLowFast() {
    fakeCuda().millisecondsOf = [](const std::string& text, const std::string&) {
        return has(text, kLowText) ? 0.1 * kKernel : kKernel;
    };
}

VariantTime variantOf(const Executor& executor, const std::string& name) {
    for (const VariantTime& variant : executor.variants())
        if (variant.name == name) return variant;
    return {};
}
std::string chosenOf(const Executor& executor) {
    std::string chosen;
    for (const VariantTime& variant : executor.variants())
        if (variant.chosen) chosen += variant.name;
    return chosen;
}

struct Machine {
    Platform platform{fakeCuda().api()};
    std::unique_ptr<Executor> executor;
    explicit Machine(const std::string& cache = {}, const SourceOptions& how = options())
        : executor(test::fakeExecutor(platform, how, cache)) {}
    void load() { executor->load(chained().program); }
    /// A step from the lane's start.
    std::vector<std::vector<std::byte>> step() {
        chained().upload(*executor);
        executor->run(RunMode::Captured);
        return test::valuesOf(*executor, chained().graph());
    }
};

/// Launches of one run of the usual step, the metrics' kernel included.
int launchesOfUsual() {
    SourceOptions usual = options();
    usual.searchSeconds = 0;
    Machine machine({}, usual);
    machine.load();
    fakeCuda().calls.clear();
    machine.executor->run(RunMode::Stepwise);
    const int launches = fakeCuda().calls["cuLaunchKernel"];
    fakeCuda().calls.clear();
    return launches;
}
/// The number of a function's first call in the second variant's trial.
int firstCallOfSecond(const std::string& function) {
    int modules = 0, call = 1;
    fakeCuda().watch = [&](const std::string& called) {
        if (called == function && modules < 2) ++call;
        if (called == "cuModuleLoadData" && ++modules == 2 && called == function) --call;
    };
    Machine machine;
    machine.load();
    fakeCuda().watch = {};
    fakeCuda().calls.clear();
    return call;
}

} // namespace

class TestCudaVariants : public QObject {
    Q_OBJECT

private slots:
    void init() {
        test::resetFakeCuda();
        fakeCuda().launchMilliseconds = kKernel;
    }
    void cleanup() { test::checkFakeCuda(); }
    void theListBeginsWithTheUsual();
    void fastestIsTaken();
    void trialsLeaveNothing();
    void choiceIsKept();
    void eachKernelInItsTiles();
    void lanesOfOneDeviceAgree();
    void namedByTheEnvironment();
    void oneWayIsNotTimed();
    void withoutSearch();
    void shortOfTime();
    void notCompiling();
    void usualNotCompiling();
    void noneCompiles();
    void failingCalls_data();
    void failingCalls();
    void otherResults();
    void noRoomForASecond();
    void lostInATrial();
    void endedInATrial();
    void profileOfLaunches();
    void debugFolder();
};

void TestCudaVariants::theListBeginsWithTheUsual() {
    const std::vector<Variant> variants = variantsOf(options());
    QCOMPARE(variants.front().name, std::string("usual"));
    QVERIFY(variants.size() >= 6);
    for (const Variant& variant : variants) {
        QCOMPARE(variant.options.chainElements, int64_t{1});
        QVERIFY(variant.name.find('|') == std::string::npos); // ends a name on disk
    }
    SourceOptions unfused;
    unfused.chains = Chains::Unfused;
    QCOMPARE(variantsOf(unfused).size(), size_t{1});
}

void TestCudaVariants::fastestIsTaken() {
    makeLowFast();
    Machine machine;
    machine.load();
    QCOMPARE(chosenOf(*machine.executor), std::string(kLow));
    QVERIFY(has(machine.executor->sourceText(), kLowText));
    QVERIFY(machine.executor->variants().size() >= 4);
    for (const VariantTime& variant : machine.executor->variants()) {
        QVERIFY2(variant.seconds > 0, variant.name.c_str());
        QVERIFY2(variant.note.empty(), variant.note.c_str());
        QVERIFY(variant.chosen || variant.seconds > variantOf(*machine.executor, kLow).seconds);
    }
}

void TestCudaVariants::trialsLeaveNothing() {
    SourceOptions low = options();
    low.searchSeconds = 0;
    low.tiles = {64, 256, 0};
    Machine wanted({}, low);
    wanted.load();
    const size_t used = fakeCuda().used;
    const auto truth = wanted.step();

    makeLowFast();
    Machine machine;
    machine.load();
    QCOMPARE(fakeCuda().used, 2 * used); // nothing of the others
    for (const StateInfo& state : chained().graph().states())
        for (const float value : downloadFloats(*machine.executor, chained().graph(), state.node))
            QCOMPARE(value, 0.0f);
    QVERIFY(machine.step() == truth);
    QCOMPARE(machine.executor->lastStepSeconds() > 0, true);
}

void TestCudaVariants::choiceIsKept() {
    makeLowFast();
    QTemporaryDir folder;
    const std::string cache = folder.path().toStdString();
    std::vector<VariantTime> first;
    {
        Machine machine(cache);
        machine.load();
        first = machine.executor->variants();
    }
    fakeCuda().millisecondsOf = {}; // nobody looks at the clock again
    fakeCuda().calls.clear();
    const int compiled = fakeCuda().compiled;
    {
        Machine machine(cache);
        machine.load();
        QCOMPARE(chosenOf(*machine.executor), std::string(kLow));
        QCOMPARE(machine.executor->variants().size(), first.size());
        QCOMPARE(variantOf(*machine.executor, "usual").seconds, first[0].seconds);
        QCOMPARE(fakeCuda().compiled, compiled);
        QCOMPARE(fakeCuda().calls["cuModuleLoadData"], 1);
        QCOMPARE(fakeCuda().calls["cuGraphLaunch"], 0);
    }
    fakeCuda().gpus[0].name = "Another GPU";
    Machine machine(cache);
    machine.load();
    QVERIFY(fakeCuda().calls["cuModuleLoadData"] > 2);
    QVERIFY(chosenOf(*machine.executor) != kLow); // all are alike there, or the plan decides
}

/// One launch is faster in low tiles, all others in the usual ones: both together win, and are
/// found again on disk.
void TestCudaVariants::eachKernelInItsTiles() {
    std::string product;
    {
        SourceOptions usual = options();
        usual.searchSeconds = 0;
        Machine machine({}, usual);
        machine.load();
        const std::vector<LaunchTime> launches = machine.executor->profile();
        for (size_t i = 0; i < launches.size() && product.empty(); ++i)
            if (launches[i].flops >= 2 * 128 * 16 * 16) product = "launch" + std::to_string(i);
    }
    fakeCuda().millisecondsOf = [product](const std::string& text, const std::string& entry) {
        if (!has(text, "kTileM = ")) return 10 * kKernel; // no chains, few launches
        if (!has(text, kLowText)) return kKernel;
        if (entry == product) return 0.1;
        return has(text, "kTileM = 128;") ? kKernel : 1.1 * kKernel;
    };
    QTemporaryDir folder;
    std::vector<std::vector<std::byte>> first;
    for (int program = 0; program < 2; ++program) {
        Machine machine(folder.path().toStdString());
        fakeCuda().calls.clear();
        machine.load();
        QCOMPARE(fakeCuda().calls["cuModuleLoadData"] == 1, program == 1);
        QCOMPARE(chosenOf(*machine.executor), std::string("mixed tiles"));
        const VariantTime mixed = variantOf(*machine.executor, "mixed tiles");
        QVERIFY(mixed.seconds < variantOf(*machine.executor, "usual").seconds);
        QVERIFY2(has(mixed.note, ":64x256x0"), mixed.note.c_str());
        QVERIFY(has(machine.executor->sourceText(), kLowText));
        QVERIFY(has(machine.executor->sourceText(), "kTileM = 128;"));
        const auto values = machine.step();
        if (program == 0) first = values;
        QVERIFY(values == first);
    }
}

/// Without a disk too: other bits in the second lane of the same step would be no comparison.
void TestCudaVariants::lanesOfOneDeviceAgree() {
    makeLowFast();
    Machine machine;
    machine.load();
    fakeCuda().millisecondsOf = {};
    fakeCuda().calls.clear();
    const auto second = test::fakeExecutor(machine.platform, options());
    second->load(chained().program);
    QCOMPARE(chosenOf(*second), std::string(kLow));
    QCOMPARE(fakeCuda().calls["cuModuleLoadData"], 1);
}

void TestCudaVariants::namedByTheEnvironment() {
    qputenv("HALFSCOPE_CUDA_VARIANT", "unfused");
    Machine machine;
    machine.load();
    QVERIFY(machine.executor->variants().empty());
    QVERIFY(!has(machine.executor->sourceText(), "kTileM = "));
    qputenv("HALFSCOPE_CUDA_VARIANT", "fast");
    const std::string words = thrownBy<EngineError>([&] { machine.load(); });
    qunsetenv("HALFSCOPE_CUDA_VARIANT");
    QVERIFY2(
        words.starts_with("HALFSCOPE_CUDA_VARIANT: \"fast\" is none of the ways to run a step: "
                          "usual, tiles"),
        words.c_str());
}

void TestCudaVariants::oneWayIsNotTimed() {
    Machine machine({}, SourceOptions{}); // so small a step has no chains
    machine.load();
    QVERIFY(machine.executor->variants().empty());
    QCOMPARE(fakeCuda().calls["cuModuleLoadData"], 1);
}

void TestCudaVariants::withoutSearch() {
    makeLowFast();
    SourceOptions usual = options();
    usual.searchSeconds = 0;
    Machine machine({}, usual);
    machine.load();
    QVERIFY(machine.executor->variants().empty());
    QVERIFY(!has(machine.executor->sourceText(), kLowText));
    QCOMPARE(fakeCuda().calls["cuModuleLoadData"], 1);
}

/// The usual one is there at once; what was not compiled or tried in time is told.
void TestCudaVariants::shortOfTime() {
    SourceOptions hasty = options();
    hasty.searchSeconds = 1e-9;
    Machine machine({}, hasty);
    machine.load();
    QCOMPARE(chosenOf(*machine.executor), std::string("usual"));
    const VariantTime low = variantOf(*machine.executor, kLow);
    QVERIFY2(has(low.note, "the search has taken long enough"), low.note.c_str());
    (void)machine.step();
}

void TestCudaVariants::notCompiling() {
    makeLowFast();
    fakeCuda().compile = [](std::string& text) {
        return has(text, kLowText) ? NVRTC_ERROR_COMPILATION : NVRTC_SUCCESS;
    };
    Machine machine;
    machine.load();
    QVERIFY(chosenOf(*machine.executor) != kLow && !chosenOf(*machine.executor).empty());
    const VariantTime low = variantOf(*machine.executor, kLow);
    QVERIFY2(has(low.note, "do not compile for sm_90a"), low.note.c_str());
    QCOMPARE(low.seconds, 0.0);
    (void)machine.step();
}

void TestCudaVariants::usualNotCompiling() {
    fakeCuda().compile = [](std::string& text) {
        return has(text, "kTileM = 128;") ? NVRTC_ERROR_COMPILATION : NVRTC_SUCCESS;
    };
    Machine machine;
    machine.load();
    QVERIFY(has(variantOf(*machine.executor, "usual").note, "do not compile"));
    QVERIFY(!chosenOf(*machine.executor).empty());
    (void)machine.step();
}

void TestCudaVariants::noneCompiles() {
    fakeCuda().compile = [](std::string&) { return NVRTC_ERROR_COMPILATION; };
    Machine machine;
    const std::string words = thrownBy<EngineError>([&] { machine.load(); });
    QVERIFY2(words.starts_with("the step's kernels do not compile for sm_90a"), words.c_str());
    fakeCuda().compile = {};
    machine.load();
    (void)machine.step();
}

void TestCudaVariants::failingCalls_data() {
    QTest::addColumn<std::string>("function");
    for (const char* function : {"cuModuleLoadData", "cuGraphInstantiate", "cuLaunchKernel"})
        QTest::newRow(function) << std::string(function);
}

/// A call that fails in the second trial drops that variant alone.
void TestCudaVariants::failingCalls() {
    QFETCH(std::string, function);
    const int call = firstCallOfSecond(function);
    fakeCuda().fault = {function, call, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES};
    Machine machine;
    machine.load();
    const std::vector<VariantTime> variants = machine.executor->variants();
    QVERIFY(variants.size() >= 4);
    for (size_t i = 0; i < variants.size(); ++i) {
        QCOMPARE(variants[i].seconds > 0, i != 1);
        QCOMPARE(variants[i].note.empty(), i != 1);
    }
    (void)machine.step();
}

void TestCudaVariants::otherResults() {
    makeLowFast();
    fakeCuda().compile = [](std::string& text) {
        const std::string sum = "d[j] = fmaf(top, right, d[j]);";
        if (has(text, kLowText))
            text.replace(text.find(sum), sum.size(), "d[j] = fmaf(top, right, d[j] + 0.5f);");
        return NVRTC_SUCCESS;
    };
    Machine machine;
    machine.load();
    const VariantTime low = variantOf(*machine.executor, kLow);
    QVERIFY2(has(low.note, "other results than the usual one: element "), low.note.c_str());
    QVERIFY(chosenOf(*machine.executor) != kLow);
}

void TestCudaVariants::noRoomForASecond() {
    makeLowFast();
    size_t used = 0;
    {
        SourceOptions usual = options();
        usual.searchSeconds = 0;
        Machine machine({}, usual);
        machine.load();
        used = fakeCuda().used;
    }
    fakeCuda().gpus[0].bytes = used + used / 4;
    Machine machine;
    machine.load();
    QCOMPARE(chosenOf(*machine.executor), std::string("usual"));
    QVERIFY(has(variantOf(*machine.executor, kLow).note, "out of memory"));
    fakeCuda().gpus[0].bytes = used / 4; // not even for the first
    QVERIFY(has(thrownBy<EngineError>([&] { machine.load(); }), "out of memory"));
    fakeCuda().gpus[0].bytes = size_t{1} << 30;
    machine.load();
    (void)machine.step();
}

/// A kernel that faults takes the device; the next program leaves that variant alone.
void TestCudaVariants::lostInATrial() {
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
    for (size_t i = 0; i < variants.size(); ++i)
        QCOMPARE(variants[i].note,
                 std::string(i == 1 ? "not tried: the program ended in earlier trials" : ""));
    (void)machine.step();
}

/// A program that hangs in a trial and is ended leaves its files as they were just then.
void TestCudaVariants::endedInATrial() {
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

void TestCudaVariants::profileOfLaunches() {
    Machine machine;
    QVERIFY(has(thrownBy<std::logic_error>([&] { (void)machine.executor->profile(); }),
                "no program is loaded"));
    machine.load();
    const auto before = machine.step();
    const std::vector<LaunchTime> times = machine.executor->profile();
    machine.executor->load(chained().program);
    chained().upload(*machine.executor);
    machine.executor->run(RunMode::Stepwise);
    const std::vector<LaunchTime> single = machine.executor->launchTimes();
    QCOMPARE(times.size(), single.size());
    double flops = 0;
    for (size_t i = 0; i < times.size(); ++i) {
        QCOMPARE(times[i].what, single[i].what);
        QVERIFY(std::abs(times[i].seconds - 1e-3 * kKernel) < 1e-9);
        QVERIFY(times[i].bytes > 0 || has(times[i].what, "copies"));
        QCOMPARE(times[i].bytes, single[i].bytes);
        QCOMPARE(times[i].registers, 64);
        QCOMPARE(times[i].localBytes, 16);
        flops += times[i].flops;
    }
    QVERIFY(flops >= 2 * 128 * 16 * 16 * 3); // a hidden layer's three products
    machine.load();                          // the values were worthless
    QVERIFY(machine.step() == before);
}

void TestCudaVariants::debugFolder() {
    QTemporaryDir folder;
    const auto kept = [&](const char* name) {
        QFile file(folder.filePath(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : "no file";
    };
    SourceOptions usual = options();
    usual.searchSeconds = 0;
    const int launches = launchesOfUsual();
    qputenv("HALFSCOPE_CUDA_DEBUG", folder.path().toUtf8());
    {
        Machine machine({}, usual);
        machine.load();
        QCOMPARE(kept("step.cu"), machine.executor->sourceText());
        QVERIFY2(has(kept("step.txt"), " launches, about "), kept("step.txt").c_str());
        QCOMPARE(kept("launch.txt"), std::string("none is running\n"));
        fakeCuda().calls.clear();
        machine.executor->run(RunMode::Captured);
        QCOMPARE(fakeCuda().calls["cuGraphLaunch"], 0);
        QVERIFY(fakeCuda().calls["cuStreamSynchronize"] >= launches - 1); // but for the metrics'
        fakeCuda().fault = {"cuStreamSynchronize", fakeCuda().calls["cuStreamSynchronize"] + 3,
                            CUDA_ERROR_ILLEGAL_ADDRESS};
        const std::string words =
            thrownBy<EngineError>([&] { machine.executor->run(RunMode::Captured); });
        const std::string at = kept("launch.txt");
        QVERIFY2(at.starts_with("launch 2 of " + std::to_string(launches - 1) + ", launch2: "),
                 at.c_str());
        const std::string what = at.substr(at.find(": ") + 2, at.find('\n') - at.find(": ") - 2);
        QVERIFY2(has(words, what.c_str()), words.c_str());
    }
    init();
    fakeCuda().compile = [](std::string&) { return NVRTC_ERROR_COMPILATION; };
    Machine machine({}, usual);
    QVERIFY(has(thrownBy<EngineError>([&] { machine.load(); }), "do not compile"));
    qunsetenv("HALFSCOPE_CUDA_DEBUG");
    QVERIFY(has(kept("failed.log"), "identifier \"nothing\" is undefined"));
    QCOMPARE(kept("failed.cu"), kept("step.cu"));
}

QTEST_GUILESS_MAIN(TestCudaVariants)
#include "tst_cuda_variants.moc"
