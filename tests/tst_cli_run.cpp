// halfscope-cli run from outside: the files of a run and their bytes, interrupts, kills, full disks
// and folders that cannot be written. What the numbers mean is tested with the engine.
#include "engine/train/fields.h"
#include "engine/train/run_files.h"
#include "tests/support/cli.h"

#include <QtTest>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <limits>

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Starts a run without an end and waits until it has told of a step.
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

class TestCliRun : public QObject {
    Q_OBJECT

private slots:
    void runWritesItsFiles();
    void everyPresetRuns_data();
    void everyPresetRuns();
    void runTwiceSameBytes_data();
    void runTwiceSameBytes();
    void savedExperimentRunsAgain();
    void optionsActInOrder();
    void stopAtTheFloorKeepsFiles();
    void quietSaysNothing();
    void closingTable();
    void progressLines();
    void ignoredSignalsStayIgnored();
    void progressOnATerminal();
    void csvLines();
    void interruptKeepsFiles_data();
    void interruptKeepsFiles();
    void interruptedStepsAreThoseOfTheWholeRun();
    void signalsAtOnceAreOne();
    void secondInterruptEnds();
    void oneRunInAFolder();
    void failedStartKeepsTheEarlierRun();
    void fileSizeLimit();
    void killedRunLeavesWholeFiles();
    void closedStandardFiles_data();
    void closedStandardFiles();
    void folderOfNoUtf8();
    void readOnlyFolder();
    void fullDisk();
};

void TestCliRun::runWritesItsFiles() {
    QTemporaryDir folder;
    const QString out = folder.filePath("new/deep");
    const Outcome outcome = call(smallRun(out));
    QVERIFY2(outcome.code == 0, outcome.error);
    QVERIFY2(outcome.out.contains("amp-fp16") && outcome.out.contains("2^16"), outcome.out);
    QCOMPARE(filesOf(out), kRunFiles);
    const QByteArray steps = contentOf(out + "/steps.csv");
    QCOMPARE(steps.count('\n'), qsizetype{1 + 2 * 12});
    QVERIFY2(steps.startsWith("step,lane,loss,scale,"), steps);
    QCOMPARE(contentOf(out + "/timing.csv").count('\n'), qsizetype{1 + 2 * 12});
    const QJsonObject summary = QJsonDocument::fromJson(contentOf(out + "/summary.json")).object();
    QCOMPARE(summary["outcome"].toString(), QString("finished"));
    QCOMPARE(summary["steps"].toInt(), 12);
    const QJsonArray lanes = summary["lanes"].toArray();
    QCOMPARE(lanes.size(), qsizetype{2});
    for (const QJsonValue& lane : lanes) {
        // The same float in both files.
        const QByteArray loss = QByteArray("12,") + lane["name"].toString().toUtf8() + ",";
        const qsizetype at = steps.indexOf("\n" + loss) + 1 + loss.size();
        const QByteArray text = steps.mid(at, steps.indexOf(',', at) - at);
        QVERIFY2(lane["final_loss"].toDouble() == text.toDouble(), text);
        QVERIFY(lane["peak_bytes"].toInt() > 0);
        int sum = 0;
        for (const QJsonValue& bytes : lane["peak_bytes_by_cause"].toObject())
            sum += bytes.toInt();
        QCOMPARE(sum, lane["peak_bytes"].toInt());
    }
    for (const char* picture : {"target", "output_fp32", "output_amp-fp16"}) {
        QCOMPARE(QByteArray(contentOf(out + QString("/%1.png").arg(picture)).left(8)),
                 QByteArray("\x89PNG\r\n\x1a\n"));
    }
}

void TestCliRun::everyPresetRuns_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("lanes");
    for (const Preset& preset : presets())
        QTest::newRow(preset.name.c_str())
            << QString::fromStdString(preset.name) << static_cast<int>(preset.config.lanes.size());
}

/// Three steps of each; large pictures at the usual size.
void TestCliRun::everyPresetRuns() {
    QFETCH(QString, name);
    QFETCH(int, lanes);
    QTemporaryDir folder;
    const QString out = folder.filePath("out");
    const Outcome outcome = call({"run", "--preset", name, "--set", "task.side=64", "--steps", "3",
                                  "--device", "cpu", "--threads", "1", "--quiet", "--out", out});
    QCOMPARE(outcome.error, QByteArray());
    QCOMPARE(outcome.code, 0);
    QCOMPARE(contentOf(out + "/steps.csv").count('\n'), qsizetype{1 + 3 * lanes});
}

