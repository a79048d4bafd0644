// What the end of a training leaves to the user: Space just after it does not go on by accident,
// edits are of the next training, and a reset takes back what Continue added. Also the undoing of a
// loss scale that was set.
#include "tests/support/opened_window.h"
#include "tests/support/served_events.h"
#include "tests/support/stuck_digits.h"
#include "ui/panels/scaler_panel.h"
#include "ui/window/headline.h"
#include "ui/window/recent_end.h"
#include "ui/window/run_words.h"

#include <QDir>
#include <QElapsedTimer>
#include <QLocale>
#include <QPushButton>
#include <QSpinBox>
#include <QStatusBar>
#include <QToolButton>

#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace tst_after_the_end {

using namespace halfscope;

namespace {

int stopOf(MainWindow& window) {
    return window.findChild<QSpinBox*>(QStringLiteral("stopAt"))->value();
}

bool edit(MainWindow& window, const char* key, int lane, const char* text) {
    ConfigModel& model = window.config();
    return model.setData(model.index(model.rowOf(key, lane)), QString::fromLatin1(text));
}

/// Presses Space, on Play or where no control has the keyboard.
void pressSpace(MainWindow& window, bool onPlay) {
    auto* play = window.findChild<QPushButton*>(QStringLiteral("play"));
    if (onPlay) play->setFocus();
    QTest::keyClick(onPlay ? static_cast<QWidget*>(play) : &window, Qt::Key_Space);
}

/// Returns a window whose training was begun by Space, with a second Space within the time that
/// RecentEnd measures; null when this machine never was fast enough.
std::unique_ptr<Opened> pressedAtTheEnd(bool onPlay) {
    constexpr int kAttempts = 10;
    for (int i = 0; i < kAttempts; ++i) {
        auto opened = std::make_unique<Opened>(tinyConfig(30));
        MainWindow& window = opened->window;
        if (!reaches(window, SessionState::Ready) || !takesKeys(window)) return nullptr;
        pressSpace(window, onPlay);
        QElapsedTimer clock; // since it was not at its end yet
        clock.start();
        const bool ended = QTest::qWaitFor(
            [&] {
                const bool isOver = window.controller().state() == SessionState::Finished;
                if (!isOver) clock.restart();
                return isOver;
            },
            kPatience);
        if (!ended) return nullptr;
        pressSpace(window, onPlay);
        if (clock.elapsed() < RecentEnd::kRecentMs) return opened;
    }
    return nullptr;
}

} // namespace

class TestAfterTheEnd : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void spaceWaitsAWhile_data();
    void spaceWaitsAWhile();
    void resetTakesContinueBack();
    void resetKeepsALengthThatWasEdited();
    void resetBringsEpochsBack();
    void editsAreOfTheNextTraining();
    void continueTrainsWithEdits();
    void stepTrainsWithEdits();
    void editsOfAnEndThatWasOpened();
    void aScaleWaitsForContinue();
    void atLeastWaitsForContinue();
    void aFailureTakesNoEdits();
    void aFailureTellsWhichSpeedsAreShown();
    void patienceThatWasEdited();
    void continuedExperimentIsSaved();
    void saysWhatChangedInASavedExperiment();
    void continuesPastItsPatience();
    void saysThatPatienceEndedIt();
    void aScaleIsUndone();
    void aScaleOfAnEarlierRunIsNot();
};

void TestAfterTheEnd::spaceWaitsAWhile_data() {
    QTest::addColumn<bool>("onPlay");
    QTest::newRow("window") << false;
    QTest::newRow("Play") << true; // which has the keyboard once a file was opened
}

void TestAfterTheEnd::spaceWaitsAWhile() {
    QFETCH(const bool, onPlay);
    const std::unique_ptr<Opened> opened = pressedAtTheEnd(onPlay);
    if (!opened) QSKIP("this machine is too busy to press a key within a second of the end");
    MainWindow& window = opened->window;
    QTest::qWait(RecentEnd::kRecentMs + 50);
    QCOMPARE(window.controller().state(), SessionState::Finished);
    QCOMPARE(stopOf(window), 30);
    pressSpace(window, onPlay);
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t{60}, kPatience);
}

