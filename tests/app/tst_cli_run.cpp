// halfscope-cli run from outside: the files of a run and their bytes, and what it prints meanwhile.
// What ends it early is in tst_cli_interrupts; the engine's tests check the meaning of the numbers.
#include "engine/io/atomic_file.h"
#include "engine/io/input_file.h"
#include "engine/runs/lane_totals.h"
#include "engine/runs/run_reader.h"
#include "engine/runs/run_writer.h"
#include "engine/settings/fields.h"
#include "tests/support/cli.h"

#include <QtTest>

#include <sys/stat.h>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace tst_cli_run {

using namespace halfscope;
using namespace halfscope::test;

class TestCliRun : public QObject {
    Q_OBJECT

private slots:
    void runWritesItsFiles();
    void everyPresetRuns_data();
    void everyPresetRuns();
    void coefficientsInWords();
    void runTwiceSameBytes_data();
    void runTwiceSameBytes();
    void savedExperimentRunsAgain();
    void optionsActInOrder();
    void stopAtTheFloorKeepsFiles();
    void quietSaysNothing();
    void settingsWithoutEffect();
    void closingTable();
    void aForkHasTheLastValidation();
    void lostGradients();
    void finalScale();
    void gradients();
    void progressLines();
    void progressOnATerminal();
    void epochs();
    void csvLines();
    void onnxFiles();
    void specialFilesAreRefused_data();
    void specialFilesAreRefused();
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
        // The same float is in both files.
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

/// Three steps of each preset; large pictures at their usual size.
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

/// Coefficients are written at the end, by lane, and in the pictures.
void TestCliRun::coefficientsInWords() {
    QTemporaryDir folder;
    const QString out = folder.filePath("out");
    const Outcome outcome =
        call({"run", "--preset", "curve-fit", "--device", "cpu", "--threads", "1", "--out", out});
    QCOMPARE(outcome.code, 0);
    QVERIFY2(outcome.out.contains("\nfp32: y = 5.00 x² + 0.00 x + 3.00\namp-fp16: y = 5.0"),
             outcome.out);
    QVERIFY(contentOf(out + "/output_fp32.png").contains("y = 5.00 x² + 0.00 x + 3.00"));
    QVERIFY(contentOf(out + "/target.png").contains("y = 5x² + 3"));
    const Outcome other =
        call({"run", "--preset", "curve-fit", "--steps", "3", "--device", "cpu", "--set",
              "model.layers=nn.Sequential(nn.Linear(3, 2), nn.ReLU(), "
              "nn.Linear(2, 1))"});
    QVERIFY2(other.code == 0 && !other.out.contains("y ="), other.out);
}

void TestCliRun::runTwiceSameBytes_data() {
    QTest::addColumn<QString>("preset");
    for (const char* preset : {"checkerboard", "checkerboard-bf16", "pure-fp16", "overflow",
                               "regression", "picture", "static-scales", "fp8"})
        QTest::newRow(preset) << QString(preset);
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
        if (file == "manifest.json" || file == "checkpoint.safetensors") continue; // the run's id
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
    // The folder stands for the experiment in it.
    const QString again = folder.filePath("again");
    QVERIFY(call({"run", first, "--out", again}).code == 0);
    QCOMPARE(contentOf(again + "/steps.csv"), contentOf(first + "/steps.csv"));
    // One thread or two give the same bits, except the setting itself.
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
    // says which of the equal lanes is which, in the table and in the summary
    QStringList rows;
    for (const QString& line : QString::fromUtf8(outcome.out).split('\n'))
        if (line.startsWith("fp16 ") || line.startsWith("amp-fp16"))
            rows.push_back(line.section("KiB", 1).trimmed());
    QCOMPARE(rows.mid(0, 3), (QStringList{"", "init_scale 8", "init_scale 16"}));
    const QByteArray summary = contentOf(out + "/summary.json");
    QVERIFY2(summary.contains("\"title\": \"fp16\"") &&
                 summary.contains("\"title\": \"amp-fp16, init_scale 16\""),
             summary);
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

/// Settings of --set and of an experiment's file that do nothing are told before the training.
void TestCliRun::settingsWithoutEffect() {
    QTemporaryDir folder;
    const QByteArray said = "Without effect beside the other settings: ";
    const QString out = folder.filePath("o");
    const Outcome given =
        call(smallRun(out, {"--set", "data.gap=3", "--set", "lanes.0.scaler.init_scale=8", "--set",
                            "run.seed=3"}));
    QCOMPARE(given.code, 0);
    QVERIFY2(given.error.contains(said + "data.gap, lanes.0.scaler.init_scale\nPrecisions without "
                                         "a loss scaler: fp32. The precision amp-fp16 has one.\n"),
             given.error);
    QVERIFY2(!call(smallRun(folder.filePath("p"), {})).error.contains(said), given.error);
    const Outcome read = call({"run", out, "--set", "data.gap=4", "--device", "cpu"});
    QCOMPARE(read.code, 0);
    QVERIFY2(read.error.contains(said + "data.gap, lanes.0.scaler.init_scale\n"), read.error);
}

/// A lane that does not scale has no scale; one whose scale has fallen to 1 has that scale.
void TestCliRun::closingTable() {
    QTemporaryDir folder;
    const Outcome outcome = call(smallRun(
        folder.filePath("t"), {"--set", "scaler.init_scale=1", "--set", "scaler.mode=static"}));
    QCOMPARE(outcome.code, 0);
    QStringList scales;
    for (const QString& line : QString::fromUtf8(outcome.out).split('\n'))
        if (line.startsWith("fp32 ") || line.startsWith("amp-fp16 "))
            scales.push_back(line.simplified().split(' ').at(4));
    QCOMPARE(scales, (QStringList{"-", "1"}));
    QVERIFY2(outcome.error.contains(" scale 1\n"), outcome.error); // kept at 1, but still a scale
    QVERIFY2(!outcome.out.contains("normal"), outcome.out);        // nothing was skipped
    const Outcome skips = call(smallRun(folder.filePath("s"), {"--set", "scaler.init_scale=1e30"}));
    QVERIFY2(skips.out.contains("\namp-fp16: all 12 steps were skipped. That is normal: the loss "
                                "scale is coming down. A smaller first scale makes the start "
                                "shorter.\n"),
             skips.out);
    QVERIFY2(!skips.out.contains("fp32:"), skips.out);
    const QStringList batches{"--set", "scaler.init_scale=1e30", "--set", "gradients.accumulate=3"};
    const Outcome updates = call(smallRun(folder.filePath("u"), batches));
    QVERIFY2(updates.out.contains("\namp-fp16: all 4 updates were skipped. That is normal"),
             updates.out);
}

/// A lane that was forked after the last validation has that of its parent: the run ends early, at
/// the floor of the loss scale.
void TestCliRun::aForkHasTheLastValidation() {
    QTemporaryDir folder;
    QByteArray table = "x,y\n";
    for (int i = 0; i < 100; ++i)
        table += QByteArray::number(i) + ',' + QByteArray::number(7 * i % 40) + '\n';
    const QString data = folder.filePath("t.csv"), experiment = folder.filePath("e.json");
    writeFileAtomically(data.toStdString(), table.toStdString());
    const QJsonObject json{
        {"version", 1},
        {"data", QJsonObject{{"kind", "csv"}, {"path", data}, {"standardise_target", true}}},
        {"task", QJsonObject{{"loss", "mse"}}},
        {"validation", QJsonObject{{"epochs", 0}, {"steps", 3}}},
        {"run", QJsonObject{{"steps", 20}, {"device", "cpu"}, {"threads", 1}}},
        {"lanes", QJsonArray{QJsonObject{{"precision", "fp32"}},
                             QJsonObject{{"precision", "amp-fp16"},
                                         {"scaler", QJsonObject{{"init_scale", 0x1p120},
                                                                {"floor", 0x1p116},
                                                                {"at_floor", "stop"}}}}}},
        {"forks", QJsonArray{QJsonObject{
                      {"step", 5}, {"parent", 0}, {"lane", QJsonObject{{"precision", "fp32"}}}}}}};
    writeFileAtomically(experiment.toStdString(), QJsonDocument(json).toJson().toStdString());
    const Outcome outcome = call({"run", experiment});
    QVERIFY2(outcome.code == 1 && outcome.error.contains("reached its floor"), outcome.error);
    QMap<QString, QStringList> rows; // by lane
    for (const QString& line : QString::fromUtf8(outcome.out).split('\n'))
        if (const QStringList words = line.simplified().split(' '); words.size() > 4)
            rows[words[0]] = words;
    QVERIFY2(rows["lane"].join(' ').startsWith("lane val. loss val. MAE loss last loss skip"),
             outcome.out);
    QCOMPARE(rows["fp32"].mid(5, 2), QStringList({"0", "-"})); // after four losses
    QVERIFY(rows["fp32"].value(2).toDouble() > 0);
    QCOMPARE(rows["fp32-2"].mid(1, 6), rows["fp32"].mid(1, 6));
}

/// Underflow is told at once, at the end, in the events and in the summary, and read back.
void TestCliRun::lostGradients() {
    QTemporaryDir folder;
    const QString out = folder.filePath("u");
    const QStringList small = smallRun(out, {"--set", "scaler.init_scale=2^-40"});
    const Outcome outcome = call(small);
    const QByteArray told = "\namp-fp16: Step 1: all gradients rounded to zero at "
                            "loss scale 2^-40 (underflow), ";
    QVERIFY2(outcome.error.count(told) == 1, outcome.error);
    QVERIFY2(outcome.error.indexOf(told) < outcome.error.indexOf("step 12/12"), outcome.error);
    QVERIFY2(outcome.out.count(told) == 1, outcome.out);
    const QByteArray text = contentOf(out + "/summary.json");
    const QJsonArray lanes = QJsonDocument::fromJson(text).object()["lanes"].toArray();
    QVERIFY(!lanes[0].toObject().contains("underflow_step"));
    QCOMPARE(lanes[1].toObject()["underflow_step"].toInt(), 1);
    const auto run = readRun(out.toStdString());
    QCOMPARE(run->events().size(), size_t{1});
    QCOMPARE(run->events()[0].kind, EventKind::Underflow);
    QCOMPARE(run->now().totals(1).underflowStep(), int64_t{1});
    QCOMPARE(call(small + QStringList{"--quiet"}).error, QByteArray());
}

/// The final scale is the one that the next step would use, in the table and in the summary; rows
/// have the scales that steps used.
void TestCliRun::finalScale() {
    QTemporaryDir folder;
    const QString out = folder.filePath("f");
    const auto run = [&](const QString& first, const QString& interval) {
        return call(smallRun(out, {"--steps", "3", "--set", "scaler.init_scale=" + first, "--set",
                                   "scaler.growth_interval=" + interval}));
    };
    const auto finalScales = [&] {
        const QByteArray text = contentOf(out + "/summary.json");
        const QJsonArray lanes = QJsonDocument::fromJson(text).object()["lanes"].toArray();
        const auto scale = [](const QJsonValue& lane) {
            return static_cast<float>(lane["final_scale"].toDouble());
        };
        return std::pair(scale(lanes[0]), scale(lanes[1]));
    };
    const Outcome falling = run("2^100", "2000");
    QVERIFY2(falling.out.contains(" 2^97 "), falling.out);
    QCOMPARE(finalScales(), std::pair(1.0f, 0x1p97f));
    const Outcome growing = run("2^-4", "3");
    QVERIFY2(growing.out.contains(" 2^-3 "), growing.out);
    QCOMPARE(finalScales(), std::pair(1.0f, 0x1p-3f));
    const Outcome staying = run("2^-4", "4");
    QVERIFY2(staying.out.contains(" 2^-4 "), staying.out);
    QCOMPARE(finalScales(), std::pair(1.0f, 0x1p-4f));
}

/// Gradients are counted beside the training, which continues as if nothing had happened.
void TestCliRun::gradients() {
    QTemporaryDir folder;
    const QString out = folder.filePath("g");
    const QStringList lanes{"--set", "lanes.1.scaler.mode=static", "--set",
                            "lanes.1.scaler.init_scale=2^-16"};
    QVERIFY(call(smallRun(out, lanes)).code == 0);
    const QByteArray steps = contentOf(out + "/steps.csv");
    QVERIFY(!filesOf(out).contains("gradients.csv"));
    const Outcome outcome = call(smallRun(out, lanes + QStringList{"--gradients", "5"}));
    QVERIFY2(outcome.code == 0, outcome.error);
    QCOMPARE(contentOf(out + "/steps.csv"), steps);
    const QList<QByteArray> lines = contentOf(out + "/gradients.csv").trimmed().split('\n');
    QVERIFY(lines[0].startsWith("lane,first_step,last_step,counted_step,zero,2^-40,2^-39,"));
    QVERIFY(lines[0].endsWith(",2^23,not_finite"));
    QCOMPARE(lines.size(), qsizetype{1 + 3 * 2}); // before steps 1, 6 and 11
    QVERIFY2(lines[6].startsWith("amp-fp16,11,11,11,"), lines[6]);
    for (const QByteArray& line : lines.mid(1)) {
        const QList<QByteArray> fields = line.split(',');
        QCOMPARE(fields.size(), lines[0].split(',').size());
        double sum = 0;
        for (const QByteArray& share : fields.mid(4))
            sum += share.toDouble();
        QVERIFY2(std::abs(sum - 1) < 66 * 0x1p-24, line); // 66 float32 shares, each rounded once
    }
    // the table has those after the last step, in percent, as a longer run counts them
    QVERIFY2(outcome.out.contains("Gradients after step 12, times the loss scale"), outcome.out);
    QVERIFY2(outcome.out.contains(" 2^-16\n"), outcome.out);
    call(smallRun(out, lanes + QStringList{"--gradients", "12", "--steps", "13"}));
    const QByteArray last = contentOf(out + "/gradients.csv").trimmed().split('\n').last();
    const auto row = QString::fromUtf8(outcome.out).section("\namp-fp16  float16 ", 1);
    const double percent = 100 * last.split(',')[4].toDouble(); // much, as the scale is too small
    QVERIFY2(last.startsWith("amp-fp16,13,13,13,") && percent > 50, last);
    QVERIFY2(std::abs(row.section('%', 0, 0).toDouble() - percent) <= 0.005 * percent, outcome.out);
    // the same by layer, with their errors where the run measures them
    const auto layers = [](const QByteArray& text) {
        return QString::fromUtf8(text).section("\nBy layer", 1).split('\n').mid(1);
    };
    const QString first = layers(outcome.out).value(2);
    QVERIFY2(first.simplified().startsWith("layer 0 amp-fp16 float16 "), outcome.out);
    QVERIFY2(first.endsWith("  -"), outcome.out);
    const Outcome measured = call(
        smallRun(out, lanes + QStringList{"--gradients", "5", "--set", "run.gradient_error=5"}));
    QVERIFY2(measured.code == 0, measured.error);
    const QString error = layers(measured.out).value(2).section(' ', -1);
    QVERIFY2(error.toDouble() > 0.001 && error.toDouble() < 0.5, measured.out); // by the scale
    // another run's file is removed
    QVERIFY(call(smallRun(out, lanes)).code == 0);
    QVERIFY(!filesOf(out).contains("gradients.csv"));
}

void TestCliRun::progressLines() {
    QTemporaryDir folder;
    const QStringList steady{"--steps", "200", "--set", "scaler.init_scale=1024"};
    const Outcome outcome = call(smallRun(folder.filePath("p"), steady));
    QCOMPARE(outcome.code, 0);
    QVERIFY2(!outcome.error.contains('\r') && !outcome.error.contains('\033'), "no bar in a pipe");
    const qsizetype lines = outcome.error.count(" it/s");
    QVERIFY2(lines >= 20 && lines <= 60, outcome.error); // 5 % each, more on a slow machine
    QVERIFY2(outcome.error.contains("100 %  step 200/200"), outcome.error);
    QVERIFY2(!outcome.error.contains("e+03 it/s"), outcome.error); // as people write it
    QVERIFY2(!outcome.error.contains(" skips "), outcome.error);
    const Outcome skips = call(smallRun(folder.filePath("s"), {"--set", "scaler.init_scale=1e30"}));
    QVERIFY2(skips.error.contains(" skips "), skips.error);
}

/// Epochs are named when an epoch has several batches, in the lines, the tables and the summary.
void TestCliRun::epochs() {
    QTemporaryDir folder;
    const QString out = folder.filePath("e");
    const Outcome outcome = call({"run", "--preset", "regression", "--set", "task.samples=640",
                                  "--epochs", "3", "--device", "cpu", "--out", out});
    QCOMPARE(outcome.code, 0);
    QVERIFY2(outcome.error.startsWith("Regression: 30 steps in epochs of 10 batches on "),
             outcome.error);
    QVERIFY2(outcome.error.contains("100 %  step 30/30  epoch 3/3 batch 10/10  "), outcome.error);
    const QByteArray steps = contentOf(out + "/steps.csv");
    const QByteArray header = steps.left(steps.indexOf('\n'));
    QVERIFY2(header.endsWith(",skipped_so_far,epoch,batch"), header);
    const QByteArray row = steps.mid(steps.indexOf("\n21,fp32,") + 1);
    QVERIFY2(row.left(row.indexOf('\n')).endsWith(",3,1"), row.left(200));
    const QJsonObject summary = QJsonDocument::fromJson(contentOf(out + "/summary.json")).object();
    QCOMPARE(summary["epochs"].toDouble(), 3.0);
    QCOMPARE(summary["steps_per_epoch"].toInt(), 10);
    // every step sees the whole picture
    const Outcome painting = call(smallRun(folder.filePath("p")));
    QVERIFY2(!painting.error.contains("epoch"), painting.error);
    QVERIFY(!contentOf(folder.filePath("p/steps.csv")).contains("epoch"));
    QVERIFY(!contentOf(folder.filePath("p/summary.json")).contains("epoch"));
}

/// One line that is redrawn, never wider than the terminal, and finally left.
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
    RunBatch batch;
    batch.rows.push_back(StepRow(3, 1)
                             .set(metric::Loss, 0.1f)
                             .set(metric::Scale, 16777216.0f)
                             .set(metric::GrowthTracker, int64_t{7})
                             .set(metric::LearningRate, 1e-8f)
                             .set(metric::GradientNorm, -std::numeric_limits<float>::quiet_NaN())
                             .setFlags(kSkipped | kBackedOff)
                             .set(metric::SkippedSoFar, int64_t{9})
                             .set(metric::DeviceSeconds, 0.1)
                             .set(metric::WallSeconds, std::numeric_limits<double>::infinity()));
    batch.events.push_back(
        {EventKind::Edit, 4, -1, 2, 0.5f, "x \"y\"\nz", Message::data("one\ntwo")});
    const QTemporaryDir folder;
    RunInfo info;
    info.config = info.recorded = defaultConfig();
    const std::vector<LaneInfo> infos{{lanes[0], {}}, {lanes[1], {}}};
    const Picture target{1, 1, 1, {0}};
    RunWriter(folder.path().toStdString(), info, infos, target).append(batch);
    const auto lineOf = [&folder](const char* name) {
        const std::string text = readFile(folder.filePath(QLatin1String(name)).toStdString());
        return text.substr(text.find('\n') + 1);
    };
    QCOMPARE(lineOf("steps.csv"), std::string("3,\"a,b\",0.1,16777216,7,1e-08,nan,1,0,1,0,9\n"));
    QCOMPARE(lineOf("timing.csv"), std::string("3,\"a,b\",0.1,inf\n"));
    QCOMPARE(lineOf("events.csv"), std::string("4,all,edit,2,0.5,\"x \"\"y\"\"\nz\",one\\ntwo\n"));
}

/// A single lane gets the given name, several lanes get their own; critics are files beside them.
/// The last lines name them.
/// What cannot be written is refused before anything is trained. tst_onnx_file reads the files.
void TestCliRun::onnxFiles() {
    QTemporaryDir folder;
    const auto onnx = [&](const char* name, const QStringList& more) {
        return call(smallRun(folder.filePath("out"), more) +
                    QStringList{"--quiet", "--onnx", folder.filePath(name)});
    };
    const Outcome told = call(smallRun(folder.filePath("out"), {"--lanes", "fp16"}) +
                              QStringList{"--onnx", folder.filePath("one.onnx")});
    QVERIFY2(told.out.endsWith("ONNX: " + folder.filePath("one.onnx").toUtf8() + "\n"), told.out);
    QCOMPARE(told.code, 0);
    QCOMPARE(onnx("two.onnx", {}).code, 0);
    const QStringList judged{"--set", "model.adversary=gan"};
    QCOMPARE(onnx("made.onnx", judged + QStringList{"--lanes", "fp32"}).code, 0);
    QCOMPARE(onnx("both.onnx", judged).code, 0);
    QCOMPARE(filesOf(folder.path()),
             QStringList({"both_amp-fp16.onnx", "both_amp-fp16_critic.onnx", "both_fp32.onnx",
                          "both_fp32_critic.onnx", "made.onnx", "made_critic.onnx", "one.onnx",
                          "two_amp-fp16.onnx", "two_fp32.onnx"}));
    for (const QString& file : filesOf(folder.path()))
        QVERIFY(contentOf(folder.filePath(file)).startsWith("\x08\x08\x12\x09halfscope"));
    const Outcome refused =
        onnx("no/such/folder.onnx", {"--lanes", "fp32", "--steps", "1000000000"});
    QCOMPARE(refused.code, 2);
    QVERIFY2(refused.saysOneLine() &&
                 refused.error.contains("no/such/folder.onnx\" is not allowed: there is no folder"),
             refused.error);
    const Outcome inFile = onnx("one.onnx/net.onnx", {"--steps", "1000000000"});
    QCOMPARE(inFile.code, 2);
    QVERIFY2(inFile.saysOneLine() && inFile.error.contains("one.onnx/net.onnx\" is not allowed: "),
             inFile.error);
    // the folder of the run need not be there yet
    const QString both = folder.filePath("run");
    const Outcome inside =
        call(smallRun(both, {"--lanes", "fp32"}) + QStringList{"--onnx", both + "/./net.onnx"});
    QVERIFY2(inside.code == 0, inside.error);
    QVERIFY(contentOf(both + "/net.onnx").startsWith("\x08\x08\x12\x09halfscope"));
    QVERIFY(QDir(folder.path()).mkdir("deep_fp32.onnx")); // where a lane's file would be
    const Outcome taken = onnx("deep.onnx", {"--steps", "1000000000"});
    QCOMPARE(taken.code, 2);
    QVERIFY2(taken.saysOneLine() && taken.error.contains("deep_fp32.onnx\" is not allowed: it is a "
                                                         "folder"),
             taken.error);
}

void TestCliRun::specialFilesAreRefused_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("reason");
    const QString file = "and only a new or a regular file is written", folder = "not a folder";
    const auto add = [](const QStringList& arguments, const QString& path, const QString& reason) {
        QTest::addRow("%s %s", qPrintable(arguments.join(' ')), qPrintable(path))
            << arguments << path << reason;
    };
    add({"run", "--onnx"}, "/dev/null", "it is a device, " + file);
    add({"run", "--lanes", "fp32", "--onnx"}, "/dev/null", "it is a device, " + file);
    add({"run", "--onnx"}, "pipe", "it is a pipe, " + file);
    add({"run", "--onnx"}, "folder", "it is a folder, " + file);
    add({"run", "--onnx"}, "new/", "it is a folder, " + file);
    for (const char* option : {"--out", "--tensorboard"}) {
        add({"run", option}, "/dev/null", "it is a device, " + folder);
        add({"run", option}, "pipe", "it is a pipe, " + folder);
        add({"run", option}, "file", "it is a file, " + folder);
        add({"run", option}, "file/new/out", "\"file\" is a file, " + folder);
    }
    add({"evaluate", "--out"}, "/dev/null", "it is a device, " + folder);
    add({"runs", "export", "--out"}, "/dev/null", "it is a device, " + folder);
    add({"get", "mnist"}, "/dev/null", "it is a device, " + folder);
}

