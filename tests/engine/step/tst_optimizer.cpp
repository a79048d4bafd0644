// Optimizers and schedules compared with the values recorded from PyTorch, and the select of a
// skipped step.
#include "engine/core/error.h"
#include "engine/io/input_file.h"
#include "engine/step/optimizer.h"
#include "engine/step/schedule.h"
#include "engine/step/schedule_nodes.h"
#include "engine/train/step_runner.h"
#include "engine/verify/float64_optimizer.h"
#include "engine/verify/golden_optim.h"
#include "tests/support/training.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>

namespace tst_optimizer {

using namespace halfscope;
using halfscope::test::differentBits;
using recorded::Golden;
using recorded::Momentum;
using recorded::Skipping;

namespace {

struct OneThread {
    std::unique_ptr<Executor> executor = makeCpuExecutor(1);
};
class OptimizerRun : OneThread, public recorded::OptimizerRun {
public:
    OptimizerRun(const OptimizerConfig& config, DType storage, const std::vector<float>& start,
                 Momentum momentum = Momentum::Own)
        : recorded::OptimizerRun(*executor, config, storage, start, Skipping::Selects, momentum) {}
};

const Golden& golden() {
    static const Golden file = test::goldenOf("optim");
    return file;
}

/// Parameters that are stored in 16 bits.
const Golden& halves() {
    static const Golden file = [] {
        const std::string path = HALFSCOPE_SOURCE_DIR "/tests/golden/half_optimizers.json";
        return Golden::parse(path, readFile(path));
    }();
    return file;
}

/// Adds the rows of a part of the file, each by name and index.
void addRows(const char* part, const char* kind) {
    QTest::addColumn<int>("row");
    const std::vector<Golden> rows = golden().at(part).items();
    for (size_t i = 0; i < rows.size(); ++i)
        QTest::addRow("%zu %s", i, recorded::optimCaseName(rows[i], kind).c_str())
            << static_cast<int>(i);
}
Golden rowOf(const char* part, int index) {
    return golden().at(part).at(static_cast<size_t>(index));
}

std::vector<OptimizerConfig> allOptimizers() {
    OptimizerConfig adam, adamw, sgd, plain, nesterov, dampened, amsgrad, rms;
    adam.weightDecay = 0.1;
    adamw.kind = OptimizerKind::AdamW;
    adamw.weightDecay = 0.05;
    sgd.kind = plain.kind = OptimizerKind::Sgd;
    sgd.lr = plain.lr = 0.05;
    plain.momentum = 0;
    nesterov = dampened = sgd;
    nesterov.nesterov = true;
    dampened.dampening = 0.25;
    amsgrad.amsgrad = true;
    rms.kind = OptimizerKind::RmsProp;
    rms.centered = true;
    OptimizerConfig nadam, adamax, adagrad, adadelta;
    nadam.kind = OptimizerKind::NAdam;
    adamax.kind = OptimizerKind::Adamax;
    nadam.weightDecay = adamax.weightDecay = 0.1;
    adagrad.kind = OptimizerKind::Adagrad;
    adadelta.kind = OptimizerKind::Adadelta;
    adadelta.lr = 1;
    return {adam,    adamw, sgd,   plain,  nesterov, dampened,
            amsgrad, rms,   nadam, adamax, adagrad,  adadelta};
}

} // namespace

class TestOptimizer : public QObject {
    Q_OBJECT

private slots:
    /// An optimizer that is added to the table is added to the tests and to verify, too.
    void everyKindIsTested() {
        const std::vector<OptimizerConfig> tested = allOptimizers();
        for (const OptimizerInfo& info : kOptimizers) {
            QVERIFY2(std::any_of(tested.begin(), tested.end(),
                                 [&](const OptimizerConfig& c) { return c.kind == info.kind; }),
                     info.name);
            OptimizerConfig config;
            config.kind = info.kind;
            const std::vector<double> gradient{0.5};
            const auto trace =
                recorded::optimizerTrace(config, {1.0}, {&gradient, 1}, [](double x) { return x; });
            QVERIFY2(trace[0][0] < 1, info.name);
        }
    }

    void followsPyTorch_data() { addRows("optimizers", "optimizer"); }
    void followsPyTorch() {
        QFETCH(int, row);
        for (const Skipping skipping : {Skipping::Selects, Skipping::Never}) {
            const auto result =
                recorded::compareOptimizer(rowOf("optimizers", row), *makeCpuExecutor(1), skipping);
            QVERIFY2(result.passed(), result.difference.c_str());
            qInfo("largest relative error %.2g", result.deviation);
        }
    }

