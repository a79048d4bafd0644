// halfscope-cli runs FOLDER from outside: a table of the saved runs in a folder.
#include "engine/runs/metrics.h"
#include "engine/runs/run_reader.h"
#include "tests/support/cli.h"
#include "tests/support/ordinary_user.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <csignal>

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

void makeOlder(const QString& path) {
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadWrite));
    QVERIFY(file.setFileTime(QDateTime::fromSecsSinceEpoch(1), QFileDevice::FileModificationTime));
}

/// Starts an endless run and waits until a file of it has so many lines.
void startEndless(QProcess& process, const QString& out, const char* file = "steps.csv",
                  int lines = 9) {
    process.start(program(), smallRun(out, {"--steps", "1000000000", "--checkpoint-every", "100"}));
    QVERIFY(QTest::qWaitFor([&] { return contentOf(out + '/' + file).count('\n') >= lines; },
                            kPatience));
}

int send(const QProcess& process, int signal) {
    return ::kill(static_cast<pid_t>(process.processId()), signal);
}

} // namespace

class TestCliRunList : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void tellsOfEachRun();
    void orders_data();
    void orders();
    void statesAreThoseOfTheTables();
    void tablesOfWholeRunsAreNotRead();
    void unreadableOnesAreNamed();
    void filesThatCannotBeRead();
    void manyOtherFolders();
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
    QVERIFY(QDir().mkpath(path("empty")));
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

/// However a run ended, and whatever is left of it: its line, and what is said of it, are those of
/// the whole run, which is read where all files are newer than the manifest.
void TestCliRunList::statesAreThoseOfTheTables() {
    const QTemporaryDir folder;
    const auto in = [&folder](const char* name) { return folder.filePath(name); };
    QCOMPARE(call(smallRun(in("1-finished"))).code, 0);
    QCOMPARE(call(digits(in("2-digits"), "30", "fp32,fp16")).code, 0);
    QCOMPARE(
        call(digits(in("3-lost"), "6", "fp16") + QStringList{"--set", "optimizer.kind=adam"}).code,
        0);
    QJsonObject json =
        QJsonDocument::fromJson(contentOf(in("1-finished/experiment.json"))).object();
    json["forks"] =
        QJsonArray{QJsonObject{{"step", 5}, {"parent", 1}, {"lane", json["lanes"].toArray()[1]}}};
    put(in("forked.json"), QJsonDocument(json).toJson());
    QCOMPARE(call({"run", in("forked.json"), "--out", in("4-forked")}).code, 0);
    QCOMPARE(call({"run", in("forked.json"), "--steps", "3", "--out", in("5-fork-to-come")}).code,
             0);
    QProcess interrupted, killed, running;
    startEndless(interrupted, in("6-interrupted"));
    QCOMPARE(send(interrupted, SIGINT), 0);
    QCOMPARE(outcomeOf(interrupted).code, 130);
    startEndless(killed, in("7-killed"));
    QCOMPARE(send(killed, SIGKILL), 0);
    QVERIFY(killed.waitForFinished(kPatience));
    startEndless(running, in("8-running"));
    QCOMPARE(send(running, SIGSTOP), 0); // both lists are of the same step
    QCOMPARE(call(smallRun(in("9-damaged"))).code, 0);
    const QByteArray rows = contentOf(in("9-damaged/steps.csv"));
    put(in("9-damaged/steps.csv"), QByteArray(rows).replace("\n7,fp32,", "\n7,fp99,"));
    QCOMPARE(call(smallRun(in("10-cut"))).code, 0);
    put(in("10-cut/steps.csv"), rows.left(rows.size() / 2));
    QCOMPARE(call(smallRun(in("11-older"))).code, 0);
    QVERIFY(QFile::remove(in("11-older/manifest.json")));
    QCOMPARE(call(smallRun(in("12-no-summary"))).code, 0);
    QVERIFY(QFile::remove(in("12-no-summary/summary.json")));
    QCOMPARE(call({"run", "--resume", in("6-interrupted"), "--steps", "100000", "--out",
                   in("13-gone-on")})
                 .code,
             0);

    const Outcome quick = call({"runs", folder.path(), "--order", "name"});
    for (const QString& each : QDir(folder.path()).entryList(QDir::Dirs | QDir::NoDotAndDotDot))
        if (QFile::exists(in(qPrintable(each + "/manifest.json"))))
            makeOlder(in(qPrintable(each + "/manifest.json")));
    const Outcome whole = call({"runs", folder.path(), "--order", "name"});
    QCOMPARE(send(running, SIGKILL), 0);
    QVERIFY(running.waitForFinished(kPatience));
    QCOMPARE(quick.code, 0);
    QCOMPARE(quick.out, whole.out);
    QCOMPARE(quick.error, whole.error);
    const QList<QStringList> cells = cellsOf(quick.out);
    QCOMPARE(cells.size(), 14);
    QStringList outcomes;
    for (const QStringList& row : cells.mid(1))
        outcomes << row.at(3);
    QCOMPARE(outcomes, QString("finished finished finished finished finished interrupted "
                               "unfinished unfinished - - finished - finished")
                           .split(' '));
    QCOMPARE(cells[4].at(1), QString("fp32,amp-fp16,amp-fp16-2"));
    QCOMPARE(cells[5].at(1), QString("fp32,amp-fp16"));
    QVERIFY2(quick.error.startsWith("9-damaged lacks steps.csv after step 6 (") &&
                 quick.error.count('\n') == 1,
             quick.error);
}

