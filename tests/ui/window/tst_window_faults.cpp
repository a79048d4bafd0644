// The window when its calls on files, threads and memory fail: it continues or ends with its own
// exit code, says what is wrong, and loses nothing that was there before; nor does it when it is
// killed. A child process (this program with --drive) drives the window below the shims of
// tests/support; with HALFSCOPE_TORTURE=1 each test tries everything instead of a part.
#include "engine/runs/left_session.h"
#include "engine/settings/fields.h"
#include "tests/fake_cuda/fake_run.h"
#include "tests/support/earlier_run.h"
#include "tests/support/faults.h"
#include "tests/support/train_into.h"
#include "ui/window/guarded_application.h"
#include "ui/window/main_window.h"

#include <QElapsedTimer>
#include <QPainter>
#include <QRandomGenerator>
#include <QSettings>
#include <QTest>

#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <new>
#include <utility>
#include <vector>

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// How the driven window ends.
enum Exit : int { kDone = 0, kTold = 1, kNoMemory = 3, kStuck = 4 };

// ---- the driven window -----------------------------------------------------------------------

/// Calls "halfscopeFaultsBegin" or "halfscopeFaultsEnd" of the shim, if it is there.
void callShim(const char* name) {
    if (void* const call = ::dlsym(RTLD_DEFAULT, name)) reinterpret_cast<void (*)()>(call)();
}

class Driver {
public:
    Driver(QString folder, bool tellsSteps)
        : m_folder(std::move(folder)), m_tellsSteps(tellsSteps), m_window(options()) {}

    int use() {
        m_window.openPreset(QStringLiteral("regression"));
        m_window.show();
        waitFor([this] { return state() != SessionState::Building; });
        tell();
        if (state() == SessionState::Failed) { // Play tries again
            m_window.play();
            const auto trains = [this] { // or has trained already
                return state() == SessionState::Running || state() == SessionState::Finished;
            };
            waitFor([&] { return trains() || state() == SessionState::Failed; });
            std::puts(trains() ? "then: it trains" : "then: again");
        }
        open("saved");
        // what fails is tried again, as a user would do
        const bool opened = open("small.json") || open("small.json");
        const bool trained = opened && (train() || train());
        if (opened && !trained && state() != SessionState::Failed) return kStuck;
        if (trained) save();
        tell(QString::fromStdString(m_window.endSession().english()));
        tell();
        return m_told ? kTold : kDone;
    }

private:
    SessionState state() { return m_window.controller().state(); }
    QString in(const char* name) const { return m_folder + '/' + QLatin1String(name); }
    WindowOptions options() const {
        WindowOptions options;
        options.remember = true;
        options.sessions = in("sessions");
        return options;
    }
    /// Waits until it holds, at most for so many turns of the loop that they take some seconds, and
    /// longer on a machine that is busy with other things.
    template <class Holds>
    bool waitFor(Holds holds) {
        constexpr int kTurnMs = 5, kTurns = 4000 / kTurnMs;
        for (int turn = 0; !holds(); ++turn) {
            if (turn >= kTurns) return false;
            operator delete(operator new(1)); // throws where there will be no memory any more
            QTest::qWait(kTurnMs);
            tell();
        }
        return true;
    }
    bool open(const char* name) {
        bool good = false;
        const auto ended = QObject::connect(&m_window, &MainWindow::fileEnded, &m_window,
                                            [&good](bool opened) { good = opened; });
        m_window.tryFile(in(name));
        waitFor([this] { return !m_window.opens() && !m_window.shown().reads(); });
        QObject::disconnect(ended);
        tell();
        return good;
    }
    bool train() {
        if (state() == SessionState::Finished) m_window.restart();
        m_window.play();
        waitFor([this] {
            if (m_tellsSteps) tellStep();
            return state() == SessionState::Finished || state() == SessionState::Failed;
        });
        tell();
        return state() == SessionState::Finished && waitFor([this] {
                   const RunPtr& run = m_window.shown().run();
                   return run && !m_window.showsSaved() && run->step() == kRunSteps;
               });
    }
    void save() {
        try {
            m_window.saveResults(in("results"));
        } catch (const RunError& error) {
            tell(QString::fromUtf8(error.what()));
        }
    }
    void tellStep() {
        const int64_t step = m_window.run().step();
        if (std::exchange(m_step, step) == step) return;
        std::printf("%lld\n", static_cast<long long>(step));
        std::fflush(stdout);
    }
    void tell() { tell(m_window.bannerText()); }
    void tell(const QString& text) {
        if (text.isEmpty() || text == m_last) return;
        m_last = text;
        m_told = true;
        std::printf("%s\n", qPrintable(text));
        std::fflush(stdout);
    }

