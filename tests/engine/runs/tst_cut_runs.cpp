// Folders of runs that did not end: what a kill, a full disk or a power cut leaves can be opened,
// and the program says what is missing.
#include "engine/core/error.h"
#include "engine/io/growing_file.h"
#include "engine/io/input_file.h"
#include "engine/runs/gradient_file.h"
#include "engine/runs/run_manifest.h"
#include "engine/runs/run_past.h"
#include "engine/runs/run_saving.h"
#include "engine/runs/run_writer.h"
#include "engine/settings/fields.h"
#include "tests/support/growth_limit.h"
#include "tests/support/missing_texts.h"
#include "tests/support/run_tables.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string_view>

namespace tst_cut_runs {

using namespace halfscope;
namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

std::string rows(int steps) {
    std::string text = table::kSteps;
    for (int step = 1; step <= steps; ++step)
        text += std::to_string(step) + std::string(table::kRow).substr(1) + std::to_string(step) +
                ",amp-fp16" + std::string(table::kRow).substr(6);
    return text;
}

std::string times(int steps) {
    std::string text = table::kTiming;
    for (int step = 1; step <= steps; ++step)
        text += std::to_string(step) + ",fp32,0.5,1\n" + std::to_string(step) + ",amp-fp16,0.5,1\n";
    return text;
}

} // namespace

class TestCutRuns : public QObject {
    Q_OBJECT
private slots:
    void init() { m_folder = std::make_unique<RunFolder>(); }
    void raggedTables_data();
    void raggedTables();
    void damagedRows_data();
    void damagedRows();
    void damageBeforeACheckpoint();
    void damagedEventsAndACheckpoint_data();
    void damagedEventsAndACheckpoint();
    void emptyFiles();
    void cutGradients();
    void damagedSummaryAndPictures();
    void manifests();
    void refusedManifests_data();
    void refusedManifests();
    void rowsAreThereWhileItTrains();
    void tablesEndAtACommonStep();
    void changedByOthers_data();
    void changedByOthers();
    void changedWhileItTrains();
    void othersChangedASettledFile();
    void aCutNeverMakesAFileLonger();
    void failedSaveKeepsTheEarlierRun();

private:
    void put(const char* name, const std::string& text) const { m_folder->put(name, text); }
    std::string folder() const { return m_folder->folder().toStdString(); }
    Names missing() const { return test::missingTexts(m_folder->read()->info()); }
    std::unique_ptr<RunFolder> m_folder;
};

void TestCutRuns::raggedTables_data() {
    QTest::addColumn<QByteArray>("steps");
    QTest::addColumn<QByteArray>("timing");
    QTest::addColumn<QByteArray>("events");
    QTest::addColumn<int>("step");
    QTest::addColumn<QByteArray>("lacks");
    const auto row = [](const char* name, const std::string& steps, const std::string& timing,
                        const std::string& events, int step, const char* lacks) {
        QTest::newRow(name) << QByteArray::fromStdString(steps) << QByteArray::fromStdString(timing)
                            << QByteArray::fromStdString(table::kEvents + events) << step
                            << QByteArray(lacks);
    };
    row("whole", rows(3), times(3), "3,fp32,edit,1,1,,\n", 3, "");
    row("times end before", rows(3), times(2), "", 3, "timing.csv after step 2");
    row("no times", rows(3), table::kTiming, "", 3, "timing.csv after step 0");
    row("times go on", rows(2), times(3), "", 2, "steps.csv after step 2");
    row("events go on", rows(2), times(2), "9,fp32,edit,1,1,,\n", 2, "steps.csv after step 2");
    row("an overflow goes on", rows(2), times(2), "3,fp32,overflow,2,1,,\n", 2,
        "steps.csv after step 2");
    row("a row in two", rows(2) + "3,fp32,0.", times(2), "", 2, "steps.csv after step 2");
    row("a time in two", rows(2), times(1) + "2,fp", "", 2, "timing.csv after step 1");
    row("an event in two", rows(2), times(2), "1,fp32,edit,1,1,,\"one\ntw", 2,
        "the last line of events.csv");
    row("zeros at the end", rows(2) + std::string(5000, '\0'), times(2), "", 2,
        "steps.csv after step 2");
}

