// halfscope-cli runs from outside: sessions that a window has left behind.
#include "engine/io/database.h"
#include "engine/runs/run_reader.h"
#include "engine/runs/session_store.h"
#include "tests/support/cli.h"
#include "tests/support/ordinary_user.h"

#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>

namespace tst_cli_runs {

using namespace halfscope;
using namespace halfscope::test;

class TestCliRuns : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void init();
    void lists();
    void listsWhatAUserKept();
    void shows();
    void exports();
    void exportsNetworks();
    void exportsBothNetworks();
    void deletes();
    void deletesSeveral();
    void deletesAllOrNothing_data();
    void deletesAllOrNothing();
    void takesSeveral();
    void deletesSavedRuns();
    void deletingLeavesRunsInFolders();
    void usedSessionsAreLeftAlone();
    void unreadableSessionsAreNamed();
    void unreadableSessionsAreNoneTheLess();
    void lostValuesAreNamed();
    void lostLossesAreNamed();
    void checkpointsThatCannotBeRead();
    void sealedFoldersAreRead();
    void findsTheWindowsFolder();
    void refuses_data();
    void refuses();

private:
    QString path(const char* name) const { return m_folder.filePath(name); }
    QString sessions() const { return m_sessions->path(); }
    Outcome runs(const QStringList& arguments) const {
        return call(QStringList{"runs"} + arguments + QStringList{"--sessions", sessions()});
    }
    /// Returns the names in the list, without its heading.
    QStringList names() const {
        QStringList names;
        for (const QByteArray& line : runs({}).out.split('\n').mid(1))
            if (!line.isEmpty()) names << QString::fromUtf8(line).section(' ', 0, 0);
        return names;
    }
    QString leaveWithNetworks(const QString& folder, int64_t steps) const;
    QTemporaryDir m_folder;
    std::unique_ptr<QTemporaryDir> m_sessions; ///< of one test function
};

void TestCliRuns::initTestCase() {
    QCOMPARE(call(smallRun(path("short"), {"--steps", "12"})).code, 0);
    QCOMPARE(call(smallRun(path("long"), {"--steps", "3000", "--set",
                                          "lanes.1.scaler.init_scale=2^40", "--gradients", "500"}))
                 .code,
             0);
}

/// Two runs in a session whose window has crashed.
void TestCliRuns::init() {
    m_sessions = std::make_unique<QTemporaryDir>();
    SessionStore store({sessions().toStdString()});
    store.watch(readRun(path("short").toStdString()), "Short");
    store.watch(readRun(path("long").toStdString()), "Long\n\x1b[31m");
    store.flush();
}

void TestCliRuns::lists() {
    const Outcome outcome = runs({});
    QCOMPARE(outcome.code, 0);
    QCOMPARE(outcome.error, QByteArray());
    const QList<QByteArray> lines = outcome.out.split('\n');
    QCOMPARE(lines.size(), 4);
    QVERIFY2(lines[0].startsWith("run ") && lines[0].contains("steps"), lines[0]);
    QVERIFY2(lines[1].contains("/1 ") && lines[1].contains(" 12 ") && lines[1].endsWith("Short"),
             lines[1]);
    QVERIFY2(lines[2].contains("/2 ") && lines[2].contains(" 3000 ") && !lines[2].contains('\x1b'),
             lines[2]);
    QCOMPARE(runs({"list"}).out, outcome.out);
    const QTemporaryDir empty;
    const Outcome none = call({"runs", "--sessions", empty.path()});
    QVERIFY2(none.code == 0 && none.out.contains("There are no unsaved runs in "), none.out);
    for (const QString& wrong : {path("nothing"), path("short/steps.csv")}) {
        const Outcome refused = call({"runs", "--sessions", wrong});
        QVERIFY2(refused.code == 2 && refused.saysOneLine(), refused.error);
        QVERIFY2(refused.error.contains("runs: --sessions: ") &&
                     refused.error.contains(wrong.toUtf8()),
                 refused.error);
    }
}

