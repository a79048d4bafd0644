// Windows that end without being closed, and what the next window offers.
#include "engine/runs/left_session.h"
#include "engine/runs/session_file.h"
#include "tests/support/cpu_run.h"
#include "tests/support/left_runs.h"
#include "ui/models/run_list_model.h"
#include "ui/panels/banner.h"
#include "ui/panels/setup_panel.h"
#include "ui/session/restore_job.h"
#include "ui/window/next_start.h"

#include <QAbstractButton>
#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <QSettings>
#include <QSignalSpy>
#include <QStatusBar>
#include <QThread>
#include <QTimer>

#include <algorithm>
#include <cmath>
#include <optional>

namespace tst_session_keeper {

using namespace halfscope;

class TestSessionKeeper : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        QCoreApplication::setOrganizationName(QStringLiteral("HalfscopeTest"));
        QCoreApplication::setApplicationName(QStringLiteral("tst_session_keeper"));
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_settings.path());
    }
    void restores();
    void restoresBesideASavedRun();
    void restartsForAnotherSize();
    void restartKeepsEditsThatWait();
    void restartKeepsEditsOfASavedRun();
    void restartKeepsQtsOptions();
    void aRestartRestoresItsOwnRuns();
    void aRestartLosesNoLargeNetworks();
    void restartKeepsSettings();
    void looksForThemAside();
    void closesWhileItLooks();
    void goesOnAfterACrash();
    void restoresMoreThanMemoryHolds();
    void deletes();
    void asksAgain();
    void aClosedWindowLeavesNothing();
    void endsWithTheLastSteps();
    void aFolderThatCannotBeMade();
    void isTriedAgain();
    void aRunKeepsItsNetworksBesideOneThatGoesOn();

private:
    QTemporaryDir m_settings;
};

