// What a slip must not lose: the run that a reset or another experiment replaced comes back with
// everything that can be seen and saved of it, and a window asks before it closes with an unsaved
// run that was long.
#include "engine/io/input_file.h"
#include "tests/support/opened_window.h"
#include "tests/support/plot_parts.h"
#include "tests/support/saved_run_parts.h"
#include "tests/support/served_events.h"
#include "ui/panels/runs_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/panels/transport_bar.h"

#include <QAction>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QStatusBar>
#include <QTimer>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <semaphore>

namespace tst_kept_run {

using namespace halfscope;

namespace {

constexpr int64_t kTrained = 25;

RunConfig skippingConfig() {
    RunConfig config = tinyConfig(kTrained);
    config.title = "Dear";
    config.lanes[1].scaler.initScale = 1e30; // overflows
    return config;
}

bool trains(MainWindow& window, int64_t steps = kTrained) {
    if (!reaches(window, SessionState::Ready)) return false;
    window.play();
    return reaches(window, SessionState::Finished) &&
           QTest::qWaitFor([&] { return window.run().step() == steps; }, kPatience);
}

/// Gone: the networks of the fake engine, which makes no checkpoints.
enum class Networks { Kept, Gone };

bool isBack(MainWindow& window, Networks networks = Networks::Kept, int64_t steps = kTrained) {
    const QString text =
        QStringLiteral("Restored: a run of %1 steps. %2")
            .arg(steps)
            .arg(networks == Networks::Kept
                     ? QStringLiteral("Continue trains on to step %1; Reset starts over.")
                           .arg(2 * steps)
                     : QStringLiteral("Press Play (Space) to train it from the start."));
    return QTest::qWaitFor([&] { return stateOf(window) == text; }, kPatience) &&
           window.showsSaved() && window.run().step() == steps;
}

bool isEmptyAgain(MainWindow& window) {
    return reaches(window, SessionState::Ready) &&
           QTest::qWaitFor([&] { return window.run().step() == 0; }, kPatience);
}

/// Returns every file of the results except the plots, whose pixels may differ.
std::string resultsOf(MainWindow& window, const QTemporaryDir& folder, const char* name) {
    const QString path = folder.filePath(QLatin1String(name));
    std::string all;
    for (const QString& file : window.saveResults(path))
        if (!file.endsWith(QLatin1String(".svg")) && file != QLatin1String("manifest.json") &&
            file != QLatin1String("checkpoint.safetensors")) // both contain the folder's run
            all += file.toStdString() + '\n' + readFile(QDir(path).filePath(file).toStdString()) +
                   '\n';
    return all;
}

} // namespace

class TestKeptRun : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void aResetCanBeTakenBack();
    void aResetKeepsTheLastStep();
    void aRestartTellsTheWayBack();
    void theWayBackIsToldOnceItIsThere();
    void anotherExperimentCanBeTakenBack();
    void theListChoosesNoReplacedRun();
    void saysThatNoRunCameBefore();
    void itTakesTurns();
    void theWindowIsCalledAfterIt();
    void whatFailedIsKeptToo();
    void aTrainingTakesItsPlace();
    void itsNetworksAreReadAside();
    void networksThatCannotBeRead();
    void longOnesAreTold();
    void closingAsks();
    void closingAsksForNoShortOrSavedRun();

private:
    static void resetWhileItTrains(int64_t& last, int64_t& kept);
};

void TestKeptRun::aResetCanBeTakenBack() {
    Opened opened(skippingConfig());
    MainWindow& window = opened.window;
    QVERIFY(trains(window));
    const std::string before = resultsOf(window, opened.folder, "before");
    QVERIFY(before.find("overflow") != std::string::npos);
    QVERIFY(!window.canBringBack());
    QVERIFY(takesKeys(window));
    QTest::keyClick(&window, Qt::Key_R);
    QVERIFY(isEmptyAgain(window));
    QVERIFY(window.canBringBack());
    QCOMPARE(window.statusBar()->currentMessage(),
             QStringLiteral("Reset. Shift+R brings back the run that trained to step %1.")
                 .arg(kTrained));
    const auto menus = window.findChildren<QMenu*>();
    const auto actions = window.findChildren<QAction*>();
    const auto found = std::ranges::find(actions, QKeySequence(Qt::SHIFT | Qt::Key_R),
                                         [](const QAction* each) { return each->shortcut(); });
    QVERIFY(found != actions.end() && (*found)->isEnabled());
    QAction* back = *found;
    QCOMPARE(std::ranges::count_if(
                 menus, [back](const QMenu* each) { return each->actions().contains(back); }),
             1); // who finds it in two places looks for two things
    QTest::keyClick(&window, Qt::Key_R, Qt::ShiftModifier);
    QVERIFY(isBack(window));
    QVERIFY(!window.canBringBack());
    QCOMPARE(QString::fromStdString(resultsOf(window, opened.folder, "after")),
             QString::fromStdString(before));
    window.restart();
    QVERIFY(isEmptyAgain(window));
    QTest::keyClick(&window, Qt::Key_R); // nothing was trained since
    QVERIFY(isEmptyAgain(window));
    QVERIFY(!window.statusBar()->currentMessage().contains(QStringLiteral("Reset")));
}