void TestAfterTheEnd::resetTakesContinueBack() {
    Opened opened(tinyConfig(30));
    MainWindow& window = opened.window;
    QVERIFY(trainsTo(window, 30));
    QVERIFY(trainsTo(window, 60));
    QVERIFY(trainsTo(window, 90)); // again
    QCOMPARE(stopOf(window), 90);
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    QCOMPARE(stopOf(window), 30);
    QVERIFY(!actionFor(window, QKeySequence::Undo)->isEnabled());
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t{30}, kPatience);
}

void TestAfterTheEnd::resetKeepsALengthThatWasEdited() {
    Opened opened(tinyConfig(30));
    MainWindow& window = opened.window;
    QVERIFY(trainsTo(window, 30));
    QVERIFY(trainsTo(window, 60));
    window.setStopStep(80);
    QVERIFY(trainsTo(window, 80));
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    QCOMPARE(stopOf(window), 80);
}

void TestAfterTheEnd::resetBringsEpochsBack() {
    RunConfig config = presetNamed("regression").config;
    config.device = "cpu";
    config.task.samples = 200; // four batches
    config.epochs = 5;
    Opened opened(config);
    MainWindow& window = opened.window;
    QVERIFY(trainsTo(window, 20));
    QVERIFY(trainsTo(window, 40));
    QCOMPARE(window.config().config().epochs, int64_t{0});
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    QCOMPARE(window.config().config().epochs, int64_t{5});
    QCOMPARE(stopOf(window), 20);
}

/// They are no part of the run that has ended: neither its events nor its settings nor its files
/// have them. A reset begins with them.
void TestAfterTheEnd::editsAreOfTheNextTraining() {
    Opened opened(tinyConfig(30));
    MainWindow& window = opened.window;
    QVERIFY(trainsTo(window, 30));
    const RunPtr run = window.shown().run();
    QTRY_VERIFY(run->info().outcome == RunOutcome::Finished);
    const auto stateOf = [&run] {
        return configText(run->info().config) + configText(run->info().recorded) +
               std::to_string(run->events().size());
    };
    const std::string before = stateOf();
    QVERIFY(edit(window, "scaler.mode", 1, "static"));
    QVERIFY(edit(window, "optimizer.lr", -1, "0.25"));
    QVERIFY(edit(window, "scaler.init_scale", 1, "1024"));
    window.setStopStep(40);
    test::serveEvents(300); // some frames
    QVERIFY(stateOf() == before);
    QVERIFY(run->info().outcome == RunOutcome::Finished);
    QCOMPARE(window.config().config().optimizer.lr, 0.25);
    const QString saved = opened.folder.filePath(QStringLiteral("saved"));
    window.saveResults(saved);
    const std::string file = QDir(saved).filePath(QStringLiteral("experiment.json")).toStdString();
    QVERIFY(readConfig(file).edits.empty());
    QCOMPARE(readConfig(file).steps, int64_t{30});
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(trainsTo(window, 40));
    QVERIFY(stateOf() == before);
    const RunInfo& next = window.shown().run()->info();
    QVERIFY(next.recorded.edits.empty());
    QCOMPARE(next.recorded.optimizer.lr, 0.25);
    QVERIFY(next.recorded.lanes[1].scaler.rules.mode == ScalerMode::Static);
}

/// Their step is the first one after the end. What was undone leaves no trace.
void TestAfterTheEnd::continueTrainsWithEdits() {
    Opened opened(tinyConfig(30));
    MainWindow& window = opened.window;
    QVERIFY(trainsTo(window, 30));
    QVERIFY(edit(window, "optimizer.lr", -1, "0.25"));
    QVERIFY(edit(window, "scaler.backoff_factor", 1, "0.25"));
    actionFor(window, QKeySequence::Undo)->trigger();
    window.setStopStep(20); // before its end: of the next training
    QVERIFY(trainsTo(window, 60));
    const RunPtr& run = window.shown().run();
    std::set<std::string> edited;
    for (const LiveEdit& each : run->info().recorded.edits) {
        QCOMPARE(each.step, int64_t{31});
        edited.insert(each.key);
    }
    QCOMPARE(edited, (std::set<std::string>{"optimizer.lr", "run.steps"}));
    QCOMPARE(run->info().config.optimizer.lr, 0.25);
    QCOMPARE(*run->now().column(0, metric::LearningRate).at(31), 0.25);
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    QCOMPARE(stopOf(window), 20);
}

