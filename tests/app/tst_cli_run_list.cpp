// halfscope-cli runs FOLDER from outside: a table of the saved runs in a folder.
#include "engine/runs/metrics.h"
#include "engine/runs/run_reader.h"
#include "tests/support/cli.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

namespace tst_cli_run_list {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Returns the arguments of a run on digits, which is validated at its end.
QStringList digits(const QString& out, const char* steps, const char* lanes) {
    return {"run",
            "--preset",
            "mnist-mlp",
            "--device",
            "cpu",
            "--steps",
            steps,
            "--lanes",
            lanes,
            "--set",
            "task.batch=33",
            "--set",
            "validation.epochs=0",
            "--set",
            "model.layers=nn.Sequential(nn.Flatten(), nn.Linear(784, 8), nn.ReLU(), nn.Linear(8, "
            "10))",
            "--out",
            out};
}

void put(const QString& path, const QByteArray& text) {
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
}

} // namespace

class TestCliRunList : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void tellsOfEachRun();
    void orders_data();
    void orders();
    void unreadableOnesAreNamed();
    void outputsThatAreNan();
    void refuses_data();
    void refuses();

private:
    QString all() const { return m_folder.filePath("all"); }
    QString path(const char* name) const { return all() + '/' + name; }
    /// Returns the cells of the lines of a table, the heading's first.
    static QList<QStringList> cellsOf(const QByteArray& table) {
        QList<QStringList> rows;
        for (const QString& line : QString::fromUtf8(table).split('\n', Qt::SkipEmptyParts))
            rows << line.split(' ', Qt::SkipEmptyParts);
        return rows;
    }
    QTemporaryDir m_folder;
};

void TestCliRunList::initTestCase() {
    QVERIFY(QDir().mkpath(all()));
    QCOMPARE(call(digits(path("run2"), "1", "fp32,amp-fp16")).code, 0);
    QCOMPARE(call(digits(path("run10"), "200", "fp32")).code, 0);
    QCOMPARE(call(smallRun(path("picture"))).code, 0);
    QVERIFY(QDir().mkpath(path("notes"))); // no run
    put(path("notes/readme.txt"), "text");
    put(path("steps.csv"), "step"); // not a folder
}

void TestCliRunList::tellsOfEachRun() {
    const Outcome outcome = call({"runs", all(), "--order", "name"});
    QVERIFY2(outcome.code == 0 && outcome.error.isEmpty(), outcome.error);
    const QList<QStringList> rows = cellsOf(outcome.out);
    QCOMPARE(rows.size(), 4);
    QCOMPARE(rows[0].join(' '), QString("name lanes steps outcome loss last validation"));
    QCOMPARE(rows[1].mid(0, 4), QStringList({"picture", "fp32,amp-fp16", "12", "finished"}));
    QCOMPARE(rows[1].at(4).count(','), 1);
    QCOMPARE(rows[1].at(6), QString("-"));
    const auto run = readRun(path("run10").toStdString());
    const RunSnapshot& now = run->now();
    const auto number = [](double x, int digits) { return QString::number(x, 'g', digits); };
    QCOMPARE(rows[3], QStringList({"run10", "fp32", "200", "finished",
                                   number(now.trailingMedian(0, metric::Loss, 25), 6),
                                   number(now.column(0, metric::Loss).lastValue(), 6),
                                   number(100 * now.totals(0).accuracy().value(), 4) + '%'}));
    QVERIFY(rows[3].at(4) != rows[3].at(5));
    // columns are aligned
    const QList<QByteArray> lines = outcome.out.split('\n');
    const qsizetype column = lines[0].indexOf("lanes");
    for (const QByteArray& line : lines.mid(1, 3))
        QVERIFY2(line.mid(column).startsWith("fp32") && line[column - 1] == ' ', line);
}