/// Resets a run while it trains, and brings it back: to the step `last`, with the networks of the
/// step `kept`.
void TestKeptRun::resetWhileItTrains(int64_t& last, int64_t& kept) {
    Opened opened(tinyConfig(1000000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() > 20, kPatience);
    QVERIFY(takesKeys(window));
    QTest::keyClick(&window, Qt::Key_R);
    QVERIFY(isEmptyAgain(window));
    QTest::keyClick(&window, Qt::Key_R, Qt::ShiftModifier);
    QTRY_VERIFY_WITH_TIMEOUT(window.showsSaved(), kPatience);
    const RunSnapshot& back = window.shown().run()->now();
    QVERIFY(back.step() > 20);
    QVERIFY(back.checkpoint());
    last = back.step();
    kept = back.checkpoint()->step();
}

/// A run that is reset while it trains goes on from its last step, not from one of seconds before.
/// The window does not wait for a slow step: on a busy machine, some resets may meet one.
void TestKeptRun::aResetKeepsTheLastStep() {
    constexpr int kResets = 8, kMost = 5;
    int keep = 0;
    for (int reset = 0; reset < kResets && keep < kMost && !QTest::currentTestFailed(); ++reset) {
        int64_t last = 0, kept = -1;
        resetWhileItTrains(last, kept);
        if (kept == last) ++keep;
    }
    if (!QTest::currentTestFailed()) QCOMPARE(keep, kMost);
}

/// As the settings' button does it, and cells of the map that become lanes.
void TestKeptRun::aRestartTellsTheWayBack() {
    Opened opened(tinyConfig(1000000));
    MainWindow& window = opened.window;
    const QString back = QStringLiteral("Reset. Shift+R brings back the run that trained to step ");
    const auto tells = [&] { return window.statusBar()->currentMessage().startsWith(back); };
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() > 0, kPatience);
    emit window.setup().restartRequested();
    QTRY_VERIFY_WITH_TIMEOUT(tells(), kPatience);
    QVERIFY(reaches(window, SessionState::Running)); // it trains on, and the words stay
    QVERIFY(tells());
    QVERIFY(window.canBringBack());
    window.pause();
    QVERIFY(reaches(window, SessionState::Paused));
}

/// Before the next networks are built, Shift+R would bring back another run, or none.
void TestKeptRun::theWayBackIsToldOnceItIsThere() {
    constexpr int64_t kSteps = 5;
    FakeScript script;
    WindowOptions options = played(script);
    options.askAfterSeconds = 0; // what is told of long runs must not take its place
    Opened opened(tinyConfig(kSteps), options);
    MainWindow& window = opened.window;
    const auto told = [&window] { return window.statusBar()->currentMessage(); };
    QVERIFY(trains(window, kSteps));
    script.slowBuild = true;
    window.shown().reset();
    QTRY_VERIFY_WITH_TIMEOUT(script.building, kPatience);
    QVERIFY2(!told().contains(QStringLiteral("Shift+R")), qPrintable(told()));
    script.slowBuild = false;
    window.shown().reset();
    QVERIFY(isEmptyAgain(window));
    const QString back = QStringLiteral("Reset. Shift+R brings back the run that trained to step ");
    QCOMPARE(told(), back + QStringLiteral("5."));
    QVERIFY(trains(window, kSteps));
    window.play(); // Continue
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), 2 * kSteps, kPatience);
    QVERIFY(reaches(window, SessionState::Finished));
    window.shown().reset();
    QVERIFY(isEmptyAgain(window));
    QCOMPARE(told(), back + QStringLiteral("10. “Stop after” is 5 steps again, as before you "
                                           "pressed Continue."));
}

