// Runs that last, from outside: checkpoints on the way, at the end and at a signal; a kill at any
// moment; what goes on from one has the same files as a run that never stopped. What has become of
// a network is judged by evaluate. How a checkpoint is
// checked: tst_checkpoint.
#include "engine/io/atomic_file.h"
#include "engine/io/npy.h"
#include "engine/runs/run_reader.h"
#include "engine/train/checkpoint.h"
#include "tests/support/cli.h"

#include <QElapsedTimer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <csignal>

#include <unistd.h>

namespace tst_cli_resume {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr int kEvery = 40;
const QStringList kSaves{"--checkpoint-every", QString::number(kEvery)};

/// Returns a run of some seconds, with skips, growth, dropout, batch norm and epochs whose last
/// batch is smaller.
QStringList longRun(const QString& out, int steps = 3000) {
    return {"run",
            "--preset",
            "mnist-mlp",
            "--device",
            "cpu",
            "--steps",
            QString::number(steps),
            "--set",
            "task.batch=33",
            "--set",
            "model.layers=nn.Sequential(nn.Flatten(), nn.Linear(784, 8), nn.BatchNorm1d(8), "
            "nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 10))",
            "--set",
            "lanes.1.scaler.init_scale=2^30",
            "--set",
            "lanes.1.scaler.growth_interval=5",
            "--set",
            "validation.epochs=0",
            "--out",
            out};
}

QByteArray told(const Outcome& outcome) {
    return QByteArray::number(outcome.code) + ": " + outcome.out + outcome.error;
}

/// Compares what must be the same in both folders.
void compareFolders(const QString& a, const QString& b) {
    for (const char* name : {"steps.csv", "events.csv", "weights_fp32.safetensors",
                             "weights_amp-fp16.safetensors", "output_fp32.png", "experiment.json"})
        QVERIFY2(contentOf(a + '/' + name) == contentOf(b + '/' + name), name);
}

int64_t rowsIn(const QString& folder) {
    return (contentOf(folder + "/steps.csv").count('\n') - 1) / 2;
}

int64_t checkpointStep(const QString& folder) {
    return readCheckpoint(checkpointAt(folder.toStdString())).step;
}

} // namespace

class TestCliResume : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void checkpointsAndWeightsAreThere();
    void signalLeavesOne_data();
    void signalLeavesOne();
    void killLosesOneInterval();
    void longerThanPlanned();
    void nothingToTrain();
    void elsewhere();
    void forksCountFromStepOne();
    void damaged();
    void fullDisk();
    void newRunRemovesThem();
    void startsFromWeights();
    void withoutCheckpoint();
    void evaluates();
    void evaluatesEachLane();
    void evaluatesEveryCharacter();
    void evaluateEndsAtASignal_data();
    void evaluateEndsAtASignal();
    void changedData();
    void refuses_data();
    void refuses();

private:
    QString whole() const { return m_folder.filePath("whole"); }
    QTemporaryDir m_folder;
    int m_wholeMs = 0; ///< how long the whole run took
};

void TestCliResume::initTestCase() {
    QElapsedTimer timer;
    timer.start();
    const Outcome outcome = call(longRun(whole()) + kSaves);
    m_wholeMs = static_cast<int>(timer.elapsed());
    QVERIFY2(outcome.code == 0, told(outcome));
}

void TestCliResume::checkpointsAndWeightsAreThere() {
    const QStringList files = filesOf(whole());
    for (const char* name : {"checkpoint.safetensors", "checkpoint-before.safetensors",
                             "weights_fp32.safetensors", "weights_amp-fp16.safetensors"})
        QVERIFY2(files.contains(name), name);
    QCOMPARE(checkpointStep(whole()), int64_t{3000});
    QCOMPARE(readCheckpoint((whole() + "/checkpoint-before.safetensors").toStdString()).step,
             int64_t{2960});
    // without the option there is one of the last step, and with 0 there are only weights
    const QString plain = m_folder.filePath("plain");
    QCOMPARE(call(smallRun(plain)).code, 0);
    QCOMPARE(filesOf(plain), kRunFiles);
    QCOMPARE(checkpointStep(plain), int64_t{12});
    QCOMPARE(call(smallRun(plain, {"--checkpoint-every", "0"})).code, 0);
    QCOMPARE(QStringList{"checkpoint.safetensors"} + filesOf(plain), kRunFiles);
}

