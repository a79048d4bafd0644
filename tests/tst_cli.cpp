// halfscope-cli from outside: exit codes, one-line errors, the files of a run, interrupts, full
// disks and closed pipes. What the numbers mean is tested with the engine.
#include "engine/train/fields.h"
#include "engine/train/run_files.h"

#include <QtTest>

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <limits>

using namespace halfscope;

namespace {

struct Outcome {
    int code = -1;
    bool crashed = false;
    QByteArray out, error;
};

constexpr int kPatience = 120'000; // ms; only a hang takes that long

QString program() { return QStringLiteral(HALFSCOPE_BINARY_DIR "/halfscope-cli"); }

Outcome outcomeOf(QProcess& process) {
    const bool ended = process.waitForFinished(kPatience);
    Outcome outcome{ended ? process.exitCode() : -1, process.exitStatus() == QProcess::CrashExit,
                    process.readAllStandardOutput(), process.readAllStandardError()};
    if (!ended) process.kill();
    return outcome;
}

Outcome call(const QStringList& arguments) {
    QProcess process;
    process.start(program(), arguments);
    return outcomeOf(process);
}

/// Through a shell, for redirections: "$0" is the program.
Outcome callShell(const QString& script, const QStringList& arguments = {}) {
    QProcess process;
    process.start(QStringLiteral("/bin/sh"),
                  QStringList{QStringLiteral("-c"), script, program()} + arguments);
    return outcomeOf(process);
}

QByteArray contentOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("(missing)");
}

QStringList filesOf(const QString& folder) {
    return QDir(folder).entryList(QDir::Files | QDir::Hidden, QDir::Name);
}

/// A run of a few milliseconds.
QStringList smallRun(const QString& out, const QStringList& more = {}) {
    return QStringList{"run",
                       "--preset",
                       "checkerboard",
                       "--set",
                       "task.side=8",
                       "--set",
                       "model.width=8",
                       "--steps",
                       "12",
                       "--device",
                       "cpu",
                       "--out",
                       out} +
           more;
}

const QStringList kRunFiles{"events.csv",      "experiment.json", "output_amp-fp16.png",
                            "output_fp32.png", "steps.csv",       "summary.json",
                            "target.png",      "timing.csv"};

} // namespace

class TestCli : public QObject {
    Q_OBJECT

private slots:
    void wrongUsage_data();
    void wrongUsage();
    void helpAndVersion();
    void lists();
    void describes_data();
    void describes();
    void settingsReference();
    void runWritesItsFiles();
    void runTwiceSameBytes_data();
    void runTwiceSameBytes();
    void savedExperimentRunsAgain();
    void optionsActInOrder();
    void stopAtTheFloorKeepsFiles();
    void quietSaysNothing();
    void progressLines();
    void csvLines();
    void interruptKeepsFiles_data();
    void interruptKeepsFiles();
    void interruptedStepsAreThoseOfTheWholeRun();
    void secondInterruptEnds();
    void killedRunLeavesWholeFiles();
    void readOnlyFolder();
    void fullDisk();
    void fullStandardOutput();
    void closedPipe();
    void missingDevice();
    void noQt();
};

