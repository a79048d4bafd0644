// What the window offers once an error has ended a run: what it still has is saved, and the run
// goes on from there; where nothing is left of it, that is said.
#include "engine/train/checkpoint.h"
#include "tests/support/driven_session.h"
#include "tests/support/picture_training.h"
#include "tests/support/saved_run_parts.h"
#include "ui/panels/scaler_panel.h"
#include "ui/window/run_words.h"

#include <QDir>
#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QToolButton>

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

namespace tst_after_an_error {

using namespace halfscope;

namespace {

constexpr int64_t kSteps = 12, kLast = 4;

/// One picture is damaged, which the first epoch meets in the step after the last one.
RunConfig onDamagedPictures(const QString& folder, Damaged damaged) {
    RunConfig config = onPictures(folder, kSteps);
    config.data.shuffle = false; // the first class comes first, with two samples a step
    config.task.damaged = damaged;
    QFile picture(folder + QStringLiteral("/train/1/1.png"));
    if (picture.open(QFile::WriteOnly)) picture.write("no picture");
    return config;
}

/// A real training whose device is lost in the step `lostAt`, and whose networks may have become
/// too large to be kept.
class LosingRun final : public TrainingRun {
public:
    struct Script {
        std::atomic<int64_t> lostAt{0};
        std::atomic<bool> large{false};
    };
    LosingRun(std::unique_ptr<TrainingRun> run, const Script& script)
        : m_run(std::move(run)), m_script(script) {}
    const RunConfig& config() const override { return m_run->config(); }
    RunConfig recorded() const override { return m_run->recorded(); }
    size_t changes() const override { return m_run->changes(); }
    std::vector<std::string> laneNames() const override { return m_run->laneNames(); }
    DeviceInfo device() const override { return m_run->device(); }
    Message cudaReason() const override { return m_run->cudaReason(); }
    int64_t step() const override { return m_run->step(); }
    bool finished() const override { return m_run->finished(); }
    bool advance(std::vector<StepRecord>& rows, std::vector<Event>& events) override {
        if (step() + 1 == m_script.lostAt) throw EngineError(Message::data("the device is gone"));
        return m_run->advance(rows, events);
    }
    void requestStop() override { m_run->requestStop(); }
    void clearStop() override { m_run->clearStop(); }
    void setLive(int lane, const std::string& key, const FieldValue& value,
                 std::vector<Event>& events) override {
        m_run->setLive(lane, key, value, events);
    }
    void fork(int parent, const LaneConfig& lane, std::vector<Event>& events) override {
        m_run->fork(parent, lane, events);
    }
    void resume(const ExperimentState& from) override { m_run->resume(from); }
    ExperimentState state() override { return m_run->state(); }
    size_t stateBytes() const override {
        return m_script.large ? size_t{1} << 30 : m_run->stateBytes();
    }
    Picture target() const override { return m_run->target(); }
    Snapshot snapshot() override { return m_run->snapshot(); }

private:
    std::unique_ptr<TrainingRun> m_run;
    const Script& m_script;
};

const QPushButton& playOf(const MainWindow& window) {
    return *window.findChild<QPushButton*>(QStringLiteral("play"));
}

/// Trains until the error, and waits until the window has all of it.
bool failsAfter(MainWindow& window, int64_t step) {
    window.play();
    return reaches(window, SessionState::Failed) &&
           QTest::qWaitFor([&] { return window.run().step() == step; }, kPatience);
}

bool offers(const MainWindow& window, const char* label, const char* tip) {
    const QPushButton& play = playOf(window);
    return QTest::qWaitFor(
        [&] { return play.text() == QLatin1String(label) && play.toolTip() == QLatin1String(tip); },
        kPatience);
}

bool offersToGoOn(const MainWindow& window) {
    return offers(window, "Continue", "Go on from the last step that was kept (Space)");
}

bool offersToStartOver(const MainWindow& window) {
    return offers(window, "Play", "Start over at step 1 with the settings on the left (Space)");
}

QString statusOf(const MainWindow& window) {
    return window.findChild<QLabel*>(QStringLiteral("state"))->text();
}

void set(MainWindow& window, const char* key, const QString& value) {
    ConfigModel& model = window.config();
    QVERIFY(model.setData(model.index(model.rowOf(key)), value));
}

void skipDamaged(MainWindow& window) { set(window, "data.damaged", QStringLiteral("skip")); }

} // namespace

class TestAfterAnError : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void whatIsHeldIsSaved();
    void aGlanceEndsNothing();
    void itGoesOnWithoutTheDamaged();
    void openedAgainItGoesOnToo();
    void aCheckpointAloneGoesOnToo();
    void withoutALaneItStartsOver();
    void aLastStepAloneIsFinished();
    void aLargerBatchEndsNothing();
    void anEditIsKeptWithItsStep();
    void editsAreToldOnce();
    void builtAgainOrNotItGoesOn();
    void itGoesOnWhereItsDataAre();
    void itKeepsWhatItBeganWith();
    void largeNetworksAreLost();
    void aLostDeviceLeavesNothing();
    void noScaleCanBeSet();

private:
    QString path(const char* name) const { return m_folder.filePath(QString::fromUtf8(name)); }
    /// Returns the steps of a run that has skipped the damaged picture from the start.
    std::string skippingSteps(const char* name) const {
        Opened opened(onDamagedPictures(path(name), Damaged::Skip));
        if (!reaches(opened.window, SessionState::Ready) || !trainsTo(opened.window, kSteps))
            return "it did not train";
        const QString results = opened.folder.filePath(QStringLiteral("results"));
        opened.window.saveResults(results);
        return contentOf(results, "steps.csv");
    }
    QTemporaryDir m_folder;
};

