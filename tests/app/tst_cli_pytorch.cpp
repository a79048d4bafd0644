// halfscope-cli pytorch --weights-out and --samples-out, from outside: the files have the weights
// that lanes start from and the batches that steps take, and the program that is printed beside
// them starts from the first, trains on the second and takes no other files. PyTorch itself runs it
// when HALFSCOPE_PYTHON names a Python (./dev clients).
#include "engine/io/safetensors.h"
#include "tests/support/cli.h"
#include "tests/support/pytorch_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>

namespace tst_cli_pytorch {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr const char* kSmall = "task.side=8";

} // namespace

class TestCliPyTorch : public QObject {
    Q_OBJECT

private slots:
    void lanesStartFromTheFile();
    void hasWhatAnotherFileBrings();
    void refuses_data();
    void refuses();
    void theProgramStartsFromIt();
    void refusesSamples_data();
    void refusesSamples();
    void tellsOfOtherSamples_data();
    void tellsOfOtherSamples();
    void tellsOfAnotherTest();
    void aGanJudgesNothing();
    void theProgramTrainsOnThem();

private:
    QString path(const char* name) const { return m_folder.filePath(name); }
    /// Writes the weights of a seed and returns what the command prints.
    Outcome written(const QString& file, const QString& seed, const QStringList& more = {}) const {
        return call(QStringList{"pytorch", "--preset", "checkerboard", "--set", kSmall, "--set",
                                "model.width=8", "--seed", seed, "--weights-out", file} +
                    more);
    }
    QTemporaryDir m_folder;
};

/// A run of another seed, which draws nothing else here, has every bit of the run of that seed:
/// also its lane in float32 where the first lane stores 16 bits.
void TestCliPyTorch::lanesStartFromTheFile() {
    const QString file = path("first.safetensors");
    const QStringList lanes{"--lanes", "fp16,fp32,amp-fp16", "--quiet"};
    const Outcome printed = written(file, "5", lanes.first(2));
    QVERIFY2(printed.code == 0, printed.error);
    QVERIFY(printed.out.startsWith("#!/usr/bin/env python3\n"));
    const auto losses = [&](const char* out, const QStringList& more) {
        const Outcome run = call(smallRun(path(out), more + lanes));
        return run.code == 0 ? contentOf(path(out) + "/steps.csv") : run.error;
    };
    const QByteArray drawn = losses("drawn", {"--seed", "5"});
    QVERIFY2(drawn.startsWith("step,"), drawn);
    QCOMPARE(losses("read", {"--seed", "6", "--weights", file}), drawn);
    QVERIFY(losses("other", {"--seed", "6"}) != drawn);
    const SafetensorsInfo info = safetensorsInfo(file.toStdString());
    QCOMPARE(info.metadata.at("step"), std::string("0"));
    for (const ArrayInfo& each : info.arrays)
        QVERIFY2(each.type == ElementType::F32 || each.name.ends_with("num_batches_tracked"),
                 each.name.c_str());
}

/// With --weights, lanes start from that file: it is written again.
void TestCliPyTorch::hasWhatAnotherFileBrings() {
    const QString file = path("five.safetensors"), copy = path("again.safetensors");
    QCOMPARE(written(file, "5").code, 0);
    QCOMPARE(written(copy, "6", {"--weights", file}).code, 0);
    QCOMPARE(contentOf(copy), contentOf(file));
}

void TestCliPyTorch::refuses_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QByteArray>("message");
    QTest::newRow("no such folder") << "nowhere/w.safetensors" << QByteArray("\" is not allowed: ");
    QTest::newRow("a folder") << "." << QByteArray("--weights-out");
    QTest::newRow("what it reads") << "read.safetensors" << QByteArray("--weights-out: ");
}

/// In one line, before anything is printed.
void TestCliPyTorch::refuses() {
    QFETCH(const QString, file);
    QFETCH(const QByteArray, message);
    const QString read = path("read.safetensors");
    QCOMPARE(written(read, "5").code, 0);
    const QByteArray before = contentOf(read);
    const Outcome refused = written(m_folder.filePath(file), "6", {"--weights", read});
    QCOMPARE(refused.code, 2);
    QVERIFY2(refused.saysOneLine() && refused.error.contains(message), refused.error);
    QVERIFY(refused.out.isEmpty());
    QCOMPARE(contentOf(read), before);
}