void TestKeptRun::anotherExperimentCanBeTakenBack() {
    Opened opened(skippingConfig());
    MainWindow& window = opened.window;
    QVERIFY(trains(window));
    const std::string before = resultsOf(window, opened.folder, "before");
    const RunConfig config = window.config().config();
    window.openPreset(QStringLiteral("regression"));
    QVERIFY(isEmptyAgain(window));
    QVERIFY(window.windowTitle() != QStringLiteral("Dear – Halfscope"));
    window.bringBack();
    QVERIFY(isBack(window));
    QCOMPARE(window.windowTitle(), QStringLiteral("Dear – Halfscope"));
    QCOMPARE(configText(window.config().config()), configText(config));
    QCOMPARE(QString::fromStdString(resultsOf(window, opened.folder, "after")),
             QString::fromStdString(before));
}

/// The list chooses the run that is shown: none, while that has no step and is not in the list.
void TestKeptRun::theListChoosesNoReplacedRun() {
    Opened opened(tinyConfig(kTrained));
    MainWindow& window = opened.window;
    auto* list = window.findChild<RunsPanel*>();
    QVERIFY(trains(window));
    QTRY_VERIFY_WITH_TIMEOUT(list->chosen() != RunId::None, kPatience);
    window.openPreset(QStringLiteral("regression"));
    QVERIFY(isEmptyAgain(window));
    QTRY_COMPARE_WITH_TIMEOUT(list->chosen(), RunId::None, kPatience);
    QVERIFY(takesKeys(window));
    QTest::keyClick(&window, Qt::Key_F8); // the keyboard needs a row
    QVERIFY(list->isVisible());
    QVERIFY(list->chosen() != RunId::None);
}

/// The key for the curves of the previous run seemed to do nothing where there are none.
void TestKeptRun::saysThatNoRunCameBefore() {
    Opened opened(tinyConfig(kTrained));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(takesKeys(window));
    const auto said = [&window] {
        window.statusBar()->clearMessage();
        QTest::keyClick(&window, Qt::Key_B);
        const QString text = window.statusBar()->currentMessage();
        QTest::keyClick(&window, Qt::Key_B); // off again
        return text;
    };
    QCOMPARE(said(), QStringLiteral("There is no previous run yet whose curves could be drawn."));
    QVERIFY(trains(window));
    QTest::keyClick(&window, Qt::Key_R);
    QVERIFY(isEmptyAgain(window));
    QCOMPARE(said(), QString()); // they are drawn
    window.openPreset(QStringLiteral("regression"));
    QVERIFY(isEmptyAgain(window));
    QVERIFY2(said().contains(QStringLiteral("Tick a run in the list")), qPrintable(said()));
}

void TestKeptRun::itTakesTurns() {
    Opened opened(skippingConfig());
    MainWindow& window = opened.window;
    QVERIFY(trains(window));
    RunConfig other = tinyConfig(9);
    other.title = "Other";
    window.openExperiment(write(opened.folder, QStringLiteral("other.json"), configText(other)));
    QVERIFY(trains(window, 9));
    for (int i = 0; i < 2; ++i) {
        window.bringBack();
        QVERIFY(isBack(window));
        QCOMPARE(window.windowTitle(), QStringLiteral("Dear – Halfscope"));
        window.bringBack();
        QVERIFY(isBack(window, Networks::Kept, 9));
        QCOMPARE(window.windowTitle(), QStringLiteral("Other – Halfscope"));
    }
}