void TestAfterAnError::whatIsHeldIsSaved() {
    Opened opened(onDamagedPictures(path("saved pictures"), Damaged::Refuse));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(failsAfter(window, kLast));
    ExperimentController& controller = window.controller();
    QSignalSpy saved(&controller, &ExperimentController::saved);
    QSignalSpy ofLane(&controller, &ExperimentController::laneSaved);
    const QString checkpoint = opened.folder.filePath(QStringLiteral("c.safetensors"));
    const QString weights = opened.folder.filePath(QStringLiteral("w.safetensors"));
    controller.saveCheckpoint(checkpoint, QStringLiteral("1"));
    controller.saveLane(LaneFile::StateDict, 0, weights, QStringLiteral("1"));
    QTRY_COMPARE_WITH_TIMEOUT(saved.size(), 1, kPatience);
    QCOMPARE(readCheckpoint(checkpoint.toStdString()).step, kLast);
    QTRY_COMPARE_WITH_TIMEOUT(ofLane.size(), 1, kPatience);
    QVERIFY(QFile::exists(weights));
    QCOMPARE(controller.state(), SessionState::Failed); // saving trains nothing
}

/// The window counts gradients of the next step, which nobody has asked for.
void TestAfterAnError::aGlanceEndsNothing() {
    RunConfig config = onDamagedPictures(path("glanced pictures"), Damaged::Refuse);
    config.steps = kLast;
    Opened opened(config);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(trainsTo(window, kLast));
    QSignalSpy saved(&window.controller(), &ExperimentController::saved);
    const auto rests = [&] { // what was counted before is known once the file is there
        saved.clear();
        window.controller().saveCheckpoint(opened.folder.filePath(QStringLiteral("c.safetensors")),
                                           QStringLiteral("1"));
        return QTest::qWaitFor([&] { return !saved.isEmpty(); }, kPatience) &&
               window.controller().state() == SessionState::Finished;
    };
    QVERIFY(rests());
    window.controller().watchGradients(true); // neither does who looks at them
    QVERIFY(rests());
    QVERIFY(failsAfter(window, kLast)); // the step itself does
    QVERIFY(offersToGoOn(window));
}

/// The picture is skipped from now on. It stays the same run, however often it is tried, and has
/// the steps of one that skipped it from the start.
void TestAfterAnError::itGoesOnWithoutTheDamaged() {
    Opened opened(onDamagedPictures(path("pictures"), Damaged::Refuse));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(failsAfter(window, kLast));
    QVERIFY(offersToGoOn(window));
    const RunPtr run = window.shown().run();
    QVERIFY(run->info().outcome == RunOutcome::Stopped); // as the command line calls it
    window.play();
    QCOMPARE(window.controller().state(), SessionState::Building);
    QVERIFY(reaches(window, SessionState::Failed)); // nothing has changed
    QVERIFY(offersToGoOn(window));
    skipDamaged(window);
    QVERIFY(trainsTo(window, kSteps));
    QCOMPARE(window.shown().run(), run);
    QCOMPARE(run->now().firstStep(), int64_t{1});
    QCOMPARE(window.runs().rowCount(), 1);
    QVERIFY(run->info().outcome == RunOutcome::Finished);
    window.saveResults(path("went on"));
    QVERIFY(contentOf(path("went on"), "steps.csv") == skippingSteps("skipped pictures"));
}