/// What is neither a regular file nor a folder stays as it is, and so does what lies beside it.
void TestCliRun::specialFilesAreRefused() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, path);
    QFETCH(QString, reason);
    QTemporaryDir folder;
    QCOMPARE(mkfifo(qPrintable(folder.filePath("pipe")), 0600), 0);
    QVERIFY(QDir(folder.path()).mkdir("folder"));
    QFile file(folder.filePath("file"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    const auto allIn = [](const QString& place) { // Qt leaves out pipes and devices otherwise
        return QDir(place).entryList(QDir::AllEntries | QDir::Hidden | QDir::System);
    };
    const QStringList before = allIn(folder.path()), devices = allIn("/dev");
    const Outcome refused = call(arguments + QStringList{path}, folder.path());
    QCOMPARE(refused.code, 2);
    const QString words = QStringLiteral("\"%1\" is not allowed: %2\n").arg(path, reason);
    QVERIFY2(refused.saysOneLine() && refused.error.endsWith(words.toUtf8()), refused.error);
    QCOMPARE(allIn(folder.path()), before);
    QCOMPARE(allIn("/dev"), devices);
}

} // namespace tst_cli_run

QTEST_GUILESS_MAIN(tst_cli_run::TestCliRun)
#include "tst_cli_run.moc"
