// Runs that begin with a part of a state dict, or with one of other names, from outside: what is
// said, recorded and gone on from. Which weights the lanes begin with: tst_partial_weights,
// tst_weight_pairs.
#include "tests/support/cli.h"
#include "tests/support/named_weights.h"
#include "tests/support/part_of_weights.h"

#include <QTemporaryDir>
#include <QTest>

namespace tst_cli_partial {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Returns the arguments of a short run of a network with the weights 1.weight, 1.bias, 3.weight
/// and 3.bias.
QStringList shortRun(const QString& out, const QStringList& more = {}) {
    const QStringList words{
        "run",
        "--preset",
        "mnist-mlp",
        "--device",
        "cpu",
        "--steps",
        "12",
        "--lanes",
        "fp32,amp-fp16",
        "--set",
        "task.batch=33",
        "--set",
        "validation.epochs=0",
        "--set",
        "model.layers=nn.Sequential(nn.Flatten(), nn.Linear(784, 8), nn.ReLU(), nn.Linear(8, "
        "10))"};
    return words + QStringList{"--out", out} + more;
}

QByteArray told(const Outcome& outcome) {
    return QByteArray::number(outcome.code) + ": " + outcome.out + outcome.error;
}

} // namespace

class TestCliPartial : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void takesWhatFits();
    void goesOn();
    void judgesWholeNetworks();
    void otherNames();
    void groups();
    void refuses_data();
    void refuses();

private:
    QString path(const char* name) const { return m_folder.filePath(name); }
    QString first() const { return path("first"); }
    QString second() const { return path("second"); }
    QString part() const { return path("part.safetensors"); }
    QTemporaryDir m_folder;
};

void TestCliPartial::initTestCase() {
    const Outcome outcome = call(shortRun(first()));
    QVERIFY2(outcome.code == 0, told(outcome));
    partOfWeights((first() + "/weights_fp32.safetensors").toStdString(), part().toStdString(),
                  {"3.weight", "3.bias"}, {"fc.weight"});
    const QStringList more{"--weights", part(), "--partial", "--checkpoint-every", "5"};
    const Outcome partial = call(shortRun(second(), more));
    QVERIFY2(partial.code == 0, told(partial));
    const QByteArray said = "Weights: 2 of 4 tensors of the network come from " + part().toUtf8() +
                            "; initial values stay in: 3.weight, 3.bias; ignored: fc.weight\n";
    QVERIFY2(partial.error.contains(said), told(partial));
}

void TestCliPartial::takesWhatFits() {
    const QByteArray written = contentOf(second() + "/experiment.json");
    QVERIFY(written.contains("\"partial_weights\": true"));
    QVERIFY(written.contains("\"weights\": \"" + part().toUtf8() + "\""));
    const auto row = [](const QString& out) {
        return contentOf(out + "/steps.csv").split('\n').at(1);
    };
    QVERIFY(row(second()) != row(first()));
    // what was saved does it again
    const QString again = path("again");
    const Outcome outcome = call({"run", second(), "--out", again});
    QVERIFY2(outcome.code == 0, told(outcome));
    QCOMPARE(contentOf(again + "/steps.csv"), contentOf(second() + "/steps.csv"));
    // but what was said of that file holds for no other one
    const Outcome other = call({"run", second(), "--weights", part(), "--quiet"});
    QVERIFY2(other.code == 2 && other.error.contains("missing: 3.weight, 3.bias"), told(other));
}

/// The checkpoint knows that the file need not have all weights.
void TestCliPartial::goesOn() {
    const QString resumed = path("resumed");
    const Outcome outcome =
        call({"run", "--resume", second() + "/checkpoint-before.safetensors", "--out", resumed});
    QVERIFY2(outcome.code == 0, told(outcome));
    QVERIFY2(!outcome.error.contains("Weights:"), told(outcome)); // they are the checkpoint's
    QCOMPARE(contentOf(resumed + "/steps.csv"), contentOf(second() + "/steps.csv"));
    QVERIFY(contentOf(resumed + "/experiment.json").contains("\"partial_weights\": true"));
}

void TestCliPartial::judgesWholeNetworks() {
    const Outcome own = call({"evaluate", second()});
    QVERIFY2(own.code == 0, told(own));
    const Outcome other = call({"evaluate", second(), "--weights", part()});
    QVERIFY2(other.code == 2 && other.saysOneLine() &&
                 other.error.endsWith("missing: 3.weight, 3.bias; unexpected: fc.weight\n"),
             told(other));
}