    QString m_folder, m_last;
    bool m_told = false, m_tellsSteps;
    int64_t m_step = 0;
    MainWindow m_window;
};

int driveGuarded(const QString& folder, bool tellsSteps) {
    try {
        Driver driver(folder, tellsSteps);
        return driver.use();
    } catch (const std::bad_alloc&) {
        std::puts("out of memory");
        return kNoMemory;
    } catch (const std::exception& error) {
        std::puts(error.what());
        return kTold;
    }
}

/// Starts the threads of Qt's painter beforehand: Qt waits for ever for one that does not start.
void startPainterThreads() {
    QImage image(500, 2000, QImage::Format_ARGB32_Premultiplied);
    QPainter painter(&image);
    QLinearGradient gradient(0, 0, 500, 2000);
    gradient.setColorAt(0, Qt::black);
    gradient.setColorAt(1, Qt::white);
    for (int i = 0; i < 4; ++i)
        painter.fillRect(image.rect(), gradient);
}

constexpr int kDriveArguments = 3;           ///< the program, --drive and a folder
constexpr QLatin1String kTellSteps("steps"); ///< one more argument

int drive(int argc, char** argv) {
    GuardedApplication app(argc, argv);
    QCoreApplication::setOrganizationName(QStringLiteral("HalfscopeTest"));
    QCoreApplication::setApplicationName(QStringLiteral("tst_window_faults"));
    startPainterThreads();
    callShim("halfscopeFaultsBegin");
    const int code = driveGuarded(QString::fromLocal8Bit(argv[2]), argc > kDriveArguments);
    callShim("halfscopeFaultsEnd");
    std::fflush(stdout);
    return code;
}

/// The sessions that windows left in a folder, all of whose runs are read.
struct Sessions {
    explicit Sessions(const QString& folder) {
        const std::string path = folder.toStdString();
        const std::vector<LeftSession> left = leftSessions(path);
        for (const LeftSession& session : left) {
            for (const LeftRun& run : session.runs()) {
                try {
                    steps = std::max(steps, session.read(run)->step());
                } catch (const ReportedError& error) {
                    refusals << error.what();
                }
            }
            if (!session.damage().empty())
                refusals << QByteArray::fromStdString(session.damage().english());
        }
        unreadable = sessionsIn(path).size() - left.size();
    }
    int64_t steps = 0;          ///< of the longest run
    QList<QByteArray> refusals; ///< why runs do not open
    size_t unreadable = 0;      ///< sessions of which not even the runs are known
};

} // namespace

// ---- the tests ---------------------------------------------------------------------------------

class TestWindowFaults : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void everyCallFails_data();
    void everyCallFails();
    void noThreadForTheTraining();
    void everyAllocationFails_data();
    void everyAllocationFails();
    void killedAtRandom();
    void killedWhileItTrains();

private:
    struct Driven {
        Outcome outcome;
        bool came = false;
        QMap<QString, int> counts{};
    };
    static constexpr int kLongest = 240000; ///< ms; every wait of the driver ends before
    void prepare(const QString& folder) const;
    static void start(QProcess&, QProcessEnvironment, const QStringList& arguments);
    Driven driveWindow(const QString& plan, const QString& folder, int most = kLongest) const;
    void fails(const QString& kind, int number, const QString& how);
    QString lostByAKill(int margin, int lasts) const;
    QString flawOf(const Driven&, const QString& folder) const;
    QString flawOfKilled(const QString& folder) const;

    QTemporaryDir m_folder;
    EarlierRun m_runs;
    QMap<QString, int> m_calls;
    int m_lasts = 0;     ///< milliseconds of a drive without faults
    bool m_came = false; ///< the last call that was to fail was reached
};