void TestAfterTheEnd::stepTrainsWithEdits() {
    Opened opened(tinyConfig(30));
    MainWindow& window = opened.window;
    QVERIFY(trainsTo(window, 30));
    const auto* step = window.findChild<QPushButton*>(QStringLiteral("step"));
    QVERIFY(edit(window, "optimizer.lr", -1, "0.25"));
    QVERIFY(!step->isEnabled());
    window.setStopStep(40);
    QVERIFY(step->isEnabled());
    window.setStopStep(30);
    QVERIFY(!step->isEnabled());
    window.setStopStep(40);
    window.stepOnce();
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t{31}, kPatience);
    QVERIFY(reaches(window, SessionState::Paused));
    QCOMPARE(window.shown().run()->info().recorded.edits.size(), size_t{2});
}

/// A saved run that has ended goes on like one that was trained here.
void TestAfterTheEnd::editsOfAnEndThatWasOpened() {
    Opened opened(tinyConfig(30));
    QVERIFY(trainsTo(opened.window, 30));
    const QString saved = opened.folder.filePath(QStringLiteral("saved"));
    opened.window.saveResults(saved);
    Opened again(tinyConfig(7));
    MainWindow& window = again.window;
    window.openFile(saved);
    QVERIFY(reaches(window, SessionState::Finished));
    QTRY_VERIFY(window.showsSaved());
    QVERIFY(edit(window, "optimizer.lr", -1, "0.25"));
    test::serveEvents(300); // some frames
    QVERIFY(window.shown().run()->info().recorded.edits.empty());
    QVERIFY(window.config().running()->optimizer.lr != 0.25);
    QVERIFY(trainsTo(window, 60));
    const RunInfo& info = window.shown().run()->info();
    QCOMPARE(info.recorded.edits.size(), size_t{2}); // and the length
    QCOMPARE(info.config.optimizer.lr, 0.25);
}

/// A loss scale is no setting, but waits like one.
void TestAfterTheEnd::aScaleWaitsForContinue() {
    Opened opened(tinyConfig(30));
    MainWindow& window = opened.window;
    const auto onCard = [&window] {
        const auto* panel = window.findChild<ScalerPanel*>();
        return panel->findChildren<LaneCard*>().value(1)->scale();
    };
    QVERIFY(trainsTo(window, 30));
    const RunPtr run = window.shown().run();
    QTRY_VERIFY(run->info().outcome == RunOutcome::Finished);
    const auto stateOf = [&run] {
        return configText(run->info().recorded) + std::to_string(run->events().size());
    };
    const std::string before = stateOf();
    const double own = onCard();
    window.shown().setScale(1, QStringLiteral("64"));
    QCOMPARE(onCard(), 64.0);
    actionFor(window, QKeySequence::Undo)->trigger();
    QCOMPARE(onCard(), own);
    test::serveEvents(300); // some frames
    QVERIFY(stateOf() == before);
    const auto scales = [&window] {
        std::vector<LiveEdit> edits = window.shown().run()->info().recorded.edits;
        std::erase_if(edits, [](const LiveEdit& edit) { return edit.key != kLiveScale; });
        return edits;
    };
    QVERIFY(trainsTo(window, 60));
    QTRY_COMPARE(window.run().step(), int64_t{60});
    QVERIFY(scales().empty()); // it was undone
    window.shown().setScale(1, QStringLiteral("64"));
    QVERIFY(trainsTo(window, 90));
    QTRY_COMPARE(window.run().step(), int64_t{90});
    QCOMPARE(scales().size(), size_t{1});
    QCOMPARE(scales().front().step, int64_t{61});
    QCOMPARE(*window.shown().run()->now().column(1, metric::Scale).at(61), 64.0);
    QTRY_VERIFY(run->info().outcome == RunOutcome::Finished);
    const std::string longer = stateOf();
    window.shown().setScale(1, QStringLiteral("32"));
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(trainsTo(window, 30));
    QVERIFY(stateOf() == longer);
    QVERIFY(scales().empty());
}

