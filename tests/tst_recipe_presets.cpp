// The presets of PyTorch's recipes: each one's own mechanism is seen in its run. A preset whose
// settings are wrong (another kind, a limit that never bites, a flat schedule) fails here; that the
// mechanisms compute what PyTorch does is proven in tst_recipes and tst_optimizer.
#include "engine/train/experiment.h"
#include "engine/train/recipes.h"
#include "engine/train/schedule.h"
#include "engine/train/step_graph.h"
#include "engine/train/step_runner.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

using namespace halfscope;

namespace {

using Tensor = std::vector<double>;
constexpr double kRoundoff = 0x1p-24; ///< of float32

RunConfig configOf(const QString& preset) {
    RunConfig config = presetNamed(preset.toStdString()).config;
    config.device = "cpu";
    config.threads = 1;
    return config;
}

double normOf(const Tensor& x) {
    double sum = 0;
    for (const double each : x)
        sum += each * each;
    return std::sqrt(sum);
}

double largestOf(const Tensor& x) {
    double largest = 0;
    for (const double each : x)
        largest = std::max(largest, std::abs(each));
    return largest;
}

/// One lane of a preset, step by step, with a look at its weights in between.
class PresetRun {
public:
    PresetRun(RunConfig config, size_t lane)
        : m_config(std::move(config)), m_data(makeDataset(m_config)),
          m_runner(m_config, m_config.lanes[lane],
                   buildStep(m_config, m_config.lanes[lane], m_data->shape()), makeCpuExecutor(1)) {
    }

    const RunConfig& config() const { return m_config; }
    const Graph& graph() const { return m_runner.graph(); }
    MetricsRow step() {
        const NodeId x = graph().input("x"), target = graph().input("target");
        std::vector<float> in(static_cast<size_t>(graph()[x].elements()));
        std::vector<float> out(static_cast<size_t>(graph()[target].elements()));
        m_data->batch(++m_step, in, out);
        m_runner.set(x, in);
        m_runner.set(target, out);
        m_runner.run(1);
        return m_runner.metrics();
    }
    /// As step(), until one is not skipped.
    MetricsRow stepTaken() {
        for (;;)
            if (const MetricsRow row = step(); row[kFoundInfMetric] == 0) return row;
    }
    int64_t steps() const { return m_step; }
    bool finished() const { return m_step >= m_config.steps; }

    /// The values of all states of a role whose names end so, one after the other.
    Tensor states(StateRole role, std::string_view ending = {}) {
        Tensor all;
        for (const StateInfo& state : graph().states()) {
            if (state.role != role || !state.name.ends_with(ending)) continue;
            const std::vector<float> values = m_runner.get(state.node);
            all.insert(all.end(), values.begin(), values.end());
        }
        return all;
    }
    Tensor weights() { return states(StateRole::Parameter); }
    double value(NodeId id) { return static_cast<double>(m_runner.get(id).at(0)); }
    int counter(const char* name) { return static_cast<int>(value(graph().state(name))); }

    /// The last parts of the names of the moments: "exp_avg", ...
    std::set<std::string> moments() const {
        std::set<std::string> names;
        for (const StateInfo& state : graph().states())
            if (state.role == StateRole::Moment)
                names.insert(state.name.substr(state.name.rfind('.') + 1));
        return names;
    }

private:
    RunConfig m_config;
    std::unique_ptr<Dataset> m_data;
    StepRunner m_runner;
    int64_t m_step = 0;
};

Tensor difference(const Tensor& a, const Tensor& b) {
    Tensor d(a.size());
    for (size_t i = 0; i < d.size(); ++i)
        d[i] = a[i] - b[i];
    return d;
}

/// How far a norm of weight changes may be from that of exact ones: each was rounded as a product
/// and as a new weight.
double changeBound(const Tensor& weights, const Tensor& change) {
    return kRoundoff * (normOf(weights) + 2 * normOf(change));
}

/// Relative bound of a norm whose squares float32 added up, each sum once rounded.
double normBound(const Tensor& x) { return kRoundoff * static_cast<double>(x.size()); }

/// What SGD without momentum tells of a clip: the gradients that it used, and what they were.
struct ClippedStep {
    Tensor used;
    double normBefore = 0, slack = 0;
    bool bitten() const { return normOf(used) < 0.99 * normBefore; }
};

ClippedStep clippedStep(PresetRun& run) {
    const Tensor before = run.weights();
    const MetricsRow row = run.stepTaken();
    Tensor used = difference(before, run.weights());
    const double lr = run.config().optimizer.lr, slack = changeBound(before, used) / lr;
    for (double& x : used)
        x /= lr;
    return {used, row[kGradientNormMetric], slack};
}

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
        {"recipe-schedule-linear",
         {{0.001, 0.00505, 0.00901, 0.00991, 0.01, 0.01, 0.01, 0.01}, {}}},
    };
    return all;
}