/// Runs of one experiment have numbers in the list; the window tells the same name.
void TestKeptRun::theWindowIsCalledAfterIt() {
    Opened opened(skippingConfig());
    MainWindow& window = opened.window;
    QVERIFY(trains(window));
    QTRY_COMPARE_WITH_TIMEOUT(window.windowTitle(), QStringLiteral("Dear – Halfscope"), kPatience);
    window.restart();
    QVERIFY(isEmptyAgain(window));
    QVERIFY(trains(window));
    QTRY_COMPARE_WITH_TIMEOUT(window.windowTitle(), QStringLiteral("Dear (2) – Halfscope"),
                              kPatience);
    window.bringBack();
    QVERIFY(isBack(window));
    QTRY_COMPARE_WITH_TIMEOUT(window.windowTitle(), QStringLiteral("Dear – Halfscope"), kPatience);
    QVERIFY(trainsTo(window, 2 * kTrained)); // it goes on, as a run of its own
    QTRY_COMPARE_WITH_TIMEOUT(window.windowTitle(), QStringLiteral("Dear (3) – Halfscope"),
                              kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(window.runs().rowCount(), 3, kPatience);
}

void TestKeptRun::whatFailedIsKeptToo() {
    FakeScript script;
    script.failAt = 6;
    Opened opened(tinyConfig(20), played(script));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QVERIFY(reaches(window, SessionState::Failed));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t{5}, kPatience);
    script.failAt = 0;
    ConfigModel& model = window.config();
    const std::string trained = configText(model.config());
    QVERIFY(model.setData(model.index(model.rowOf("model.width")), QStringLiteral("16")));
    const QString folder = opened.folder.filePath(QStringLiteral("failed"));
    window.saveResults(folder);
    QCOMPARE(readFile(QDir(folder).filePath(QStringLiteral("experiment.json")).toStdString()),
             trained);
    window.restart();
    QVERIFY(isEmptyAgain(window));
    window.bringBack();
    QVERIFY(isBack(window, Networks::Gone, 5));
    QCOMPARE(configText(model.config()), trained);
}

/// A training replaces the restored run, which is then the earlier run, with its losses behind the
/// new ones, and can be restored once more.
void TestKeptRun::aTrainingTakesItsPlace() {
    Opened opened(skippingConfig());
    MainWindow& window = opened.window;
    window.shown().showBefore(true);
    QVERIFY(trains(window));
    window.restart();
    QVERIFY(isEmptyAgain(window));
    window.bringBack();
    QVERIFY(isBack(window));
    QVERIFY(reaches(window, SessionState::Finished));
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(!window.showsSaved() && window.run().step() == 2 * kTrained,
                             kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(graphNamed(window.plots(), QStringLiteral("Loss/before A")),
                             kPatience);
    QVERIFY(window.canBringBack());
    window.bringBack();
    QVERIFY(isBack(window));
}

namespace {

/// From now on, the checkpoint of the run that is shown is read through `read`.
bool readsThrough(MainWindow& window,
                  std::function<std::string(const RunCheckpoint& before)> read) {
    Run& run = *window.shown().run();
    if (!QTest::qWaitFor([&] { return run.now().checkpoint() != nullptr; }, kPatience))
        return false;
    RunBatch batch;
    const auto before = run.now().checkpoint();
    batch.checkpoint = std::make_shared<const RunCheckpoint>(
        before->step(), [before, read = std::move(read)] { return read(*before); });
    run.append(std::move(batch));
    return true;
}

} // namespace

/// The checkpoint may be large and its rows many: the run is shown at once, and Play waits for its
/// networks.
void TestKeptRun::itsNetworksAreReadAside() {
    std::binary_semaphore released{0};
    std::atomic<bool> gaveUp{false}; // waiting: the window waits for it
    Opened opened(skippingConfig());
    MainWindow& window = opened.window;
    QVERIFY(trains(window));
    QVERIFY(readsThrough(window, [&](const RunCheckpoint& before) {
        if (!released.try_acquire_for(std::chrono::milliseconds(kPatience))) gaveUp = true;
        return before.bytes();
    }));
    window.restart();
    QVERIFY(isEmptyAgain(window));
    window.bringBack();
    QVERIFY(window.showsSaved());
    QCOMPARE(window.run().step(), kTrained);
    test::serveEvents(50);
    QVERIFY(!gaveUp);
    QCOMPARE(window.controller().state(), SessionState::Building);
    released.release();
    QVERIFY(isBack(window));
    QCOMPARE(window.controller().info()->goesOnAfter.value_or(0), kTrained);
}

/// When the networks cannot be read, its settings are built and the reason is reported; the run
/// comes back once they can be read.
void TestKeptRun::networksThatCannotBeRead() {
    int reads = 0;
    Opened opened(skippingConfig());
    MainWindow& window = opened.window;
    QVERIFY(trains(window));
    QVERIFY(readsThrough(window, [&](const RunCheckpoint& before) {
        if (++reads == 1) throw RunError(Message::data("it is gone"));
        if (reads == 2) throw std::bad_alloc();
        return before.bytes();
    }));
    for (const SessionState after :
         {SessionState::Ready, SessionState::Failed, SessionState::Finished}) {
        window.restart();
        QVERIFY(isEmptyAgain(window));
        window.bringBack();
        QVERIFY(reaches(window, after));
        QVERIFY(window.showsSaved());
        QCOMPARE(window.run().step(), kTrained);
        const QString told = after == SessionState::Ready    ? QStringLiteral("it is gone")
                             : after == SessionState::Failed ? QStringLiteral("memory")
                                                             : QString();
        QVERIFY2(window.bannerText().contains(told) &&
                     window.bannerText().isEmpty() == told.isEmpty(),
                 qPrintable(window.bannerText()));
    }
    QVERIFY(isBack(window));
}

void TestKeptRun::longOnesAreTold() {
    for (const double seconds : {0.0, 3600.0}) {
        WindowOptions options;
        options.askAfterSeconds = seconds;
        Opened opened(tinyConfig(kTrained), options);
        QVERIFY(trains(opened.window));
        opened.window.restart();
        QVERIFY(isEmptyAgain(opened.window));
        QCOMPARE(opened.window.statusBar()->currentMessage(),
                 seconds > 0 ? QString()
                             : QStringLiteral("The previous run is kept. Edit > Restore the "
                                              "previous run (Shift+R) shows it again."));
        opened.window.bringBack();
        QCOMPARE(opened.window.statusBar()->currentMessage(), QString());
    }
}

/// Closes the window and answers, or gives up; returns what was asked.
QString askedOnClosing(MainWindow& window, QMessageBox::StandardButton answer) {
    QString asked;
    QTimer::singleShot(0, &window, [&] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (!box) return;
        asked = box->text();
        box->button(answer)->click();
    });
    window.close();
    test::serveEvents(50); // the timer must not outlive what it writes to
    return asked;
}