void TestCli::wrongUsage_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("message");
    const auto row = [](const char* name, const QStringList& arguments, const char* message) {
        QTest::newRow(name) << arguments << QByteArray(message);
    };
    row("nothing", {},
        "a command is missing: run, verify, bench, presets, devices, describe or settings");
    row("command", {"rum"}, "\"rum\" is not a command: run, verify, bench, presets, devices");
    row("option", {"run", "--stepps", "3"}, "--stepps");
    row("option without value", {"run", "--steps"}, "--steps");
    row("too much", {"presets", "more"}, "more");
    row("preset", {"run", "--preset", "overfow"},
        "\"overfow\" is not a preset; the nearest one is overflow");
    row("file and preset", {"run", "a.json", "--preset", "overflow"},
        "an experiment file and --preset: give one of them");
    row("missing file", {"run", "no/such.json"}, "no/such.json: cannot read: ");
    row("folder as file", {"run", "/"}, "/: cannot read: ");
    row("steps", {"run", "--steps", "many"},
        "run.steps: \"many\" is not allowed: a whole number from 1 to 1000000000");
    row("no steps", {"run", "--steps", "0"}, "run.steps: 0 is not allowed");
    row("seed", {"run", "--seed", "-1"}, "run.seed: -1 is not allowed: a whole number from 0");
    row("device", {"run", "--device", "tpu"},
        "run.device: \"tpu\" is not allowed: auto, cpu, cuda or cuda:INDEX, or one for each "
        "lane with commas between");
    row("threads", {"run", "--threads", "-3"}, "run.threads: -3 is not allowed");
    row("lanes", {"run", "--lanes", "fp32,fp8"},
        "precision: \"fp8\" is not allowed: one of fp32, amp-fp16, amp-bf16, fp16, tf32");
    row("seven lanes", {"run", "--lanes", "fp32,fp32,fp32,fp32,fp32,fp32,fp32"},
        "lanes: 7 lanes are not allowed: 1 to 6");
    row("empty lanes", {"run", "--lanes", ""},
        "--lanes: \"\" is not allowed: one to six precisions, such as fp32,amp-fp16");
    row("empty steps", {"run", "--steps", ""},
        "--steps: \"\" is not allowed: a whole number from 1");
    row("empty preset", {"run", "--preset", ""}, "--preset: \"\" is not allowed: the name of");
    row("empty folder", {"run", "--out", ""}, "--out: \"\" is not allowed: the path of a folder");
    row("empty lane", {"describe", "--lane", ""}, "--lane: \"\" is not allowed: the name of");
    row("foreign preset", {"run", "--preset", "mnist"},
        "\"mnist\" is not a preset; there are: checkerboard, ");
    row("foreign setting", {"run", "--set", "foo=1"},
        "\"foo\" is an unknown setting; halfscope-cli settings lists all\n");
    row("foreign lane", {"describe", "--lane", "quantized"},
        "\"quantized\" is not a lane of this experiment; there are: fp32, amp-fp16\n");
    row("setting", {"run", "--set", "scaler.growth=1"},
        "\"scaler.growth\" is an unknown setting; the nearest known one is scaler.growth_factor");
    row("setting without value", {"run", "--set", "scaler.mode"},
        "\"scaler.mode\" is not a setting: KEY=VALUE");
    row("picture", {"run", "--preset", "picture", "--set", "task.image=no/such.png"},
        "no/such.png");
    row("lane of describe", {"describe", "--lane", "amp-fp61"},
        "--lane: \"amp-fp61\" is not a lane of this experiment; the nearest one is amp-fp16");
    row("two forms", {"describe", "--dot", "--json"}, "--dot excludes --json");
}

void TestCli::wrongUsage() {
    QFETCH(const QStringList, arguments);
    QFETCH(const QByteArray, message);
    const Outcome outcome = call(arguments);
    QCOMPARE(outcome.code, 2);
    QCOMPARE(outcome.out, QByteArray());
    QVERIFY2(outcome.error.startsWith("halfscope-cli: "), outcome.error);
    QVERIFY2(outcome.error.contains(message), outcome.error);
    QVERIFY2(outcome.error.count('\n') == 1 && outcome.error.endsWith('\n'), outcome.error);
}

void TestCli::helpAndVersion() {
    const Outcome version = call({"--version"});
    QCOMPARE(version.code, 0);
    QVERIFY2(version.out.startsWith("halfscope-cli 0."), version.out);
    for (const QStringList& arguments : {QStringList{"--help"}, QStringList{"run", "--help"}}) {
        const Outcome help = call(arguments);
        QCOMPARE(help.code, 0);
        QCOMPARE(help.error, QByteArray());
        for (const char* word : {"Exit codes:", "130  interrupted", "--help"}) {
            QVERIFY2(help.out.contains(word), help.out);
        }
    }
}

void TestCli::lists() {
    const Outcome list = call({"presets"});
    QCOMPARE(list.code, 0);
    for (const Preset& preset : presets()) {
        QVERIFY2(list.out.contains(preset.name.c_str()), list.out);
    }
    QCOMPARE(list.out.count('\n'), static_cast<qsizetype>(presets().size()));
    const Outcome devices = call({"devices"});
    QCOMPARE(devices.code, 0);
    QVERIFY2(devices.out.startsWith("cpu"), devices.out);
    QVERIFY2(devices.out.contains("\ncuda:0") || devices.out.contains("\nNo CUDA: "), devices.out);
}

void TestCli::describes_data() {
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<QByteArray>("start");
    QTest::addColumn<QByteArray>("inside");
    QTest::newRow("text") << QStringList{} << QByteArray("%0 = ") << QByteArray("cast(");
    QTest::newRow("casts") << QStringList{} << QByteArray("%0 = ")
                           << QByteArray("x float32 -> float16, ");
    QTest::newRow("casts as json")
        << QStringList{"--json"} << QByteArray("{")
        << QByteArray("\"reason\": \"linear: lower precision (torch cuda float16)\"");
    QTest::newRow("fp32") << QStringList{"--lane", "fp32"} << QByteArray("%0 = ")
                          << QByteArray("matmul(");
    QTest::newRow("dot") << QStringList{"--dot"} << QByteArray("digraph") << QByteArray("->");
    QTest::newRow("json") << QStringList{"--json"} << QByteArray("{") << QByteArray("\"nodes\"");
}

