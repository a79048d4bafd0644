// The figures of a saved run from its summary alone: those that the whole run has, or none.
#include "engine/io/atomic_file.h"
#include "engine/io/input_file.h"
#include "engine/runs/metrics.h"
#include "engine/runs/run_figures.h"
#include "engine/runs/run_reader.h"
#include "engine/runs/run_saving.h"
#include "engine/runs/run_score.h"
#include "engine/settings/fields.h"
#include "tests/support/ordinary_user.h"
#include "tests/support/train_into.h"

#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>

namespace tst_run_figures {

using namespace halfscope;

namespace {

namespace fs = std::filesystem;

RunConfig smallConfig(int64_t steps) {
    RunConfig config = presetNamed("overflow").config;
    config.task.side = 8;
    config.model.width = 8;
    config.steps = steps;
    config.device = "cpu";
    return config;
}

/// Whether two values are the same bits, or neither is there.
bool same(const std::optional<double>& a, const std::optional<double>& b) {
    if (!a || !b) return a.has_value() == b.has_value();
    return std::isnan(*a) ? std::isnan(*b) : *a == *b;
}

bool same(const RunFigures& a, const RunFigures& b) {
    bool all = a.steps == b.steps && a.outcome == b.outcome && a.ended == b.ended &&
               a.lanes.size() == b.lanes.size();
    for (size_t i = 0; all && i < a.lanes.size(); ++i) {
        const LaneFigures &x = a.lanes[i], &y = b.lanes[i];
        all = x.name == y.name && same(x.loss, y.loss) && same(x.lastLoss, y.lastLoss) &&
              same(x.validationLoss, y.validationLoss) && same(x.accuracy, y.accuracy);
    }
    return all;
}

/// Returns a row with what every table has.
StepRow rowOf(int64_t step, int32_t lane, float loss) {
    return StepRow(step, lane)
        .set(metric::Loss, loss)
        .set(metric::Scale, 1.0f)
        .set(metric::GrowthTracker, int64_t{0})
        .set(metric::LearningRate, 0.1f)
        .set(metric::GradientNorm, 1.0f)
        .setFlags(0)
        .set(metric::SkippedSoFar, 0.0)
        .set(metric::DeviceSeconds, 0.1)
        .set(metric::WallSeconds, 0.1);
}

RunFigures wholeFigures(const std::string& folder) { return figuresOf(readRun(folder)->now()); }

} // namespace

class TestRunFigures : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void areThoseOfTheRun_data();
    void areThoseOfTheRun();
    void ofValues();
    void ofASavedCopy();
    void needWhatTheRunLeft_data();
    void needWhatTheRunLeft();
    void needReadableFiles();

private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    QTemporaryDir m_folder;
};

void TestRunFigures::initTestCase() { trainInto(path("run"), smallConfig(30)); }

void TestRunFigures::areThoseOfTheRun_data() {
    QTest::addColumn<int>("steps");
    QTest::addColumn<int>("outcome");
    const auto outcome = [](RunOutcome each) { return static_cast<int>(each); };
    QTest::newRow("one step") << 1 << outcome(RunOutcome::Finished);
    QTest::newRow("the mean of two losses") << 2 << outcome(RunOutcome::Interrupted);
    QTest::newRow("as many as the median has") << 25 << outcome(RunOutcome::Stopped);
    QTest::newRow("more") << 26 << outcome(RunOutcome::OutOfPatience);
}

/// Rows of a training, with validations, whose float32 losses have long decimals.
void TestRunFigures::areThoseOfTheRun() {
    QFETCH(const int, steps);
    QFETCH(const int, outcome);
    const std::string folder = path(QTest::currentDataTag());
    RunConfig config = smallConfig(steps);
    Experiment experiment(config);
    RunInfo info = runInfo(experiment, "test");
    {
        RunWriter files(folder, info, lanesOf(config), experiment.target(),
                        std::array{MetricId{metric::ValidationLoss}, MetricId{metric::Accuracy}});
        for (int step = 1; step <= steps; ++step) {
            RunBatch batch;
            for (int32_t lane = 0; lane < 2; ++lane) {
                batch.rows.push_back(rowOf(step, lane, 1.0f / static_cast<float>(step + lane)));
                if (step % 5 == 0)
                    batch.rows.back()
                        .set(metric::ValidationLoss, 1.0 / (3 * step))
                        .set(metric::Accuracy, 1 - 1.0 / (7 * step));
            }
            files.append(batch);
        }
        info.outcome = static_cast<RunOutcome>(outcome);
        files.finish(info, {});
    }
    const auto figures = figuresIn(folder);
    QVERIFY(figures.has_value());
    const RunFigures whole = wholeFigures(folder);
    QVERIFY(same(*figures, whole));
    QCOMPARE(figures->steps, int64_t{steps});
    QVERIFY(figures->outcome == static_cast<RunOutcome>(outcome) && figures->ended);
    QCOMPARE(figures->lanes[1].accuracy.has_value(), steps >= 5);
    QCOMPARE(*figures->lanes[1].lastLoss, double{1.0f / static_cast<float>(steps + 1)});
    QCOMPARE(scoreOf(figures->lanes).loss, scoreOf(readRun(folder)->now()).loss);
}

