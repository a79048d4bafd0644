// What the window says about causes: a banner about settings goes with its cause and comes back
// with it, and the headline says what Play does when a run continues or cannot start.
#include "engine/train/checkpoint.h"
#include "tests/support/file_menu.h"
#include "tests/support/opened_window.h"
#include "tests/support/picture_training.h"
#include "tests/support/served_events.h"
#include "ui/panels/banner.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/field_editor.h"
#include "ui/panels/setup_panel.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_stack.h"
#include "ui/window/run_words.h"

#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTableView>
#include <QToolButton>

namespace tst_window_causes {

using namespace halfscope;

namespace {

void set(MainWindow& window, const char* key, const QString& text) {
    ConfigModel& model = window.config();
    QVERIFY(model.setData(model.index(model.rowOf(key)), text));
}

void trigger(MainWindow& window, const char* entry) {
    for (QAction* menu : window.menuBar()->actions())
        for (QAction* each : menu->menu()->actions())
            if (each->text().startsWith(QLatin1String(entry))) return each->trigger();
    QFAIL(entry);
}
void undo(MainWindow& window) { trigger(window, "&Undo"); }
void redo(MainWindow& window) { trigger(window, "&Redo"); }

QString headlineOf(MainWindow& window) {
    return window.findChild<QLabel*>(QStringLiteral("headline"))->toolTip();
}

QString stateOf(MainWindow& window) {
    return window.findChild<QLabel*>(QStringLiteral("state"))->text();
}

/// Whether the window asks for a press of Play, in all places, and says where Play starts over.
bool invites(MainWindow& window) {
    return headlineOf(window).endsWith(QStringLiteral("Press Play.")) &&
           stateOf(window) == (window.run().step() > 0
                                   ? QStringLiteral("Press Play (Space) to start over at step 1.")
                                   : QStringLiteral("Ready. Press Play (Space)."));
}

const QString kGone = QStringLiteral("the device is gone");

} // namespace

class TestWindowCauses : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void refusedSettings();
    void failedRun();
    void oneSampleTeachesNothing();
    void dismissedStaysAway();
    void refusedFork();
    void unwrittenFileStays();
    void gradientsThatADeviceCannotShow();
    void failedStart();
    void refusedExperiment();
    void aPictureAfterClasses();
    void correctedStart();
    void refusedFile();
    void continuesFromACheckpoint();
    void lostCheckpoint();
    void playShowsTheNewestStep();
    void playShowsTheNewestEvents();
};

/// There are three devices for two lanes.
void TestWindowCauses::refusedSettings() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    set(window, "run.device", QStringLiteral("cpu,cpu,cpu"));
    window.restart();
    QVERIFY2(window.bannerText().contains(QStringLiteral("3 devices for 2 lanes")),
             qPrintable(window.bannerText()));
    set(window, "optimizer.lr", QStringLiteral("0.002")); // not the cause
    QVERIFY(!window.bannerText().isEmpty());
    set(window, "run.device", QStringLiteral("cpu,cpu,cpu,cpu"));
    QVERIFY2(window.bannerText().contains(QStringLiteral("4 devices for 2 lanes")),
             qPrintable(window.bannerText()));
    set(window, "run.device", QStringLiteral("cpu"));
    QCOMPARE(window.bannerText(), QString());
    undo(window);
    QVERIFY(!window.bannerText().isEmpty());
}