void TestCutRuns::raggedTables() {
    QFETCH(const QByteArray, steps);
    QFETCH(const QByteArray, timing);
    QFETCH(const QByteArray, events);
    QFETCH(const int, step);
    QFETCH(const QByteArray, lacks);
    put("steps.csv", steps.toStdString());
    put("timing.csv", timing.toStdString());
    put("events.csv", events.toStdString());
    const auto run = m_folder->read();
    QCOMPARE(run->step(), int64_t{step});
    Names expected{"summary.json"};
    if (!lacks.isEmpty()) expected.insert(expected.begin(), lacks.toStdString());
    QCOMPARE(test::missingTexts(run->info()), expected);
    const QTemporaryDir saved; // and can be saved again
    saveRun(run->snapshot(), saved.path().toStdString());
    QCOMPARE(readRun(saved.path().toStdString(), defaultConfig())->step(), int64_t{step});
}

void TestCutRuns::damagedRows_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    QTest::addColumn<int>("step");
    QTest::addColumn<QByteArray>("lacks");
    const auto row = [](const char* name, const char* file, const char* from, const char* to,
                        int step, const char* lacks) {
        QTest::newRow(name) << QByteArray(file) << QByteArray(from) << QByteArray(to) << step
                            << QByteArray(lacks);
    };
    row("a value", "steps.csv", "3,amp-fp16,0.5,", "3,amp-fp16,abc,", 2,
        "steps.csv after step 2 (FILE, line 7, loss: \"abc\" is not allowed: a number, nan, inf or "
        "-inf)");
    row("a field too much", "steps.csv", "2,fp32,", "2,,fp32,", 1,
        "steps.csv after step 1 (FILE, ");
    row("a step", "steps.csv", "4,fp32,", "5,fp32,", 3, "steps.csv after step 3 (FILE, line 8, ");
    row("a time", "timing.csv", "2,amp-fp16,0.5,1", "2,amp-fp16,0.5,x", 4,
        "timing.csv after step 1 (FILE, line 5, wall_seconds: \"x\" is not allowed: a number from "
        "0 or inf)");
    row("an event", "events.csv", "2,fp32,edit,1", "2,fp32,edit,x", 4,
        "the rest of events.csv (FILE, line 3, scale_before: \"x\" is not allowed: ");
    row("the first event", "events.csv", "1,fp32,edit,1", "1,fp32,edit,x", 4,
        "the rest of events.csv (FILE, line 2, scale_before: \"x\" is not allowed: ");
    row("a count", "gradients.csv", "fp32,2,2", "fp32,2,x", 4,
        "the rest of gradients.csv (FILE, line 3, last_step: \"x\" is not allowed: ");
}

/// A damaged line ends its table like a file that is cut off there, and hides no step before it.
void TestCutRuns::damagedRows() {
    QFETCH(const QByteArray, file);
    QFETCH(const QByteArray, from);
    QFETCH(const QByteArray, to);
    QFETCH(const int, step);
    QFETCH(QByteArray, lacks);
    std::map<std::string, std::string> files{
        {"steps.csv", rows(4)},
        {"timing.csv", times(4)},
        {"events.csv", std::string(table::kEvents) + "1,fp32,edit,1,1,,\n2,fp32,edit,1,1,,\n" +
                           "3,fp32,edit,1,1,,\n"},
        {"gradients.csv", gradientHeader()}};
    for (int64_t at = 1; at <= 3; ++at) {
        GradientRange range;
        range.step = at;
        files["gradients.csv"] += gradientLine(range, "fp32");
    }
    std::string& text = files[file.toStdString()];
    const size_t place = text.find('\n' + from.toStdString());
    QVERIFY(place != std::string::npos);
    text.replace(place + 1, static_cast<size_t>(from.size()), to.toStdString());
    for (const auto& [name, content] : files)
        put(name.c_str(), content);
    const auto run = m_folder->read();
    QCOMPARE(run->step(), int64_t{step});
    const Names found = test::missingTexts(run->info());
    QCOMPARE(found.size(), size_t{2});
    lacks.replace("FILE", QByteArray::fromStdString(m_folder->file(file.constData())));
    QVERIFY2(found[0].starts_with(lacks.toStdString()) && found[0].ends_with(')'),
             found[0].c_str());
    QCOMPARE(found[1], std::string("summary.json"));
    const int64_t timed = file == "timing.csv" ? 1 : step; // no part of the damaged row is taken
    int64_t measured = 0;
    run->column(1, metric::DeviceSeconds).values(1, 5, [&](int64_t, double) { ++measured; });
    QCOMPARE(measured, timed);
    const bool first = to.startsWith("1");
    const auto events = size_t{file != "events.csv" ? 3U : first ? 0U : 1U};
    QCOMPARE(run->events().size(), std::min(events, static_cast<size_t>(step) + 2));
    const QTemporaryDir saved; // and can be saved again
    saveRun(run->snapshot(), saved.path().toStdString());
    QCOMPARE(readRun(saved.path().toStdString(), defaultConfig())->step(), int64_t{step});
}

