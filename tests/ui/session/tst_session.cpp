// The way of rows, events and commands between the training thread and the window: nothing is lost
// or mixed up, everything can be stopped, and errors leave a session that still works.
#include "engine/settings/fields.h"
#include "tests/fake_cuda/fake_run.h"
#include "tests/support/dead_network.h"
#include "tests/support/driven_session.h"
#include "tests/support/served_events.h"
#include "ui/models/translated.h"
#include "ui/session/experiment_controller.h"

#include <QSignalSpy>
#include <QTest>

#include <chrono>
#include <random>

namespace tst_session {

using namespace halfscope;
using namespace std::chrono_literals;

class TestSession : public QObject {
    Q_OBJECT
private slots:
    void ringLosesNothing_data();
    void ringLosesNothing();
    void ringTakesWhatFits();
    void firstPictureBeforePlay();
    void rowsWaitForASlowWindow();
    void eventsOfAnOldRunAreDropped();
    void resetOverridesWhatWaits();
    void pauseReachesALongStep();
    void pauseKeepsWhatWasTrained();
    void restCompletesAnInterruptedStep();
    void aResetLeavesNoFileOut();
    void restWaitsNoLongerThanItIsTold();
    void restsAnewAfterSteps();
    void restEndsWhenKeepingFails();
    void largeStatesAreNotCopied();
    void pauseDoesNotWaitForItsCheckpoint();
    void closeReachesALongStep();
    void closeReachesABuild();
    void closeLeavesAHeldThread();
    void closeWaitsForAThreadAtWork();
    void resetReachesABuild();
    void stepOnceIsOneStep();
    void resetDropsTheOldRun();
    void secondResetWins();
    void engineErrorThenReset();
    void buildErrorThenReset();
    void refusedEditKeepsTraining();
    void continueAfterTheEnd();
    void liveEditOfARealRun();
    void manyCycles();
    void manyRealCycles();
};

void TestSession::ringLosesNothing_data() {
    QTest::addColumn<int>("capacity");
    QTest::addColumn<int>("count");
    for (const int capacity : {2, 3, 64, 4096})
        QTest::addRow("capacity %d", capacity) << capacity << (capacity < 10 ? 3000 : 200000);
}

void TestSession::ringLosesNothing() {
    QFETCH(int, capacity);
    QFETCH(int, count);
    StepRing<int> ring(static_cast<size_t>(capacity));
    QVERIFY(ring.capacity() >= static_cast<size_t>(capacity));
    std::thread producer([&] {
        std::mt19937 random(7);
        std::vector<int> rows;
        for (int next = 0; next < count;) {
            const int most = 1 + static_cast<int>(random() % 7);
            while (static_cast<int>(rows.size()) < most && next < count)
                rows.push_back(next++);
            while (!rows.empty()) {
                const size_t taken = ring.push(rows);
                rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(taken));
                if (taken == 0) std::this_thread::yield();
            }
        }
    });
    std::vector<int> seen;
    while (static_cast<int>(seen.size()) < count)
        if (ring.drain(seen) == 0) std::this_thread::yield();
    producer.join();
    for (int i = 0; i < count; ++i)
        if (seen[static_cast<size_t>(i)] != i)
            QFAIL(qPrintable(QStringLiteral("row %1, seed 7").arg(i)));
    QCOMPARE(static_cast<int>(seen.size()), count);
}

void TestSession::ringTakesWhatFits() {
    StepRing<int> ring(4);
    const std::vector<int> rows{1, 2, 3, 4, 5, 6};
    QCOMPARE(ring.push(rows), size_t(4));
    QCOMPARE(ring.push(rows), size_t(0));
    std::vector<int> seen;
    QCOMPARE(ring.drain(seen), size_t(4));
    QCOMPARE(seen, (std::vector<int>{1, 2, 3, 4}));
    QCOMPARE(ring.push(std::span(rows).subspan(4)), size_t(2));
    ring.drain(seen);
    QCOMPARE(seen, rows);
}

