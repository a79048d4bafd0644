// Batches that travel while a step runs, and lanes that stand in one GPU's queue or work on
// several: executors and trainers on the fake machine, whose second stream works as late or as
// early as it may, and experiments on the module that is made of it.
#include "engine/settings/run_task.h"
#include "tests/support/batches.h"
#include "tests/support/cuda_lane.h"

#include <QTemporaryDir>
#include <QTest>

#include <dlfcn.h>
#include <thread>

namespace tst_cuda_batches {

using namespace halfscope;
using test::Adder;
using test::batchOf;
using test::fakeCuda;
using test::manyBatches;
using test::sameBits;
using test::trained;

namespace {

std::vector<float> valuesAt(Executor& executor, NodeId id, int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    executor.download(id, std::as_writable_bytes(std::span(values)));
    return values;
}

int calls(const char* function) { return fakeCuda().calls[function]; }

/// The machine in the module that experiments load.
test::FakeCuda& machineOfTheModule() {
    static test::FakeCuda* const machine = [] {
        void* module =
            dlopen(HALFSCOPE_FAKE_MODULES "/libhalfscope_fake_gpu.so", RTLD_NOW | RTLD_LOCAL);
        auto* find = reinterpret_cast<test::FakeCuda* (*)()>(dlsym(module, "halfscopeFakeMachine"));
        return find();
    }();
    return *machine;
}

} // namespace

class TestCudaBatches : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        qputenv("HALFSCOPE_CUDA_MODULE", HALFSCOPE_FAKE_MODULES "/libhalfscope_fake_gpu.so");
        qputenv("XDG_CACHE_HOME", m_cache.path().toUtf8());
        machineOfTheModule().gpus.resize(2); // before the engine looks
    }
    void init() { test::resetFakeCuda(); }
    void cleanup() { test::checkFakeCuda(); }

    void countsFromTheTaking_data() {
        QTest::addColumn<int>("count");
        QTest::addColumn<bool>("eager");
        for (const int count : {1, 33, 257})
            for (const bool eager : {false, true})
                QTest::addRow("%d values, %s", count, eager ? "early" : "late") << count << eager;
    }
    void countsFromTheTaking() {
        QFETCH(int, count);
        QFETCH(bool, eager);
        fakeCuda().eager = eager;
        const Adder adder(count);
        cuda::Platform platform(fakeCuda().api());
        const auto executor = test::fakeExecutor(platform);
        executor->load(adder.program);
        std::vector<float> wanted(static_cast<size_t>(count));
        const std::vector<float> first = batchOf(1, count), unused = batchOf(20, count);
        executor->upload(adder.x, std::as_bytes(std::span(first)));
        for (int64_t step = 1; step <= 12; ++step) {
            executor->run(RunMode::Captured);
            const std::vector<float> present = batchOf(step, count),
                                     next = batchOf(step + 1, count);
            for (size_t i = 0; i < wanted.size(); ++i)
                wanted[i] += present[i];
            // of two stagings the last one counts; an upload is of the present values
            if (step % 3 == 0) executor->stage(adder.x, std::as_bytes(std::span(unused)));
            executor->stage(adder.x, std::as_bytes(std::span(next)));
            if (step % 4 == 0) executor->upload(adder.x, std::as_bytes(std::span(present)));
            if (step % 5 == 0) QCOMPARE(valuesAt(*executor, adder.x, count), present);
            executor->takeStaged();
        }
        executor->run(RunMode::Captured);
        const std::vector<float> last = batchOf(13, count);
        for (size_t i = 0; i < wanted.size(); ++i)
            wanted[i] += last[i];
        QCOMPARE(valuesAt(*executor, adder.total, count), wanted);
        executor->stage(adder.x, std::as_bytes(std::span(unused))); // and is never taken
    }

    void noWaiting() {
        const Adder adder(64);
        cuda::Platform platform(fakeCuda().api());
        const auto executor = test::fakeExecutor(platform);
        executor->load(adder.program);
        const size_t before = executor->workspaceBytes();
        const std::vector<float> batch = batchOf(1, 64);
        for (int step = 0; step < 3; ++step) {
            executor->run(RunMode::Captured);
            executor->stage(adder.x, std::as_bytes(std::span(batch)));
            executor->takeStaged();
        }
        QCOMPARE(executor->workspaceBytes(), before + 64 * sizeof(float));
        fakeCuda().calls.clear();
        executor->run(RunMode::Captured);
        executor->stage(adder.x, std::as_bytes(std::span(batch)));
        executor->takeStaged();
        for (const char* waits : {"cuStreamSynchronize", "cuEventSynchronize", "cuStreamQuery",
                                  "cuMemAlloc", "cuMemHostAlloc"})
            QCOMPARE(calls(waits), 0);
        QCOMPARE(calls("cuStreamWaitEvent"), 2);
    }

    /// What was taken does not come back over what has been uploaded since.
    void isTakenOnce() {
        const Adder adder(8);
        cuda::Platform platform(fakeCuda().api());
        const auto executor = test::fakeExecutor(platform);
        executor->load(adder.program);
        const std::vector<float> staged = batchOf(1, 8), uploaded = batchOf(2, 8);
        executor->stage(adder.x, std::as_bytes(std::span(staged)));
        executor->takeStaged();
        QCOMPARE(valuesAt(*executor, adder.x, 8), staged);
        executor->upload(adder.x, std::as_bytes(std::span(uploaded)));
        executor->takeStaged(); // there is nothing
        QCOMPARE(valuesAt(*executor, adder.x, 8), uploaded);
    }

    /// A program that is loaded has nothing staged, whatever the one before had.
    void forgetsWithTheProgram() {
        const Adder adder(8);
        cuda::Platform platform(fakeCuda().api());
        const auto executor = test::fakeExecutor(platform);
        executor->load(adder.program);
        const std::vector<float> batch = batchOf(3, 8);
        executor->stage(adder.x, std::as_bytes(std::span(batch)));
        executor->load(adder.program);
        executor->takeStaged();
        executor->run(RunMode::Captured);
        QCOMPARE(valuesAt(*executor, adder.total, 8), std::vector<float>(8, 0.0F));
    }

    /// Each step sees its own batch, also where the cause of an overflow was looked for, a picture
    /// made and the gradients of the next step counted in between.
    void trainsAsTheCpu_data() {
        QTest::addColumn<bool>("eager");
        QTest::newRow("late") << false;
        QTest::newRow("early") << true;
    }
    void trainsAsTheCpu() {
        QFETCH(bool, eager);
        fakeCuda().eager = eager;
        const RunConfig config = manyBatches({Precision::AmpFp16}, "cpu");
        const auto data = makeTask(config);
        cuda::Platform platform(fakeCuda().api());
        Trainer onGpu(config, 0, "lane", *data, test::fakeExecutor(platform));
        Trainer onCpu(config, 0, "lane", *data, makeCpuExecutor(1));
        std::vector<Event> events, truth;
        int skipped = 0;
        for (int64_t step = 1; step <= 24; ++step) {
            const StepRecord a = onGpu.step(step, events).value();
            const StepRecord b = onCpu.step(step, truth).value();
            QCOMPARE(a.scale, b.scale);
            QCOMPARE(a.flags, b.flags);
            // another batch's loss differs by a tenth and more
            QVERIFY2(std::abs(a.loss - b.loss) <= 1e-2f * std::abs(b.loss),
                     qPrintable(QString("step %1: %2 %3").arg(step).arg(a.loss).arg(b.loss)));
            skipped += (a.flags & kSkipped) != 0;
            if (step % 7 == 0) QVERIFY(onGpu.gradientRange().has_value());
            if (step % 5 == 0) QCOMPARE(onGpu.prediction().size(), size_t{16});
        }
        QVERIFY(skipped > 0);
        QVERIFY(calls("cuStreamWaitEvent") > 0);
    }

    /// A step that cannot be shown costs a run the names of what overflowed, and nothing else: it
    /// went on looking for them without end.
    void overflowsUnseen_data() {
        QTest::addColumn<bool>("compiles");
        QTest::newRow("for lack of memory") << true;
        QTest::newRow("because it does not compile") << false;
    }
    void overflowsUnseen() {
        QFETCH(bool, compiles);
        const RunConfig config = manyBatches({Precision::AmpFp16}, "cpu");
        const auto data = makeTask(config);
        cuda::Platform platform(fakeCuda().api());
        Trainer onGpu(config, 0, "lane", *data, test::fakeExecutor(platform));
        Trainer onCpu(config, 0, "lane", *data, makeCpuExecutor(1));
        if (compiles)
            fakeCuda().gpus[0].bytes = fakeCuda().used + 1000;
        else
            fakeCuda().compile = [](std::string&) { return NVRTC_ERROR_COMPILATION; };
        std::vector<Event> events, truth;
        int skipped = 0;
        for (int64_t step = 1; step <= 8; ++step) {
            const std::optional<StepRecord> record = onGpu.step(step, events);
            QVERIFY2(record.has_value(), qPrintable(QString::number(step)));
            const StepRecord wanted = onCpu.step(step, truth).value();
            QCOMPARE(record->scale, wanted.scale);
            QCOMPARE(record->flags, wanted.flags);
            skipped += (record->flags & kSkipped) != 0;
        }
        QVERIFY(skipped > 0);
        QCOMPARE(events.size(), truth.size());
        for (const Event& event : events)
            QCOMPARE(event.tensor, std::string());
        QVERIFY(!onGpu.whyNoGradients().empty());
    }

    /// Nor are states moved for gradients that cannot be counted; why not is told once.
    void gradientsUnseen() {
        test::FakeCuda& machine = machineOfTheModule();
        const auto usual = qScopeGuard([&] { machine.gpus[0].bytes = test::FakeGpu{}.bytes; });
        Experiment experiment(manyBatches({Precision::Fp32, Precision::AmpFp16}, "cuda"));
        machine.gpus[0].bytes = machine.used + 1000;
        std::vector<StepRecord> records;
        std::vector<Event> events;
        while (!experiment.finished()) {
            const int moved = machine.calls["cuMemcpyDtoHAsync"];
            QVERIFY(experiment.gradientRanges().empty());
            const std::string why = experiment.whyNoGradients().english();
            QVERIFY2(why.starts_with("cuda:0"), why.c_str());
            QCOMPARE(machine.calls["cuMemcpyDtoHAsync"], moved);
            QVERIFY(experiment.advance(records, events));
        }
        std::erase_if(events, [](const Event& event) { return event.tensor != "gradients"; });
        QCOMPARE(events.size(), size_t{1});
        const std::string told = events.front().text.english();
        QVERIFY2(told.starts_with("From step 1: gradients are not counted, because cuda:0"),
                 told.c_str());
        machine.gpus[0].bytes = test::FakeGpu{}.bytes;
        experiment.setLive(-1, "optimizer.beta1", 0.5, events); // loads the steps again
        QVERIFY(!experiment.gradientRanges().empty());
        QVERIFY(experiment.whyNoGradients().empty());
    }

    void trainsWithoutRoomToStage_data() {
        QTest::addColumn<std::string>("function");
        QTest::addColumn<int>("call");
        QTest::newRow("for x") << std::string("cuMemAlloc") << 1;
        QTest::newRow("for the target") << std::string("cuMemAlloc") << 2;
        QTest::newRow("for transfers") << std::string("cuMemHostAlloc") << 1;
    }
    /// Each step sees its own batch, which is uploaded when the step needs it.
    void trainsWithoutRoomToStage() {
        QFETCH(std::string, function);
        QFETCH(int, call);
        const RunConfig config = manyBatches({Precision::Fp32}, "cpu");
        const auto data = makeTask(config);
        cuda::Platform platform(fakeCuda().api());
        Trainer roomy(config, 0, "lane", *data, test::fakeExecutor(platform));
        const std::vector<StepRecord> wanted = trained(roomy, config.steps);
        QVERIFY(calls("cuStreamWaitEvent") > 0);
        Trainer narrow(config, 0, "lane", *data, test::fakeExecutor(platform));
        const size_t used = fakeCuda().used;
        const int refused = calls(function.c_str()) + call;
        fakeCuda().fault = {function, refused, CUDA_ERROR_OUT_OF_MEMORY, true};
        QVERIFY(sameBits(trained(narrow, config.steps), wanted));
        QCOMPARE(calls(function.c_str()), refused); // it was tried once
        QCOMPARE(fakeCuda().used, used);            // and nothing is kept for the next batch
    }

    /// Half a batch is none.
    void forgetsWhatHasNoRoom() {
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", {8}, DType::F32), y = b.input("y", {8}, DType::F32);
        graph.addOutput("sum", b.add(x, y));
        cuda::Platform platform(fakeCuda().api());
        const auto executor = test::fakeExecutor(platform);
        executor->load(std::make_shared<const Program>(compile(graph)));
        const std::vector<float> present = batchOf(1, 8), next = batchOf(2, 8);
        executor->upload(x, std::as_bytes(std::span(present)));
        QVERIFY(executor->stage(x, std::as_bytes(std::span(next))));
        fakeCuda().fault = {"cuMemAlloc", calls("cuMemAlloc") + 1, CUDA_ERROR_OUT_OF_MEMORY};
        QVERIFY(!executor->stage(y, std::as_bytes(std::span(next))));
        executor->takeStaged();
        QCOMPARE(valuesAt(*executor, x, 8), present);
    }

    /// Two halves of a step, other lanes' in between: the same bits as one after the other.
    void lanesInLine() {
        const RunConfig config = manyBatches({Precision::Fp32, Precision::AmpFp16}, "cuda");
        machineOfTheModule().mostQueued = 0;
        Experiment together(config), apart(config);
        std::vector<StepRecord> records;
        std::vector<Event> events;
        while (!together.finished())
            QVERIFY(together.advance(records, events));
        QCOMPARE(machineOfTheModule().mostQueued,
                 2); // the second lane's while the first one's runs
        machineOfTheModule().mostQueued = 0;
        for (int lane = 0; lane < 2; ++lane) {
            std::vector<StepRecord> own;
            for (const StepRecord& record : records)
                if (record.lane == lane) own.push_back(record);
            QVERIFY(sameBits(own, trained(apart.lane(lane), config.steps)));
        }
        QCOMPARE(machineOfTheModule().mostQueued, 1);
    }

    void lanesOnSeveralDevices() {
        const RunConfig config =
            manyBatches({Precision::Fp32, Precision::AmpFp16, Precision::AmpBf16}, "cuda:0,cuda:1");
        machineOfTheModule().mostQueued = 0;
        Experiment experiment(config);
        std::vector<StepRecord> records;
        std::vector<Event> events;
        while (!experiment.finished())
            QVERIFY(experiment.advance(records, events));
        QCOMPARE(machineOfTheModule().mostQueued, 3);
        for (size_t i = 0; i < records.size(); ++i)
            QCOMPARE(records[i].lane, static_cast<int>(i % 3));
        QCOMPARE(machineOfTheModule().complaint, std::string());
    }

    /// Long steps do not pile up: who stops waits for what is enqueued.
    void longStepsStandAlone() {
        const RunConfig config = manyBatches({Precision::Fp32, Precision::AmpFp16}, "cuda");
        machineOfTheModule().launchMilliseconds = 15; // some launches a step
        const auto usual = qScopeGuard([] { machineOfTheModule().launchMilliseconds = 0.01; });
        Experiment experiment(config);
        std::vector<StepRecord> records;
        std::vector<Event> events;
        QVERIFY(experiment.advance(records, events));
        QVERIFY(experiment.lane(0).lastDeviceSeconds() > 0.025);
        machineOfTheModule().mostQueued = 0;
        QVERIFY(experiment.advance(records, events));
        QCOMPARE(machineOfTheModule().mostQueued, 1);
    }

    /// As on the CPU (tst_experiment): stops at any moment leave the bits as they are.
    void stopAndGoOnGivesTheSameBits() {
        RunConfig config = manyBatches({Precision::Fp32, Precision::AmpFp16}, "cuda");
        config.steps = 60;
        Experiment calm(config), disturbed(config);
        std::atomic<bool> done{false}, asked{false};
        std::thread disturber([&] {
            for (int i = 0; !done; ++i) {
                std::this_thread::sleep_for(std::chrono::microseconds(300 + 97 * (i % 11)));
                disturbed.requestStop();
                asked = true;
            }
        });
        while (!asked) // it is stopped once in any case
            std::this_thread::yield();
        std::vector<StepRecord> records, wanted;
        std::vector<Event> events;
        int stops = 0;
        while (!disturbed.finished()) {
            if (disturbed.advance(records, events)) continue;
            if (++stops > 200) done = true;
            disturbed.clearStop();
        }
        done = true;
        disturber.join();
        while (!calm.finished())
            QVERIFY(calm.advance(wanted, events));
        QVERIFY(stops > 0);
        QVERIFY(sameBits(records, wanted));
    }

private:
    QTemporaryDir m_cache; ///< of what the module measures and compiles
};

} // namespace tst_cuda_batches

QTEST_GUILESS_MAIN(tst_cuda_batches::TestCudaBatches)
#include "tst_cuda_batches.moc"
