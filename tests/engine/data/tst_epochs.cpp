// Epochs: how samples become steps, and that every sample comes once in each epoch. tst_last_batch
// tests what a smaller last batch does to a training.
#include "engine/settings/fields.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"
#include "engine/step/schedule.h"
#include "tests/support/thrown.h"

#include "engine/core/error.h"

#include <QTest>

#include <set>

namespace tst_epochs {

using namespace halfscope;

namespace {

RunConfig regression(int64_t samples, int64_t batch, LastBatch last) {
    RunConfig config = presetNamed("recipe-plain").config;
    config.task.samples = samples;
    config.task.batch = batch;
    config.data.lastBatch = last;
    return config;
}

} // namespace

class TestEpochs : public QObject {
    Q_OBJECT

private slots:
    /// After whole epochs and after steps, whichever comes first.
    void validations() {
        const EpochPlan plan{21, 8, LastBatch::Keep}; // three steps
        const auto next = [&plan](int64_t epochs, int64_t steps, int64_t step) {
            return nextValidation({.epochs = epochs, .steps = steps}, plan, step);
        };
        QCOMPARE(next(1, 0, 0), int64_t{3});
        QCOMPARE(next(1, 0, 2), int64_t{3});
        QCOMPARE(next(1, 0, 3), int64_t{6});
        QCOMPARE(next(2, 0, 3), int64_t{6});
        QCOMPARE(next(0, 4, 3), int64_t{4});
        QCOMPARE(next(1, 4, 3), int64_t{4});
        QCOMPARE(next(1, 4, 4), int64_t{6});
        QCOMPARE(next(0, 0, 3), int64_t{0});
    }

    void plans() {
        const EpochPlan keep{21, 8, LastBatch::Keep}, drop{21, 8, LastBatch::Drop};
        QCOMPARE(keep.stepsPerEpoch(), int64_t{3});
        QCOMPARE(drop.stepsPerEpoch(), int64_t{2});
        QCOMPARE(keep.lastRows(), int64_t{5});
        QCOMPARE(drop.lastRows(), int64_t{8});
        QCOMPARE(keep.epochOf(3), int64_t{1});
        QCOMPARE(keep.epochOf(4), int64_t{2});
        QCOMPARE(keep.batchOf(6), int64_t{2});
        QCOMPARE(keep.firstOf(6), int64_t{16});
        QCOMPARE(keep.rowsOf(6), int64_t{5});
        QCOMPARE(drop.rowsOf(6), int64_t{8});
        const EpochPlan even{24, 8, LastBatch::Keep};
        QCOMPARE(even.stepsPerEpoch(), int64_t{3});
        QCOMPARE(even.lastRows(), int64_t{8});
        QCOMPARE((EpochPlan{8, 8, LastBatch::Keep}.stepsPerEpoch()), int64_t{1});
    }

    void everySampleComesOnce_data() {
        QTest::addColumn<bool>("keep");
        QTest::newRow("keep") << true;
        QTest::newRow("drop") << false;
    }
    void everySampleComesOnce() {
        QFETCH(bool, keep);
        const RunConfig config = regression(53, 10, keep ? LastBatch::Keep : LastBatch::Drop);
        const auto data = makeTask(config);
        QCOMPARE(data->stepsPerEpoch(), int64_t{keep ? 6 : 5});
        std::set<float> all;
        for (int64_t epoch = 0; epoch < 4; ++epoch) {
            std::set<float> seen; // by their targets, which all differ
            for (int64_t i = 1; i <= data->stepsPerEpoch(); ++i) {
                const int64_t step = epoch * data->stepsPerEpoch() + i;
                const auto rows = static_cast<size_t>(data->rows(step));
                QCOMPARE(rows, size_t{i == 6 ? 3u : 10u});
                std::vector<float> x(rows * 10), target(rows);
                QVERIFY(data->batch(step, x, target));
                seen.insert(target.begin(), target.end());
            }
            QCOMPARE(seen.size(), size_t{keep ? 53u : 50u});
            all.merge(seen);
        }
        QCOMPARE(all.size(), size_t{53}); // the samples that are dropped are others each time
    }