void TestSession::firstPictureBeforePlay() {
    FakeScript script;
    DrivenSession session(script);
    QSignalSpy built(&session, &ExperimentController::built);
    session.reset(tinyConfig(10));
    QVERIFY(session.info() == nullptr);
    QVERIFY(session.reaches(SessionState::Ready));
    QCOMPARE(built.count(), 1);
    QCOMPARE(session.info()->laneNames.size(), size_t(2));
    QCOMPARE(QString::fromStdString(session.info()->cudaReason.english()),
             QStringLiteral("a test needs none"));
    QVERIFY(session.seen.picture.has_value());
    QCOMPARE(session.seen.picture->step, int64_t(0));
    QVERIFY(session.seen.records.empty());
}

void TestSession::rowsWaitForASlowWindow() {
    FakeScript script;
    DrivenSession session(script);
    QVERIFY(session.isReady(tinyConfig(60000))); // 120,000 rows: many times what the ring holds
    session.play();
    QTest::qWait(100); // nobody takes anything: the worker must wait, and must still answer
    session.pause();
    QTRY_COMPARE(session.state(), SessionState::Paused);
    // two rows a step; the rows of one step may wait outside the ring
    const auto most = static_cast<int64_t>(SessionChannel::kRows / 2 + 1);
    QVERIFY2(script.steps <= most, qPrintable(QString::number(script.steps)));
    session.play();
    QVERIFY(session.reaches(SessionState::Finished));
    QVERIFY(session.meets([&] { return session.seen.records.size() >= 120000; }));
    QCOMPARE(session.seen.wholeSteps(2), int64_t(60000));
    QCOMPARE(session.seen.picture->step, int64_t(60000));
}

/// Events that the window had not taken when the next run began.
void TestSession::eventsOfAnOldRunAreDropped() {
    SessionChannel channel;
    std::vector<StepRecord> none;
    std::vector<Event> old(2), fresh(1);
    old[0].step = old[1].step = 7;
    fresh[0].step = 1;
    channel.publish(1, none, old);
    channel.publish(2, none, fresh);
    channel.publish(1, Snapshot{});
    const SessionBatch batch = channel.take(2);
    QVERIFY(!batch.snapshot);
    QCOMPARE(batch.events.size(), size_t{1});
    QCOMPARE(batch.events[0].step, int64_t{1});
}

/// Commands for the run that a reset ends are void, and a waiting reset stops what is being built.
void TestSession::resetOverridesWhatWaits() {
    SessionChannel channel;
    QVERIFY(!channel.newRun().stop_requested());
    channel.post(PlayCommand{});
    channel.post(ResetCommand{tinyConfig(1), 2});
    QVERIFY(channel.newRun().stop_requested());
    const std::vector<Command> commands = channel.waitForCommands({});
    QCOMPARE(commands.size(), size_t{1});
    QVERIFY(std::holds_alternative<ResetCommand>(commands[0]));
    channel.post(PlayCommand{});
    channel.post(SaveCommand{"a file", "1"});
    channel.post(ResetCommand{tinyConfig(1), 3});
    const std::vector<Command> kept = channel.waitForCommands({});
    QCOMPARE(kept.size(), size_t{2});
    QVERIFY(std::holds_alternative<SaveCommand>(kept[0]));
    QVERIFY(!channel.newRun().stop_requested());
}

void TestSession::pauseReachesALongStep() {
    FakeScript script;
    script.endless = true;
    DrivenSession session(script);
    QVERIFY(session.isReady(tinyConfig(10)));
    QVERIFY(session.playsInto(script.insideStep));
    session.pause();
    QTRY_COMPARE(session.state(), SessionState::Paused);
    script.endless = false; // the step is repeated, not skipped
    session.play();
    QVERIFY(session.reaches(SessionState::Finished));
    QCOMPARE(session.seen.wholeSteps(2), int64_t(10));
}