void TestCliRuns::listsWhatAUserKept() {
    {
        SessionStore store({sessions().toStdString()});
        store.watch(readRun(path("short").toStdString()), "Kept");
        store.setMark(SessionMark::Kept);
        store.flush();
    }
    const Outcome outcome = runs({});
    QCOMPARE(outcome.code, 0);
    QVERIFY2(outcome.out.trimmed().endsWith(" Kept"), outcome.out);
    QCOMPARE(names().size(), 3);
    QVERIFY2(runs({"show", names().last()}).out.contains("\n12 steps of "), outcome.out);
}

void TestCliRuns::shows() {
    const Outcome outcome = runs({"show", names().last()});
    QCOMPARE(outcome.code, 0);
    const RunSnapshot run = readRun(path("long").toStdString())->snapshot();
    QVERIFY2(outcome.out.contains("\n3000 steps of 3000 on "), outcome.out);
    const auto skipped = QByteArray::number(qlonglong(run.totals(1).last().skippedSoFar()));
    QVERIFY2(skipped.toInt() > 0 && outcome.out.contains(" " + skipped + " "), outcome.out);
    QVERIFY2(outcome.out.contains("\namp-fp16"), outcome.out);
    const qsizetype plain = outcome.out.indexOf("\nfp32") + 1; // has no loss scale
    const QByteArray line = outcome.out.mid(plain, outcome.out.indexOf('\n', plain) - plain);
    QVERIFY2(plain > 0 && line.endsWith(" 0        -"), line);
}

/// The exported folder is like any run's. Files of others stay in theirs.
void TestCliRuns::exports() {
    QVERIFY(QDir().mkpath(path("theirs")));
    QFile theirs(path("theirs/events.csv"));
    QVERIFY(theirs.open(QIODevice::WriteOnly) && theirs.write("theirs") == 6);
    theirs.close();
    const Outcome refused = runs({"export", names().last(), "--out", path("theirs")});
    QVERIFY2(refused.code == 2 && refused.saysOneLine() &&
                 refused.error.contains("--out: " + theirs.fileName().toUtf8() +
                                        " is not the file of a run, "),
             refused.error);
    QCOMPARE(contentOf(theirs.fileName()), QByteArray("theirs"));
    const Outcome outcome = runs({"export", names().last(), "--out", path("exported")});
    QVERIFY2(outcome.code == 0 && outcome.out.contains("Files: "), outcome.error);
    QCOMPARE(outcome.error, QByteArray("This run has no checkpoint, so there are no weights to "
                                       "export.\n"));
    for (const char* file :
         {"steps.csv", "events.csv", "timing.csv", "output_fp32.png", "experiment.json"})
        QVERIFY2(contentOf(path("exported/") + file) == contentOf(path("long/") + file), file);
    QVERIFY(contentOf(path("exported/summary.json")).contains("\"outcome\": \"finished\""));
    const auto sorted = [](const QString& file) { // lane by lane, or in the order of counting
        QList<QByteArray> lines = contentOf(file).split('\n');
        std::sort(lines.begin(), lines.end());
        return lines;
    };
    QCOMPARE(sorted(path("exported/gradients.csv")), sorted(path("long/gradients.csv")));
    QCOMPARE(names().size(), 2); // the session stays
    QCOMPARE(call({"run", path("exported"), "--steps", "3"}).code, 0);
}

/// Leaves a run in another session, with its networks after its last step, and returns its name.
QString TestCliRuns::leaveWithNetworks(const QString& folder, int64_t steps) const {
    const auto run = readRun(folder.toStdString());
    RunBatch batch;
    batch.checkpoint = std::make_shared<const RunCheckpoint>(
        steps, [&] { return contentOf(folder + "/checkpoint.safetensors").toStdString(); });
    run->append(std::move(batch));
    {
        SessionStore store({sessions().toStdString()});
        store.watch(run, "Trained");
        store.flush();
    }
    return names().last();
}

