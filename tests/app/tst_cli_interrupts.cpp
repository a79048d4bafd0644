// What ends a run early: signals and kills, full disks, closed streams and folders that cannot be
// written to; what was finished stays. The files of a whole run are in tst_cli_run.
#include "engine/runs/run_reader.h"
#include "engine/settings/fields.h"
#include "tests/support/cli.h"
#include "tests/support/faults.h"
#include "tests/support/missing_texts.h"

#include <QtTest>

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Starts an endless run and waits until it has reported a step.
bool startEndless(QProcess& process, const QString& out, const QStringList& more = {}) {
    process.start(program(), smallRun(out, more + QStringList{"--steps", "1000000000"}));
    process.setReadChannel(QProcess::StandardError);
    while (!process.peek(100000).contains(" it/s"))
        if (!process.waitForReadyRead(kPatience)) return false;
    return true;
}

int send(const QProcess& process, int signal) {
    return ::kill(static_cast<pid_t>(process.processId()), signal);
}

} // namespace

class TestCliInterrupts : public QObject {
    Q_OBJECT

private slots:
    void ignoredSignalsStayIgnored();
    void interruptKeepsFiles_data();
    void interruptKeepsFiles();
    void interruptedStepsAreThoseOfTheWholeRun();
    void interruptedSweepIsRanked();
    void signalsAtOnceAreOne();
    void secondInterruptEnds();
    void oneRunInAFolder();
    void failedStartKeepsTheEarlierRun();
    void fileSizeLimit();
    void goesOnAfterAFullDisk();
    void othersTakeATableAway();
    void killedRunLeavesWholeFiles();
    void closedStandardFiles_data();
    void closedStandardFiles();
    void folderOfNoUtf8();
    void longNames();
    void readOnlyFolder();
    void fullDisk();
};

/// Starts the program as nohup or a shell's `&` does: a signal that is ignored stays ignored.
void TestCliInterrupts::ignoredSignalsStayIgnored() {
    QTemporaryDir folder;
    const Outcome outcome =
        callShell("trap '' HUP; \"$0\" \"$@\" & run=$!; sleep 0.2; kill -HUP $run; wait $run",
                  smallRun(folder.filePath("h"), {"--steps", "30000"}));
    QCOMPARE(outcome.code, 0);
    QVERIFY2(outcome.error.contains("100 %  step 30000/30000"), outcome.error);
}

void TestCliInterrupts::interruptKeepsFiles_data() {
    QTest::addColumn<int>("number");
    QTest::newRow("SIGINT") << SIGINT;
    QTest::newRow("SIGTERM") << SIGTERM;
    QTest::newRow("SIGHUP") << SIGHUP;
}

void TestCliInterrupts::interruptKeepsFiles() {
    QFETCH(const int, number);
    QTemporaryDir folder;
    const QString out = folder.filePath("i");
    QProcess process;
    QVERIFY(startEndless(process, out));
    QCOMPARE(send(process, number), 0);
    const Outcome outcome = outcomeOf(process);
    QVERIFY2(outcome.code == 130 && !outcome.crashed, outcome.error);
    QVERIFY2(outcome.out.contains("Interrupted after step "), outcome.out);
    QCOMPARE(filesOf(out), kRunFiles);
    const QJsonObject summary = QJsonDocument::fromJson(contentOf(out + "/summary.json")).object();
    QCOMPARE(summary["outcome"].toString(), QString("interrupted"));
    const int steps = summary["steps"].toInt();
    QVERIFY(steps > 0);
    QCOMPARE(contentOf(out + "/steps.csv").count('\n'), qsizetype{1 + 2 * steps});
}

