// The way of rows, events and commands between the training thread and the window: nothing is lost
// or mixed up, everything can be stopped, errors leave a session that works again.
#include "tests/support/fake_run.h"
#include "ui/session/experiment_controller.h"

#include <QSignalSpy>
#include <QTest>
#include <random>

using namespace halfscope;

namespace {

/// What a window would have collected.
struct Collected {
    std::vector<StepRecord> records;
    std::vector<Event> events;
    std::optional<Snapshot> picture;

    void take(ExperimentController& controller) {
        SessionBatch batch = controller.drain();
        records.insert(records.end(), batch.records.begin(), batch.records.end());
        events.insert(events.end(), batch.events.begin(), batch.events.end());
        if (batch.snapshot) picture = std::move(batch.snapshot);
    }
    /// Every lane has each step from 1 on, once, in order. The number of steps, -1 if not.
    int64_t wholeSteps(int lanes) const {
        for (size_t i = 0; i < records.size(); ++i) {
            const auto lane = static_cast<int32_t>(i % static_cast<size_t>(lanes));
            const auto step = static_cast<int64_t>(i / static_cast<size_t>(lanes)) + 1;
            if (records[i].lane != lane || records[i].step != step) return -1;
        }
        return static_cast<int64_t>(records.size()) / lanes;
    }
};

RunConfig quick(int64_t steps) {
    RunConfig config = tinyConfig(steps);
    return config;
}

/// Waits, taking rows as a window does.
bool reaches(ExperimentController& controller, SessionState state, Collected& seen) {
    const bool reached = QTest::qWaitFor(
        [&] {
            seen.take(controller);
            return controller.state() == state;
        },
        30000);
    seen.take(controller);
    return reached;
}

} // namespace

class TestSession : public QObject {
    Q_OBJECT
private slots:
    void ringLosesNothing_data();
    void ringLosesNothing();
    void ringTakesWhatFits();
    void firstPictureBeforePlay();
    void rowsWaitForASlowWindow();
    void pauseReachesALongStep();
    void pauseKeepsWhatWasTrained();
    void closeReachesALongStep();
    void closeReachesABuild();
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
    ExperimentController controller(fakeFactory(script));
    QSignalSpy built(&controller, &ExperimentController::built);
    Collected seen;
    controller.reset(quick(10));
    QVERIFY(controller.info() == nullptr);
    QVERIFY(reaches(controller, SessionState::Ready, seen));
    QCOMPARE(built.count(), 1);
    QCOMPARE(controller.info()->laneNames.size(), size_t(2));
    QCOMPARE(QString::fromStdString(controller.info()->cudaReason),
             QStringLiteral("a test needs none"));
    QVERIFY(seen.picture.has_value());
    QCOMPARE(seen.picture->step, int64_t(0));
    QVERIFY(seen.records.empty());
}

void TestSession::rowsWaitForASlowWindow() {
    FakeScript script;
    ExperimentController controller(fakeFactory(script));
    Collected seen;
    controller.reset(quick(60000)); // 120,000 rows: many times what the ring holds
    QVERIFY(reaches(controller, SessionState::Ready, seen));
    controller.play();
    // nobody takes anything: the worker must wait, and must still answer
    QTest::qWait(100);
    controller.pause();
    QTRY_COMPARE_WITH_TIMEOUT(controller.state(), SessionState::Paused, 10000);
    // two rows a step; the rows of one step may wait outside the ring
    const auto most = static_cast<int64_t>(SessionChannel::kRows / 2 + 1);
    QVERIFY2(script.steps <= most, qPrintable(QString::number(script.steps)));
    controller.play();
    QVERIFY(reaches(controller, SessionState::Finished, seen));
    QVERIFY(QTest::qWaitFor(
        [&] {
            seen.take(controller);
            return seen.records.size() >= 120000;
        },
        10000));
    QCOMPARE(seen.wholeSteps(2), int64_t(60000));
    QCOMPARE(seen.picture->step, int64_t(60000));
}

void TestSession::pauseReachesALongStep() {
    FakeScript script;
    script.endless = true;
    ExperimentController controller(fakeFactory(script));
    Collected seen;
    controller.reset(quick(10));
    QVERIFY(reaches(controller, SessionState::Ready, seen));
    controller.play();
    QTRY_VERIFY_WITH_TIMEOUT(script.insideStep.load(), 10000);
    controller.pause();
    QTRY_COMPARE_WITH_TIMEOUT(controller.state(), SessionState::Paused, 10000);
    script.endless = false; // the step is repeated, not skipped
    controller.play();
    QVERIFY(reaches(controller, SessionState::Finished, seen));
    QCOMPARE(seen.wholeSteps(2), int64_t(10));
}