void TestCliRun::runTwiceSameBytes_data() {
    QTest::addColumn<QString>("preset");
    for (const char* preset : {"checkerboard", "checkerboard-bf16", "pure-fp16", "overflow",
                               "regression", "picture", "static-scales"}) {
        QTest::newRow(preset) << QString(preset);
    }
}

void TestCliRun::runTwiceSameBytes() {
    QFETCH(const QString, preset);
    QTemporaryDir folder;
    const QStringList run{"run",     "--preset", preset,  "--set",          "task.side=16",
                          "--steps", "30",       "--set", "model.width=16", "--device",
                          "cpu",     "--seed",   "7",     "--quiet",        "--out"};
    for (const char* name : {"a", "b"}) {
        const Outcome outcome = call(run + QStringList{folder.filePath(name)});
        QVERIFY2(outcome.code == 0, outcome.error);
    }
    const QStringList files = filesOf(folder.filePath("a"));
    QCOMPARE(files, filesOf(folder.filePath("b")));
    for (const QString& file : files) {
        if (file == "timing.csv" || file == "summary.json") continue; // the clock decides them
        QVERIFY2(contentOf(folder.filePath("a/" + file)) == contentOf(folder.filePath("b/" + file)),
                 qPrintable(file + " of seed 7"));
    }
}

void TestCliRun::savedExperimentRunsAgain() {
    QTemporaryDir folder;
    const QString first = folder.filePath("first");
    const QStringList more{"--set", "optimizer.lr=0.0123456789", "--set",
                           "lanes.1.scaler.growth_interval=3"};
    QVERIFY(call(smallRun(first, more)).code == 0);
    const QString second = folder.filePath("second");
    const Outcome outcome = call({"run", first + "/experiment.json", "--out", second});
    QVERIFY2(outcome.code == 0, outcome.error);
    for (const char* file : {"/experiment.json", "/steps.csv", "/events.csv", "/output_fp32.png"}) {
        QVERIFY2(contentOf(first + file) == contentOf(second + file), file);
    }
    QVERIFY(contentOf(first + "/events.csv").contains(",growth,"));
    // One thread or two: the same bits, but for the setting itself.
    const QString third = folder.filePath("third");
    QVERIFY(call({"run", first + "/experiment.json", "--out", third, "--threads", "1"}).code == 0);
    QCOMPARE(contentOf(third + "/steps.csv"), contentOf(first + "/steps.csv"));
}

void TestCliRun::optionsActInOrder() {
    QTemporaryDir folder;
    const QString out = folder.filePath("o");
    const Outcome outcome = call(
        smallRun(out, {"--lanes", "fp16,amp-fp16,amp-fp16", "--set", "scaler.init_scale=8", "--set",
                       "lanes.2.scaler.init_scale=16", "--set", "run.steps=3", "--seed", "5"}));
    QVERIFY2(outcome.code == 0, outcome.error);
    const RunConfig config = readConfig((out + "/experiment.json").toStdString());
    QCOMPARE(config.lanes.size(), size_t{3});
    QCOMPARE(config.lanes[1].scaler.initScale, 8.0);
    QCOMPARE(config.lanes[2].scaler.initScale, 16.0);
    QCOMPARE(config.steps, int64_t{3});
    QCOMPARE(config.seed, uint64_t{5});
    QVERIFY(filesOf(out).contains("output_amp-fp16-2.png"));
}

void TestCliRun::stopAtTheFloorKeepsFiles() {
    QTemporaryDir folder;
    const QString out = folder.filePath("f");
    const Outcome outcome =
        call(smallRun(out, {"--set", "scaler.preset=deepspeed", "--set", "scaler.init_scale=1e30",
                            "--set", "scaler.floor=1e30", "--steps", "20", "--quiet"}));
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.error.startsWith("halfscope-cli: The loss scale reached its floor 1e+30 in "
                                      "lane amp-fp16 at step 2 "),
             outcome.error);
    QCOMPARE(outcome.error.count('\n'), qsizetype{1});
    QCOMPARE(filesOf(out), kRunFiles);
    const QJsonObject summary = QJsonDocument::fromJson(contentOf(out + "/summary.json")).object();
    QCOMPARE(summary["outcome"].toString(), QString("stopped"));
    QCOMPARE(summary["steps"].toInt(), 2);
}