/// It was saved after the error. What is set before Play is pressed counts, too.
void TestAfterAnError::openedAgainItGoesOnToo() {
    {
        Opened opened(onDamagedPictures(path("later pictures"), Damaged::Refuse));
        QVERIFY(reaches(opened.window, SessionState::Ready));
        QVERIFY(failsAfter(opened.window, kLast));
        opened.window.saveResults(path("ended"));
    }
    QVERIFY(contentOf(path("ended"), "summary.json").find("\"stopped\"") != std::string::npos);
    Opened other(tinyConfig(5));
    QVERIFY(other.window.tryFile(path("ended")));
    QVERIFY(reaches(other.window, SessionState::Ready));
    QTRY_VERIFY_WITH_TIMEOUT(other.window.showsSaved(), kPatience);
    skipDamaged(other.window);
    QVERIFY(trainsTo(other.window, kSteps));
    other.window.saveResults(path("opened"));
    QVERIFY(contentOf(path("opened"), "steps.csv") == skippingSteps("other pictures"));
}

/// No rows lie beside it. The picture is skipped before Play is pressed, or after the error.
void TestAfterAnError::aCheckpointAloneGoesOnToo() {
    const QString file = path("alone.safetensors");
    {
        Opened opened(onDamagedPictures(path("pictures alone"), Damaged::Refuse));
        QVERIFY(reaches(opened.window, SessionState::Ready));
        QVERIFY(failsAfter(opened.window, kLast));
        QSignalSpy saved(&opened.window.controller(), &ExperimentController::saved);
        opened.window.controller().saveCheckpoint(file, QStringLiteral("1"));
        QTRY_COMPARE_WITH_TIMEOUT(saved.size(), 1, kPatience);
    }
    for (const bool fails : {false, true}) {
        Opened other(tinyConfig(5));
        QVERIFY(other.window.tryFile(file));
        QVERIFY(reaches(other.window, SessionState::Ready));
        if (fails) {
            other.window.play();
            QVERIFY(reaches(other.window, SessionState::Failed));
            QVERIFY(offersToGoOn(other.window));
        }
        skipDamaged(other.window);
        QVERIFY(trainsTo(other.window, kSteps));
        QCOMPARE(other.window.shown().run()->now().firstStep(), kLast + 1);
    }
}

/// The removed lane would still train. Undone, it is there again.
void TestAfterAnError::withoutALaneItStartsOver() {
    Opened opened(onDamagedPictures(path("pictures of lanes"), Damaged::Refuse));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(failsAfter(window, kLast));
    QVERIFY(offersToGoOn(window));
    QVERIFY(window.config().removeLane(0));
    QVERIFY(offersToStartOver(window));
    QVERIFY(statusOf(window).endsWith(
        QStringLiteral("Play starts over with the settings on the left.")));
    actionFor(window, QKeySequence::Undo)->trigger();
    QVERIFY(offersToGoOn(window));
}

/// A sample to validate on cannot be read: every step is trained, so there is none to go on with.
void TestAfterAnError::aLastStepAloneIsFinished() {
    RunConfig config = onPictures(path("judged pictures"), kLast);
    config.task.damaged = Damaged::Refuse;
    QFile picture(path("judged pictures/val/0/16.png"));
    QVERIFY(picture.open(QFile::WriteOnly) && picture.write("no picture") > 0);
    picture.close();
    Opened opened(config);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(failsAfter(window, kLast));
    QVERIFY(offersToGoOn(window));
    QTRY_COMPARE(statusOf(window), QStringLiteral("An error ended the run after step 4, its last "
                                                  "one. Continue finishes it and trains nothing "
                                                  "more; Reset starts over."));
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QCOMPARE(window.run().step(), kLast);
}

/// It would make shorter epochs, but only those of another training.
void TestAfterAnError::aLargerBatchEndsNothing() {
    constexpr int64_t kEpoch = 8; // steps
    RunConfig config = onDamagedPictures(path("pictures of an epoch"), Damaged::Refuse);
    config.epochs = 1;
    Opened opened(config);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(failsAfter(window, kLast));
    QVERIFY(offersToGoOn(window));
    set(window, "task.batch", QStringLiteral("4")); // an epoch of 4 steps
    QTRY_COMPARE(statusOf(window), QStringLiteral("An error ended the run. Continue goes on after "
                                                  "step 4; Reset starts over."));
    skipDamaged(window);
    QVERIFY(trainsTo(window, kEpoch));
    QCOMPARE(window.run().step(), kEpoch);
}