void TestSession::pauseKeepsWhatWasTrained() {
    FakeScript script;
    ExperimentController controller(fakeFactory(script));
    Collected seen;
    controller.reset(quick(1000000000));
    QVERIFY(reaches(controller, SessionState::Ready, seen));
    for (int i = 0; i < 20; ++i) {
        controller.play();
        QVERIFY(reaches(controller, SessionState::Running, seen));
        controller.pause();
        QVERIFY(reaches(controller, SessionState::Paused, seen));
    }
    QTest::qWait(20);
    seen.take(controller);
    const size_t rows = seen.records.size();
    QTest::qWait(50);
    seen.take(controller);
    QCOMPARE(seen.records.size(), rows);
    QVERIFY(seen.wholeSteps(2) > 0);
    QCOMPARE(seen.picture->step, seen.wholeSteps(2)); // the picture is of the step one stands at
}

void TestSession::closeReachesALongStep() {
    FakeScript script;
    script.endless = true;
    {
        ExperimentController controller(fakeFactory(script));
        Collected seen;
        controller.reset(quick(10));
        QVERIFY(reaches(controller, SessionState::Ready, seen));
        controller.play();
        QTRY_VERIFY_WITH_TIMEOUT(script.insideStep.load(), 10000);
    }
    QCOMPARE(script.alive.load(), 0);
}

void TestSession::closeReachesABuild() {
    FakeScript script;
    script.slowBuild = true; // it never ends by itself
    {
        ExperimentController controller(fakeFactory(script));
        controller.reset(quick(10));
        QTRY_VERIFY_WITH_TIMEOUT(script.building.load(), 30000);
    }
    QCOMPARE(script.alive.load(), 0);
    QCOMPARE(script.built.load(), 0);
}

void TestSession::resetReachesABuild() {
    FakeScript script;
    script.slowBuild = true;
    ExperimentController controller(fakeFactory(script));
    QSignalSpy failed(&controller, &ExperimentController::failed);
    controller.reset(quick(10));
    QTRY_VERIFY_WITH_TIMEOUT(script.building.load(), 30000);
    controller.reset(quick(20));
    QTest::qWait(20);
    script.slowBuild = false;
    Collected seen;
    QVERIFY(reaches(controller, SessionState::Ready, seen));
    QCOMPARE(controller.info()->config.steps, int64_t(20));
    QCOMPARE(script.built.load(), 1);
    QCOMPARE(failed.count(), 0); // what was given up on purpose is no failure
}

void TestSession::stepOnceIsOneStep() {
    FakeScript script;
    ExperimentController controller(fakeFactory(script));
    Collected seen;
    controller.reset(quick(3));
    QVERIFY(reaches(controller, SessionState::Ready, seen));
    for (int64_t step = 1; step <= 2; ++step) {
        controller.stepOnce();
        QVERIFY(QTest::qWaitFor(
            [&] {
                seen.take(controller);
                return seen.wholeSteps(2) == step;
            },
            10000));
        QVERIFY(reaches(controller, SessionState::Paused, seen));
        QCOMPARE(seen.picture->step, step);
    }
    controller.stepOnce();
    QVERIFY(reaches(controller, SessionState::Finished, seen));
    controller.stepOnce(); // nothing beyond the end
    QTest::qWait(30);
    seen.take(controller);
    QCOMPARE(seen.wholeSteps(2), int64_t(3));
}

void TestSession::resetDropsTheOldRun() {
    FakeScript script;
    ExperimentController controller(fakeFactory(script));
    Collected old;
    controller.reset(quick(1000000000));
    QVERIFY(reaches(controller, SessionState::Ready, old));
    controller.play();
    QTest::qWait(20); // rows of the old run lie in the ring
    RunConfig config = quick(5);
    config.lanes.push_back(defaultLane(Precision::AmpBf16));
    controller.reset(config);
    controller.play();
    Collected seen;
    QVERIFY(reaches(controller, SessionState::Finished, seen));
    QCOMPARE(seen.wholeSteps(3), int64_t(5));
    QCOMPARE(script.alive.load(), 1);
}

void TestSession::secondResetWins() {
    FakeScript script;
    ExperimentController controller(fakeFactory(script));
    for (int i = 1; i <= 50; ++i)
        controller.reset(quick(i));
    Collected seen;
    QVERIFY(reaches(controller, SessionState::Ready, seen));
    QCOMPARE(controller.info()->config.steps, int64_t(50));
    QVERIFY(script.built <= 50);
    QCOMPARE(script.alive.load(), 1);
}