/// The networks from the session equal those that the command line writes, and training continues
/// from them.
void TestCliRuns::exportsNetworks() {
    const QString trained = path("trained"), out = path("networks");
    const QStringList arguments{"run",           "--preset", "mnist-mlp", "--set",
                                "model.width=8", "--device", "cpu",       "--quiet"};
    QCOMPARE(call(arguments + QStringList{"--steps", "12", "--checkpoint-every", "5", "--out",
                                          trained, "--onnx", path("net.onnx")})
                 .code,
             0);
    const QString name = leaveWithNetworks(trained, 12);
    QVERIFY2(runs({"show", name}).out.contains("\ncheckpoint after step 12\n"),
             runs({"show", name}).out);
    // a link in the folder is replaced, not what it leads to
    const QString mine = path("mine");
    QVERIFY(QDir().mkpath(out) && QFile::copy(path("net_fp32.onnx"), mine));
    const QByteArray before = contentOf(mine) + "mine";
    QFile file(mine);
    QVERIFY(file.open(QIODevice::Append) && file.write("mine") == 4);
    file.close();
    QVERIFY(QFile::link(mine, out + "/network_fp32.onnx"));
    const Outcome outcome = runs({"export", name, "--out", out});
    QVERIFY2(outcome.code == 0 && outcome.error.isEmpty(), outcome.error);
    QCOMPARE(contentOf(mine), before);
    for (const char* lane : {"fp32", "amp-fp16"}) {
        const QString weights = QString("/weights_%1.safetensors").arg(lane);
        QVERIFY(contentOf(out + weights).size() > 8 * 784 * 4);
        QCOMPARE(contentOf(out + weights), contentOf(trained + weights));
        QCOMPARE(contentOf(out + "/network_" + lane + ".onnx"),
                 contentOf(path("net_") + lane + ".onnx"));
        for (const QString picture : {"/output_%1.png", "/samples_%1.png"}) {
            const QByteArray content = contentOf(trained + picture.arg(lane));
            QVERIFY2(content.size() > 100 && contentOf(out + picture.arg(lane)) == content,
                     qPrintable(picture));
        }
        const QByteArray predictions = contentOf(out + "/predictions_" + lane + ".npy");
        QVERIFY2(predictions.contains("(500, 10)"), predictions.left(100));
    }
    QVERIFY(QDir().mkpath(path("refused/network_fp32.onnx"))); // a folder is in its place
    const Outcome refused = runs({"export", name, "--out", path("refused")});
    QVERIFY2(refused.code == 1 && refused.error.contains("network_fp32.onnx"), refused.error);
    QVERIFY(!refused.out.contains("Files: "));
    // the exported run continues as if it had never stopped
    QCOMPARE(call({"run", "--resume", out, "--steps", "20", "--out", out, "--quiet"}).code, 0);
    QCOMPARE(call(arguments + QStringList{"--steps", "20", "--out", path("whole")}).code, 0);
    const QList<QByteArray> went = contentOf(out + "/steps.csv").split('\n'),
                            whole = contentOf(path("whole/steps.csv")).split('\n');
    QCOMPARE(went.size(), whole.size());
    QCOMPARE(went.at(30).split(',').mid(0, 12), whole.at(30).split(',').mid(0, 12)); // step 15
    QCOMPARE(went.at(40), whole.at(40));
}

void TestCliRuns::exportsBothNetworks() {
    const QString trained = path("adversarial"), out = path("both networks");
    QCOMPARE(call({"run", "--preset", "gan", "--set", "model.width=8", "--device", "cpu", "--quiet",
                   "--steps", "2", "--checkpoint-every", "1", "--out", trained})
                 .code,
             0);
    const Outcome outcome = runs({"export", leaveWithNetworks(trained, 2), "--out", out});
    QVERIFY2(outcome.code == 0, outcome.error);
    for (const char* file : {"network_fp32.onnx", "critic_fp32.onnx"})
        QVERIFY2(contentOf(out + "/" + file).size() > 100, file);
}