/// A checkpoint of the step has the edit, also where the run only goes on from that step.
void TestAfterAnError::anEditIsKeptWithItsStep() {
    FakeScript script;
    script.stateBytes = 1;
    DrivenSession session(script);
    session.reset(tinyConfig(20), [] {
        ExperimentState state;
        state.recorded = tinyConfig(20);
        state.step = kLast;
        return Beginning{std::make_shared<const ExperimentState>(std::move(state))};
    });
    QVERIFY(session.reaches(SessionState::Ready));
    QCOMPARE(session.seen.keptStep, int64_t{-1});
    session.edit(-1, "optimizer.lr", 0.25);
    QVERIFY(session.meets([&] { return session.seen.keptStep == kLast; }));
}

/// The device is lost again before the step that follows an edit. Where the edit could not be kept
/// with the step before, a run that was not told of it goes on.
void TestAfterAnError::editsAreToldOnce() {
    for (const bool large : {false, true}) {
        LosingRun::Script script;
        script.lostAt = kLast + 1;
        WindowOptions options;
        options.factory = [&script](const RunConfig& config, const std::stop_token& stop) {
            return std::make_unique<LosingRun>(makeExperimentRun(config, stop), script);
        };
        Opened opened(tinyConfig(20), std::move(options));
        MainWindow& window = opened.window;
        QVERIFY(reaches(window, SessionState::Ready));
        QVERIFY(stepsTo(window, kLast));
        QVERIFY(failsAfter(window, kLast));
        QVERIFY(offersToGoOn(window));
        const RunPtr run = window.shown().run();
        script.large = large;
        set(window, "optimizer.lr", QStringLiteral("0.25"));
        for (int tries = 0; tries < 2; ++tries) {
            window.play();
            QCOMPARE(window.controller().state(), SessionState::Building);
            QVERIFY(reaches(window, SessionState::Failed));
            QVERIFY(offersToGoOn(window));
        }
        script.lostAt = 0;
        QVERIFY(trainsTo(window, 20));
        QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t{20}, kPatience);
        const RunPtr now = window.shown().run();
        int told = 0;
        for (const Event& event : now->events())
            told += event.tensor == "optimizer.lr";
        QCOMPARE(told, 1);
        QCOMPARE(now == run, !large);
        // closing asks about no other one, as this one has its steps
        QVERIFY(window.shown().unsavedRuns() == std::vector<RunPtr>{now});
    }
}

/// Its data are gone when Continue is pressed. What is kept stays, whatever is set meanwhile.
void TestAfterAnError::builtAgainOrNotItGoesOn() {
    const QString pictures = path("vanishing pictures"), away = path("vanished pictures");
    Opened opened(onDamagedPictures(pictures, Damaged::Refuse));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(failsAfter(window, kLast));
    const RunPtr run = window.shown().run();
    QVERIFY(QDir().rename(pictures, away));
    window.play();
    QVERIFY(reaches(window, SessionState::Failed));
    const QString words = QStringLiteral("The networks could not be built again. Continue goes on "
                                         "after step 4; Reset starts over.");
    QVERIFY(offersToGoOn(window));
    QCOMPARE(statusOf(window), words);
    set(window, "run.seed", QStringLiteral("77"));
    QVERIFY(offersToGoOn(window));
    QCOMPARE(statusOf(window), words);
    QVERIFY(QDir().rename(away, pictures));
    skipDamaged(window);
    QVERIFY(trainsTo(window, kSteps));
    QCOMPARE(window.shown().run(), run);
}

/// They were moved before the run was opened: the settings on the left tell where they are.
void TestAfterAnError::itGoesOnWhereItsDataAre() {
    const QString before = path("first place"), now = path("second place");
    {
        Opened opened(onPictures(before, kSteps));
        QVERIFY(reaches(opened.window, SessionState::Ready));
        QVERIFY(stepsTo(opened.window, kLast));
        opened.window.saveResults(path("moved"));
    }
    QVERIFY(QDir().rename(before, now));
    Opened other(tinyConfig(5));
    MainWindow& window = other.window;
    QVERIFY(window.tryFile(path("moved")));
    QVERIFY(reaches(window, SessionState::Failed));
    QTRY_VERIFY_WITH_TIMEOUT(window.showsSaved(), kPatience);
    set(window, "data.path", now);
    QTRY_VERIFY2(statusOf(window).endsWith(
                     QStringLiteral("Press Play (Space) to continue from the checkpoint.")),
                 qPrintable(statusOf(window)));
    QVERIFY(trainsTo(window, kSteps));
    const SessionInfoPtr& built = window.controller().info();
    QVERIFY(built && built->goesOnAfter == kLast);
}

