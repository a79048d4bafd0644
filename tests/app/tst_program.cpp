// The program with the window, started as a desktop and as a script start it.
#include "engine/runs/left_session.h"
#include "engine/runs/session_file.h"
#include "tests/fake_cuda/fake_run.h"
#include "tests/support/faults.h"
#include "tests/support/train_into.h"

#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tst_program {

using namespace halfscope;
using test::Faults;

namespace {

constexpr int kPatience = 60000; // ms
constexpr int kBadInput = 2;

QString writeFile(const QTemporaryDir& folder, const char* name, const std::string& text) {
    QFile file(folder.filePath(QString::fromLatin1(name)));
    if (!file.open(QIODevice::WriteOnly)) return {};
    file.write(text.data(), static_cast<qint64>(text.size()));
    return file.fileName();
}

void start(QProcess& process, const QTemporaryDir& home, const QStringList& arguments,
           const QString& program = QStringLiteral(HALFSCOPE_BINARY_DIR "/halfscope"),
           QProcessEnvironment environment = QProcessEnvironment::systemEnvironment()) {
    environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
    environment.insert(QStringLiteral("XDG_CONFIG_HOME"), home.path());
    environment.insert(QStringLiteral("XDG_DATA_HOME"), home.path());
    process.setProcessEnvironment(environment);
    process.setProgram(program);
    process.setArguments(arguments);
    process.start();
}

} // namespace

class TestProgram : public QObject {
    Q_OBJECT
private slots:
    void takesAPicture();
    void pictureWithoutRoom();
    void badFileOfAScript();
    void badRunOfAScript();
    void badFileOfADesktop();
    void signalsKeepTheRun_data();
    void signalsKeepTheRun();
    void aPowerCutKeepsTheRun();
    void keepsSettingsThatCameLate();
};

void TestProgram::signalsKeepTheRun_data() {
    QTest::addColumn<int>("signal");
    QTest::newRow("SIGTERM") << SIGTERM;
    QTest::newRow("SIGINT") << SIGINT;
    QTest::newRow("SIGHUP") << SIGHUP;
}

/// The program ends in order, and the next start finds what it trained.
void TestProgram::signalsKeepTheRun() {
    QFETCH(int, signal);
    const QTemporaryDir folder;
    RunConfig config = tinyConfig(100'000'000);
    config.pace = 1000;
    QProcess process;
    start(process, folder, {writeFile(folder, "small.json", configText(config)), "--play"});
    const std::string sessions = folder.filePath("Halfscope/halfscope/sessions").toStdString();
    const auto file = [&sessions] {
        const std::vector<std::string> names = sessionsIn(sessions);
        return names.empty() ? std::string() : sessions + "/" + names[0] + kSessionEnding + "-wal";
    };
    QVERIFY(QTest::qWaitFor(
        [&] { return QFileInfo(QString::fromStdString(file())).size() > 200000; }, kPatience));
    QVERIFY(leftSessions(sessions).empty()); // it is in use
    kill(static_cast<pid_t>(process.processId()), signal);
    QVERIFY2(process.waitForFinished(kPatience), qPrintable(process.errorString()));
    QCOMPARE(process.exitStatus(), QProcess::NormalExit);
    QCOMPARE(process.exitCode(), 128 + signal);
    // the log is gone once the session's file has everything; the window was closed, not dropped
    QVERIFY(!QFile::exists(QString::fromStdString(file())));
    QVERIFY(QFile::exists(folder.filePath("Halfscope/halfscope.conf")));
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.size(), size_t{1});
    QVERIFY(left[0].runs().at(0).steps > 10);
    QVERIFY(left[0].wasToldToEnd()); // so that it is no accident
}

/// What the session's file has of a run outlives a power cut: all that was synced is a whole
/// database.
void TestProgram::aPowerCutKeepsTheRun() {
    if (Faults::clash()) QSKIP(Faults::clash());
    const QTemporaryDir folder, disk;
    RunConfig config = tinyConfig(100'000'000);
    config.pace = 1000;
    const Faults faults(Faults::kNothing);
    QProcess process;
    start(process, folder, {writeFile(folder, "small.json", configText(config)), "--play"},
          QStringLiteral(HALFSCOPE_BINARY_DIR "/halfscope"), faults.environment());
    const QString sessions = folder.filePath("Halfscope/halfscope/sessions");
    int cuts = 0;
    const auto stepsAfterACut = [&]() -> int64_t {
        const QString cut = disk.filePath(QString::number(++cuts));
        faults.cutPower(sessions, {}, cut, Faults::Names::Synced);
        const std::vector<LeftSession> left = leftSessions(cut.toStdString());
        return left.size() == 1 && !left[0].runs().empty() ? left[0].runs()[0].steps : 0;
    };
    QTRY_VERIFY_WITH_TIMEOUT(stepsAfterACut() > 1000, kPatience);
    QCOMPARE(process.state(), QProcess::Running);
    process.kill();
    QVERIFY(process.waitForFinished(kPatience));
    QVERIFY(stepsAfterACut() > 1000);
}