void TestCliRun::quietSaysNothing() {
    QTemporaryDir folder;
    const Outcome outcome = call(smallRun(folder.filePath("q"), {"--quiet"}));
    QCOMPARE(outcome.code, 0);
    QCOMPARE(outcome.out, QByteArray());
    QCOMPARE(outcome.error, QByteArray());
}

/// A lane that does not scale has no scale; one that has come down to 1 has that.
void TestCliRun::closingTable() {
    QTemporaryDir folder;
    const Outcome outcome = call(smallRun(
        folder.filePath("t"), {"--set", "scaler.init_scale=1", "--set", "scaler.mode=static"}));
    QCOMPARE(outcome.code, 0);
    QStringList scales;
    for (const QString& line : QString::fromUtf8(outcome.out).split('\n'))
        if (line.startsWith("fp32 ") || line.startsWith("amp-fp16 "))
            scales.push_back(line.simplified().split(' ').at(3));
    QCOMPARE(scales, (QStringList{"-", "1"}));
}

void TestCliRun::progressLines() {
    QTemporaryDir folder;
    const Outcome outcome = call(smallRun(folder.filePath("p"), {"--steps", "200"}));
    QCOMPARE(outcome.code, 0);
    QVERIFY2(!outcome.error.contains('\r') && !outcome.error.contains('\033'), "no bar in a pipe");
    const qsizetype lines = outcome.error.count(" it/s");
    QVERIFY2(lines >= 20 && lines <= 60, outcome.error); // 5 % each, more on a slow machine
    QVERIFY2(outcome.error.contains("100 %  step 200/200"), outcome.error);
    QVERIFY2(!outcome.error.contains(" skips "), outcome.error);
    const Outcome skipping =
        call(smallRun(folder.filePath("s"), {"--set", "scaler.init_scale=1e30"}));
    QVERIFY2(skipping.error.contains(" skips "), skipping.error);
}

/// As nohup starts a program, or a shell's `&`: a signal that is ignored stays so.
void TestCliRun::ignoredSignalsStayIgnored() {
    QTemporaryDir folder;
    const Outcome outcome =
        callShell("trap '' HUP; \"$0\" \"$@\" & run=$!; sleep 0.2; kill -HUP $run; wait $run",
                  smallRun(folder.filePath("h"), {"--steps", "30000"}));
    QCOMPARE(outcome.code, 0);
    QVERIFY2(outcome.error.contains("100 %  step 30000/30000"), outcome.error);
}

/// One line that is drawn again and again, never wider than the terminal, and then left.
void TestCliRun::progressOnATerminal() {
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0)
        QSKIP("this system gives no terminal");
    const winsize size{24, 40, 0, 0};
    QCOMPARE(::ioctl(terminal, TIOCSWINSZ, &size), 0);
    const QString name = ::ptsname(terminal);
    QTemporaryDir folder;
    const Outcome outcome =
        callShell("TERM=xterm \"$0\" \"$@\" 2> " + name, smallRun(folder.filePath("t")));
    QCOMPARE(outcome.code, 0);
    QByteArray drawn(4096, '\0');
    drawn.truncate(std::max<ssize_t>(::read(terminal, drawn.data(), 4096), 0));
    ::close(terminal);
    const qsizetype bar = drawn.indexOf("\r[");
    QVERIFY2(bar > 0 && drawn.indexOf("\r[##########] 100 %  12/12") >= bar, drawn);
    QVERIFY2(drawn.endsWith("\033[K\r\n"), drawn);
    for (const QByteArray& line : drawn.mid(bar).split('\r'))
        QVERIFY2(line.trimmed().isEmpty() || line.size() == 39 + 3, line); // cut, then "\033[K"
}