/// A run and an evaluation say which names stand for which.
void TestCliPartial::otherNames() {
    const std::string file =
        renamedWeights((first() + "/weights_fp32.safetensors").toStdString(),
                       path("renamed.safetensors").toStdString(), [](const std::string& name) {
                           return (name.starts_with("1.") ? "fc1" : "fc2") + name.substr(1);
                       });
    const QString out = path("renamed");
    const Outcome run = call(shortRun(out, {"--weights", QString::fromStdString(file)}));
    QVERIFY2(run.code == 0, told(run));
    const QByteArray said =
        "Weights: the layers in " + QByteArray::fromStdString(file) +
        " have other names than the network's and were matched by their shapes, those of the same "
        "shapes in ascending order of the numbers in their names (forward() may use them in "
        "another order): fc1.weight → 1.weight, fc1.bias → 1.bias, fc2.weight → 3.weight, fc2.bias "
        "→ 3.bias\n";
    QVERIFY2(run.error.contains(said), told(run));
    const Outcome judged = call({"evaluate", out, "--weights", QString::fromStdString(file)});
    QVERIFY2(judged.code == 0 && judged.error.contains(said), told(judged));
    const Outcome own = call({"evaluate", first()});
    QVERIFY2(own.code == 0 && !own.error.contains("matched by their shapes"), told(own));
}

/// A run and an evaluation say which group they take.
void TestCliPartial::groups() {
    const std::string own = (first() + "/weights_fp32.safetensors").toStdString();
    const std::string file =
        renamedWeights(own, path("group.safetensors").toStdString(), [](const std::string& name) {
            return name == "3.bias" ? "ema.3.bias" : "model." + name;
        });
    const QByteArray said =
        QByteArray::fromStdString(file) + ": the group model. is used; left out: ema.";
    const QString given = QString::fromStdString(file);
    const Outcome run = call(shortRun(path("group"), {"--weights", given, "--partial"}));
    QVERIFY2(run.code == 0 && run.error.contains("Weights: " + said + "; 3 of 4 tensors"),
             told(run));
    const Outcome whole = call({"evaluate", first(), "--weights", given});
    QVERIFY2(whole.code == 2 && whole.saysOneLine() &&
                 whole.error.contains("the group model. is used; left out: ema.; missing: 3.bias"),
             told(whole));
    const std::string wrapped =
        renamedWeights(own, file, [](const std::string& name) { return "net." + name; });
    const Outcome judged =
        call({"evaluate", first(), "--weights", QString::fromStdString(wrapped)});
    QVERIFY2(judged.code == 0 &&
                 judged.error.contains("all its names begin with net.; this prefix is ignored\n"),
             told(judged));
    QCOMPARE(judged.out,
             call({"evaluate", first(), "--weights", first() + "/weights_fp32.safetensors"}).out);
}

void TestCliPartial::refuses_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("about");
    const auto row = [](const char* name, const QStringList& arguments, const char* about) {
        QTest::newRow(name) << arguments << QByteArray(about);
    };
    const QString out = path("refused"), foreign = path("foreign.safetensors");
    partOfWeights((first() + "/weights_fp32.safetensors").toStdString(), foreign.toStdString(),
                  {"1.weight", "1.bias", "3.weight", "3.bias"}, {"fc.weight"});
    row("not asked for", shortRun(out, {"--weights", part()}),
        "missing: 3.weight, 3.bias; unexpected: fc.weight; with model.partial_weights (--partial "
        "on the command line), the 2 of 4 "
        "tensors that fit are taken");
    row("without a file", shortRun(out, {"--partial"}),
        "--partial: --weights is missing, the file of which the tensors that fit are taken");
    row("nothing fits", shortRun(out, {"--weights", foreign, "--partial"}),
        "nothing in it fits the network: missing: 1.weight, 1.bias, 3.weight, 3.bias; unexpected: "
        "fc.weight");
    row("another shape",
        shortRun(out, {"--weights", part(), "--partial", "--set",
                       "model.layers=nn.Sequential(nn.Flatten(), nn.Linear(784, 9), nn.ReLU(), "
                       "nn.Linear(9, 10))"}),
        "1.bias has the shape (8,), the network (9,)");
    row("with a checkpoint", {"run", "--resume", second(), "--partial"},
        "--partial and --resume: give one of them; the checkpoint has the whole experiment");
}

void TestCliPartial::refuses() {
    QFETCH(const QStringList, arguments);
    QFETCH(const QByteArray, about);
    const Outcome outcome = call(arguments);
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.saysOneLine() && outcome.error.contains(about), told(outcome));
    QVERIFY(!QDir(path("refused")).exists());
}

} // namespace tst_cli_partial

QTEST_GUILESS_MAIN(tst_cli_partial::TestCliPartial)
#include "tst_cli_partial.moc"
