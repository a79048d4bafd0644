// Whole trainings compared with the runs recorded from PyTorch: float32 losses follow the float64
// run, and half-precision runs skip where PyTorch skips.
#include "engine/verify/golden_runs.h"
#include "tests/support/training.h"

#include <QTest>

#include <cmath>

namespace tst_training_runs {

using namespace halfscope;
using recorded::Golden;
using recorded::Perturbation;
using recorded::RunKind;
using recorded::TrainedRun;

namespace {

constexpr uint64_t kPerturbations = 8;

const std::vector<Golden>& goldenRuns() {
    static const std::vector<Golden> runs = test::goldenOf("runs").items();
    return runs;
}

TrainedRun train(const Golden& run, const Perturbation& moved = {}) {
    return recorded::trainRun(
        run, [] { return makeCpuExecutor(2); }, moved);
}

double relativeDifference(double a, double b) { return recorded::deviationOf(a, b, std::abs(b)); }

double recordedLoss(const Golden& run, size_t step) {
    return run.at("trace").at(step).at("loss").number();
}

/// Returns the largest error over the steps before `end`.
double largestLossError(const Golden& run, const TrainedRun& outcome, size_t end) {
    double worst = 0;
    for (size_t i = 0; i < end; ++i)
        worst =
            std::max(worst, relativeDifference(double{outcome.losses[i]}, recordedLoss(run, i)));
    return worst;
}

/// Returns how far the losses move when the starting weights move by their last bit. A unit that
/// switches on or off a step earlier makes a visible difference in a small network, and PyTorch's
/// own float32 run has the same freedom.
double sensitivity(const Golden& run, const TrainedRun& outcome) {
    double most = 0;
    for (uint64_t seed = 1; seed <= kPerturbations; ++seed) {
        const TrainedRun other = train(run, {seed, 0x1p-24f});
        for (size_t i = 0; i < outcome.losses.size(); ++i)
            most = std::max(most,
                            relativeDifference(double{other.losses[i]}, double{outcome.losses[i]}));
    }
    return most;
}

/// Adds the rows of one kind.
void addRows(RunKind kind) {
    QTest::addColumn<int>("row");
    for (int i = 0; i < static_cast<int>(goldenRuns().size()); ++i) {
        const Golden& run = goldenRuns()[static_cast<size_t>(i)];
        if (recorded::kindOf(run) == kind) QTest::newRow(recorded::runName(run).c_str()) << i;
    }
}

} // namespace

class TestTrainingRuns : public QObject {
    Q_OBJECT

private slots:
    void float32FollowsFloat64_data() { addRows(RunKind::Float64); }
    void float32FollowsFloat64() { follows(); }
    void float32FollowsFloat32_data() { addRows(RunKind::Float32); }
    void float32FollowsFloat32() { follows(); }
    void halfFollowsPyTorch_data() { addRows(RunKind::Amp); }
    void halfFollowsPyTorch() { follows(); }

    /// The norm that clipping sees, and the effect of the learning rates on it, in half precision.
    void gradientNorms_data() { addRows(RunKind::Amp); }
    void gradientNorms() {
        QFETCH(int, row);
        const Golden& run = goldenRuns()[static_cast<size_t>(row)];
        const TrainedRun outcome = train(run);
        const double bound = 10 * recorded::lossBound(run);
        for (size_t i = 0; i < recorded::commonSteps(run, outcome); ++i) {
            const auto wanted = run.at("trace").at(i).find("grad_norm");
            if (!wanted || !std::isfinite(wanted->number())) continue;
            const double norm = double{outcome.norms[i]};
            QVERIFY2(relativeDifference(norm, wanted->number()) <= bound,
                     qPrintable(QString("step %1: gradient norm %2").arg(i + 1).arg(norm)));
        }
    }

    /// Compares only the variances: means follow the biases before a norm, whose gradients are zero
    /// except for rounding, which Adam magnifies.
    void runningVarianceFollowsFloat64() {
        for (const Golden& run : goldenRuns()) {
            if (recorded::kindOf(run) != RunKind::Float64) continue;
            if (run.at("kind").text() != "checkerboard") continue;
            const TrainedRun outcome = train(run);
            // a variance moves by twice the relative change of weights, over several layers
            const double bound = 50 * (recorded::kFloat32Bound + sensitivity(run, outcome));
            for (int norm = 0; norm < 3; ++norm) {
                const std::string name = std::to_string(3 * norm + 1) + ".running_var";
                const std::vector<float>& values = outcome.weights.at(name);
                const std::vector<double> wanted = run.at("end").at(name).numbers();
                QCOMPARE(values.size(), wanted.size());
                for (size_t i = 0; i < values.size(); ++i) {
                    const double difference = relativeDifference(double{values[i]}, wanted[i]);
                    QVERIFY2(difference <= bound, qPrintable(QString("%1[%2]: %3, bound %4")
                                                                 .arg(name.c_str())
                                                                 .arg(i)
                                                                 .arg(difference)
                                                                 .arg(bound)));
                }
            }
        }
    }

    void halfSkipsWherePyTorchSkips_data() { addRows(RunKind::Amp); }
    void halfSkipsWherePyTorchSkips() {
        QFETCH(int, row);
        const Golden& run = goldenRuns()[static_cast<size_t>(row)];
        const TrainedRun outcome = train(run);
        const std::vector<size_t> wanted = recorded::skippedSteps(run);
        qInfo("%zu skips, PyTorch %zu, %s; largest relative difference of a loss: %.2g",
              outcome.skipped.size(), wanted.size(),
              outcome.skipped == wanted ? "same steps" : "other steps",
              largestLossError(run, outcome, outcome.losses.size()));
        bool same = outcome.skipped == wanted;
        // The picture's gradients grow until one overflows: at which step may depend on the
        // rounding of one value. Weights moved by less than fp16 resolves must then reproduce it.
        const bool chaotic = run.at("kind").text() == "checkerboard";
        for (uint64_t seed = 1; chaotic && !same && seed <= kPerturbations; ++seed)
            same = train(run, {seed, 0x1p-12f}).skipped == wanted;
        QVERIFY2(
            same,
            qPrintable(
                QString("%1 skips, PyTorch %2").arg(outcome.skipped.size()).arg(wanted.size())));
    }

private:
    /// Compares as `verify` does.
    void follows() {
        QFETCH(int, row);
        const Golden& run = goldenRuns()[static_cast<size_t>(row)];
        const recorded::CaseResult result = recorded::compareRun(run, train(run));
        QVERIFY2(result.passed(), result.difference.c_str());
        qInfo("largest relative difference of a loss: %.2g, bound %.2g", result.deviation,
              result.bound);
    }
};

} // namespace tst_training_runs

QTEST_GUILESS_MAIN(tst_training_runs::TestTrainingRuns)
#include "tst_training_runs.moc"