/// Paused, too, the view says why, and does not try again before anything changes. Gradients that
/// were counted earlier stay in sight, with the reason.
void TestWindowCauses::gradientsThatADeviceCannotShow() {
    FakeScript script;
    script.cannotShow = true;
    Opened opened(tinyConfig(20), played(script));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(stepsTo(window, 1));
    window.shown().watchGradients(true);
    const auto* view = window.findChild<GradientView*>();
    const QString reason = QStringLiteral("The gradients cannot be counted: there is no room");
    QTRY_COMPARE_WITH_TIMEOUT(view->note(), reason, kPatience);
    test::serveEvents(200); // the view may have asked once more before it knew the reason
    const int looks = script.looks;
    test::serveEvents(400);
    QCOMPARE(script.looks.load(), looks);
    script.cannotShow = false;
    QVERIFY(stepsTo(window, 2));
    QTRY_VERIFY_WITH_TIMEOUT(!view->empty(), kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(view->note(), QString(), kPatience);
    script.cannotShow = true;
    QVERIFY(stepsTo(window, 3));
    QTRY_COMPARE_WITH_TIMEOUT(view->note(), reason, kPatience);
    QVERIFY(!view->empty());
    RunWords::State midway; // what comes first is told
    midway.session = SessionState::Paused;
    midway.noGradients = Message::data("there is no room");
    QVERIFY(RunWords::noGradients(midway, true, 4).startsWith("Paused in the middle of step 4."));
}

/// The run fails because of an edit while it ran.
void TestWindowCauses::failedRun() {
    FakeScript script;
    Opened opened(tinyConfig(20), played(script));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    set(window, "optimizer.lr", QStringLiteral("9"));
    script.failAt = 3;
    window.play();
    QVERIFY(reaches(window, SessionState::Failed));
    QTRY_COMPARE_WITH_TIMEOUT(window.bannerText(), kGone, kPatience);
    QTRY_VERIFY2(headlineOf(window).startsWith(QStringLiteral("Ended by an error. In step 2")),
                 qPrintable(headlineOf(window)));
    set(window, "run.pace", QStringLiteral("7")); // no run knows it
    QCOMPARE(window.bannerText(), kGone);
    undo(window); // the learning rate: the pace is not undone
    QCOMPARE(window.bannerText(), QString());
    redo(window);
    QCOMPARE(window.bannerText(), kGone);
}

void TestWindowCauses::dismissedStaysAway() {
    FakeScript script;
    script.failAt = 1;
    Opened opened(tinyConfig(20), played(script));
    MainWindow& window = opened.window;
    window.play();
    QTRY_COMPARE_WITH_TIMEOUT(window.bannerText(), kGone, kPatience);
    auto* banner = window.findChild<Banner*>(QStringLiteral("banner"));
    banner->findChild<QToolButton*>()->click();
    QCOMPARE(window.bannerText(), QString());
    set(window, "optimizer.lr", QStringLiteral("9"));
    undo(window);
    QCOMPARE(window.bannerText(), QString());
}

void TestWindowCauses::refusedFork() {
    FakeScript script;
    Opened opened(tinyConfig(20), played(script));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(window.config().addLane());
    window.shown().fork(2, 1);
    QTRY_VERIFY_WITH_TIMEOUT(!window.bannerText().isEmpty(), kPatience);
    undo(window);
    QCOMPARE(window.bannerText(), QString());
}

/// Settings are not to blame for a disk.
void TestWindowCauses::unwrittenFileStays() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.controller().saveCheckpoint(opened.folder.filePath("no/such/c.safetensors"), "1");
    QTRY_VERIFY_WITH_TIMEOUT(window.bannerText().contains("cannot write"), kPatience);
    set(window, "optimizer.lr", QStringLiteral("0.002"));
    QVERIFY(window.bannerText().contains("cannot write"));
}

void TestWindowCauses::failedStart() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    set(window, "data.kind", QStringLiteral("csv"));
    set(window, "data.path", opened.folder.filePath("none.csv"));
    const auto* button = window.setup().findChild<QPushButton*>(QStringLiteral("restartNow"));
    const auto* note = window.setup().findChild<QLabel*>(QStringLiteral("restartText"));
    QTRY_VERIFY2_WITH_TIMEOUT(button->isHidden(), qPrintable(note->text()), kPatience);
    QVERIFY2(note->text().startsWith("No training can start with these changes: ") &&
                 note->text().contains("none.csv"),
             qPrintable(note->text()));
    window.restart();
    QVERIFY(reaches(window, SessionState::Failed));
    QTRY_COMPARE(headlineOf(window), QStringLiteral("Training cannot start with these settings."));
    QCOMPARE(
        stateOf(window),
        QStringLiteral("Training could not start. Correct the setting or file that was named, "
                       "then press Play (Space). If the message is gone, Play shows it again."));
    const auto* play = window.findChild<QPushButton*>(QStringLiteral("play"));
    QCOMPARE(play->toolTip(),
             QStringLiteral("Try once more to start with the settings on the left (Space)"));
    undo(window);
    QCOMPARE(play->toolTip(), QStringLiteral("Train (Space)"));
    undo(window);
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(trainsTo(window, 5));
    redo(window);
    redo(window);
    window.restart();
    QVERIFY(reaches(window, SessionState::Failed));
    QTRY_VERIFY2(headlineOf(window).endsWith(QStringLiteral("The previous run is still shown.")),
                 qPrintable(headlineOf(window)));
    QVERIFY(!invites(window));
    undo(window);
    QTRY_VERIFY2(invites(window), qPrintable(headlineOf(window)));
    QCOMPARE(play->toolTip(),
             QStringLiteral("Start over at step 1 with the settings on the left (Space)"));
    redo(window);
    QVERIFY(!invites(window));
}