void TestCliResume::signalLeavesOne_data() {
    QTest::addColumn<int>("number");
    QTest::newRow("SIGINT") << SIGINT;
    QTest::newRow("SIGTERM") << SIGTERM;
}

void TestCliResume::signalLeavesOne() {
    QFETCH(const int, number);
    const QString out = m_folder.filePath(QString("signal %1").arg(number));
    QProcess process;
    process.setReadChannel(QProcess::StandardError);
    process.start(program(), longRun(out));
    while (!process.peek(100000).contains(" it/s"))
        QVERIFY(process.waitForReadyRead(kPatience));
    QCOMPARE(::kill(static_cast<pid_t>(process.processId()), number), 0);
    const Outcome stopped = outcomeOf(process);
    QVERIFY2(stopped.code == 130, told(stopped));
    const int64_t step = checkpointStep(out);
    QCOMPARE(rowsIn(out), step);
    QVERIFY(step > 0 && step < 3000);
    const QRegularExpression command("^Interrupted after step \\d+ of 3000[^;]*; halfscope-cli "
                                     "(run --resume .* --out .*) goes on from here\n");
    const auto match = command.match(QString::fromUtf8(stopped.out));
    QVERIFY2(match.hasMatch(), told(stopped));
    const Outcome outcome = callShell("exec \"$0\" " + match.captured(1));
    QVERIFY2(outcome.code == 0, told(outcome));
    QVERIFY2(outcome.error.contains("from step " + QByteArray::number(step + 1)), told(outcome));
    compareFolders(out, whole());
    QCOMPARE(checkpointStep(out), int64_t{3000}); // not behind the tables
}

/// The run is killed again and again, at different moments, until it reaches its end: first as soon
/// as it has a checkpoint, however fast the machine is. It keeps the interval that it began with.
void TestCliResume::killLosesOneInterval() {
    const QString out = m_folder.filePath("killed");
    const QString checkpoint = out + "/checkpoint.safetensors";
    int kills = 0;
    for (int percent = 20;; percent = 10 + (percent * 7) % 30) {
        const bool begun = QFile::exists(checkpoint);
        QProcess process;
        process.start(program(), begun ? QStringList{"run", "--resume", out, "--out", out}
                                       : longRun(out) + kSaves);
        while (kills == 0 && !QFile::exists(checkpoint))
            QVERIFY(!process.waitForFinished(1));
        if (kills > 0 &&
            process.waitForFinished(kills < 6 ? m_wholeMs * percent / 100 : kPatience)) {
            QCOMPARE(process.exitCode(), 0);
            break;
        }
        process.kill();
        QVERIFY(process.waitForFinished(kPatience));
        ++kills;
        const int64_t saved = checkpointStep(out), rows = rowsIn(out);
        QVERIFY2(saved <= rows && rows <= saved + kEvery,
                 qPrintable(QString("%1 rows, saved after %2").arg(rows).arg(saved)));
    }
    compareFolders(out, whole());
}

/// More steps are an edit, which the experiment records: the recorded experiment trains the same.
void TestCliResume::longerThanPlanned() {
    const QString out = m_folder.filePath("longer"), again = m_folder.filePath("again");
    QCOMPARE(call(longRun(out, 50) + kSaves).code, 0);
    const QStringList longer = QStringList{"run", "--resume", out, "--out", out, "--steps", "90"};
    for (int times = 0; times < 2; ++times) { // the second time nothing is left to do
        const Outcome outcome = call(longer + kSaves);
        QVERIFY2(outcome.code == 0, told(outcome));
        QCOMPARE(rowsIn(out), int64_t{90});
        QCOMPARE(checkpointStep(out), int64_t{90});
        QCOMPARE(contentOf(out + "/events.csv").count("the run ends after 90 steps"), 1);
        if (times > 0) continue;
        QCOMPARE(call({"run", out, "--out", again}).code, 0);
        compareFolders(out, again);
    }
}