/// A list of thousands reads no tables: what nobody could tell from their names, sizes and times
/// is not seen.
void TestCliRunList::tablesOfWholeRunsAreNotRead() {
    const QTemporaryDir folder;
    const QString steps = folder.filePath("run/steps.csv");
    QCOMPARE(call(smallRun(folder.filePath("run"))).code, 0);
    const Outcome before = call({"runs", folder.path()});
    const QByteArray rows = contentOf(steps);
    put(steps, QByteArray(rows.size(), 'x'));
    QVERIFY(call({"runs", folder.path()}).out != before.out); // it is newer, so it is read
    makeOlder(steps);
    const Outcome after = call({"runs", folder.path()});
    QVERIFY2(after.code == 0 && after.error.isEmpty(), after.error);
    QCOMPARE(after.out, before.out);
}

/// Only the owner may read some file of a run.
void TestCliRunList::filesThatCannotBeRead() {
    const QTemporaryDir folder;
    for (const char* name : {"a", "b"})
        QCOMPARE(call(smallRun(folder.filePath(name))).code, 0);
    const auto all = QFileDevice::ReadOwner | QFileDevice::ReadGroup | QFileDevice::ReadOther;
    QVERIFY(QFile(folder.path())
                .setPermissions(all | QFileDevice::ExeOwner | QFileDevice::WriteOwner |
                                QFileDevice::ExeGroup | QFileDevice::ExeOther));
    for (const char* file : {"steps.csv", "experiment.json"}) {
        const QString path = folder.filePath(QString("a/") + file);
        QVERIFY(QFile(path).setPermissions(QFileDevice::Permissions()));
        const auto restore = qScopeGuard([&] { QFile(path).setPermissions(all); });
        const OrdinaryUser user;
        if (!user.holds() || !user.canRun(qPrintable(program())))
            QSKIP("no ordinary user can start the program here");
        const Outcome outcome = call({"runs", folder.path()});
        QVERIFY2(outcome.code == 0 && cellsOf(outcome.out).size() == 2, outcome.out);
        QVERIFY2(outcome.error.startsWith("a cannot be read: " + path.toUtf8()) &&
                     outcome.error.contains("Permission denied") && outcome.error.count('\n') == 1,
                 outcome.error);
    }
}

/// Folders that are no runs are passed over, however many.
void TestCliRunList::manyOtherFolders() {
    const QTemporaryDir folder;
    for (int i = 0; i < 5000; ++i)
        QVERIFY(QDir().mkdir(folder.filePath("other" + QString::number(i))));
    const Outcome none = call({"runs", folder.path()});
    QVERIFY2(none.code == 2 && none.saysOneLine() && none.error.contains("holds a saved run"),
             none.error);
    QCOMPARE(call(smallRun(folder.filePath("run"))).code, 0);
    const Outcome one = call({"runs", folder.path()});
    QVERIFY2(one.code == 0 && one.error.isEmpty() && cellsOf(one.out).size() == 2, one.out);
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
    row("nothing in it", {path("empty")},
        "runs: no folder in " + path("empty").toUtf8() + " holds a saved run");
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
