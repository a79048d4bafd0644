// halfscope-cli run --resume from outside: changes that are given beside a checkpoint outlast a
// kill, and networks of very many layers go on and are judged.
#include "engine/runs/run_reader.h"
#include "engine/train/checkpoint.h"
#include "tests/support/cli_folder.h"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>

namespace tst_cli_changed_run {

using namespace halfscope;
using namespace halfscope::test;

namespace {

Outcome goOn(const QString& folder, const QStringList& more) {
    return call(QStringList{"run", "--resume", folder, "--out", folder} + more);
}

} // namespace

class TestCliChangedRun : public CliFolderTest {
    Q_OBJECT

private slots:
    void outlastsAKill();
    void toldOfARunThatHasEnded();
    void endBeforeTheCheckpoint();
    void otherPlaces();
    void veryManyLayers();

private:
    /// Returns the steps of the edits of the learning rate that the events of a run tell.
    static QVector<qint64> ratesIn(const QString& folder) {
        QVector<qint64> steps;
        const auto run = readRun(folder.toStdString());
        for (const Event& event : run->events())
            if (event.kind == EventKind::Edit && event.tensor == "optimizer.lr")
                steps.push_back(event.step);
        return steps;
    }
};

/// The run after the kill trains with the changed rate, which its files tell once.
void TestCliChangedRun::outlastsAKill() {
    const QString whole = path("whole"), killed = path("killed");
    const QStringList change{"--set", "optimizer.lr=0.25", "--steps"};
    for (const QString& out : {whole, killed})
        QCOMPARE(call(smallRun(out)).code, 0);
    const Outcome outcome = goOn(whole, change + QStringList{"20"});
    QVERIFY2(outcome.code == 0, outcome.error);
    QCOMPARE(ratesIn(whole), QVector<qint64>{13});

    QProcess process;
    process.start(program(), QStringList{"run", "--resume", killed, "--out", killed} + change +
                                 QStringList{"100000000"});
    const qsizetype before = contentOf(killed + "/steps.csv").count('\n');
    QElapsedTimer waited;
    waited.start();
    while (contentOf(killed + "/steps.csv").count('\n') <= before) {
        QVERIFY(!process.waitForFinished(1));
        QVERIFY(waited.elapsed() < kPatience);
    }
    process.kill();
    QVERIFY(process.waitForFinished(kPatience));
    QCOMPARE(readCheckpoint(checkpointAt(killed.toStdString())).step, int64_t{12});
    const Outcome after = goOn(killed, {"--steps", "20"});
    QVERIFY2(after.code == 0, after.error);
    QCOMPARE(contentOf(killed + "/steps.csv"), contentOf(whole + "/steps.csv"));
    QVERIFY(contentOf(killed + "/experiment.json").contains("optimizer.lr"));
    QCOMPARE(ratesIn(killed), QVector<qint64>{13});
}

/// The events have it although no step is left to take, and those of the next call, too.
void TestCliChangedRun::toldOfARunThatHasEnded() {
    const QString out = path("ended");
    QCOMPARE(call(smallRun(out, {"--checkpoint-every", "12"})).code, 0);
    const Outcome outcome = goOn(out, {"--set", "optimizer.lr=0.25"});
    QVERIFY2(outcome.code == 0, outcome.error);
    QCOMPARE(ratesIn(out), QVector<qint64>{13});
    QCOMPARE(goOn(out, {"--steps", "14"}).code, 0);
    QCOMPARE(ratesIn(out), QVector<qint64>{13});
}

/// An end that is given as so many more steps would make an interrupted run a finished one.
void TestCliChangedRun::endBeforeTheCheckpoint() {
    const QString out = path("early end");
    QCOMPARE(call(smallRun(out)).code, 0);
    const QByteArray summary = contentOf(out + "/summary.json");
    const QByteArray settings = contentOf(out + "/experiment.json");
    for (const QStringList& end : {QStringList{"--steps", "5"}, {"--set", "run.steps=5"}}) {
        const Outcome outcome = goOn(out, end);
        QVERIFY2(outcome.code == 2 && outcome.saysOneLine(), outcome.error);
        QVERIFY2(outcome.error.contains("would end after step 5, but its checkpoint is after step "
                                        "12: at least that is allowed"),
                 outcome.error);
    }
    QCOMPARE(contentOf(out + "/summary.json"), summary);
    QCOMPARE(contentOf(out + "/experiment.json"), settings);
}

/// How many threads a run has now is no edit, but is kept likewise.
void TestCliChangedRun::otherPlaces() {
    const QString out = path("moved"), checkpoint = out + "/checkpoint.safetensors";
    QProcess first;
    first.start(program(), smallRun(out, {"--checkpoint-every", "12", "--steps", "100000000"}));
    while (!QFile::exists(checkpoint))
        QVERIFY(!first.waitForFinished(1));
    first.kill();
    QVERIFY(first.waitForFinished(kPatience));
    const auto saved = [&] { return readCheckpoint(checkpoint.toStdString()); };
    const int64_t step = saved().step;
    QCOMPARE(saved().recorded.threads, int64_t{0});
    const QByteArray before = contentOf(checkpoint);
    QProcess second;
    second.start(program(), {"run", "--resume", out, "--out", out, "--threads", "1",
                             "--checkpoint-every", "100000000"}); // none on the way
    QElapsedTimer waited;
    waited.start();
    while (contentOf(checkpoint) == before) {
        QVERIFY(!second.waitForFinished(10));
        QVERIFY(waited.elapsed() < kPatience);
    }
    second.kill();
    QVERIFY(second.waitForFinished(kPatience));
    QCOMPARE(saved().recorded.threads, int64_t{1});
    QCOMPARE(saved().step, step);
}

/// A checkpoint has three arrays for each of their weights.
void TestCliChangedRun::veryManyLayers() {
    const QString out = path("deep");
    QStringList layers;
    for (int i = 0; i < 502; ++i)
        layers << "nn.Linear(2, 2)";
    const Outcome trained = call({"run", "--preset", "moons", "--device", "cpu", "--lanes", "fp32",
                                  "--set", "model.layers=nn.Sequential(" + layers.join(", ") + ")",
                                  "--steps", "2", "--checkpoint-every", "1", "--out", out});
    QVERIFY2(trained.code == 0, trained.error);
    const Outcome judged = call({"evaluate", out});
    QVERIFY2(judged.code == 0, judged.error);
    const Outcome more = goOn(out, {"--steps", "3"});
    QVERIFY2(more.code == 0, more.error);
    QCOMPARE(readRun(out.toStdString())->step(), int64_t{3});
}

} // namespace tst_cli_changed_run

QTEST_GUILESS_MAIN(tst_cli_changed_run::TestCliChangedRun)
#include "tst_cli_changed_run.moc"
