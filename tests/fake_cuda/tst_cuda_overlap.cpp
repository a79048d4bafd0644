// Launches that overlap: tried in the chosen way, taken where they give the same bits and gain,
// kept on disk, told; and what is done where the driver has none or refuses.
#include "engine/core/error.h"
#include "engine/cuda/library.h"
#include "engine/cuda/variant_records.h"
#include "engine/ops/builder.h"
#include "tests/emulator/compiled_text.h"
#include "tests/emulator/cuda_emulator.h"
#include "tests/emulator/nvrtc.h"
#include "tests/emulator/ptx_module.h"
#include "tests/support/cuda_ways.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

#include <dlfcn.h>

namespace tst_cuda_overlap {

using namespace halfscope;
using namespace halfscope::cuda;
using namespace halfscope::test;

namespace {

constexpr const char* kUsualOverlapped = "usual, overlapped";

int calls(const char* function) { return fakeCuda().calls[function]; }

/// A step's values where nothing overlaps.
std::vector<std::vector<std::byte>> plainStep(const SourceOptions& how) {
    SourceOptions usual = how;
    usual.searchSeconds = 0;
    Machine machine({}, usual);
    machine.load();
    return machine.step();
}

} // namespace

class TestCudaOverlap : public QObject {
    Q_OBJECT

private slots:
    void init() {
        resetFakeCuda();
        fakeCuda().launchMilliseconds = kKernel;
        makeOverlapFast();
    }
    void cleanup() { checkFakeCuda(); }
    void everyKernelWaits();
    void ofTheChosenWay();
    void ofTheOnlyWay();
    void withoutGain();
    void onlyBehindItsOwnKernels();
    void otherBits();
    void refused_data();
    void refused();
    void notKnown_data();
    void notKnown();
    void driversWithoutIt();
    void keptOnDisk();
    void keptAndRefused();
    void recordsOfOldPrograms();
    void lostInItsTrial();
    void stoppedBefore();
};

/// At the start of each entry, the metrics' too, where the device has launches that overlap; and
/// nothing of it below, where the instructions are not known. The interpreter of PTX sees that
/// nothing is touched before.
void TestCudaOverlap::everyKernelWaits() {
    if (const Nvrtc nvrtc; !nvrtc.unavailable().empty()) QSKIP(nvrtc.unavailable().c_str());
    fakeCuda().overlaps = false;
    std::string text;
    std::vector<std::vector<std::byte>> emulated, interpreted;
    for (auto* values : {&emulated, &interpreted}) {
        emulatePtx(values == &interpreted ? 90 : 0);
        SourceOptions usual = options();
        usual.searchSeconds = 0;
        Machine machine({}, usual);
        machine.load();
        text = machine.executor->sourceText();
        *values = machine.step();
    }
    emulatePtx(0);
    QVERIFY(interpreted == emulated);
    const size_t entries = static_cast<size_t>(launchesOfUsual());
    for (const int capability : {80, 90}) {
        const PtxModule module(text, capability);
        const auto count = [&](const char* words) {
            size_t found = 0;
            for (size_t at = 0; (at = module.ptx().find(words, at)) != std::string::npos; ++at)
                ++found;
            return found;
        };
        QCOMPARE(count(".visible .entry"), entries);
        QCOMPARE(count("griddepcontrol.wait;"), capability >= 90 ? entries : 0);
        QCOMPARE(count("griddepcontrol.launch_dependents;"), capability >= 90 ? entries : 0);
    }
}

/// The way that is the fastest with plain launches, and no other.
void TestCudaOverlap::ofTheChosenWay() {
    const auto truth = plainStep(options());
    Machine machine;
    machine.load();
    const std::string chosen = chosenOf(*machine.executor);
    QVERIFY2(chosen.ends_with(", overlapped"), chosen.c_str());
    const std::string way = chosen.substr(0, chosen.find(','));
    const VariantTime plain = variantOf(*machine.executor, way),
                      overlapped = variantOf(*machine.executor, chosen);
    QVERIFY(!plain.chosen && overlapped.note.empty());
    // all launches but the first take half the time
    const double launches = plain.seconds / (1e-3 * kKernel);
    QVERIFY(std::abs(overlapped.seconds / (1e-3 * kKernel) - (launches + 1) / 2) < 1e-3);
    int told = 0;
    for (const VariantTime& variant : machine.executor->variants()) {
        told += variant.name.ends_with("overlapped") ? 1 : 0;
        QVERIFY(variant.seconds >= plain.seconds || variant.name == chosen);
    }
    QCOMPARE(told, 1);
    const auto values = machine.step();
    QVERIFY(values == truth || way != "usual");
    QVERIFY(std::abs(machine.executor->lastStepSeconds() - overlapped.seconds) < 1e-6);
}

/// A way that needs no comparison with others still has launches.
void TestCudaOverlap::ofTheOnlyWay() {
    const auto truth = plainStep(oneWay());
    Machine machine({}, oneWay());
    machine.load();
    QCOMPARE(machine.executor->variants().size(), size_t{2});
    QCOMPARE(chosenOf(*machine.executor), std::string(kUsualOverlapped));
    const double plain = variantOf(*machine.executor, "usual").seconds,
                 overlapped = variantOf(*machine.executor, kUsualOverlapped).seconds;
    const double launches = plain / (1e-3 * kKernel); // all but the first take half the time
    QVERIFY(std::abs(overlapped / (1e-3 * kKernel) - (launches + 1) / 2) < 1e-3);
    for (const StateInfo& state : chained().graph().states())
        for (const float value : downloadFloats(*machine.executor, chained().graph(), state.node))
            QCOMPARE(value, 0.0f);
    QVERIFY(machine.step() == truth);
    QVERIFY(std::abs(machine.executor->lastStepSeconds() - overlapped) < 1e-6);
    machine.executor->run(RunMode::Stepwise); // plain, and timed one by one
    for (const LaunchTime& launch : machine.executor->launchTimes())
        QVERIFY(std::abs(launch.seconds - 1e-3 * kKernel) < 1e-9);
}

void TestCudaOverlap::withoutGain() {
    fakeCuda().overlappedMilliseconds = 0.98 * kKernel; // less than is worth other ways
    Machine machine({}, oneWay());
    machine.load();
    QCOMPARE(chosenOf(*machine.executor), std::string("usual"));
    const VariantTime overlapped = variantOf(*machine.executor, kUsualOverlapped);
    QVERIFY(overlapped.seconds > 0 && overlapped.note.empty());
    (void)machine.step();
    QVERIFY(machine.executor->lastStepSeconds() > overlapped.seconds);
}

/// Behind a library's product a launch is plain. That it is so is what the fake machine looks for;
/// here, how many there are of which.
void TestCudaOverlap::onlyBehindItsOwnKernels() {
    Graph graph;
    Builder b(graph);
    const NodeId state = b.state("x", {512, 256}, DType::F32, StateRole::Parameter),
                 weight = b.state("w", {256, 256}, DType::F32, StateRole::Parameter);
    const NodeId product = b.matmul(b.scale(state, 0.5f), weight); // of a size for the library
    const NodeId sums = b.sum(product, {0});
    graph.setNext(state, b.sub(product, b.expand(b.scale(sums, 1.0 / 512), {512, 256})));
    const auto program = std::make_shared<const Program>(compile(graph));
    fakeCuda().launchMilliseconds = 20; // few launches take a trial's time
    fakeCuda().overlappedMilliseconds = 10;
    SourceOptions usual = options();
    usual.chainElements = int64_t{1} << 40;
    Platform platform(fakeCuda().api());
    const auto executor = fakeExecutor(platform, usual);
    executor->load(program);
    std::vector<LaunchKind> kinds;
    for (const Launch& launch :
         writeStep(*program, {.multiprocessors = 4, .sharedBytes = 232448}, usual).launches)
        kinds.push_back(launch.kind);
    int expected = 0, behindLibrary = 0;
    for (size_t i = 1; i < kinds.size(); ++i) {
        if (kinds[i] != LaunchKind::Generated) continue;
        ++(kinds[i - 1] == LaunchKind::Generated ? expected : behindLibrary);
    }
    QVERIFY(expected > 0 && behindLibrary > 0);
    QCOMPARE(calls("cuLaunchKernelEx"), expected);
    QVERIFY(variantOf(*executor, kUsualOverlapped).chosen);
}

/// A kernel that loses a race with the one before gives something else, and is found out.
void TestCudaOverlap::otherBits() {
    fakeCuda().overlapForgets = true;
    const auto truth = plainStep(oneWay());
    Machine machine({}, oneWay());
    machine.load();
    QCOMPARE(chosenOf(*machine.executor), std::string("usual"));
    QCOMPARE(variantOf(*machine.executor, kUsualOverlapped).note,
             std::string("other bits than with launches one after the other"));
    QVERIFY(machine.step() == truth);
}

void TestCudaOverlap::refused_data() {
    QTest::addColumn<std::string>("function");
    QTest::addColumn<int>("call");
    QTest::newRow("launch") << std::string("cuLaunchKernelEx") << 2;
    QTest::newRow("capture") << std::string("cuStreamEndCapture") << 2;
    QTest::newRow("graph") << std::string("cuGraphInstantiate") << 2;
}

/// A driver that has the function and does not know what it is asked for.
void TestCudaOverlap::refused() {
    QFETCH(std::string, function);
    QFETCH(int, call);
    const auto truth = plainStep(oneWay());
    fakeCuda().calls.clear();
    fakeCuda().fault = {function, call, CUDA_ERROR_NOT_SUPPORTED};
    Machine machine({}, oneWay());
    machine.load();
    QCOMPARE(chosenOf(*machine.executor), std::string("usual"));
    const VariantTime overlapped = variantOf(*machine.executor, kUsualOverlapped);
    QVERIFY2(!overlapped.note.empty(), "no reason");
    QCOMPARE(overlapped.seconds, 0.0);
    QVERIFY(machine.step() == truth);
}

void TestCudaOverlap::notKnown_data() {
    QTest::addColumn<int>("major");
    QTest::addColumn<bool>("driver");
    QTest::newRow("by the device") << 8 << true;
    QTest::newRow("by the driver") << 9 << false;
}

void TestCudaOverlap::notKnown() {
    QFETCH(int, major);
    QFETCH(bool, driver);
    fakeCuda().gpus[0].major = major;
    fakeCuda().overlaps = driver;
    Machine machine({}, oneWay());
    machine.load();
    QVERIFY(machine.executor->variants().empty());
    QCOMPARE(calls("cuLaunchKernelEx"), 0);
    (void)machine.step();
}

/// Drivers of another version than the headers: what must be there, and what need not.
void TestCudaOverlap::driversWithoutIt() {
#define HALFSCOPE_NAME(name) #name
#define HALFSCOPE_ADD_NAME(name) names.push_back(HALFSCOPE_NAME(name));
    std::vector<std::string> names;
    HALFSCOPE_DRIVER_FUNCTIONS(HALFSCOPE_ADD_NAME)
    const size_t needed = names.size();
    HALFSCOPE_OPTIONAL_DRIVER_FUNCTIONS(HALFSCOPE_ADD_NAME)
#undef HALFSCOPE_ADD_NAME
#undef HALFSCOPE_NAME
    QVERIFY(names.size() > needed);
    const auto reasonWith = [&](size_t count, DriverApi& driver) {
        std::string text;
        for (size_t i = 0; i < count; ++i)
            text += "extern \"C\" int " + names[i] + "() { return 0; }\n";
        const CompiledText made(text, {}, "-fPIC");
        Dl_info info{};
        if (::dladdr(made.symbol(names.front()), &info) == 0) return std::string("no library");
        const std::unique_ptr<void, int (*)(void*)> handle(::dlopen(info.dli_fname, RTLD_NOW),
                                                           ::dlclose);
        Message reason;
        fill(Library{handle.get(), "libcuda.so.1", {}}, driver, reason);
        return reason.english();
    };
    DriverApi all, old, tooOld;
    QCOMPARE(reasonWith(names.size(), all), std::string());
    QVERIFY(all.cuLaunchKernelEx != nullptr && all.cuLaunchKernel != nullptr);
    QCOMPARE(reasonWith(needed, old), std::string());
    QVERIFY(old.cuLaunchKernelEx == nullptr && old.cuLaunchKernel != nullptr);
    const std::string reason = reasonWith(needed - 1, tooOld);
    QVERIFY2(reason.starts_with("the NVIDIA driver is too old: "), reason.c_str());
}

void TestCudaOverlap::keptOnDisk() {
    for (const SourceOptions& how : {oneWay(), options()}) {
        QTemporaryDir folder;
        const std::string cache = folder.path().toStdString();
        std::string chosen;
        {
            Machine machine(cache, how);
            machine.load();
            chosen = chosenOf(*machine.executor);
            QVERIFY2(chosen.ends_with(", overlapped"), chosen.c_str());
        }
        fakeCuda().calls.clear();
        Machine machine(cache, how);
        machine.load();
        QCOMPARE(calls("cuGraphLaunch"), 0); // nothing is timed again
        QCOMPARE(calls("cuModuleLoadData"), 1);
        QCOMPARE(calls("cuStreamBeginCapture"), 1);
        QCOMPARE(chosenOf(*machine.executor), chosen);
        (void)machine.step();
        QVERIFY(std::abs(machine.executor->lastStepSeconds() -
                         variantOf(*machine.executor, chosen).seconds) < 1e-6);
    }
}

/// Another driver under the same name: the search begins anew, and says why.
void TestCudaOverlap::keptAndRefused() {
    QTemporaryDir folder;
    const std::string cache = folder.path().toStdString();
    {
        Machine machine(cache, oneWay());
        machine.load();
    }
    fakeCuda().calls.clear();
    fakeCuda().fault = {"cuLaunchKernelEx", 1, CUDA_ERROR_NOT_SUPPORTED, true};
    {
        Machine machine(cache, oneWay());
        machine.load();
        QCOMPARE(chosenOf(*machine.executor), std::string("usual"));
        QVERIFY(!variantOf(*machine.executor, kUsualOverlapped).note.empty());
        (void)machine.step();
    }
    fakeCuda().calls.clear();
    Machine machine(cache, oneWay());
    machine.load();
    QCOMPARE(calls("cuLaunchKernelEx"), 0); // that is kept as well
    QCOMPARE(calls("cuGraphLaunch"), 0);
    QCOMPARE(chosenOf(*machine.executor), std::string("usual"));
}

/// Files without the line of launches that overlap, and with lines of which nobody knows.
void TestCudaOverlap::recordsOfOldPrograms() {
    QTemporaryDir folder;
    const FileCache cache(folder.path().toStdString());
    Platform platform(fakeCuda().api());
    const auto device = platform.open(0);
    VariantRecords records(*device, cache);
    cache.put("old", "usual|0.5|1|0|\nother|0.75|0|0|\nmixed tiles|0|0|0|\n");
    records.read("old", {"usual", "other"});
    QCOMPARE(records.chosen(), size_t{0});
    QVERIFY(!records.overlapped().time.chosen);
    QCOMPARE(records.times().size(), size_t{2});
    cache.put("strange", "usual\n|||||\n3|x|1\noverlapped|1|\nusual|y|2|-|\n");
    records.read("strange", {"usual", "other"});
    QVERIFY(records.chosen() > 2); // none
    QVERIFY(!records.overlapped().time.chosen);
    records.read("new", {"usual", "other"});
    records[1].time.seconds = 0.5;
    records.choose(records[1]);
    records.overlapped().time = {kOverlapped, 0.25, true, {}};
    records.finish();
    VariantRecords again(*device, cache);
    again.read("new", {"usual", "other"});
    QCOMPARE(again.chosen(), size_t{1});
    QVERIFY(again.overlapped().time.chosen);
    QCOMPARE(again.times().back().name, std::string("other, overlapped"));
    QVERIFY(again.times().back().chosen && !again.times().front().chosen);
}

/// A device that fails in it takes the program along; the next start does without.
void TestCudaOverlap::lostInItsTrial() {
    QTemporaryDir folder;
    const std::string cache = folder.path().toStdString();
    {
        Machine machine(cache, oneWay());
        fakeCuda().fault = {"cuLaunchKernelEx", 3, CUDA_ERROR_ILLEGAL_ADDRESS};
        const std::string words = thrownBy<EngineError>([&] { machine.load(); });
        QVERIFY2(has(words, "The next start leaves out"), words.c_str());
    }
    init(); // the program starts again
    Machine machine(cache, oneWay());
    machine.load();
    QCOMPARE(calls("cuLaunchKernelEx"), 0);
    QCOMPARE(chosenOf(*machine.executor), std::string("usual"));
    QCOMPARE(variantOf(*machine.executor, kUsualOverlapped).note,
             std::string("not tried: the program ended in earlier trials"));
    (void)machine.step();
}

/// What is stopped is not kept: the next program looks again.
void TestCudaOverlap::stoppedBefore() {
    QTemporaryDir folder;
    const std::string cache = folder.path().toStdString();
    {
        Machine machine(cache, oneWay());
        fakeCuda().watch = [&](const std::string& function) {
            if (function == "cuGraphLaunch" && calls("cuGraphLaunch") == 2)
                machine.executor->requestStop();
        };
        machine.load();
        fakeCuda().watch = {};
        QCOMPARE(calls("cuLaunchKernelEx"), 0);
        QCOMPARE(chosenOf(*machine.executor), std::string("usual"));
    }
    Machine machine(cache, oneWay());
    machine.load();
    QCOMPARE(chosenOf(*machine.executor), std::string(kUsualOverlapped));
}

} // namespace tst_cuda_overlap

QTEST_GUILESS_MAIN(tst_cuda_overlap::TestCudaOverlap)
#include "tst_cuda_overlap.moc"
