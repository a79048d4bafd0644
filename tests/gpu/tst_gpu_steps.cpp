// Whole training steps on the GPU: captured and stepwise, twice, in turns, fused and unfused give
// what they must. What a step computes is checked against PyTorch by `verify` and op by op in
// tst_gpu_ops.
#include "engine/core/error.h"
#include "tests/support/batches.h"
#include "tests/support/gpu_steps.h"
#include "tests/support/thrown.h"

#include <chrono>
#include <cmath>

namespace tst_gpu_steps {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Small, with sizes off every tile, and each kind of step.
std::vector<StepCase> smallCases() {
    StepCase layerNorm = checkerboardCase(9, 33);
    layerNorm.name = "layer norm";
    layerNorm.config.model.norm = Norm::LayerNorm;
    layerNorm.config.model.activation = Activation::Gelu;
    StepCase clipped = checkerboardCase(16, 24);
    clipped.name = "clip, momentum";
    clipped.config.optimizer.kind = OptimizerKind::Sgd;
    clipped.config.gradients.clip = ClipKind::Norm2;
    return {checkerboardCase(24, 16), checkerboardCase(31, 65), layerNorm, clipped,
            regressionCase(),         classifierCase(33, 31, 7)};
}

std::unique_ptr<StepRunner> runnerOf(const StepCase& c, const char* lane,
                                     FuseOptions fuse = FuseOptions::Full) {
    return makeRunner(c, parseLanes(lane).front(), gpuExecutor(), CompileOptions{.fuse = fuse});
}

void stepwise(StepRunner& runner, int steps) {
    for (int i = 0; i < steps; ++i)
        QCOMPARE(runner.executor().run(RunMode::Stepwise), RunResult::Done);
}

} // namespace