void TestKeptRun::closingAsks() {
    WindowOptions options;
    options.askAfterSeconds = 0;
    Opened opened(tinyConfig(kTrained), options);
    MainWindow& window = opened.window;
    QVERIFY(trains(window));
    QVERIFY(askedOnClosing(window, QMessageBox::Cancel)
                .endsWith(QStringLiteral("has not been saved.")));
    QVERIFY(window.isVisible());
    const int64_t drawn = window.plots().lastStep();
    window.play(); // it still works
    QTRY_VERIFY_WITH_TIMEOUT(window.plots().lastStep() > drawn, kPatience);
    QVERIFY(reaches(window, SessionState::Finished));
    window.saveResults(opened.folder.filePath(QStringLiteral("saved")));
    window.restart();
    QVERIFY(isEmptyAgain(window));
    window.setStopStep(5); // fewer rows than were saved, but other ones
    QVERIFY(trains(window, 5));
    QVERIFY(!askedOnClosing(window, QMessageBox::Discard).isEmpty());
    QVERIFY(!window.isVisible());
}

void TestKeptRun::closingAsksForNoShortOrSavedRun() {
    FakeScript script;
    WindowOptions options = played(script);
    options.askAfterSeconds = 2.5;
    { // a millisecond each
        Opened opened(tinyConfig(2400), options);
        QVERIFY(trains(opened.window, 2400));
        QCOMPARE(askedOnClosing(opened.window, QMessageBox::Cancel), QString());
    }
    Opened opened(tinyConfig(3100), options);
    MainWindow& window = opened.window;
    const QString question =
        QStringLiteral("This run has trained for 3 seconds and has not been saved.");
    QVERIFY(trains(window, 3100));
    QCOMPARE(askedOnClosing(window, QMessageBox::Cancel), question);
    QVERIFY(window.isVisible());
    window.restart(); // brought back, it is unchanged
    QVERIFY(isEmptyAgain(window));
    window.bringBack();
    QVERIFY(isBack(window, Networks::Gone, 3100));
    QCOMPARE(askedOnClosing(window, QMessageBox::Cancel), question);
    QVERIFY(window.isVisible());
    const QString folder = opened.folder.filePath(QStringLiteral("saved"));
    window.saveResults(folder);
    Opened again(tinyConfig(7), options); // on disk it is safe
    again.window.openFile(folder);
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(again.window).startsWith(QStringLiteral("Saved run")),
                             kPatience);
    for (MainWindow* each : {&window, &again.window}) {
        QCOMPARE(askedOnClosing(*each, QMessageBox::Cancel), QString());
        QVERIFY(!each->isVisible());
    }
}

} // namespace tst_kept_run

QTEST_MAIN(tst_kept_run::TestKeptRun)
#include "tst_kept_run.moc"