    void skipKeepsEveryBit() {
        const std::vector<float> start{0.5f, -1.25f, 3e-8f}, good{0.1f, -2, 1e-3f};
        const std::vector<float> bad{INFINITY, NAN, -INFINITY};
        for (const OptimizerConfig& config : allOptimizers()) {
            OptimizerRun run(config, DType::F32, start);
            run.step(good, false);
            const auto before = run.states();
            run.step(bad, true);
            for (const auto& [name, values] : run.states()) {
                QVERIFY2(differentBits(values, before.at(name)) == 0,
                         (name + " changed on a skip, " + nameOf(config.kind)).c_str());
            }
            run.step(good, false);
            for (const auto& [name, values] : run.states())
                QVERIFY2(differentBits(values, before.at(name)) != 0, name.c_str());
        }
    }

    /// A skipped step leaves no trace: the other steps are those of a run without it.
    void skipLeavesNoTrace() {
        const std::vector<float> start{0.5f, -1.25f, 2}, g1{0.1f, -2, 1}, g2{-0.3f, 0.5f, 4};
        for (const OptimizerConfig& config : allOptimizers()) {
            OptimizerRun with(config, DType::F32, start), without(config, DType::F32, start);
            with.step(g1, false);
            with.step({INFINITY, 1, 1}, true);
            with.step(g2, false);
            without.step(g1, false);
            without.step(g2, false);
            QCOMPARE(differentBits(with.states()["p"], without.states()["p"]), 0);
        }
    }

    /// Parameters of 16 bits: every operation rounds to them, as PyTorch's do, so that Adam divides
    /// by zero in float16.
    void halfStorageFollowsPyTorch_data() {
        QTest::addColumn<int>("row");
        const std::vector<Golden> rows = halves().at("optimizers").items();
        for (size_t i = 0; i < rows.size(); ++i)
            QTest::addRow("%zu %s %s", i, rows[i].at("optimizer").text().c_str(),
                          rows[i].at("dtype").text().c_str())
                << static_cast<int>(i);
    }
    void halfStorageFollowsPyTorch() {
        QFETCH(int, row);
        const Golden wanted = halves().at("optimizers").at(static_cast<size_t>(row));
        const DType dtype = dtypeNamed(wanted.at("dtype").text()).value();
        const double unit = dtype == DType::F16 ? 0x1p-10 : 0x1p-7; // of the last place of 1
        std::vector<float> largest = wanted.at("start").floats();
        OptimizerRun run(recorded::optimizerOf(wanted), dtype, largest);
        for (size_t step = 0; step < wanted.at("grads").size(); ++step) {
            run.step(wanted.at("grads").at(step).floats(), false);
            const std::vector<float> got = run.state("p");
            const std::vector<float> values = wanted.at("params").at(step).floats();
            for (size_t i = 0; i < values.size(); ++i) {
                largest[i] = std::max(std::abs(largest[i]), std::abs(values[i]));
                // PyTorch's kernels for the CPU may round a parameter the other way at each step
                const double bound = static_cast<double>(step + 1) * unit * double{largest[i]};
                const bool same =
                    got[i] == values[i] || (std::isnan(got[i]) && std::isnan(values[i]));
                QVERIFY2(same || std::abs(double{got[i]} - double{values[i]}) <= bound,
                         qPrintable(QStringLiteral("step %1, parameter %2: %3, PyTorch has %4")
                                        .arg(step + 1)
                                        .arg(i)
                                        .arg(got[i], 0, 'g', 9)
                                        .arg(values[i], 0, 'g', 9)));
            }
        }
    }

    /// 1 - beta^t keeps its digits when beta is near 1: the first step of Adam has the size of lr.
    void biasCorrectionNearOne() {
        OptimizerConfig config;
        config.beta2 = 0.9999999;
        config.eps = 0;
        OptimizerRun run(config, DType::F32, {0});
        run.step({2}, false);
        const double moved = -double{run.states()["p"][0]};
        QVERIFY2(std::abs(moved / config.lr - 1) < 1e-6, qPrintable(QString::number(moved)));
    }