void TestSessionKeeper::restores() {
    const QTemporaryDir sessions;
    QCOMPARE(leave(sessions, 40), int64_t{40});
    Opened opened(tinyConfig(7), keeping(sessions));
    QMessageBox* box = offer(opened.window, kPatience);
    QVERIFY(box);
    QVERIFY2(box->informativeText().contains(QStringLiteral("40 steps")),
             qPrintable(box->informativeText()));
    opened.window.openPreset(QStringLiteral("overflow"));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    const QSignalSpy told(opened.window.statusBar(), &QStatusBar::messageChanged);
    QTest::mouseClick(box->button(QMessageBox::Open), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(opened.window.showsSaved(), kPatience); // in place of a mere preset
    QVERIFY(told.contains({QStringLiteral("Restoring runs…")}));
    QTRY_COMPARE(opened.window.statusBar()->currentMessage(), QString()); // it is seen
    QCOMPARE(opened.window.shown().run()->step(), int64_t{40});
    // it belongs to this session now
    QVERIFY(QTest::qWaitFor(
        [&] { return sessionsIn(keeping(sessions).sessions.toStdString()).size() == 1; },
        kPatience));
}

/// A run that was opened stays in sight, and the status bar tells where the restored one is.
void TestSessionKeeper::restoresBesideASavedRun() {
    const QTemporaryDir sessions, results;
    QCOMPARE(leave(sessions, 40), int64_t{40});
    {
        Opened trained(tinyConfig(5));
        QVERIFY(trainsTo(trained.window, 5));
        trained.window.saveResults(results.filePath("run"));
    }
    Opened opened(tinyConfig(7), keeping(sessions));
    QMessageBox* box = offer(opened.window, kPatience);
    QVERIFY(box && opened.window.tryFile(results.filePath("run")));
    QTRY_VERIFY_WITH_TIMEOUT(opened.window.showsSaved(), kPatience);
    QTest::mouseClick(box->button(QMessageBox::Open), Qt::LeftButton);
    QTRY_COMPARE(opened.window.statusBar()->currentMessage(),
                 QStringLiteral("One run was restored: View > Runs of this session lists it."));
    QCOMPARE(opened.window.shown().run()->step(), int64_t{5});
}

/// A choice of another size offers a restart. It keeps the run, and the next window shows it and
/// can go on with it, without a question.
void TestSessionKeeper::restartsForAnotherSize() {
    const QTemporaryDir sessions;
    int64_t steps = 0;
    QString session;
    {
        WindowOptions options = keeping(sessions);
        options.remember = true;
        Opened opened(tinyConfig(100'000), options);
        MainWindow& window = opened.window;
        window.play();
        QVERIFY(QTest::qWaitFor([&] { return window.run().step() >= 5; }, kPatience));
        QVERIFY(choosesSize(window));
        QCOMPARE(rememberedZoom(), 150);
        rememberZoom(100);
        QVERIFY(QTest::qWaitFor([&] { return window.startsAgain().has_value(); }, kPatience));
        QVERIFY(!window.isVisible());
        const QStringList& call = *window.startsAgain();
        QCOMPARE(call.size(), qsizetype{6});
        QCOMPARE(call[0], QStringLiteral("--restore"));
        session = call[1];
        QCOMPARE(call[2], QStringLiteral("--bring-back"));
        QCOMPARE(call[3], QStringLiteral("0"));
        QCOMPARE(call[4], QStringLiteral("--edits"));
        steps = window.shown().run()->step();
    }
    WindowOptions options = keeping(sessions);
    options.left = {session, 0, {}};
    Opened opened(tinyConfig(7), options);
    MainWindow& window = opened.window;
    QVERIFY(QTest::qWaitFor([&] { return window.run().step() == steps; }, kPatience));
    QVERIFY(!offer(window, 100));
    QVERIFY(QTest::qWaitFor([&] { return window.controller().state() == SessionState::Ready; },
                            kPatience));
    window.stepOnce(); // on with the same networks
    QVERIFY(QTest::qWaitFor([&] { return window.run().step() == steps + 1; }, kPatience));
}

/// Edits of the settings that wait for the training to restart, of a run that is not the newest.
void TestSessionKeeper::restartKeepsEditsThatWait() {
    const QTemporaryDir sessions;
    LeftRuns left;
    {
        WindowOptions options = keeping(sessions);
        options.remember = true;
        Opened opened(tinyConfig(30), options);
        MainWindow& window = opened.window;
        QVERIFY(trainsTo(window, 30));
        window.setStopStep(12);
        window.restart();
        QVERIFY(trainsTo(window, 12));
        window.bringBack();
        QVERIFY(QTest::qWaitFor([&] { return window.run().step() == 30; }, kPatience));
        QVERIFY(reaches(window, SessionState::Finished));
        ConfigModel& model = window.config();
        QVERIFY(model.setData(model.index(model.rowOf("model.width")), 6));
        QVERIFY(model.removeLane(0));
        QVERIFY(model.addLane());
        QVERIFY(choosesSize(window));
        rememberZoom(100);
        QVERIFY(QTest::qWaitFor([&] { return window.startsAgain().has_value(); }, kPatience));
        const QStringList& call = *window.startsAgain();
        QCOMPARE(call.size(), qsizetype{6});
        left = {call[1], call[3].toInt(), call[5]};
    }
    WindowOptions options = keeping(sessions);
    options.left = left;
    Opened opened(tinyConfig(7), options);
    MainWindow& window = opened.window;
    QVERIFY(QTest::qWaitFor([&] { return window.run().step() == 30; }, kPatience));
    ConfigModel& model = window.config();
    QVERIFY(QTest::qWaitFor([&] { return model.restartNeeded(); }, kPatience));
    QCOMPARE(model.text(model.rowOf("model.width")), QStringLiteral("6"));
    QVERIFY(model.data(model.index(model.rowOf("model.width")), ConfigModel::ChangedRole).toBool());
    QCOMPARE(model.config().lanes.size(), size_t{2});
    QCOMPARE(model.runsAs(0), std::optional(1));
    QVERIFY(model.canFork(1)); // the lane that was added
    QVERIFY(window.setup().restartShown());
    QVERIFY(!QFile::exists(left.edits));
    // each edit can be undone, down to the settings of the run
    QAction *undo = actionFor(window, QKeySequence::Undo),
            *redo = actionFor(window, QKeySequence::Redo);
    for (const char* text : {"Add a lane", "Remove a lane", "Width"}) {
        QVERIFY2(undo->text().endsWith(QLatin1String(text)), qPrintable(undo->text()));
        undo->trigger();
    }
    QVERIFY(!undo->isEnabled() && !model.restartNeeded());
    QCOMPARE(model.text(model.rowOf("model.width")), QStringLiteral("8"));
    while (redo->isEnabled())
        redo->trigger();
    QVERIFY(model.restartNeeded());
    QCOMPARE(model.runsAs(0), std::optional(1));
    QVERIFY(model.canFork(1));
    QVERIFY(reaches(window, SessionState::Finished));
    window.play(); // with the networks of the run, which the edits have not reached
    QVERIFY(QTest::qWaitFor([&] { return window.run().step() > 30; }, kPatience));
    QCOMPARE(window.shown().run()->now().laneCount(), 2);
    QVERIFY(model.restartNeeded());
}

void TestSessionKeeper::restartKeepsEditsOfASavedRun() {
    const QTemporaryDir sessions, saved;
    WindowOptions options = keeping(sessions);
    options.remember = true;
    QStringList call;
    {
        Opened opened(tinyConfig(30), options);
        MainWindow& window = opened.window;
        QVERIFY(trainsTo(window, 30));
        window.saveResults(saved.path());
        window.openFile(saved.path());
        QVERIFY(QTest::qWaitFor([&] { return window.showsSaved(); }, kPatience));
        ConfigModel& model = window.config();
        QVERIFY(model.setData(model.index(model.rowOf("model.width")), 6));
        QVERIFY(choosesSize(window));
        rememberZoom(100);
        QVERIFY(QTest::qWaitFor([&] { return window.startsAgain().has_value(); }, kPatience));
        call = *window.startsAgain();
    }
    QCOMPARE(call.size(), qsizetype{6});
    QCOMPARE(call[2], QStringLiteral("--edits"));
    QCOMPARE(QDir(call[5]), QDir(saved.path()));
    options.left = {call[1], std::nullopt, call[3]};
    MainWindow window(options);
    window.openFile(call[5]);
    window.editAsBefore();
    window.show();
    const ConfigModel& model = window.config();
    QVERIFY(QTest::qWaitFor([&] { return model.restartNeeded(); }, kPatience));
    QCOMPARE(model.text(model.rowOf("model.width")), QStringLiteral("6"));
}

void TestSessionKeeper::restartKeepsQtsOptions() {
    const QStringList given{"halfscope", "-style",    "fusion", "--theme",
                            "dark",      "-geometry", "9x9",    "out"};
    const QStringList left{"halfscope", "--theme", "dark", "out"};
    const QStringList taken{"-style", "fusion", "-geometry", "9x9"};
    QCOMPARE(takenByQt(given, left), taken);
    QCOMPARE(takenByQt(left, left), QStringList());
}

/// Another window may have crashed meanwhile: its runs are offered, as always.
void TestSessionKeeper::aRestartRestoresItsOwnRuns() {
    const QTemporaryDir sessions;
    QCOMPARE(leave(sessions, 30), int64_t{30});
    WindowOptions options = keeping(sessions);
    const std::vector<std::string> own = sessionsIn(options.sessions.toStdString());
    QCOMPARE(own.size(), size_t{1});
    QCOMPARE(leave(sessions, 40), int64_t{40});
    options.left = {QString::fromStdString(own[0]), 0, {}};
    Opened opened(tinyConfig(7), options);
    MainWindow& window = opened.window;
    QVERIFY(QTest::qWaitFor([&] { return window.run().step() == 30; }, kPatience));
    const QMessageBox* box = offer(window, kPatience);
    QVERIFY(box);
    QVERIFY2(box->informativeText().contains(QStringLiteral("40 steps")),
             qPrintable(box->informativeText()));
    QVERIFY(!box->informativeText().contains(QStringLiteral("30 steps")));
}

/// Networks that are too large for a session would be lost: the window stays.
void TestSessionKeeper::aRestartLosesNoLargeNetworks() {
    const QTemporaryDir sessions;
    FakeScript script;
    script.stateBytes = size_t{300} << 20;
    WindowOptions options = keeping(sessions);
    options.remember = true;
    options.factory = fakeFactory(script);
    Opened opened(tinyConfig(1'000'000'000), options);
    MainWindow& window = opened.window;
    window.play();
    QVERIFY(QTest::qWaitFor([&] { return window.run().step() >= 5; }, kPatience));
    QVERIFY(choosesSize(window));
    rememberZoom(100);
    QVERIFY(QTest::qWaitFor(
        [&] { return window.bannerText().contains(QStringLiteral("too large to be kept")); },
        kPatience));
    QVERIFY(window.isVisible() && !window.startsAgain());
}

/// Untrained settings are in no session: the next window edits them again, which can be undone.
void TestSessionKeeper::restartKeepsSettings() {
    const QTemporaryDir sessions;
    WindowOptions options = keeping(sessions);
    options.remember = true;
    Opened opened(tinyConfig(7), options);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    ConfigModel& model = window.config();
    QVERIFY(model.setData(model.index(model.rowOf("optimizer.lr")), 0.125));
    QVERIFY(choosesSize(window));
    rememberZoom(100);
    QVERIFY(QTest::qWaitFor([&] { return window.startsAgain().has_value(); }, kPatience));
    const QStringList& call = *window.startsAgain();
    QVERIFY(call.size() == 4 && call[0] == QLatin1String("--edits") && call[2] == "--");
    QCOMPARE(readConfig(call[3].toStdString()).optimizer.lr, tinyConfig(7).optimizer.lr);
    QCOMPARE(takeEdits(call[1]).now.config.optimizer.lr, 0.125);
}

/// Makes so many copies of a session.
bool multiply(const QTemporaryDir& sessions, int times) {
    const QDir folder(keeping(sessions).sessions);
    const QString ending = QString::fromLatin1(kSessionEnding);
    const QStringList found = folder.entryList({u'*' + ending});
    if (found.size() != 1) return false;
    const QString name = QFileInfo(found[0]).completeBaseName();
    for (int i = 0; i < times; ++i)
        if (!QFile::copy(folder.filePath(found[0]),
                         folder.filePath(QStringLiteral("%1%2").arg(name).arg(i) + ending)))
            return false;
    return true;
}

/// The window stays responsive meanwhile.
void TestSessionKeeper::looksForThemAside() {
    const QTemporaryDir sessions;
    QCOMPARE(leave(sessions, 40), int64_t{40});
    QVERIFY(multiply(sessions, 400));
    Opened opened(tinyConfig(7), keeping(sessions));
    int turns = 0;
    QTimer timer;
    connect(&timer, &QTimer::timeout, this, [&turns] { ++turns; });
    timer.start(1);
    QMessageBox* box = offer(opened.window, kPatience);
    QVERIFY(box);
    QVERIFY2(turns > 10, qPrintable(QString::number(turns)));
    QVERIFY(box->informativeText().contains(
        QRegularExpression(QStringLiteral("\\nand [1-9][0-9]+ more$"))));
    box->reject();
}

void TestSessionKeeper::closesWhileItLooks() {
    const QTemporaryDir sessions;
    QCOMPARE(leave(sessions, 40), int64_t{40});
    QVERIFY(multiply(sessions, 100));
    {
        Opened opened(tinyConfig(7), keeping(sessions));
        QCoreApplication::processEvents();
        QVERIFY(opened.window.close());
        QVERIFY(!offer(opened.window, 100));
    }
    Opened again(tinyConfig(7), keeping(sessions)); // nothing is lost
    QVERIFY(offer(again.window, kPatience));
}

/// A restored run has its networks: they can be saved, and train on with the bits of a run that was
/// never interrupted.
void TestSessionKeeper::goesOnAfterACrash() {
    const QTemporaryDir sessions;
    QCOMPARE(leave(sessions, 40), int64_t{40});
    Opened opened(tinyConfig(7), keeping(sessions));
    QVERIFY(answers(opened.window, QMessageBox::Open));
    QVERIFY(QTest::qWaitFor([&] { return opened.window.runs().rowCount() == 1; }, kPatience));
    QVERIFY(!opened.window.showsSaved()); // not in place of an experiment that was opened
    opened.window.bringBack();
    QVERIFY(opened.window.showsSaved());
    QVERIFY(reaches(opened.window, SessionState::Finished)); // its networks, after step 40
    QCOMPARE(opened.window.networks().size(), qsizetype{2});
    const QString weights = opened.folder.filePath("w.safetensors");
    QSignalSpy saved(&opened.window.controller(), &ExperimentController::laneSaved);
    opened.window.controller().saveLane(LaneFile::StateDict, 1, weights, "0");
    QTRY_COMPARE_WITH_TIMEOUT(saved.size(), 1, kPatience);
    QCOMPARE(saved[0][1].toLongLong(), 40);

    opened.window.play(); // as many steps again
    QVERIFY(QTest::qWaitFor([&] { return opened.window.shown().run()->step() == 80; }, kPatience));
    QVERIFY(!opened.window.showsSaved());
    Opened whole(tinyConfig(80));
    whole.window.play();
    QVERIFY(reaches(whole.window, SessionState::Finished));
    QVERIFY(QTest::qWaitFor([&] { return whole.window.shown().run()->step() == 80; }, kPatience));
    for (const int lane : {0, 1})
        for (const int64_t step : {1, 40, 41, 80}) {
            const auto lossOf = [&](MainWindow& window) {
                return window.shown().run()->column(lane, metric::Loss).at(step);
            };
            QVERIFY(lossOf(whole.window).has_value());
            QCOMPARE(lossOf(opened.window), lossOf(whole.window));
        }
}

/// A long run goes to disk while it is read.
void TestSessionKeeper::restoresMoreThanMemoryHolds() {
    constexpr int64_t kSteps = 400'000;
    const QTemporaryDir folder;
    const std::string before = folder.filePath("before").toStdString();
    size_t whole = 0;
    {
        const auto run = std::make_shared<Run>(cpuRunInfo(), lanesOf(defaultConfig()));
        for (int64_t step = 1; step <= kSteps;) {
            RunBatch batch;
            for (const int64_t end = step + 1000; step < end; ++step)
                for (int lane = 0; lane < run->now().laneCount(); ++lane)
                    batch.rows.push_back(
                        StepRow(step, lane).set(metric::Loss, float(std::sin(double(step)))));
            run->append(std::move(batch));
        }
        whole = run->now().columnBytes();
        SessionStore store({before});
        store.watch(run, "long");
        store.flush();
    }
    std::vector<LeftSession> left = leftSessions(before);
    QCOMPARE(left.size(), size_t{1});
    QVERIFY(!left[0].runs().at(0).goesOnAfter); // it has no networks
    const auto store = std::make_shared<SessionStore>(
        SessionOptions{folder.filePath("now").toStdString(), whole / 8});
    RestoreJob job(std::make_shared<LeftSession>(std::move(left[0])), store);
    RunPtr restored;
    size_t held = 0;
    bool watched = false;
    connect(
        &job, &RestoreJob::read, &job,
        [&](const RunPtr& run, const LeftRun&, bool inStore) {
            restored = run;
            held = run->now().columnBytes();
            watched = inStore;
        },
        Qt::DirectConnection);
    std::optional<Message> reason; // no spy: it would be written on the job's thread
    connect(&job, &RestoreJob::finished, &job, [&](const Message& why) { reason = why; });
    job.start();
    QVERIFY(QTest::qWaitFor([&] { return reason.has_value(); }, kPatience));
    QVERIFY2(restored && watched, reason->english().c_str());
    QVERIFY2(held < whole / 2, qPrintable(QStringLiteral("%1 of %2").arg(held).arg(whole)));
    QCOMPARE(restored->step(), kSteps);
    for (const int64_t step : {int64_t{1}, int64_t{123'456}, kSteps})
        QCOMPARE(restored->now().row(1, step).loss(), float(std::sin(double(step))));
}

void TestSessionKeeper::deletes() {
    const QTemporaryDir sessions;
    QCOMPARE(leave(sessions, 12), int64_t{12});
    Opened opened(tinyConfig(7), keeping(sessions));
    QVERIFY(answers(opened.window, QMessageBox::Discard));
    QVERIFY(QTest::qWaitFor(
        [&] { return sessionsIn(keeping(sessions).sessions.toStdString()).empty(); }, kPatience));
    QCOMPARE(opened.window.runs().rowCount(), 0);
}

void TestSessionKeeper::asksAgain() {
    const QTemporaryDir sessions;
    QCOMPARE(leave(sessions, 12), int64_t{12});
    for (int start = 0; start < 2; ++start) {
        Opened opened(tinyConfig(7), keeping(sessions));
        QMessageBox* box = offer(opened.window, kPatience);
        QVERIFY(box);
        QTest::keyClick(box, Qt::Key_Escape);
        QVERIFY(QTest::qWaitFor([&] { return !offer(opened.window, 0); }, kPatience));
        opened.window.close();
    }
}

void TestSessionKeeper::aClosedWindowLeavesNothing() {
    const QTemporaryDir sessions;
    {
        Opened opened(tinyConfig(9), keeping(sessions));
        opened.window.play();
        QVERIFY(reaches(opened.window, SessionState::Finished));
        QVERIFY(QTest::qWaitFor(
            [&] { return sessionsIn(keeping(sessions).sessions.toStdString()).size() == 1; },
            kPatience));
        QVERIFY(opened.window.close());
    }
    QVERIFY(sessionsIn(keeping(sessions).sessions.toStdString()).empty());
    Opened next(tinyConfig(9), keeping(sessions));
    QVERIFY(!offer(next.window, 300));
}

/// When the program is told to end, the steps that the window has not even taken yet are on disk
/// before it goes.
void TestSessionKeeper::endsWithTheLastSteps() {
    const QTemporaryDir sessions, copy;
    RunConfig config = tinyConfig(100'000'000);
    config.pace = 1000;
    FakeScript script;
    script.stateBytes = 1;
    WindowOptions options = keeping(sessions);
    options.factory = fakeFactory(script);
    Opened opened(config, options);
    MainWindow& window = opened.window;
    const QDir folder(options.sessions);
    const auto isKept = [&] {
        return !sessionsIn(folder.path().toStdString()).empty() && window.run().step() > 9;
    };
    window.play();
    QVERIFY(QTest::qWaitFor(isKept, kPatience));
    const int64_t before = window.run().step();
    while (script.steps < before + 20)
        QThread::msleep(1); // the training goes on while the window takes nothing
    QVERIFY(window.endSession().empty());
    const int64_t trained = window.run().step();
    QVERIFY(trained >= before + 19);
    const auto& checkpoint = window.shown().run()->now().checkpoint();
    QVERIFY(checkpoint); // so that the next window can go on from there
    QCOMPARE(checkpoint->step(), trained);
    for (const QFileInfo& file : folder.entryInfoList(QDir::Files))
        if (file.suffix() != "lock")
            QVERIFY(QFile::copy(file.filePath(), copy.filePath(file.fileName())));
    const std::vector<LeftSession> left = leftSessions(copy.path().toStdString());
    QCOMPARE(left.size(), size_t{1});
    QCOMPARE(left[0].runs().at(0).steps, trained);
    QVERIFY(left[0].wasToldToEnd()); // the next window speaks of no accident
}

void TestSessionKeeper::aFolderThatCannotBeMade() {
    WindowOptions options;
    options.sessions = QStringLiteral("/proc/no/such");
    Opened opened(tinyConfig(9), options);
    opened.window.play();
    QVERIFY(reaches(opened.window, SessionState::Finished));
    QVERIFY(QTest::qWaitFor(
        [&] { return opened.window.bannerText().contains(QStringLiteral("only in memory")); },
        kPatience));
    QVERIFY(opened.window.bannerText().contains(QStringLiteral("/proc/no/such")));
    QVERIFY(!opened.window.keepSession().empty());
}

/// A file is where the folder has to be, until somebody removes it.
void TestSessionKeeper::isTriedAgain() {
    const QTemporaryDir sessions;
    const QString folder = keeping(sessions).sessions;
    {
        QFile file(folder);
        QVERIFY(file.open(QIODevice::WriteOnly));
        Opened opened(tinyConfig(9), keeping(sessions));
        MainWindow& window = opened.window;
        window.play();
        QVERIFY(reaches(window, SessionState::Finished));
        const auto isInMemory = [&] {
            return window.bannerText().contains(QStringLiteral("only in memory"));
        };
        QVERIFY(QTest::qWaitFor(isInMemory, kPatience));
        const QSignalSpy told(window.statusBar(), &QStatusBar::messageChanged);
        QVERIFY(file.remove());
        QTRY_VERIFY_WITH_TIMEOUT(told.contains({QStringLiteral("Runs are kept on disk again.")}),
                                 kPatience);
        QVERIFY(!isInMemory());
        QVERIFY(window.keepSession().empty());
    } // as after a crash
    const std::vector<LeftSession> left = leftSessions(folder.toStdString());
    QCOMPARE(left.size(), size_t{1});
    QCOMPARE(left[0].runs().at(0).steps, int64_t{9});
}

/// Both have the same checkpoint at first; then that of the later one is replaced.
void TestSessionKeeper::aRunKeepsItsNetworksBesideOneThatGoesOn() {
    const QTemporaryDir sessions;
    Opened opened(tinyConfig(40), keeping(sessions));
    MainWindow& window = opened.window;
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QVERIFY(QTest::qWaitFor([&] { return window.shown().run()->step() == 40; }, kPatience));
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    const auto bringBack = [&] {
        window.bringBack();
        return reaches(window, SessionState::Finished) && window.showsSaved() &&
               window.shown().run()->step() == 40;
    };
    QVERIFY(bringBack());
    window.shown().setPace(50);
    window.play(); // the run that continues is kept with the checkpoint after step 40
    QVERIFY(QTest::qWaitFor([&] { return !window.showsSaved(); }, kPatience));
    window.keepSession();
    window.controller().pause(); // and now with one of its own
    QVERIFY(reaches(window, SessionState::Paused));
    const auto hasOwn = [&] { return window.shown().run()->now().checkpoint()->step() > 40; };
    QVERIFY(QTest::qWaitFor(hasOwn, kPatience));
    window.keepSession();
    QVERIFY(bringBack());
    QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText()));
    QCOMPARE(window.controller().info()->goesOnAfter.value_or(0), int64_t{40});
}

} // namespace tst_session_keeper

QTEST_MAIN(tst_session_keeper::TestSessionKeeper)
#include "tst_session_keeper.moc"
