// The presets of PyTorch's recipes: each one's own mechanism is visible in its run. A preset whose
// settings are wrong (another kind, a limit that never takes effect) fails here; tst_recipes and
// tst_optimizer prove that the mechanisms compute what PyTorch does. Optimizers and schedules are
// in tst_recipe_optimizers.
#include "engine/settings/recipes.h"
#include "engine/train/experiment.h"
#include "tests/support/preset_run.h"

#include <QTest>

#include <algorithm>
#include <cmath>

namespace tst_recipe_presets {

using namespace halfscope;

namespace {

/// What SGD without momentum tells about a clip: the gradients that it used, and the gradients
/// before.
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

} // namespace

class TestRecipePresets : public QObject {
    Q_OBJECT

private slots:
    void everyRecipeIsThere();
    void learns_data();
    void learns();
    void accumulates_data() { addLanes({"recipe-accumulate"}); }
    void accumulates();
    void penalises();
    void optimizersSkipOnTheirOwn();
    void clips_data() { addLanes({"recipe-clip", "recipe-clip-inf", "recipe-clip-value"}); }
    void clips();
    void unclippedIsLost_data() { clips_data(); }
    void unclippedIsLost();
};

/// Every recipe is there that PyTorch's notes and its documentation of optimizers and schedules
/// name.
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
                             "recipe-schedule-warmup",
                             "recipe-schedule-linear",
                             "recipe-adam-amsgrad",
                             "recipe-adamw",
                             "recipe-sgd-nesterov",
                             "recipe-sgd-dampening",
                             "recipe-rmsprop",
                             "recipe-adagrad",
                             "recipe-adadelta"};
    QCOMPARE(names, wanted);
}

void TestRecipePresets::learns_data() {
    QTest::addColumn<QString>("name");
    for (const Preset& preset : recipePresets())
        QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
}

/// Every lane's loss falls, float32 never skips, and AMP does: what a recipe does on a skipped step
/// is visible in its run.
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

/// Weights change only at every fourth step, and a skip costs four steps.
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

/// Gradients that SGD used are within the limit, which takes effect in some steps and not in
/// others.
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
    // values are cut in every step of this run: only an output bias has a larger gradient
    QVERIFY2(free > 20 || wanted.clip == ClipKind::Value, qPrintable(QString::number(free)));
    // one factor brings one gradient to the limit; a cut by value brings many there
    QCOMPARE(severalAtLimit > 20, wanted.clip == ClipKind::Value);
    QCOMPARE(name.endsWith("-inf"), wanted.clip == ClipKind::NormInf);
}

/// Without the clip the weights overflow, and no scale can help.
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

} // namespace tst_recipe_presets

QTEST_GUILESS_MAIN(tst_recipe_presets::TestRecipePresets)
#include "tst_recipe_presets.moc"