void TestCliRun::csvLines() {
    const std::vector<std::string> lanes{"fp32", "a,b"};
    StepRecord record;
    record.step = 3;
    record.lane = 1;
    record.flags = kSkipped | kBackedOff;
    record.loss = 0.1f;
    record.scale = 16777216;
    record.growthTracker = 7;
    record.learningRate = 1e-8f;
    record.gradientNorm = -std::numeric_limits<float>::quiet_NaN();
    record.deviceSeconds = 0.1;
    record.wallSeconds = std::numeric_limits<double>::infinity();
    record.skippedSoFar = 9;
    QCOMPARE(stepLine(record, lanes),
             std::string("3,\"a,b\",0.1,16777216,7,1e-08,nan,1,0,1,0,9\n"));
    QCOMPARE(timingLine(record, lanes), std::string("3,\"a,b\",0.1,inf\n"));
    const Event event{EventKind::Edit, 4, -1, 2, 0.5f, "x \"y\"", "one\ntwo"};
    QCOMPARE(eventLine(event, lanes),
             std::string("4,all,edit,2,0.5,\"x \"\"y\"\"\",\"one\ntwo\"\n"));
    for (const auto& [header, line] :
         {std::pair(kStepHeader, stepLine(record, {{"l", "m"}})),
          std::pair(kTimingHeader, timingLine(record, {{"l", "m"}}))}) {
        QCOMPARE(QByteArray(header).count(','), QByteArray::fromStdString(line).count(','));
    }
    LaneTotals totals;
    QCOMPARE(totals.medianDeviceSeconds(), 0.0);
    for (const double seconds : {4.0, 1.0, 2.0}) {
        record.deviceSeconds = seconds;
        totals.add(record);
    }
    QCOMPARE(totals.medianDeviceSeconds(), 2.0);
    QCOMPARE(totals.steps(), int64_t{3});
}

void TestCliRun::interruptKeepsFiles_data() {
    QTest::addColumn<int>("number");
    QTest::newRow("SIGINT") << SIGINT;
    QTest::newRow("SIGTERM") << SIGTERM;
    QTest::newRow("SIGHUP") << SIGHUP;
}

