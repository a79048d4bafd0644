// The recipes of PyTorch's notes on AMP as whole trainings, compared with runs recorded from
// PyTorch by tests/golden/record_recipe_runs.py: float64 losses, and the scales of float16
// autocast. What a recipe's preset shows is in tst_recipe_presets.
#include "engine/io/input_file.h"
#include "engine/settings/fields.h"
#include "engine/train/trainer.h"
#include "engine/verify/fixed_dataset.h"
#include "engine/verify/golden.h"
#include "tests/support/training.h"

#include <QTest>

#include <cmath>

namespace tst_recipe_runs {

using namespace halfscope;
using recorded::FixedDataset;
using recorded::Golden;

namespace {

/// The relative bound of a float32 loss about the float64 one, as verify requires of its recorded
/// runs.
constexpr double kFloat32Bound = 2e-6;
/// The bound of losses in half precision: sums in another order, magnified by 24 steps; measured
/// 6e-4.
constexpr double kHalfBound = 2e-3;

const Golden& recordedRuns() {
    static const std::string path = HALFSCOPE_SOURCE_DIR "/tests/golden/recipe_runs.json";
    static const Golden file = Golden::parse(path, readFile(path));
    return file;
}

RunConfig configOf(const Golden& run) {
    const Golden& file = recordedRuns();
    RunConfig config;
    config.task.kind = TaskKind::Regression;
    config.model = {file.at("width").integer(), 1, Norm::None, Activation::Relu};
    config.optimizer.lr = 1e-2;
    const bool amp = run.at("amp").flag();
    config.lanes = {defaultLane(amp ? Precision::AmpFp16 : Precision::Fp32)};
    config.lanes[0].scaler.initScale = file.at("first_scale").number();
    config.lanes[0].scaler.rules.growthInterval = file.at("growth_interval").integer();
    for (const Golden& setting : run.at("settings").items())
        applySetting(config, setting.text());
    checkConfig(config);
    return config;
}

FixedDataset dataset() {
    const Golden& file = recordedRuns();
    std::vector<FixedDataset::Batch> batches;
    for (size_t i = 0; i < file.at("x").size(); ++i)
        batches.push_back({file.at("x").at(i).floats(), file.at("target").at(i).floats()});
    return {{file.at("rows").integer(), file.at("inputs").integer(), 1}, std::move(batches)};
}

Weights startOf(const RunConfig& config) {
    Weights start;
    for (const auto& [name, values] : recordedRuns().at("start").members())
        if (config.model.networks > 1 || !name.starts_with("second."))
            start[name] = values.floats();
    return start;
}

} // namespace

class TestRecipeRuns : public QObject {
    Q_OBJECT

private slots:
    void followsPyTorch_data();
    void followsPyTorch();
};

void TestRecipeRuns::followsPyTorch_data() {
    QTest::addColumn<int>("index");
    const std::vector<Golden> runs = recordedRuns().at("runs").items();
    for (size_t i = 0; i < runs.size(); ++i) {
        const char* precision = runs[i].at("amp").flag() ? "amp-fp16" : "fp32";
        QTest::addRow("%s %s", runs[i].at("name").text().c_str(), precision) << static_cast<int>(i);
    }
}

void TestRecipeRuns::followsPyTorch() {
    QFETCH(const int, index);
    const Golden run = recordedRuns().at("runs").at(static_cast<size_t>(index));
    const RunConfig config = configOf(run);
    const FixedDataset data = dataset();
    Trainer trainer(config, 0, "recorded", data, makeCpuExecutor(1));
    trainer.setWeights(startOf(config));
    const double bound = run.at("amp").flag() ? kHalfBound : kFloat32Bound;
    double worst = 0;
    std::vector<Event> events;
    for (size_t i = 0; i < run.at("losses").size(); ++i) {
        const auto record = trainer.step(static_cast<int64_t>(i) + 1, events);
        QVERIFY(record.has_value());
        const std::string step = "step " + std::to_string(i + 1);
        QVERIFY2(double{record->scale} == run.at("scales").at(i).number(), step.c_str());
        const double wanted = run.at("losses").at(i).number();
        const double deviation = std::abs(double{record->loss} - wanted) / wanted;
        QVERIFY2(deviation <= bound, (step + ": " + std::to_string(deviation)).c_str());
        worst = std::max(worst, deviation);
    }
    qInfo("largest relative deviation of a loss: %.2g", worst);
}

} // namespace tst_recipe_runs

QTEST_GUILESS_MAIN(tst_recipe_runs::TestRecipeRuns)
#include "tst_recipe_runs.moc"
