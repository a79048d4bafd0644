// A folder of pictures that vanishes while halfscope-cli trains on it: the run ends with one
// sentence and leaves its steps and a checkpoint, and it goes on from there once the folder is
// back. What an experiment does with data that are gone for a while: tst_resumed_data.
#include "engine/io/picture.h"
#include "engine/runs/run_reader.h"
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

} // namespace

class TestCliLostData : public QObject {
    Q_OBJECT

private slots:
    void endsAndGoesOn();

private:
    QString path(const char* name) const { return m_folder.filePath(QLatin1String(name)); }
    void writePictures() const;
    QStringList training(const char* out, int64_t steps) const;
    QTemporaryDir m_folder;
};

/// Writes dark pictures of one class and light ones of the other.
void TestCliLostData::writePictures() const {
    for (const char* name : {"dark", "light"}) {
        const QString folder = path("data/") + QLatin1String(name);
        QVERIFY(QDir().mkpath(folder));
        const Picture plain{kSide, kSide, 3,
                            std::vector<float>(3 * kSide * kSide, name[0] == 'd' ? 0.1f : 0.9f)};
        const std::string bytes = pngBytes(plain);
        for (int i = 0; i < kPictures / 2; ++i)
            writeBytes(QString("%1/%2.png").arg(folder).arg(i).toStdString(), bytes);
    }
}

QStringList TestCliLostData::training(const char* out, int64_t steps) const {
    const QString words =
        "run --preset mnist-mlp --device cpu --threads 1 --set model.width=8 --set "
        "task.batch=1 --set data.kind=pictures --set data.side=4 --set "
        "data.validation=0 --steps " +
        QString::number(steps);
    return words.split(' ') + QStringList{"--set", "data.path=" + path("data"), "--out", path(out)};
}

void TestCliLostData::endsAndGoesOn() {
    writePictures();
    QProcess process;
    process.setReadChannel(QProcess::StandardError);
    process.start(program(), training("out", kPictures) + QStringList{"--checkpoint-every", "1"});
    while (!process.peek(100000).contains(" it/s")) // after the first step
        QVERIFY(process.waitForReadyRead(kPatience));
    QVERIFY(QDir().rename(path("data"), path("away")));
    const Outcome lost = outcomeOf(process);
    QVERIFY2(lost.code == 2 && !lost.crashed, lost.error);
    const QByteArray last = lost.error.trimmed().split('\n').last();
    QVERIFY2(last.startsWith("halfscope-cli: " + path("data/").toUtf8()) &&
                 last.endsWith(".png: cannot read: No such file or directory; to go on without "
                               "such samples, set data.damaged to skip"),
             lost.error);
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
    const Outcome whole = call(training("whole", step + 3));
    QVERIFY2(whole.code == 0, whole.error);
    for (const char* name :
         {"steps.csv", "weights_fp32.safetensors", "weights_amp-fp16.safetensors"})
        QVERIFY2(contentOf(path("out/") + name) == contentOf(path("whole/") + name), name);
}

} // namespace tst_cli_lost_data

QTEST_GUILESS_MAIN(tst_cli_lost_data::TestCliLostData)
#include "tst_cli_lost_data.moc"
