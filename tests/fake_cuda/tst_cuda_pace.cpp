// How far CudaExecutor runs ahead and what that leaves to a stop: few steps in flight, long steps
// in pieces, times and memory of what really ran, threads that take over. On the fake machine.
#include "engine/cuda/codegen/prelude.h"
#include "engine/cuda/metrics_ring.h"
#include "engine/ops/builder.h"
#include "tests/emulator/nvrtc.h"
#include "tests/support/cuda_lane.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <thread>

namespace tst_cuda_pace {

using namespace halfscope;
using namespace halfscope::cuda;
using test::fakeCuda;

namespace {

/// A program that doubles a state.
std::shared_ptr<const Program> counter() {
    Graph graph;
    Builder b(graph);
    const NodeId state = b.state("kept", {2}, DType::F32, StateRole::Parameter);
    graph.setNext(state, b.scale(state, 2));
    return std::make_shared<const Program>(compile(graph));
}

/// A launch a kernel: many of them.
SourceOptions oneByOne() {
    SourceOptions options;
    options.merge = Merge::OneByOne;
    return options;
}

int calls(const char* function) { return fakeCuda().calls[function]; }

} // namespace

class TestCudaPace : public QObject {
    Q_OBJECT

private slots:
    void init() { test::resetFakeCuda(); }
    void cleanup() { test::checkFakeCuda(); }
    void timesOfTheDevice();
    void timesAfterAStop();
    void stops();
    void fewStepsAhead_data();
    void fewStepsAhead();
    void loadingIsNoStepsTime();
    void longStepsStopInBetween();
    void stoppedStepsAreWholeOrUndone();
    void rowsAreThereBeforeTheirNumber();
    void stepNumbersWrap();
    void anyThread();
    void memoryOfWhatRuns();
};

void TestCudaPace::timesOfTheDevice() {
    const test::Loaded lane(Precision::Fp32);
    Platform platform(fakeCuda().api());
    const auto executor = test::fakeExecutor(platform);
    QCOMPARE(executor->lastStepSeconds(), 0.0);
    lane.start(*executor);
    QCOMPARE(executor->lastStepSeconds(), 0.0);
    executor->run(RunMode::Stepwise);
    const double step = executor->lastStepSeconds();
    const std::vector<LaunchTime> times = executor->launchTimes();
    QVERIFY(!times.empty());
    double sum = 0;
    for (const LaunchTime& time : times) {
        QVERIFY(!time.what.empty());
        // each launch is one kernel, and takes 10 µs of the fake's clock
        QVERIFY(std::abs(time.seconds - 1e-5) < 1e-9);
        sum += time.seconds;
    }
    QVERIFY(std::abs(step - (sum + 1e-5)) < 1e-9); // and the one that gives out the metrics
    executor->run(RunMode::Captured);
    QVERIFY(executor->launchTimes().empty());
    QVERIFY(std::abs(executor->lastStepSeconds() - step) < 1e-9);
}

void TestCudaPace::timesAfterAStop() {
    const test::Loaded lane(Precision::Fp32);
    Platform platform(fakeCuda().api());
    const auto executor = test::fakeExecutor(platform, oneByOne());
    lane.start(*executor);
    executor->run(RunMode::Stepwise);
    const double step = executor->lastStepSeconds();
    fakeCuda().watch = [&](const std::string& function) {
        if (function == "cuLaunchKernel") executor->requestStop();
    };
    QCOMPARE(executor->run(RunMode::Stepwise), RunResult::Stopped);
    fakeCuda().watch = {};
    QCOMPARE(executor->lastStepSeconds(), step); // of the last one that was finished
    QVERIFY(executor->launchTimes().empty());
}

void TestCudaPace::stops() {
    const test::Loaded lane(Precision::AmpFp16);
    Platform platform(fakeCuda().api());
    const auto executor = test::fakeExecutor(platform);
    lane.start(*executor);
    const auto before = test::valuesOf(*executor, lane.graph());
    executor->requestStop();
    QCOMPARE(executor->run(RunMode::Captured), RunResult::Stopped);
    executor->requestStop();
    QCOMPARE(executor->run(RunMode::Stepwise), RunResult::Stopped);
    int visited = 0;
    QCOMPARE(executor->run(RunMode::Stepwise,
                           [&](NodeId, std::span<const std::byte>) {
                               if (++visited == 3) executor->requestStop();
                           }),
             RunResult::Stopped);
    QVERIFY(test::valuesOf(*executor, lane.graph()) == before);
    QCOMPARE(executor->run(RunMode::Captured), RunResult::Done);
    QVERIFY(test::valuesOf(*executor, lane.graph()) != before);
}

void TestCudaPace::fewStepsAhead_data() {
    QTest::addColumn<double>("stepMilliseconds");
    QTest::addColumn<int>("ahead");
    QTest::newRow("short") << 0.1 << 8;
    QTest::newRow("10 ms") << 10.0 << 5; // 50 ms of work
    QTest::newRow("40 ms") << 40.0 << 2; // one runs, one waits
}

// Nobody reads anything: a stop, or the end of the lane, must not wait for hundreds of steps.
void TestCudaPace::fewStepsAhead() {
    QFETCH(double, stepMilliseconds);
    QFETCH(int, ahead);
    const auto program = counter();
    Platform platform(fakeCuda().api());
    const auto executor = test::fakeExecutor(platform);
    executor->load(program);
    executor->run(RunMode::Captured);
    const double launches = executor->lastStepSeconds() * 1e3 / fakeCuda().launchMilliseconds;
    fakeCuda().launchMilliseconds = stepMilliseconds / std::round(launches) * 0.99;
    executor->load(program);
    fakeCuda().calls.clear();
    constexpr int kSteps = 30;
    for (int i = 0; i < kSteps; ++i)
        QCOMPARE(executor->run(RunMode::Captured), RunResult::Done);
    QCOMPARE(calls("cuGraphLaunch"), kSteps);
    QCOMPARE(calls("cuEventSynchronize"), kSteps - ahead); // each for the oldest step
}

// The first run of a step includes what its kernels load: that makes no short step a long one.
void TestCudaPace::loadingIsNoStepsTime() {
    Platform platform(fakeCuda().api());
    const auto executor = test::fakeExecutor(platform);
    fakeCuda().launchMilliseconds = 60;
    fakeCuda().watch = [](const std::string& function) {
        if (function == "cuEventElapsedTime") fakeCuda().launchMilliseconds = 0.01;
    };
    executor->load(counter());
    fakeCuda().watch = {};
    fakeCuda().calls.clear();
    QCOMPARE(executor->run(RunMode::Captured), RunResult::Done);
    QCOMPARE(calls("cuGraphLaunch"), 1); // a long one goes launch by launch
}

// A step that takes seconds: what is enqueued when the stop comes is two launches, not the rest.
void TestCudaPace::longStepsStopInBetween() {
    const test::Loaded lane(Precision::AmpFp16);
    Platform platform(fakeCuda().api());
    const auto shortSteps = test::fakeExecutor(platform, oneByOne());
    lane.start(*shortSteps);
    shortSteps->run(RunMode::Captured);
    const auto truth = test::valuesOf(*shortSteps, lane.graph());

    fakeCuda().launchMilliseconds = 30;
    const auto executor = test::fakeExecutor(platform, oneByOne());
    lane.start(*executor);
    const auto before = test::valuesOf(*executor, lane.graph());
    int launches = 0;
    fakeCuda().calls.clear();
    fakeCuda().watch = [&](const std::string& function) {
        if (function == "cuLaunchKernel" && ++launches == 5) executor->requestStop();
    };
    QCOMPARE(executor->run(RunMode::Captured), RunResult::Stopped);
    fakeCuda().watch = {};
    QCOMPARE(launches, 5);
    // When the stop came, the one before was the last that nobody had waited for.
    QCOMPARE(calls("cuEventSynchronize"), 4);
    QVERIFY(test::valuesOf(*executor, lane.graph()) == before);
    QCOMPARE(executor->run(RunMode::Captured), RunResult::Done);
    QVERIFY(test::valuesOf(*executor, lane.graph()) == truth);
    QCOMPARE(calls("cuGraphLaunch"), 0);
    QVERIFY(executor->launchTimes().empty());
}

// Whatever launch the stop comes with: no state has changed, or all have.
void TestCudaPace::stoppedStepsAreWholeOrUndone() {
    const test::Loaded lane(test::smallRun(Precision::AmpFp16), test::kSmallBatch);
    Platform platform(fakeCuda().api());
    const auto statesOf = [&](Executor& executor) {
        auto values = test::valuesOf(executor, lane.graph());
        values.resize(lane.graph().states().size());
        return values;
    };
    const auto executor = test::fakeExecutor(platform, oneByOne());
    lane.start(*executor);
    const auto before = statesOf(*executor);
    QCOMPARE(executor->run(RunMode::Stepwise), RunResult::Done);
    const auto after = statesOf(*executor);
    QVERIFY(before != after);
    const auto launches = static_cast<int>(executor->launchTimes().size());
    int undone = 0;
    for (int last = 1; last <= launches; ++last) {
        for (size_t i = 0; i < before.size(); ++i)
            executor->upload(lane.graph().states()[i].node, before[i]);
        int launched = 0;
        fakeCuda().watch = [&](const std::string& function) {
            if (function == "cuLaunchKernel" && ++launched == last) executor->requestStop();
        };
        const RunResult result = executor->run(RunMode::Stepwise);
        fakeCuda().watch = {};
        QVERIFY2(statesOf(*executor) == (result == RunResult::Done ? after : before),
                 std::to_string(last).c_str());
        if (result == RunResult::Done) {
            QCOMPARE(executor->run(RunMode::Stepwise), RunResult::Stopped); // is answered now
        } else {
            QCOMPARE(++undone, last); // from some launch on, none is undone
            QCOMPARE(launched, last);
        }
    }
    QVERIFY(undone > 0 && undone < launches - 1);
}

// What the host sees of the metrics: all threads' words, then, behind a fence for the whole system,
// the number that says so. Of the instructions, since no machine that runs them here has a host
// that looks on.
void TestCudaPace::rowsAreThereBeforeTheirNumber() {
    const test::Nvrtc nvrtc;
    if (!nvrtc.unavailable().empty()) QSKIP(nvrtc.unavailable().c_str());
    const std::string ptx = nvrtc.ptx(prelude() + publishText(256, 80), 90);
    const size_t entry = ptx.find(kPublishEntry), words = ptx.rfind("st.global.u64"),
                 barrier = ptx.find("bar.sync", entry), number = ptx.find("st.volatile", entry);
    const size_t fence = std::min(ptx.find("membar.sys", entry), ptx.find(".sys;", entry));
    QVERIFY2(words != std::string::npos && words < barrier && barrier < fence && fence < number &&
                 number != std::string::npos,
             ptx.substr(entry).c_str());
}

// After 2^32 steps numbers begin anew: the row of a step before is there when a small number is.
void TestCudaPace::stepNumbersWrap() {
    Platform platform(fakeCuda().api());
    const MetricsRing ring(*platform.open(0), sizeof(double));
    auto* const words = reinterpret_cast<double*>(ring.ring()); // which the fake has on the host
    std::fill_n(words, 40, 42.0);                               // all slots
    const uint32_t reached = 1;
    std::memcpy(words, &reached, sizeof reached);
    double row = 0;
    ring.read(0xFFFFFFFEu, std::as_writable_bytes(std::span(&row, 1)));
    QCOMPARE(row, 42.0);
}

// Built by one thread, run by another, given up by a third.
void TestCudaPace::anyThread() {
    const test::Loaded lane(Precision::Fp32);
    Platform platform(fakeCuda().api());
    std::unique_ptr<Executor> executor;
    std::vector<std::vector<std::byte>> values, truth;
    const auto inThread = [](const std::function<void()>& work) { std::thread(work).join(); };
    inThread([&] {
        executor = test::fakeExecutor(platform);
        lane.start(*executor);
    });
    inThread([&] { executor->run(RunMode::Captured); });
    inThread([&] { values = test::valuesOf(*executor, lane.graph()); });
    inThread([&] { executor.reset(); });
    executor = test::fakeExecutor(platform);
    lane.start(*executor);
    executor->run(RunMode::Captured);
    QVERIFY(values == test::valuesOf(*executor, lane.graph()));
}

// What is reported is the program as it is launched, not the one that was given.
void TestCudaPace::memoryOfWhatRuns() {
    const test::Loaded lane(Precision::AmpFp16);
    Platform platform(fakeCuda().api());
    const auto executor = test::fakeExecutor(platform);
    QVERIFY(executor->memory() == nullptr);
    const size_t before = fakeCuda().used;
    lane.start(*executor);
    const Program launched =
        writeStep(*lane.program, platform.open(0)->traits(), SourceOptions{}).program;
    QVERIFY(launched.memory.arenaBytes != lane.program->memory.arenaBytes);
    QCOMPARE(executor->memory()->arenaBytes, launched.memory.arenaBytes);
    QCOMPARE(executor->memory()->peakBytes, launched.memory.peakBytes);
    MemoryUse use = memoryUse(*executor, *lane.program);
    QCOMPARE(use.bytes, launched.memory.arenaBytes + executor->workspaceBytes());
    QCOMPARE(std::accumulate(use.peakByCause.begin(), use.peakByCause.end(), size_t{0}),
             use.peakBytes);
    // Allocations are of 256 bytes at least: arena, scratch memory, counters, and the metrics'
    // counter, which the report leaves out.
    QVERIFY(use.bytes <= fakeCuda().used - before);
    QVERIFY(use.bytes + 4 * 256 >= fakeCuda().used - before);
    executor->run(RunMode::Stepwise, [](NodeId, std::span<const std::byte>) {});
    use = memoryUse(*executor, *lane.program); // a second arena
    QVERIFY(use.bytes <= fakeCuda().used - before);
    QVERIFY(use.bytes + 7 * 256 >= fakeCuda().used - before);
}

} // namespace tst_cuda_pace

QTEST_GUILESS_MAIN(tst_cuda_pace::TestCudaPace)
#include "tst_cuda_pace.moc"