/// The present experiment, its edits and its run stay as they are.
void TestWindowCauses::refusedExperiment() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(trainsTo(window, 5));
    const std::string before = configText(window.config().config());
    set(window, "optimizer.lr", QStringLiteral("0.002"));
    const QString title = window.windowTitle();
    RunConfig other = tinyConfig(7);
    other.task.loss.kind = LossKind::CrossEntropy; // its targets are numbers
    QVERIFY_THROWS_EXCEPTION(InputError, window.shown().load(other, {}, QStringLiteral("Other")));
    QCOMPARE(window.windowTitle(), title);
    QCOMPARE(window.config().config().steps, int64_t{5});
    undo(window);
    QCOMPARE(configText(window.config().config()), before);
    QCOMPARE(window.controller().state(), SessionState::Finished);
    QVERIFY(trainsTo(window, 10));
}

/// The loss and the network of classes do not paint.
void TestWindowCauses::aPictureAfterClasses() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    const QString folder = opened.folder.filePath(QStringLiteral("classes"));
    onPictures(folder, 1);                             // writes them
    const auto open = [&window](const QString& path) { // it may be read aside
        window.tryFile(path);
        return QTest::qWaitFor([&] { return !window.opens(); }, kPatience);
    };
    QVERIFY(open(folder));
    QVERIFY(reaches(window, SessionState::Ready));
    QCOMPARE(window.config().config().task.loss.kind, LossKind::CrossEntropy);
    QVERIFY(open(folder + QStringLiteral("/train/0/0.png")));
    QVERIFY2(window.bannerText().startsWith(QStringLiteral("The networks paint this picture.")),
             qPrintable(window.bannerText()));
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(stepsTo(window, 1));
    QCOMPARE(window.shown().run()->info().config.task.kind, TaskKind::Image);
}

/// A table of one line trains, but to no purpose: the headline says so before Play.
void TestWindowCauses::oneSampleTeachesNothing() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(window.tryFile(write(opened.folder, QStringLiteral("one.csv"), "a,b\n1,2\n")));
    QVERIFY(reaches(window, SessionState::Ready));
    QTRY_VERIFY2_WITH_TIMEOUT(headlineOf(window).endsWith("training needs at least two."),
                              qPrintable(headlineOf(window)), kPatience);
    QVERIFY(window.tryFile(write(opened.folder, QStringLiteral("t.csv"), "a,b\n1,2\n3,4\n")));
    QTRY_VERIFY2_WITH_TIMEOUT(invites(window), qPrintable(headlineOf(window)), kPatience);
    window.openPreset(QStringLiteral("overflow")); // other data take the place of its own
    QVERIFY(reaches(window, SessionState::Ready));
    set(window, "data.kind", QStringLiteral("csv"));
    set(window, "data.path", opened.folder.filePath(QStringLiteral("one.csv")));
    QTRY_VERIFY2_WITH_TIMEOUT(headlineOf(window).endsWith("training needs at least two."),
                              qPrintable(headlineOf(window)), kPatience);
}