void TestSession::pauseKeepsWhatWasTrained() {
    FakeScript script;
    DrivenSession session(script);
    QVERIFY(session.isReady(tinyConfig(1000000000)));
    for (int i = 0; i < 20; ++i) {
        session.play();
        QVERIFY(session.reaches(SessionState::Running));
        session.pause();
        QVERIFY(session.reaches(SessionState::Paused));
    }
    // the picture belongs to the present step; rows that found no room come after it
    QVERIFY(session.meets([&] {
        const int64_t steps = session.seen.wholeSteps(2);
        return steps > 0 && session.seen.picture && session.seen.picture->step == steps;
    }));
    const size_t rows = session.seen.records.size();
    test::serveEvents(50);
    session.seen.take(session);
    QCOMPARE(session.seen.records.size(), rows);
}

/// Networks in the middle of a step cannot be kept: whoever wants them kept has the step completed.
void TestSession::restCompletesAnInterruptedStep() {
    FakeScript script;
    script.stateBytes = 1;
    DrivenSession session(script);
    QVERIFY(session.rest()); // nothing is built
    QVERIFY(session.isReady(tinyConfig(10)));
    script.endless = true;
    QVERIFY(session.playsInto(script.insideStep));
    session.pause();
    QVERIFY(session.reaches(SessionState::Paused));
    QTRY_VERIFY(session.restsMidway());
    QVERIFY(!session.rest());
    script.endless = false;
    QVERIFY(session.meets([&] { return session.rest(); }));
    session.seen.take(session);
    QCOMPARE(session.seen.wholeSteps(2), int64_t{1});
    QCOMPARE(session.seen.keptStep, int64_t{1});
    QCOMPARE(session.state(), SessionState::Paused);
}

/// A file that was asked for is written before the run goes, or the user is told that it was not.
void TestSession::aResetLeavesNoFileOut() {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("c.safetensors"));
    FakeScript script;
    script.stateBytes = 1;
    DrivenSession session(script);
    QSignalSpy saved(&session, &ExperimentController::saved);
    std::vector<std::string> told;
    connect(&session, &ExperimentController::notSaved, this,
            [&told](const Message& reason) { told.push_back(reason.english()); });
    QVERIFY(session.isReady(tinyConfig(10)));
    session.saveCheckpoint(path, QStringLiteral("1"));
    QVERIFY(session.isReady(tinyConfig(10)));
    QCOMPARE(saved.count() + static_cast<int>(told.size()), 1);
    QCOMPARE(QFileInfo::exists(path), saved.count() == 1);
    told.clear();
    script.endless = true;
    QVERIFY(session.playsInto(script.insideStep));
    session.pause();
    QTRY_VERIFY(session.restsMidway());
    session.saveCheckpoint(path, QStringLiteral("1"));
    QVERIFY(session.meets([&] { return !session.restsMidway(); })); // it completes the step
    QVERIFY(session.isReady(tinyConfig(10)));
    QCOMPARE(told, std::vector{path.toStdString() + ": not written, because the run was reset "
                                                    "before it could be saved"});
}