void TestCliInterrupts::interruptedStepsAreThoseOfTheWholeRun() {
    QTemporaryDir folder;
    const QString part = folder.filePath("part");
    const QStringList size{"--set", "task.side=96", "--set", "model.width=96"};
    QProcess process;
    QVERIFY(startEndless(process, part, size));
    process.terminate();
    QCOMPARE(outcomeOf(process).code, 130);
    const QByteArray steps = contentOf(part + "/steps.csv");
    const qsizetype count = (steps.count('\n') - 1) / 2;
    QVERIFY(count > 0);
    const QString whole = folder.filePath("whole");
    QCOMPARE(call(smallRun(whole, size + QStringList{"--steps", QString::number(count)})).code, 0);
    QCOMPARE(contentOf(whole + "/steps.csv"), steps);
}

/// Gradients are not counted after an interruption, so nothing is said of their column.
void TestCliInterrupts::interruptedSweepIsRanked() {
    QTemporaryDir folder;
    QProcess process;
    QVERIFY(startEndless(process, folder.filePath("s"), {"--sweep", "scaler.init_scale=1,2"}));
    process.terminate();
    const Outcome outcome = outcomeOf(process);
    QCOMPARE(outcome.code, 130);
    QVERIFY2(outcome.out.contains("\nloss: the median of the last steps, up to 25\n"), outcome.out);
    QVERIFY2(!outcome.out.contains("zero"), outcome.out);
}

/// Signals come as timeout sends them: to the program and to its group.
void TestCliInterrupts::signalsAtOnceAreOne() {
    QTemporaryDir folder;
    const QString out = folder.filePath("s");
    QProcess process;
    QVERIFY(startEndless(process, out, {"--set", "task.side=256"}));
    // Two different signals: two equal ones could be merged into one. The program rests until both
    // are there, however long this test is held up in between.
    QCOMPARE(send(process, SIGSTOP), 0);
    QCOMPARE(send(process, SIGINT), 0);
    QCOMPARE(send(process, SIGTERM), 0);
    QCOMPARE(send(process, SIGCONT), 0);
    const Outcome outcome = outcomeOf(process);
    QVERIFY2(outcome.code == 130 && !outcome.crashed, outcome.error);
    QCOMPARE(filesOf(out), kRunFiles);
}

void TestCliInterrupts::secondInterruptEnds() {
    if (Faults::clash()) QSKIP(Faults::clash());
    QTemporaryDir folder;
    const QString out = folder.filePath("s");
    const Faults faults("sync:1:hang"); // a disk that does not answer
    QProcess process;
    process.setProcessEnvironment(faults.environment());
    process.setReadChannel(QProcess::StandardError);
    process.start(program(), smallRun(out));
    QVERIFY(QTest::qWaitFor([&] { return faults.came(); }, kPatience));
    QCOMPARE(send(process, SIGINT), 0);
    constexpr int kAnother = 600; // ms: signals within half a second count as the first
    QVERIFY(!process.waitForFinished(kAnother));
    QCOMPARE(send(process, SIGINT), 0);
    constexpr int kTries = 60;
    for (int i = 0; i < kTries && !process.waitForFinished(2 * kAnother); ++i)
        // a busy machine delivered the first one late, so that the second came in its half second
        QCOMPARE(send(process, SIGINT), 0);
    QCOMPARE(process.state(), QProcess::NotRunning);
    QVERIFY2(process.exitStatus() == QProcess::CrashExit,
             "the second signal ends the program itself");
    const QByteArray error = process.readAllStandardError();
    QVERIFY2(error.contains("ended at once"), error);
}

/// Neither the files of another run nor its error go into the folder of a live run.
void TestCliInterrupts::oneRunInAFolder() {
    QTemporaryDir folder;
    const QString out = folder.filePath("one");
    QProcess process;
    QVERIFY(startEndless(process, out, {"--seed", "9"}));
    const Outcome other = call(smallRun(out, {"--quiet"}));
    QCOMPARE(other.code, 1);
    QCOMPARE(other.error,
             "halfscope-cli: " + out.toUtf8() +
                 ": another run is writing into this folder; only one may do so at a time\n");
    process.terminate();
    QCOMPARE(outcomeOf(process).code, 130);
    QCOMPARE(filesOf(out), kRunFiles);
    const QByteArray experiment = contentOf(out + "/experiment.json");
    QCOMPARE(parseConfig(experiment.toStdString(), "one").seed, uint64_t{9});
}

