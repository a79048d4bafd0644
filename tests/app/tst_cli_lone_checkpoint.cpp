// halfscope-cli run --resume from outside, where the rows before the checkpoint, or the newest one,
// are not there: the run goes on in that folder all the same, and again from there. And runs that
// begin anew where there is a checkpoint.
#include "engine/runs/run_reader.h"
#include "engine/train/checkpoint.h"
#include "tests/support/cli_folder.h"

#include <QTest>

#include <csignal>

namespace tst_cli_lone_checkpoint {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr const char *kNewest = "checkpoint.safetensors",
                     *kBefore = "checkpoint-before.safetensors";

int64_t checkpointStep(const QString& folder) {
    return readCheckpoint(checkpointAt(folder.toStdString())).step;
}

Outcome goOn(const QString& from, const QString& out, const QStringList& more = {}) {
    return call(QStringList{"run", "--resume", from, "--out", out} + more);
}

/// Returns what a run says that would remove the checkpoint in this folder.
QByteArray refusal(const QString& folder) {
    return "halfscope-cli: --out: " + folder.toUtf8() + " has a checkpoint of step " +
           QByteArray::number(qlonglong(checkpointStep(folder))) +
           ", which a new run would remove; --resume " + folder.toUtf8() +
           " goes on from it, another --out keeps it, and --overwrite replaces it\n";
}

} // namespace

class TestCliLoneCheckpoint : public CliFolderTest {
    Q_OBJECT

private slots:
    void initTestCase();
    void goesOnInItsFolder_data();
    void goesOnInItsFolder();
    void goesOnBesideOthers();
    void goesOnFromNoRows();
    void rowsOfWhom();
    void damagedManifest();
    void lostRows();
    void theOneBeforeIsReplaced();
    void theOneBeforeIsTaken();
    void trainedAnewByMistake();
    void calledAgain();
    void calledAgainAfterResuming_data();
    void calledAgainAfterResuming();
    void calledAgainAfterMoving();
    void goesOnInTheFolderOfAnother();
    void overwrites();
    void trainedAnewAfterItsEnd();

private:
    /// Copies these files of the first run, or all of them, into a new folder.
    QString copied(const char* name, const QStringList& files = {}) const {
        return copiedFrom(path("first"), name, files);
    }
    QString copiedFrom(const QString& run, const char* name, QStringList files = {}) const {
        const QString folder = path(name);
        if (!QDir().mkpath(folder)) return {};
        if (files.isEmpty()) files = filesOf(run);
        for (const QString& each : files)
            if (!QFile::copy(run + '/' + each, folder + '/' + each)) return {};
        return folder;
    }
    /// Checks that a folder has a whole run of the rows from one step to another.
    static void checkRows(const QString& folder, int64_t from, int64_t to) {
        const auto run = readRun(folder.toStdString());
        QCOMPARE(run->now().firstStep(), from);
        QCOMPARE(run->step(), to);
        QVERIFY(run->info().missing.empty());
        QCOMPARE(contentOf(folder + "/steps.csv").count('\n'), qsizetype{1 + 2 * (to - from + 1)});
        QCOMPARE(checkpointStep(folder), to);
    }
};

/// Its checkpoints are those after steps 12 and 10.
void TestCliLoneCheckpoint::initTestCase() {
    const Outcome outcome = call(smallRun(path("first"), {"--checkpoint-every", "5"}));
    QVERIFY2(outcome.code == 0, outcome.error);
    QCOMPARE(checkpointStep(path("first")), int64_t{12});
}

void TestCliLoneCheckpoint::goesOnInItsFolder_data() {
    QTest::addColumn<int>("step");
    QTest::newRow(kNewest) << 12;
    QTest::newRow(kBefore) << 10;
}

/// The tables begin with the next step, and still do when the run goes on a second time.
void TestCliLoneCheckpoint::goesOnInItsFolder() {
    QFETCH(const int, step);
    const QString name = QString::fromUtf8(QTest::currentDataTag());
    const QString folder = copied(qPrintable("with " + name), {name});
    const Outcome outcome = goOn(folder + '/' + name, folder, {"--steps", "20"});
    QVERIFY2(outcome.code == 0, outcome.error);
    QVERIFY2(outcome.error.contains("The rows up to step " + QByteArray::number(step) +
                                    " are not beside the checkpoint: the tables begin with the "
                                    "next one.\n"),
             outcome.error);
    checkRows(folder, step + 1, 20);
    const Outcome again = goOn(folder, folder, {"--steps", "30"});
    QVERIFY2(again.code == 0 && !again.error.contains("not beside"), again.error);
    checkRows(folder, step + 1, 30);
}