void TestCliRun::interruptKeepsFiles() {
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

void TestCliRun::interruptedStepsAreThoseOfTheWholeRun() {
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

/// As timeout sends them, to the program and to its group.
void TestCliRun::signalsAtOnceAreOne() {
    QTemporaryDir folder;
    const QString out = folder.filePath("s");
    QProcess process;
    QVERIFY(startEndless(process, out, {"--set", "task.side=256"}));
    // Two that differ: of two alike one could melt into the other.
    QCOMPARE(send(process, SIGINT), 0);
    QCOMPARE(send(process, SIGTERM), 0);
    const Outcome outcome = outcomeOf(process);
    QVERIFY2(outcome.code == 130 && !outcome.crashed, outcome.error);
    QCOMPARE(filesOf(out), kRunFiles);
}

void TestCliRun::secondInterruptEnds() {
    QTemporaryDir folder;
    const QString out = folder.filePath("s");
    QVERIFY(QDir().mkpath(out));
    // A pipe that nobody reads: the run waits for ever and cannot end by itself.
    QCOMPARE(::mkfifo((out + "/steps.csv").toUtf8().constData(), 0600), 0);
    QProcess process;
    process.setReadChannel(QProcess::StandardError);
    process.start(program(), smallRun(out));
    while (!process.peek(1000).contains(" steps on "))
        QVERIFY(process.waitForReadyRead(kPatience));
    QTest::qWait(100); // until it has come to the pipe
    QCOMPARE(send(process, SIGINT), 0);
    QTest::qWait(600); // what comes within half a second belongs to the first
    QCOMPARE(process.state(), QProcess::Running);
    QCOMPARE(send(process, SIGINT), 0);
    const Outcome outcome = outcomeOf(process);
    QVERIFY2(outcome.crashed, "the second signal ends the program itself");
    QVERIFY2(outcome.error.contains("ended at once"), outcome.error);
}

/// Neither their files nor the sentence about it go into the folder of a run that lives.
void TestCliRun::oneRunInAFolder() {
    QTemporaryDir folder;
    const QString out = folder.filePath("one");
    QProcess process;
    QVERIFY(startEndless(process, out, {"--seed", "9"}));
    const Outcome other = call(smallRun(out, {"--quiet"}));
    QCOMPARE(other.code, 1);
    QCOMPARE(other.error, "halfscope-cli: " + out.toUtf8() +
                              ": another run is writing into this folder; one at a time is "
                              "allowed\n");
    process.terminate();
    QCOMPARE(outcomeOf(process).code, 130);
    QCOMPARE(filesOf(out), kRunFiles);
    const QByteArray experiment = contentOf(out + "/experiment.json");
    QCOMPARE(parseConfig(experiment.toStdString(), "one").seed, uint64_t{9});
}

/// A run that cannot begin leaves what an earlier one has written.
void TestCliRun::failedStartKeepsTheEarlierRun() {
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

/// A shell's limit on the size of files fails the write, as a full disk does.
void TestCliRun::fileSizeLimit() {
    QTemporaryDir folder;
    const QString out = folder.filePath("l");
    const Outcome outcome =
        callShell("ulimit -f 16; exec \"$0\" \"$@\"", smallRun(out, {"--steps", "20000"}));
    QVERIFY(!outcome.crashed);
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.error.contains(".csv: cannot write: File too large"), outcome.error);
    QVERIFY(contentOf(out + "/steps.csv").endsWith('\n'));
}

/// What is there after a kill is whole and of the killed run alone; the next run cleans up.
void TestCliRun::killedRunLeavesWholeFiles() {
    QTemporaryDir folder;
    const QString out = folder.filePath("k");
    QCOMPARE(call(smallRun(out, {"--lanes", "fp32,amp-bf16,amp-bf16"})).code, 0);
    QVERIFY(filesOf(out).contains("output_amp-bf16-2.png"));
    QFile note(out + "/output_mine.png"); // not one of the program's
    QVERIFY(note.open(QIODevice::WriteOnly));
    QProcess process; // into the same folder
    QVERIFY(startEndless(process, out, {"--seed", "9"}));
    QCOMPARE(send(process, SIGKILL), 0);
    QVERIFY(process.waitForFinished(kPatience));
    QCOMPARE(QDir(out).entryList(QDir::Files, QDir::Name),
             (QStringList{"experiment.json", "output_mine.png", "target.png"}));
    const QByteArray experiment = contentOf(out + "/experiment.json");
    QCOMPARE(parseConfig(experiment.toStdString(), "k").seed, uint64_t{9});
    QCOMPARE(filesOf(out).filter(".tmp").size(), 3); // the rows so far
    QVERIFY(note.remove());
    QFile other(out + "/.steps.csv.1-0.tmp"); // of a process that lives
    QVERIFY(other.open(QIODevice::WriteOnly));
    QCOMPARE(call(smallRun(out)).code, 0);
    QVERIFY(other.remove());
    QCOMPARE(filesOf(out), kRunFiles);
}

void TestCliRun::closedStandardFiles_data() {
    QTest::addColumn<QString>("closed");
    QTest::addColumn<int>("code");
    QTest::newRow("none") << "" << 0;
    QTest::newRow("output") << ">&-" << 1; // nobody got the table
    QTest::newRow("error") << "2>&-" << 0;
    QTest::newRow("all") << "<&- >&- 2>&-" << 1;
}

/// What is printed must not go into a file that got the number of a closed stream.
void TestCliRun::closedStandardFiles() {
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
void TestCliRun::folderOfNoUtf8() {
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
    QVERIFY2(outcome.error.contains("is not allowed: a file's path in plain UTF-8"), outcome.error);
}

void TestCliRun::readOnlyFolder() {
    if (::geteuid() == 0) {
        // Permissions do not hold root; a file in place of the folder does.
        QTemporaryDir folder;
        QFile file(folder.filePath("f"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        const Outcome outcome = call(smallRun(folder.filePath("f/out")));
        QCOMPARE(outcome.code, 1);
        QVERIFY2(outcome.error.contains(folder.filePath("f").toUtf8()), outcome.error);
        return;
    }
    QTemporaryDir folder;
    QCOMPARE(::chmod(folder.path().toUtf8().constData(), 0555), 0);
    const Outcome outcome = call(smallRun(folder.filePath("out")));
    ::chmod(folder.path().toUtf8().constData(), 0755);
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.error.contains(folder.path().toUtf8()), outcome.error);
}

void TestCliRun::fullDisk() {
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

QTEST_GUILESS_MAIN(TestCliRun)
#include "tst_cli_run.moc"