    /// The recorded runs have no centred RMSprop, so it is compared with its formula in double.
    void centredRmsProp() {
        OptimizerConfig config;
        config.kind = OptimizerKind::RmsProp;
        config.centered = true;
        config.alpha = 0.9;
        config.momentum = 0.5;
        config.lr = 0.01;
        config.weightDecay = 0.1;
        config.eps = 0.05; // large enough to show whether it is inside or outside of the root
        OptimizerRun run(config, DType::F32, {0.75f});
        double p = 0.75, squares = 0, mean = 0, buffer = 0;
        for (const float gradient : {0.5f, -1.5f, 0.25f, 2.0f, 1.0f}) {
            run.step({gradient}, false);
            const double g = double{gradient} + 0.1 * p;
            squares = 0.9 * squares + 0.1 * g * g;
            mean += 0.1 * (g - mean);
            buffer = 0.5 * buffer + g / (std::sqrt(squares - mean * mean) + config.eps);
            p -= config.lr * buffer;
            const double got = double{run.states()["p"][0]};
            // squares and mean^2 cancel to a third of their size at most
            QVERIFY2(std::abs(got - p) <= 64 * 0x1p-24, qPrintable(QString::number(got - p)));
        }
    }

    /// With beta 0, Adam's mean is the gradient to its last digit, however large the earlier mean
    /// was: torch.lerp goes from the nearer end.
    void meanWithoutMemory() {
        const std::vector<float> large{3e6f, -7e5f}, small{1.2345678e-3f, -9.8765e-7f};
        OptimizerConfig config;
        config.beta1 = 0;
        OptimizerRun own(config, DType::F32, {0.5f, 0.5f});
        OptimizerRun scheduled(config, DType::F32, {0.5f, 0.5f}, Momentum::Scheduled);
        scheduled.setMomentum(0);
        config.kind = OptimizerKind::RmsProp;
        config.centered = true;
        config.alpha = 0;
        OptimizerRun centred(config, DType::F32, {0.5f, 0.5f});
        for (OptimizerRun* run : {&own, &scheduled, &centred}) {
            run->step(large, false);
            run->step(small, false);
        }
        QCOMPARE(own.states()["p.exp_avg"], small);
        QCOMPARE(scheduled.states()["p.exp_avg"], small);
        QCOMPARE(centred.states()["p.grad_avg"], small);
    }

    /// Decay and step, each below half a unit in the weight's last place, together change it by one
    /// unit.
    void decayAndStepRoundOnce() {
        OptimizerConfig config;
        config.kind = OptimizerKind::AdamW;
        config.lr = 0.45 * 0x1p-22; // the first step has the size of the rate
        config.weightDecay = 1 / 2.5;
        config.eps = 0;
        OptimizerRun run(config, DType::F32, {2.5f});
        run.step({1}, false);
        QVERIFY(run.states()["p"][0] == 2.5f - 0x1p-22f);
    }

    /// NAdam keeps the digits of its step over many steps: the product of its momenta goes from 1
    /// to 0. Compared with the formula of its paper in double, under gradients of 1.
    void nAdamOverManySteps() {
        OptimizerConfig config;
        config.kind = OptimizerKind::NAdam;
        config.lr =
            1e-4; // 400 steps change the weight by 0.04, so that float32 holds each to 2^-30
        config.eps = 0;
        OptimizerRun run(config, DType::F32, {0});
        double p = 0, product = 1;
        for (int step = 1; step <= 400; ++step) {
            run.step({1}, false);
            const auto mu = [](int t) { return 0.9 * (1 - 0.5 * std::pow(0.96, 0.004 * t)); };
            product *= mu(step);
            const double mean = 1 - std::pow(0.9, step);
            p -= config.lr * (1 - mu(step)) / (1 - product) +
                 config.lr * mu(step + 1) * mean / (1 - product * mu(step + 1));
            // each step rounds its two parts, the weight twice, and the factors a few times
            const double bound = step * (2 * 0x1p-24 * std::abs(p) + 16 * 0x1p-24 * config.lr);
            const double got = double{run.states()["p"][0]};
            QVERIFY2(std::abs(got - p) <= bound, qPrintable(QString::number(got - p)));
        }
    }

    /// In weights of 16 bits PyTorch rounds after the decay and after the step: neither is seen.
    void halfDecayAndStepRoundTwice() {
        OptimizerConfig config;
        config.kind = OptimizerKind::AdamW;
        config.lr = 0.45 * 0x1p-9;
        config.weightDecay = 1 / 2.5;
        config.eps = 0;
        OptimizerRun run(config, DType::F16, {2.5f});
        run.step({1}, false);
        QCOMPARE(run.states()["p"][0], 2.5f);
    }

