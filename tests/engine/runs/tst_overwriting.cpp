// What runs must not overwrite: which files settings name, and that a file is known by whatever
// path and link leads to it. What the command line says: tst_cli_overwriting.
#include "engine/core/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/input_file.h"
#include "engine/runs/held_run.h"
#include "engine/runs/overwriting.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/run_saving.h"
#include "engine/settings/fields.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>

namespace tst_overwriting {

using namespace halfscope;

class TestOverwriting : public QObject {
    Q_OBJECT

private slots:
    void readPaths();
    void files();
    void filesOfARun();
    void savedRuns();
    void heldRuns();
    void recordedRuns();

private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    const QTemporaryDir m_folder;
};

/// Those that mean something beside the other settings, of the lanes and forks, too.
void TestOverwriting::readPaths() {
    const auto named = [](const RunConfig& config) {
        QStringList all;
        for (const ReadPath& each : readPathsOf(config))
            all << QString::fromStdString(each.name + "=" + each.path);
        return all;
    };
    RunConfig config = defaultConfig();
    config.task.kind = TaskKind::Csv;
    config.task.path = "t.csv";
    config.task.testPath = "test.csv";
    config.task.image = "of another kind.png";
    config.model.weights = "w.safetensors";
    config.lanes[0].policyFile = "of no use.json";
    config.lanes[1].precision = Precision::User;
    config.lanes[1].policyFile = "p.json";
    config.forks.push_back({3, 0, 0, config.lanes[1]});
    config.forks[0].lane.policyFile = "q.json";
    QStringList found = named(config);
    found.sort();
    QCOMPARE(found, (QStringList{"data.path=t.csv", "data.test_path=test.csv",
                                 "model.weights=w.safetensors", "precision.policy=p.json",
                                 "precision.policy=q.json"}));
    QCOMPARE(named(defaultConfig()), QStringList());
}

void TestOverwriting::files() {
    const std::vector<ReadPath> all{{"data.x", path("x.npy")}, {"data.path", path("data")}};
    QVERIFY(QDir(m_folder.path()).mkpath("data/cat"));
    for (const char* name : {"x.npy", "other.npy", "data/cat/1.png", "data/net.onnx"})
        writeFileAtomically(path(name), "mine");
    std::filesystem::create_hard_link(path("x.npy"), path("hard.npy"));
    std::filesystem::create_symlink(path("x.npy"), path("soft.npy"));
    std::filesystem::create_symlink(path("data"), path("same"));
    const auto refused = [&](const char* name) {
        return thrownBy<InputError>([&] {
            keepRead(all, path(name));
            throw InputError(Message::data("allowed"));
        });
    };
    for (const char* name : {"x.npy", "./x.npy", "hard.npy", "soft.npy", "data/../x.npy"}) {
        QCOMPARE(refused(name), path(name) + " is the file of data.x and would be overwritten; "
                                             "choose another folder or name");
        const std::vector<std::string> names{"none.npy", name};
        const auto inFolder =
            thrownBy<InputError>([&] { keepRead(all, m_folder.path().toStdString(), names); });
        QCOMPARE(inFolder, refused(name));
    }
    for (const char* name : {"data/cat/1.png", "same/cat/1.png"})
        QCOMPARE(refused(name), path(name) + " lies in the folder of data.path and would be "
                                             "overwritten; choose another folder or name");
    for (const char* name : {"other.npy", "none.npy", "data/net.onnx", "data/cat/2.png"})
        QCOMPARE(refused(name), std::string("allowed"));
}

/// Of a saved run's folder only the run's own files are kept, under whatever name a link has.
void TestOverwriting::filesOfARun() {
    QVERIFY(QDir(m_folder.path()).mkpath("run"));
    const std::vector<ReadPath> all{{.name = "a saved run", .path = path("run"), .isRun = true}};
    for (const char* name : {"run/experiment.json", "run/steps.csv", "run/mine.json",
                             "run/Experiment.json", "experiment.json"})
        writeFileAtomically(path(name), "mine");
    std::filesystem::create_symlink(path("run/steps.csv"), path("link.csv"));
    std::filesystem::create_symlink(path("run"), path("same run"));
    const auto allowed = [&](const char* name) {
        return thrownBy<InputError>([&] { keepRead(all, path(name)); }) == "nothing thrown";
    };
    for (const char* name :
         {"run/experiment.json", "run/steps.csv", "link.csv", "same run/steps.csv"})
        QVERIFY2(!allowed(name), name);
    for (const char* name : {"run/mine.json", "experiment.json", "run/events.csv"})
        QVERIFY2(allowed(name), name);
    // a file system that ignores case has but one of both
    const bool both =
        !std::filesystem::equivalent(path("run/experiment.json"), path("run/Experiment.json"));
    QCOMPARE(allowed("run/Experiment.json"), both);
}

/// Saving a run, as the window does, replaces no file that the run was trained on.
void TestOverwriting::savedRuns() {
    RunInfo info;
    info.recorded = defaultConfig();
    const std::string name = run_file::weights("fp32"), folder = path("saved");
    QVERIFY(QDir(m_folder.path()).mkpath("saved"));
    info.recorded.model.weights = folder + "/" + name;
    info.config = info.recorded;
    writeFileAtomically(info.recorded.model.weights, "mine");
    const halfscope::Run run(info, lanesOf(info.recorded));
    QCOMPARE(thrownBy<InputError>([&] { saveRun(run.snapshot(), folder); }),
             folder + "/" + name +
                 " is the file of model.weights and would be overwritten; choose another folder or "
                 "name");
    QCOMPARE(QDir(m_folder.filePath("saved")).entryList(QDir::Files | QDir::Hidden),
             QStringList{QString::fromStdString(name)});
    QCOMPARE(readFile(info.recorded.model.weights), std::string("mine"));
    saveRun(run.snapshot(), path("elsewhere"));
    QVERIFY(QFile::exists(m_folder.filePath("elsewhere/steps.csv")));
}

/// What a question names before a run is replaced. Files of other programs are of no run.
void TestOverwriting::heldRuns() {
    RunInfo info;
    info.recorded = defaultConfig();
    info.recorded.title = "Lecture 5";
    info.config = info.recorded;
    halfscope::Run run(info, lanesOf(info.recorded));
    const std::string folder = path("held");
    QVERIFY(!heldRun(folder));
    const SavedFiles saved = saveRun(run.snapshot(), folder);
    auto held = heldRun(folder);
    QVERIFY(held);
    QVERIFY(!saved.id.empty());
    QCOMPARE(held->id, saved.id);
    QCOMPARE(held->title, std::string("Lecture 5"));
    QCOMPARE(held->steps, int64_t(0));
    std::string rows = "step,lane,loss\n"; // more than are read at once
    for (int step = 1; step <= 451; ++step)
        for (const char* lane : {"fp32", "amp-fp16"})
            rows += std::to_string(step) + "," + lane + ",0.5\n";
    const auto stepsWith = [&](const std::string& text) {
        writeFileAtomically(folder + "/" + run_file::kSteps, text);
        const auto found = heldRun(folder);
        return found ? found->steps : -1;
    };
    QCOMPARE(stepsWith(rows), int64_t(451));
    QCOMPARE(stepsWith(rows + "452,fp32"), int64_t(451)); // a kill
    for (const char* none : {"", "\n", "12", "step,lane\n", "-3,fp32\n", "\xff\n", "12\n"})
        QCOMPARE(stepsWith(none), int64_t(0));
    // an earlier version wrote no manifest
    QVERIFY(QFile::remove(m_folder.filePath("held/manifest.json")));
    held = heldRun(folder);
    QVERIFY(held && held->id.empty() && held->title == "Lecture 5");
    writeFileAtomically(folder + "/" + run_file::kExperiment, "[1, 2");
    QVERIFY(!heldRun(folder));
    writeFileAtomically(folder + "/" + run_file::kManifest, "mine");
    QVERIFY(!heldRun(folder));
    QVERIFY(!heldRun(folder + "/" + run_file::kManifest));
}

/// A folder whose settings cannot be read is refused elsewhere, where a sentence tells why.
void TestOverwriting::recordedRuns() {
    QVERIFY(QDir(m_folder.path()).mkpath("recorded"));
    const std::string folder = path("recorded");
    const auto with = [&folder](const std::string& settings) {
        writeFileAtomically(folder + "/" + run_file::kExperiment, settings);
        return isRecorded(folder);
    };
    QVERIFY(!isRecorded(folder));
    const std::string recorded = R"({"version": 1, "title": "mine",
        "data": {"kind": "recorded"}, "lanes": [{"precision": "fp32"}]})";
    QVERIFY(with(recorded));
    QVERIFY(!with(recorded.substr(0, recorded.size() / 2)));
    QVERIFY(!with("mine"));
    QVERIFY(!with(configText(defaultConfig())));
    QVERIFY(!isRecorded(path("none")));
}

} // namespace tst_overwriting

QTEST_GUILESS_MAIN(tst_overwriting::TestOverwriting)
#include "tst_overwriting.moc"