void TestWindowFaults::initTestCase() {
    if (Faults::clash()) QSKIP(Faults::clash());
    RunConfig config = tinyConfig(kRunSteps);
    config.threads = 2;
    config.seed = 5;
    trainInto(m_folder.filePath("before").toStdString(), config, 4);
    m_runs.before = filesWithin(m_folder.filePath("before"));
    config.seed = 9;
    QFile file(m_folder.filePath("small.json"));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(configText(config).c_str()) > 0);
    file.close();
    QTemporaryDir folder;
    QElapsedTimer clock;
    clock.start();
    const Driven driven = driveWindow(QLatin1String(Faults::kNothing), folder.path());
    m_lasts = static_cast<int>(clock.elapsed());
    QVERIFY2(driven.outcome.code == kDone, driven.outcome.out + driven.outcome.error);
    m_runs.after = filesWithin(folder.filePath("results"));
    m_calls = driven.counts;
    const QString flaw = flawOf(driven, folder.path());
    QVERIFY2(flaw.isEmpty(), qPrintable(flaw));
}

/// Puts the files of a drive into its folder.
void TestWindowFaults::prepare(const QString& folder) const {
    for (const char* name : {"saved", "results"})
        copyFolder(m_folder.filePath("before"), folder + '/' + name);
    QFile::copy(m_folder.filePath("small.json"), folder + "/small.json");
    QDir().mkpath(folder + "/home");
}

/// Starts a drive. Its folder is the first of the arguments.
void TestWindowFaults::start(QProcess& process, QProcessEnvironment all,
                             const QStringList& arguments) {
    const QString& folder = arguments.first();
    all.remove("HALFSCOPE_DISK");
    all.insert("HALFSCOPE_FAULT_WAITS", "1");
    all.insert("HALFSCOPE_FAULT_FOLDER", folder);
    all.insert("QT_QPA_PLATFORM", "offscreen");
    for (const char* place : {"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
                              "XDG_STATE_HOME", "XDG_RUNTIME_DIR"})
        all.insert(QLatin1String(place), folder + "/home");
    process.setProcessEnvironment(all);
    process.start(QCoreApplication::applicationFilePath(),
                  QStringList{QStringLiteral("--drive")} + arguments);
}

/// Kills the window when it has not ended after `most` milliseconds.
TestWindowFaults::Driven TestWindowFaults::driveWindow(const QString& plan, const QString& folder,
                                                       int most) const {
    prepare(folder);
    const Faults faults(plan);
    QProcess process;
    start(process, faults.environment(), {folder});
    Driven driven;
    const bool ended = process.waitForFinished(most);
    if (!ended) process.kill();
    process.waitForFinished(kLongest);
    driven.outcome = {ended ? process.exitCode() : -1,
                      ended && process.exitStatus() == QProcess::CrashExit,
                      process.readAllStandardOutput(), process.readAllStandardError()};
    driven.came = faults.came();
    driven.counts = faults.counts();
    return driven;
}

/// Returns what is wrong with what a driven window left; empty when nothing is.
QString TestWindowFaults::flawOf(const Driven& driven, const QString& folder) const {
    const int code = driven.outcome.code;
    if (driven.outcome.crashed) return "it crashed";
    if (code != kDone && code != kTold && code != kNoMemory)
        return QStringLiteral("it ended with %1").arg(code);
    if (!driven.came && code != kDone) return "it failed without a fault";
    if (code != kDone && driven.outcome.out.isEmpty()) return "it did not say why";
    if (filesWithin(folder + "/saved") != m_runs.before) return "the saved run has changed";
    const QString results = folder + "/results";
    if (code == kDone && filesWithin(results)["steps.csv"] != m_runs.after["steps.csv"])
        return "the results were not saved";
    const QString flaw = m_runs.flawOf(results, EarlierRun::End::Failed);
    if (!flaw.isEmpty()) return flaw;
    const Sessions left(folder + "/sessions");
    for (const QByteArray& refusal : left.refusals)
        if (code == kDone || !isPlainText(refusal.toStdString())) return "the session: " + refusal;
    if (code == kDone && left.steps != kRunSteps)
        return QStringLiteral("the session has %1 steps").arg(left.steps);
    return {};
}