    /// A schedule changes Adam's beta1: torch.optim.Adam uses the present value for the moment and
    /// for the bias correction over all steps.
    void scheduledBeta1() {
        OptimizerConfig config;
        config.lr = 0.01;
        OptimizerRun run(config, DType::F32, {0.75f}, Momentum::Scheduled);
        double p = 0.75, first = 0, second = 0;
        int step = 0;
        for (const double beta : {0.95, 0.949, 0.93, 0.9, 0.86}) {
            const float gradient = step % 2 == 0 ? 0.5f : -1.25f;
            const double g = double{gradient};
            run.setMomentum(beta);
            run.step({gradient}, false);
            ++step;
            first += (1 - beta) * (g - first);
            second = config.beta2 * second + (1 - config.beta2) * g * g;
            const double root = std::sqrt(second / (1 - std::pow(config.beta2, step)));
            p -= config.lr / (1 - std::pow(beta, step)) * first / (root + config.eps);
            const double got = double{run.states()["p"][0]};
            QVERIFY2(std::abs(got - p) <= 4 * 0x1p-24, qPrintable(QString::number(got - p)));
        }
    }

    void schedulesFollowPyTorch_data() { addRows("schedules", "schedule"); }
    void schedulesFollowPyTorch() {
        QFETCH(int, row);
        // both in double: closer than the suite requires
        const auto result = recorded::compareSchedule(rowOf("schedules", row), 1e-12);
        QVERIFY2(result.passed(), result.difference.c_str());
    }

    void clippingFollowsPyTorch_data() { addRows("clipping", "kind"); }
    void clippingFollowsPyTorch() {
        QFETCH(int, row);
        const auto result = recorded::compareClipping(rowOf("clipping", row), *makeCpuExecutor(1));
        QVERIFY2(result.passed(), result.difference.c_str());
    }

    /// clip_grad_norm_ divides by the norm plus 1e-6, which matters for a small norm.
    void smallNormIsClippedFurther() {
        const Golden row = Golden::parse("row", R"({"kind": "norm2", "limit": 2e-6,
            "grads": [[3e-6, 4e-6]], "total_norm": 5e-6,
            "clipped": [[1e-6, 1.3333333333333334e-6]]})");
        const auto result = recorded::compareClipping(row, *makeCpuExecutor(1));
        QVERIFY2(result.passed(), result.difference.c_str());
    }

    /// 1 - momentum is rounded once: float32 of 0.95 has a larger error than float32 of 0.05.
    void momentumComplementRoundsOnce() {
        RunConfig config;
        config.schedule.kind = ScheduleKind::OneCycle;
        config.schedule.cycleMomentum = true;
        config.schedule.totalSteps = 20;
        const auto table = scheduleTables(config).at("schedule.momentum_complement");
        QCOMPARE(table.size(), size_t{20});
        for (size_t i = 0; i < table.size(); ++i) {
            const double momentum = cycledMomentum(config.schedule, static_cast<int64_t>(i));
            QVERIFY(table[i] == static_cast<float>(1 - momentum)); // QCOMPARE forgives last bits
        }
    }

    void scheduleEnds() {
        ScheduleConfig config;
        QCOMPARE(learningRate(config, 0.25, 0), 0.25);
        QCOMPARE(learningRateTable(config, 0.25), std::vector<float>{0.25f});
        config.kind = ScheduleKind::OneCycle;
        config.totalSteps = 50;
        const double last = config.maxLr / config.divFactor / config.finalDivFactor;
        QVERIFY(std::abs(learningRate(config, 1, 49) / last - 1) < 1e-9);
        QCOMPARE(learningRate(config, 1, 5000), learningRate(config, 1, 49));
        QCOMPARE(learningRateTable(config, 1).size(), size_t{50});
    }

    /// Three phases, and short cycles of them: every phase is entered.
    void threePhases() {
        ScheduleConfig config;
        config.kind = ScheduleKind::OneCycle;
        config.threePhase = config.cycleMomentum = true;
        config.totalSteps = 10;
        config.pctStart = 0.4; // peak at tick 3, the start again at tick 6, the end at tick 9
        const double start = config.maxLr / config.divFactor;
        QCOMPARE(learningRate(config, 1, 0), start);
        QCOMPARE(learningRate(config, 1, 3), config.maxLr);
        QCOMPARE(learningRate(config, 1, 6), start);
        QVERIFY(std::abs(learningRate(config, 1, 9) / (start / config.finalDivFactor) - 1) < 1e-9);
        QCOMPARE(cycledMomentum(config, 0), config.maxMomentum);
        QCOMPARE(cycledMomentum(config, 3), config.baseMomentum);
        QCOMPARE(cycledMomentum(config, 6), config.maxMomentum);
        QCOMPARE(cycledMomentum(config, 9), config.maxMomentum);
    }

