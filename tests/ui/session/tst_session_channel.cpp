// The channel between the window and the training thread, with one call of each thread at the same
// time: nothing is lost, comes twice or comes out of order. Under ThreadSanitizer the test fails if
// any lock of the channel is removed. tst_session tests the threads that use the channel.
#include "tests/fake_cuda/fake_run.h"
#include "tests/support/side_by_side.h"
#include "ui/session/session_channel.h"

#include <QTest>

#include <algorithm>
#include <utility>

namespace tst_session_channel {

using namespace halfscope;
using halfscope::test::sideBySide;
using namespace std::chrono_literals;

namespace {

constexpr uint32_t kRun = 3;
constexpr int kTimes = 2000;

/// Whether each step is the one before plus 1.
bool follow(const std::vector<int64_t>& steps) {
    return std::adjacent_find(steps.begin(), steps.end(),
                              [](int64_t a, int64_t b) { return b != a + 1; }) == steps.end();
}

/// Whether these can be the steps of values of which only the newest is kept: some may be missing,
/// none comes twice, and the last one is there.
bool rise(const std::vector<int64_t>& steps, int64_t last) {
    return !steps.empty() && steps.back() == last &&
           std::adjacent_find(steps.begin(), steps.end(), std::greater_equal<>()) == steps.end();
}

SessionChange changeAt(int64_t step) {
    SessionChange change;
    change.now.steps = change.recorded.steps = step;
    return change;
}

/// The steps of everything that take() gave.
struct Taken {
    std::vector<int64_t> rows, events, changes, pictures, gradients, checkpoints;