/// A run that cannot begin leaves the files of an earlier one.
void TestCliInterrupts::failedStartKeepsTheEarlierRun() {
    QTemporaryDir folder;
    const QString out = folder.filePath("e");
    QCOMPARE(call(smallRun(out)).code, 0);
    QVERIFY(QFile::remove(out + "/target.png"));
    QVERIFY(QDir().mkdir(out + "/target.png")); // where a picture must be written
    const QStringList kept{"/steps.csv", "/events.csv", "/experiment.json", "/summary.json"};
    QList<QByteArray> before;
    for (const QString& file : kept)
        before.push_back(contentOf(out + file));
    const Outcome outcome = call(smallRun(out, {"--seed", "9"}));
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.error.contains("/target.png: cannot write: Is a directory"), outcome.error);
    for (qsizetype i = 0; i < kept.size(); ++i)
        QVERIFY2(contentOf(out + kept[i]) == before[i], qPrintable(kept[i]));
}

/// A shell's limit on the size of files makes the write fail, as a full disk does.
void TestCliInterrupts::fileSizeLimit() {
    QTemporaryDir folder;
    const QString out = folder.filePath("l");
    const Outcome outcome =
        callShell("ulimit -f 16; exec \"$0\" \"$@\"", smallRun(out, {"--steps", "20000"}));
    QVERIFY(!outcome.crashed);
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.error.contains(".csv: cannot write: File too large"), outcome.error);
    QVERIFY(contentOf(out + "/steps.csv").endsWith('\n'));
}

/// What such an end tells: where the run stopped, its figures, and the checkpoint that is whole.
void TestCliInterrupts::goesOnAfterAFullDisk() {
    QTemporaryDir folder;
    const QString out = folder.filePath("full");
    const QStringList saves{"--checkpoint-every", "20"};
    const Outcome outcome =
        callShell("ulimit -f 200; exec \"$0\" \"$@\"", smallRun(out, {"--steps", "20000"}) + saves);
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.error.contains(".csv: cannot write: File too large"), outcome.error);
    const QString text = QString::fromUtf8(outcome.out);
    static const QRegularExpression s_end("Ended after step (\\d+) of 20000.*: its files cannot be "
                                          "written further\nlane  ");
    static const QRegularExpression s_saved("\nCheckpoint: the one of step (\\d+) is whole; .* run "
                                            "--resume .* --out .* goes on from it\n");
    const auto end = s_end.match(text), saved = s_saved.match(text);
    QVERIFY2(end.hasMatch() && saved.hasMatch(), outcome.out);
    const int last = end.captured(1).toInt(), step = saved.captured(1).toInt();
    QVERIFY2(step > 0 && step % 20 == 0 && step <= last, outcome.out);
    const Outcome list = call({"runs", folder.path()});
    QVERIFY2(list.code == 0 && list.out.contains(" unfinished "), list.out);
    const Outcome on = call(
        {"run", "--resume", out, "--out", out, "--steps", QString::number(step + 5), "--quiet"});
    QVERIFY2(on.code == 0, on.error);
    QVERIFY(contentOf(out + "/summary.json")
                .contains("\"steps\": " + QByteArray::number(step + 5) + ","));
}

