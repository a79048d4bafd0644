// When memory runs out, a run ends and nothing else: the words about it need no memory, and what
// was trained stays. This program's operator new fails when it is told to.
#include "tests/fake_cuda/fake_run.h"
#include "tests/support/failing_new.h"
#include "tests/support/opened_window.h"
#include "ui/models/translated.h"
#include "ui/session/experiment_controller.h"
#include "ui/session/user_settings.h"
#include "ui/window/guarded_application.h"

#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <limits>

using namespace halfscope;

namespace {
constexpr size_t kAny = std::numeric_limits<size_t>::max();
thread_local size_t t_largest = kAny; // the bytes that this thread can still get at once
thread_local bool t_tests = false;    // this is the thread of the tests
std::atomic<int> g_failures{-1};      // how often another thread got nothing; -1: it gets all
} // namespace

bool halfscope::test::allocationFails(size_t bytes) noexcept {
    if (!t_tests && g_failures >= 0) {
        ++g_failures;
        return true;
    }
    return bytes > t_largest;
}

class TestOutOfMemory : public QObject {
    Q_OBJECT

private slots:
    void onTheTrainingThread();
    void onTheWindowsThread();
    void noticesAreHeardAgain();
    void ofACheckpoint();
    void ofTheUsersSettings();
};

/// Not a byte is available until the run is gone; the next run works as usual.
void TestOutOfMemory::onTheTrainingThread() {
    FakeScript script;
    script.exhaustAt = 50;
    script.exhaust = [] {
        t_largest = 0;
        operator delete(operator new(1));
    };
    script.give = [] { t_largest = kAny; };
    ExperimentController controller(fakeFactory(script));
    QSignalSpy failed(&controller, &ExperimentController::failed);
    controller.reset(tinyConfig(1000));
    controller.play();
    std::vector<StepRecord> records;
    QTRY_VERIFY_WITH_TIMEOUT(
        ([&] {
            const SessionBatch batch = controller.drain();
            records.insert(records.end(), batch.records.begin(), batch.records.end());
            return controller.state() == SessionState::Failed && records.size() == 98;
        }()),
        kPatience);
    QCOMPARE(failed.size(), 1);
    const QString reason = translated(failed.front().front().value<Message>());
    QVERIFY2(reason.contains(QLatin1String("memory of this machine is used up")),
             qPrintable(reason));
    QCOMPARE(script.alive, 0);
    script.exhaustAt = 0;
    controller.reset(tinyConfig(10));
    controller.play();
    QTRY_COMPARE_WITH_TIMEOUT(controller.state(), SessionState::Finished, kPatience);
}

/// The rows of a long run take the rest of the memory: training pauses, the window says so, and
/// what it has can be saved.
void TestOutOfMemory::onTheWindowsThread() {
    FakeScript script;
    WindowOptions options;
    options.factory = fakeFactory(script);
    Opened opened(tinyConfig(1'000'000'000), std::move(options));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    opened.window.play();
    QTRY_VERIFY_WITH_TIMEOUT(opened.window.shown().run() && opened.window.shown().run()->step() > 0,
                             kPatience);
    t_largest = 200'000; // a drawing needs less, a chunk of rows more
    const bool told =
        QTest::qWaitFor([&] { return !opened.window.bannerText().isEmpty(); }, kPatience);
    t_largest = kAny;
    QVERIFY(told);
    QVERIFY2(opened.window.bannerText().contains(QLatin1String("memory of this machine")),
             qPrintable(opened.window.bannerText()));
    QVERIFY(reaches(opened.window, SessionState::Paused));
    QVERIFY(opened.window.shown().run()->step() > 0);
    QTemporaryDir folder;
    QVERIFY(opened.window.saveResults(folder.filePath(QStringLiteral("kept")))
                .contains(QStringLiteral("steps.csv")));
}

/// Without the notice that a run was built, its rows would go into the run before.
void TestOutOfMemory::noticesAreHeardAgain() {
    FakeScript script;
    ExperimentController controller(fakeFactory(script));
    int builds = 0, ends = 0;
    connect(&controller, &ExperimentController::built, this, [&] {
        if (builds++ == 0) throw std::bad_alloc();
    });
    connect(&controller, &ExperimentController::stateChanged, this, [&](SessionState state) {
        if (state == SessionState::Finished && ends++ == 0) throw std::bad_alloc();
    });
    controller.reset(tinyConfig(10));
    controller.play(); // waits for the run
    QTRY_COMPARE_WITH_TIMEOUT(ends, 2, kPatience);
    QCOMPARE(builds, 2);
    QCOMPARE(controller.state(), SessionState::Finished);
    QCOMPARE(controller.drain().records.size(), size_t{20});
}

/// Nobody asked for the checkpoint: the training continues without it.
void TestOutOfMemory::ofACheckpoint() {
    FakeScript script;
    script.stateBytes = 100;
    int copies = 0;
    script.copyState = [&] {
        ++copies;
        throw std::bad_alloc();
    };
    ExperimentController controller(fakeFactory(script));
    QSignalSpy failed(&controller, &ExperimentController::failed);
    controller.reset(tinyConfig(10));
    controller.play();
    QTRY_COMPARE_WITH_TIMEOUT(controller.state(), SessionState::Finished, kPatience);
    QCOMPARE(copies, 1);
    QCOMPARE(failed.size(), 0);
    QVERIFY(controller.drain().checkpoint == nullptr);
}

/// What could not be written is written with the next setting.
void TestOutOfMemory::ofTheUsersSettings() {
    constexpr std::chrono::milliseconds kLong{kPatience};
    const QTemporaryDir folder;
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder.path());
    const QString zoom = QStringLiteral("zoom"), theme = QStringLiteral("theme");
    t_tests = true;
    g_failures = 0;
    keepUserSettings({{zoom, 125}});
    QTRY_VERIFY_WITH_TIMEOUT(g_failures > 0, kPatience);
    g_failures = -1;
    QCOMPARE(userSettings().value(zoom).toInt(), 125); // known nevertheless
    QTRY_VERIFY_WITH_TIMEOUT(
        (keepUserSettings({{theme, 2}}), QSettings().value(theme).toInt() == 2), kPatience);
    QVERIFY(finishUserSettings(kLong));
    QCOMPARE(QSettings().value(zoom).toInt(), 125);
    QCOMPARE(userSettings().value(zoom).toInt(), 125);
}

HALFSCOPE_TEST_MAIN(TestOutOfMemory, GuardedApplication app(argc, argv))
#include "tst_out_of_memory.moc"
