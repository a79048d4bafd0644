// The presets of PyTorch's recipes that are about an optimizer or a schedule: what the first steps
// do to the weights, which moments are kept, and PyTorch's recorded learning rates and momenta.
#include "engine/step/schedule.h"
#include "tests/support/preset_run.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace tst_recipe_optimizers {

using namespace halfscope;

namespace {

/// PyTorch 2.11's learning rates (and momenta) at iterations of a schedule, counted from 0.
struct Recorded {
    std::vector<double> rates, momenta;
};
constexpr std::array kIterations{0, 45, 89, 99, 100, 178, 200, 299};

const std::map<QString, Recorded>& recordedSchedules() {
    static const std::map<QString, Recorded> all{
        {"recipe-onecycle",
         {{0.0004, 0.00528471271, 0.01, 0.00994415435, 0.00993245324, 0.00618541715, 0.00455182525,
           4e-08},
          {0.95, 0.899117576, 0.85, 0.850558459, 0.85067547, 0.888145981, 0.904481965, 0.95}}},
        {"recipe-onecycle-linear",
         {{0.0004, 0.00525393258, 0.01, 0.00952381143, 0.00947619257, 0.00576192171, 0.00471430686,
           4e-08},
          {0.95, 0.899438202, 0.85, 0.854761905, 0.855238095, 0.892380952, 0.902857143, 0.95}}},
        {"recipe-onecycle-three-phase",
         {{0.0004, 0.00528471271, 0.01, 0.00970405102, 0.00964268352, 0.0004, 0.000368253881,
           4e-08},
          {0.95, 0.899117576, 0.85, 0.853082802, 0.853722047, 0.95, 0.95, 0.95}}},
        {"recipe-schedule-step", {{0.01, 0.01, 0.01, 0.01, 0.001, 0.001, 0.0001, 0.0001}, {}}},
        {"recipe-schedule-exponential",
         {{0.01, 0.00636185486, 0.00408820174, 0.00369729638, 0.00366032341, 0.00167133935,
           0.00133979675, 0.000495362566},
          {}}},
        {"recipe-schedule-cosine",
         {{0.01, 0.00946048229, 0.00800131313, 0.00756975501, 0.007525, 0.00361929261, 0.002575,
           0.000100271412},
          {}}},
        {"recipe-schedule-warmup",
         {{0.000333333333, 0.00992403877, 0.00886735796, 0.00847329185, 0.00843120819,
           0.00424657144, 0.00301960117, 3.38459981e-07},
          {}}},
        {"recipe-schedule-linear",
         {{0.001, 0.00505, 0.00901, 0.00991, 0.01, 0.01, 0.01, 0.01}, {}}},
    };
    return all;
}

} // namespace

class TestRecipeOptimizers : public QObject {
    Q_OBJECT

private slots:
    void plainStep_data() { addLanes({"recipe-plain"}); }
    void plainStep();
    void schedules_data();
    void schedules();
    void heldSchedule();
    void momenta_data();
    void momenta();
    void amsgradKeepsTheLargest_data() { addLanes({"recipe-adam-amsgrad"}); }
    void amsgradKeepsTheLargest();
    void adamWDecaysByItself_data() { addLanes({"recipe-adamw"}); }
    void adamWDecaysByItself();
    void nesterovLooksAhead_data() { addLanes({"recipe-sgd-nesterov"}); }
    void nesterovLooksAhead();
    void firstStepIsNotDampened_data() { addLanes({"recipe-sgd-dampening"}); }
    void firstStepIsNotDampened();
    void rmsPropDividesByTheRoot_data() { addLanes({"recipe-rmsprop"}); }
    void rmsPropDividesByTheRoot();
    void adagradAddsWhatItTakes_data() { addLanes({"recipe-adagrad"}); }
    void adagradAddsWhatItTakes();
    void adadeltaStartsFromEpsilon_data() { addLanes({"recipe-adadelta"}); }
    void adadeltaStartsFromEpsilon();
};