void TestCliRuns::deletes() {
    const QString file = QDir(sessions()).entryList({"*.session"}).value(0);
    const qint64 before = QFileInfo(sessions() + '/' + file).size();
    const QStringList all = names();
    QCOMPARE(runs({"delete", all.last()}).code, 0);
    QCOMPARE(names(), all.mid(0, 1));
    QVERIFY(QFileInfo(sessions() + '/' + file).size() < before);
    // the other one is whole
    QCOMPARE(runs({"export", all.first(), "--out", path("other")}).code, 0);
    QCOMPARE(contentOf(path("other/steps.csv")), contentOf(path("short/steps.csv")));
    QCOMPARE(runs({"delete", all.first()}).code, 0);
    QVERIFY(QDir(sessions()).entryList({"*.session*"}).isEmpty());

    init();
    QCOMPARE(names().size(), 2);
    QCOMPARE(runs({"delete", names().first().section('/', 0, 0)}).code, 0); // the whole session
    QCOMPARE(names(), QStringList());
}

/// Runs of several sessions, one of them by its session's name and its own, and another one twice.
void TestCliRuns::deletesSeveral() {
    {
        SessionStore store({sessions().toStdString()});
        for (const char* name : {"Third", "Fourth", "Fifth"})
            store.watch(readRun(path("short").toStdString()), name);
        store.flush();
    }
    const QString broken = "20261121-173455-1";
    QVERIFY(QFile::copy(path("short/steps.csv"), sessions() + '/' + broken + ".session"));
    const QStringList all = names();
    QCOMPARE(all.size(), 5);
    const QString first = all[0].section('/', 0, 0);
    const Outcome outcome = runs({"delete", all[4], all[0], first, all[4], all[2], broken});
    QVERIFY2(outcome.code == 0 && outcome.error.isEmpty() && outcome.out.isEmpty(), outcome.error);
    QCOMPARE(names(), QStringList{all[3]});
    QCOMPARE(runs({}).error, QByteArray()); // the damaged one is gone, too
    QVERIFY(!QFile::exists(sessions() + '/' + first + ".session"));
    QCOMPARE(runs({"export", all[3], "--out", path("fourth")}).code, 0);
    QCOMPARE(contentOf(path("fourth/steps.csv")), contentOf(path("short/steps.csv")));
}

void TestCliRuns::deletesAllOrNothing_data() {
    QTest::addColumn<QString>("wrong");
    QTest::addColumn<QByteArray>("words");
    QTest::newRow("no such run") << "20200101-000000-1/7"
                                 << QByteArray("there is no run \"20200101-000000-1/7\"");
    QTest::newRow("of a session that cannot be read")
        << "20261121-173455-1/1" << QByteArray("20261121-173455-1 cannot be read: ");
    QTest::newRow("nothing") << "" << QByteArray("\"\" is not allowed");
}

/// One wrong name, wherever it stands, and nothing is deleted.
void TestCliRuns::deletesAllOrNothing() {
    QFETCH(const QString, wrong);
    QFETCH(const QByteArray, words);
    QVERIFY(QFile::copy(path("short/steps.csv"), sessions() + "/20261121-173455-1.session"));
    QVERIFY(runs({"--help"}).out.simplified().contains("; if one name is wrong, nothing is done"));
    const QStringList all = names();
    for (const QStringList& given :
         {QStringList{all[0], all[1], wrong}, {wrong, all[0]}, {"20261121-173455-1", wrong}}) {
        const Outcome outcome = runs(QStringList{"delete"} + given);
        QCOMPARE(outcome.code, 2);
        QVERIFY2(outcome.saysOneLine() && outcome.error.contains(words), outcome.error);
        QCOMPARE(names(), all);
        QVERIFY(QFile::exists(sessions() + "/20261121-173455-1.session"));
    }
}

