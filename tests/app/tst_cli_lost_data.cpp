// Pictures that vanish while halfscope-cli trains on them, or of which a later one is damaged: the
// run ends with one sentence and leaves its steps, its weights and a checkpoint, and it goes on
// from there once the pictures are back. What an experiment does with data that are gone for a
// while: tst_resumed_data.
#include "engine/data/held_back.h"
#include "engine/io/picture.h"
#include "engine/runs/run_reader.h"
#include "engine/settings/fields.h"
#include "engine/train/checkpoint.h"
#include "tests/support/array_files.h"
#include "tests/support/cli.h"

#include <QTemporaryDir>
#include <QTest>

namespace tst_cli_lost_data {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// So many that the first epoch takes seconds, because a checkpoint follows each step: the folder
/// vanishes in its first moments, before most pictures were read.
constexpr int kPictures = 3000;
constexpr int kSide = 4;

int64_t checkpointStep(const QString& folder) {
    return readCheckpoint(checkpointAt(folder.toStdString())).step;
}

/// Returns the losses of a run as its table has them.
QByteArrayList lossesIn(const QString& folder) {
    QByteArrayList lines = contentOf(folder + "/steps.csv").trimmed().split('\n'), losses;
    const auto column = lines.takeFirst().split(',').indexOf("loss");
    for (const QByteArray& line : lines)
        losses << line.split(',').value(column);
    return losses;
}

} // namespace

class TestCliLostData : public QObject {
    Q_OBJECT

private slots:
    void endsAndGoesOn_data();
    void endsAndGoesOn();
    void tellsHowManyWereLost();
    void keepsWhatWasTrained();
    void validationIsLostAlone();
    void otherFilesAreNoSamples();
    void refusesWhatNeverTrained();

private:
    QString path(const char* name) const { return m_folder.filePath(QLatin1String(name)); }
    void writePictures(int count) const;
    QStringList training(const char* out, int64_t steps, int batch = 1) const;
    QTemporaryDir m_folder;
};

/// Writes dark pictures of one class and light ones of the other.
void TestCliLostData::writePictures(int count) const {
    QDir(path("data")).removeRecursively();
    for (const char* name : {"dark", "light"}) {
        const QString folder = path("data/") + QLatin1String(name);
        QVERIFY(QDir().mkpath(folder));
        const Picture plain{kSide, kSide, 3,
                            std::vector<float>(3 * kSide * kSide, name[0] == 'd' ? 0.1f : 0.9f)};
        const std::string bytes = pngBytes(plain);
        for (int i = 0; i < count / 2; ++i)
            writeBytes(QString("%1/%2.png").arg(folder).arg(i).toStdString(), bytes);
    }
}

QStringList TestCliLostData::training(const char* out, int64_t steps, int batch) const {
    const QString words =
        "run --preset mnist-mlp --device cpu --threads 1 --set model.width=8 --set "
        "data.kind=pictures --set data.side=4 --set data.validation=0 --set task.batch=" +
        QString::number(batch) + " --steps " + QString::number(steps);
    return words.split(' ') + QStringList{"--set", "data.path=" + path("data"), "--out", path(out)};
}

void TestCliLostData::endsAndGoesOn_data() {
    QTest::addColumn<QString>("damaged");
    QTest::newRow("refuse") << "data.damaged=refuse";
    QTest::newRow("skip") << "data.damaged=skip"; // a folder that is gone is no damaged picture
}

void TestCliLostData::endsAndGoesOn() {
    QFETCH(const QString, damaged);
    const QStringList setting{"--set", damaged};
    for (const char* name : {"out", "whole"})
        QDir(path(name)).removeRecursively();
    writePictures(kPictures);
    QProcess process;
    process.setReadChannel(QProcess::StandardError);
    process.start(program(),
                  training("out", kPictures) + setting + QStringList{"--checkpoint-every", "1"});
    while (!process.peek(100000).contains(" it/s")) // after the first step
        QVERIFY(process.waitForReadyRead(kPatience));
    QVERIFY(QDir().rename(path("data"), path("away")));
    const Outcome lost = outcomeOf(process);
    QVERIFY2(lost.code == 1 && !lost.crashed, lost.error);
    const QByteArray last = lost.error.trimmed().split('\n').last();
    QCOMPARE(last, "halfscope-cli: data.path: " + path("data").toUtf8() +
                       " cannot be read: No such file or directory");
    QVERIFY2(!lost.error.contains("Another sample took its place"), lost.error);
    QCOMPARE(lost.error.count("halfscope-cli: "), 1);
    const int64_t step = checkpointStep(path("out"));
    QVERIFY(step > 0 && step < kPictures);
    QCOMPARE(readRun(path("out").toStdString())->step(), step);

    // as long as they are gone, the run stays as it is
    const QStringList resumed{"run",       "--resume", path("out"), "--out",
                              path("out"), "--quiet",  "--steps",   QString::number(step + 3)};
    const Outcome refused = call(resumed);
    QVERIFY2(refused.code == 2 && refused.saysOneLine() &&
                 refused.error.contains("data.path: " + path("data").toUtf8()),
             refused.error);
    QCOMPARE(checkpointStep(path("out")), step);
    QCOMPARE(readRun(path("out").toStdString())->step(), step);

    QVERIFY(QDir().rename(path("away"), path("data")));
    const Outcome continued = call(resumed);
    QVERIFY2(continued.code == 0, continued.error);
    const Outcome whole = call(training("whole", step + 3) + setting);
    QVERIFY2(whole.code == 0, whole.error);
    for (const char* name :
         {"steps.csv", "weights_fp32.safetensors", "weights_amp-fp16.safetensors"})
        QVERIFY2(contentOf(path("out/") + name) == contentOf(path("whole/") + name), name);
}