/// The card shows that it was pressed. The lane may have been removed from the settings since.
void TestAfterTheEnd::atLeastWaitsForContinue() {
    RunConfig config = tinyConfig(30);
    config.lanes[1].scaler.initScale = 1024;
    Opened opened(config);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(stepsTo(window, 20));
    QVERIFY(edit(window, "scaler.growth_interval", 1, "5"));
    QVERIFY(trainsTo(window, 30));
    const auto button = [&window] {
        const auto* panel = window.findChild<ScalerPanel*>();
        return panel->findChildren<QToolButton*>(QStringLiteral("atLeast")).value(0);
    };
    const auto edits = [&window] { return window.shown().run()->info().recorded.edits; };
    QTRY_VERIFY_WITH_TIMEOUT(button() && button()->isVisible(), kPatience);
    button()->click();
    QTRY_VERIFY(!button()->isVisible());
    actionFor(window, QKeySequence::Undo)->trigger();
    QVERIFY(button()->isVisible());
    QVERIFY(window.config().removeLane(1));
    button()->click();
    QTRY_VERIFY(!button()->isVisible());
    test::serveEvents(300); // some frames
    QCOMPARE(edits().size(), size_t{1});
    QVERIFY(trainsTo(window, 60));
    QCOMPARE(edits().size(), size_t{3}); // and the length
    QVERIFY(std::ranges::count(edits(), std::string("scaler.growth_test"), &LiveEdit::key) == 1);
}

/// Nothing was trained with them.
void TestAfterTheEnd::aFailureTakesNoEdits() {
    FakeScript script;
    std::atomic<bool> breaks{false};
    script.copyState = [&breaks] {
        if (breaks) throw std::runtime_error("the device is gone");
    };
    Opened opened(tinyConfig(30), played(script));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(trainsTo(window, 30));
    const RunPtr run = window.shown().run();
    QTRY_VERIFY(run->info().outcome == RunOutcome::Finished);
    const double rate = run->info().config.optimizer.lr;
    QVERIFY(edit(window, "optimizer.lr", -1, "0.25"));
    breaks = true;
    window.controller().saveCheckpoint(opened.folder.filePath(QStringLiteral("c")), {});
    QVERIFY(reaches(window, SessionState::Failed));
    test::serveEvents(300); // some frames
    QCOMPARE(run->info().config.optimizer.lr, rate);
    QCOMPARE(window.config().config().optimizer.lr, 0.25);
}

/// The run does not train any more, so the strip must not show the speeds of its last seconds.
void TestAfterTheEnd::aFailureTellsWhichSpeedsAreShown() {
    FakeScript script;
    script.failAt = 20;
    Opened opened(tinyConfig(30), played(script));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QVERIFY(reaches(window, SessionState::Failed));
    const auto* speeds = window.findChild<QLabel*>(QStringLiteral("speeds"));
    QTRY_VERIFY2_WITH_TIMEOUT(
        speeds->accessibleName().contains(QStringLiteral("median of the run")),
        qPrintable(speeds->accessibleName()), kPatience);
}

/// Continue adds nothing to a patience that is long enough.
void TestAfterTheEnd::patienceThatWasEdited() {
    Opened opened(test::stuckDigits(100, 2));
    MainWindow& window = opened.window;
    QVERIFY(trainsTo(window, 30)); // after the second validation that is no better than the first
    QVERIFY(edit(window, "run.patience", -1, "3"));
    QVERIFY(trainsTo(window, 40)); // one more
    QCOMPARE(window.run().step(), int64_t{40});
    QCOMPARE(window.config().config().patience, int64_t{3});
}