    void take(SessionChannel& channel) {
        const SessionBatch batch = channel.take(kRun);
        for (const StepRecord& each : batch.records)
            rows.push_back(each.step);
        for (const Event& each : batch.events)
            events.push_back(each.step);
        if (batch.change) changes.push_back(batch.change->now.steps);
        if (batch.snapshot) pictures.push_back(batch.snapshot->step);
        for (const auto& each : batch.gradients)
            gradients.push_back(each.at(0).step);
        if (batch.checkpoint) checkpoints.push_back(batch.checkpoint->step());
    }
};

/// Calls `publish(channel, i)` on one thread while another takes what has come. Returns all it
/// took.
template <class Publish>
Taken takenOf(const Publish& publish) {
    SessionChannel channel(64);
    Taken taken;
    sideBySide(
        kTimes, [&](int i) { publish(channel, i); }, [&](int) { taken.take(channel); });
    taken.take(channel);
    return taken;
}

} // namespace

class TestSessionChannel : public QObject {
    Q_OBJECT
private slots:
    void commandsComeInOrder();
    void aResetStopsTheRunThatIsBuilt();
    void theEndStopsTheRunThatIsBuilt();
    void interruptedRunsAreThere();
    void requestsToStopAreForgotten();
    void rows();
    void events();
    void changes();
    void pictures();
    void gradients();
    void checkpoints();
    void noticesComeInOrder();
    void nobodyIsToldAfterTheEnd();
    void picturesAreWantedOnceTaken();
    void gradientsComeWhileThereIsRoom();
    void commandsAreSeenToWait();
};

/// Commands come in order, also when the training thread only looks for them and does not wait, as
/// it does while it trains.
void TestSessionChannel::commandsComeInOrder() {
    for (const auto patience : {0ms, 1ms}) {
        SessionChannel channel;
        std::vector<int64_t> seen;
        const auto take = [&](std::chrono::milliseconds time) {
            for (const Command& each : channel.waitForCommands(time))
                seen.push_back(std::get<EditCommand>(each).lane);
        };
        const int times = patience == 0ms ? kTimes : kTimes / 10;
        sideBySide(
            times, [&](int) { take(patience); },
            [&](int i) {
                channel.post(EditCommand{i, "optimizer.lr", 0.5});
            });
        take(0ms);
        QCOMPARE(seen.size(), size_t(times));
        QVERIFY(follow(seen));
    }
}

/// A reset stops the run that is being built, and not the one that it asks for.
void TestSessionChannel::aResetStopsTheRunThatIsBuilt() {
    SessionChannel channel;
    bool stopped = false;
    int missed = 0;
    sideBySide(
        kTimes,
        [&](int) {
            const bool before = std::exchange(stopped, channel.newRun().stop_requested());
            missed += before && !stopped; // the reset was not obeyed yet
        },
        [&](int) { channel.post(ResetCommand{}); });
    QCOMPARE(missed, 0);
    QVERIFY(channel.newRun().stop_requested());
    QCOMPARE(channel.waitForCommands(0ms).size(), size_t{1}); // the last one voids the others
    QVERIFY(!channel.newRun().stop_requested());
}

void TestSessionChannel::theEndStopsTheRunThatIsBuilt() {
    SessionChannel channel;
    std::stop_token last;
    sideBySide(
        kTimes, [&](int) { last = channel.newRun(); }, [&](int) { channel.quit(); });
    QVERIFY(last.stop_requested());
    QVERIFY(channel.quits() && channel.commandWaits());
}

void TestSessionChannel::interruptedRunsAreThere() {
    SessionChannel channel;
    FakeScript script;
    const RunConfig config = tinyConfig(10);
    sideBySide(
        kTimes / 4,
        [&](int) {
            FakeRun run(config, script);
            channel.setTarget(&run);
            channel.setTarget(nullptr);
        },
        [&](int) { channel.interrupt(); });
    QCOMPARE(script.alive.load(), 0);
}

/// An interrupted run goes on once all commands are carried out.
void TestSessionChannel::requestsToStopAreForgotten() {
    SessionChannel channel;
    FakeScript script;
    FakeRun run(tinyConfig(kTimes), script);
    channel.setTarget(&run);
    std::vector<StepRecord> rows;
    std::vector<Event> none;
    int stopped = 0;
    sideBySide(
        kTimes / 4,
        [&](int) {
            channel.waitForCommands(0ms);
            stopped += !run.advance(rows, none);
        },
        [&](int) { channel.interrupt(); });
    channel.waitForCommands(0ms);
    QVERIFY(run.advance(rows, none));
    QCOMPARE(int(run.step()) + stopped, kTimes / 4 + 1);
}

/// Rows wait in the training thread while the ring is full.
void TestSessionChannel::rows() {
    SessionChannel channel(64);
    Taken taken;
    std::vector<StepRecord> waiting;
    std::vector<Event> none;
    sideBySide(
        kTimes,
        [&](int i) {
            StepRecord record;
            record.step = i;
            waiting.push_back(record);
            channel.publish(kRun, waiting, none);
        },
        [&](int) { taken.take(channel); });
    while (!channel.publish(kRun, waiting, none))
        taken.take(channel);
    taken.take(channel);
    QCOMPARE(taken.rows.size(), size_t(kTimes));
    QVERIFY(follow(taken.rows));
}

void TestSessionChannel::events() {
    const Taken taken = takenOf([](SessionChannel& channel, int i) {
        std::vector<StepRecord> none;
        Event event;
        event.step = i;
        std::vector<Event> events{event};
        channel.publish(kRun, none, events);
    });
    QCOMPARE(taken.events.size(), size_t(kTimes));
    QVERIFY(follow(taken.events));
}

void TestSessionChannel::changes() {
    const Taken taken =
        takenOf([](SessionChannel& channel, int i) { channel.publish(kRun, changeAt(i)); });
    QVERIFY(rise(taken.changes, kTimes));
}

void TestSessionChannel::pictures() {
    const Taken taken = takenOf([](SessionChannel& channel, int i) {
        channel.publish(kRun, Snapshot{i, {Picture{1, 1, 1, {0}, {}}}});
    });
    QVERIFY(rise(taken.pictures, kTimes));
}

void TestSessionChannel::gradients() {
    const Taken taken = takenOf([](SessionChannel& channel, int i) {
        GradientRange range;
        range.step = i;
        channel.publish(kRun, std::vector<GradientRange>{range});
    });
    QVERIFY(rise(taken.gradients, kTimes)); // a slow window still gets the newest
}

void TestSessionChannel::checkpoints() {
    const Taken taken = takenOf([](SessionChannel& channel, int i) {
        channel.publish(
            kRun, std::make_shared<const RunCheckpoint>(i, [i] { return std::to_string(i); }));
    });
    QVERIFY(rise(taken.checkpoints, kTimes));
}

/// The window hears of each notice once.
void TestSessionChannel::noticesComeInOrder() {
    SessionChannel channel;
    int told = 0;
    channel.listen([&told] { ++told; });
    std::vector<int64_t> seen;
    const auto take = [&] {
        if (const auto notice = channel.takeNotice())
            seen.push_back(std::get<SavedNotice>(notice->notice).step);
        return !seen.empty() && seen.back() == kTimes;
    };
    sideBySide(
        kTimes,
        [&](int i) {
            channel.tell(kRun, SavedNotice{"a path", i});
        },
        [&](int) { take(); });
    while (!take()) {
    }
    QCOMPARE(told, kTimes);
    QCOMPARE(seen.size(), size_t(kTimes));
    QVERIFY(follow(seen));
}

/// After listen(nullptr) the function that told the window is no longer called.
void TestSessionChannel::nobodyIsToldAfterTheEnd() {
    SessionChannel channel;
    std::atomic<int> late{0};
    sideBySide(
        kTimes,
        [&](int i) {
            channel.tell(kRun, SavedNotice{"a path", i});
        },
        [&](int) {
            const auto window = std::make_unique<std::atomic<int>>(1);
            channel.listen([&late, there = window.get()] { late += *there != 1; });
            channel.listen(nullptr);
            *window = 0;
        });
    QCOMPARE(late.load(), 0);
}

/// A picture is wanted once the window has taken the previous one.
void TestSessionChannel::picturesAreWantedOnceTaken() {
    SessionChannel channel;
    int published = 0;
    sideBySide(
        kTimes,
        [&](int) {
            if (channel.pictureWanted()) channel.publish(kRun, Snapshot{++published, {}});
        },
        [&](int) { channel.take(kRun); });
    QVERIFY(published > 0);
    channel.take(kRun);
    QVERIFY(channel.pictureWanted());
    channel.publish(kRun, Snapshot{1, {}});
    QVERIFY(!channel.pictureWanted());
}

/// Gradients are counted while the window has room for more.
void TestSessionChannel::gradientsComeWhileThereIsRoom() {
    SessionChannel channel;
    QVERIFY(!channel.gradientsWatched() && !channel.gradientsGlancedAt());
    sideBySide(
        kTimes,
        [&](int i) {
            if (channel.hasRoomForGradients() && i % 16 == 0)
                channel.publish(kRun, std::vector<GradientRange>(1));
        },
        [&](int) { channel.take(kRun); });
    channel.take(kRun);
    for (size_t i = 0; i < SessionChannel::kMostCounts; ++i) {
        QVERIFY(channel.hasRoomForGradients());
        channel.publish(kRun, std::vector<GradientRange>(1));
    }
    QVERIFY(!channel.hasRoomForGradients());
    // those of layers, which are many, wait for the newest count alone
    SessionChannel layers;
    for (int step = 1; step <= 3; ++step) {
        GradientRange range;
        range.step = step;
        range.layers.resize(5);
        layers.publish(kRun, std::vector<GradientRange>(2, range));
    }
    const SessionBatch batch = layers.take(kRun);
    QCOMPARE(batch.gradients.size(), size_t{3});
    for (size_t i = 0; i < 3; ++i)
        for (const GradientRange& range : batch.gradients[i])
            QCOMPARE(range.layers.size(), size_t{i == 2 ? 5u : 0u});
}

void TestSessionChannel::commandsAreSeenToWait() {
    SessionChannel channel;
    bool waits = false;
    int missed = 0;
    sideBySide(
        kTimes,
        [&](int) {
            const bool before = std::exchange(waits, channel.commandWaits());
            missed += before && !waits; // nobody has taken the command
        },
        [&](int) { channel.post(PauseCommand{}); });
    QCOMPARE(missed, 0);
    QVERIFY(channel.commandWaits());
    QCOMPARE(channel.waitForCommands(0ms).size(), size_t(kTimes));
    QVERIFY(!channel.commandWaits());
}

} // namespace tst_session_channel

QTEST_GUILESS_MAIN(tst_session_channel::TestSessionChannel)
#include "tst_session_channel.moc"