/// Of pictures to train on and to validate on; a run that goes on counts those before it, too.
void TestCliLostData::tellsHowManyWereLost() {
    writePictures(20);
    const QStringList skipping{"--set", "data.damaged=skip", "--set", "data.validation=0.25"};
    const Outcome none = call(training("none lost", 3, 8) + skipping);
    QVERIFY2(none.code == 0 && !none.out.contains("were left out"), none.error);
    QVERIFY(!contentOf(path("none lost/summary.json")).contains("lost_samples"));
    const HeldBack split(20, 0.25); // the dark ones come first
    for (const int32_t number : {split.train.front(), split.validation.front()})
        writeBytes(QString("%1/%2/%3.png")
                       .arg(path("data"), number < 10 ? "dark" : "light")
                       .arg(number % 10)
                       .toStdString(),
                   "no picture");
    const Outcome lost = call(training("some lost", 3, 8) + skipping);
    QVERIFY2(lost.code == 0, lost.error);
    const QByteArray told = "\nData: Samples that could not be read and were left out: 2 (of "
                            "those to validate or test on: 1).\n";
    QVERIFY2(lost.out.contains(told), lost.out);
    const auto counted = [this](const char* folder) {
        const QByteArray summary = contentOf(path(folder) + "/summary.json");
        return summary.contains("\"lost_samples\": 2,") &&
               summary.contains("\"lost_validation_samples\": 1,");
    };
    QVERIFY(counted("some lost"));
    const Outcome kept =
        call(training("kept", 3, 8) + skipping + QStringList{"--checkpoint-every", "3"});
    QVERIFY2(kept.code == 0, kept.error);
    const Outcome went =
        call({"run", "--resume", path("kept"), "--out", path("kept"), "--steps", "6"});
    QVERIFY2(went.code == 0 && went.out.contains(told), went.out + went.error);
    QVERIFY(counted("kept"));
    QVERIFY(QDir(path("kept")).removeRecursively());
}

/// The third step, which has fewer samples than the others, meets the damaged picture. No
/// checkpoint is due before it, or none is asked for at all.
void TestCliLostData::keepsWhatWasTrained() {
    for (const QStringList& more : {QStringList{}, QStringList{"--checkpoint-every", "1000"}}) {
        writePictures(20);
        const QString last = path("data/light/9.png");
        const QByteArray good = contentOf(last);
        writeBytes(last.toStdString(), good.left(40).toStdString());
        const QStringList ordered{"--set", "data.shuffle=false", "--gradients", "2"};
        const QString onnx = path("kept.onnx");
        const Outcome ended =
            call(training("kept", 6, 8) + ordered + more + QStringList{"--onnx", onnx});
        QVERIFY2(ended.code == 1 && !ended.crashed, ended.error);
        QVERIFY2(ended.error.trimmed().split('\n').last().contains("light/9.png: "), ended.error);
        QVERIFY2(ended.out.startsWith("Ended after step 2 of 6 (epoch 1 of 2): the samples of the "
                                      "next step cannot be read; --resume goes on from here\n"),
                 ended.out);
        QCOMPARE(checkpointStep(path("kept")), int64_t{2});
        QVERIFY(contentOf(path("kept/summary.json")).contains("\"outcome\": \"stopped\""));
        for (const char* name : {"kept/weights_fp32.safetensors", "kept_fp32.onnx"})
            QVERIFY2(QFile::exists(path(name)), name);

        const Outcome skipping = call({"run", "--resume", path("kept"), "--out", path("skips"),
                                       "--quiet", "--set", "data.damaged=skip"});
        QVERIFY2(skipping.code == 0, skipping.error);
        QVERIFY(contentOf(path("skips/events.csv")).contains("light/9.png: "));
        // a try without a remedy leaves all of it
        const Outcome again = call({"run", "--resume", path("kept"), "--out", path("kept")});
        QVERIFY2(again.code == 1 && again.error.contains("light/9.png: "), again.error);
        QCOMPARE(checkpointStep(path("kept")), int64_t{2});
        QVERIFY(QFile::exists(path("kept/weights_fp32.safetensors")));

        writeBytes(last.toStdString(), good.toStdString());
        const Outcome continued = call({"run", "--resume", path("kept"), "--out", path("kept"),
                                        "--quiet", "--gradients", "2"});
        QVERIFY2(continued.code == 0, continued.error);
        const Outcome whole = call(training("all", 6, 8) + ordered);
        QVERIFY2(whole.code == 0, whole.error);
        // the losses of later steps come from the weights, whose files also tell of the data
        QCOMPARE(contentOf(path("kept/steps.csv")), contentOf(path("all/steps.csv")));
        QVERIFY(QDir(path("kept")).removeRecursively() && QDir(path("all")).removeRecursively());
    }
}

