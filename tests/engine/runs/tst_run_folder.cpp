// Folders of runs: those that earlier versions saved can be opened, saved again and trained again
// with the same bytes; tables may have other columns; and there is one sentence for each thing that
// no run writes.
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/io/atomic_file.h"
#include "engine/io/csv.h"
#include "engine/io/input_file.h"
#include "engine/runs/run_reader.h"
#include "engine/runs/run_saving.h"
#include "engine/runs/run_writer.h"
#include "engine/settings/fields.h"
#include "tests/support/missing_texts.h"
#include "tests/support/run_tables.h"
#include "tests/support/thrown.h"
#include "tests/support/train_into.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>

namespace tst_run_folder {

using namespace halfscope;

namespace {

QString savedFolder(const QString& name) {
    return QStringLiteral(HALFSCOPE_SOURCE_DIR "/tests/engine/runs/data/") + name;
}

QString contentOf(const QString& folder, const QString& name) {
    return QString::fromStdString(readFile(QDir(folder).filePath(name).toStdString()));
}

QByteArray bytesOf(const QString& folder, const QString& name) {
    QFile file(QDir(folder).filePath(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("cannot be read");
}

QStringList sortedLines(const QString& text) {
    QStringList lines = text.split(u'\n');
    lines.sort();
    return lines;
}

QString withoutLines(const QString& text, const char* part) {
    QStringList lines = text.split(u'\n');
    lines.removeIf([part](const QString& line) { return line.contains(QLatin1String(part)); });
    return lines.join(u'\n');
}

QStringList filesIn(const QString& folder) {
    return QDir(folder).entryList(QDir::Files | QDir::Hidden);
}

/// Returns the files except the one that differs from run to run and that earlier versions lack.
QStringList lastingFilesIn(const QString& folder) {
    QStringList names = filesIn(folder);
    names.removeAll(QStringLiteral("manifest.json"));
    return names;
}

/// Returns rows as a training delivers them, step by step.
RunBatch batchOf(const RunSnapshot& run, int64_t step) {
    RunBatch batch;
    for (int lane = 0; lane < run.laneCount(); ++lane)
        if (run.column(lane, metric::Loss).at(step)) batch.rows.push_back(run.row(lane, step));
    for (const Event& event : run.events())
        if (event.step == step) batch.events.push_back(event);
    return batch;
}

} // namespace

class TestRunFolder : public QObject {
    Q_OBJECT
private slots:
    void init();
    void savedRunsOpen_data();
    void savedRunsOpen();
    void sameBytesAgain_data();
    void sameBytesAgain();
    void sameBytesWhileItTrains_data();
    void sameBytesWhileItTrains();
    void trainedAndRead();
    void forksAreRead();
    void oddValues();
    void textsOfEvents();
    void unknownColumns();
    void missingColumns();
    void epochs();
    void otherOrder();
    void missingFiles();
    void anEarlierRunGivesWay();
    void galleries();
    void readsManyRowsAndStops();
    void takesLineEndsOfOtherSystems();
    void currentFolderIsGone();
    void settingsThatNoFileHas();

private:
    QString path(const char* name) const { return m_folder->path(name); }
    std::string folder() const { return m_folder->folder().toStdString(); }
    void put(const char* name, const std::string& text) const { m_folder->put(name, text); }
    std::shared_ptr<Run> read() const { return m_folder->read(); }
    std::string error() const {
        return thrownBy<InputError>([this] { static_cast<void>(read()); });
    }
    void addSavedFolders() const {
        QTest::addColumn<QString>("folder");
        for (const char* name : {"overflow", "gradients", "two-fp16"})
            QTest::newRow(name) << savedFolder(QLatin1String(name));
    }
    std::unique_ptr<RunFolder> m_folder;
};

void TestRunFolder::init() { m_folder = std::make_unique<RunFolder>(); }

void TestRunFolder::savedRunsOpen_data() { addSavedFolders(); }

void TestRunFolder::savedRunsOpen() {
    QFETCH(QString, folder);
    const auto run = readRun(folder.toStdString());
    QVERIFY(run);
    const RunSnapshot& now = run->now();
    QVERIFY(now.info().missing.empty());
    QVERIFY(now.info().outcome == RunOutcome::Finished);
    QCOMPARE(now.info().program, std::string("0.1.0"));
    QCOMPARE(now.info().device->kind, std::string("cpu"));
    QCOMPARE(now.info().memory.size(), size_t{2});
    QVERIFY(now.info().memory[1].peakByCause[0] > 0);
    QCOMPARE(now.step(), now.info().config.steps);
    QCOMPARE(now.pictures()->step, now.step());
    QCOMPARE(now.pictures()->outputs.size(), size_t{2});
    // the picture of a regression's target has a size of its own
    const bool painted = now.info().config.task.kind != TaskKind::Regression;
    QCOMPARE(now.target()->width, painted ? 8 : 256);
    QCOMPARE(now.metrics().size(), size_t{metric::kKnown});
    QVERIFY(now.totals(0).last().wallSeconds() > 0);
    for (int lane = 0; lane < 2; ++lane)
        for (MetricId id = 0; id < metric::kKnown; ++id) // no epochs: these runs were saved without
                                                         // them
            QCOMPARE(now.column(lane, id).size(),
                     knownMetrics()[static_cast<size_t>(id)].always ? now.step() : 0);
    const bool counted = folder.endsWith(QLatin1String("gradients"));
    QCOMPARE(now.gradients(0).columns().size(), size_t{counted ? 2u : 0u});
    if (!folder.endsWith(QLatin1String("overflow"))) return;
    QCOMPARE(now.lanes()[1].name, std::string("amp-fp16"));
    QVERIFY(now.totals(1).skips().skipped() > 0);
    QVERIFY(now.events().size() > 10);
    QVERIFY(now.events()[0].text.english().starts_with("Overflow") ||
            !now.events()[0].text.empty());
}

void TestRunFolder::sameBytesAgain_data() { addSavedFolders(); }

void TestRunFolder::sameBytesAgain() {
    QFETCH(QString, folder);
    const auto run = readRun(folder.toStdString());
    const SavedFiles saved = saveRun(run->snapshot(), this->folder());
    QVERIFY(saved.settingsError.empty());
    QCOMPARE(lastingFilesIn(m_folder->folder()), filesIn(folder));
    QCOMPARE(saved.names.size(), static_cast<size_t>(filesIn(folder).size()) + 1);
    for (const QString& name : filesIn(folder)) {
        if (name == QLatin1String("experiment.json")) {
            // later versions have more settings
            QCOMPARE(configText(readConfig(path("experiment.json").toStdString())),
                     configText(readConfig(QDir(folder).filePath(name).toStdString())));
        } else if (name == QLatin1String("gradients.csv")) { // lane by lane
            QCOMPARE(sortedLines(contentOf(m_folder->folder(), name)),
                     sortedLines(contentOf(folder, name)));
        } else {
            QVERIFY2(bytesOf(m_folder->folder(), name) == bytesOf(folder, name), qPrintable(name));
        }
    }
}

void TestRunFolder::sameBytesWhileItTrains_data() { addSavedFolders(); }

/// The summary, too, which is made anew; the version that saved the folders told no trailing loss.
void TestRunFolder::sameBytesWhileItTrains() {
    QFETCH(QString, folder);
    const auto run = readRun(folder.toStdString());
    const RunSnapshot& now = run->now();
    {
        RunWriter files(this->folder(), now.info(), now.lanes(), *now.target());
        for (int64_t step = 1; step <= now.step(); ++step)
            files.append(batchOf(now, step));
        files.finish(now.info(), *now.pictures());
    }
    for (const QString& name : filesIn(folder)) {
        if (name == QLatin1String("experiment.json") || name == QLatin1String("gradients.csv"))
            continue;
        QCOMPARE(withoutLines(contentOf(m_folder->folder(), name), "\"trailing_loss\""),
                 contentOf(folder, name));
    }
    // a run without rows has all the files, too
    const QTemporaryDir none;
    RunWriter(none.path().toStdString(), now.info(), now.lanes(), *now.target());
    QCOMPARE(contentOf(none.path(), "steps.csv"), QLatin1String(table::kSteps));
    QCOMPARE(contentOf(none.path(), "timing.csv"), QLatin1String(table::kTiming));
    QCOMPARE(contentOf(none.path(), "events.csv"), QLatin1String(table::kEvents));
}

void TestRunFolder::trainedAndRead() {
    RunConfig config = presetNamed("overflow").config;
    config.task.side = 8;
    config.model.width = 8;
    config.steps = 60;
    config.device = "cpu";
    const auto trained = trainInto(folder(), config, 20);
    const auto run = readRun(folder());
    QCOMPARE(run->step(), int64_t{60});
    for (int lane = 0; lane < 2; ++lane) {
        for (int64_t step = 1; step <= 60; ++step)
            for (MetricId id = 0; id < metric::kKnown; ++id) {
                const double a = *trained->column(lane, id).at(step);
                const double b = *run->column(lane, id).at(step);
                QVERIFY(a == b || (std::isnan(a) && std::isnan(b)));
            }
        QCOMPARE(run->now().medianDeviceSeconds(lane), trained->now().medianDeviceSeconds(lane));
        QCOMPARE(run->now().totals(lane).scaleAfter(), trained->now().totals(lane).scaleAfter());
    }
    QCOMPARE(run->events().size(), trained->events().size());
    // what the window saves of the same run has the bytes that the command line wrote
    const QTemporaryDir saved;
    saveRun(trained->snapshot(), saved.path().toStdString());
    QCOMPARE(filesIn(saved.path()), filesIn(m_folder->folder()));
    for (const QString& name : lastingFilesIn(saved.path()))
        if (name != QLatin1String("gradients.csv"))
            QVERIFY2(bytesOf(saved.path(), name) == bytesOf(m_folder->folder(), name),
                     qPrintable(name));
}

/// A lane that begins in the middle of the run, and a fork that never came.
void TestRunFolder::forksAreRead() {
    RunConfig config = defaultConfig();
    config.steps = 5;
    config.forks.push_back({4, 1, 0, defaultLane(Precision::AmpFp16)});
    config.forks.push_back({900, 1, 0, defaultLane(Precision::Fp32)});
    std::string steps = table::kSteps, times = table::kTiming;
    for (int step = 1; step <= 5; ++step)
        for (const char* lane : {"fp32", "amp-fp16", "amp-fp16-2"}) {
            if (step < 4 && lane == std::string("amp-fp16-2")) continue;
            const std::string start = std::to_string(step) + "," + lane + ",";
            const char* skips = lane == std::string("fp32") ? ",0,0,0,0,0\n" : ",1,0,0,0,";
            steps += start + std::to_string(step) + ",1,0,0.01,1" + skips;
            if (lane != std::string("fp32")) steps += std::to_string(step) + "\n";
            times += start + (lane == std::string("amp-fp16-2") ? "0.25,1\n" : "0.5,1\n");
        }
    put("steps.csv", steps);
    put("timing.csv", times);
    put("events.csv", std::string(table::kEvents) + "4,amp-fp16-2,edit,1,1,fork,It continues.\n");
    const auto run = readRun(folder(), config);
    QCOMPARE(run->lanes().size(), size_t{3});
    QCOMPARE(run->lanes()[2].forkStep, int64_t{3});
    QCOMPARE(run->now().events()[0].parent, 1);
    QCOMPARE(run->now().medianDeviceSeconds(2), 0.25); // of its own steps alone
    QCOMPARE(run->now().medianDeviceSeconds(1), 0.5);
    QCOMPARE(run->column(2, metric::Loss).size(), int64_t{5});
    QCOMPARE(run->column(2, metric::WallSeconds).size(), int64_t{5});
    QCOMPARE(run->now().totals(2).skips().skipped(), int64_t{5});
    const QTemporaryDir saved;
    saveRun(run->snapshot(), saved.path().toStdString());
    QCOMPARE(contentOf(saved.path(), "steps.csv").toStdString(), steps);
    QCOMPARE(contentOf(saved.path(), "timing.csv").toStdString(), times);
    put("steps.csv", std::string(table::kSteps) + "1,amp-fp16-2,1,1,0,0.01,1,0,0,0,0,0\n");
    QVERIFY2(thrownBy<InputError>([&] {
                 readRun(folder(), config);
             }).find("amp-fp16-2 from step 4 on, after its parent's steps before it") !=
                 std::string::npos,
             error().c_str());
}

void TestRunFolder::oddValues() {
    using Float = std::numeric_limits<float>;
    std::vector<float> odd{0.0f,
                           -0.0f,
                           1.0f / 3,
                           Float::denorm_min(),
                           -Float::denorm_min(),
                           Float::min(),
                           Float::max(),
                           Float::lowest(),
                           Float::infinity(),
                           -Float::infinity(),
                           Float::quiet_NaN()};
    Philox random(7, 1);
    std::vector<float> drawn(3000);
    random.fillUniform(drawn, -40.0f, 40.0f);
    for (const float x : drawn)
        odd.push_back(std::ldexp(x, static_cast<int>(x)));
    Run run(RunInfo{}, lanesOf(defaultConfig()));
    RunBatch batch;
    int64_t skipped = 0;
    for (size_t i = 0; i < odd.size(); ++i) {
        skipped += i % 2 == 1 ? 1 : 0;
        batch.rows.push_back(
            StepRow(static_cast<int64_t>(i) + 1, 1)
                .set(metric::Loss, odd[i])
                .set(metric::Scale, std::isnan(odd[i]) ? 0 : std::abs(odd[i]))
                .set(metric::GrowthTracker, static_cast<int64_t>((i * 7919) % 2147483647))
                .set(metric::LearningRate, odd[(i + 1) % odd.size()])
                .set(metric::GradientNorm, odd[(i + 2) % odd.size()])
                .setFlags(static_cast<uint32_t>(i % 16))
                .set(metric::SkippedSoFar, skipped)
                .set(metric::DeviceSeconds, std::abs(static_cast<double>(odd[i % 3000])) / 3)
                .set(metric::WallSeconds,
                     i == 5 ? std::numeric_limits<double>::denorm_min() : double(i) / 7));
        if (std::isnan(batch.rows.back().deviceSeconds()))
            batch.rows.back().set(metric::DeviceSeconds, 0.0);
    }
    run.append(std::move(batch));
    saveRun(run.snapshot(), folder());
    const auto again = read();
    for (size_t i = 0; i < odd.size(); ++i)
        for (MetricId id = 0; id < metric::kKnown; ++id) {
            const double a = *run.column(1, id).at(static_cast<int64_t>(i) + 1);
            const double b = *again->column(1, id).at(static_cast<int64_t>(i) + 1);
            QVERIFY(std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) ||
                    (std::isnan(a) && std::isnan(b)));
        }
    QCOMPARE(again->step(), int64_t{0}); // lane fp32 has none
}

void TestRunFolder::textsOfEvents() {
    Run run(RunInfo{}, lanesOf(defaultConfig()));
    RunBatch batch;
    for (int64_t step = 1; step <= 8; ++step)
        batch.rows.push_back(
            StepRow(step, 0).set(metric::Loss, 1.0f).set(metric::SkippedSoFar, 0.0));
    for (const char* words : {"", "plain", "with, commas", "\"quoted\"", "two\nlines, \"both\"\r\n",
                              "\"", ",", "\xC3\xA4"}) {
        const auto at = static_cast<int32_t>(batch.events.size());
        batch.events.push_back({static_cast<EventKind>(at % 6), at, at % 3 == 2 ? -1 : at % 3, 0.1f,
                                std::numeric_limits<float>::infinity(), words,
                                Message::data(std::string("a ") + words)});
    }
    run.append(std::move(batch));
    saveRun(run.snapshot(), folder());
    // an empty field stands for a value that was not measured: only metrics that some runs lack may
    // have it
    QVERIFY2(isAbout(error(), path("steps.csv").toStdString() + ", line 2, scale", "\"\" is not"),
             error().c_str());
    std::string steps = table::kSteps;
    for (int step = 1; step <= 8; ++step)
        steps += std::to_string(step) + std::string(table::kRow).substr(1);
    put("steps.csv", steps);
    std::filesystem::remove(path("timing.csv").toStdString());
    const auto again = read();
    QCOMPARE(again->events().size(), run.events().size());
    for (size_t i = 0; i < run.events().size(); ++i) {
        const Event &a = run.events()[i], &b = again->events()[i];
        QVERIFY(a.kind == b.kind && a.step == b.step && a.lane == b.lane &&
                a.scaleBefore == b.scaleBefore && a.scaleAfter == b.scaleAfter);
        QCOMPARE(b.tensor, a.tensor);
        QCOMPARE(b.text, a.text);
    }
}

void TestRunFolder::unknownColumns() {
    const std::string steps = "step,lane,grad noise,loss,val_loss\n"
                              "1,fp32,0.1,0.5,\n1,amp-fp16,-1e-300,0.25,3\n"
                              "2,fp32,nan,0.125,\n2,amp-fp16,0.30000000000000004,0.0625,\n";
    const std::string times = "step,lane,device_seconds,watts\n1,fp32,0.5,300\n1,amp-fp16,0.5,250\n"
                              "2,fp32,0.5,1e+30\n2,amp-fp16,0.5,inf\n";
    put("steps.csv", steps);
    put("timing.csv", times);
    const auto run = read();
    const RunSnapshot& now = run->now();
    QCOMPARE(now.metrics().size(), size_t{metric::kKnown + 3});
    const MetricId noise = now.metricNamed("grad noise"), val = now.metricNamed("val_loss"),
                   watts = now.metricNamed("watts");
    QCOMPARE(now.column(1, noise).at(1), std::optional(-1e-300));
    QCOMPARE(now.column(1, noise).at(2), std::optional(0.30000000000000004));
    QVERIFY(std::isnan(*now.column(0, noise).at(2)));
    QVERIFY(now.column(0, val).empty());
    QCOMPARE(now.column(1, val).size(), int64_t{1});
    QCOMPARE(now.column(0, watts).lastValue(), 1e30);
    QVERIFY(now.metrics()[static_cast<size_t>(watts)].axis != PlotAxis::None);
    const QTemporaryDir saved;
    saveRun(run->snapshot(), saved.path().toStdString());
    // known columns come first
    QCOMPARE(contentOf(saved.path(), "steps.csv").toStdString(),
             "step,lane,loss,grad noise,val_loss\n1,fp32,0.5,0.1,\n1,amp-fp16,0.25,-1e-300,3\n"
             "2,fp32,0.125,nan,\n2,amp-fp16,0.0625,0.30000000000000004,\n");
    QCOMPARE(contentOf(saved.path(), "timing.csv").toStdString(), times);
}

void TestRunFolder::missingColumns() {
    put("steps.csv", "step,lane,loss\n1,fp32,0.5\n1,amp-fp16,0.25\n");
    put("timing.csv", "step,lane,wall_seconds\n1,fp32,0.5\n1,amp-fp16,0.25\n");
    put("events.csv", "kind,step,lane\nedit,1,all\n");
    const auto run = read();
    const RunSnapshot& now = run->now();
    QVERIFY(now.column(0, metric::Scale).empty());
    QVERIFY(!now.has(metric::DeviceSeconds) && now.has(metric::WallSeconds));
    QCOMPARE(now.medianDeviceSeconds(0), 0.0);
    QCOMPARE(now.events()[0].scaleAfter, 1.0f);
    const std::vector<std::string> missing = test::missingTexts(now.info());
    QVERIFY(std::find(missing.begin(), missing.end(), "gradient_norm") != missing.end());
    QVERIFY(std::find(missing.begin(), missing.end(), "summary.json") != missing.end());
    QCOMPARE(missing.size(), size_t{9 + 1 + 1});
    const QTemporaryDir saved;
    saveRun(run->snapshot(), saved.path().toStdString());
    QCOMPARE(contentOf(saved.path(), "steps.csv"), contentOf(m_folder->folder(), "steps.csv"));
    QCOMPARE(contentOf(saved.path(), "timing.csv"), contentOf(m_folder->folder(), "timing.csv"));
    QVERIFY(!filesIn(saved.path()).contains(QLatin1String("summary.json")));
}

/// Epochs stand after the columns that every run has, and are read back.
void TestRunFolder::epochs() {
    const std::string steps = "step,lane,loss,epoch,batch\n1,fp32,0.5,1,1\n1,amp-fp16,0.5,1,1\n"
                              "2,fp32,0.25,1,2\n2,amp-fp16,0.25,1,2\n";
    put("steps.csv", steps);
    const auto run = read();
    QCOMPARE(run->metrics().size(), size_t{metric::kKnown});
    QCOMPARE(run->column(1, metric::Batch).at(2), std::optional(2.0));
    QCOMPARE(run->now().row(0, 2)[metric::Epoch], 1.0);
    const QTemporaryDir saved;
    saveRun(run->snapshot(), saved.path().toStdString());
    QCOMPARE(contentOf(saved.path(), "steps.csv").toStdString(), steps);
    put("steps.csv", "step,lane,loss,epoch\n1,fp32,0.5,0\n");
    QVERIFY_THROWS_EXCEPTION(InputError, read());
}

void TestRunFolder::otherOrder() {
    put("steps.csv",
        "skipped_so_far,loss,lane,skipped,step\n0,0.5,fp32,0,1\n1,0.25,amp-fp16,1,1\n");
    const auto run = read();
    QCOMPARE(run->column(1, metric::Loss).at(1), std::optional(0.25));
    QCOMPARE(run->now().totals(1).skips().skipped(), int64_t{1});
    const QTemporaryDir saved;
    saveRun(run->snapshot(), saved.path().toStdString());
    QCOMPARE(contentOf(saved.path(), "steps.csv"),
             QLatin1String("step,lane,loss,skipped,skipped_so_far\n1,fp32,0.5,0,0\n"
                           "1,amp-fp16,0.25,1,1\n"));
}

void TestRunFolder::missingFiles() {
    QVERIFY(!holdsSavedRun(folder()));
    QVERIFY2(isAbout(error(), path("steps.csv").toStdString(), "cannot read: No such file"),
             error().c_str());
    put("steps.csv", table::kSteps);
    QVERIFY(holdsSavedRun(folder()));
    const auto run = read();
    QCOMPARE(run->step(), int64_t{0});
    QCOMPARE(test::missingTexts(run->info()),
             (std::vector<std::string>{"timing.csv", "events.csv", "summary.json"}));
    QVERIFY(!run->info().device && !run->info().outcome);
    const QTemporaryDir saved;
    saveRun(run->snapshot(), saved.path().toStdString());
    QCOMPARE(filesIn(saved.path()), (QStringList{"experiment.json", "manifest.json", "steps.csv"}));
    QCOMPARE(contentOf(saved.path(), "steps.csv"), QLatin1String(table::kSteps));
    // settings of its own are read first
    std::filesystem::remove(path("experiment.json").toStdString());
    QVERIFY2(thrownBy<InputError>([this] {
                 readRun(folder());
             }).starts_with(path("experiment.json").toStdString() + ": cannot read"),
             "no settings");
}

void TestRunFolder::anEarlierRunGivesWay() {
    put("gradients.csv", "of an earlier run");
    put("output_amp-bf16.png", "a picture");
    put("notes.txt", "mine");
    const auto run = readRun(savedFolder(QStringLiteral("overflow")).toStdString());
    saveRun(run->snapshot(), folder());
    QVERIFY(!filesIn(m_folder->folder()).contains(QLatin1String("gradients.csv")));
    QVERIFY(!filesIn(m_folder->folder()).contains(QLatin1String("output_amp-bf16.png")));
    QCOMPARE(contentOf(m_folder->folder(), "notes.txt"), QLatin1String("mine"));
    put("gradients.csv", "of an earlier run");
    RunInfo bad = run->info();
    bad.recorded.steps = -1; // no run begins, and the existing files stay
    QVERIFY(thrownBy<InputError>([&] {
                RunWriter(folder(), bad, run->lanes(), *run->now().target());
            }).starts_with("run.steps"));
    QVERIFY(contentOf(m_folder->folder(), "steps.csv").size() > 1000);
    QCOMPARE(contentOf(m_folder->folder(), "gradients.csv"), QLatin1String("of an earlier run"));
    RunWriter(folder(), run->info(), run->lanes(), *run->now().target());
    QVERIFY(!filesIn(m_folder->folder()).contains(QLatin1String("gradients.csv")));
    QVERIFY(!filesIn(m_folder->folder()).contains(QLatin1String("summary.json")));
    const OutputFolder lock(folder());
    QVERIFY(thrownBy<RunError>([&] { saveRun(run->snapshot(), folder()); }) != "nothing thrown");
}

/// Galleries are written by both writers of folders, and read again; one that is missing is lost.
void TestRunFolder::galleries() {
    const auto run = readRun(savedFolder(QStringLiteral("overflow")).toStdString());
    RunBatch batch;
    batch.pictures = *run->now().pictures();
    for (const char* caption : {"1/2", "2/2", "0 shirt"})
        batch.pictures->galleries.push_back({2, 1, 3, {0, 0, 0, 1, 1, 1}, caption});
    for (const char* caption : {"1/1", "0/0"})
        batch.pictures->mistakes.push_back({1, 1, 3, {1, 0, 0}, caption});
    run->append(std::move(batch));
    const RunSnapshot& now = run->now();
    saveRun(run->snapshot(), folder());
    const QTemporaryDir other;
    RunWriter(other.path().toStdString(), now.info(), now.lanes(), *now.target())
        .finish(now.info(), *now.pictures());
    const char* const names[] = {"samples_fp32.png", "samples_amp-fp16.png", "samples_target.png",
                                 "mistakes_fp32.png", "mistakes_amp-fp16.png"};
    for (const char* name : names)
        QVERIFY(bytesOf(m_folder->folder(), name) == bytesOf(other.path(), name));
    const auto found = [this] { return *readRun(folder())->now().pictures(); };
    QVERIFY(found().fromFiles);
    QCOMPARE(found().galleries.size(), size_t{3});
    QCOMPARE(found().galleries[2].caption, std::string("0 shirt"));
    QVERIFY(found().galleries[0].values == now.pictures()->galleries[0].values);
    QCOMPARE(found().mistakes.size(), size_t{2});
    QCOMPARE(found().mistakes[1].caption, std::string("0/0"));
    std::filesystem::remove(path("samples_fp32.png").toStdString());
    QCOMPARE(found().galleries.size(), size_t{3});
    QCOMPARE(found().galleries[2].caption, std::string("0 shirt"));
    QCOMPARE(found().lost.galleries, std::vector<size_t>{0});
    QCOMPARE(found().mistakes.size(), size_t{2});
    QCOMPARE(found().outputs.size(), size_t{2});
    // saving a run without galleries removes earlier ones
    saveRun(readRun(savedFolder(QStringLiteral("overflow")).toStdString())->snapshot(), folder());
    QVERIFY(filesIn(m_folder->folder()).filter(QStringLiteral("samples")).isEmpty());
    QVERIFY(filesIn(m_folder->folder()).filter(QStringLiteral("mistakes")).isEmpty());
}

void TestRunFolder::readsManyRowsAndStops() {
    std::string text = "step,lane,loss\n";
    constexpr int64_t kRows = 2 * 8192 + 3;
    for (int64_t i = 0; i < kRows; ++i)
        text += std::to_string(i / 2 + 1) + (i % 2 == 0 ? ",fp32," : ",amp-fp16,") +
                std::to_string(i) + "\n";
    put("steps.csv", text);
    std::vector<double> told;
    const auto run = readRun(folder(), defaultConfig(), [&](double share) {
        told.push_back(share);
        return true;
    });
    QCOMPARE(run->step(), kRows / 2);
    for (int64_t i = 0; i < kRows; ++i)
        QCOMPARE(run->column(static_cast<int>(i % 2), metric::Loss).at(i / 2 + 1),
                 std::optional(static_cast<double>(i)));
    QCOMPARE(told.size(), size_t{2});
    QVERIFY(told[0] > 0.3 && told[0] < told[1] && told[1] <= 1);
    int asked = 0;
    QVERIFY(!readRun(folder(), defaultConfig(), [&](double) { return ++asked < 2; }));
    QCOMPARE(asked, 2);
}

/// Reads a table that went through another program.
void TestRunFolder::takesLineEndsOfOtherSystems() {
    std::string header = table::kSteps;
    header.insert(header.size() - 1, "\r");
    put("steps.csv", header + "1,fp32,0.5,1,0,0.01,1,0,0,0,0,0\r\n");
    QCOMPARE(read()->now().lastStep(), int64_t{1});
}

void TestRunFolder::currentFolderIsGone() {
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::create_directory(path("gone").toStdString());
    std::filesystem::current_path(path("gone").toStdString());
    std::filesystem::remove(path("gone").toStdString());
    RunConfig config = presetNamed("picture").config;
    config.task.image = "rings.png";
    const std::string text = thrownBy<InputError>([&] { portableConfig(config); });
    std::filesystem::current_path(before);
    QVERIFY2(text.starts_with("task.image: \"rings.png\" is not allowed: the current folder, from "
                              "which it leads, is gone ("),
             text.c_str());
    QVERIFY(text.ends_with("; an absolute path is"));
    QCOMPARE(portableConfig(config).task.image, (before / "rings.png").string());
}

void TestRunFolder::settingsThatNoFileHas() {
    const auto run = readRun(savedFolder(QStringLiteral("overflow")).toStdString());
    RunBatch edit;
    edit.info = run->info();
    edit.info->recorded.steps = -1;
    run->append(std::move(edit));
    const SavedFiles saved = saveRun(run->snapshot(), folder());
    QVERIFY2(saved.settingsError.english().starts_with("run.steps"),
             saved.settingsError.english().c_str());
    QVERIFY(!filesIn(m_folder->folder()).contains(QLatin1String("experiment.json")));
    QVERIFY(filesIn(m_folder->folder()).contains(QLatin1String("steps.csv")));
    for (const std::string& name : saved.names) {
        const std::vector<std::string> all = filesOf(run->snapshot());
        QVERIFY(std::find(all.begin(), all.end(), name) != all.end());
    }
}

} // namespace tst_run_folder

QTEST_GUILESS_MAIN(tst_run_folder::TestRunFolder)
#include "tst_run_folder.moc"