class TestGpuSteps : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { SKIP_WITHOUT_GPU(); }

    /// For compute-sanitizer: one step in each precision, small enough to be watched. Its loss is
    /// the CPU's but for sums of up to 16 terms through five layers.
    void smallStep() {
        telling([&] {
            const StepCase c = checkerboardCase(8, 16);
            for (const char* lane : kLanes) {
                const auto runner = runnerOf(c, lane);
                runner->run(1);
                const auto cpu = makeRunner(c, parseLanes(lane).front(), makeCpuExecutor(1));
                cpu->run(1);
                const double loss = runner->metrics()[kLossMetric],
                             want = cpu->metrics()[kLossMetric];
                const double bound =
                    std::ldexp(std::string(lane) == "fp32" ? 128 : 0x1p16 * 16, -24) * want;
                QVERIFY2(std::abs(loss - want) <= bound,
                         told("%s: loss %.9g, the CPU's %.9g, bound %.3g", lane, loss, want, bound)
                             .c_str());
            }
        });
    }

    void capturedIsStepwise_data() { rows(); }
    void capturedIsStepwise() {
        telling([&] {
            const auto [c, lane] = row();
            const auto captured = runnerOf(c, lane), single = runnerOf(c, lane);
            captured->run(5);
            stepwise(*single, 5);
            QCOMPARE(firstDifference(storedStates(*captured), storedStates(*single)),
                     std::string());
            captured->run(2); // and from one to the other in the middle of a training
            stepwise(*captured, 1);
            stepwise(*single, 1);
            single->run(2);
            QCOMPARE(firstDifference(storedStates(*captured), storedStates(*single)),
                     std::string());
        });
    }

    void sameBitsTwice_data() { rows(); }
    void sameBitsTwice() {
        telling([&] {
            const auto [c, lane] = row();
            const auto first = runnerOf(c, lane), second = runnerOf(c, lane);
            first->run(20);
            second->run(20);
            QCOMPARE(firstDifference(storedStates(*first), storedStates(*second)), std::string());
        });
    }

    /// Batches that travel while steps run: each step sees its own, whole.
    void batchesBesideSteps() {
        telling([&] {
            constexpr int64_t kCount = 300'007;
            const Adder adder(kCount);
            const auto executor = gpuExecutor();
            executor->load(adder.program);
            std::vector<float> wanted(kCount), total(kCount);
            for (int64_t step = 1; step <= 20; ++step) {
                const std::vector<float> batch = batchOf(step, kCount);
                const auto bytes = std::as_bytes(std::span(batch));
                if (!executor->worksAhead() || !executor->stage(adder.x, bytes))
                    executor->upload(adder.x, bytes);
                executor->takeStaged();
                QCOMPARE(executor->run(RunMode::Captured), RunResult::Done);
                for (size_t i = 0; i < wanted.size(); ++i)
                    wanted[i] += batch[i];
            }
            executor->download(adder.total, std::as_writable_bytes(std::span(total)));
            for (size_t i = 0; i < wanted.size(); ++i)
                QVERIFY2(total[i] == wanted[i],
                         told("element %zu is %.9g instead of %.9g", i,
                              static_cast<double>(total[i]), static_cast<double>(wanted[i]))
                             .c_str());
        });
    }

    /// Lanes that stand in the device's queue together have the bits of lanes one after the other.
    void lanesInLine() {
        telling([&] {
            const RunConfig config =
                manyBatches({Precision::Fp32, Precision::AmpFp16}, gpuDevice());
            Experiment together(config), apart(config);
            std::vector<StepRecord> records;
            std::vector<Event> events;
            while (!together.finished())
                QVERIFY(together.advance(records, events));
            for (int lane = 0; lane < together.lanes(); ++lane) {
                std::vector<StepRecord> own;
                for (const StepRecord& record : records)
                    if (record.lane == lane) own.push_back(record);
                QVERIFY(sameBits(own, trained(apart.lane(lane), config.steps)));
            }
        });
    }

    void lanesInTurns() {
        telling([&] {
            const StepCase c = checkerboardCase(24, 16);
            const auto aloneA = runnerOf(c, "fp32"), aloneB = runnerOf(c, "amp-fp16");
            aloneA->run(6);
            aloneB->run(6);
            const auto a = runnerOf(c, "fp32"), b = runnerOf(c, "amp-fp16");
            for (int i = 0; i < 6; ++i) {
                a->run(1);
                b->run(1);
            }
            QCOMPARE(firstDifference(storedStates(*aloneA), storedStates(*a)), std::string());
            QCOMPARE(firstDifference(storedStates(*aloneB), storedStates(*b)), std::string());
        });
    }

    /// One step from the same start. A fused sum may run in another order than an unfused one, so
    /// losses differ by roundings of f32 and, with half or TF32 products, by those that they tip.
    void fusedIsUnfused_data() { rows(); }
    void fusedIsUnfused() {
        telling([&] {
            const auto [c, lane] = row();
            compareFirstSteps(*runnerOf(c, lane), *runnerOf(c, lane, FuseOptions::None), lane);
        });
    }

    /// The device's own ways of doing a step: launches merged and not, with and without libraries.
    void waysOfLaunching_data() { lanes(); }
    void waysOfLaunching() {
        telling([&] {
            if (gpuDevice() != "cuda") QSKIP("only CUDA has launches");
            QFETCH(int, lane);
            const StepCase c = checkerboardCase(64, 64);
            const auto usual = cudaRunner(c, lane, {});
            const auto oneByOne = cudaRunner(c, lane, {.merge = cuda::Merge::OneByOne});
            usual->run(3);
            oneByOne->run(3);
            QCOMPARE(firstDifference(storedStates(*usual), storedStates(*oneByOne)), std::string());
            compareFirstSteps(*cudaRunner(c, lane, {}),
                              *cudaRunner(c, lane, {.libraries = cuda::Libraries::Unused}),
                              kLanes[lane]);
        });
    }

    /// A forced overflow: the step is skipped, the scale halves, nothing but the scaler moves.
    void overflowIsSkipped() {
        telling([&] {
            StepCase c = regressionCase();
            LaneConfig lane = parseLanes("amp-fp16").front();
            lane.scaler.initScale = std::ldexp(1.0, 30);
            const auto runner = makeRunner(c, lane, gpuExecutor());
            const BytesByName before = storedStates(*runner);
            runner->run(1);
            const MetricsRow row = runner->metrics();
            QCOMPARE(row[kFoundInfMetric], 1.0);
            QCOMPARE(row[kNextScaleMetric], std::ldexp(1.0, 29));
            const BytesByName after = storedStates(*runner);
            for (const StateInfo& state : runner->graph().states())
                if (state.role == StateRole::Parameter || state.role == StateRole::Moment)
                    QVERIFY2(before.at(state.name) == after.at(state.name), state.name.c_str());
        });
    }

    void tooLargeIsToldAndSurvived() {
        telling([&] {
            StepCase c = checkerboardCase(2048, 500);
            c.config.model.depth = 24; // 196 GiB in the most frugal way
            const std::string words = thrownBy<EngineError>([&] { runnerOf(c, "fp32"); });
            QVERIFY2(words.find("GiB") != std::string::npos, words.c_str());
            const auto runner = runnerOf(checkerboardCase(8, 16), "fp32");
            runner->run(1);
            QVERIFY(std::isfinite(runner->metrics()[kLossMetric]));
        });
    }

    void deviceTimeIsMeasured() {
        telling([&] {
            using Clock = std::chrono::steady_clock;
            const auto runner = runnerOf(checkerboardCase(64, 64), "fp32");
            const auto start = Clock::now();
            runner->run(1);
            // waits for the event behind the step, which the device reaches after the row is there
            const double device = runner->executor().lastStepSeconds();
            const double wall = std::chrono::duration<double>(Clock::now() - start).count();
            QVERIFY2(device > 0 && device <= wall,
                     told("device %.9g s, wall %.9g s", device, wall).c_str());
        });
    }

private:
    static void lanes() {
        QTest::addColumn<int>("lane");
        for (int lane = 0; lane < static_cast<int>(std::size(kLanes)); ++lane)
            QTest::newRow(kLanes[lane]) << lane;
    }
    void rows() {
        QTest::addColumn<int>("index");
        QTest::addColumn<int>("lane");
        const auto cases = smallCases();
        for (size_t i = 0; i < cases.size(); ++i)
            for (int lane = 0; lane < static_cast<int>(std::size(kLanes)); ++lane)
                QTest::addRow("%s %s", cases[i].name.c_str(), kLanes[lane])
                    << static_cast<int>(i) << lane;
    }
    std::pair<StepCase, const char*> row() {
        QFETCH(int, index);
        QFETCH(int, lane);
        return {smallCases()[static_cast<size_t>(index)], kLanes[lane]};
    }
};

} // namespace tst_gpu_steps

QTEST_GUILESS_MAIN(tst_gpu_steps::TestGpuSteps)
#include "tst_gpu_steps.moc"