/// Its first loss is ours, up to the roundings of sums in another order; from weights of its own it
/// would be another one.
void TestCliPyTorch::theProgramStartsFromIt() {
    if (lacksPython()) QSKIP(lacksPython());
    const QString file = path("start.safetensors"), program = path("program.py");
    const QStringList lanes{"--lanes", "fp32"};
    const Outcome printed = written(file, "5", lanes);
    QVERIFY2(printed.code == 0, printed.error);
    writeFileAtomically(program.toStdString(), printed.out.toStdString());
    const Outcome run = call(smallRun(path("ours"), QStringList{"--seed", "5", "--quiet"} + lanes));
    QVERIFY2(run.code == 0, run.error);
    const QString driver = kImport + R"(
import csv
with open(sys.argv[3]) as file:
    ours = float(next(csv.DictReader(file))["loss"])
lane = next(iter(program.LANES.values()))
(theirs, _, _), = program.train(lane, data, 1, weights)[1]
print(abs(ours - theirs) / ours)
)";
    const QString apart = python(driver, {program, file, path("ours") + "/steps.csv"});
    bool number = false;
    const double found = apart.toDouble(&number);
    QVERIFY2(number && found < 64 * 0x1p-24, qPrintable(apart));
}

void TestCliPyTorch::refusesSamples_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("message");
    const QString file = path("refused.safetensors"), weights = path("first.safetensors");
    const QString link = path("link.safetensors");
    QFile::remove(weights);
    QVERIFY(QFile::link(file, link)); // which is not there
    QTest::newRow("too many")
        << QStringList{"--preset",      "regression", "--epochs",      "100000",
                       "--weights-out", weights,      "--samples-out", file}
        << QByteArray("--samples-out: 15700000 steps are too many: their batches take more than "
                      "1 GiB; at most ");
    QTest::newRow("a batch too large") << QStringList{"--preset",      "gan",
                                                      "--set",         "task.samples=340000",
                                                      "--set",         "task.batch=340000",
                                                      "--weights-out", weights,
                                                      "--samples-out", file}
                                       << QByteArray("a single batch takes more than ");
    QFile text(path("long.txt"));
    QVERIFY(text.open(QIODevice::WriteOnly));
    text.write(QByteArray("ab").repeated(50'000));
    text.close();
    QTest::newRow("too many to judge by")
        << QStringList{"--preset",
                       "transformer-tiny",
                       "--set",
                       "data.path=" + text.fileName(),
                       "--set",
                       "data.context=4096",
                       "--set",
                       "data.validation=0.9",
                       "--set",
                       "model.layers=nn.Sequential(nn.Embedding(2, 1), "
                       "nn.Flatten(), nn.Linear(4096, 2))",
                       "--weights-out",
                       weights,
                       "--samples-out",
                       file}
        << QByteArray("--samples-out: the samples to judge by alone take more than 1 GiB, which "
                      "is not allowed; hold back fewer of them with a smaller data.validation\n");
    QTest::newRow("the file of the weights")
        << QStringList{"--samples-out", file, "--weights-out",
                       m_folder.path() + "/./" + "refused.safetensors"}
        << QByteArray("--weights-out names the same file");
    QTest::newRow("a link to the file of the weights")
        << QStringList{"--samples-out", link, "--weights-out", file}
        << QByteArray("--weights-out names the same file");
    QTest::newRow("a folder") << QStringList{"--samples-out", m_folder.path(), "--weights-out",
                                             weights}
                              << QByteArray("--samples-out: ");
    QTest::newRow("no weights") << QStringList{"--samples-out", file}
                                << QByteArray("--samples-out requires --weights-out\n");
}

/// In one line, before anything is printed or written.
void TestCliPyTorch::refusesSamples() {
    QFETCH(const QStringList, arguments);
    QFETCH(const QByteArray, message);
    const Outcome refused = call(QStringList{"pytorch"} + arguments);
    QCOMPARE(refused.code, 2);
    QVERIFY2(refused.saysOneLine() && refused.error.contains(message), refused.error);
    QVERIFY(refused.out.isEmpty());
    QVERIFY(!QFile::exists(path("refused.safetensors")));
    QVERIFY(!QFile::exists(path("first.safetensors")));
}

void TestCliPyTorch::tellsOfOtherSamples_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<bool>("differ");
    QTest::newRow("held back by chance") << "moons" << true;
    QTest::newRow("the end of the text") << "transformer-tiny" << false;
    QTest::newRow("nothing held back") << "checkerboard" << false;
}

/// Where the program validates on others than Halfscope, it says so.
void TestCliPyTorch::tellsOfOtherSamples() {
    QFETCH(const QString, preset);
    QFETCH(const bool, differ);
    const Outcome printed = call({"pytorch", "--preset", preset});
    QVERIFY2(printed.code == 0, printed.error);
    QCOMPARE(printed.out.contains(
                 "The samples to validate on are chosen at random, so they differ from "
                 "Halfscope's, and so do\nthe validation figures. With SAMPLES.safetensors they "
                 "are the same.\n"),
             differ);
    QCOMPARE(printed.out.contains("chosen at random"), differ);
}