/// A run goes on only from rows that are all there: those behind the damage would be lost.
void TestCutRuns::damageBeforeACheckpoint() {
    std::string damaged = rows(4);
    damaged.replace(damaged.find("3,amp-fp16"), 1, "x");
    put("steps.csv", damaged);
    put("timing.csv", times(4));
    put("events.csv", table::kEvents);
    put("experiment.json", configText(defaultConfig()));
    const RunManifest manifest{newRunId(), true, {}};
    put("manifest.json", manifestText(manifest));
    const auto past = [&](int64_t step) {
        return readPast(folder(), manifest.run, step, defaultConfig()).rows->step();
    };
    QCOMPARE(past(2), int64_t{2});
    QCOMPARE(thrownBy<InputError>([&] { past(3); }),
             m_folder->file("steps.csv") +
                 ", line 7, step: \"x\" is not allowed: a whole number from 1 to 1000000000");
}

void TestCutRuns::damagedEventsAndACheckpoint_data() {
    QTest::addColumn<QByteArray>("events");
    QTest::addColumn<int>("from"); // the first step of a checkpoint that is refused
    const auto row = [](const char* name, const char* events, int from) {
        QTest::newRow(name) << QByteArray(events) << from;
    };
    row("its step is told", "1,fp32,growth,1,2,,\n3,fp32,growth,2,x,,\n", 3);
    row("a field too few", "1,fp32,growth,1,2,,\n3,fp32,growth,2,4\n4,fp32,growth,4,8,,\n", 3);
    row("a mark without its pair", "1,fp32,growth,1,2,,\n3,fp32,growth,2,4,,\"Gr\n", 3);
    row("not told", "2,fp32,growth,1,2,,\nx,fp32,growth,2,4,,\n4,fp32,growth,4,8,,\n", 2);
    row("no event before", "x,fp32,growth,2,4,,\n", 1);
    row("an edit is early", "1,fp32,growth,1,2,,\n4,fp32,edit,x,4,,\n", 3);
    row("a step of no row", "1,fp32,growth,1,2,,\n9000,fp32\n", 1);
}

/// Events behind a checkpoint are told again, so those lines need not be readable. A line that does
/// not tell its step may be as early as the one before it.
void TestCutRuns::damagedEventsAndACheckpoint() {
    QFETCH(const QByteArray, events);
    QFETCH(const int, from);
    put("steps.csv", rows(4));
    put("timing.csv", times(4));
    put("events.csv", table::kEvents + events.toStdString());
    put("experiment.json", configText(defaultConfig()));
    const RunManifest manifest{newRunId(), true, {}};
    put("manifest.json", manifestText(manifest));
    RunConfig recorded = defaultConfig();
    const auto refused = [&](int64_t step) {
        return thrownBy<InputError>([&] { readPast(folder(), manifest.run, step, recorded); });
    };
    for (int step = 1; step <= 4; ++step)
        QCOMPARE(refused(step).starts_with(m_folder->file("events.csv") + ", line "), step >= from);
    if (from < 3) return;
    std::vector<int64_t> told;
    readPast(folder(), manifest.run, 2, recorded).forEach([&](const RunBatch& batch) {
        for (const Event& event : batch.events)
            told.push_back(event.step);
    });
    QCOMPARE(told, std::vector<int64_t>{1});
    recorded.edits = {{3, 1, "optimizer.lr", 0.5}}; // whose event the damage may have hidden
    QVERIFY(refused(2).starts_with(m_folder->file("events.csv")));
}