void TestCliRunList::orders_data() {
    QTest::addColumn<QStringList>("order");
    QTest::addColumn<QStringList>("names");
    const QStringList best{"run10", "run2", "picture"}; // which has no validation
    QTest::newRow("usual") << QStringList{} << best;
    QTest::newRow("validation") << QStringList{"--order", "validation"} << best;
    QTest::newRow("name") << QStringList{"--order", "name"}
                          << QStringList{"picture", "run2", "run10"};
    QTest::newRow("loss") << QStringList{"--order", "loss"} << QStringList{};
}

void TestCliRunList::orders() {
    QFETCH(const QStringList, order);
    QFETCH(const QStringList, names);
    const Outcome outcome = call(QStringList{"runs", all()} + order);
    QVERIFY2(outcome.code == 0, outcome.error);
    QStringList found;
    QList<double> losses;
    for (const QStringList& row : cellsOf(outcome.out).mid(1)) {
        found << row.at(0);
        const QStringList lanes = row.at(4).split(',');
        losses << lanes.first().toDouble();
        for (const QString& lane : lanes)
            losses.last() = std::min(losses.last(), lane.toDouble());
    }
    if (!names.isEmpty())
        QCOMPARE(found, names);
    else
        QVERIFY(losses.size() == 3 && std::is_sorted(losses.begin(), losses.end()));
}

void TestCliRunList::unreadableOnesAreNamed() {
    QVERIFY(QDir().mkpath(path("torn")));
    put(path("torn/experiment.json"), "{");
    const Outcome outcome = call({"runs", all()});
    QVERIFY(QFile::remove(path("torn/experiment.json")));
    QCOMPARE(outcome.code, 0);
    QCOMPARE(cellsOf(outcome.out).size(), 4);
    QVERIFY2(outcome.error.startsWith("torn cannot be read: " + path("torn").toUtf8()) &&
                 outcome.error.count('\n') == 1,
             outcome.error);
}

/// Of weights that are nan no class is found: an accuracy of 0 % would say that all are wrong.
void TestCliRunList::outputsThatAreNan() {
    const QTemporaryDir folder;
    const QStringList words = digits(folder.filePath("lost"), "6", "fp16");
    const Outcome outcome = call(words + QStringList{"--set", "optimizer.kind=adam"});
    QVERIFY2(outcome.code == 0, outcome.error);
    const QRegularExpression row("\\nfp16 +nan +nan ");
    QVERIFY2(QString::fromUtf8(outcome.out).contains(row), outcome.out);
    const Outcome list = call({"runs", folder.path()});
    QCOMPARE(cellsOf(list.out).value(1).value(6), QString("nan"));
}

void TestCliRunList::refuses_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("about");
    const auto row = [](const char* name, const QStringList& arguments, const QByteArray& about) {
        QTest::newRow(name) << arguments << about;
    };
    row("another order", {all(), "--order", "size"},
        "runs: --order: \"size\" is not allowed: validation, loss or name");
    row("no run in it", {path("notes")},
        "runs: no folder in " + path("notes").toUtf8() + " holds a saved run");
    row("a run's folder", {path("run2")},
        "runs: " + path("run2").toUtf8() + " is the folder of a run; name the folder around it");
    row("no folder", {path("nowhere")},
        "runs: there is no folder \"" + path("nowhere").toUtf8() + "\"\n");
    row("no action", {"nowhere"},
        "is not allowed: list, show, export or delete, or a folder with saved runs");
    row("a run behind it", {all(), "run2"}, "\"run2\" is one argument too many behind a folder");
    row("to write into", {all(), "--out", path("out")}, "runs: --out and a folder: give one");
    row("sessions", {all(), "--sessions", path("out")}, "runs: --sessions and a folder");
    row("an order of sessions", {"list", "--order", "name"}, "--order is for a folder with saved");
}

void TestCliRunList::refuses() {
    QFETCH(const QStringList, arguments);
    QFETCH(const QByteArray, about);
    const Outcome outcome = call(QStringList{"runs"} + arguments);
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.saysOneLine() && outcome.error.contains(about), outcome.error);
    QCOMPARE(outcome.out, QByteArray());
}

} // namespace tst_cli_run_list

QTEST_GUILESS_MAIN(tst_cli_run_list::TestCliRunList)
#include "tst_cli_run_list.moc"
