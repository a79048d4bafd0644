// halfscope-cli run --resume from outside: what a run that goes on, or has nothing left to do, has
// in common with one that never stopped, beside its rows: pictures, their errors, and gradients.
#include "engine/train/checkpoint.h"
#include "tests/support/cli_folder.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

namespace tst_cli_as_never_stopped {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr const char* kIdle = "Nothing was trained: ";

Outcome goOn(const QString& from, const QString& out, const QStringList& more = {}) {
    return call(QStringList{"run", "--resume", from, "--out", out} + more);
}

/// Returns the pictures of a run and how far they are from its target.
QByteArrayList paintedIn(const QString& folder) {
    QByteArrayList all{contentOf(folder + "/output_fp32.png"),
                       contentOf(folder + "/output_amp-fp16.png")};
    const QJsonDocument summary = QJsonDocument::fromJson(contentOf(folder + "/summary.json"));
    for (const QJsonValue lane : summary["lanes"].toArray())
        for (const char* error : {"mae", "psnr"})
            all.push_back(QByteArray::number(lane[error].toDouble(-1), 'g', 17));
    return all;
}

/// Returns the steps whose gradients were counted.
QStringList countedIn(const QString& folder) {
    QStringList steps;
    for (const QByteArray& line : contentOf(folder + "/gradients.csv").trimmed().split('\n').mid(1))
        steps.push_back(QString::fromUtf8(line.split(',').value(1)));
    steps.removeDuplicates();
    return steps;
}

} // namespace

class TestCliAsNeverStopped : public CliFolderTest {
    Q_OBJECT

private slots:
    void lastPicturesStay();
    void picturesOfTheWay();
    void gradientsGoOn();
    void refusesTorchFiles();
};

void TestCliAsNeverStopped::lastPicturesStay() {
    const QString out = path("painted"), elsewhere = path("elsewhere");
    QCOMPARE(call(smallRun(out, {"--steps", "33", "--checkpoint-every", "11"})).code, 0);
    const QByteArrayList before = paintedIn(out);
    QCOMPARE(before.size(), 6);
    QVERIFY2(before[2].toDouble() > 0 && before[3].toDouble() > 0, before[2]);
    const QString checkpoint = path("33.safetensors"); // all that a kill before the end has left
    QVERIFY(QFile::copy(out + "/checkpoint.safetensors", checkpoint));
    const QList<std::pair<QString, QString>> ways{{out, out}, {out, out}, {checkpoint, elsewhere}};
    for (const auto& [from, to] : ways) {
        const Outcome outcome = goOn(from, to);
        QVERIFY2(outcome.code == 0 && outcome.out.startsWith(kIdle), outcome.error);
        QVERIFY2(!outcome.out.contains("The pictures show"), outcome.out);
        QCOMPARE(paintedIn(to), before);
    }
}

/// A checkpoint on the way does not have what its step has computed, which is said.
void TestCliAsNeverStopped::picturesOfTheWay() {
    const QString out = path("way"), ended = path("ended");
    QCOMPARE(call(smallRun(out, {"--steps", "33", "--checkpoint-every", "11"})).code, 0);
    const Outcome outcome = goOn(out + "/checkpoint-before.safetensors", ended, {"--steps", "22"});
    QVERIFY2(outcome.code == 0 && outcome.out.startsWith(kIdle), outcome.error);
    QVERIFY2(outcome.out.contains("\nThe pictures show what the weights after step 22 compute; "),
             outcome.out);
}

/// The interval goes on with the run, until another one is given.
void TestCliAsNeverStopped::gradientsGoOn() {
    const QString out = path("counted"), other = path("counted otherwise");
    QCOMPARE(
        call(smallRun(out, {"--steps", "40", "--gradients", "7", "--checkpoint-every", "15"})).code,
        0);
    const QByteArray whole = contentOf(out + "/gradients.csv");
    QCOMPARE(countedIn(out), QStringList({"1", "8", "15", "22", "29", "36"}));
    const QString lone = path("30.safetensors");
    QVERIFY(QFile::copy(out + "/checkpoint-before.safetensors", lone));
    const Outcome outcome = goOn(out + "/checkpoint-before.safetensors", out);
    QVERIFY2(outcome.code == 0 && outcome.out.contains("Gradients after step 40"), outcome.error);
    QCOMPARE(contentOf(out + "/gradients.csv"), whole);
    QCOMPARE(goOn(lone, other, {"--gradients", "4", "--checkpoint-every", "100"}).code, 0);
    QCOMPARE(countedIn(other), QStringList({"33", "37"}));
    QCOMPARE(readCheckpoint((other + "/checkpoint.safetensors").toStdString()).countGradients,
             int64_t{4});
}

void TestCliAsNeverStopped::refusesTorchFiles() {
    const QString model = file("model.pt", std::string("PK\x03\x04") + std::string(60, '\0'));
    const Outcome outcome = call({"run", "--resume", model});
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.saysOneLine() && outcome.error.contains(model.toUtf8() + ": torch.save() ") &&
                 outcome.error.contains("python3 -c "),
             outcome.error);
}

} // namespace tst_cli_as_never_stopped

QTEST_GUILESS_MAIN(tst_cli_as_never_stopped::TestCliAsNeverStopped)
#include "tst_cli_as_never_stopped.moc"