/// A column is named wrongly, then rightly: the window is as ready as if nothing had failed.
void TestWindowCauses::correctedStart() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(window.tryFile(write(opened.folder, QStringLiteral("t.csv"), "a,b\n1,2\n3,4\n5,6\n")));
    QVERIFY(reaches(window, SessionState::Ready));
    const auto* step = window.findChild<QPushButton*>(QStringLiteral("step"));
    for (const char* how : {"step", "play"}) {
        set(window, "data.target", QStringLiteral("c"));
        window.restart();
        QVERIFY(reaches(window, SessionState::Failed));
        QTRY_VERIFY_WITH_TIMEOUT(!window.bannerText().isEmpty(), kPatience);
        QVERIFY2(!invites(window), qPrintable(headlineOf(window)));
        set(window, "data.target", QStringLiteral("a"));
        QCOMPARE(window.bannerText(), QString());
        QTRY_VERIFY2_WITH_TIMEOUT(invites(window), qPrintable(headlineOf(window)), kPatience);
        QTRY_VERIFY_WITH_TIMEOUT(window.setup()
                                     .editor("data.path")
                                     ->findChild<QLabel*>(QStringLiteral("note"))
                                     ->text()
                                     .contains("column"),
                                 kPatience);
        test::serveEvents(300); // figures are shown some times a second
        QVERIFY2(invites(window), qPrintable(headlineOf(window)));
        QVERIFY(step->isEnabled());
        QLatin1String(how) == QLatin1String("step") ? window.stepOnce() : window.play();
        QTRY_VERIFY_WITH_TIMEOUT(window.run().step() >= 1, kPatience);
        QVERIFY(reaches(window, QLatin1String(how) == QLatin1String("step")
                                    ? SessionState::Paused
                                    : SessionState::Finished));
        QCOMPARE(window.config().running()->task.target, std::string("a"));
    }
}

/// A file that was refused is no longer news once something else is trained.
void TestWindowCauses::refusedFile() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const auto refuse = [&] {
        QDir(opened.folder.path()).mkpath(QStringLiteral("empty"));
        QVERIFY(!window.tryFile(opened.folder.filePath(QStringLiteral("empty"))));
        QVERIFY(!window.bannerText().isEmpty());
    };
    refuse();
    QVERIFY(trainsTo(window, 5));
    QCOMPARE(window.bannerText(), QString());
    refuse();
    QVERIFY(window.tryFile(write(opened.folder, QStringLiteral("t.csv"), "a,b\n1,2\n3,4\n5,6\n")));
    QCOMPARE(window.bannerText(), QString());
    window.controller().saveCheckpoint(opened.folder.filePath("no/such/c.safetensors"), "1");
    QTRY_VERIFY_WITH_TIMEOUT(!window.bannerText().isEmpty(), kPatience);
    window.play(); // this has no other place to be read
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() > 0, kPatience);
    QVERIFY(!window.bannerText().isEmpty());
}

void TestWindowCauses::continuesFromACheckpoint() {
    RunConfig config = tinyConfig(40);
    config.lanes[1].scaler.initScale = 1e30; // it skips at first
    Opened first(config);
    QVERIFY(stepsTo(first.window, 13));
    QSignalSpy saved(&first.window.controller(), &ExperimentController::saved);
    const QString path = first.folder.filePath("c.safetensors");
    first.window.controller().saveCheckpoint(path, QStringLiteral("1"));
    QTRY_COMPARE_WITH_TIMEOUT(saved.size(), 1, kPatience);
    const QString folder = first.folder.filePath("results");
    first.window.saveResults(folder);
    {
        Opened alone(tinyConfig(5));
        QVERIFY(alone.window.tryFile(path));
        QVERIFY(reaches(alone.window, SessionState::Ready));
        QTRY_COMPARE(
            headlineOf(alone.window),
            QStringLiteral(
                "This run continues after step 13; its earlier curves were not found beside "
                "the checkpoint. Press Play."));
    }
    { // nothing is left to train: the button says Continue
        Opened ended(config), again(tinyConfig(5));
        QVERIFY(trainsTo(ended.window, 40));
        QSignalSpy kept(&ended.window.controller(), &ExperimentController::saved);
        const QString end = first.folder.filePath("end.safetensors");
        ended.window.controller().saveCheckpoint(end, QStringLiteral("1"));
        QTRY_COMPARE_WITH_TIMEOUT(kept.size(), 1, kPatience);
        QVERIFY(again.window.tryFile(end));
        QVERIFY(reaches(again.window, SessionState::Finished));
        QTRY_COMPARE(
            headlineOf(again.window),
            QStringLiteral("This run ended after step 40; its curves were not found beside the "
                           "checkpoint. Press Continue."));
    }
    Opened withRows(tinyConfig(5));
    MainWindow& window = withRows.window;
    QVERIFY(window.tryFile(folder + "/checkpoint.safetensors"));
    QVERIFY(reaches(window, SessionState::Ready));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t{13}, kPatience);
    test::serveEvents(300); // figures are shown some times a second
    QTRY_COMPARE(headlineOf(window),
                 QStringLiteral("This run continues after step 13. Press Play."));
    QVERIFY(trainsTo(window, 40));
    QTRY_VERIFY(headlineOf(window).startsWith(QStringLiteral("Finished.")));
}