void TestSession::engineErrorThenReset() {
    FakeScript script;
    script.failAt = 5;
    ExperimentController controller(fakeFactory(script));
    QSignalSpy failed(&controller, &ExperimentController::failed);
    Collected seen;
    controller.reset(quick(10));
    controller.play();
    QVERIFY(reaches(controller, SessionState::Failed, seen));
    QTRY_COMPARE(failed.count(), 1);
    QCOMPARE(failed.front().front().toString(), QStringLiteral("the device is gone"));
    QTest::qWait(20);
    seen.take(controller);
    QCOMPARE(seen.wholeSteps(2), int64_t(4)); // what was trained before the error is kept
    QCOMPARE(script.alive.load(), 0);
    script.failAt = 0;
    controller.reset(quick(10));
    controller.play();
    Collected again;
    QVERIFY(reaches(controller, SessionState::Finished, again));
    QCOMPARE(again.wholeSteps(2), int64_t(10));
    QCOMPARE(failed.count(), 1);
}

void TestSession::buildErrorThenReset() {
    ExperimentController controller;
    QSignalSpy failed(&controller, &ExperimentController::failed);
    Collected seen;
    RunConfig config = quick(3);
    config.device = "cuda:99";
    controller.reset(config);
    QVERIFY(reaches(controller, SessionState::Failed, seen));
    QTRY_COMPARE(failed.count(), 1);
    QVERIFY(!failed.front().front().toString().isEmpty());
    controller.reset(quick(3));
    controller.play();
    QVERIFY(reaches(controller, SessionState::Finished, seen));
    QCOMPARE(seen.wholeSteps(2), int64_t(3));
}

void TestSession::refusedEditKeepsTraining() {
    FakeScript script;
    ExperimentController controller(fakeFactory(script));
    QSignalSpy refused(&controller, &ExperimentController::refused);
    Collected seen;
    controller.reset(quick(10));
    QVERIFY(reaches(controller, SessionState::Ready, seen));
    controller.edit(-1, "model.width", int64_t(8));
    QTRY_COMPARE(refused.count(), 1);
    QCOMPARE(refused.front().front().toString(), QStringLiteral("model.width needs a restart"));
    controller.play();
    QVERIFY(reaches(controller, SessionState::Finished, seen));
}

void TestSession::continueAfterTheEnd() {
    FakeScript script;
    ExperimentController controller(fakeFactory(script));
    Collected seen;
    controller.reset(quick(5));
    controller.play();
    QVERIFY(reaches(controller, SessionState::Finished, seen));
    controller.play(); // no effect: it is at its end
    controller.edit(-1, "run.steps", int64_t(8));
    QVERIFY(reaches(controller, SessionState::Paused, seen));
    controller.play();
    QVERIFY(reaches(controller, SessionState::Finished, seen));
    QCOMPARE(seen.wholeSteps(2), int64_t(8));
    QCOMPARE(seen.events.size(), size_t(1));
}

void TestSession::liveEditOfARealRun() {
    ExperimentController controller;
    Collected seen;
    RunConfig config = tinyConfig(40);
    controller.reset(config);
    QVERIFY(reaches(controller, SessionState::Ready, seen));
    for (int i = 1; i <= 3; ++i) {
        controller.stepOnce();
        QVERIFY(QTest::qWaitFor(
            [&] {
                seen.take(controller);
                return seen.wholeSteps(2) == i;
            },
            30000));
    }
    controller.edit(1, "scaler.growth_interval", int64_t(10));
    controller.play();
    QVERIFY(reaches(controller, SessionState::Finished, seen));
    QCOMPARE(seen.wholeSteps(2), int64_t(40));
    QVERIFY(!seen.events.empty());
    QCOMPARE(seen.events.front().kind, EventKind::Edit);
    QCOMPARE(seen.events.front().step, int64_t(4)); // the next step after the third
    // The interval acts: the tenth clean step lets the scale grow, which 2000 would not.
    const auto grew = [](const StepRecord& record) {
        return record.lane == 1 && (record.flags & kGrew);
    };
    const auto first = std::find_if(seen.records.begin(), seen.records.end(), grew);
    QVERIFY(first != seen.records.end());
    QCOMPARE(first->step, int64_t(10));
}

void TestSession::manyCycles() {
    FakeScript script;
    for (int i = 0; i < 200; ++i) {
        ExperimentController controller(fakeFactory(script));
        controller.reset(quick(1000000000));
        controller.play();
        if (i % 3 == 0) QTest::qWait(1);
        if (i % 3 == 1) controller.pause();
    }
    QCOMPARE(script.alive.load(), 0);
}

void TestSession::manyRealCycles() {
    ExperimentController controller;
    Collected seen;
    for (int i = 0; i < 200; ++i) {
        controller.reset(tinyConfig(1000000));
        controller.play();
        QVERIFY2(reaches(controller, SessionState::Running, seen), qPrintable(QString::number(i)));
        if (i % 2) controller.pause();
    }
}

QTEST_GUILESS_MAIN(TestSession)
#include "tst_session.moc"