/// Nothing was trained at first.
/// What else is there of a run is replaced by the one that goes on.
void TestCliLoneCheckpoint::goesOnBesideOthers() {
    for (const char* other : {"experiment.json", "weights_fp32.safetensors"}) {
        const QString folder = copied(other, {kNewest, other});
        const Outcome outcome = goOn(folder, folder, {"--steps", "20"});
        QVERIFY2(outcome.code == 0, outcome.error);
        QCOMPARE(checkpointStep(folder), int64_t{20});
    }
}

void TestCliLoneCheckpoint::goesOnFromNoRows() {
    const QString folder = copied("idle", {kNewest});
    QCOMPARE(goOn(folder, folder).code, 0);
    const Outcome outcome = goOn(folder, folder, {"--steps", "20"});
    QVERIFY2(outcome.code == 0, outcome.error);
    checkRows(folder, 13, 20);
}

/// Without the manifest nothing tells whose rows they are: they stay, and there is a way out.
void TestCliLoneCheckpoint::rowsOfWhom() {
    const QString folder = copied("unknown"), other = path("elsewhere");
    QVERIFY(QFile::remove(folder + "/manifest.json"));
    const QStringList before = filesOf(folder);
    const Outcome outcome = goOn(folder, folder, {"--steps", "20"});
    QCOMPARE(outcome.code, 2);
    QCOMPARE(outcome.error, "halfscope-cli: " + folder.toUtf8() +
                                ": there are rows of a run, but no manifest.json, which tells "
                                "whose they are; the checkpoint's run can go on in another folder, "
                                "without them\n");
    QCOMPARE(filesOf(folder), before);
    QCOMPARE(contentOf(folder + "/steps.csv"), contentOf(path("first/steps.csv")));
    const Outcome rest = goOn(folder, other, {"--steps", "20", "--checkpoint-every", "20"});
    QVERIFY2(rest.code == 0, rest.error);
    checkRows(other, 13, 20);
}

/// The file is named, and nothing has changed.
void TestCliLoneCheckpoint::damagedManifest() {
    const QString folder = copied("damaged");
    const QByteArray rows = contentOf(folder + "/steps.csv");
    for (const auto& [content, words] :
         {std::pair("", "the file is empty"),
          std::pair("{\"version\": 2}",
                    "version: 2 is not allowed: 1, the version that this program reads")}) {
        file("damaged/manifest.json", content);
        const Outcome outcome = goOn(folder, folder, {"--steps", "20"});
        QCOMPARE(outcome.code, 2);
        QCOMPARE(outcome.error,
                 "halfscope-cli: " + folder.toUtf8() + "/manifest.json: " + words + "\n");
        QCOMPARE(contentOf(folder + "/steps.csv"), rows);
    }
}

void TestCliLoneCheckpoint::lostRows() {
    const QString folder = copied("lost");
    QVERIFY(QFile::remove(folder + "/steps.csv"));
    const Outcome outcome = goOn(folder, folder, {"--steps", "20"});
    QVERIFY2(outcome.code == 0 && outcome.error.contains("not beside"), outcome.error);
    checkRows(folder, 13, 20);
}

/// A run that goes on from the checkpoint before, where the newest one is missing, leaves one of
/// its last step.
void TestCliLoneCheckpoint::theOneBeforeIsReplaced() {
    const QString folder = copied("before");
    QVERIFY(QFile::remove(folder + '/' + kNewest));
    const Outcome outcome = goOn(folder + '/' + kBefore, folder);
    QVERIFY2(outcome.code == 0, outcome.error);
    checkRows(folder, 1, 12);
}

/// So does one that is given the folder alone; it says which checkpoint it takes.
void TestCliLoneCheckpoint::theOneBeforeIsTaken() {
    const QString folder = copied("taken");
    QVERIFY(QFile::remove(folder + '/' + kNewest));
    const Outcome outcome = goOn(folder, folder);
    QVERIFY2(outcome.code == 0, outcome.error);
    QVERIFY2(outcome.error.contains(folder.toUtf8() + " lacks checkpoint.safetensors; the one "
                                                      "before it, after step 10, is taken\n"),
             outcome.error);
    checkRows(folder, 1, 12);
}

