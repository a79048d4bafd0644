// The best validation of a run from outside: what the closing line tells, and the weights that
// --keep-best keeps.
#include "engine/io/atomic_file.h"
#include "engine/train/checkpoint.h"
#include "tests/support/cli_folder.h"

#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTest>

#include <cmath>

namespace tst_cli_best {

using namespace halfscope;
using namespace halfscope::test;

class TestCliBest : public CliFolderTest {
    Q_OBJECT

private slots:
    void initTestCase();
    void isTold();
    void overfittingIsTold();
    void isKept();
    void goesOn();
    void isNotForgotten();
    void nothingBetterComes();
    void othersAreNotTaken();
    void aLossIsNoAccuracy();
    void forksBeginWithIt();
    void lanesWithoutNumbers();
    void accuracyOfNothing();
    void aloneItIsNamed();
    void filesTooLargeForTheDisk();
    void refuses_data();
    void refuses();

private:
    /// Returns a run of FP32 into a folder, with validations after every second step.
    QStringList runInto(const QString& out, const QStringList& more) const {
        return QStringList{"run",
                           m_table,
                           "--device",
                           "cpu",
                           "--lanes",
                           "fp32",
                           "--set",
                           "validation.steps=2",
                           "--set",
                           "validation.epochs=0",
                           "--checkpoint-every",
                           "2",
                           "--keep-best",
                           "--out",
                           out} +
               more;
    }
    /// Steps that are too large: the loss becomes worse and worse.
    const QStringList m_diverging{"--set", "optimizer.kind=sgd", "--set", "optimizer.lr=0.5"};
    QString m_table;
};

namespace {

QString bestOf(const QString& folder) { return folder + "/best_fp32.safetensors"; }

} // namespace

void TestCliBest::initTestCase() {
    std::string text = "a,price\n";
    for (int i = 0; i < 60; ++i)
        text += std::to_string(i) + "," + std::to_string(100 * i + i % 7) + "\n";
    m_table = file("prices.csv", text);
}

void TestCliBest::isTold() {
    const Outcome outcome = call(runInto(path("told"), m_diverging + QStringList{"--steps", "4"}));
    QVERIFY2(outcome.code == 0, outcome.error);
    const QJsonValue lane = firstLaneIn(path("told/summary.json"));
    QCOMPARE(lane["best_validation_loss_step"].toInt(), 2);
    const double loss = lane["best_validation_loss"].toDouble();
    QVERIFY(loss > 0 && loss < lane["validation_loss"].toDouble());
    const QRegularExpression line("\nBest validation: loss (\\S+) after step 2 \\(fp32\\)\n");
    const auto best = line.match(QString::fromUtf8(outcome.out));
    QVERIFY2(best.hasMatch(), outcome.out);
    QVERIFY2(std::abs(best.captured(1).toDouble() / loss - 1) < 1e-5, outcome.out); // six digits
    const Outcome converging =
        call({"run", m_table, "--device", "cpu", "--set", "validation.steps=2", "--set",
              "validation.epochs=0", "--steps", "2"});
    QVERIFY2(converging.code == 0, converging.error);
    QVERIFY2(!converging.out.contains("Best"), converging.out); // the last one is the best
}

/// Nothing can be learnt of noise but the samples themselves.
void TestCliBest::overfittingIsTold() {
    std::string text = "a,b,price\n";
    int64_t random = 1;
    for (int i = 0; i < 240; ++i) {
        random = random * 16807 % 2147483647;
        text += std::to_string(random % 1000) + (i % 3 == 2 ? "\n" : ",");
    }
    const QString noise = file("noise.csv", text);
    const auto told = [&](const char* steps) {
        return call({"run", noise, "--device", "cpu", "--lanes", "fp32", "--steps", steps, "--set",
                     "optimizer.lr=0.01"})
            .out;
    };
    const QByteArray line = "\nfp32 overfits: since its best validation its training loss has "
                            "fallen, but its validation loss has risen.\n";
    const QByteArray all = told("300");
    QVERIFY2(all.contains(line) && all.contains("\nBest validation: loss "), all);
    QVERIFY(!told("10").contains("overfits"));
}

/// The file has the weights of the validation that the line tells.
void TestCliBest::isKept() {
    const QString folder = path("told");
    QVERIFY(QFileInfo::exists(bestOf(folder)));
    const auto lossOf = [&](const QStringList& more) {
        const QString out = path("scores");
        const Outcome judged = call(QStringList{"evaluate", folder, "--out", out} + more);
        if (judged.code != 0) return std::nan("");
        if (!more.isEmpty() && !judged.error.contains("best_fp32.safetensors (after step 2)\n"))
            return std::nan("");
        return firstLaneIn(out + "/scores.json")["loss"].toDouble();
    };
    const QJsonValue lane = firstLaneIn(folder + "/summary.json");
    QCOMPARE(lossOf({"--best"}), lane["best_validation_loss"].toDouble());
    QCOMPARE(lossOf({}), lane["validation_loss"].toDouble());
}

/// A run that goes on in its folder replaces the weights by better ones, also without being asked.
void TestCliBest::goesOn() {
    const QString folder = path("better");
    const Outcome first = call(runInto(folder, {"--steps", "4", "--set", "optimizer.lr=0.001"}));
    QVERIFY2(first.code == 0, first.error);
    const QByteArray early = contentOf(bestOf(folder));
    QVERIFY(!early.isEmpty());
    const Outcome second = call({"run", "--resume", folder, "--out", folder, "--steps", "12"});
    QVERIFY2(second.code == 0, second.error);
    QVERIFY(contentOf(bestOf(folder)) != early);
    QCOMPARE(firstLaneIn(folder + "/summary.json")["best_validation_loss_step"].toInt(), 12);
    QVERIFY(call({"evaluate", folder, "--best"}).error.contains("(after step 12)"));
    // a new run in the same folder begins without them
    const Outcome fresh = call(
        {"run", m_table, "--device", "cpu", "--lanes", "fp32", "--steps", "2", "--out", folder});
    QVERIFY2(fresh.code == 0, fresh.error);
    QVERIFY(!QFileInfo::exists(bestOf(folder)));
}

/// A run that was killed before its first validation keeps them when it goes on.
void TestCliBest::isNotForgotten() {
    const QString folder = path("early"), checkpoint = folder + "/checkpoint.safetensors";
    QStringList words = runInto(folder, {"--steps", "1000000"}); // validated at the end alone
    words.replaceInStrings("validation.steps=2", "validation.steps=0");
    QProcess process;
    process.start(program(), words);
    while (!QFileInfo::exists(checkpoint))
        QVERIFY(!process.waitForFinished(1));
    process.kill();
    QVERIFY(process.waitForFinished(kPatience));
    QVERIFY(!QFileInfo::exists(bestOf(folder)));
    const int64_t step = readCheckpoint(checkpoint.toStdString()).step + 2;
    const Outcome outcome =
        call({"run", "--resume", folder, "--out", folder, "--steps", QString::number(step)});
    QVERIFY2(outcome.code == 0, outcome.error);
    QVERIFY(QFileInfo::exists(bestOf(folder)));
    // one that was not asked to does not begin with it
    const QString plain = path("never");
    words = runInto(plain, {"--steps", "2"});
    words.removeAll("--keep-best");
    QCOMPARE(call(words).code, 0);
    QCOMPARE(call({"run", "--resume", plain, "--out", plain, "--steps", "4"}).code, 0);
    QVERIFY(!QFileInfo::exists(bestOf(plain)));
}

/// They stay as they are, and go with the run into another folder.
void TestCliBest::nothingBetterComes() {
    const QString folder = path("told"), other = path("elsewhere");
    const QByteArray best = contentOf(bestOf(folder));
    for (const QString& out : {other, folder}) {
        const Outcome more =
            call({"run", "--resume", folder, "--out", out, "--keep-best", "--steps", "6"});
        QVERIFY2(more.code == 0, more.error);
        QVERIFY2(more.out.contains(" after step 2 (fp32)\n"), more.out);
        QCOMPARE(contentOf(bestOf(out)), best);
    }
}

/// Weights of another step, or no weights at all, are not this run's.
void TestCliBest::othersAreNotTaken() {
    const QString folder = path("others");
    const Outcome first = call(runInto(folder, m_diverging + QStringList{"--steps", "4"}));
    QVERIFY2(first.code == 0, first.error);
    const QByteArray last = contentOf(folder + "/weights_fp32.safetensors");
    for (const QByteArray& foreign : {last, QByteArray("no weights")}) {
        writeFileAtomically(bestOf(folder).toStdString(), foreign.toStdString());
        const Outcome again = call({"run", "--resume", folder, "--out", folder});
        QVERIFY2(again.code == 0, again.error);
        QVERIFY2(again.error.contains("best_fp32.safetensors: the weights after the best "
                                      "validation so far, that of step 2, are not there; it "
                                      "begins with the next one.\n"),
                 again.error);
        QVERIFY(!QFileInfo::exists(bestOf(folder)));
    }
}

/// Earlier versions measured no accuracy of two classes as one output: their best is a loss, which
/// no accuracy may have to exceed.
void TestCliBest::aLossIsNoAccuracy() {
    std::string text = "a,b,y\n";
    for (int i = 0; i < 60; ++i)
        text += std::to_string(i % 17) + "," + std::to_string(i * 7 % 23) +
                (i % 3 == 0 ? ",1\n" : ",0\n");
    const QString folder = path("sides"), rows = folder + "/steps.csv";
    QStringList words = runInto(folder, {"--steps", "2", "--set", "task.loss=bce-with-logits"});
    words[1] = file("sides.csv", text);
    const Outcome first = call(words);
    QVERIFY2(first.code == 0, first.error);
    QByteArrayList lines = contentOf(rows).trimmed().split('\n');
    const QByteArrayList names = lines.first().split(',');
    QByteArrayList values = lines.last().split(',');
    values[names.indexOf("validation_loss")] = "7.5";
    for (const char* const unknown : {"accuracy", "training_accuracy"})
        values[names.indexOf(unknown)].clear();
    lines.last() = values.join(',');
    writeFileAtomically(rows.toStdString(), lines.join('\n').toStdString() + "\n");
    const Outcome more = call({"run", "--resume", folder, "--out", folder, "--steps", "4"});
    QVERIFY2(more.code == 0, more.error);
    QVERIFY(call({"evaluate", folder, "--best"}).error.contains("(after step 4)"));
}

/// A fork that never is better than its parent was before has the weights of its parent.
void TestCliBest::forksBeginWithIt() {
    QJsonObject json = QJsonDocument::fromJson(contentOf(path("told/experiment.json"))).object();
    json["forks"] = QJsonArray{
        QJsonObject{{"step", 3}, {"parent", 0}, {"lane", QJsonObject{{"precision", "fp32"}}}}};
    const QString out = path("forked");
    const Outcome outcome =
        call({"run", file("fork.json", QJsonDocument(json).toJson().toStdString()), "--keep-best",
              "--out", out});
    QVERIFY2(outcome.code == 0, outcome.error);
    QVERIFY2(outcome.out.contains(" after step 2 (fp32-2)\n"), outcome.out);
    const QByteArray best = contentOf(bestOf(out));
    QVERIFY(!best.isEmpty());
    const QString forks = out + "/best_fp32-2.safetensors";
    QCOMPARE(contentOf(forks), best);
    // a checkpoint at the last common step has the fork, but none of its rows
    QDir(out).removeRecursively();
    const Outcome early =
        call({"run", file("fork.json", QJsonDocument(json).toJson().toStdString()), "--keep-best",
              "--out", out, "--checkpoint-every", "2", "--steps", "2"});
    QVERIFY2(early.code == 0, early.error);
    const Outcome late = call({"run", "--resume", out, "--out", out, "--steps", "4"});
    QVERIFY2(late.code == 0, late.error);
    QVERIFY2(late.out.contains(" after step 2 (fp32-2)\n"), late.out);
    QVERIFY2(!late.error.contains("not there"), late.error);
    QCOMPARE(contentOf(bestOf(out)), best);
    QCOMPARE(contentOf(forks), best);
}

/// A lane that never came to a number is left out, by its name.
void TestCliBest::lanesWithoutNumbers() {
    const QString out = path("nan");
    const Outcome outcome =
        call({"run", m_table, "--device", "cpu", "--lanes", "fp32,fp16", "--steps", "4", "--set",
              "validation.steps=2", "--set", "validation.epochs=0", "--set", "optimizer.lr=3",
              "--set", "optimizer.kind=sgd", "--keep-best", "--out", out});
    QVERIFY2(outcome.code == 0, outcome.error);
    QVERIFY(QFileInfo::exists(bestOf(out)));
    QVERIFY(!QFileInfo::exists(out + "/best_fp16.safetensors"));
    const Outcome judged = call({"evaluate", out, "--best"});
    QVERIFY2(judged.code == 0, judged.error);
    QVERIFY2(judged.error.contains("fp16 is left out: it has no weights after a best validation\n"),
             judged.error);
    QVERIFY2(!judged.out.contains("fp16"), judged.out);
}

/// Nor do predictions of nan have a best. Their accuracy is nan, as in the tables.
void TestCliBest::accuracyOfNothing() {
    const QString out = path("nothing");
    const Outcome outcome = call({"run",
                                  "--preset",
                                  "moons",
                                  "--device",
                                  "cpu",
                                  "--lanes",
                                  "fp32,fp16",
                                  "--steps",
                                  "8",
                                  "--set",
                                  "validation.steps=8",
                                  "--set",
                                  "validation.epochs=0",
                                  "--set",
                                  "optimizer.lr=1000",
                                  "--set",
                                  "optimizer.kind=sgd",
                                  "--keep-best",
                                  "--out",
                                  out});
    QVERIFY2(outcome.code == 0, outcome.error);
    const QJsonArray lanes =
        QJsonDocument::fromJson(contentOf(out + "/summary.json"))["lanes"].toArray();
    QVERIFY(lanes[1]["validation_loss"].toString() == "nan");
    QCOMPARE(lanes[1]["accuracy"].toString(), QString("nan"));
    QCOMPARE(lanes[1]["training_accuracy"].toString(), QString("nan"));
    QVERIFY(!lanes[1].toObject().contains("best_accuracy"));
    QVERIFY(!QFileInfo::exists(out + "/best_fp16.safetensors"));
    const Outcome judged = call({"evaluate", out, "--out", path("judged")});
    QVERIFY2(judged.code == 0, judged.error);
    const QJsonValue scores =
        QJsonDocument::fromJson(contentOf(path("judged") + "/scores.json"))["lanes"][1];
    QCOMPARE(scores["accuracy"].toString(), QString("nan"));
    QCOMPARE(scores["loss"].toString(), QString("nan"));
}

/// What the run came to may be gone, but then not all that it learnt is.
void TestCliBest::aloneItIsNamed() {
    const QString out = path("alone");
    const Outcome trained = call(runInto(out, {"--steps", "4"}));
    QVERIFY2(trained.code == 0, trained.error);
    for (const char* file :
         {"/weights_fp32.safetensors", "/checkpoint.safetensors", "/checkpoint-before.safetensors"})
        QFile::remove(out + file); // the last one is not in every folder
    const Outcome refused = call({"evaluate", out});
    QCOMPARE(refused.code, 2);
    QCOMPARE(QString::fromUtf8(refused.error.trimmed()),
             "halfscope-cli: " + out +
                 ": neither weights_fp32.safetensors nor checkpoint.safetensors is there, but "
                 "best_fp32.safetensors is, the weights after the best validation; halfscope-cli "
                 "evaluate --best judges them");
    const Outcome judged = call({"evaluate", out, "--best"});
    QVERIFY2(judged.code == 0, judged.error);
}

/// Neither the best weights nor those of the end have room: the run goes on without them, and keeps
/// all the rest.
void TestCliBest::filesTooLargeForTheDisk() {
    const QString out = path("full");
    QStringList words = runInto(out, {"--steps", "6", "--set",
                                      "model.layers=nn.Sequential(nn.Linear(1, 40000), "
                                      "nn.Linear(40000, 1))"});
    words.replaceInStrings("--checkpoint-every", "--gradients");
    const Outcome outcome = callShell("ulimit -f 800; exec \"$0\" \"$@\"", words); // 400 KiB
    QVERIFY2(outcome.code == 1, outcome.error);
    const QByteArray tooLarge = "_fp32.safetensors: cannot write: File too large";
    QCOMPARE(outcome.error.count("/best" + tooLarge +
                                 "; the best weights of fp32, those of step 2,"
                                 " are not there, and the run goes on\n"),
             qsizetype{1});
    QCOMPARE(outcome.error.count("/best"), qsizetype{1});
    QVERIFY2(outcome.error.endsWith("/weights" + tooLarge + "\n"), outcome.error);
    QVERIFY2(outcome.out.contains("\nBest weights: those of step 2 (fp32) are missing: "),
             outcome.out);
    QCOMPARE(contentOf(out + "/steps.csv").count('\n'), qsizetype{1 + 6});
    QCOMPARE(QJsonDocument::fromJson(contentOf(out + "/summary.json"))["steps"].toInt(), 6);
    QVERIFY(QFileInfo::exists(out + "/output_fp32.png"));
    QVERIFY(!QFileInfo::exists(bestOf(out)));
}

void TestCliBest::refuses_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("message");
    QTest::newRow("no folder") << QStringList{"run", "--preset", "mnist-mlp", "--keep-best"}
                               << "--keep-best: --out is missing, the folder that the weights are "
                                  "written into";
    QTest::newRow("no validation")
        << QStringList{"run", "--preset", "checkerboard", "--keep-best", "--out", path("none")}
        << "--keep-best: there are no samples to validate on; data.validation holds back a share "
           "of some kinds of data";
    QTest::newRow("none drawn")
        << QStringList{"run", "--set", "data.kind=curve", "--keep-best", "--out", path("none")}
        << "--keep-best: there are no samples to validate on; task.validation_samples sets how "
           "many there are";
    QTest::newRow("not kept")
        << QStringList{"evaluate", path("plain"), "--best"}
        << path("plain") + ": best_fp32.safetensors is not there; halfscope-cli run --keep-best "
                           "writes it after the first validation that gives a number";
    QTest::newRow("no run") << QStringList{"evaluate", "--preset", "mnist-mlp", "--best"}
                            << "evaluate: --best needs the folder of a run, without --weights; "
                               "halfscope-cli run --keep-best writes the weights after the best "
                               "validation into it";
}

void TestCliBest::refuses() {
    QFETCH(const QStringList, arguments);
    QFETCH(const QString, message);
    if (arguments.contains(path("plain")))
        QCOMPARE(
            call({"run", m_table, "--device", "cpu", "--steps", "2", "--out", path("plain")}).code,
            0);
    const Outcome outcome = call(arguments);
    QCOMPARE(outcome.code, 2);
    QCOMPARE(QString::fromUtf8(outcome.error.trimmed()), "halfscope-cli: " + message);
}

} // namespace tst_cli_best

QTEST_GUILESS_MAIN(tst_cli_best::TestCliBest)
#include "tst_cli_best.moc"