/// Adam's first step has the size of the learning rate wherever there is a gradient.
void TestRecipeOptimizers::plainStep() {
    QFETCH(QString, name);
    QFETCH(int, lane);
    PresetRun run(configOf(name), static_cast<size_t>(lane));
    const Tensor before = run.weights();
    const MetricsRow row = run.stepTaken();
    const Tensor change = difference(run.weights(), before);
    const double lr = run.config().optimizer.lr, slack = changeBound(before, change);
    QVERIFY(near(row[kLearningRateMetric], lr));
    QVERIFY(largestOf(change) <= lr + slack);
    const auto whole = std::count_if(change.begin(), change.end(),
                                     [&](double d) { return std::abs(d) > 0.999 * lr; });
    QVERIFY2(2 * whole > std::ssize(change), qPrintable(QString::number(whole)));
    QCOMPARE(run.moments(), (std::set<std::string>{"exp_avg", "exp_avg_sq"}));
}

void TestRecipeOptimizers::schedules_data() {
    QStringList names;
    for (const auto& [name, recorded] : recordedSchedules())
        names << name;
    addLanes(names);
}

/// The learning rates of the run are PyTorch's; skipped steps count.
void TestRecipeOptimizers::schedules() {
    QFETCH(QString, name);
    QFETCH(int, lane);
    PresetRun run(configOf(name), static_cast<size_t>(lane));
    std::vector<double> rates;
    int skips = 0;
    while (!run.finished()) {
        const MetricsRow row = run.step();
        rates.push_back(row[kLearningRateMetric]);
        skips += row[kFoundInfMetric] != 0;
    }
    QCOMPARE(rates.size(), size_t{300});
    QCOMPARE(skips > 0, lane == 1);
    const Recorded& recorded = recordedSchedules().at(name);
    for (size_t i = 0; i < kIterations.size(); ++i) {
        const double rate = rates[static_cast<size_t>(kIterations[i])];
        QVERIFY2(near(rate, recorded.rates[i]), qPrintable(QString("iteration %1: %2 instead of %3")
                                                               .arg(kIterations[i])
                                                               .arg(rate, 0, 'g', 9)
                                                               .arg(recorded.rates[i], 0, 'g', 9)));
    }
}

/// The warm-up's third lane holds its schedule while steps are skipped.
void TestRecipeOptimizers::heldSchedule() {
    PresetRun runs(configOf("recipe-schedule-linear"), 1),
        waits(configOf("recipe-schedule-linear"), 2);
    std::vector<double> rates;
    size_t taken = 0, skips = 0;
    while (!waits.finished()) {
        rates.push_back(runs.step()[kLearningRateMetric]);
        const MetricsRow row = waits.step();
        QCOMPARE(row[kLearningRateMetric], rates[taken]);
        const bool skipped = row[kFoundInfMetric] != 0;
        taken += !skipped;
        skips += skipped;
    }
    QVERIFY2(skips >= 10, qPrintable(QString::number(skips)));
}

void TestRecipeOptimizers::momenta_data() {
    QTest::addColumn<QString>("name");
    for (const auto& [name, recorded] : recordedSchedules())
        QTest::newRow(qPrintable(name)) << name;
}

/// One-cycle moves the momentum of SGD or beta 1 of Adam against the rate; other schedules do not.
void TestRecipeOptimizers::momenta() {
    QFETCH(QString, name);
    const std::vector<double>& recorded = recordedSchedules().at(name).momenta;
    const PresetRun run(configOf(name), 0);
    const auto states = run.graph().states();
    const bool cycled = std::any_of(states.begin(), states.end(), [](const StateInfo& state) {
        return state.name == "schedule.momentum_complement";
    });
    QCOMPARE(cycled, !recorded.empty());
    if (!cycled) return;
    const auto table = scheduleTables(run.config()).at("schedule.momentum_complement");
    for (size_t i = 0; i < kIterations.size(); ++i)
        QVERIFY(near(1 - double{table[static_cast<size_t>(kIterations[i])]}, recorded[i]));
    QCOMPARE(run.moments().contains("momentum_buffer"), name == "recipe-onecycle-linear");
}

