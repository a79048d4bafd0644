// CudaExecutor as a whole without a GPU: trainings on the fake machine beside the CPU's, captured,
// stepwise and visited, transfers, and no waiting inside a step. Times and stops: tst_cuda_pace.
#include "engine/core/error.h"
#include "engine/ops/builder.h"
#include "engine/step/step_graph.h"
#include "engine/train/step_runner.h"
#include "tests/support/cuda_lane.h"
#include "tests/support/thrown.h"

#include <QTest>

#include <cmath>
#include <cstring>

namespace tst_cuda_executor {

using namespace halfscope;
using namespace halfscope::cuda;
using test::fakeCuda;

namespace {

constexpr BatchShape kBatch{16, 5, 1};

/// A training on the fake machine.
struct FakeLane {
    Platform platform{fakeCuda().api()};
    test::FixedDataset data = test::randomRegression(kBatch, 2, 3);
    Trainer trainer;
    std::vector<Event> events;

    explicit FakeLane(const RunConfig& config)
        : trainer(config, 0, "lane", data, test::fakeExecutor(platform)) {}
    StepRecord step(int64_t number) { return trainer.step(number, events).value(); }
};

int calls(const char* function) { return fakeCuda().calls[function]; }

} // namespace

class TestCudaExecutor : public QObject {
    Q_OBJECT

private slots:
    void init() { test::resetFakeCuda(); }
    void cleanup() { test::checkFakeCuda(); }
    void trainsAsTheCpu_data();
    void trainsAsTheCpu();
    void sameBitsEveryWay_data();
    void sameBitsEveryWay();
    void visitorSeesEveryStoredValue();
    void visitorWithoutMemory();
    void visitorOfAStepThatFails();
    void visitorOfALostDevice();
    void noWaitingInsideAStep();
    void metricsWithoutSynchronisation();
    void transfersLargerThanTheBuffer();
    void uploadKeepsItsOwnCopy();
    void loadsAgain();
    void lanesShareOneDevice();
    void muchSharedMemory();
    void stateMovesBetweenDevices();
    void wrongUse();
};

void TestCudaExecutor::trainsAsTheCpu_data() {
    QTest::addColumn<int>("precision");
    QTest::newRow("fp32") << int(Precision::Fp32);
    QTest::newRow("amp-fp16") << int(Precision::AmpFp16);
    QTest::newRow("amp-bf16") << int(Precision::AmpBf16);
}

// The first loss is one forward of the same weights: sums of at most 16 terms in f32, each rounded,
// a few ulp of the dtype apart. Later losses differ by what those grow to; a wrong step (weights
// not committed, a stale batch) is off by far more.
void TestCudaExecutor::trainsAsTheCpu() {
    QFETCH(int, precision);
    const RunConfig config = test::smallRun(static_cast<Precision>(precision));
    const test::FixedDataset data = test::randomRegression(kBatch, 2, 3);
    Trainer cpu(config, 0, "cpu", data, makeCpuExecutor(1));
    FakeLane lane(config);
    std::vector<Event> events;
    const DType low = config.lanes[0].precision == Precision::AmpFp16   ? DType::F16
                      : config.lanes[0].precision == Precision::AmpBf16 ? DType::BF16
                                                                        : DType::F32;
    const double bound = 16 * formatOf(low).unitRoundoff();
    float first = 0, last = 0;
    for (int64_t step = 1; step <= 6; ++step) {
        const StepRecord wanted = cpu.step(step, events).value();
        const StepRecord got = lane.step(step);
        QCOMPARE(got.flags, wanted.flags);
        QCOMPARE(got.scale, wanted.scale);
        QCOMPARE(got.learningRate, wanted.learningRate);
        QVERIFY2(std::abs(got.loss - wanted.loss) <= bound * std::abs(wanted.loss),
                 qPrintable(QString("step %1: %2, not %3")
                                .arg(step)
                                .arg(double(got.loss), 0, 'g', 9)
                                .arg(double(wanted.loss), 0, 'g', 9)));
        QVERIFY(got.deviceSeconds > 0);
        if (step == 1) first = got.loss;
        last = got.loss;
    }
    QVERIFY(last != first);
}

void TestCudaExecutor::sameBitsEveryWay_data() {
    QTest::addColumn<int>("order");
    QTest::newRow("blocks ascending") << 0;
    QTest::newRow("blocks descending") << 1;
    QTest::newRow("blocks shuffled") << 7;
}

void TestCudaExecutor::sameBitsEveryWay() {
    QFETCH(int, order);
    fakeCuda().order = order;
    const test::Loaded lane(Precision::AmpFp16);
    const auto valuesAfter = [&](const std::vector<RunMode>& modes) {
        Platform platform(fakeCuda().api());
        const auto executor = test::fakeExecutor(platform);
        lane.start(*executor);
        for (const RunMode mode : modes)
            require(executor->run(mode) == RunResult::Done, "nobody stops it");
        return test::valuesOf(*executor, lane.graph());
    };
    using enum RunMode;
    static std::vector<std::vector<std::byte>> truth; // of the first row, for all
    const auto captured = valuesAfter({Captured, Captured, Captured});
    if (truth.empty()) truth = captured;
    QVERIFY(captured == truth);
    QVERIFY(valuesAfter({Stepwise, Stepwise, Stepwise}) == truth);
    QVERIFY(valuesAfter({Stepwise, Captured, Stepwise}) == truth);
    QVERIFY(valuesAfter({Captured, Captured}) != truth);
}

void TestCudaExecutor::visitorSeesEveryStoredValue() {
    const test::Loaded lane(Precision::AmpFp16);
    Platform platform(fakeCuda().api());
    const auto executor = test::fakeExecutor(platform);
    lane.start(*executor);
    const auto cpu = makeCpuExecutor(1);
    lane.start(*cpu);
    std::vector<NodeId> wanted;
    std::map<NodeId, std::vector<std::byte>> seen;
    require(cpu->run(RunMode::Stepwise,
                     [&](NodeId id, std::span<const std::byte>) { wanted.push_back(id); }) ==
                RunResult::Done,
            "nobody stops it");
    require(executor->run(RunMode::Stepwise,
                          [&](NodeId id, std::span<const std::byte> bytes) {
                              seen[id].assign(bytes.begin(), bytes.end());
                          }) == RunResult::Done,
            "nobody stops it");
    for (const NodeId id : wanted)
        QVERIFY2(seen.contains(id), std::to_string(id).c_str());
    // What it has seen is what counts: the outputs, and the states after the step.
    for (const OutputInfo& output : lane.graph().outputs()) {
        std::vector<std::byte> bytes(lane.graph()[output.node].bytes());
        executor->download(output.node, bytes);
        QVERIFY2(!seen.contains(output.node) || seen[output.node] == bytes, output.name.c_str());
    }
    int changed = 0;
    for (const StateInfo& state : lane.graph().states()) {
        if (state.next == kNoNode || !seen.contains(state.next)) continue;
        std::vector<std::byte> bytes(lane.graph()[state.node].bytes());
        executor->download(state.node, bytes);
        QVERIFY2(seen[state.next] == bytes, state.name.c_str());
        ++changed;
    }
    QVERIFY(changed > 0);
    // It is the step that is captured otherwise: of these states, on these inputs.
    const auto captured = test::fakeExecutor(platform);
    lane.start(*captured);
    captured->run(RunMode::Captured);
    QVERIFY(test::valuesOf(*executor, lane.graph()) == test::valuesOf(*captured, lane.graph()));
}

void TestCudaExecutor::visitorWithoutMemory() {
    const test::Loaded lane(Precision::AmpFp16);
    Platform platform(fakeCuda().api());
    const auto executor = test::fakeExecutor(platform);
    lane.start(*executor);
    const auto before = test::valuesOf(*executor, lane.graph());
    fakeCuda().gpus[0].bytes = fakeCuda().used + 1000; // room for counters, none for a second arena
    const Visitor never = [](NodeId, std::span<const std::byte>) { QFAIL("a value was shown"); };
    QCOMPARE(executor->run(RunMode::Stepwise, never), RunResult::CannotShow);
    QVERIFY(test::valuesOf(*executor, lane.graph()) == before);
    QCOMPARE(executor->run(RunMode::Captured), RunResult::Done);
    fakeCuda().gpus[0].bytes = test::FakeGpu{}.bytes;
    QCOMPARE(executor->run(RunMode::Stepwise, never), RunResult::CannotShow); // not tried again
    lane.start(*executor);
    int shown = 0;
    const Visitor counts = [&](NodeId, std::span<const std::byte>) { ++shown; };
    QCOMPARE(executor->run(RunMode::Stepwise, counts), RunResult::Done);
    QVERIFY(shown > 0);
}

/// Showing values is not worth a run: the step that is shown does not compile, others do.
void TestCudaExecutor::visitorOfAStepThatFails() {
    const test::Loaded lane(Precision::AmpFp16);
    Platform platform(fakeCuda().api());
    const auto executor = test::fakeExecutor(platform);
    lane.start(*executor);
    const auto before = test::valuesOf(*executor, lane.graph());
    fakeCuda().compile = [](std::string&) { return NVRTC_ERROR_COMPILATION; };
    const Visitor never = [](NodeId, std::span<const std::byte>) { QFAIL("a value was shown"); };
    QCOMPARE(executor->run(RunMode::Stepwise, never), RunResult::CannotShow);
    QVERIFY(test::valuesOf(*executor, lane.graph()) == before);
    QCOMPARE(executor->run(RunMode::Captured), RunResult::Done);
    const int asked = fakeCuda().compiled;
    QVERIFY(!executor->whyNotShown().empty());
    QCOMPARE(executor->run(RunMode::Stepwise, never), RunResult::CannotShow);
    QCOMPARE(fakeCuda().compiled, asked); // not tried again
    fakeCuda().compile = {};
    lane.start(*executor);
    executor->requestStop();
    const int loaded = fakeCuda().compiled;
    QVERIFY(executor->whyNotShown().empty());
    QCOMPARE(fakeCuda().compiled, loaded); // a stop does not wait for the compiler
    QCOMPARE(executor->run(RunMode::Stepwise, never), RunResult::Stopped);
    QVERIFY(executor->whyNotShown().empty());
    int shown = 0;
    const Visitor counts = [&](NodeId, std::span<const std::byte>) { ++shown; };
    QCOMPARE(executor->run(RunMode::Stepwise, counts), RunResult::Done);
    QVERIFY(shown > 0);
}

void TestCudaExecutor::visitorOfALostDevice() {
    const test::Loaded lane(Precision::AmpFp16);
    Platform platform(fakeCuda().api());
    const auto executor = test::fakeExecutor(platform);
    lane.start(*executor);
    fakeCuda().fault = {"cuModuleLoadData", calls("cuModuleLoadData") + 1,
                        CUDA_ERROR_ILLEGAL_ADDRESS};
    const std::string words = thrownBy<EngineError>(
        [&] { executor->run(RunMode::Stepwise, [](NodeId, std::span<const std::byte>) {}); });
    QVERIFY2(words.starts_with("cuda:0 (Fake GPU) failed: "), words.c_str());
}

void TestCudaExecutor::noWaitingInsideAStep() {
    const test::Loaded lane(Precision::AmpFp16);
    Platform platform(fakeCuda().api());
    const auto executor = test::fakeExecutor(platform);
    lane.start(*executor);
    fakeCuda().calls.clear();
    for (int i = 0; i < 5; ++i)
        executor->run(RunMode::Captured);
    QCOMPARE(calls("cuGraphLaunch"), 5);
    for (const char* waits : {"cuStreamSynchronize", "cuEventSynchronize", "cuStreamQuery",
                              "cuMemAlloc", "cuMemcpyDtoHAsync", "cuLaunchKernel"})
        QCOMPARE(calls(waits), 0);
}

void TestCudaExecutor::metricsWithoutSynchronisation() {
    const test::Loaded lane(Precision::AmpFp16);
    const NodeId metrics = lane.graph().output("metrics");
    MetricsRow row{}, truth{};
    const size_t size = lane.graph()[metrics].bytes();
    const auto bytes = std::as_writable_bytes(std::span(row)).first(size);
    const auto cpu = makeCpuExecutor(1);
    lane.start(*cpu);
    Platform platform(fakeCuda().api());
    const auto executor = test::fakeExecutor(platform);
    lane.start(*executor);
    for (int step = 0; step < 9; ++step) { // more than the ring has slots
        for (int ahead = 0; ahead <= step % 3; ++ahead) {
            cpu->run(RunMode::Captured);
            executor->run(step % 2 == 0 ? RunMode::Captured : RunMode::Stepwise);
        }
        fakeCuda().calls.clear();
        executor->download(metrics, bytes);
        QCOMPARE(calls("cuStreamSynchronize"), 0);
        QCOMPARE(calls("cuMemcpyDtoHAsync"), 0);
        cpu->download(metrics, std::as_writable_bytes(std::span(truth)).first(size));
        QCOMPARE(row[kScaleMetric], truth[kScaleMetric]);
        QCOMPARE(row[metricOf(kTrackerSlot)], truth[metricOf(kTrackerSlot)]);
        QVERIFY(std::abs(row[kLossMetric] - truth[kLossMetric]) <= 0.02 * truth[kLossMetric]);
    }
    // The row lies on the device as well.
    executor->load(lane.program);
    executor->download(metrics, bytes);
    QCOMPARE(row[kScaleMetric], 0.0);
}

/// A program that doubles a state of as many floats and adds up what that was.
std::shared_ptr<const Program> keeperOf(int64_t count) {
    Graph graph;
    Builder b(graph);
    const NodeId state = b.state("kept", {count}, DType::F32, StateRole::Parameter);
    const NodeId next = b.scale(state, 2);
    graph.setNext(state, next);
    const NodeId total = b.state("total", {count}, DType::F32, StateRole::Parameter);
    graph.setNext(total, b.add(total, state)); // of all that was uploaded, step by step
    return std::make_shared<const Program>(compile(graph));
}

void TestCudaExecutor::transfersLargerThanTheBuffer() {
    Platform platform(fakeCuda().api());
    const auto executor = test::fakeExecutor(platform);
    for (const int64_t count : {int64_t{1}, int64_t{31}, int64_t{(5 << 20) + 3}}) {
        const auto program = keeperOf(count);
        const NodeId state = program->graph.state("kept");
        executor->load(program);
        std::vector<float> values(static_cast<size_t>(count)), back(values.size());
        executor->download(state, std::as_writable_bytes(std::span(back)));
        QVERIFY(back == values); // zero after load
        Philox(1, 1).fillNormal(values);
        executor->upload(state, std::as_bytes(std::span(values)));
        executor->download(state, std::as_writable_bytes(std::span(back)));
        QVERIFY(back == values);
        if (count > 31) continue; // emulated threads are slow
        executor->run(RunMode::Captured);
        executor->download(state, std::as_writable_bytes(std::span(back)));
        for (size_t i = 0; i < values.size(); ++i)
            QCOMPARE(back[i], 2 * values[i]);
    }
}

void TestCudaExecutor::uploadKeepsItsOwnCopy() {
    Platform platform(fakeCuda().api());
    const auto executor = test::fakeExecutor(platform);
    const auto program = keeperOf(1 << 18);
    const NodeId state = program->graph.state("kept");
    executor->load(program);
    std::vector<float> values(1 << 18), back(values.size());
    const int synchronisations = calls("cuStreamSynchronize");
    // Ten times the buffer's quarter, so that both halves are used again while work is waiting.
    for (int round = 1; round <= 10; ++round) {
        std::fill(values.begin(), values.end(), static_cast<float>(round));
        executor->upload(state, std::as_bytes(std::span(values)));
        executor->run(RunMode::Captured);
    }
    QCOMPARE(calls("cuStreamSynchronize"), synchronisations);
    std::fill(values.begin(), values.end(), -1.0f);
    executor->download(state, std::as_writable_bytes(std::span(back)));
    QCOMPARE(back.front(), 20.0f);
    QCOMPARE(back.back(), 20.0f);
    executor->download(program->graph.state("total"), std::as_writable_bytes(std::span(back)));
    QCOMPARE(back.front(), 55.0f);
    QCOMPARE(back.back(), 55.0f);
}

void TestCudaExecutor::loadsAgain() {
    const test::Loaded small(Precision::Fp32), other(Precision::AmpFp16);
    Platform platform(fakeCuda().api());
    const auto executor = test::fakeExecutor(platform);
    small.start(*executor);
    executor->run(RunMode::Captured);
    const auto truth = test::valuesOf(*executor, small.graph());
    other.start(*executor);
    executor->run(RunMode::Captured);
    const size_t used = fakeCuda().used;
    small.start(*executor);
    executor->run(RunMode::Captured);
    QVERIFY(test::valuesOf(*executor, small.graph()) == truth);
    other.start(*executor);
    QCOMPARE(fakeCuda().used, used);
    QVERIFY(executor->workspaceBytes() > 0);
}

void TestCudaExecutor::lanesShareOneDevice() {
    const test::Loaded a(Precision::Fp32), b(Precision::AmpFp16);
    Platform platform(fakeCuda().api());
    const auto alone = [&](const test::Loaded& lane) {
        const auto executor = test::fakeExecutor(platform);
        lane.start(*executor);
        for (int i = 0; i < 3; ++i)
            executor->run(RunMode::Captured);
        return test::valuesOf(*executor, lane.graph());
    };
    const auto wantedA = alone(a), wantedB = alone(b);
    const auto first = test::fakeExecutor(platform), second = test::fakeExecutor(platform);
    QCOMPARE(calls("cuDevicePrimaryCtxRetain"), 1); // once for all, and it stays
    a.start(*first);
    b.start(*second);
    for (int i = 0; i < 3; ++i) {
        first->run(RunMode::Captured);
        second->run(RunMode::Captured);
    }
    // Steps take turns on one stream, so each has its own time only.
    const double ofFirst = first->lastStepSeconds(), ofSecond = second->lastStepSeconds();
    QVERIFY(test::valuesOf(*first, a.graph()) == wantedA);
    QVERIFY(test::valuesOf(*second, b.graph()) == wantedB);
    first->run(RunMode::Captured);
    QVERIFY(std::abs(first->lastStepSeconds() - ofFirst) < 1e-9);
    second->run(RunMode::Captured);
    QVERIFY(std::abs(second->lastStepSeconds() - ofSecond) < 1e-9);
}

// More than 48 KiB a block must be asked for, kernel by kernel.
void TestCudaExecutor::muchSharedMemory() {
    RunConfig config = test::smallRun(Precision::AmpFp16);
    config.model.width = 96;
    const auto program =
        std::make_shared<const Program>(compile(buildStep(config, config.lanes[0], {512, 5, 1})));
    SourceOptions options;
    options.chainElements = 1;
    options.searchSeconds = 0;
    Platform platform(fakeCuda().api());
    const StepSource source = writeStep(*program, platform.open(0)->traits(), options);
    QVERIFY(std::any_of(source.launches.begin(), source.launches.end(),
                        [](const Launch& launch) { return launch.sharedBytes > (48 << 10); }));
    const auto executor = test::fakeExecutor(platform, options);
    executor->load(program);
    QCOMPARE(executor->run(RunMode::Captured), RunResult::Done);
}

/// From the CPU to the device and back, while the device has a batch staged for another step.
void TestCudaExecutor::stateMovesBetweenDevices() {
    const RunConfig config = test::smallRun(Precision::AmpFp16);
    test::Lane cpu(config, test::randomRegression(kBatch, 2, 3));
    for (int64_t step = 1; step <= 5; ++step)
        cpu.step(step);
    FakeLane device(config), twin(config);
    device.step(1);
    device.trainer.restore(cpu.trainer.state());
    twin.trainer.restore(cpu.trainer.state());
    QVERIFY(device.trainer.state() == cpu.trainer.state());
    for (int64_t step = 6; step <= 8; ++step)
        QCOMPARE(device.step(step).loss, twin.step(step).loss);
    const LaneState state = device.trainer.state();
    QVERIFY(state == twin.trainer.state());
    const StepRecord once = device.step(9);
    device.trainer.restore(state);
    QCOMPARE(device.step(9).loss, once.loss);
    cpu.trainer.restore(state);
    QVERIFY(cpu.trainer.state() == state);
    QVERIFY(std::abs(cpu.step(9).loss / once.loss - 1) < 0.01f);
}

void TestCudaExecutor::wrongUse() {
    Platform platform(fakeCuda().api());
    const auto executor = test::fakeExecutor(platform);
    std::array<std::byte, 3> bytes{};
    QVERIFY(thrownBy<std::logic_error>([&] {
                executor->run(RunMode::Captured, {});
            }).ends_with("run without a program"));
    QVERIFY(thrownBy<std::logic_error>([&] {
                executor->upload(0, bytes);
            }).ends_with("no program is loaded"));
    executor->load(keeperOf(2));
    QVERIFY(thrownBy<std::logic_error>([&] {
                executor->download(0, bytes);
            }).ends_with("wrong number of bytes"));
}

} // namespace tst_cuda_executor

QTEST_GUILESS_MAIN(tst_cuda_executor::TestCudaExecutor)
#include "tst_cuda_executor.moc"