/// Both are rounded: ours to float32, the recorded ones to nine digits.
bool near(double value, double recorded) {
    return std::abs(value - recorded) <= (kRoundoff + 5e-9) * std::abs(recorded);
}

void addLanes(const QStringList& presets) {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("lane");
    for (const QString& preset : presets)
        for (int lane = 0; lane < 2; ++lane)
            QTest::addRow("%s lane %d", qPrintable(preset), lane) << preset << lane;
}

} // namespace

class TestRecipePresets : public QObject {
    Q_OBJECT

private slots:
    void everyRecipeIsThere();
    void learns_data();
    void learns();
    void plainStep_data() { addLanes({"recipe-plain"}); }
    void plainStep();
    void accumulates_data() { addLanes({"recipe-accumulate"}); }
    void accumulates();
    void penalises();
    void optimizersSkipOnTheirOwn();
    void clips_data() { addLanes({"recipe-clip", "recipe-clip-inf", "recipe-clip-value"}); }
    void clips();
    void unclippedIsLost_data() { clips_data(); }
    void unclippedIsLost();
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
};

/// What PyTorch's notes and its documentation of optimizers and schedules name.
void TestRecipePresets::everyRecipeIsThere() {
    QStringList names;
    for (const Preset& preset : recipePresets())
        names << QString::fromStdString(preset.name);
    const QStringList wanted{"recipe-plain",
                             "recipe-accumulate",
                             "recipe-penalty",
                             "recipe-two-optimizers",
                             "recipe-clip",
                             "recipe-clip-inf",
                             "recipe-clip-value",
                             "recipe-onecycle",
                             "recipe-onecycle-linear",
                             "recipe-onecycle-three-phase",
                             "recipe-schedule-step",
                             "recipe-schedule-exponential",
                             "recipe-schedule-cosine",
                             "recipe-schedule-linear",
                             "recipe-adam-amsgrad",
                             "recipe-adamw",
                             "recipe-sgd-nesterov",
                             "recipe-sgd-dampening",
                             "recipe-rmsprop"};
    QCOMPARE(names, wanted);
}

void TestRecipePresets::learns_data() {
    QTest::addColumn<QString>("name");
    for (const Preset& preset : recipePresets())
        QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
}

/// Every lane's loss falls to less than it was, float32 never skips, and AMP does: what a recipe
/// does on a skipped step can be seen in its run.
void TestRecipePresets::learns() {
    QFETCH(QString, name);
    Experiment experiment(configOf(name));
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (!experiment.finished())
        QVERIFY(experiment.advance(records, events));
    const auto lanes = static_cast<size_t>(experiment.lanes());
    for (size_t lane = 0; lane < lanes; ++lane) {
        const StepRecord &first = records[lane], &last = records[records.size() - lanes + lane];
        QVERIFY(std::isfinite(last.loss));
        QVERIFY2(last.loss < 0.8f * first.loss,
                 qPrintable(QString("%1 to %2").arg(double{first.loss}).arg(double{last.loss})));
        QCOMPARE(last.skippedSoFar > 0, lane > 0);
        qInfo("%s: loss %g to %g, %lld skips", experiment.laneName(static_cast<int>(lane)).c_str(),
              double{first.loss}, double{last.loss}, static_cast<long long>(last.skippedSoFar));
    }
}