void TestCutRuns::emptyFiles() {
    put("steps.csv", rows(2));
    for (const char* name : {"timing.csv", "events.csv", "gradients.csv", "summary.json"})
        put(name, "");
    QCOMPARE(missing(), (Names{"timing.csv", "events.csv", "gradients.csv", "summary.json"}));
    put("events.csv", "step,lane,ki"); // a header cut in two
    QCOMPARE(missing(), (Names{"timing.csv", "events.csv", "gradients.csv", "summary.json"}));
    put("steps.csv", "");
    QCOMPARE(m_folder->read()->now().lastStep(), int64_t{0});
}

/// A count that a kill has cut in two is told, and those before it are read.
void TestCutRuns::cutGradients() {
    put("steps.csv", rows(2));
    put("timing.csv", times(2));
    put("events.csv", table::kEvents);
    GradientRange range;
    range.step = 1;
    range.outputs.zeros = 4;
    const std::string whole = gradientHeader() + gradientLine(range, "fp32");
    put("gradients.csv", whole);
    QCOMPARE(missing(), Names{"summary.json"});
    range.step = 2;
    put("gradients.csv", whole + gradientLine(range, "fp32").substr(0, 30));
    QCOMPARE(missing(), (Names{"the last line of gradients.csv", "summary.json"}));
    QCOMPARE(m_folder->read()->now().gradients(0).columns().size(), size_t{1});
}

void TestCutRuns::damagedSummaryAndPictures() {
    put("steps.csv", rows(2));
    put("timing.csv", times(2));
    put("events.csv", table::kEvents);
    put("summary.json", R"({"version": 1, "steps": 7, "lanes": []})");
    QVERIFY(thrownBy<InputError>([this] { missing(); }).find("steps: 7 is not") !=
            std::string::npos);
    put("timing.csv", times(1)); // then there may well be more rows of it than of the others
    QCOMPARE(missing(), (Names{"timing.csv after step 1", "summary.json"}));
    put("target.png", "");
    put("output_fp32.png", std::string(100, '\0'));
    put("output_amp-fp16.png", "");
    const auto run = m_folder->read();
    QCOMPARE(run->now().target()->width, 0);
    QVERIFY(run->now().targetPicture().isDamaged());
    QCOMPARE(run->now().pictures()->lost.outputs, (std::vector<size_t>{0, 1}));
    QCOMPARE(test::missingTexts(run->info()),
             (Names{"target.png", "timing.csv after step 1", "summary.json", "output_fp32.png",
                    "output_amp-fp16.png"}));
}