/// Where only the test is chosen by chance, the samples to judge by are the same.
void TestCliPyTorch::tellsOfAnotherTest() {
    const auto table = [this](const char* name) {
        QFile file(path(name));
        if (!file.open(QIODevice::WriteOnly)) return QString();
        file.write("a,b,kind\n");
        for (int i = 0; i < 20; ++i)
            file.write(QByteArray::number(i) + "," + QByteArray::number(i * i % 7) +
                       (i % 2 == 0 ? ",low\n" : ",high\n"));
        return file.fileName();
    };
    const Outcome printed =
        call({"pytorch", table("table.csv"), "--set", "data.validation_path=" + table("judge.csv"),
              "--set", "data.test_share=0.5"});
    QVERIFY2(printed.code == 0, printed.error);
    QVERIFY(printed.out.contains(
        "The samples to judge by are divided at random into those to validate on and those of the "
        "test, so\nboth differ from Halfscope's, and so do the figures. With SAMPLES.safetensors "
        "they are the same.\n"));
    QVERIFY(!printed.out.contains("The samples to validate on are chosen at random"));
}

/// Its program has no use for the function that predicts in batches.
void TestCliPyTorch::aGanJudgesNothing() {
    QFile table(path("numbers.csv"));
    QVERIFY(table.open(QIODevice::WriteOnly));
    table.write("a,b,target\n");
    for (int i = 0; i < 20; ++i)
        table.write(QByteArray::number(std::sin(i)) + "," + QByteArray::number(std::cos(2 * i)) +
                    "," + QByteArray::number(std::sin(3 * i)) + "\n");
    table.close();
    const QStringList settings{"pytorch", table.fileName(), "--set",
                               "model.layers=nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4, "
                               "track_running_stats=False), nn.Linear(4, 1))"};
    const Outcome judged = call(settings);
    QVERIFY2(judged.code == 0, judged.error);
    QVERIFY(judged.out.contains("def predict("));
    const Outcome gan = call(settings + QStringList{"--set", "model.adversary=gan", "--set",
                                                    "model.critic=nn.Linear(1, 1)"});
    QVERIFY2(gan.code == 0, gan.error);
    QVERIFY(!gan.out.contains("def predict("));
}

/// As a stranger runs it: its last loss is ours, which on samples of PyTorch's own it would not be.
/// It takes no other file for that of the samples.
void TestCliPyTorch::theProgramTrainsOnThem() {
    if (lacksPython()) QSKIP(lacksPython());
    const QStringList settings{"--preset", "curve-fit", "--lanes", "fp32", "--steps", "40"};
    const QString weights = path("start.safetensors"), samples = path("samples.safetensors");
    const Outcome printed = call(QStringList{"pytorch"} + settings +
                                 QStringList{"--weights-out", weights, "--samples-out", samples});
    QVERIFY2(printed.code == 0, printed.error);
    writeFileAtomically(path("program.py").toStdString(), printed.out.toStdString());
    const Outcome run = call(QStringList{"run"} + settings +
                             QStringList{"--device", "cpu", "--quiet", "--out", path("curve")});
    QVERIFY2(run.code == 0, run.error);
    const QList<QByteArray> rows = contentOf(path("curve") + "/steps.csv").trimmed().split('\n');
    const double ours = rows.back().split(',').at(2).toDouble();
    const auto runWith = [&](const QStringList& files) {
        QProcess theirs;
        theirs.start(qEnvironmentVariable("HALFSCOPE_PYTHON"),
                     QStringList{path("program.py"), weights} + files);
        return outcomeOf(theirs);
    };
    const auto atTheEnd = [](const Outcome& ended) {
        const QString out = QString::fromUtf8(ended.out);
        return out.section("fp32: loss ", 1).section(' ', 0, 0).toDouble();
    };
    const Outcome fed = runWith({samples}), drawn = runWith({});
    QVERIFY2(fed.code == 0, fed.error);
    QVERIFY2(drawn.code == 0, drawn.error);
    QVERIFY2(std::abs(atTheEnd(fed) - ours) < 1e-4 * ours, fed.out);
    QVERIFY2(std::abs(atTheEnd(drawn) - ours) > 1e-2 * ours, drawn.out);
    const Outcome twice = runWith({weights});
    QCOMPARE(twice.code, 1);
    QVERIFY2(twice.error == weights.toUtf8() + " is not a file of --samples-out\n", twice.error);
    const QString others = path("others.safetensors");
    const Outcome other = call({"pytorch", "--preset", "moons", "--steps", "2", "--weights-out",
                                path("moons.safetensors"), "--samples-out", others});
    QVERIFY2(other.code == 0, other.error);
    const Outcome refused = runWith({others});
    QCOMPARE(refused.code, 1);
    QVERIFY2(refused.error.startsWith(others.toUtf8() + " has the samples of another experiment: "
                                                        "x is [2] of torch.float32"),
             refused.error);
}

} // namespace tst_cli_pytorch

QTEST_GUILESS_MAIN(tst_cli_pytorch::TestCliPyTorch)
#include "tst_cli_pytorch.moc"