/// It pauses a training by itself, and needs no event loop for that.
void TestSession::restWaitsNoLongerThanItIsTold() {
    FakeScript script;
    script.stateBytes = 1;
    DrivenSession session(script);
    QVERIFY(session.isReady(tinyConfig(1'000'000'000)));
    session.play();
    QVERIFY(session.meets([&] { return script.steps > 0; }));
    QVERIFY(session.rest(30s));
    const int64_t steps = script.steps;
    session.seen.take(session);
    QCOMPARE(session.seen.keptStep, steps);
    script.endless = true;
    QVERIFY(session.playsInto(script.insideStep));
    QVERIFY(!session.rest(20ms));
    session.play(); // a training that goes on after all is paused anew
    QVERIFY(!session.rest(20ms));
    QVERIFY(session.meets([&] { return session.state() == SessionState::Paused; }));
}

/// What was kept before a training went on is not what it has come to since.
void TestSession::restsAnewAfterSteps() {
    FakeScript script;
    script.stateBytes = 1;
    DrivenSession session(script);
    QVERIFY(session.isReady(tinyConfig(1'000'000'000)));
    script.endless = true;
    QVERIFY(session.playsInto(script.insideStep));
    QVERIFY(!session.rest(20ms));
    session.play();
    script.endless = false; // it keeps now what was asked for, and goes on
    const int64_t before = script.steps;
    QVERIFY(session.meets([&] { return script.steps > before + 50; }));
    script.insideStep = false;
    script.endless = true;
    QVERIFY(session.meets([&] { return script.insideStep.load(); }));
    session.pause();
    QVERIFY(session.meets([&] { return session.restsMidway(); }));
    script.endless = false;
    QVERIFY(session.rest(30s));
    QVERIFY(!session.restsMidway()); // the step was completed
    session.seen.take(session);
    QCOMPARE(session.seen.keptStep, script.steps.load());
}

/// A window that closes asks until it is answered.
void TestSession::restEndsWhenKeepingFails() {
    FakeScript script;
    script.stateBytes = 1;
    script.copyState = [] { throw EngineError(Message::data("the device is gone")); };
    DrivenSession session(script);
    QVERIFY(session.isReady(tinyConfig(10)));
    QVERIFY(session.meets([&] { return session.rest(); }));
    QCOMPARE(session.state(), SessionState::Failed);
}

/// A run without a state is not asked for one either. A user who could lose a network is told so,
/// once.
void TestSession::largeStatesAreNotCopied() {
    for (const auto& [bytes, kept] : {std::pair(size_t{0}, 0), std::pair(size_t{256} << 20, 1),
                                      std::pair((size_t{256} << 20) + 1, 0)}) {
        FakeScript script;
        script.stateBytes = bytes;
        std::atomic<int> copies{0};
        script.copyState = [&] { ++copies; };
        DrivenSession session(script);
        std::vector<std::string> told;
        connect(&session, &ExperimentController::notSaved, this,
                [&told](const Message& reason) { told.push_back(reason.english()); });
        for (int run = 0; run < 2; ++run) {
            QVERIFY(session.isReady(tinyConfig(10)));
            session.play();
            QVERIFY(session.reaches(SessionState::Finished));
        }
        test::serveEvents(50);
        QCOMPARE(copies, 2 * kept);
        const bool tooLarge = bytes > 0 && kept == 0;
        QCOMPARE(told.size(), size_t{tooLarge ? 1u : 0u});
        if (tooLarge)
            QCOMPARE(told[0],
                     std::string("These networks are too large to be kept with their run (257 MiB "
                                 "with the optimizer's state; the limit is 256 MiB). A reset or a "
                                 "crash loses them, unless File > Save checkpoint… has saved "
                                 "them."));
    }
}

/// A large state: copying it takes longer than a pause may take.
void TestSession::pauseDoesNotWaitForItsCheckpoint() {
    FakeScript script;
    script.stateBytes = size_t{100} << 20;
    std::atomic<bool> copies{false}, released{false};
    script.copyState = [&] {
        copies = true;
        for (int i = 0; !released && i < 120000; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    DrivenSession session(script);
    QVERIFY(session.isReady(tinyConfig(1'000'000'000)));
    session.play();
    QVERIFY(session.meets([&] { return script.steps > 0; }));
    session.pause();
    QVERIFY(session.meets([&] { return copies.load(); }));
    const bool answered = session.reaches(SessionState::Paused);
    released = true;
    QVERIFY(answered);
}

void TestSession::closeReachesALongStep() {
    FakeScript script;
    script.endless = true;
    {
        DrivenSession session(script);
        QVERIFY(session.isReady(tinyConfig(10)));
        QVERIFY(session.playsInto(script.insideStep));
    }
    QCOMPARE(script.alive.load(), 0);
}

void TestSession::closeReachesABuild() {
    FakeScript script;
    script.slowBuild = true; // it never ends by itself
    {
        DrivenSession session(script);
        session.reset(tinyConfig(10));
        QTRY_VERIFY(script.building.load());
    }
    QCOMPARE(script.alive.load(), 0);
    QCOMPARE(script.built.load(), 0);
}

/// A dead network holds the thread: it owns all that it uses, and ends when the network answers.
void TestSession::closeLeavesAHeldThread() {
    checkLeavesItsThread([](const std::shared_ptr<DeadNetwork>& network) {
        auto session = std::make_unique<DrivenSession>();
        session->reset(tinyConfig(10), [network] {
            network->wait();
            return Beginning{};
        });
        return session;
    });
}

/// The window waits longer for such a thread than for one that is held. One that gets no processor
/// for the whole time looks held, so a machine may stall once.
void TestSession::closeWaitsForAThreadAtWork() {
    bool waited = false;
    for (int tries = 0; tries < 5 && !waited; ++tries) {
        const auto turns = std::make_shared<std::atomic<int>>(0); // a thread that is left uses it
        auto session = std::make_unique<DrivenSession>();
        session->reset(tinyConfig(10), [turns] {
            ++*turns;
            for (const QDeadlineTimer end(2 * kForReading); !end.hasExpired();) {
            }
            ++*turns;
            return Beginning{};
        });
        QTRY_VERIFY(*turns > 0);
        session.reset();
        waited = *turns == 2;
    }
    QVERIFY(waited);
}

void TestSession::resetReachesABuild() {
    FakeScript script;
    script.slowBuild = true;
    DrivenSession session(script);
    QSignalSpy failed(&session, &ExperimentController::failed);
    session.reset(tinyConfig(10));
    QTRY_VERIFY(script.building.load());
    session.reset(tinyConfig(20));
    QTest::qWait(20);
    script.slowBuild = false;
    QVERIFY(session.reaches(SessionState::Ready));
    QCOMPARE(session.info()->config.steps, int64_t(20));
    QCOMPARE(script.built.load(), 1);
    QCOMPARE(failed.count(), 0); // giving up on purpose is no failure
}

void TestSession::stepOnceIsOneStep() {
    FakeScript script;
    DrivenSession session(script);
    QVERIFY(session.isReady(tinyConfig(8)));
    for (int64_t step = 1; step <= 2; ++step) {
        session.stepOnce();
        QVERIFY(session.meets([&] { return session.seen.wholeSteps(2) == step; }));
        QVERIFY(
            session.meets([&] { return session.seen.picture->step == step; })); // after its rows
        QVERIFY(session.reaches(SessionState::Paused));
    }
    for (int click = 0; click < 7; ++click) // each waits while a step is trained; the last one is
        session.stepOnce();                 // beyond the end
    QVERIFY(session.reaches(SessionState::Finished));
    QTest::qWait(30);
    session.seen.take(session);
    QCOMPARE(session.seen.wholeSteps(2), int64_t(8));
}

void TestSession::resetDropsTheOldRun() {
    FakeScript script;
    DrivenSession session(script);
    QVERIFY(session.isReady(tinyConfig(1000000000)));
    session.play();
    QTest::qWait(20); // rows of the old run lie in the ring
    session.seen = {};
    RunConfig config = tinyConfig(5);
    config.lanes.push_back(defaultLane(Precision::AmpBf16));
    session.reset(config);
    session.play();
    QVERIFY(session.reaches(SessionState::Finished));
    QCOMPARE(session.seen.wholeSteps(3), int64_t(5));
    QCOMPARE(script.alive.load(), 1);
}

void TestSession::secondResetWins() {
    FakeScript script;
    DrivenSession session(script);
    for (int i = 1; i <= 49; ++i)
        session.reset(tinyConfig(i));
    QVERIFY(session.isReady(tinyConfig(50)));
    QCOMPARE(session.info()->config.steps, int64_t(50));
    QVERIFY(script.built <= 50);
    QCOMPARE(script.alive.load(), 1);
}

void TestSession::engineErrorThenReset() {
    FakeScript script;
    script.failAt = 5;
    DrivenSession session(script);
    QSignalSpy failed(&session, &ExperimentController::failed);
    session.reset(tinyConfig(10));
    session.play();
    QVERIFY(session.reaches(SessionState::Failed));
    QTRY_COMPARE(failed.count(), 1);
    QCOMPARE(translated(failed.front().front().value<Message>()),
             QStringLiteral("the device is gone"));
    QVERIFY(session.meets([&] { return session.seen.wholeSteps(2) == 4; })); // they are kept
    QCOMPARE(script.alive.load(), 0);
    script.failAt = 0;
    session.seen = {};
    session.reset(tinyConfig(10));
    session.play();
    QVERIFY(session.reaches(SessionState::Finished));
    QCOMPARE(session.seen.wholeSteps(2), int64_t(10));
    QCOMPARE(failed.count(), 1);
}

void TestSession::buildErrorThenReset() {
    DrivenSession session;
    QSignalSpy failed(&session, &ExperimentController::failed);
    RunConfig config = tinyConfig(3);
    config.device = "cuda:99";
    session.reset(config);
    QVERIFY(session.reaches(SessionState::Failed));
    QTRY_COMPARE(failed.count(), 1);
    QVERIFY(!translated(failed.front().front().value<Message>()).isEmpty());
    session.reset(tinyConfig(3));
    session.play();
    QVERIFY(session.reaches(SessionState::Finished));
    QCOMPARE(session.seen.wholeSteps(2), int64_t(3));
}

void TestSession::refusedEditKeepsTraining() {
    FakeScript script;
    DrivenSession session(script);
    QSignalSpy refused(&session, &ExperimentController::refused);
    QVERIFY(session.isReady(tinyConfig(10)));
    session.edit(-1, "model.width", int64_t(8));
    QTRY_COMPARE(refused.count(), 1);
    QCOMPARE(translated(refused.front().front().value<Message>()),
             labelInWindow(*findField("model.width")) + QStringLiteral(" needs a restart"));
    session.play();
    QVERIFY(session.reaches(SessionState::Finished));
}

void TestSession::continueAfterTheEnd() {
    FakeScript script;
    DrivenSession session(script);
    session.reset(tinyConfig(5));
    session.play();
    QVERIFY(session.reaches(SessionState::Finished));
    session.play(); // no effect: it is at its end
    session.edit(-1, "run.steps", int64_t(8));
    QVERIFY(session.reaches(SessionState::Paused));
    session.play();
    QVERIFY(session.reaches(SessionState::Finished));
    QCOMPARE(session.seen.wholeSteps(2), int64_t(8));
    QCOMPARE(session.seen.events.size(), size_t(1));
}

void TestSession::liveEditOfARealRun() {
    DrivenSession session;
    RunConfig config = tinyConfig(40);
    QVERIFY(session.isReady(config));
    for (int i = 1; i <= 3; ++i) {
        session.stepOnce();
        QVERIFY(session.meets([&] { return session.seen.wholeSteps(2) == i; }));
    }
    session.edit(1, "scaler.growth_interval", int64_t(10));
    session.play();
    QVERIFY(session.reaches(SessionState::Finished));
    QCOMPARE(session.seen.wholeSteps(2), int64_t(40));
    QVERIFY(!session.seen.events.empty());
    QCOMPARE(session.seen.events.front().kind, EventKind::Edit);
    QCOMPARE(session.seen.events.front().step, int64_t(4)); // the next step after the third
    // The interval takes effect: the tenth clean step lets the scale grow, which 2000 would not.
    const auto grew = [](const StepRecord& record) {
        return record.lane == 1 && (record.flags & kGrew);
    };
    const auto first = std::find_if(session.seen.records.begin(), session.seen.records.end(), grew);
    QVERIFY(first != session.seen.records.end());
    QCOMPARE(first->step, int64_t(10));
}

void TestSession::manyCycles() {
    FakeScript script;
    for (int i = 0; i < 200; ++i) {
        DrivenSession session(script);
        session.reset(tinyConfig(1000000000));
        session.play();
        if (i % 3 == 0) QTest::qWait(1);
        if (i % 3 == 1) session.pause();
    }
    QCOMPARE(script.alive.load(), 0);
}

void TestSession::manyRealCycles() {
    DrivenSession session;
    for (int i = 0; i < 200; ++i) {
        session.reset(tinyConfig(1000000));
        session.play();
        QVERIFY2(session.reaches(SessionState::Running), qPrintable(QString::number(i)));
        if (i % 2) session.pause();
    }
}

} // namespace tst_session

QTEST_GUILESS_MAIN(tst_session::TestSession)
#include "tst_session.moc"