void TestCutRuns::manifests() {
    put("steps.csv", rows(2));
    put("timing.csv", times(2));
    put("events.csv", table::kEvents);
    RunManifest manifest{newRunId(), false, {}};
    QVERIFY(manifest.run != newRunId());
    put("manifest.json", manifestText(manifest));
    QCOMPARE(missing(), (Names{"the end of the run", "summary.json"}));
    manifest.whole = true;
    manifest.files = {{"steps.csv", static_cast<int64_t>(rows(2).size())}, {"target.png", 7}};
    put("manifest.json", manifestText(manifest));
    QCOMPARE(missing(), (Names{"target.png", "summary.json"}));
    manifest.files = {{"steps.csv", 100'000}};
    put("manifest.json", manifestText(manifest));
    QCOMPARE(missing(), (Names{"the end of steps.csv", "summary.json"}));
    const RunManifest again = manifestOf(manifestText(manifest));
    QVERIFY(again.run == manifest.run && again.whole && again.files == manifest.files);
    put("manifest.json", "{");
    QCOMPARE(missing(), (Names{"manifest.json", "summary.json"}));
}

void TestCutRuns::refusedManifests_data() {
    QTest::addColumn<QByteArray>("text");
    const auto row = [](const char* name, const char* text) {
        QTest::newRow(name) << QByteArray(text);
    };
    row("a list", "[]");
    row("no version", R"({"run": "00000000000000000000000000000000", "state": "whole"})");
    row("another id", R"({"version": 1, "run": "xyz", "state": "whole"})");
    row("another state",
        R"({"version": 1, "run": "00000000000000000000000000000000", "state": "done"})");
    row("files of no object",
        R"({"version": 1, "run": "00000000000000000000000000000000", "state": "whole", "files": 3})");
    row("a negative size",
        R"({"version": 1, "run": "00000000000000000000000000000000", "state": "whole",
            "files": {"a": -1}})");
}

void TestCutRuns::refusedManifests() {
    QFETCH(const QByteArray, text);
    QVERIFY_THROWS_EXCEPTION(InputError, manifestOf(text.toStdString()));
}

void TestCutRuns::rowsAreThereWhileItTrains() {
    RunWriter files(folder(), table::runInfo(), lanesOf(defaultConfig()), {1, 1, 1, {0}});
    QCOMPARE(readRun(folder())->step(), int64_t{0}); // only headers exist
    files.append(table::batchOf(1));
    QTest::qSleep(300);
    files.append(table::batchOf(2));
    const auto run = readRun(folder());
    QCOMPARE(run->step(), int64_t{2});
    QCOMPARE(run->events().size(), size_t{2});
    QCOMPARE(test::missingTexts(run->info()), (Names{"the end of the run", "summary.json"}));
}

/// The first table that runs out of room cuts the others.
void TestCutRuns::tablesEndAtACommonStep() {
    std::string error;
    {
        std::optional<GrowthLimit> limit; // lasts longer than the writer
        RunWriter files(folder(), table::runInfo(), lanesOf(defaultConfig()), {1, 1, 1, {0}});
        limit.emplace(100'001);
        error = thrownBy<RunError>([&] {
            for (int64_t step = 1; step < 100'000; ++step)
                files.append(table::batchOf(step));
        });
    }
    QCOMPARE(error, m_folder->file("steps.csv") + ": cannot write: File too large");
    const auto run = readRun(folder());
    QVERIFY(run->step() > 1000);
    QCOMPARE(run->now().lastStep(), run->step());
    QCOMPARE(run->events().size(), static_cast<size_t>(run->step()));
    QCOMPARE(test::missingTexts(run->info()), (Names{"the end of the run", "summary.json"}));
    QVERIFY(fs::file_size(m_folder->file("steps.csv")) > 99'000);
}

void TestCutRuns::changedByOthers_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QByteArray>("how");
    for (const char* how : {"removed", "saved anew", "emptied", "longer", "the folder"})
        for (const char* file : {"steps.csv", "timing.csv", "events.csv", "gradients.csv"})
            if (how != std::string("the folder") || file == std::string("gradients.csv"))
                QTest::addRow("%s %s", file, how) << QByteArray(file) << QByteArray(how);
}

/// A table that another program removes, replaces or changes is missing rows: such a run is never
/// called whole, and a checkpoint of it does not take the place of the one before.
void TestCutRuns::changedByOthers() {
    QFETCH(const QByteArray, file);
    QFETCH(const QByteArray, how);
    RunInfo info = table::runInfo();
    RunWriter files(folder(), info, lanesOf(defaultConfig()), {1, 1, 1, {0}});
    RunBatch first = table::batchOf(1);
    GradientRange counted;
    counted.step = 1;
    counted.weights.zeros = 1;
    first.gradients.push_back({counted, counted});
    files.append(first);
    const std::string_view checkpoint = "before";
    const auto place = [&files](const std::string_view& content) {
        return files.place("checkpoint.safetensors", std::span(&content, 1), {});
    };
    QVERIFY(place(checkpoint).empty()); // all is in order
    const std::string changed = m_folder->file(file.constData());
    const std::string text = readFile(changed);
    QVERIFY(!text.empty());
    files.append(table::batchOf(2));
    if (how == "removed") fs::remove(changed);
    if (how == "saved anew") writeFileAtomically(changed, text);
    if (how == "emptied") fs::resize_file(changed, 0);
    if (how == "longer") std::ofstream(changed, std::ios::app) << "\n";
    if (how == "the folder") fs::remove_all(folder());
    const std::string reason = "another program removed, replaced or changed this file";
    const std::string_view later = "later";
    const std::string atCheckpoint = thrownBy<RunError>([&] { (void)place(later); });
    QVERIFY2(isAbout(atCheckpoint, changed, reason), atCheckpoint.c_str());
    info.outcome = RunOutcome::Finished;
    const std::string atEnd = thrownBy<RunError>([&] { files.finish(info, {}); });
    QVERIFY2(isAbout(atEnd, changed, reason), atEnd.c_str());
    if (how == "the folder") {
        QVERIFY(!fs::exists(folder()));
        return;
    }
    QVERIFY(!manifestOf(readFile(m_folder->file("manifest.json"))).whole);
    QCOMPARE(readFile(m_folder->file("checkpoint.safetensors")), std::string("before"));
}

/// Without checkpoints, too, a run does not train to its end for nothing.
void TestCutRuns::changedWhileItTrains() {
    RunWriter files(folder(), table::runInfo(), lanesOf(defaultConfig()), {1, 1, 1, {0}});
    files.append(table::batchOf(1));
    fs::resize_file(m_folder->file("steps.csv"), 0);
    constexpr int kSteps = 6000; // a minute
    int64_t step = 1;
    const std::string error = thrownBy<RunError>([&] {
        while (++step < kSteps) {
            files.append(table::batchOf(step));
            QTest::qSleep(10);
        }
    });
    QVERIFY2(isAbout(error, m_folder->file("steps.csv"), "the rows that it lacks are lost"),
             error.c_str());
    QVERIFY(step < kSteps);
    // no hole takes the place of what was lost
    QVERIFY(readFile(m_folder->file("steps.csv")).find('\0') == std::string::npos);
}

void TestCutRuns::othersChangedASettledFile() {
    for (const char* file : {"experiment.json", "target.png"}) {
        RunInfo info = table::runInfo();
        RunWriter files(folder(), info, lanesOf(defaultConfig()), {1, 1, 1, {0}});
        files.append(table::batchOf(1));
        fs::remove(m_folder->file(file));
        info.outcome = RunOutcome::Finished;
        const std::string error = thrownBy<RunError>([&] { files.finish(info, {}); });
        QVERIFY2(isAbout(error, m_folder->file(file), "does not count as whole"), error.c_str());
        QVERIFY(!manifestOf(readFile(m_folder->file("manifest.json"))).whole);
    }
}

/// After a failed write tables are cut at a common step; one that another program has emptied has
/// no zeros instead of rows then.
void TestCutRuns::aCutNeverMakesAFileLonger() {
    const OpenFolder open(folder());
    GrowingFile file(open, "steps.csv");
    file.append("1\n22\n333\n");
    file.flush();
    file.place();
    QVERIFY(file.isIntact());
    fs::resize_file(m_folder->file("steps.csv"), 0);
    QVERIFY(!file.isIntact());
    file.cutAt(5);
    QCOMPARE(readFile(m_folder->file("steps.csv")), std::string());
    file.append("4\n");
    file.flush();
    QCOMPARE(readFile(m_folder->file("steps.csv")), std::string("4\n"));
}

void TestCutRuns::failedSaveKeepsTheEarlierRun() {
    put("steps.csv", rows(2));
    const auto run = m_folder->read();
    const QTemporaryDir saved;
    const std::string to = saved.path().toStdString();
    saveRun(run->snapshot(), to);
    const std::string manifest = readFile(to + "/manifest.json");
    fs::create_directory(to + "/events.csv"); // a name that a new run needs
    Run other(table::runInfo(), lanesOf(defaultConfig()));
    other.append(table::batchOf(1));
    QCOMPARE(thrownBy<RunError>([&] { saveRun(other.snapshot(), to); }),
             to + "/events.csv: cannot write: Is a directory");
    QCOMPARE(readFile(to + "/manifest.json"), manifest);
    QCOMPARE(readFile(to + "/steps.csv"), rows(2));
    QCOMPARE(QDir(saved.path()).entryList(QDir::Files | QDir::Hidden).size(), 3);
}

} // namespace tst_cut_runs

QTEST_GUILESS_MAIN(tst_cut_runs::TestCutRuns)
#include "tst_cut_runs.moc"