/// Several runs are exported into a folder each, which then can be listed, and shown one by one.
void TestCliRuns::takesSeveral() {
    const QStringList all = names();
    const QString out = path("several");
    QVERIFY(runs({"--help"})
                .out.simplified()
                .contains("several runs each get a folder of their own in it"));
    const Outcome wrong = runs({"export", all[0], "x", "--out", out});
    QVERIFY2(wrong.code == 2 && wrong.error.contains("there is no run \"x\""), wrong.error);
    QVERIFY(!QFile::exists(out));
    const Outcome outcome = runs({"export", all[0], all[1], "--out", out});
    QVERIFY2(outcome.code == 0 && outcome.out.count("Files: ") == 2, outcome.error);
    QStringList folders = all;
    for (QString& each : folders)
        each.replace('/', '-');
    QCOMPARE(QDir(out).entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name), folders);
    QCOMPARE(contentOf(out + '/' + folders[0] + "/steps.csv"), contentOf(path("short/steps.csv")));
    QCOMPARE(contentOf(out + '/' + folders[1] + "/steps.csv"), contentOf(path("long/steps.csv")));
    const Outcome shown = runs({"show", all[1], all[0]});
    QVERIFY2(shown.code == 0 && shown.out.indexOf("\n3000 steps of ") > 0 &&
                 shown.out.indexOf("\n12 steps of ") > shown.out.indexOf("\n3000 steps of "),
             shown.out);
}

/// Saved runs are not listed, but they are there.
void TestCliRuns::deletesSavedRuns() {
    m_sessions = std::make_unique<QTemporaryDir>();
    const auto leave = [this](bool listsOne) {
        SessionStore store({sessions().toStdString()});
        const auto first = readRun(path("short").toStdString());
        const auto second = readRun(path("short").toStdString());
        store.watch(first, "First");
        store.watch(second, "Second");
        SessionStore::SavedSteps saved{{first, {12}}};
        if (!listsOne) saved[second] = {12};
        store.setSaved(std::move(saved));
        store.flush();
    };
    const auto files = [this] { return QDir(sessions()).entryList({"*.session"}); };
    leave(false);
    QCOMPARE(names(), QStringList());
    const QString session = files().value(0).section('.', 0, 0);
    QVERIFY(runs({"show", session + "/1"}).out.contains("\n12 steps of "));
    const Outcome refused = runs({"delete", session + "/3"});
    QVERIFY2(refused.code == 2 && refused.error.contains(": no window has left an unsaved run"),
             refused.error);
    QCOMPARE(files().size(), 1);
    QCOMPARE(runs({"delete", session}).code, 0);
    QCOMPARE(files(), QStringList());
    // the second run may be the only one that has the steps of the first
    leave(true);
    const QString left = files().value(0).section('.', 0, 0);
    QCOMPARE(names(), QStringList{left + "/2"});
    QCOMPARE(runs({"delete", left + "/2"}).code, 0);
    QCOMPARE(names(), QStringList{left + "/1"});
    QCOMPARE(runs({"delete", left + "/1"}).code, 0);
    QCOMPARE(files(), QStringList());
}

/// A run with all its steps in a folder does not come back when another one is deleted.
void TestCliRuns::deletingLeavesRunsInFolders() {
    m_sessions = std::make_unique<QTemporaryDir>();
    {
        SessionStore store({sessions().toStdString()});
        const auto first = readRun(path("short").toStdString());
        const auto second = readRun(path("short").toStdString());
        store.watch(first, "In a folder");
        store.watch(second, "Unsaved");
        store.setSaved({{first, {12, 12}}});
        store.flush();
    }
    const QStringList all = names();
    QCOMPARE(all.size(), 1);
    QCOMPARE(runs({"delete", all.first()}).code, 0);
    QCOMPARE(names(), QStringList());
}

void TestCliRuns::usedSessionsAreLeftAlone() {
    SessionStore store({sessions().toStdString()});
    store.watch(readRun(path("short").toStdString()), "Of an open window");
    store.flush();
    const Outcome outcome = runs({});
    QVERIFY2(!outcome.out.contains("open window"), outcome.out);
    QVERIFY2(outcome.error.startsWith("1 more session is in use"), outcome.error);
    QCOMPARE(names().size(), 2);
}