    /// After its last step a schedule's rate stays the same.
    void schedulesEnd() {
        using enum ScheduleKind;
        for (const ScheduleKind kind :
             {Step, Exponential, Linear, MultiStep, Polynomial, WarmRestarts}) {
            ScheduleConfig config;
            config.kind = kind;
            config.totalSteps = 60;
            config.milestones = {20, 60};
            QCOMPARE(learningRateTable(config, 1).size(), size_t{61});
            QVERIFY(learningRate(config, 1, 60) != learningRate(config, 1, 0));
            QCOMPARE(learningRate(config, 1, 6000), learningRate(config, 1, 60));
        }
    }

    /// Recorded from CosineAnnealingLR(T_max=3, eta_min=0.001) with a rate of 0.1, over two
    /// periods.
    void cosineRisesAgain() {
        ScheduleConfig config;
        config.kind = ScheduleKind::Cosine;
        config.totalSteps = 3;
        config.minLr = 0.001;
        const std::array recorded{0.1,     0.07525, 0.02575, 0.001,   0.02575, 0.07525, 0.1,
                                  0.07525, 0.02575, 0.001,   0.02575, 0.07525, 0.1};
        for (size_t i = 0; i < recorded.size(); ++i) {
            const double rate = learningRate(config, 0.1, static_cast<int64_t>(i));
            QVERIFY2(std::abs(rate - recorded[i]) < 1e-15, qPrintable(QString::number(rate)));
        }
        QCOMPARE(learningRate(config, 0.1, 6'000'000'000'000'001), learningRate(config, 0.1, 1));
        QCOMPARE(learningRateTable(config, 0.1).size(), size_t{4});
    }

    /// LinearLR(total_iters=0) stays where it starts.
    void linearWithoutSteps() {
        ScheduleConfig config;
        config.kind = ScheduleKind::Linear;
        config.totalSteps = 0;
        for (const int64_t tick : {0, 1, 100})
            QCOMPARE(learningRate(config, 2, tick), 2 * config.startFactor);
    }

    /// The step's tick and table give what learningRate() returns, also beyond the schedule's end
    /// and where the schedule begins again.
    void ticksInTheGraph_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("warmup");
        for (int kind = 0; kind <= static_cast<int>(ScheduleKind::WarmRestarts); ++kind)
            for (const int warmup : {0, 1, 4}) // of one-cycle and constant it changes nothing
                QTest::addRow("%s after %d", nameOf(ScheduleKind(kind)), warmup) << kind << warmup;
    }
    void ticksInTheGraph() {
        QFETCH(int, kind);
        QFETCH(int, warmup);
        ScheduleConfig config;
        config.kind = ScheduleKind(kind);
        config.totalSteps = 5;
        config.warmupSteps = warmup;
        config.stepSize = config.period = 2;
        config.milestones = {1, 3};
        Graph graph;
        Builder b(graph);
        ScheduleEmitter schedule(b, config);
        graph.addOutput("rate", schedule.valueOf("table", "rate"));
        graph.setNext(schedule.tick(), schedule.following());
        const auto executor = makeCpuExecutor(1);
        const auto program = std::make_shared<const Program>(compile(graph));
        executor->load(program);
        uploadFloats(*executor, program->graph, program->graph.state("table"),
                     learningRateTable(config, 0.25));
        for (int64_t tick = 0; tick < 34; ++tick) { // more than three periods of a cosine
            QVERIFY(executor->run(RunMode::Captured) == RunResult::Done);
            const std::vector<float> rate =
                downloadFloats(*executor, program->graph, program->graph.output("rate"));
            QVERIFY(rate[0] == static_cast<float>(learningRate(config, 0.25, tick)));
        }
    }

    /// Cycles too short for two phases give finite, positive rates within the cycle's range.
    void scheduleCorners() {
        for (const int64_t steps : {1, 2, 3, 7}) {
            for (const double start : {0.0, 0.1, 0.5, 1.0}) {
                ScheduleConfig config;
                config.kind = ScheduleKind::OneCycle;
                config.totalSteps = steps;
                config.pctStart = start;
                for (const float lr : learningRateTable(config, 1)) {
                    QVERIFY2(lr > 0 && double{lr} <= config.maxLr * (1 + 1e-6),
                             qPrintable(QString("%1 steps, start %2: %3")
                                            .arg(steps)
                                            .arg(start)
                                            .arg(double{lr})));
                }
            }
        }
        // a rise of length zero is over at once
        ScheduleConfig config;
        config.kind = ScheduleKind::OneCycle;
        config.totalSteps = 10;
        config.pctStart = 0.1;
        QCOMPARE(learningRate(config, 1, 0), config.maxLr);
        QVERIFY(learningRate(config, 1, 1) < config.maxLr);
    }
};

} // namespace tst_optimizer

QTEST_GUILESS_MAIN(tst_optimizer::TestOptimizer)
#include "tst_optimizer.moc"