void TestCli::describes() {
    QFETCH(const QStringList, more);
    QFETCH(const QByteArray, start);
    QFETCH(const QByteArray, inside);
    const Outcome outcome = call(QStringList{"describe", "--preset", "checkerboard"} + more);
    QCOMPARE(outcome.code, 0);
    QCOMPARE(outcome.error, QByteArray());
    QVERIFY2(outcome.out.startsWith(start), outcome.out.left(200));
    QVERIFY2(outcome.out.contains(inside), outcome.out.left(200));
    // Half precision appears in the lane that has it, and only there.
    QCOMPARE(outcome.out.contains("float16"), !more.contains("fp32"));
    if (more.contains("--json")) QVERIFY(!QJsonDocument::fromJson(outcome.out).isNull());
}

void TestCli::settingsReference() {
    const Outcome outcome = call({"settings"});
    QCOMPARE(outcome.code, 0);
    QCOMPARE(outcome.out, QByteArray::fromStdString(fieldReference()));
}

void TestCli::runWritesItsFiles() {
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

void TestCli::runTwiceSameBytes_data() {
    QTest::addColumn<QString>("preset");
    for (const char* preset : {"checkerboard", "checkerboard-bf16", "pure-fp16", "overflow",
                               "regression", "picture", "static-scales"}) {
        QTest::newRow(preset) << QString(preset);
    }
}

void TestCli::runTwiceSameBytes() {
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

void TestCli::savedExperimentRunsAgain() {
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

void TestCli::optionsActInOrder() {
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

void TestCli::stopAtTheFloorKeepsFiles() {
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

void TestCli::quietSaysNothing() {
    QTemporaryDir folder;
    const Outcome outcome = call(smallRun(folder.filePath("q"), {"--quiet"}));
    QCOMPARE(outcome.code, 0);
    QCOMPARE(outcome.out, QByteArray());
    QCOMPARE(outcome.error, QByteArray());
}

void TestCli::progressLines() {
    QTemporaryDir folder;
    const Outcome outcome = call(smallRun(folder.filePath("p"), {"--steps", "200"}));
    QCOMPARE(outcome.code, 0);
    QVERIFY2(!outcome.error.contains('\r') && !outcome.error.contains('\033'), "no bar in a pipe");
    const qsizetype lines = outcome.error.count(" it/s");
    QVERIFY2(lines >= 20 && lines <= 60, outcome.error); // 5 % each, more on a slow machine
    QVERIFY2(outcome.error.contains("100 %  step 200/200"), outcome.error);
}

void TestCli::csvLines() {
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

void TestCli::interruptKeepsFiles_data() {
    QTest::addColumn<int>("number");
    QTest::newRow("SIGINT") << SIGINT;
    QTest::newRow("SIGTERM") << SIGTERM;
    QTest::newRow("SIGHUP") << SIGHUP;
}

void TestCli::interruptKeepsFiles() {
    QFETCH(const int, number);
    QTemporaryDir folder;
    const QString out = folder.filePath("i");
    QProcess process;
    process.start(program(), smallRun(out, {"--steps", "1000000000"}));
    process.setReadChannel(QProcess::StandardError);
    while (!process.peek(100000).contains(" it/s"))
        QVERIFY(process.waitForReadyRead(kPatience));
    QCOMPARE(::kill(static_cast<pid_t>(process.processId()), number), 0);
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

void TestCli::interruptedStepsAreThoseOfTheWholeRun() {
    QTemporaryDir folder;
    const QString part = folder.filePath("part");
    const QStringList size{"--set", "task.side=96", "--set", "model.width=96"};
    QProcess process;
    process.start(program(), smallRun(part, size + QStringList{"--steps", "1000000000"}));
    process.setReadChannel(QProcess::StandardError);
    while (!process.peek(100000).contains(" it/s"))
        QVERIFY(process.waitForReadyRead(kPatience));
    process.terminate();
    QCOMPARE(outcomeOf(process).code, 130);
    const QByteArray steps = contentOf(part + "/steps.csv");
    const qsizetype count = (steps.count('\n') - 1) / 2;
    QVERIFY(count > 0);
    const QString whole = folder.filePath("whole");
    QCOMPARE(call(smallRun(whole, size + QStringList{"--steps", QString::number(count)})).code, 0);
    QCOMPARE(contentOf(whole + "/steps.csv"), steps);
}

void TestCli::secondInterruptEnds() {
    QTemporaryDir folder;
    bool killed = false;
    // The run may have closed its files between the two signals: then it ended by itself.
    for (int attempt = 0; attempt < 5 && !killed; ++attempt) {
        QProcess process;
        process.start(program(), smallRun(folder.filePath("s"),
                                          {"--steps", "1000000000", "--set", "task.side=256"}));
        process.setReadChannel(QProcess::StandardError);
        while (!process.peek(100000).contains(" it/s")) {
            QVERIFY(process.waitForReadyRead(kPatience));
        }
        const auto id = static_cast<pid_t>(process.processId());
        // Two that differ: of two alike one could melt into the other.
        QCOMPARE(::kill(id, SIGINT), 0);
        QCOMPARE(::kill(id, SIGTERM), 0);
        const Outcome outcome = outcomeOf(process);
        killed = outcome.crashed;
        QVERIFY2(killed || outcome.code == 130, outcome.error);
        QCOMPARE(outcome.error.contains("ended at once"), killed);
    }
    QVERIFY2(killed, "the second signal ends the program itself");
}

void TestCli::killedRunLeavesWholeFiles() {
    QTemporaryDir folder;
    const QString out = folder.filePath("k");
    QCOMPARE(call(smallRun(out)).code, 0);
    const QByteArray steps = contentOf(out + "/steps.csv");
    QProcess process; // into the same folder
    process.start(program(), smallRun(out, {"--steps", "1000000000", "--seed", "9"}));
    process.setReadChannel(QProcess::StandardError);
    while (!process.peek(100000).contains(" it/s"))
        QVERIFY(process.waitForReadyRead(kPatience));
    QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGKILL), 0);
    QVERIFY(process.waitForFinished(kPatience));
    const QByteArray experiment = contentOf(out + "/experiment.json");
    QCOMPARE(parseConfig(experiment.toStdString(), "k").seed, uint64_t{9});
    QCOMPARE(contentOf(out + "/steps.csv"), steps); // whole, if of the run before
    // what only a run that came to its end has
    QVERIFY(!QFileInfo::exists(out + "/summary.json"));
    QCOMPARE(call(smallRun(out)).code, 0);
    QCOMPARE(contentOf(out + "/steps.csv"), steps);
    QVERIFY(QFileInfo::exists(out + "/summary.json"));
}

void TestCli::readOnlyFolder() {
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

void TestCli::fullDisk() {
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

void TestCli::fullStandardOutput() {
    if (!QFile::exists("/dev/full")) QSKIP("this system has no /dev/full");
    const Outcome outcome = callShell("\"$0\" presets > /dev/full");
    QCOMPARE(outcome.code, 1);
    QCOMPARE(outcome.error, QByteArray("halfscope-cli: standard output: cannot write: No space "
                                       "left on device\n"));
}

void TestCli::closedPipe() {
    // The reader leaves at once; a listing ends in peace, and a training still writes its files.
    const Outcome list = callShell("{ \"$0\" settings; echo \"code $?\" >&2; } | true");
    QCOMPARE(list.error, QByteArray("code 0\n"));
    QTemporaryDir folder;
    const QString out = folder.filePath("out");
    const Outcome outcome =
        callShell("{ \"$0\" \"$@\" 2>&1; echo $? > \"" + folder.filePath("code") + "\"; } | true",
                  smallRun(out));
    QVERIFY2(!outcome.crashed, outcome.error);
    QCOMPARE(contentOf(folder.filePath("code")), QByteArray("0\n"));
    QCOMPARE(filesOf(out), kRunFiles);
}

void TestCli::missingDevice() {
    const Outcome outcome = call({"run", "--device", "cuda:99", "--steps", "1"});
    QCOMPARE(outcome.code, 3);
    QVERIFY2(outcome.error.startsWith("halfscope-cli: ") && outcome.error.count('\n') == 1,
             outcome.error);
}

void TestCli::noQt() {
    const QByteArray binary = contentOf(program());
    QVERIFY(binary.startsWith("\x7f"
                              "ELF"));
    QVERIFY2(!binary.contains("libQt6"), "runs where no Qt is installed");
}

QTEST_GUILESS_MAIN(TestCli)
#include "tst_cli.moc"