void TestCliRuns::unreadableSessionsAreNamed() {
    const QString file = sessions() + "/20261121-173455-1.session";
    QVERIFY(QFile::copy(path("short/steps.csv"), file));
    const Outcome outcome = runs({});
    QCOMPARE(outcome.error,
             "20261121-173455-1 cannot be read: " + file.toUtf8() + ": file is not a database\n");
    QCOMPARE(names().size(), 2);
    for (const char* action : {"show", "export", "delete"}) {
        QStringList arguments{action, "20261121-173455-1/2"};
        if (arguments[0] == "export") arguments << "--out" << path("unreadable");
        const Outcome refused = runs(arguments);
        QCOMPARE(refused.code, 2);
        QCOMPARE(refused.error, "halfscope-cli: runs " + QByteArray(action) + ": " +
                                    outcome.error); // the reason that the list gives
    }
    QCOMPARE(runs({"delete", "20261121-173455-2"}).code, 2);
    QCOMPARE(runs({"delete", "20261121-173455-1"}).code, 0);
    QVERIFY(!QFile::exists(file));
    QCOMPARE(runs({}).error, QByteArray());
    QCOMPARE(names().size(), 2);
}

/// Where no session can be read, there are runs nevertheless.
void TestCliRuns::unreadableSessionsAreNoneTheLess() {
    const QString only = QDir(sessions()).entryList({"*.session"}).value(0);
    Database((sessions() + '/' + only).toStdString(), Database::Access::Create)
        .run("PRAGMA user_version = 99");
    const Outcome other = runs({"show", "20200101-000000-1/1"});
    QVERIFY2(other.code == 2 && other.saysOneLine() &&
                 other.error.contains("there are sessions, but they cannot be read"),
             other.error);
}

/// A run without values is not listed, but named.
void TestCliRuns::lostValuesAreNamed() {
    const QString only = QDir(sessions()).entryList({"*.session"}).value(0);
    const QString session = only.section('.', 0, 0);
    Database((sessions() + '/' + only).toStdString(), Database::Access::Create)
        .run("DELETE FROM tails WHERE run = 1; DELETE FROM columns WHERE run = 1");
    const Outcome outcome = runs({});
    QCOMPARE(names(), QStringList{session + "/2"});
    QVERIFY2(outcome.error.contains(only.toUtf8() + ": values of “Short” are damaged\n"),
             outcome.error);
    const Outcome shown = runs({"show", session + "/1"});
    QVERIFY2(shown.code == 2 && shown.saysOneLine() &&
                 shown.error.contains(" that can be read: ") &&
                 shown.error.contains("values of “Short” are damaged"),
             shown.error);
}

/// What is lost is not shown as zeros.
void TestCliRuns::lostLossesAreNamed() {
    const QString only = QDir(sessions()).entryList({"*.session"}).value(0);
    const std::string file = (sessions() + '/' + only).toStdString();
    const QString run = only.section('.', 0, 0) + "/1";
    const auto lineOf = [](const Outcome& outcome) {
        const qsizetype at = outcome.out.indexOf("\nfp32 ") + 1;
        return outcome.out.mid(at, outcome.out.indexOf('\n', at) - at).simplified();
    };
    const QByteArray note =
        file.c_str() + QByteArray(": values of “Short” are damaged in lane fp32\n");
    Database(file, Database::Access::Create)
        .run("UPDATE tails SET data = zeroblob(length(data)) "
             "WHERE run = 1 AND lane = 0 AND metric = 'loss'");
    const Outcome losses = runs({"show", run});
    QVERIFY2(losses.code == 0 && losses.out.contains("\n12 steps of 12 on "), losses.out);
    QCOMPARE(lineOf(losses), QByteArray("fp32 - - 0 -"));
    QCOMPARE(losses.error, note);
    Database(file, Database::Access::Create)
        .run("UPDATE tails SET data = zeroblob(length(data)) WHERE run = 1 AND lane = 0");
    const Outcome lane = runs({"show", run});
    QVERIFY2(lane.code == 0 && lane.out.contains("\n12 steps of 12 on "), lane.out);
    QCOMPARE(lineOf(lane), QByteArray("fp32 - - - -"));
    QCOMPARE(lane.error, note);
    const Outcome exported = runs({"export", run, "--out", path("damaged")});
    QVERIFY2(exported.code == 0 && exported.error.contains(note), exported.error);
    QVERIFY(contentOf(path("damaged/steps.csv")).contains("\n12,amp-fp16,"));
}