void TestWindowCauses::lostCheckpoint() {
    RunWords::State state;
    state.session = SessionState::Ready;
    state.begins = RunWords::Begins::CheckpointLost;
    QCOMPARE(RunWords::invitation(state, 2, {}),
             QStringLiteral("The checkpoint cannot be read, so this run starts over from step 0."));
    state.begins = RunWords::Begins::FromCheckpoint;
    QCOMPARE(RunWords::invitation(state, 2, {}),
             QStringLiteral("This run continues from its checkpoint."));
    state.goesOnAfter = 28'541;
    state.step = 30'439;
    const QString again = RunWords::invitation(state, 2, {});
    QVERIFY2(again.startsWith(
                 QStringLiteral("This run goes on after step %1,").arg(QLocale().toString(28'541))),
             qPrintable(again));
    // no setting is to blame, and none can repair it
    Opened opened(tinyConfig(6));
    MainWindow& window = opened.window;
    QVERIFY(trainsTo(window, 6));
    const RunPtr run = window.shown().run();
    QTRY_VERIFY_WITH_TIMEOUT(run->now().checkpoint(), kPatience);
    run->now().checkpoint()->setStored([] { return std::string("torn"); });
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    window.bringBack();
    const QString damaged = QStringLiteral("its checkpoint after step 6 is damaged");
    QTRY_VERIFY_WITH_TIMEOUT(window.bannerText().contains(damaged), kPatience);
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(window.showsSaved());
    set(window, "optimizer.lr", QStringLiteral("0.002"));
    QVERIFY2(window.bannerText().contains(damaged), qPrintable(window.bannerText()));
    window.stepOnce(); // from the start
    QTRY_VERIFY_WITH_TIMEOUT(!window.showsSaved() && window.run().step() == 1, kPatience);
}

/// A mark that was clicked keeps the headline and all figures at its step; training on does not.
void TestWindowCauses::playShowsTheNewestStep() {
    Opened opened(tinyConfig(1000000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() > 3, kPatience);
    window.pause();
    QVERIFY(reaches(window, SessionState::Paused));
    window.plots().pinCrosshair(2);
    int64_t before = -1; // the last steps arrive after the pause
    while (std::exchange(before, window.run().step()) != window.run().step())
        test::serveEvents(300);
    window.stepOnce();
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), before + 1, kPatience);
    QCOMPARE(window.plots().pinnedStep(), std::optional<qint64>(2));
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(!window.plots().crosshair(), kPatience);
    QVERIFY(window.plots().following());
}

/// Play, F and the button over the plots show the newest events, however far the list was scrolled.
void TestWindowCauses::playShowsTheNewestEvents() {
    Opened opened(tinyConfig(1000000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const int interval = window.config().rowOf("scaler.growth_interval", 1);
    QVERIFY(window.config().setData(window.config().index(interval), QStringLiteral("1")));
    QVERIFY(stepsTo(window, 30)); // each has an event
    auto* bar = window.findChild<EventPanel*>()->table()->verticalScrollBar();
    QTRY_VERIFY(bar->maximum() > 0);
    bar->setValue(bar->maximum());
    window.play();
    QTRY_COMPARE_WITH_TIMEOUT(bar->value(), 0, kPatience);
    window.pause();
    QVERIFY(reaches(window, SessionState::Paused));
    bar->setValue(bar->maximum());
    window.plots().setFollow(true);
    QCOMPARE(bar->value(), 0);
    // also after a click in the list, as after one on a mark
    auto* table = window.findChild<EventPanel*>()->table();
    table->selectRow(3);
    emit table->pressed(table->currentIndex());
    QVERIFY(window.plots().pinnedStep());
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(!window.plots().crosshair(), kPatience);
    QVERIFY(window.plots().following() && !table->currentIndex().isValid());
}

} // namespace tst_window_causes

QTEST_MAIN(tst_window_causes::TestWindowCauses)
#include "tst_window_causes.moc"