/// Adam's first step is the learning rate in size wherever there is a gradient.
void TestRecipePresets::plainStep() {
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

/// Weights move at every fourth step alone, and a skip takes four steps.
void TestRecipePresets::accumulates() {
    QFETCH(QString, name);
    QFETCH(int, lane);
    PresetRun run(configOf(name), static_cast<size_t>(lane));
    int updates = 0, skips = 0;
    for (Tensor before = run.weights(); run.steps() < 60;) {
        const MetricsRow row = run.step();
        const Tensor after = run.weights();
        const bool skipped = row[kFoundInfMetric] != 0;
        const bool due = run.steps() % 4 == 0;
        QVERIFY(due || !skipped);
        QCOMPARE(before != after, due && !skipped);
        updates += due && !skipped;
        skips += skipped;
        before = after;
    }
    QCOMPARE(run.counter("optimizer.step"), updates);
    QCOMPARE(updates + skips, 15);
    QCOMPARE(skips > 0, lane == 1);
}

/// The penalty is the norm of the gradient without it, and changes the gradient.
void TestRecipePresets::penalises() {
    const RunConfig config = configOf("recipe-penalty");
    RunConfig without = config;
    without.gradients.penalty = 0;
    PresetRun with(config, 0), bare(without, 0);
    const double penalised = with.step()[kGradientNormMetric];
    const double norm = bare.step()[kGradientNormMetric];
    const double bound = 2 * normBound(bare.weights()) * norm;
    const double penalty = with.value(with.graph().output("penalty"));
    QVERIFY2(std::abs(penalty - norm) <= bound, qPrintable(QString::number(penalty)));
    QVERIFY(penalised > 1.1 * norm);
}

/// Several times one optimizer skips while the other steps.
void TestRecipePresets::optimizersSkipOnTheirOwn() {
    PresetRun run(configOf("recipe-two-optimizers"), 1);
    QCOMPARE(run.moments(), (std::set<std::string>{"exp_avg", "exp_avg_sq", "momentum_buffer"}));
    int skips[2]{}, alone = 0;
    while (!run.finished()) {
        const int found = static_cast<int>(run.step()[kFoundInfMetric]);
        skips[0] += found & 1;
        skips[1] += found >> 1;
        alone += found == 1 || found == 2;
    }
    QVERIFY2(alone > 3, qPrintable(QString::number(alone)));
    const auto steps = static_cast<int>(run.steps());
    QCOMPARE(run.counter("optimizer.step"), steps - skips[0]);
    QCOMPARE(run.counter("optimizer2.step"), steps - skips[1]);
}

/// Gradients that SGD used are within the limit; it bites in some steps and in others does not.
void TestRecipePresets::clips() {
    QFETCH(QString, name);
    QFETCH(int, lane);
    PresetRun run(configOf(name), static_cast<size_t>(lane));
    const GradientConfig& wanted = run.config().gradients;
    const bool byNorm = wanted.clip == ClipKind::Norm2;
    const double limit = wanted.clipLimit;
    int bitten = 0, free = 0, severalAtLimit = 0;
    while (run.steps() < run.config().steps - 20) {
        const ClippedStep step = clippedStep(run);
        const double size = byNorm ? normOf(step.used) : largestOf(step.used);
        const double slack = step.slack + 2e-6 + normBound(step.used) * limit;
        QVERIFY2(size <= limit + slack, qPrintable(QString::number(size)));
        bitten += step.bitten();
        if (step.bitten())
            QVERIFY2(size >= limit - slack, qPrintable(QString::number(size)));
        else
            ++free;
        severalAtLimit += 1 < std::count_if(step.used.begin(), step.used.end(),
                                            [&](double x) { return std::abs(x) >= limit - slack; });
    }
    QVERIFY2(bitten > 20, qPrintable(QString::number(bitten)));
    // values are cut in every step of this run: an output bias alone has a larger gradient
    QVERIFY2(free > 20 || wanted.clip == ClipKind::Value, qPrintable(QString::number(free)));
    // one factor brings one gradient to the limit; a cut by value brings many there
    QCOMPARE(severalAtLimit > 20, wanted.clip == ClipKind::Value);
    QCOMPARE(name.endsWith("-inf"), wanted.clip == ClipKind::NormInf);
}

/// Without the clip the weights overflow, and the scaler looks for a scale that there is not.
void TestRecipePresets::unclippedIsLost() {
    QFETCH(QString, name);
    QFETCH(int, lane);
    RunConfig config = configOf(name);
    config.gradients.clip = ClipKind::None;
    PresetRun run(config, static_cast<size_t>(lane));
    MetricsRow row{};
    while (!run.finished())
        row = run.step();
    QVERIFY(!std::isfinite(row[kLossMetric]));
    if (lane == 1) QCOMPARE(row[kScaleMetric], 0.0);
}

void TestRecipePresets::schedules_data() {
    QStringList names;
    for (const auto& [name, recorded] : recordedSchedules())
        names << name;
    addLanes(names);
}

/// The learning rates of the run are PyTorch's; skipped steps count.
void TestRecipePresets::schedules() {
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

/// The warm-up's third lane waits with its schedule while steps are skipped.
void TestRecipePresets::heldSchedule() {
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

void TestRecipePresets::momenta_data() {
    QTest::addColumn<QString>("name");
    for (const auto& [name, recorded] : recordedSchedules())
        QTest::newRow(qPrintable(name)) << name;
}

/// One-cycle runs the momentum of SGD or beta 1 of Adam against the rate; other schedules do not.
void TestRecipePresets::momenta() {
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

/// At the end of the run what Adam divides by is well above the last mean squares.
void TestRecipePresets::amsgradKeepsTheLargest() {
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

/// Apart from its decay the first step is Adam's: the learning rate in size, or nothing.
void TestRecipePresets::adamWDecaysByItself() {
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
        // by Adam with decay in the gradient no step would be longer than the rate
        decayed += std::abs(change[i]) > optimizer.lr + slack;
    }
    QVERIFY2(2 * whole > std::ssize(change), qPrintable(QString::number(whole)));
    QVERIFY2(decayed > 10, qPrintable(QString::number(decayed)));
}

/// The first step of SGD with Nesterov momentum m is 1 + m times the gradient.
void TestRecipePresets::nesterovLooksAhead() {
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
void TestRecipePresets::firstStepIsNotDampened() {
    QFETCH(QString, name);
    QFETCH(int, lane);
    PresetRun run(configOf(name), static_cast<size_t>(lane));
    const double lr = run.config().optimizer.lr;
    const Tensor start = run.weights();
    const double first = run.stepTaken()[kGradientNormMetric];
    QCOMPARE(run.steps() > 1, lane == 1); // AMP skips before
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

/// The first mean square is 1 - alpha of the gradient's: a step of 10 learning rates at 0.99.
void TestRecipePresets::rmsPropDividesByTheRoot() {
    QFETCH(QString, name);
    QFETCH(int, lane);
    PresetRun run(configOf(name), static_cast<size_t>(lane));
    QCOMPARE(run.moments(), (std::set<std::string>{"square_avg"}));
    const Tensor before = run.weights();
    run.stepTaken();
    const Tensor change = difference(run.weights(), before);
    const double step = 10 * run.config().optimizer.lr;
    // the root's relative error is that of alpha in float32 over 1 - alpha
    const double slack = changeBound(before, change) + 100 * kRoundoff * step;
    QVERIFY2(largestOf(change) <= step + slack, qPrintable(QString::number(largestOf(change))));
    const auto whole = std::count_if(change.begin(), change.end(),
                                     [&](double d) { return std::abs(d) > 0.999 * step; });
    QVERIFY2(2 * whole > std::ssize(change), qPrintable(QString::number(whole)));
}

QTEST_GUILESS_MAIN(TestRecipePresets)
#include "tst_recipe_presets.moc"