/// Nobody knows whether the run has one, let alone of which step.
void TestCliRuns::checkpointsThatCannotBeRead() {
    const QString only = QDir(sessions()).entryList({"*.session"}).value(0);
    Database((sessions() + '/' + only).toStdString(), Database::Access::Create)
        .run("ALTER TABLE checkpoints RENAME step TO lost");
    const Outcome shown = runs({"show", only.section('.', 0, 0) + "/1"});
    QVERIFY2(shown.code == 0 && shown.out.contains("\na checkpoint, if there is one, cannot be"),
             shown.out + shown.error);
    QVERIFY2(!shown.out.contains("checkpoint after step"), shown.out);
}

/// They can be listed, shown and exported from; deleting says why it fails.
void TestCliRuns::sealedFoldersAreRead() {
    namespace fs = std::filesystem;
    const fs::path folder = sessions().toStdString();
    const QString first = names().first();
    for (const auto& each : fs::directory_iterator(folder))
        fs::permissions(each.path(), fs::perms(0644));
    fs::permissions(folder, fs::perms(0555));
    const auto unseal = qScopeGuard([&] { fs::permissions(folder, fs::perms(0755)); });
    const OrdinaryUser user;
    if (!user.holds() || !user.canRun(qPrintable(program())))
        QSKIP("no ordinary user can start the program here");
    const Outcome listed = runs({});
    QVERIFY2(listed.code == 0 && listed.error.isEmpty(), listed.error);
    QVERIFY2(listed.out.contains("Short"), listed.out);
    QVERIFY2(runs({"show", first}).out.contains("\n12 steps of "), listed.out);
    for (const QString& name : {first, first.section('/', 0, 0)}) {
        const Outcome refused = runs({"delete", name});
        QCOMPARE(refused.code, 1);
        QCOMPARE(refused.error, "halfscope-cli: " + sessions().toUtf8() +
                                    ": cannot write to this folder: Permission denied\n");
    }
    QCOMPARE(names().first(), first);
}

/// The folder is that of QStandardPaths::AppLocalDataLocation.
void TestCliRuns::findsTheWindowsFolder() {
    const QString data = m_sessions->filePath("data");
    {
        SessionStore store({(data + "/Halfscope/halfscope/sessions").toStdString()});
        store.watch(readRun(path("short").toStdString()), "Found");
        store.flush();
    }
    const Outcome outcome = callShell("XDG_DATA_HOME=\"$1\" \"$0\" runs", {data});
    QVERIFY2(outcome.out.contains("Found"), outcome.out);
    const Outcome home = callShell("unset XDG_DATA_HOME; HOME=\"$1\" \"$0\" runs", {data});
    QVERIFY2(home.out.contains(data.toUtf8() + "/.local/share/Halfscope/halfscope/sessions"),
             home.out);
}

void TestCliRuns::refuses_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("about");
    const auto row = [](const QStringList& arguments, const char* about) {
        QTest::newRow(qPrintable(arguments.join(' '))) << arguments << QByteArray(about);
    };
    row({"lsit"}, "runs: \"lsit\" is not allowed: list, show, export or delete");
    row({"show"}, "runs show: the run is missing");
    row({"show", "20200101-000000-1/1"}, "there is no run \"20200101-000000-1/1\"");
    row({"export", "x"}, "runs export: --out is missing");
    row({"delete", ""}, "\"\" is not allowed");
}

void TestCliRuns::refuses() {
    QFETCH(QStringList, arguments);
    QFETCH(QByteArray, about);
    const Outcome outcome = runs(arguments);
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.saysOneLine() && outcome.error.contains(about), outcome.error);
    QCOMPARE(names().size(), 2);
    const QTemporaryDir none;
    const Outcome nothing = call({"runs", "show", "out", "--sessions", none.path()});
    QVERIFY2(nothing.saysOneLine() && nothing.error.contains("no window has left an unsaved run"),
             nothing.error);
}

} // namespace tst_cli_runs

QTEST_GUILESS_MAIN(tst_cli_runs::TestCliRuns)
#include "tst_cli_runs.moc"