    void lengthOfARun() {
        RunConfig config = regression(53, 10, LastBatch::Keep);
        QCOMPARE(stepsOf(config), int64_t{300});
        applySetting(config, "run.epochs=7");
        QCOMPARE(stepsOf(config), int64_t{42});
        applySetting(config, "run.steps=12"); // the setting that comes last decides
        QCOMPARE(stepsOf(config), int64_t{12});
        RunConfig picture;
        picture.epochs = 9;
        QCOMPARE(stepsOf(picture), int64_t{9});
        // in a file, epochs decide in either order
        const RunConfig read =
            parseConfig(R"({"version": 1, "run": {"epochs": 4, "steps": 50}})", "x.json");
        QCOMPARE(read.epochs, int64_t{4});
        QCOMPARE(read.steps, int64_t{50});
        QCOMPARE(parseConfig(configText(read), "x.json").epochs, int64_t{4});
    }

    void schedulesSpanTheRun() {
        RunConfig config = presetNamed("recipe-onecycle").config;
        QCOMPARE(config.schedule.totalSteps, int64_t{0});
        for (const int64_t steps : {300, 600}) {
            config.steps = steps;
            const ScheduleConfig schedule = scheduleOf(config);
            QCOMPARE(schedule.totalSteps, steps);
            QCOMPARE(scheduleTables(config).at("schedule.table").size(),
                     static_cast<size_t>(steps));
            QVERIFY(learningRate(schedule, 0, steps - 1) < 1e-7);
            QVERIFY(learningRate(schedule, 0, steps / 2) > 1e-3);
        }
        config.gradients.accumulate = 4; // the schedule advances with updates
        QCOMPARE(scheduleOf(config).totalSteps, int64_t{150});
        config.schedule.totalSteps = 77;
        QCOMPARE(scheduleOf(config).totalSteps, int64_t{77});
    }

    void refused_data() {
        QTest::addColumn<QStringList>("settings");
        QTest::addColumn<QString>("wanted");
        QTest::newRow("one sample has no variance")
            << QStringList{"task.samples=21", "task.batch=10", "model.norm=batch"}
            << "data.last_batch: keep is not allowed with model.norm batch";
        QTest::newRow("too many epochs")
            << QStringList{"run.epochs=1000000000"}
            << "run.epochs: 1000000000 is not allowed: at most 62500000, for an epoch has 16 steps";
        QTest::newRow("schedule of one step")
            << QStringList{"schedule.kind=cosine", "schedule.total_steps=1"}
            << "schedule.total_steps: 1 is not allowed: 0, for as many as the run has";
        QTest::newRow("schedule that is too long")
            << QStringList{"schedule.kind=cosine", "run.steps=9000000"}
            << "schedule.total_steps: 0 is not allowed for a run of 9000000 updates";
        QTest::newRow("warm-up as long as the schedule")
            << QStringList{"schedule.kind=cosine", "schedule.warmup_steps=50",
                           "schedule.total_steps=50"}
            << "schedule.warmup_steps: 50 is not allowed: at most 49, because "
               "schedule.total_steps is 50";
    }
    /// Constant and one-cycle take no warm-up, so its length does not matter to them.
    void warmupsThatDoNothing() {
        for (const char* kind : {"constant", "one-cycle"}) {
            RunConfig config = regression(1024, 64, LastBatch::Keep);
            config.steps = 50;
            applySetting(config, "schedule.kind=" + std::string(kind));
            const std::vector<float> before = scheduleTables(config).at("schedule.table");
            config.schedule.warmupSteps = 500;
            checkConfig(config);
            QCOMPARE(scheduleTables(config).at("schedule.table"), before);
        }
    }
    /// A run shorter than its warm-up ends in it, as a PyTorch program would.
    void warmupsOfShortRuns() {
        RunConfig config = regression(1024, 64, LastBatch::Keep);
        config.steps = 5;
        config.schedule.kind = ScheduleKind::Cosine;
        config.schedule.warmupSteps = 10;
        checkConfig(config);
        const std::vector<float> rates = scheduleTables(config).at("schedule.table");
        for (const size_t i : {size_t{0}, size_t{4}})
            QCOMPARE(rates.at(i), static_cast<float>(config.optimizer.lr *
                                                     (0.1 + 0.9 * static_cast<double>(i) / 10)));
    }
    void refused() {
        QFETCH(QStringList, settings);
        QFETCH(QString, wanted);
        RunConfig config = regression(1024, 64, LastBatch::Keep);
        for (const QString& setting : settings)
            applySetting(config, setting.toStdString());
        const std::string said = thrownBy<InputError>([&] { checkConfig(config); });
        QVERIFY2(said.starts_with(wanted.toStdString()), said.c_str());
    }
};

} // namespace tst_epochs

QTEST_GUILESS_MAIN(tst_epochs::TestEpochs)
#include "tst_epochs.moc"