/// A sample that is held back cannot be read: the step before the validation stays.
void TestCliLostData::validationIsLostAlone() {
    writePictures(20);
    const QString bad = path("data/light/4.png"); // which this seed holds back
    const QByteArray good = contentOf(bad);
    writeBytes(bad.toStdString(), good.left(40).toStdString());
    QStringList run = training("judged", 4, 8);
    run << QStringList{"--set", "data.validation=0.25"};
    const Outcome ended = call(run);
    QVERIFY2(ended.code == 1 && ended.error.contains("light/4.png: "), ended.error);
    QVERIFY2(ended.out.startsWith("Ended after step 2 of 4 (epoch 1 of 2): the samples to validate "
                                  "on cannot be read; --resume goes on from here\n"),
             ended.out);
    QCOMPARE(checkpointStep(path("judged")), int64_t{2});
    QCOMPARE(readRun(path("judged").toStdString())->step(), int64_t{2});
    QVERIFY(QFile::exists(path("judged/weights_fp32.safetensors")));
    writeBytes(bad.toStdString(), good.toStdString());
    const Outcome continued = call({"run", "--resume", path("judged"), "--out", path("judged")});
    QVERIFY2(continued.code == 0, continued.error);
    const Outcome whole = call(run.replaceInStrings(path("judged"), path("unharmed")));
    QVERIFY2(whole.code == 0, whole.error);
    QVERIFY(!lossesIn(path("judged")).isEmpty());
    QCOMPARE(lossesIn(path("judged")), lossesIn(path("unharmed")));

    writeBytes(bad.toStdString(), good.left(40).toStdString());
    const Outcome last =
        call(training("last", 2, 8) + QStringList{"--set", "data.validation=0.25"});
    QVERIFY2(last.code == 1 && last.error.contains(". Step 2 is trained but has no validation, "),
             last.error);
    // nothing is left to go on with
    QVERIFY2(last.out.startsWith("Ended after step 2 of 2") &&
                 last.out.contains("the samples to validate on cannot be read\n"),
             last.out);
}

/// A fork whose policy file is missing: the checkpoint stays that of a step that the tables have.
void TestCliLostData::otherFilesAreNoSamples() {
    writePictures(20);
    QVERIFY(call(training("plain", 4, 8)).code == 0);
    RunConfig config = readConfig(path("plain/experiment.json").toStdString());
    LaneFork fork;
    fork.step = 3;
    fork.parent = 0;
    fork.lane = config.lanes[0];
    fork.lane.precision = Precision::User;
    fork.lane.policyFile = path("missing.json").toStdString();
    config.forks.push_back(fork);
    writeBytes(path("forked.json").toStdString(), configText(config));
    const Outcome ended =
        call({"run", path("forked.json"), "--out", path("forked"), "--checkpoint-every", "1"});
    QVERIFY2(ended.code == 2 && ended.error.contains("missing.json"), ended.error);
    QVERIFY2(!ended.out.contains("cannot be read"), ended.out);
    QCOMPARE(checkpointStep(path("forked")), readRun(path("forked").toStdString())->step());
}

/// Where no step was taken, the data are wrong input, and nothing is there to be kept.
void TestCliLostData::refusesWhatNeverTrained() {
    writePictures(8);
    for (const char* name : {"data/dark", "data/light"})
        for (int i = 0; i < 4; ++i)
            writeBytes((path(name) + QString("/%1.png").arg(i)).toStdString(), "no picture");
    for (const char* damaged : {"data.damaged=skip", "data.damaged=refuse"}) {
        const Outcome refused =
            call(training("none", 3) + QStringList{"--quiet", "--set", QLatin1String(damaged)});
        QVERIFY2(refused.code == 2 && refused.saysOneLine(), refused.error);
        QVERIFY(!QFile::exists(path("none/checkpoint.safetensors")));
    }
}

} // namespace tst_cli_lost_data

QTEST_GUILESS_MAIN(tst_cli_lost_data::TestCliLostData)
#include "tst_cli_lost_data.moc"