void TestWindowFaults::fails(const QString& kind, int number, const QString& how) {
    QTemporaryDir folder;
    const QString plan = QStringLiteral("%1:%2:%3").arg(kind).arg(number).arg(how);
    const Driven driven = driveWindow(plan, folder.path());
    m_came = driven.came;
    const QString flaw = flawOf(driven, folder.path());
    QVERIFY2(flaw.isEmpty(),
             (plan + ": " + flaw + "\n").toUtf8() + driven.outcome.out + driven.outcome.error);
}

void TestWindowFaults::everyCallFails_data() { Faults::addCallRows(); }

void TestWindowFaults::everyCallFails() {
    QFETCH(const QString, kind);
    QFETCH(const QString, how);
    QVERIFY2(m_calls[kind] > 0, "no call of this kind");
    Faults::failEach(m_calls[kind], 1, Faults::seed(), [&](int number) {
        fails(kind, number, how);
        return m_came;
    });
}

/// The window reports it, and Play tries again. Other threads are started before that of the
/// training, so each is refused in turn.
void TestWindowFaults::noThreadForTheTraining() {
    for (int number = 1; number <= m_calls[QStringLiteral("thread")]; ++number) {
        QTemporaryDir folder;
        const Driven driven =
            driveWindow(QStringLiteral("thread:%1:once").arg(number), folder.path());
        const QByteArray& told = driven.outcome.out;
        if (!told.contains("no thread left for the training")) continue;
        QVERIFY2(driven.outcome.code == kTold, told + driven.outcome.error);
        QVERIFY2(told.contains("then: it trains"), told);
        QCOMPARE(filesWithin(folder.filePath("results"))["steps.csv"], m_runs.after["steps.csv"]);
        return;
    }
    QFAIL("no refused thread was that of the training");
}

void TestWindowFaults::everyAllocationFails_data() {
    QTest::addColumn<QString>("how");
    QTest::newRow("once") << QStringLiteral("once");
    QTest::newRow("on") << QStringLiteral("on");
}

void TestWindowFaults::everyAllocationFails() {
    QFETCH(const QString, how);
    const int all = m_calls[QStringLiteral("alloc")];
    const quint32 seed = Faults::seed();
    constexpr int kFirst = 500;
    QVERIFY(all > kFirst);
    std::vector<int> numbers = Faults::sample(kFirst, tortures() ? kFirst : 1, seed);
    const int spread = tortures() ? all / 50 : 0; // no two runs make the same number
    for (const int number : Faults::sample(all - kFirst + spread, tortures() ? 1000 : 2, seed))
        numbers.push_back(kFirst + number);
    numbers.push_back(all - all / 125); // while the results are saved
    for (const int number : numbers) {
        fails(QStringLiteral("alloc"), number, how);
        if (QTest::currentTestFailed()) return;
    }
}

/// Returns what is wrong with what a window left that was killed; empty when nothing is.
QString TestWindowFaults::flawOfKilled(const QString& folder) const {
    if (filesWithin(folder + "/saved") != m_runs.before) return "the saved run has changed";
    const QString flaw = m_runs.flawOf(folder + "/results", EarlierRun::End::Killed);
    if (!flaw.isEmpty()) return flaw;
    const Sessions left(folder + "/sessions");
    if (left.unreadable > 0) return "a session does not open";
    return left.refusals.isEmpty() ? QString() : "the session: " + left.refusals.first();
}