/// The folder of a run that was killed is given as the experiment: its checkpoint is named, and not
/// removed.
void TestCliLoneCheckpoint::trainedAnewByMistake() {
    const QString folder = copied("killed");
    QVERIFY(QFile::remove(folder + "/summary.json"));
    const QByteArray has = folder.toUtf8() + " has a checkpoint of step 12",
                     resume = "--resume " + folder.toUtf8() + " goes on from it";
    const Outcome other = call({"run", folder, "--out", path("anew")});
    QVERIFY2(other.code == 0 && other.error.contains(has + "; " + resume + "\n"), other.error);
    const QByteArray checkpoint = contentOf(folder + '/' + kNewest);
    for (const QString& experiment : {folder, folder + "/experiment.json"}) {
        const Outcome same = call({"run", experiment, "--steps", "5", "--out", folder});
        QCOMPARE(same.code, 2);
        QCOMPARE(same.error, refusal(folder));
        QCOMPARE(contentOf(folder + '/' + kNewest), checkpoint);
    }
    const Outcome removed = call({"run", folder, "--steps", "5", "--out", folder, "--overwrite"});
    QVERIFY2(removed.code == 0 && !removed.error.contains("--resume"), removed.error);
    checkRows(folder, 1, 5);
}

/// The command of a run that was interrupted or killed is given again: it keeps what it has, and
/// says how to go on. Another experiment may take its place, and a line says so.
void TestCliLoneCheckpoint::calledAgain() {
    const QString folder = path("again");
    const QStringList endless{"--steps", "1000000000", "--checkpoint-every", "5"};
    for (const int signal : {SIGINT, SIGKILL}) {
        QVERIFY(QDir(folder).removeRecursively());
        QProcess process;
        process.start(program(), smallRun(folder, endless));
        QVERIFY(QTest::qWaitFor([&] { return QFile::exists(folder + '/' + kBefore); }, kPatience));
        // --resume would not work yet, nor would --overwrite
        const Outcome early = call(smallRun(folder, endless));
        QCOMPARE(early.code, 1);
        QCOMPARE(early.error, "halfscope-cli: " + folder.toUtf8() +
                                  ": another run is writing into this folder; only one may do so "
                                  "at a time\n");
        QCOMPARE(::kill(static_cast<pid_t>(process.processId()), signal), 0);
        QVERIFY(process.waitForFinished(kPatience));
        const QByteArray checkpoint = contentOf(folder + '/' + kNewest),
                         rows = contentOf(folder + "/steps.csv");
        const QByteArray step = QByteArray::number(qlonglong(checkpointStep(folder)));
        for (const QStringList& more : {endless, QStringList{"--steps", "20"}}) {
            const Outcome same = call(smallRun(folder, more));
            QCOMPARE(same.code, 2);
            QCOMPARE(same.error, refusal(folder));
            QCOMPARE(contentOf(folder + '/' + kNewest), checkpoint);
            QCOMPARE(contentOf(folder + "/steps.csv"), rows);
        }
        const QString foreign = copiedFrom(folder, signal == SIGINT ? "foreign" : "foreign2");
        const Outcome other = call(smallRun(foreign, {"--seed", "9"}));
        const QByteArray line = "Replaced in " + foreign.toUtf8() + ": the run of Checkerboard, ";
        QVERIFY2(other.code == 0 && other.error.contains(line), other.error);
        QCOMPARE(other.error.contains(line + "which had a checkpoint of step " + step + "\n"),
                 signal == SIGKILL);
        const Outcome goesOn = goOn(folder, folder, {"--steps", step});
        QVERIFY2(goesOn.code == 0, goesOn.error);
        checkRows(folder, 1, step.toInt());
    }
    // it has come to its end: the same command trains it again, as before
    const Outcome whole = call(smallRun(folder));
    QVERIFY2(whole.code == 0, whole.error);
    QCOMPARE(call(smallRun(folder)).code, 0);
}

void TestCliLoneCheckpoint::calledAgainAfterResuming_data() {
    QTest::addColumn<QStringList>("changes");
    QTest::addColumn<QStringList>("again");
    const QStringList skip{"--set", "data.damaged=skip"};
    QTest::newRow("its length") << QStringList{} << QStringList{};
    QTest::newRow("a setting") << QStringList{"--set", "optimizer.lr=0.002"} << QStringList{};
    QTest::newRow("devices") << QStringList{"--device", "auto", "--threads", "1"} << QStringList{};
    QTest::newRow("damaged samples") << skip << QStringList{};
    QTest::newRow("damaged samples from now on") << QStringList{} << skip;
}