/// Another file of weights, or settings without one of its lanes, wait for a restart.
void TestAfterAnError::itKeepsWhatItBeganWith() {
    {
        Opened opened(onPictures(path("kept pictures"), kSteps));
        QVERIFY(reaches(opened.window, SessionState::Ready));
        QVERIFY(stepsTo(opened.window, kLast));
        opened.window.saveResults(path("kept"));
    }
    for (const bool lane : {false, true}) {
        Opened other(tinyConfig(5));
        MainWindow& window = other.window;
        QVERIFY(window.tryFile(path("kept")));
        QVERIFY(reaches(window, SessionState::Ready));
        QTRY_VERIFY_WITH_TIMEOUT(window.showsSaved(), kPatience);
        if (lane) {
            QVERIFY(window.config().removeLane(0));
            skipDamaged(window);
        } else {
            set(window, "model.weights", path("other.safetensors"));
        }
        window.play();
        QVERIFY(window.controller().state() != SessionState::Building);
        QVERIFY(window.config().restartNeeded());
    }
}

/// They are not kept with the run, but stay after an error that is not the device's.
void TestAfterAnError::largeNetworksAreLost() {
    FakeScript script;
    script.stateBytes = size_t{300} << 20;
    script.damagedAt = kLast + 1;
    Opened opened(tinyConfig(20), played(script));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(failsAfter(window, kLast));
    QTRY_VERIFY_WITH_TIMEOUT(!window.shown().isKept(), kPatience);
    script.damagedAt = 0;
    script.failAt = kLast + 1;
    QVERIFY(window.shown().reset());
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(failsAfter(window, kLast));
    QTRY_VERIFY_WITH_TIMEOUT(window.shown().isKept(), kPatience); // there is nothing to lose
}

/// Nothing is kept: what cannot be saved is told, and Play says that it starts over, as far as
/// Continue was to train.
void TestAfterAnError::aLostDeviceLeavesNothing() {
    FakeScript script;
    Opened opened(tinyConfig(20), played(script));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(trainsTo(window, 20));
    script.failAt = 26;
    QVERIFY(failsAfter(window, 25));
    QVERIFY(offersToStartOver(window));
    const QString file = opened.folder.filePath(QStringLiteral("c.safetensors"));
    window.controller().saveCheckpoint(file, QStringLiteral("1"));
    QTRY_VERIFY2_WITH_TIMEOUT(window.bannerText().contains("the networks are gone"),
                              qPrintable(window.bannerText()), kPatience);
    QVERIFY(!QFile::exists(file));
    script.failAt = 0;
    QVERIFY(trainsTo(window, 40));
    QCOMPARE(window.run().step(), int64_t{40});
    QCOMPARE(window.config().config().steps, int64_t{40});
}

void TestAfterAnError::noScaleCanBeSet() {
    FakeScript script;
    script.failAt = 5;
    Opened opened(tinyConfig(20), played(script));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(failsAfter(window, 4));
    const auto button = [&window] {
        const auto* panel = window.findChild<ScalerPanel*>();
        return panel->findChildren<QToolButton*>(QStringLiteral("setScale")).value(0);
    };
    QTRY_VERIFY(button() && !button()->isEnabled());
    QCOMPARE(button()->toolTip(),
             QStringLiteral("An error ended this run: no loss scale can be set."));
    script.failAt = 0;
    QVERIFY(trainsTo(window, 20));
    QTRY_VERIFY_WITH_TIMEOUT(button()->isEnabled(), kPatience);
    QVERIFY(button()->toolTip().startsWith(QStringLiteral("Tries another loss scale")));
    RunWords::State unbuilt; // with other settings
    unbuilt.session = SessionState::Ready;
    unbuilt.built = false;
    QVERIFY(!RunWords::scaleObstacle(unbuilt, false, true).isEmpty());
}

} // namespace tst_after_an_error

QTEST_MAIN(tst_after_an_error::TestAfterAnError)
#include "tst_after_an_error.moc"
