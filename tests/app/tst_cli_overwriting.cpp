// What halfscope-cli must not overwrite, from outside: the files that a command reads, those of the
// run in whose folder it writes, and files with the names of a run's that no run has written.
#include "engine/io/picture.h"
#include "engine/runs/run_reader.h"
#include "tests/support/cli_folder.h"

#include <QDirIterator>
#include <QMap>
#include <QTest>

namespace tst_cli_overwriting {

using namespace halfscope;
using namespace halfscope::test;

class TestCliOverwriting : public CliFolderTest {
    Q_OBJECT

private slots:
    void initTestCase();
    void refuses_data();
    void refuses();
    void filesOfNoRun_data();
    void filesOfNoRun();
    void replacesRuns_data();
    void replacesRuns();
    void leavesScores_data();
    void leavesScores();
    void anExperimentOfTheReader();
    void dataInFolders();

private:
    /// Returns the contents of all files in the folder, by path.
    QMap<QString, QByteArray> all() const {
        QMap<QString, QByteArray> files;
        QDirIterator each(path(""), QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
        while (each.hasNext()) {
            const QString file = each.next();
            files[file] = contentOf(file);
        }
        return files;
    }
    Outcome callThere(const QStringList& arguments) const { return call(arguments, path("")); }
    void copyInto(const char* folder, const char* from, const char* name) const {
        QVERIFY(QDir().mkpath(path(folder)));
        QVERIFY(QFile::copy(path(from), path(folder) + "/" + name));
    }
};

void TestCliOverwriting::initTestCase() {
    std::string table = "a,b,price\n";
    for (int i = 0; i < 40; ++i)
        table +=
            std::to_string(i) + "," + std::to_string(i % 7) + "," + std::to_string(2 * i) + ".5\n";
    for (const char* name : {"d.csv", "steps.csv", "samples.csv"})
        file(name, table);
    file("target.png", pngBytes(Picture{4, 4, 1, std::vector<float>(16, 0.5F)}));
    const Outcome run = callThere({"run", "d.csv", "--device", "cpu", "--steps", "4",
                                   "--checkpoint-every", "2", "--out", "o"});
    QVERIFY2(run.code == 0, run.error);
    copyInto("o", "d.csv", "samples.csv");
    file("summary.json", contentOf(path("o/experiment.json")).toStdString());
    copyInto("k", "o/checkpoint.safetensors", "weights_fp32.safetensors");
    QVERIFY(QDir().mkpath(path("recorded")));
    file("recorded/experiment.json", R"({"version": 1, "title": "mine",
        "data": {"kind": "recorded"}, "lanes": [{"precision": "fp32"}]})");
    file("recorded/steps.csv", "step,lane\n");
    file("scores.json", "mine");
    QVERIFY(QFile::link(path("o/checkpoint.safetensors"), path("ck.safetensors")));
    QVERIFY(QFile::link(path(""), path("here")));
}

void TestCliOverwriting::refuses_data() {
    QTest::addColumn<QString>("arguments");
    QTest::addColumn<QByteArray>("words");
    const auto row = [](const char* name, const char* arguments, const QByteArray& words) {
        QTest::newRow(name) << QString(arguments) << words;
    };
    const QByteArray read = " and would be overwritten; choose another folder or name\n";
    const auto own = [](const QByteArray& file, const QByteArray& folder) {
        return "--onnx: \"" + file + "\" is not allowed: the run in \"" + folder +
               "\" may have a file of that name; choose another one\n";
    };
    row("a table", "run steps.csv --out .", "--out: ./steps.csv is the file of data.path" + read);
    row("a picture", "run target.png --out .",
        "--out: ./target.png is the file of task.image" + read);
    row("through a link", "run steps.csv --out here",
        "--out: here/steps.csv is the file of data.path" + read);
    row("by a link", "run here/steps.csv --out .",
        "--out: ./steps.csv is the file of data.path" + read);
    row("an experiment", "run summary.json --out .",
        "--out: ./summary.json is the file of the experiment" + read);
    row("first weights", "run d.csv --weights o/weights_fp32.safetensors --out o",
        "--out: o/weights_fp32.safetensors is the file of model.weights" + read);
    row("a checkpoint", "run --resume k/weights_fp32.safetensors --out k",
        "--out: k/weights_fp32.safetensors is the file of --resume" + read);
    row("a link to a checkpoint", "run --resume ck.safetensors --out o",
        "--out: o/checkpoint.safetensors is the file of --resume" + read);
    row("a model", "run d.csv --lanes fp32 --onnx d.csv",
        "--onnx: d.csv is the file of data.path" + read);
    row("a model for an experiment", "run summary.json --lanes fp32 --onnx here/summary.json",
        "--onnx: here/summary.json is the file of the experiment" + read);
    row("a map", "sweep d.csv --lanes fp32 --sweep optimizer.lr=0.1,0.01 --csv d.csv",
        "--csv: d.csv is the file of data.path" + read);
    row("scores", "evaluate samples.csv --weights o/weights_fp32.safetensors --out .",
        "--out: ./samples.csv is the file of data.path" + read);
    row("predictions", "evaluate o --predict o/samples.csv --out o",
        "--out: o/samples.csv is the file of --predict" + read);
    row("a model as steps", "run d.csv --lanes fp32 --onnx new/steps.csv --out new",
        own("new/steps.csv", "new"));
    row("a model as settings", "run d.csv --lanes fp32 --onnx new/../new/experiment.json --out new",
        own("new/../new/experiment.json", "new"));
    row("a model as a lock", "run d.csv --lanes fp32 --onnx new/.halfscope.lock --out new",
        own("new/.halfscope.lock", "new"));
    row("a model of a lane", "run d.csv --lanes fp32,fp16 --onnx new/output.png --out new",
        own("new/output_fp32.png", "new"));
    row("a model as scores", "run d.csv --lanes fp32 --onnx new/scores.json --out new",
        own("new/scores.json", "new"));
    row("a model as a table", "run d.csv --lanes fp32 --onnx new/samples.csv --out new",
        own("new/samples.csv", "new"));
    row("a model as predictions", "run o --lanes fp32 --onnx o/predictions_fp32.npy",
        own("o/predictions_fp32.npy", "o"));
    row("a training of PyTorch", "run d.csv --out recorded",
        "--out: the training in recorded was recorded in PyTorch, and cannot be trained again "
        "here; choose another folder\n");
    row("a training of PyTorch that is to go on", "run --resume recorded",
        "recorded: this training was recorded in PyTorch: it cannot go on here\n");
    row("scores of another program", "evaluate o --predict d.csv --out .",
        "--out: ./samples.csv is not of an evaluation, which would replace or remove it; move it "
        "away, or choose another folder\n");
    const QByteArray recorded =
        "data.kind: recorded is not allowed here: the training was recorded "
        "in PyTorch, whose network and data this program does not have. It "
        "can be looked at but not trained\n";
    for (const char* command : {"run", "evaluate"})
        row((QByteArray("a recorded training, ") + command).constData(),
            (QByteArray(command) + " recorded").constData(), recorded);
    row("a recorded training, sweep", "sweep recorded --sweep optimizer.lr=0.1,0.2", recorded);
    row("a model in the run", "run o --lanes fp32 --onnx o/timing.csv", own("o/timing.csv", "o"));
    row("a model in another run", "run d.csv --lanes fp32 --onnx o/checkpoint.safetensors",
        own("o/checkpoint.safetensors", "o"));
    row("a map in another run",
        "sweep d.csv --lanes fp32 --sweep optimizer.lr=0.1,0.01 --csv o/experiment.json",
        own("o/experiment.json", "o").replace("--onnx", "--csv"));
}

/// One sentence names the option and the file, and nothing has changed.
void TestCliOverwriting::refuses() {
    QFETCH(const QString, arguments);
    QFETCH(const QByteArray, words);
    const auto before = all();
    const Outcome outcome = callThere(arguments.split(' '));
    QCOMPARE(outcome.error, "halfscope-cli: " + words);
    QCOMPARE(outcome.code, 2);
    QVERIFY(all() == before);
    QVERIFY(!QFileInfo::exists(path("new")));
}

void TestCliOverwriting::filesOfNoRun_data() {
    QTest::addColumn<QByteArray>("content");
    for (const char* name : {"summary.json", "experiment.json", "checkpoint.safetensors",
                             "events.csv", "manifest.json", "plots.svg", "best_fp32.safetensors"})
        QTest::newRow(name) << QByteArray("mine");
    QTest::newRow("manifest.json ") << QByteArray("{\"version\": 1, \"name\": \"my app\"}");
    QTest::newRow("steps.csv") << QByteArray("step,lane,mine\n");
}

void TestCliOverwriting::filesOfNoRun() {
    QFETCH(const QByteArray, content);
    const QString folder = path("mine"), name = QString(QTest::currentDataTag()).trimmed();
    QVERIFY(QDir().mkpath(folder));
    file(qPrintable("mine/" + name), content.toStdString());
    const Outcome outcome = callThere(smallRun("mine"));
    const QStringList left = filesOf(folder);
    const QByteArray there = contentOf(folder + "/" + name);
    QVERIFY(QDir(folder).removeRecursively());
    QCOMPARE(outcome.error, "halfscope-cli: --out: mine/" + name.toUtf8() +
                                " is not the file of a run, and a run would replace or remove it; "
                                "move it away, or choose another folder\n");
    QCOMPARE(outcome.code, 2);
    QCOMPARE(left, QStringList{name});
    QCOMPARE(there, content);
}

void TestCliOverwriting::replacesRuns_data() {
    QTest::addColumn<QString>("remove");
    QTest::addColumn<QString>("add");
    QTest::newRow("whole") << ""
                           << "";
    QTest::newRow("of an earlier version") << "manifest.json"
                                           << "";
    QTest::newRow("killed as it began") << "manifest.json experiment.json"
                                        << ".steps.csv.1-0.tmp";
    QTest::newRow("with a file beside it") << ""
                                           << "mine.txt";
}

/// A run is trained again in its place, whatever is left of it.
void TestCliOverwriting::replacesRuns() {
    QFETCH(const QString, remove);
    QFETCH(const QString, add);
    const QString folder = path("replaced");
    QVERIFY(QDir(folder).removeRecursively());
    QCOMPARE(callThere(smallRun("replaced")).code, 0);
    for (const QString& name : remove.split(' ', Qt::SkipEmptyParts))
        QVERIFY(QFile::remove(folder + "/" + name));
    if (!add.isEmpty()) file(qPrintable("replaced/" + add), "");
    const bool settings = QFileInfo::exists(folder + "/experiment.json");
    const Outcome outcome =
        callThere(settings ? QStringList{"run", "replaced", "--steps", "5", "--out", "replaced"}
                           : smallRun("replaced", {"--steps", "5"}));
    QVERIFY2(outcome.code == 0, outcome.error);
    QCOMPARE(readRun(folder.toStdString())->step(), int64_t{5});
    const bool whole = remove.isEmpty(); // and of another length, which is another experiment
    QVERIFY2(outcome.error.contains("Replaced in replaced: the run of Checkerboard, 12 steps\n") ==
                 whole,
             outcome.error);
    const Outcome same = callThere({"run", "replaced", "--out", "replaced"});
    QVERIFY2(same.code == 0 && !same.error.contains("Replaced"), same.error);
    QCOMPARE(QFileInfo::exists(folder + "/mine.txt"), add == "mine.txt");
}

void TestCliOverwriting::leavesScores_data() {
    QTest::addColumn<QString>("arguments");
    QTest::addColumn<QByteArray>(
        "lead"); // empty: nothing was trained, and the scores are the run's
    const QByteArray others = "Not of this run, but left in ";
    QTest::newRow("trained anew") << "run judged --steps 5 --out judged" << others;
    QTest::newRow("goes on") << "run --resume judged --steps 5 --out judged"
                             << QByteArray("From before this training, and left in ");
    QTest::newRow("ended before") << "run --resume judged --out judged" << QByteArray();
    QTest::newRow("another run's") << "run other --steps 5 --out scores" << others;
    QTest::newRow("of a run that had ended") << "run --resume other --out scores" << others;
}

/// Scores that lie in a run's folder may be the only ones that there are: they stay, and a line
/// says that they are of other networks, once there are any.
void TestCliOverwriting::leavesScores() {
    QFETCH(const QString, arguments);
    QFETCH(const QByteArray, lead);
    const QString to = arguments.section(' ', -1), there = path("") + "/" + to;
    for (const char* folder : {"judged", "other", "scores"})
        QVERIFY(QDir(path(folder)).removeRecursively());
    for (const char* folder : {"judged", "other"}) {
        const Outcome run = callThere({"run", "d.csv", "--device", "cpu", "--steps", "2",
                                       "--checkpoint-every", "2", "--out", folder});
        QVERIFY2(run.code == 0, run.error);
    }
    QCOMPARE(callThere({"evaluate", "judged", "--out", to}).code, 0);
    const auto scores = [&] { return contentOf(there + "/scores.json"); };
    const QByteArray before = scores();
    QVERIFY(!before.isEmpty());
    const Outcome next = callThere(arguments.split(' '));
    QVERIFY2(next.code == 0, next.error);
    QCOMPARE(readRun(there.toStdString())->step(), int64_t{arguments.contains("--steps") ? 5 : 2});
    QCOMPARE(scores(), before);
    const QByteArray files = to.toUtf8() + ": predictions_fp32.npy, predictions_amp-fp16.npy, "
                                           "samples.csv, scores.json\n";
    if (lead.isEmpty())
        QVERIFY2(!next.error.contains("left in"), next.error);
    else
        QVERIFY2(next.error.contains(lead + files), next.error);
}

/// The experiment that was named is one of the run's own files, also where there is no run yet.
void TestCliOverwriting::anExperimentOfTheReader() {
    QCOMPARE(callThere(smallRun("model")).code, 0);
    copyInto("named", "model/experiment.json", "experiment.json");
    const Outcome outcome =
        callThere({"run", "named/experiment.json", "--steps", "5", "--out", "named"});
    QVERIFY2(outcome.code == 0, outcome.error);
    QCOMPARE(readRun(path("named").toStdString())->step(), int64_t{5});
}

/// A picture of a class is data, too, when the data are the folder above it.
void TestCliOverwriting::dataInFolders() {
    for (const char* name : {"pictures/cat", "pictures/dog"})
        for (const char* number : {"1.png", "2.png", "3.png", "4.png"})
            copyInto(name, "target.png", number);
    const QStringList words = QString("run pictures --device cpu --steps 1 --lanes fp32 --set "
                                      "data.side=8 --onnx")
                                  .split(' ');
    const auto before = all();
    const Outcome outcome = callThere(words + QStringList{"pictures/cat/1.png"});
    QCOMPARE(outcome.error, QByteArray("halfscope-cli: --onnx: pictures/cat/1.png lies in the "
                                       "folder of data.path and would be overwritten; choose "
                                       "another folder or name\n"));
    QCOMPARE(outcome.code, 2);
    QVERIFY(all() == before);
}

} // namespace tst_cli_overwriting

QTEST_GUILESS_MAIN(tst_cli_overwriting::TestCliOverwriting)
#include "tst_cli_overwriting.moc"