/// The first command is given again after --resume has changed the training, and was interrupted.
void TestCliLoneCheckpoint::calledAgainAfterResuming() {
    QFETCH(const QStringList, changes);
    QFETCH(const QStringList, again);
    const QString folder =
        copied(QByteArray("resumed-").append(QTest::currentDataTag()).replace(' ', '-'));
    QProcess process;
    process.start(program(),
                  QStringList{"run", "--resume", folder, "--out", folder, "--steps", "1000000000"} +
                      changes);
    QVERIFY(QTest::qWaitFor([&] { return contentOf(folder + "/steps.csv").count('\n') > 40; },
                            kPatience));
    QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
    QCOMPARE(outcomeOf(process).code, 130);
    const QByteArray checkpoint = contentOf(folder + '/' + kNewest);
    const Outcome same = call(smallRun(folder, again));
    QCOMPARE(same.code, 2);
    QCOMPARE(same.error, refusal(folder));
    QCOMPARE(contentOf(folder + '/' + kNewest), checkpoint);
}

/// Its table has another place by now, and the first one is there, too.
void TestCliLoneCheckpoint::calledAgainAfterMoving() {
    const QString folder = path("moved"), table = path("a.csv"), other = path("b.csv");
    for (const char* name : {"a.csv", "b.csv"})
        file(name, "x,y\n1,2\n2,4\n3,6\n4,8\n5,10\n6,12\n");
    const QStringList words{"run", table, "--device", "cpu", "--steps", "4", "--out", folder};
    QCOMPARE(call(words).code, 0);
    const Outcome moved = goOn(folder, folder, {"--set", "data.path=" + other, "--steps", "8"});
    QVERIFY2(moved.code == 0, moved.error);
    QVERIFY(contentOf(folder + "/experiment.json").contains(other.toUtf8()));
    QVERIFY(QFile::remove(folder + "/summary.json")); // as after a kill
    const Outcome same = call(words);
    QCOMPARE(same.code, 2);
    QCOMPARE(same.error, refusal(folder));
}

/// A run that goes on from elsewhere would remove a checkpoint as a new one would.
void TestCliLoneCheckpoint::goesOnInTheFolderOfAnother() {
    const QString folder = copied("of-another");
    QVERIFY(QFile::remove(folder + "/summary.json")); // as after a kill
    const QByteArray checkpoint = contentOf(folder + '/' + kNewest);
    const Outcome refused = goOn(path("first"), folder, {"--steps", "20"});
    QCOMPARE(refused.code, 2);
    QCOMPARE(refused.error, refusal(folder));
    QCOMPARE(contentOf(folder + '/' + kNewest), checkpoint);
    const Outcome outcome = goOn(path("first"), folder, {"--steps", "20", "--overwrite"});
    QVERIFY2(outcome.code == 0, outcome.error);
    checkRows(folder, 1, 20);
    // in its own folder it goes on in any case
    QVERIFY(QFile::remove(folder + "/summary.json"));
    const Outcome here = goOn(folder, folder, {"--steps", "30"});
    QVERIFY2(here.code == 0, here.error);
    checkRows(folder, 1, 30);
}

/// With --overwrite it is trained anew, also the first time and after its end.
void TestCliLoneCheckpoint::overwrites() {
    const QString folder = path("overwritten");
    QVERIFY(call({"run", "--help"})
                .out.simplified()
                .contains("Replace an interrupted run of the same experiment in the folder of "
                          "--out, and remove its checkpoint"));
    QCOMPARE(call(smallRun(folder, {"--overwrite"})).code, 0);
    QVERIFY(QFile::remove(folder + "/summary.json")); // as after a kill
    QCOMPARE(call(smallRun(folder)).code, 2);
    for (int i = 0; i < 2; ++i) {
        const Outcome outcome = call(smallRun(folder, {"--overwrite"}));
        QVERIFY2(outcome.code == 0 && !outcome.error.contains("--resume"), outcome.error);
        checkRows(folder, 1, 12);
    }
}

void TestCliLoneCheckpoint::trainedAnewAfterItsEnd() {
    const QString folder = copied("ended");
    const Outcome outcome = call({"run", folder, "--steps", "5", "--out", folder});
    QVERIFY2(outcome.code == 0 && !outcome.error.contains("--resume"), outcome.error);
    checkRows(folder, 1, 5);
}

} // namespace tst_cli_lone_checkpoint

QTEST_GUILESS_MAIN(tst_cli_lone_checkpoint::TestCliLoneCheckpoint)
#include "tst_cli_lone_checkpoint.moc"