/// With the length that it had first, on which a schedule depends, but Continue is no live change.
void TestAfterTheEnd::continuedExperimentIsSaved() {
    RunConfig config = tinyConfig(30);
    const auto usual = config.lanes[0].scaler.initScale;
    config.lanes[0].scaler.initScale = 4; // has no effect in FP32
    Opened opened(config);
    MainWindow& window = opened.window;
    ConfigModel& model = window.config();
    const QModelIndex seed = model.index(model.rowOf("run.seed"));
    const QString path = opened.folder.filePath(QStringLiteral("longer.json"));
    const auto savesWith = [&](const QString& what) {
        window.saveExperiment(path);
        const QString told = QStringLiteral("Saved as ") + path + what;
        return window.bannerText().isEmpty() && window.statusBar()->currentMessage() == told;
    };
    QVERIFY(trainsTo(window, 30));
    QVERIFY(trainsTo(window, 60));
    QVERIFY2(savesWith(QStringLiteral(", with the changed end of the run")),
             qPrintable(window.statusBar()->currentMessage()));
    const RunConfig saved = readConfig(path.toStdString());
    QCOMPARE(saved.steps, int64_t{30});
    QVERIFY(!saved.edits.empty());
    QCOMPARE(saved.lanes[0].scaler.initScale, usual);
    Opened again(tinyConfig(7));
    again.window.openFile(path);
    QVERIFY(trainsTo(again.window, 60));
    // with other settings, the file has the length that they show, and lacks nothing
    const QVariant before = model.data(seed, Qt::EditRole);
    QVERIFY(model.setData(seed, 12));
    QVERIFY(savesWith({}));
    QCOMPARE(readConfig(path.toStdString()).steps, int64_t{60});
    QVERIFY(model.setData(seed, before));
    window.setStopStep(80);
    QVERIFY(model.setData(model.index(model.rowOf("optimizer.lr")), 0.005));
    QVERIFY(trainsTo(window, 80));
    QVERIFY2(savesWith(QStringLiteral(", with the live changes of the run")),
             qPrintable(window.statusBar()->currentMessage()));
    QVERIFY(model.setData(seed, 12));
    window.saveExperiment(path);
    QVERIFY2(window.bannerText().contains(QStringLiteral("now. The live changes of the run are")),
             qPrintable(window.bannerText()));
}

void TestAfterTheEnd::saysWhatChangedInASavedExperiment() {
    RunConfig recorded = tinyConfig(30);
    const auto said = [&recorded] {
        return RunWords::savedExperiment(QStringLiteral("a.json"), recorded);
    };
    recorded.edits = {{31, -1, "run.steps", int64_t{60}}, {31, -1, "run.patience", int64_t{4}}};
    QVERIFY(!RunWords::isChanged(recorded));
    QCOMPARE(said(), QStringLiteral("Saved as a.json, with the changed end of the run"));
    recorded.forks.emplace_back();
    QVERIFY(RunWords::isChanged(recorded));
    QCOMPARE(said(), QStringLiteral("Saved as a.json, with the forks of the run"));
    QVERIFY(RunWords::savedWithoutChanges(recorded).contains(QStringLiteral("The forks of the")));
    recorded.edits.push_back({40, -1, "optimizer.lr", 0.5});
    QCOMPARE(said(), QStringLiteral("Saved as a.json, with the forks and live changes of the run"));
    QVERIFY(RunWords::savedWithoutChanges(recorded).contains(
        QStringLiteral("The forks and live changes of the")));
}