/// An editor or a sync tool saves a table anew: the run ends soon, not after all of its steps.
void TestCliInterrupts::othersTakeATableAway() {
    QTemporaryDir folder;
    const QString out = folder.filePath("t");
    QProcess process;
    QVERIFY(startEndless(process, out));
    QVERIFY(QFile::copy(out + "/steps.csv", out + "/mine.csv"));
    QCOMPARE(::rename(qPrintable(out + "/mine.csv"), qPrintable(out + "/steps.csv")), 0);
    const Outcome outcome = outcomeOf(process);
    QVERIFY2(outcome.code == 1 && !outcome.crashed, outcome.error);
    QVERIFY2(outcome.error.contains(out.toUtf8() + "/steps.csv: another program removed, replaced"),
             outcome.error);
    QVERIFY(contentOf(out + "/manifest.json").contains("\"unfinished\""));
}

/// The files after a kill are whole and all belong to the killed run; the next run cleans up.
void TestCliInterrupts::killedRunLeavesWholeFiles() {
    QTemporaryDir folder;
    const QString out = folder.filePath("k");
    QCOMPARE(call(smallRun(out, {"--lanes", "fp32,amp-bf16,amp-bf16"})).code, 0);
    QVERIFY(filesOf(out).contains("output_amp-bf16-2.png"));
    QFile note(out + "/output_mine.png"); // not one of the program's files
    QVERIFY(note.open(QIODevice::WriteOnly));
    QProcess process; // into the same folder
    QVERIFY(startEndless(process, out, {"--seed", "9"}));
    QVERIFY(
        QTest::qWaitFor([&] { return contentOf(out + "/steps.csv").count('\n') > 3; }, kPatience));
    QCOMPARE(send(process, SIGKILL), 0);
    QVERIFY(process.waitForFinished(kPatience));
    QCOMPARE(QDir(out).entryList(QDir::Files, QDir::Name),
             (QStringList{"events.csv", "experiment.json", "manifest.json", "output_mine.png",
                          "steps.csv", "target.png", "timing.csv"}));
    const QByteArray experiment = contentOf(out + "/experiment.json");
    QCOMPARE(parseConfig(experiment.toStdString(), "k").seed, uint64_t{9});
    QVERIFY(contentOf(out + "/manifest.json").contains("\"unfinished\""));
    QCOMPARE(filesOf(out).filter(".tmp").size(), 0);
    const auto left = readRun(out.toStdString());
    QVERIFY(left->step() > 0);
    QCOMPARE(test::missingTexts(left->info()).front(), std::string("the end of the run"));
    QVERIFY(note.remove());
    QFile other(out + "/.steps.csv.1-0.tmp"); // belongs to nobody, whoever has that number now
    QVERIFY(other.open(QIODevice::WriteOnly));
    other.close();
    QCOMPARE(call(smallRun(out)).code, 0);
    QCOMPARE(filesOf(out), kRunFiles);
}

void TestCliInterrupts::closedStandardFiles_data() {
    QTest::addColumn<QString>("closed");
    QTest::addColumn<int>("code");
    QTest::newRow("none") << "" << 0;
    QTest::newRow("output") << ">&-" << 1; // nobody got the table
    QTest::newRow("error") << "2>&-" << 0;
    QTest::newRow("all") << "<&- >&- 2>&-" << 1;
}

/// What is printed must not go into a file that got the number of a closed stream.
void TestCliInterrupts::closedStandardFiles() {
    QFETCH(const QString, closed);
    QFETCH(const int, code);
    QTemporaryDir folder;
    QCOMPARE(call(smallRun(folder.filePath("whole"))).code, 0);
    const QString out = folder.filePath("closed");
    QCOMPARE(callShell("\"$0\" \"$@\" " + closed, smallRun(out)).code, code);
    QCOMPARE(filesOf(out), kRunFiles);
    for (const char* file : {"/steps.csv", "/events.csv", "/experiment.json", "/target.png"})
        QCOMPARE(contentOf(out + file), contentOf(folder.filePath("whole") + file));
    QVERIFY(contentOf(out + "/timing.csv").startsWith("step,lane,device_seconds,wall_seconds\n"));
}