/// At the end of the run Adam's divisor is well above the last mean squares.
void TestRecipeOptimizers::amsgradKeepsTheLargest() {
    QFETCH(QString, name);
    QFETCH(int, lane);
    PresetRun run(configOf(name), static_cast<size_t>(lane));
    QCOMPARE(run.moments(), (std::set<std::string>{"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}));
    while (!run.finished())
        run.step();
    const Tensor last = run.states(StateRole::Moment, ".exp_avg_sq");
    const Tensor largest = run.states(StateRole::Moment, ".max_exp_avg_sq");
    std::ptrdiff_t above = 0;
    for (size_t i = 0; i < last.size(); ++i) {
        QVERIFY(std::isfinite(largest[i]) && largest[i] >= last[i]);
        above += largest[i] > 2 * last[i];
    }
    QVERIFY2(2 * above > std::ssize(last), qPrintable(QString::number(above)));
}

/// Apart from its decay, the first step is Adam's: the size of the learning rate, or nothing.
void TestRecipeOptimizers::adamWDecaysByItself() {
    QFETCH(QString, name);
    QFETCH(int, lane);
    PresetRun run(configOf(name), static_cast<size_t>(lane));
    const OptimizerConfig& optimizer = run.config().optimizer;
    const Tensor before = run.weights();
    run.stepTaken();
    Tensor change = difference(run.weights(), before);
    const double slack = 2 * changeBound(before, change);
    std::ptrdiff_t whole = 0, decayed = 0;
    for (size_t i = 0; i < change.size(); ++i) {
        const double decay = optimizer.lr * optimizer.weightDecay * before[i];
        const double step = std::abs(change[i] + decay);
        QVERIFY2(step <= optimizer.lr + slack, qPrintable(QString::number(step)));
        whole += step > 0.999 * optimizer.lr;
        // with decay in the gradient, no step of Adam would be longer than the rate
        decayed += std::abs(change[i]) > optimizer.lr + slack;
    }
    QVERIFY2(2 * whole > std::ssize(change), qPrintable(QString::number(whole)));
    QVERIFY2(decayed > 10, qPrintable(QString::number(decayed)));
}

/// The first step of SGD with Nesterov momentum m is 1 + m times the gradient.
void TestRecipeOptimizers::nesterovLooksAhead() {
    QFETCH(QString, name);
    QFETCH(int, lane);
    PresetRun run(configOf(name), static_cast<size_t>(lane));
    QCOMPARE(run.moments(), (std::set<std::string>{"momentum_buffer"}));
    const Tensor before = run.weights();
    const MetricsRow row = run.stepTaken();
    const Tensor change = difference(run.weights(), before);
    const double wanted = run.config().optimizer.lr * 1.9 * row[kGradientNormMetric];
    const double bound = changeBound(before, change) + normBound(change) * wanted;
    QVERIFY2(std::abs(normOf(change) - wanted) <= bound, qPrintable(QString::number(wanted)));
}

/// The first step that is taken uses the whole gradient, the second a tenth of its own.
void TestRecipeOptimizers::firstStepIsNotDampened() {
    QFETCH(QString, name);
    QFETCH(int, lane);
    PresetRun run(configOf(name), static_cast<size_t>(lane));
    const double lr = run.config().optimizer.lr;
    const Tensor start = run.weights();
    const double first = run.stepTaken()[kGradientNormMetric];
    QCOMPARE(run.steps() > 1, lane == 1); // AMP skips steps before it
    const Tensor middle = run.weights();
    const double second = run.stepTaken()[kGradientNormMetric];
    const Tensor one = difference(middle, start);
    Tensor two = difference(run.weights(), middle);
    const double bound = 2 * changeBound(start, one) + normBound(one) * lr * (first + second);
    QVERIFY2(std::abs(normOf(one) - lr * first) <= bound, qPrintable(QString::number(normOf(one))));
    for (size_t i = 0; i < two.size(); ++i)
        two[i] -= 0.9 * one[i];
    QVERIFY2(std::abs(normOf(two) - 0.1 * lr * second) <= bound,
             qPrintable(QString::number(normOf(two))));
}

/// The first mean square is 1 - alpha times the gradient's square: a step of 10 learning rates at
/// alpha 0.99.
void TestRecipeOptimizers::rmsPropDividesByTheRoot() {
    QFETCH(QString, name);
    QFETCH(int, lane);
    PresetRun run(configOf(name), static_cast<size_t>(lane));
    QCOMPARE(run.moments(), (std::set<std::string>{"square_avg"}));
    const Tensor before = run.weights();
    run.stepTaken();
    const Tensor change = difference(run.weights(), before);
    const double step = 10 * run.config().optimizer.lr;
    // the root's relative error is that of alpha in float32, divided by 1 - alpha
    const double slack = changeBound(before, change) + 100 * kRoundoff * step;
    QVERIFY2(largestOf(change) <= step + slack, qPrintable(QString::number(largestOf(change))));
    const auto whole = std::count_if(change.begin(), change.end(),
                                     [&](double d) { return std::abs(d) > 0.999 * step; });
    QVERIFY2(2 * whole > std::ssize(change), qPrintable(QString::number(whole)));
}

/// The first step has the size of the learning rate. At the end each sum is finite: the skipped
/// steps of AMP, whose gradients were not, have added nothing.
void TestRecipeOptimizers::adagradAddsWhatItTakes() {
    QFETCH(QString, name);
    QFETCH(int, lane);
    PresetRun run(configOf(name), static_cast<size_t>(lane));
    QCOMPARE(run.moments(), (std::set<std::string>{"sum"}));
    const Tensor before = run.weights();
    run.stepTaken();
    QCOMPARE(run.steps() > 1, lane == 1); // AMP skips steps before it
    const Tensor change = difference(run.weights(), before);
    const double lr = run.config().optimizer.lr, slack = changeBound(before, change);
    QVERIFY2(largestOf(change) <= lr + slack, qPrintable(QString::number(largestOf(change))));
    const auto whole = std::count_if(change.begin(), change.end(),
                                     [&](double d) { return std::abs(d) > 0.999 * lr; });
    QVERIFY2(2 * whole > std::ssize(change), qPrintable(QString::number(whole)));
    Tensor last = run.states(StateRole::Moment, ".sum");
    while (!run.finished()) {
        run.step();
        const Tensor next = run.states(StateRole::Moment, ".sum");
        for (size_t i = 0; i < last.size(); ++i)
            QVERIFY(std::isfinite(next[i]) && next[i] >= last[i]);
        last = next;
    }
}

/// No step has been taken before the first one: it has the size of the root of epsilon / (1 - rho).
void TestRecipeOptimizers::adadeltaStartsFromEpsilon() {
    QFETCH(QString, name);
    QFETCH(int, lane);
    PresetRun run(configOf(name), static_cast<size_t>(lane));
    QCOMPARE(run.moments(), (std::set<std::string>{"acc_delta", "square_avg"}));
    const OptimizerConfig& optimizer = run.config().optimizer;
    const Tensor before = run.weights();
    run.stepTaken();
    const Tensor change = difference(run.weights(), before);
    const double step = optimizer.lr * std::sqrt(optimizer.eps / (1 - optimizer.alpha));
    // the root's relative error is that of alpha in float32, divided by 1 - alpha
    const double slack = changeBound(before, change) + 10 * kRoundoff * step;
    QVERIFY2(largestOf(change) <= step + slack, qPrintable(QString::number(largestOf(change))));
    const auto whole = std::count_if(change.begin(), change.end(),
                                     [&](double d) { return std::abs(d) > 0.99 * step; });
    QVERIFY2(2 * whole > std::ssize(change), qPrintable(QString::number(whole)));
}

} // namespace tst_recipe_optimizers

QTEST_GUILESS_MAIN(tst_recipe_optimizers::TestRecipeOptimizers)
#include "tst_recipe_optimizers.moc"