/// A disk that answers only after the window has been built: what the window shows meanwhile must
/// not replace what the user's settings say.
void TestProgram::keepsSettingsThatCameLate() {
    const QTemporaryDir folder;
    QVERIFY(QDir(folder.path()).mkpath("Halfscope"));
    const QString settings = folder.filePath("Halfscope/halfscope.conf");
    const QByteArray path = settings.toUtf8(), theme = "[General]\ntheme=dark\n";
    QCOMPARE(mkfifo(path, 0600), 0); // whoever opens it waits for a writer
    RunConfig config = tinyConfig(100'000'000);
    config.pace = 1000;
    QProcess process;
    start(process, folder, {writeFile(folder, "small.json", configText(config)), "--play"});
    const std::string sessions = folder.filePath("Halfscope/halfscope/sessions").toStdString();
    QVERIFY(QTest::qWaitFor([&] { return !sessionsIn(sessions).empty(); }, kPatience));
    int pipe = -1;
    const auto isRead = [&] { return (pipe = open(path, O_WRONLY | O_NONBLOCK)) >= 0; };
    QVERIFY(QTest::qWaitFor(isRead, kPatience));
    close(pipe); // to the reader it was an empty file
    QVERIFY(QFile::remove(settings));
    QCOMPARE(QFile(writeFile(folder, "Halfscope/halfscope.conf", theme.toStdString())).size(),
             qint64{theme.size()});
    kill(static_cast<pid_t>(process.processId()), SIGTERM);
    QVERIFY2(process.waitForFinished(kPatience), qPrintable(process.errorString()));
    QCOMPARE(process.exitCode(), 128 + SIGTERM);
    QFile kept(settings);
    QVERIFY(kept.open(QIODevice::ReadOnly));
    QCOMPARE(kept.readAll(), theme);
}

void TestProgram::takesAPicture() {
    const QTemporaryDir folder;
    const QString file = writeFile(folder, "small.json", configText(tinyConfig(3)));
    const QString picture = folder.filePath(QStringLiteral("window.png"));
    QProcess process;
    start(process, folder, {file, "--play", "--size", "1000x700", "--screenshot", picture});
    QVERIFY2(process.waitForFinished(kPatience), qPrintable(process.errorString()));
    QCOMPARE(process.exitCode(), 0);
    QCOMPARE(QImage(picture).size(), QSize(1000, 700));
}

/// A script must learn that its picture was not written, even when only the last bytes had no room.
void TestProgram::pictureWithoutRoom() {
    const QTemporaryDir folder;
    const QString file = writeFile(folder, "small.json", configText(tinyConfig(3)));
    const QString picture = folder.filePath(QStringLiteral("window.png"));
    QProcess whole;
    start(whole, folder, {file, "--screenshot", picture});
    QVERIFY2(whole.waitForFinished(kPatience), qPrintable(whole.errorString()));
    const qint64 blocks = (QFileInfo(picture).size() - 4096) / 512; // the unit of ulimit
    QVERIFY(blocks > 0 && QFile::remove(picture));
    QProcess process;
    start(process, folder,
          {"-c", "ulimit -f \"$1\"; shift; exec \"$@\"", "sh", QString::number(blocks),
           QStringLiteral(HALFSCOPE_BINARY_DIR "/halfscope"), file, "--screenshot", picture},
          QStringLiteral("/bin/sh"));
    QVERIFY2(process.waitForFinished(kPatience), qPrintable(process.errorString()));
    QCOMPARE(process.exitCode(), 1);
    const QByteArray said = process.readAllStandardError();
    QVERIFY2(said.contains("window.png: cannot write: File too large"), said);
    QVERIFY(!QFile::exists(picture));
}

void TestProgram::badFileOfAScript() {
    const QTemporaryDir folder;
    const QString file = writeFile(folder, "bad.json", R"({"version": 1, "lanes": 7})");
    const QString picture = folder.filePath(QStringLiteral("window.png"));
    QProcess process;
    start(process, folder, {file, "--screenshot", picture});
    QVERIFY2(process.waitForFinished(kPatience), qPrintable(process.errorString()));
    QCOMPARE(process.exitCode(), kBadInput);
    QVERIFY(process.readAllStandardError().contains("bad.json"));
    QVERIFY(!QFile::exists(picture));
}

/// A run whose tables cannot be read is no picture of a run, although its settings open.
void TestProgram::badRunOfAScript() {
    const QTemporaryDir folder;
    const std::string run = folder.filePath("run").toStdString();
    trainInto(run, tinyConfig(3));
    const QString picture = folder.filePath(QStringLiteral("window.png"));
    const auto codeOf = [&](QByteArray& said) {
        QProcess process;
        start(process, folder, {QString::fromStdString(run), "--screenshot", picture});
        if (!process.waitForFinished(kPatience)) return -1;
        said = process.readAllStandardError();
        return process.exitCode();
    };
    QByteArray said;
    QCOMPARE(codeOf(said), 0);
    QVERIFY(QFile::remove(picture));
    QFile table(QString::fromStdString(run + "/steps.csv"));
    QVERIFY(table.open(QIODevice::WriteOnly));
    table.write("step,lane\n1,fp32\n");
    table.close();
    QCOMPARE(codeOf(said), kBadInput);
    QVERIFY2(said.contains("steps.csv"), said);
    QVERIFY(!QFile::exists(picture));
    QVERIFY(table.remove());
    QCOMPARE(::mkfifo(table.fileName().toLocal8Bit().constData(), 0600), 0);
    QCOMPARE(codeOf(said), kBadInput);
    QVERIFY2(said.contains("steps.csv"), said);
}

/// A user who double-clicked a file sees no terminal: the window appears and reports the error.
void TestProgram::badFileOfADesktop() {
    const QTemporaryDir folder;
    const QString file = writeFile(folder, "bad.json", R"({"version": 1, "lanes": 7})");
    QProcess process;
    start(process, folder, {file});
    QByteArray said;
    QVERIFY(QTest::qWaitFor(
        [&] { return (said += process.readAllStandardError()).contains("bad.json"); }, kPatience));
    QVERIFY(!process.waitForFinished(1000)); // a window that waits for its user
    process.kill();
    QVERIFY(process.waitForFinished(kPatience));
}

} // namespace tst_program

QTEST_MAIN(tst_program::TestProgram)
#include "tst_program.moc"