/// experiment.json names the picture by its whole path, which must be text.
void TestCliInterrupts::folderOfNoUtf8() {
    QTemporaryDir folder;
    const QByteArray odd = folder.path().toUtf8() + "/\xFF";
    QCOMPARE(::mkdir(odd.constData(), 0755), 0);
    const Outcome outcome = callShell(
        "cd \"$1\"/?; shift; \"$0\" run --preset picture --set task.side=4 --set model.width=4 "
        "--steps 1 --out here; cp here/target.png a.png; exec \"$0\" \"$@\"",
        {folder.path(), "run", "--preset", "picture", "--set", "task.image=a.png", "--set",
         "task.side=4", "--set", "model.width=4", "--steps", "1", "--quiet", "--out",
         folder.filePath("out")});
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.error.contains("halfscope-cli: task.image: \"" + folder.path().toUtf8()),
             outcome.error);
    QVERIFY2(outcome.error.contains("is not allowed: a path in plain UTF-8"), outcome.error);
}

/// Names that no disk takes are refused before anything is trained, with what a lane adds to them;
/// the longest possible one is written.
void TestCliInterrupts::longNames() {
    QTemporaryDir folder;
    const QString longest = QString(250, 'z') + ".onnx";
    const auto onnx = [&](const QStringList& more) {
        return call(smallRun(folder.filePath("out"), more) +
                    QStringList{"--quiet", "--onnx", folder.filePath(longest)});
    };
    const Outcome two = onnx({"--steps", "1000000000"});
    QCOMPARE(two.code, 2);
    QVERIFY2(two.saysOneLine() && two.error.startsWith("halfscope-cli: --onnx: ") &&
                 two.error.endsWith(" is not allowed: a name has 260 bytes, and at most 255 are "
                                    "allowed\n"),
             two.error);
    const Outcome one = onnx({"--lanes", "fp32"});
    QVERIFY2(one.code == 0, one.error);
    QCOMPARE(filesOf(folder.path()), QStringList{longest});
    const Outcome out = call(smallRun(folder.filePath(QString(256, 'o') + "/in")));
    QCOMPARE(out.code, 2);
    QVERIFY2(out.saysOneLine() && out.error.startsWith("halfscope-cli: --out: ") &&
                 out.error.contains("a name has 256 bytes"),
             out.error);
}

void TestCliInterrupts::readOnlyFolder() {
    if (::geteuid() == 0) { // whom permissions do not restrict, but /proc has no room for anybody
        const Outcome outcome = call(smallRun("/proc/out"));
        QCOMPARE(outcome.code, 1);
        QVERIFY2(outcome.error.contains("/proc/out"), outcome.error);
        return;
    }
    QTemporaryDir folder;
    QCOMPARE(::chmod(folder.path().toUtf8().constData(), 0555), 0);
    const Outcome outcome = call(smallRun(folder.filePath("out")));
    ::chmod(folder.path().toUtf8().constData(), 0755);
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.error.contains(folder.path().toUtf8()), outcome.error);
}

void TestCliInterrupts::fullDisk() {
    QTemporaryDir folder;
    const QByteArray path = folder.path().toUtf8();
    if (::mount("tmpfs", path.constData(), "tmpfs", 0, "size=64k") != 0) {
        QSKIP("a small file system cannot be mounted here (needs root)");
    }
    const QString out = folder.filePath("out");
    const Outcome outcome = call(smallRun(out, {"--steps", "100000"}));
    const QStringList left = filesOf(out);
    ::umount(path.constData());
    QVERIFY2(outcome.code == 1, outcome.error);
    QVERIFY2(outcome.error.contains("No space left on device"), outcome.error);
    QVERIFY2(outcome.error.contains("csv: cannot write"), outcome.error);
    QVERIFY(left.contains("experiment.json") && left.contains("target.png"));
}

QTEST_GUILESS_MAIN(TestCliInterrupts)
#include "tst_cli_interrupts.moc"
