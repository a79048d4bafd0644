// halfscope-cli run --resume from outside, where the rows before the checkpoint, or the newest one,
// are not there: the run goes on in that folder all the same, and again from there. And runs that
// begin anew where there is a checkpoint.
#include "engine/runs/run_reader.h"
#include "engine/train/checkpoint.h"
#include "tests/support/cli_folder.h"

#include <QTest>

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
    void trainedAnewAfterItsEnd();

private:
    /// Copies these files of the first run, or all of them, into a new folder.
    QString copied(const char* name, QStringList files = {}) const {
        const QString folder = path(name);
        if (!QDir().mkpath(folder)) return {};
        if (files.isEmpty()) files = filesOf(path("first"));
        for (const QString& each : files)
            if (!QFile::copy(path("first") + '/' + each, folder + '/' + each)) return {};
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
        QCOMPARE(same.error, "halfscope-cli: --out: " + has + ", which a new run would remove; " +
                                 resume + ", and another folder lets it stay\n");
        QCOMPARE(contentOf(folder + '/' + kNewest), checkpoint);
    }
    // another experiment may take the place of the run
    const Outcome foreign = call(smallRun(folder, {"--seed", "9"}));
    QVERIFY2(foreign.code == 0 && !foreign.error.contains("--resume"), foreign.error);
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