/// No table is invented for steps that were not taken.
void TestCliResume::nothingToTrain() {
    for (const char* steps : {"", "3000"}) {
        QStringList args{"run", "--resume", whole(), "--device", "cpu"};
        if (*steps != 0) args += {"--steps", steps};
        const Outcome outcome = call(args);
        QVERIFY2(outcome.code == 0, told(outcome));
        QCOMPARE(outcome.out, QByteArray("Nothing was trained: the checkpoint is after step 3000, "
                                         "and the run ends at step ") +
                                  (*steps != 0 ? steps : "3000") +
                                  "; --steps or --epochs sets a later end\n");
        QVERIFY2(!outcome.error.contains("from step"), outcome.error);
    }
    const Outcome kept = call({"run", "--resume", whole(), "--out", m_folder.filePath("kept")});
    QVERIFY2(kept.code == 0 && kept.out.startsWith("Nothing was trained: "), told(kept));
    QCOMPARE(rowsIn(m_folder.filePath("kept")), int64_t{3000});
}

/// A run continues in another folder, from a checkpoint by its path; the first folder does not
/// change.
void TestCliResume::elsewhere() {
    const QString to = m_folder.filePath("elsewhere");
    const QByteArray before = contentOf(whole() + "/steps.csv");
    const Outcome outcome =
        call({"run", "--resume", whole() + "/checkpoint-before.safetensors", "--out", to});
    QVERIFY2(outcome.code == 0, told(outcome));
    compareFolders(to, whole());
    QCOMPARE(contentOf(whole() + "/steps.csv"), before);
    QCOMPARE(checkpointStep(to), int64_t{3000});
    // without the rows before it the tables begin after them, and are read like that
    const QString lone = m_folder.filePath("lone.safetensors"), rest = m_folder.filePath("rest");
    QVERIFY(QFile::copy(whole() + "/checkpoint-before.safetensors", lone));
    const Outcome part = call({"run", "--resume", lone, "--out", rest});
    QVERIFY2(part.code == 0 && part.error.contains("The rows up to step 2960 are not beside"),
             told(part));
    const QByteArray rows = contentOf(rest + "/steps.csv");
    QVERIFY(rows.startsWith("step,lane,") && before.endsWith(rows.mid(rows.indexOf('\n'))));
    const auto read = readRun(rest.toStdString());
    QCOMPARE(read->now().firstStep(), int64_t{2961});
    QCOMPARE(read->step(), int64_t{3000});
    QVERIFY(read->info().missing.empty());
    // and without files
    const Outcome quiet = call({"run", "--resume", whole(), "--quiet"});
    QVERIFY2(quiet.code == 0 && quiet.error.isEmpty(), told(quiet));
}

/// A fork counts the steps that it has from its parent, in the sentences and in all files, and a
/// run that goes on counts those before its checkpoint, with and without their rows.
void TestCliResume::forksCountFromStepOne() {
    const QString first = m_folder.filePath("first"), out = m_folder.filePath("forked");
    QCOMPARE(call({"run", "--preset", "overflow", "--steps", "1", "--out", first}).code, 0);
    QJsonObject json = QJsonDocument::fromJson(contentOf(first + "/experiment.json")).object();
    json["forks"] =
        QJsonArray{QJsonObject{{"step", 11}, {"parent", 1}, {"lane", json["lanes"].toArray()[1]}}};
    const QString file = m_folder.filePath("forked.json");
    writeFileAtomically(file.toStdString(), QJsonDocument(json).toJson().toStdString());
    const auto check = [&](const Outcome& outcome, const QString& folder, const QByteArray& why,
                           const QByteArray& whyOfFork) {
        QVERIFY2(outcome.code == 0, told(outcome));
        const QByteArray skipped = ": 13 of 20 steps were skipped";
        QVERIFY2(outcome.out.contains("\namp-fp16" + skipped + why), told(outcome));
        QVERIFY2(outcome.out.contains("\namp-fp16-2" + skipped + whyOfFork), told(outcome));
        const QJsonDocument summary = QJsonDocument::fromJson(contentOf(folder + "/summary.json"));
        for (const QJsonValue lane : summary["lanes"].toArray()) {
            QCOMPARE(lane["steps"].toInt(), 20);
            QCOMPARE(lane["skipped_steps"].toInt(), lane["name"] == "fp32" ? 0 : 13);
        }
    };
    const QByteArray start = ". That is normal: at the start,",
                     startOfFork = ". That is normal: 10 before the fork, 3 at the start,",
                     before = ", before step 15.";
    const QStringList saves{"--checkpoint-every", "14", "--out", out};
    check(call(QStringList{"run", file, "--steps", "20"} + saves), out, start, startOfFork);
    const QString lone = m_folder.filePath("at14.safetensors"), rest = m_folder.filePath("at14");
    QVERIFY(QFile::copy(out + "/checkpoint-before.safetensors", lone));
    check(call({"run", "--resume", lone, "--out", rest}), rest, before, before);
    check(call({"run", "--resume", out + "/checkpoint-before.safetensors", "--out", out}), out,
          start, startOfFork);
    const auto read = readRun(rest.toStdString());
    QCOMPARE(read->now().totals(2).skips().skipped(), int64_t{13});
}

