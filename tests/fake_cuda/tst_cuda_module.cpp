// The CUDA module without a GPU: every refusal in words, the failure of every single call, lost
// devices, what a device lacks, on a fake machine (support/cuda_fake.h).
#include "engine/core/error.h"
#include "engine/step/step_graph.h"
#include "engine/train/step_runner.h"
#include "tests/support/cuda_lane.h"
#include "tests/support/thrown.h"

#include <QTest>

#include <set>

namespace tst_cuda_module {

using namespace halfscope;
using namespace halfscope::cuda;
using test::fakeCuda;

namespace {

/// A call for every kind of work: opening, loading, transfers, a captured, a stepwise and a visited
/// step, metrics and times.
void wholeLife(Platform& platform, const std::shared_ptr<const Program>& program,
               const SourceOptions& options = {}) {
    const auto executor = test::fakeExecutor(platform, options);
    executor->load(program);
    const Graph& graph = program->graph;
    for (const InputInfo& input : graph.inputs()) {
        const std::vector<std::byte> bytes(graph[input.node].bytes());
        executor->upload(input.node, bytes);
    }
    executor->run(RunMode::Captured);
    (void)executor->lastStepSeconds();
    executor->run(RunMode::Stepwise);
    (void)executor->launchTimes();
    const auto ignore = [](NodeId, std::span<const std::byte>) {};
    if (executor->run(RunMode::Stepwise, ignore) == RunResult::CannotShow)
        throw EngineError(executor->whyNotShown()); // a training goes on, and tells it
    for (const OutputInfo& output : graph.outputs()) {
        std::vector<std::byte> bytes(graph[output.node].bytes());
        executor->download(output.node, bytes);
    }
}

/// Calls whose result nobody can do anything about, or that only a text needs.
bool isTolerated(const std::string& function, int later) {
    // `later` calls come after it: these are the destructors of an executor and of its device
    if (function == "cuCtxSetCurrent" && later < 2) return true;
    if (function == "cuStreamSynchronize" && later == 0) return true;
    return function.find("Version") != std::string::npos ||
           function.find("Destroy") != std::string::npos || function == "cuMemFree" ||
           function == "cuMemFreeHost" || function == "cuModuleUnload" ||
           function == "cuDevicePrimaryCtxRelease";
}
/// A result that means failure, and no lost device.
int failureOf(const std::string& function) {
    if (function.starts_with("nvrtc")) return NVRTC_ERROR_INTERNAL_ERROR;
    if (function.starts_with("cublas")) return CUBLAS_STATUS_INTERNAL_ERROR;
    if (function.starts_with("cudnn")) return 5000; // CUDNN_STATUS_EXECUTION_FAILED
    return CUDA_ERROR_INVALID_VALUE;
}

} // namespace

class TestCudaModule : public QObject {
    Q_OBJECT

private slots:
    void init() { test::resetFakeCuda(); }
    void cleanup() { test::checkFakeCuda(); }
    void refusal_data();
    void refusal();
    void missingDriver();
    void missingCompiler();
    void driverTooOld();
    void devicesThatCanBeUsed();
    void busy_data();
    void busy();
    void everyCallMayFail_data();
    void everyCallMayFail();
    void failureDuringCapture();
    void outOfMemory();
    void lostDevice_data();
    void lostDevice();
    void whatTheDeviceLacks_data();
    void whatTheDeviceLacks();

private:
    void failsAt(const std::shared_ptr<const Program>&, const test::FakeFault&, int count);
};

void TestCudaModule::refusal_data() {
    QTest::addColumn<std::string>("function");
    QTest::addColumn<int>("result");
    QTest::addColumn<std::string>("reason");
    const auto row = [](const char* name, const char* function, int result, const char* reason) {
        QTest::newRow(name) << std::string(function) << result << std::string(reason);
    };
    row("no GPU", "cuInit", CUDA_ERROR_NO_DEVICE, "there is no NVIDIA GPU that the driver can use");
    row("updated driver", "cuInit", CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
        "the NVIDIA driver was updated: its library does not fit the running kernel module "
        "(restart the machine)");
    row("service", "cuInit", CUDA_ERROR_SYSTEM_NOT_READY,
        "the NVIDIA driver is not ready: a service that it needs is not running");
    row("stub", "cuInit", CUDA_ERROR_STUB_LIBRARY,
        "there is no NVIDIA driver: libcuda.so.1 is the toolkit's stub for linking");
    row("stub of CUDA 13", "cuDriverGetVersion", CUDA_ERROR_STUB_LIBRARY,
        "there is no NVIDIA driver: libcuda.so.1 is the toolkit's stub for linking");
    row("anything else", "cuInit", CUDA_ERROR_NOT_INITIALIZED,
        "the NVIDIA driver does not start: a fake error (CUDA_ERROR_NOT_INITIALIZED)");
    row("no count", "cuDeviceGetCount", CUDA_ERROR_NO_DEVICE,
        "there is no NVIDIA GPU that the driver can use");
    row("silent device", "cuDeviceGetAttribute", CUDA_ERROR_INVALID_VALUE,
        "cuda:0: a fake error (CUDA_ERROR_INVALID_VALUE)");
}

void TestCudaModule::refusal() {
    QFETCH(std::string, function);
    QFETCH(int, result);
    QFETCH(std::string, reason);
    fakeCuda().fault = {function, 1, result, true};
    const Platform platform(fakeCuda().api());
    QCOMPARE(platform.devices(), 0);
    QCOMPARE(platform.reason().english(), reason);
}

void TestCudaModule::missingDriver() {
    fakeCuda().missing = {"driver", "compiler"};
    const Platform platform(fakeCuda().api());
    QCOMPARE(platform.devices(), 0);
    QCOMPARE(platform.reason().english(), std::string("there is no NVIDIA driver"));
}

void TestCudaModule::missingCompiler() {
    fakeCuda().missing = {"compiler"};
    const Platform platform(fakeCuda().api());
    QCOMPARE(platform.devices(), 0);
    QCOMPARE(platform.reason().english(), std::string("NVRTC is missing"));
}

void TestCudaModule::driverTooOld() {
    fakeCuda().driverVersion = 11080;
    QCOMPARE(Platform(fakeCuda().api()).reason().english(),
             std::string("the NVIDIA driver is too old: it supports CUDA 11.8, at least CUDA 12.0 "
                         "is needed"));
    QCOMPARE(fakeCuda().calls["cuInit"], 0);
    for (const int version : {12000, 12080, 13000, 14000}) { // whatever the headers are
        fakeCuda().driverVersion = version;
        QCOMPARE(Platform(fakeCuda().api()).devices(), 1);
    }
}

void TestCudaModule::devicesThatCanBeUsed() {
    fakeCuda().gpus = {{"Old", 7, 0}, {"New", 9, 0}, {"Middle", 7, 5}};
    const Platform platform(fakeCuda().api());
    QCOMPARE(platform.devices(), 2);
    QCOMPARE(platform.info(0).name, std::string("New"));
    QCOMPARE(platform.info(1).name, std::string("Middle"));
    QCOMPARE(platform.info(1).memoryBytes, size_t{1} << 30);
    QVERIFY(platform.info(0).libraries.ends_with(
        test::kHasDnn ? "cuBLASLt 13.1, cuDNN 9.19"
                      : "cuBLASLt 13.1, own convolutions (cuDNN is missing)"));
    fakeCuda().gpus.resize(1);
    QCOMPARE(Platform(fakeCuda().api()).reason().english(),
             std::string("the GPU is too old: Old has compute capability 7.0, at least 7.5 is "
                         "needed"));
    fakeCuda().gpus.clear();
    QCOMPARE(Platform(fakeCuda().api()).reason().english(),
             std::string("there is no NVIDIA GPU that the driver can use"));
}

void TestCudaModule::busy_data() {
    QTest::addColumn<int>("result");
    QTest::addColumn<std::string>("reason");
    QTest::newRow("exclusive") << int(CUDA_ERROR_DEVICE_UNAVAILABLE)
                               << std::string("another program uses it alone (compute mode "
                                              "exclusive)");
    QTest::newRow("full") << int(CUDA_ERROR_OUT_OF_MEMORY)
                          << std::string("other programs left no memory to begin with");
}

void TestCudaModule::busy() {
    QFETCH(int, result);
    QFETCH(std::string, reason);
    Platform platform(fakeCuda().api());
    fakeCuda().fault = {"cuDevicePrimaryCtxRetain", 1, result};
    QCOMPARE(thrownBy<EngineError>([&] { platform.open(0); }),
             "cuda:0 (Fake GPU) is busy: " + reason);
    QVERIFY(platform.open(0) != nullptr); // it is free again
}

void TestCudaModule::everyCallMayFail_data() {
    QTest::addColumn<std::string>("function");
    {
        Platform platform(fakeCuda().api());
        wholeLife(platform, test::smallStep());
    }
    for (const auto& [function, count] : fakeCuda().calls)
        QTest::newRow(function.c_str()) << function;
    QVERIFY(fakeCuda().calls.size() > 40);
}

// The first, the second, a middle and the last call of each function: one sentence, nothing left
// behind, and the next attempt works.
/// Each call fails once, and from there on; where nobody looks for faults, some of them.
void TestCudaModule::everyCallMayFail() {
    QFETCH(std::string, function);
    const auto program = test::smallStep();
    {
        Platform counting(fakeCuda().api());
        wholeLife(counting, program);
    }
    const int count = fakeCuda().calls[function];
    QVERIFY(count > 0);
    std::set<int> calls{1, 2, count / 2, count};
    const bool all = qEnvironmentVariableIsSet("HALFSCOPE_TORTURE");
    for (int call = 1; all && call <= count; ++call)
        calls.insert(call);
    for (const int call : calls)
        for (const bool stays : {false, true})
            if (call >= 1 && call <= count) failsAt(program, {function, call, 0, stays}, count);
}

void TestCudaModule::failsAt(const std::shared_ptr<const Program>& program,
                             const test::FakeFault& at, int count) {
    test::resetFakeCuda();
    fakeCuda().fault = at;
    fakeCuda().fault.result = failureOf(at.function);
    std::string words;
    {
        Platform platform(fakeCuda().api());
        words = platform.reason().english();
        if (words.empty()) {
            words = thrownBy<EngineError>([&] { wholeLife(platform, program); });
            fakeCuda().fault = {};
            wholeLife(platform, program);
        }
    }
    const bool failed = words != "nothing thrown";
    const std::string where =
        "call " + std::to_string(at.call) + " of " + std::to_string(count) + ": " + words;
    if (!isTolerated(at.function, count - at.call))
        QVERIFY2(failed && words.size() > 10 && words.find('\n') == std::string::npos,
                 where.c_str());
    else if (at.function != "cuDriverGetVersion" && at.function != "nvrtcVersion")
        QVERIFY2(!failed, where.c_str());
    QCOMPARE(fakeCuda().live, 0);
    QCOMPARE(fakeCuda().complaint, std::string());
}

// Every launch of a load: half of them warm up, half are captured.
void TestCudaModule::failureDuringCapture() {
    const auto program = test::smallStep();
    {
        Platform platform(fakeCuda().api());
        test::fakeExecutor(platform)->load(program);
    }
    const int launches = fakeCuda().calls["cuLaunchKernel"];
    QVERIFY(launches >= 4 && launches % 2 == 0);
    for (int call = 1; call <= launches; ++call) {
        test::resetFakeCuda();
        fakeCuda().fault = {"cuLaunchKernel", call, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES};
        {
            Platform platform(fakeCuda().api());
            const auto executor = test::fakeExecutor(platform);
            QVERIFY(thrownBy<EngineError>([&] { executor->load(program); }) != "nothing thrown");
            QCOMPARE(fakeCuda().calls["cuStreamEndCapture"], call > launches / 2 ? 1 : 0);
            executor->load(program);
            executor->run(RunMode::Captured);
        }
        QCOMPARE(fakeCuda().live, 0);
    }
}

void TestCudaModule::outOfMemory() {
    const auto program = test::smallStep();
    fakeCuda().gpus[0].bytes = 900;
    Platform platform(fakeCuda().api());
    const std::string words =
        thrownBy<EngineError>([&] { test::fakeExecutor(platform)->load(program); });
    QVERIFY2(words.starts_with("cuda:0 (Fake GPU), arena: ") &&
                 words.find(" KiB needed, 644 B free (out of memory") != std::string::npos,
             words.c_str());
    fakeCuda().gpus[0].bytes = size_t{1} << 30;
    test::fakeExecutor(platform)->load(program); // the device is as good as before
}

void TestCudaModule::lostDevice_data() {
    QTest::addColumn<std::string>("function");
    QTest::newRow("at a launch") << std::string("cuGraphLaunch");
    QTest::newRow("at a transfer") << std::string("cuMemcpyDtoHAsync");
    QTest::newRow("while metrics are awaited") << std::string();
}

void TestCudaModule::lostDevice() {
    QFETCH(std::string, function);
    const auto program = test::smallStep();
    const NodeId metrics = program->graph.output("metrics"), loss = program->graph.output("loss");
    Platform platform(fakeCuda().api());
    const auto executor = test::fakeExecutor(platform);
    executor->load(program);
    if (function.empty())
        fakeCuda().graphLaunchesUntilLost = 1;
    else
        fakeCuda().fault = {function, fakeCuda().calls[function] + 1, CUDA_ERROR_ILLEGAL_ADDRESS};
    std::vector<std::byte> row(program->graph[metrics].bytes());
    std::vector<std::byte> bytes(program->graph[loss].bytes());
    const std::string words = thrownBy<EngineError>([&] {
        executor->run(RunMode::Captured);
        executor->download(metrics, row);
        executor->download(loss, bytes);
    });
    QVERIFY2(words.starts_with("cuda:0 (Fake GPU) failed: "), words.c_str());
    QVERIFY2(words.find("an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)") !=
                 std::string::npos,
             words.c_str());
    QVERIFY2(words.ends_with("It is given up until the program starts again. A new run on the "
                             "device auto or cpu goes on with the CPU."),
             words.c_str());
    // From now on the same words, whatever is asked, also for a new lane.
    QCOMPARE(thrownBy<EngineError>([&] { executor->run(RunMode::Captured); }), words);
    QCOMPARE(thrownBy<EngineError>([&] { executor->load(program); }), words);
    QCOMPARE(thrownBy<EngineError>([&] { platform.open(0); }), words);
}

void TestCudaModule::whatTheDeviceLacks_data() {
    QTest::addColumn<int>("precision");
    QTest::addColumn<std::string>("reason");
    const std::string end = " needs compute capability 8.0 or later; cuda:0 (Turing) has 7.5. "
                            "float16 and float32 work on it.";
    QTest::newRow("bf16") << int(Precision::AmpBf16) << "lanes[].precision: bfloat16" + end;
    QTest::newRow("TF32") << int(Precision::Tf32) << "lanes[].precision: TF32" + end;
    QTest::newRow("fp16") << int(Precision::AmpFp16) << std::string("nothing thrown");
}

void TestCudaModule::whatTheDeviceLacks() {
    QFETCH(int, precision);
    QFETCH(std::string, reason);
    fakeCuda().gpus = {{"Turing", 7, 5}};
    Platform platform(fakeCuda().api());
    const RunConfig config = test::smallRun(static_cast<Precision>(precision));
    const auto program = std::make_shared<const Program>(
        compile(buildStep(config, config.lanes[0], test::kSmallBatch)));
    QCOMPARE(thrownBy<EngineError>([&] { test::fakeExecutor(platform)->load(program); }), reason);
    fakeCuda().gpus = {{"Ampere", 8, 0}};
    Platform newer(fakeCuda().api());
    test::fakeExecutor(newer)->load(program);
}

} // namespace tst_cuda_module

QTEST_GUILESS_MAIN(tst_cuda_module::TestCudaModule)
#include "tst_cuda_module.moc"