/// Every other kill comes at a change of a file, because those moments are short.
void TestWindowFaults::killedAtRandom() {
    const int times = tortures() ? 1000 : 20;
    const std::array<QString, 4> kinds{"rename", "unlink", "write", "sync"};
    const quint32 seed = Faults::seed();
    QRandomGenerator random(seed);
    int killed = 0;
    for (int i = 0; i < times; ++i) {
        QString plan = QLatin1String(Faults::kNothing);
        const QString& kind = kinds[static_cast<size_t>(i / 2) % kinds.size()];
        if (i % 2 == 1)
            plan = QStringLiteral("%1:%2:kill").arg(kind).arg(1 + random.bounded(m_calls[kind]));
        const int moment = i % 2 == 1 ? kLongest : random.bounded(m_lasts);
        QTemporaryDir folder;
        const Driven driven = driveWindow(plan, folder.path(), moment);
        killed += driven.outcome.code == kDone && !driven.outcome.crashed ? 0 : 1;
        const QString flaw = flawOfKilled(folder.path());
        const auto place = QStringLiteral("seed %1, kill %2, %3 after %4 ms: %5");
        QVERIFY2(flaw.isEmpty(),
                 qPrintable(place.arg(seed).arg(i).arg(plan).arg(moment).arg(flaw)));
    }
    // most: a machine that was slow at first makes the later drives end before they are killed
    QVERIFY2(killed > times / 3, QByteArray::number(killed));
}

/// Of a training that is killed, what the window showed a second earlier is kept.
void TestWindowFaults::killedWhileItTrains() {
    constexpr int kSecond = 1000;
    const int times = tortures() ? 50 : 3;
    QRandomGenerator random(Faults::seed());
    // a busy disk may hold up the writer: then what was shown some more seconds earlier is kept
    constexpr int kMargins[] = {kSecond, kSecond, 4 * kSecond, 10 * kSecond};
    for (int i = 0; i < times; ++i) {
        QString lost;
        for (const int margin : kMargins) {
            lost = lostByAKill(margin, margin + static_cast<int>(random.bounded(kSecond)));
            if (lost.isEmpty()) break;
        }
        QVERIFY2(lost.isEmpty(), qPrintable(lost));
    }
}

/// Kills a window some time after it has shown its first step. Returns what is wrong if what it
/// showed `margin` milliseconds before is not kept.
QString TestWindowFaults::lostByAKill(int margin, int lasts) const {
    const QTemporaryDir folder;
    prepare(folder.path());
    RunConfig config = tinyConfig(100'000'000);
    config.pace = 1000;
    QFile file(folder.filePath("small.json"));
    if (!file.open(QIODevice::WriteOnly) || file.write(configText(config).c_str()) <= 0)
        return QStringLiteral("no settings");
    file.close();
    QProcess process;
    start(process, QProcessEnvironment::systemEnvironment(), {folder.path(), kTellSteps});
    QElapsedTimer clock;
    int64_t step = 0;                              // shown `margin` before the present
    std::vector<std::pair<qint64, int64_t>> shown; // when which step was
    QByteArray told;
    while (shown.empty() || clock.elapsed() - shown.front().first < lasts) {
        if (!process.waitForReadyRead(kLongest))
            return "it ended: " + QString::fromUtf8(process.readAllStandardError());
        if (shown.empty()) clock.start();
        while (process.canReadLine()) {
            const QByteArray line = process.readLine();
            const qlonglong number = line.trimmed().toLongLong();
            if (number > 0)
                shown.emplace_back(clock.elapsed(), number);
            else
                told += line;
        }
    }
    const qint64 end = clock.elapsed();
    process.kill();
    process.waitForFinished(kLongest);
    for (const auto& [time, each] : shown)
        if (time + margin <= end) step = each;
    const Sessions left(folder.filePath("sessions"));
    if (!left.refusals.isEmpty()) return QString::fromUtf8(left.refusals.front());
    if (step > 0 && left.steps >= step) return {};
    return QStringLiteral("%1 of %2\n%3").arg(left.steps).arg(step).arg(QString::fromUtf8(told));
}

HALFSCOPE_TEST_MAIN(TestWindowFaults, {
    if (argc >= kDriveArguments && QByteArray(argv[1]) == "--drive") return drive(argc, argv);
} QCoreApplication app(argc, argv))
#include "tst_window_faults.moc"
