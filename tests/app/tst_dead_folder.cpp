// The window whose files lie in a folder that does not answer, as on a dead network: it continues,
// and ends at once when it is asked to.
#include "engine/settings/fields.h"
#include "tests/fake_cuda/fake_run.h"
#include "tests/support/faults.h"
#include "tests/support/train_into.h"
#include "ui/session/left_threads.h"

#include <csignal>

namespace tst_dead_folder {

using namespace halfscope;
using namespace halfscope::test;

class TestDeadFolder : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void ends_data();
    void ends();

private:
    QString dead(const char* name = "") const { return m_folder.filePath("dead/") + name; }
    QString experiment(const char* name, const QStringList& settings) const;

    QTemporaryDir m_folder;
};

/// Writes an experiment with these settings into a folder that answers.
QString TestDeadFolder::experiment(const char* name, const QStringList& settings) const {
    RunConfig config = tinyConfig(1'000'000'000);
    for (const QString& setting : settings)
        applySetting(config, setting.toStdString());
    QFile file(m_folder.filePath(name));
    if (file.open(QIODevice::WriteOnly)) file.write(configText(config).c_str());
    return file.fileName();
}

void TestDeadFolder::initTestCase() {
    if (Faults::clash()) QSKIP(Faults::clash());
    QVERIFY(QDir().mkpath(dead()));
    trainInto(dead("run").toStdString(), tinyConfig(300));
    QVERIFY(QDir().mkpath(dead("XDG_CONFIG_HOME/Halfscope")));
    QFile settings(dead("XDG_CONFIG_HOME/Halfscope/halfscope.conf"));
    QVERIFY(settings.open(QIODevice::WriteOnly) && settings.write("[General]\ntheme=dark\n") > 0);
    QFile weights(dead("w.safetensors"));
    QVERIFY(weights.open(QIODevice::WriteOnly) && weights.write("none") == 4);
    QFile table(dead("t.csv"));
    QVERIFY(table.open(QIODevice::WriteOnly));
    table.write("a,y\n");
    for (int i = 0; i < 200; ++i)
        table.write(QByteArray::number(i) + "," + QByteArray::number(2 * i) + "\n");
}

void TestDeadFolder::ends_data() {
    QTest::addColumn<QString>("plan");
    QTest::addColumn<QStringList>("arguments");
    const QString run = dead("run"), table = dead("t.csv");
    const QString weights = experiment("weights.json", {"model.weights=" + dead("w.safetensors")});
    const QString data = experiment("data.json", {"data.kind=csv", "data.path=" + table});
    // the settings, the file that identifies a run, its tables
    for (const int number : {1, 2, 4, 6})
        QTest::addRow("a saved run, open %d", number)
            << QStringLiteral("open:%1:hang").arg(number) << QStringList{run};
    for (const char* kind : {"open", "read"}) {
        const QString plan = QStringLiteral("%1:1:hang").arg(kind);
        QTest::addRow("a table, %s", kind) << plan << QStringList{table};
        QTest::addRow("the data, %s", kind) << plan << QStringList{data, "--play"};
        QTest::addRow("the weights, %s", kind) << plan << QStringList{weights, "--play"};
    }
    // in the home folder: the settings, runs that were left behind, the run that trains
    const QString trained = experiment("trained.json", {});
    for (const char* kind : {"open", "write"})
        QTest::addRow("the settings, %s", kind)
            << QStringLiteral("%1:1:hang").arg(kind) << QStringList{};
    // the session's store is ready before its 200th write
    for (const char* call :
         {"open:1", "open:2", "open:4", "write:1", "write:20", "write:200", "sync:1"})
        QTest::addRow("the sessions, %s", call)
            << QStringLiteral("%1:hang").arg(call) << QStringList{trained, "--play"};
}

void TestDeadFolder::ends() {
    QFETCH(QString, plan);
    QFETCH(QStringList, arguments);
    const Faults faults(plan);
    QProcessEnvironment all = faults.environment();
    all.remove("HALFSCOPE_DISK");
    all.insert("HALFSCOPE_FAULT_FOLDER", dead());
    all.insert("QT_QPA_PLATFORM", "offscreen");
    const QByteArray row = QTest::currentDataTag();
    const auto place = [&](const char* name, bool isDead) {
        all.insert(QLatin1String(name), isDead ? dead(name) : m_folder.path());
    };
    place("XDG_CONFIG_HOME", row.startsWith("the settings"));
    place("XDG_DATA_HOME", row.startsWith("the sessions"));
    place("XDG_RUNTIME_DIR", false);
    QProcess process;
    process.setProcessEnvironment(all);
    process.start(QStringLiteral(HALFSCOPE_BINARY_DIR "/halfscope"), arguments);
    // the settings are written at the end
    const auto came = [&] { return faults.came() || row.startsWith("the settings"); };
    QVERIFY(QTest::qWaitFor(came, kPatience));
    QVERIFY(QTest::qWaitFor([&] { return takesSignal(process, SIGTERM); }, kPatience));
    QTest::qWait(500); // it is drawn, and Play has been pressed
    QCOMPARE(process.state(), QProcess::Running);
    QElapsedTimer clock;
    clock.start();
    QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGTERM), 0);
    QVERIFY2(process.waitForFinished(kPatience), process.readAllStandardError());
    // far above the wait for a thread that reads, and below the one for a file that was asked for
    static_assert(20 * kForReading < kForFiles);
    QVERIFY2(clock.elapsed() < 20 * kForReading.count(),
             qPrintable(QString::number(clock.elapsed())));
    QCOMPARE(process.exitStatus(), QProcess::NormalExit);
    QCOMPARE(process.exitCode(), 128 + SIGTERM);
    QVERIFY(faults.came());
}

} // namespace tst_dead_folder

QTEST_GUILESS_MAIN(tst_dead_folder::TestDeadFolder)
#include "tst_dead_folder.moc"