void TestCliResume::damaged() {
    const QString out = m_folder.filePath("damaged");
    QCOMPARE(call(longRun(out, 100) + kSaves).code, 0);
    QFile file(out + "/checkpoint.safetensors");
    QVERIFY(file.open(QIODevice::ReadWrite));
    QVERIFY(file.seek(file.size() - 1000) && file.write("x") == 1);
    file.close();
    const Outcome refused = call({"run", "--resume", out, "--out", out});
    QCOMPARE(refused.code, 2);
    QVERIFY2(refused.saysOneLine(), refused.error);
    QVERIFY2(refused.error.contains("it is damaged: the values of ") &&
                 refused.error.contains("The one before it is whole: " + out.toUtf8() +
                                        "/checkpoint-before.safetensors, after step 80"),
             refused.error);
    const Outcome outcome =
        call({"run", "--resume", out + "/checkpoint-before.safetensors", "--out", out});
    QVERIFY2(outcome.code == 0 && rowsIn(out) == 100, told(outcome));
}

/// The run goes on without checkpoints to its end, which the exit code tells; the existing one
/// stays whole. Of all files only checkpoints are larger than the limit.
void TestCliResume::fullDisk() {
    const QString out = m_folder.filePath("full");
    QCOMPARE(call(longRun(out, 60) + kSaves).code, 0);
    QVERIFY(QFileInfo(out + "/checkpoint.safetensors").size() > 150'000);
    const Outcome full = // 50 KiB, or 100 KiB where the shell's unit is 1 KiB
        callShell("ulimit -f 100; exec \"$0\" \"$@\"",
                  QStringList{"run", "--resume", out, "--out", out, "--steps", "200"} + kSaves);
    QCOMPARE(full.code, 1);
    QVERIFY2(full.error.contains("checkpoint.safetensors: cannot write: File too large; there is "
                                 "no checkpoint of step 60, and the run goes on\n"),
             full.error);
    QCOMPARE(full.error.count("cannot write"), 1);
    QVERIFY2(full.out.contains("\nCheckpoint: none was written: "), full.out);
    QCOMPARE(checkpointStep(out), int64_t{60});
    QCOMPARE(rowsIn(out), int64_t{200});
    QVERIFY(contentOf(out + "/summary.json").contains("\"steps\": 200,"));
    QVERIFY(filesOf(out).contains("weights_fp32.safetensors"));
    for (const QString& name : filesOf(out))
        QVERIFY2(!name.endsWith(".tmp"), qPrintable(name));
    const Outcome outcome =
        call(QStringList{"run", "--resume", out, "--out", out, "--steps", "200"} + kSaves);
    QVERIFY2(outcome.code == 0 && rowsIn(out) == 200, told(outcome));
}

void TestCliResume::newRunRemovesThem() {
    const QString out = m_folder.filePath("new");
    QCOMPARE(call(smallRun(out, {"--checkpoint-every", "5"})).code, 0);
    QVERIFY(filesOf(out).contains("checkpoint-before.safetensors"));
    QCOMPARE(call(smallRun(out, {"--lanes", "fp32,amp-fp16"})).code, 0);
    QCOMPARE(filesOf(out), kRunFiles); // there is its own, and none before it
}

void TestCliResume::startsFromWeights() {
    const QString first = m_folder.filePath("first"), second = m_folder.filePath("second");
    QCOMPARE(call(smallRun(first)).code, 0);
    QDir::setCurrent(first);
    const Outcome outcome =
        call(smallRun(second, {"--weights", "weights_fp32.safetensors"}), first);
    QVERIFY2(outcome.code == 0, told(outcome));
    QVERIFY(contentOf(second + "/experiment.json")
                .contains("\"weights\": \"" + first.toUtf8() + "/weights_fp32.safetensors\""));
    const QByteArray firstRow = contentOf(second + "/steps.csv").split('\n').at(1);
    QVERIFY(firstRow != contentOf(first + "/steps.csv").split('\n').at(1));
    const Outcome other = call(smallRun(
        second, {"--weights", first + "/weights_fp32.safetensors", "--set", "model.width=9"}));
    QCOMPARE(other.code, 2);
    QVERIFY2(other.saysOneLine() && other.error.contains("has the shape"), other.error);
}

void TestCliResume::withoutCheckpoint() {
    const QString empty = m_folder.filePath("no checkpoint");
    QVERIFY(QDir().mkpath(empty));
    const Outcome none = call({"run", "--resume", empty});
    QVERIFY2(none.code == 2 && none.saysOneLine() &&
                 none.error.contains("there is no checkpoint in the folder"),
             told(none));
}

/// The scores are those of the run that ended with these weights; the predictions are what they
/// judge.
void TestCliResume::evaluates() {
    const QString out = m_folder.filePath("scores");
    for (const int lane : {0, 1}) {
        const QString name = lane == 0 ? "fp32" : "amp-fp16";
        const Outcome outcome = call({"evaluate", whole(), "--weights",
                                      whole() + "/weights_" + name + ".safetensors", "--out", out});
        QVERIFY2(outcome.code == 0 && outcome.out.contains("accuracy"), told(outcome));
        const auto laneOf = [lane](const QString& path) {
            const QJsonObject json = QJsonDocument::fromJson(contentOf(path)).object();
            return json["lanes"].toArray()[lane].toObject();
        };
        const QJsonObject scores = laneOf(out + "/scores.json");
        const QJsonObject trained = laneOf(whole() + "/summary.json");
        QCOMPARE(scores["name"].toString(), name);
        QCOMPARE(scores["accuracy"].toDouble(), trained["accuracy"].toDouble());
        QCOMPARE(scores["loss"].toDouble(), trained["validation_loss"].toDouble());
        const Array y = readNpy((out + "/predictions_" + name + ".npy").toStdString());
        QCOMPARE(y.info.shape, (std::vector<int64_t>{500, 10}));
    }
    const Outcome none = call({"evaluate", "--preset", "mnist-mlp"});
    QVERIFY2(none.code == 2 && none.error.contains("--weights is missing"), told(none));
    const Outcome all = call({"evaluate", "--weights", whole() + "/weights_fp32.safetensors"});
    QVERIFY2(all.code == 2 && all.error.contains("no samples to judge by"), told(all));
}

/// Without --weights each lane has its own; samples.csv says for each sample what the lanes
/// compute.
void TestCliResume::evaluatesEachLane() {
    const QString out = m_folder.filePath("own scores");
    const Outcome outcome = call({"evaluate", whole(), "--out", out});
    QVERIFY2(outcome.code == 0 && outcome.out.contains("what each class was taken for"),
             told(outcome));
    const auto lanesIn = [](const QString& path) {
        return QJsonDocument::fromJson(contentOf(path)).object()["lanes"].toArray();
    };
    const QJsonArray scores = lanesIn(out + "/scores.json");
    const QJsonArray trained = lanesIn(whole() + "/summary.json");
    QCOMPARE(scores.size(), 2);
    const QList<QByteArray> lines = contentOf(out + "/samples.csv").trimmed().split('\n');
    QCOMPARE(lines[0], QByteArray("sample,target,fp32,amp-fp16"));
    QCOMPARE(lines.size(), 501);
    for (int lane = 0; lane < 2; ++lane) {
        const QJsonObject each = scores[lane].toObject();
        const QJsonObject summary = trained[lane].toObject();
        QCOMPARE(each["loss"].toDouble(), summary["validation_loss"].toDouble());
        const QJsonArray confusion = each["confusion"].toArray();
        int counted = 0, right = 0, listed = 0;
        for (int row = 0; row < 10; ++row)
            for (int taken = 0; taken < 10; ++taken) {
                const int count = confusion[row].toArray()[taken].toInt();
                counted += count;
                if (row == taken) right += count;
            }
        for (const QByteArray& line : lines.mid(1))
            listed += line.split(',')[1] == line.split(',')[2 + lane];
        QCOMPARE(counted, 500);
        QCOMPARE(right / 500.0, summary["accuracy"].toDouble());
        QCOMPARE(listed, right);
    }
    const Outcome alone = call({"evaluate", whole(), "--lanes", "amp-bf16"}); // none of its lanes
    QVERIFY2(alone.code == 2 && alone.error.contains("it has no lane amp-bf16, but only fp32, "),
             told(alone));
}

/// A text whose every character is predicted gets a line for each position, and the perplexity.
void TestCliResume::evaluatesEveryCharacter() {
    const QString folder = m_folder.filePath("text"), out = m_folder.filePath("text scores");
    const QString text = m_folder.filePath("birds.txt");
    writeFileAtomically(text.toStdString(), QByteArray("a bird sang\n").repeated(60).toStdString());
    const Outcome trained = call(
        {"run", "--preset", "transformer-lm", "--device", "cpu", "--steps", "2", "--set",
         "data.path=" + text, "--set", "data.context=16", "--set",
         "model.layers=nn.Sequential(nn.Embedding(10, 4), nn.Linear(4, 10))", "--out", folder});
    QVERIFY2(trained.code == 0, told(trained));
    const Outcome outcome = call({"evaluate", folder, "--out", out});
    QVERIFY2(outcome.code == 0 && outcome.out.contains("perplexity"), told(outcome));
    const QJsonArray scores =
        QJsonDocument::fromJson(contentOf(out + "/scores.json")).object()["lanes"].toArray();
    const QJsonArray summed =
        QJsonDocument::fromJson(contentOf(folder + "/summary.json")).object()["lanes"].toArray();
    constexpr int kSamples = (72 - 1) / 16;
    const QList<QByteArray> lines = contentOf(out + "/samples.csv").trimmed().split('\n');
    QCOMPARE(lines[0], QByteArray("sample,position,target,fp32,amp-fp16"));
    QCOMPARE(lines.size(), 1 + kSamples * 16);
    QVERIFY(lines[1 + 16 + 3].startsWith("1,3,"));
    for (int lane = 0; lane < 2; ++lane) {
        const QJsonObject each = scores[lane].toObject();
        QCOMPARE(each["perplexity"].toDouble(), std::exp(each["loss"].toDouble()));
        QCOMPARE(summed[lane]["perplexity"].toDouble(), each["perplexity"].toDouble());
        int right = 0;
        for (const QByteArray& line : lines.mid(1))
            right += line.split(',')[2] == line.split(',')[3 + lane];
        QCOMPARE(each["accuracy"].toDouble(), right / (kSamples * 16.0));
    }
    const Outcome smoothed = call({"evaluate", folder, "--set", "task.label_smoothing=0.1"});
    QVERIFY2(smoothed.code == 0 && !smoothed.out.contains("perplexity"), told(smoothed));
}

void TestCliResume::evaluateEndsAtASignal_data() { signalLeavesOne_data(); }

/// A signal comes while convolutions are judged, which takes some seconds. evaluate does not train,
/// and has no length.
void TestCliResume::evaluateEndsAtASignal() {
    QFETCH(int, number);
    const QString out = m_folder.filePath("slow");
    const QStringList slow{"--preset",
                           "mnist-mlp",
                           "--lanes",
                           "fp32",
                           "--device",
                           "cpu",
                           "--threads",
                           "1",
                           "--set",
                           "model.layers=nn.Sequential(nn.Conv2d(1, 64, 5, padding=2), "
                           "nn.Conv2d(64, 64, 5, padding=2), nn.Conv2d(64, 64, 5, padding=2), "
                           "nn.Conv2d(64, 64, 5, padding=2), nn.AdaptiveAvgPool2d(1), "
                           "nn.Flatten(), nn.Linear(64, 10))"};
    const Outcome trained = call(QStringList{"run"} + slow +
                                 QStringList{"--steps", "1", "--set", "task.batch=2", "--set",
                                             "validation.epochs=0", "--quiet", "--out", out});
    QVERIFY2(trained.code == 0, told(trained));
    QProcess process;
    const QString scores = m_folder.filePath("no scores");
    process.start(program(),
                  QStringList{"evaluate"} + slow +
                      QStringList{"--weights", out + "/weights_fp32.safetensors", "--out", scores});
    QVERIFY(process.waitForStarted(kPatience));
    const auto ticks = [&] { // of the processor, after the name in parentheses
        const QByteArray stat = contentOf(QString("/proc/%1/stat").arg(process.processId()));
        return stat.mid(stat.lastIndexOf(')') + 2).split(' ').value(11).toLongLong();
    };
    QTRY_VERIFY_WITH_TIMEOUT(takesSignal(process, number), kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(ticks() >= ::sysconf(_SC_CLK_TCK) / 2, kPatience); // it judges
    ::kill(static_cast<pid_t>(process.processId()), number);
    const Outcome outcome = outcomeOf(process);
    QVERIFY2(!outcome.crashed && outcome.code == 130, told(outcome));
    QVERIFY(!QFileInfo::exists(scores));
    for (const char* length : {"--steps", "--epochs"}) {
        const Outcome refused = call({"evaluate", length, "3"});
        QCOMPARE(refused.code, 2);
        QVERIFY2(refused.error.contains("is not an option of evaluate"), refused.error);
    }
}

/// The run goes on with a table that has changed, and tells it; each of its checkpoints has the
/// print of the table that it began with.
void TestCliResume::changedData() {
    const QString table = m_folder.filePath("points.csv"), out = m_folder.filePath("points");
    QByteArray lines = "a,b\n";
    for (int i = 0; i < 100; ++i)
        lines += QByteArray::number(i % 7) + "," + QByteArray::number(i) + "\n";
    const auto write = [&](const QByteArray& content) {
        QFile file(table);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(content);
    };
    write(lines);
    QCOMPARE(
        call(QStringList{"run", table, "--steps", "4", "--out", out, "--device", "cpu"} + kSaves)
            .code,
        0);
    const QByteArray said = "holds other data than the training began with; these are used now.";
    const auto continued = [&](const char* steps) {
        return call(QStringList{"run", "--resume", out, "--out", out, "--steps", steps} + kSaves);
    };
    const Outcome same = continued("6");
    QVERIFY2(same.code == 0 && !same.error.contains(said), told(same));
    write(QByteArray(lines).replace("6,97", "6,98"));
    for (const char* steps : {"8", "10"}) {
        const Outcome other = continued(steps);
        QVERIFY2(other.code == 0 && other.error.contains("Data: " + table.toUtf8() + " " + said),
                 told(other));
    }
    QStringList events; // in the file of events
    for (const QByteArray& line : contentOf(out + "/events.csv").split('\n'))
        if (line.contains(said)) {
            const QStringList fields = QString::fromUtf8(line).split(',');
            events.push_back(fields[0] + " " + fields[1] + " " + fields[2] + " " + fields[5]);
        }
    QCOMPARE(events, QStringList({"7 all edit data", "9 all edit data"}));
    write(lines);
    const Outcome again = continued("12");
    QVERIFY2(again.code == 0 && !again.error.contains(said), told(again));
}

void TestCliResume::refuses_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("about");
    const auto row = [](const char* name, const QStringList& arguments, const char* about) {
        QTest::newRow(name) << arguments << QByteArray(about);
    };
    row("with a preset", {"--preset", "overflow"}, "--preset and --resume: give one of them");
    row("with lanes", {"--lanes", "fp32"}, "--lanes and --resume");
    row("with a seed", {"--seed", "1"}, "--seed and --resume");
    row("with weights", {"--weights", "x"}, "--weights and --resume");
    row("with another model", {"--set", "model.width=3"}, "model.width");
    row("a lane too many", {"--set", "lanes.5.scaler.growth_factor=3"}, "there are 2 lanes");
    row("nowhere to save", {"--checkpoint-every", "5"}, "--checkpoint-every: --out is missing");
}

void TestCliResume::refuses() {
    QFETCH(QStringList, arguments);
    QFETCH(QByteArray, about);
    const Outcome outcome = call(QStringList{"run", "--resume", whole()} + arguments);
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.saysOneLine() && outcome.error.contains(about), told(outcome));
}

} // namespace tst_cli_resume

QTEST_GUILESS_MAIN(tst_cli_resume::TestCliResume)
#include "tst_cli_resume.moc"