/// What JSON has no numbers for, and the accuracy of outputs that are nan.
void TestRunFigures::ofValues() {
    const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
    for (const float value : {0.0f, 0.123456789f, 1e-44f, 3e38f, inf, -inf, nan}) {
        const std::string folder = path("values");
        RunConfig config = smallConfig(1);
        Experiment experiment(config);
        RunInfo info = runInfo(experiment, "test");
        info.outcome = RunOutcome::Finished;
        {
            RunWriter files(
                folder, info, lanesOf(config), experiment.target(),
                std::array{MetricId{metric::ValidationLoss}, MetricId{metric::Accuracy}});
            RunBatch batch;
            for (int32_t lane = 0; lane < 2; ++lane)
                batch.rows.push_back(rowOf(1, lane, value)
                                         .set(metric::ValidationLoss, value)
                                         .set(metric::Accuracy, 0.0));
            files.append(batch);
            files.finish(info, {});
        }
        const auto figures = figuresIn(folder);
        QVERIFY2(figures && same(*figures, wholeFigures(folder)),
                 qPrintable(QString::number(value)));
        QVERIFY(same(figures->lanes[0].lastLoss, double{value}));
        QVERIFY(same(figures->lanes[0].accuracy, 0.0));
    }
}

void TestRunFigures::ofASavedCopy() {
    const auto run = trainInto(path("first"), smallConfig(30));
    saveRun(run->now(), path("copy"));
    const auto figures = figuresIn(path("copy"));
    QVERIFY(figures && same(*figures, wholeFigures(path("first"))));
}

void TestRunFigures::needWhatTheRunLeft_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("change");
    for (const char* file : {"steps.csv", "timing.csv", "events.csv", "experiment.json",
                             "summary.json", "target.png", "output_fp32.png", "manifest.json"}) {
        QTest::addRow("%s gone", file) << file << "gone";
        QTest::addRow("%s cut", file) << file << "cut";
        QTest::addRow("%s written anew", file) << file << "written";
    }
    QTest::newRow("a run that did not end") << "manifest.json"
                                            << "unfinished";
    QTest::newRow("another table") << "gradients.csv"
                                   << "added";
    QTest::newRow("a summary of an earlier version") << "summary.json"
                                                     << "trailing_loss";
    QTest::newRow("a summary of another run") << "summary.json"
                                              << "amp-fp16";
    QTest::newRow("settings of a later version") << "experiment.json"
                                                 << "\"version\": 1";
    QTest::newRow("nothing") << ""
                             << "";
}

/// Files keep their age where the change is not that they are written anew.
void TestRunFigures::needWhatTheRunLeft() {
    QFETCH(const QString, file);
    QFETCH(const QString, change);
    const fs::path folder = path("changed");
    fs::remove_all(folder);
    fs::copy(path("run"), folder);
    const auto before = fs::last_write_time(fs::path(path("run")) / "steps.csv");
    for (const auto& each : fs::directory_iterator(folder)) // a copy has its own times
        fs::last_write_time(each.path(), before);
    const fs::path changed = folder / file.toStdString();
    const auto rewrite = [&](const std::string& text) {
        writeFileAtomically(changed.string(), text);
        const bool newer = change == "written";
        fs::last_write_time(changed, before + std::chrono::seconds(newer ? 1 : 0));
    };
    const auto replaced = [&](const std::string& part, const std::string& by) {
        std::string text = readFile(changed.string());
        for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
            text.replace(at, part.size(), by);
        return text;
    };
    if (change == "gone") {
        QVERIFY(fs::remove(changed));
    } else if (change == "cut") {
        fs::resize_file(changed, fs::file_size(changed) / 2);
        fs::last_write_time(changed, before);
    } else if (change == "written") {
        rewrite(readFile(changed.string()));
    } else if (change == "added") {
        writeFileAtomically(changed.string(), "step\n");
        fs::last_write_time(changed, before);
    } else if (change == "unfinished") {
        rewrite(replaced("\"whole\"", "\"unfinished\""));
    } else if (!change.isEmpty()) {
        std::string other = change.toStdString();
        other.back() = '7';
        rewrite(replaced(change.toStdString(), other));
    }
    // a newer manifest alone is no damage: it was written last
    const bool known = change.isEmpty() || (file == "manifest.json" && change == "written");
    QCOMPARE(figuresIn(folder.string()).has_value(), known);
}

/// The whole run cannot be read either then, and whoever reads it says why.
void TestRunFigures::needReadableFiles() {
    fs::permissions(fs::path(path("run")) / "events.csv", fs::perms::none);
    const auto restore = qScopeGuard(
        [&] { fs::permissions(fs::path(path("run")) / "events.csv", fs::perms::owner_all); });
    fs::permissions(path(""), fs::perms(0755));
    const OrdinaryUser user;
    if (!user.holds()) QSKIP("root reads every file here");
    QVERIFY(!figuresIn(path("run")));
}

} // namespace tst_run_figures

QTEST_GUILESS_MAIN(tst_run_figures::TestRunFigures)
#include "tst_run_figures.moc"