void TestAfterTheEnd::continuesPastItsPatience() {
    Opened opened(test::stuckDigits(100, 2));
    MainWindow& window = opened.window;
    const auto patience = [&] { return window.config().config().patience; };
    QVERIFY(trainsTo(window, 30)); // after the second validation that is no better than the first
    QCOMPARE(window.run().step(), int64_t{30});
    QTRY_VERIFY(window.findChild<Headline*>(QStringLiteral("headline"))
                    ->said()
                    .startsWith(QStringLiteral("Ended: validation no longer got better.")));
    QTRY_VERIFY(window.shown().run()->info().outcome == RunOutcome::OutOfPatience);
    QVERIFY(trainsTo(window, 50)); // two more
    QCOMPARE(window.run().step(), int64_t{50});
    QCOMPARE(patience(), int64_t{4});
    QCOMPARE(stopOf(window), 100);
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    QCOMPARE(patience(), int64_t{2});
    QVERIFY(trainsTo(window, 30));
    QTRY_COMPARE(window.run().step(), int64_t{30});
    // out of patience at its last step: both must move
    window.setStopStep(30);
    QVERIFY(trainsTo(window, 50));
    QCOMPARE(patience(), int64_t{4});
    QVERIFY(stopOf(window) >= 50);
}

void TestAfterTheEnd::saysThatPatienceEndedIt() {
    RunWords::State state;
    state.session = SessionState::Finished;
    state.step = 30;
    state.nextStop = 100;
    QCOMPARE(RunWords::over(state), QStringLiteral("Finished."));
    state.outOfPatience = true;
    QCOMPARE(RunWords::over(state), QStringLiteral("Ended: validation no longer got better."));
    const QString why = QStringLiteral(
        "Ended: validation no longer got better (run.patience). Continue trains on, at most to "
        "step 100; Reset starts over.");
    QCOMPARE(RunWords::state(state, {}), why);
    QCOMPARE(RunWords::state(state, QStringLiteral("Restored: a run of 30 steps.")),
             QStringLiteral("Restored: a run of 30 steps. ") + why);
}

void TestAfterTheEnd::aScaleIsUndone() {
    Opened opened(tinyConfig(1000000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(stepsTo(window, 1));
    const float before = window.run().lane(1).scale();
    const auto isAt = [&](float scale) {
        return QTest::qWaitFor([&] { return window.run().lane(1).scale() == scale; }, kPatience);
    };
    window.shown().setScale(1, QStringLiteral("64"));
    QVERIFY(isAt(64));
    const size_t events = window.shown().run()->events().size();
    window.shown().setScale(1, QStringLiteral("64")); // the scale that there is
    QAction* undo = actionFor(window, QKeySequence::Undo);
    QVERIFY2(undo->text().endsWith(QLatin1String("Loss scale of lane B")),
             qPrintable(undo->text()));
    undo->trigger();
    QVERIFY(isAt(before));
    QCOMPARE(window.shown().run()->events().size(), events + 1); // of the undoing alone
    QVERIFY(!undo->isEnabled());
    window.config().setData(window.config().index(window.config().rowOf("optimizer.lr")), 0.25);
    undo->trigger(); // other edits are still undone
    QVERIFY(!undo->isEnabled());
    QVERIFY(stepsTo(window, 2));
    QCOMPARE(window.run().lane(1).last.scale(), before);
}

/// After a reset the scale is the first one again, and an earlier one would be none of its own.
void TestAfterTheEnd::aScaleOfAnEarlierRunIsNot() {
    Opened opened(tinyConfig(1000000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    ConfigModel& model = window.config();
    const double rate = model.config().optimizer.lr;
    model.setData(model.index(model.rowOf("optimizer.lr")), 0.25);
    QVERIFY(stepsTo(window, 1));
    window.shown().setScale(1, QStringLiteral("64"));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().lane(1).scale(), 64.0F, kPatience);
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(stepsTo(window, 1));
    const float scale = window.run().lane(1).scale();
    QAction* undo = actionFor(window, QKeySequence::Undo);
    QVERIFY2(undo->text().endsWith(QLatin1String("Learning rate")), qPrintable(undo->text()));
    undo->trigger();
    QCOMPARE(model.config().optimizer.lr, rate);
    QVERIFY2(!undo->isEnabled(), qPrintable(undo->text()));
    QVERIFY(stepsTo(window, 2));
    QCOMPARE(window.run().lane(1).last.scale(), scale);
}

} // namespace tst_after_the_end

QTEST_MAIN(tst_after_the_end::TestAfterTheEnd)
#include "tst_after_the_end.moc"
