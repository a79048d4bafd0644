// A session's file: what is read back from one that was left behind, the budget of memory, sessions
// in use, a program that is killed.
#include "engine/core/error.h"
#include "engine/io/database.h"
#include "engine/runs/left_session.h"
#include "engine/runs/run_store.h"
#include "engine/runs/session_file.h"
#include "engine/runs/session_store.h"
#include "tests/support/growth_limit.h"
#include "tests/support/run_difference.h"
#include "tests/support/session_run.h"
#include "tests/support/thrown.h"
#include "tests/support/under_sanitizer.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

namespace tst_session_store {

using namespace halfscope;
using namespace std::chrono_literals;

class TestSessionStore : public QObject {
    Q_OBJECT
private slots:
    void aLeftSessionComesBack();
    void thousandsOfRuns();
    void kindsOfOtherVersions();
    void aSessionInUseIsNotLeft();
    void nothingStaysOfADiscardedSession();
    void aKeptSessionSaysSo();
    void memoryKeepsToItsBudget();
    void aLongRunTakesLittleMemory();
    void aFinishedRunTakesLittleMemory();
    void aFullDisk();
    void eventsCountToo();
    void aForgottenRunIsNotOffered();
    void aRunIsForgottenOnAFullDisk();
    void noneIsMadeOnAFullDisk();
    void aRunThatComesBackIsOffered();
    void theLastStepIsWritten();
    void aKilledProgramLosesLittle();
};

void TestSessionStore::aLeftSessionComesBack() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString() + "/a/sessions";
    const std::shared_ptr<Run> run = madeRun(30011);
    {
        SessionStore store({sessions});
        store.watch(run, "A name");
        store.flush();
        QVERIFY(store.problem().empty());
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.size(), size_t{1});
    QCOMPARE(left[0].runs().size(), size_t{1});
    QCOMPARE(left[0].runs()[0].name, std::string("A name"));
    QCOMPARE(left[0].runs()[0].steps, int64_t{30011});
    double share = 0;
    RestoreWatch watch;
    watch.goesOn = [&](double done) {
        share = done;
        return true;
    };
    const std::shared_ptr<Run> back = left[0].read(left[0].runs()[0], watch);
    QCOMPARE(share, 1.0);
    QCOMPARE(difference(run->now(), back->now()), std::string());
    QCOMPARE(configText(back->info().recorded), configText(run->info().recorded));
    QCOMPARE(back->info().preset, std::string("overflow"));
    QCOMPARE(back->info().device->name, std::string("A CPU"));
    QVERIFY(back->info().restored);
    QCOMPARE(back->events().size(), run->events().size());
    for (size_t i = 0; i < run->events().size(); ++i) {
        QCOMPARE(back->events()[i].kind, run->events()[i].kind);
        QCOMPARE(kindNameOf(back->events()[i]), kindNameOf(run->events()[i]));
        QCOMPARE(back->events()[i].step, run->events()[i].step);
        QCOMPARE(back->events()[i].lane, run->events()[i].lane);
        QVERIFY(back->events()[i].text == run->events()[i].text);
    }
    QCOMPARE(back->now().target()->values, run->now().target()->values);
    QCOMPARE(back->now().pictures()->step, int64_t{30011});
    QCOMPARE(back->now().pictures()->outputs[2].values, run->now().pictures()->outputs[2].values);
    QCOMPARE(back->now().pictures()->outputs[2].caption, std::string("y = 4.99 x² + 3.00"));
    QCOMPARE(back->now().pictures()->outputs[1].caption, std::string());
    watch.goesOn = [](double) { return false; };
    QVERIFY(!left[0].read(left[0].runs()[0], watch));
}

/// Thousands of runs are open at once, and all of them come back, each with its own settings and
/// values.
void TestSessionStore::thousandsOfRuns() {
    constexpr int kRuns = test::kUnderSanitizer ? 300 : 2000;
    constexpr int64_t kSteps = 3;
    const auto lossOf = [](int run, int64_t step, int lane) {
        return static_cast<double>(100 * run + 10 * lane) + static_cast<double>(step);
    };
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    RunStore list;
    {
        SessionStore store({sessions});
        for (int i = 0; i < kRuns; ++i) {
            RunConfig config = defaultConfig();
            config.seed = static_cast<uint64_t>(i);
            const auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config));
            RunBatch batch;
            for (int64_t step = 1; step <= kSteps; ++step)
                for (int lane = 0; lane < 2; ++lane)
                    batch.rows.push_back(
                        StepRow(step, lane).set(metric::Loss, lossOf(i, step, lane)));
            run->append(std::move(batch));
            const RunId id = list.add(run, "Small");
            store.watch(run, list.find(id)->name);
        }
        store.flush();
        QCOMPARE(store.problem().english(), std::string());
    }
    QCOMPARE(list.size(), size_t{kRuns});
    QCOMPARE(list.entries().back().name, "Small (" + std::to_string(kRuns) + ")");
    QCOMPARE(list.entries().back().color, kRuns - 1);
    const auto differences = list.differences();
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.size(), size_t{1});
    QCOMPARE(left[0].runs().size(), size_t{kRuns});
    for (size_t i = 0; i < list.size(); ++i) {
        QCOMPARE(left[0].runs()[i].name, list.entries()[i].name);
        QCOMPARE(left[0].runs()[i].steps, kSteps);
        QCOMPARE(differences[i], std::vector<std::string>{"seed " + std::to_string(i)});
    }
    for (const int i : {0, 123, kRuns - 1}) {
        const std::shared_ptr<Run> back = left[0].read(left[0].runs()[static_cast<size_t>(i)]);
        QCOMPARE(back->info().config.seed, static_cast<uint64_t>(i));
        QCOMPARE(back->step(), kSteps);
        for (int lane = 0; lane < 2; ++lane)
            for (int64_t step = 1; step <= kSteps; ++step)
                QCOMPARE(back->now().column(lane, metric::Loss).at(step).value_or(-1),
                         lossOf(i, step, lane));
    }
}

/// Earlier versions gave kinds no names; a later one may have given a number another name.
void TestSessionStore::kindsOfOtherVersions() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    std::string path;
    {
        SessionStore store({sessions});
        store.watch(madeRun(5100), "one");
        store.flush();
        path = store.path();
    }
    const auto kindsNow = [&] {
        const std::vector<LeftSession> left = leftSessions(sessions);
        const std::shared_ptr<Run> run = left.at(0).read(left[0].runs().at(0));
        std::string kinds;
        for (const Event& event : run->events())
            kinds += std::string(kindNameOf(event)) + ' ';
        return kinds;
    };
    const std::string known =
        "overflow growth backoff loss-not-finite edit damaged-sample underflow rate-fall ";
    const std::string two = "overflow overflow ";
    QCOMPARE(kindsNow(), known + "plateau nan-guard " + two);
    const Database database(path, Database::Access::Create);
    database.run("UPDATE event_kinds SET name = 'slow-step' WHERE name = 'underflow'");
    QCOMPARE(kindsNow(), "overflow growth backoff loss-not-finite edit damaged-sample slow-step "
                         "rate-fall "
                         "plateau nan-guard " +
                             two);
    database.run("DROP TABLE event_kinds");
    QCOMPARE(kindsNow(), known + two);
    // a damaged event is left out; the later ones are not
    database.run("UPDATE events SET lane = 99 WHERE kind = 1");
    database.run("UPDATE events SET step = -3 WHERE kind = 2");
    database.run("UPDATE events SET step = 9000000000000000000 WHERE kind = 3");
    database.run("UPDATE events SET lane = 4294967296 WHERE kind = 4");
    QCOMPARE(kindsNow(), "overflow damaged-sample underflow rate-fall " + two);
}

void TestSessionStore::aSessionInUseIsNotLeft() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    auto first = std::make_unique<SessionStore>(SessionOptions{sessions});
    SessionStore second({sessions});
    QVERIFY(first->path() != second.path());
    first->watch(madeRun(5100), "one");
    first->flush();
    QCOMPARE(leftSessions(sessions).size(), size_t{0});
    first.reset();
    std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.size(), size_t{1});
    QCOMPARE(leftSessions(sessions).size(), size_t{0}); // it is taken
    left.clear();
    left = leftSessions(sessions);
    QCOMPARE(left.size(), size_t{1});
    left[0].remove();
    left.clear();
    QCOMPARE(leftSessions(sessions).size(), size_t{0});
    QCOMPARE(sessionsIn(sessions).size(), size_t{1}); // the second one
}

void TestSessionStore::nothingStaysOfADiscardedSession() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    {
        SessionStore store({sessions});
        store.watch(madeRun(9000), "one");
        store.flush();
        store.discard();
    }
    QVERIFY(std::filesystem::is_empty(sessions));
}

/// What its user wants to keep is told apart from what a crash has left.
void TestSessionStore::aKeptSessionSaysSo() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    using Mark = SessionMark;
    const auto leave = [&](const std::vector<Mark>& marks) {
        SessionStore store({sessions});
        store.watch(madeRun(5100), "one");
        store.flush();
        for (const Mark each : marks) {
            store.setMark(each);
            store.flush();
        }
    };
    for (const std::vector<Mark>& marks : {std::vector<Mark>{},
                                           {Mark::Kept},
                                           {Mark::Kept, Mark::None},
                                           {Mark::Kept, Mark::None, Mark::Kept},
                                           {Mark::ToldToEnd},
                                           {Mark::Kept, Mark::ToldToEnd}}) {
        leave(marks);
        std::vector<LeftSession> left = leftSessions(sessions);
        QCOMPARE(left.size(), size_t{1});
        const Mark last = marks.empty() ? Mark::None : marks.back();
        QCOMPARE(left[0].wasKept(), last == Mark::Kept);
        QCOMPARE(left[0].wasToldToEnd(), last == Mark::ToldToEnd);
        QCOMPARE(left[0].runs().size(), size_t{1});
        left[0].remove();
    }
}

void TestSessionStore::memoryKeepsToItsBudget() {
    const QTemporaryDir folder;
    const std::shared_ptr<Run> whole = madeRun(60000);
    const std::shared_ptr<Run> run = madeRun(60000);
    const size_t bytes = run->now().columnBytes();
    auto store = std::make_unique<SessionStore>(
        SessionOptions{folder.path().toStdString(), bytes / 4, 10ms});
    store->watch(run, "one");
    store->flush();
    store->flush();
    QVERIFY(store->residentBytes() <= bytes / 4);
    QVERIFY(run->now().columnBytes() <= bytes / 4);
    QVERIFY(!store->isFull());
    QCOMPARE(difference(whole->now(), run->now()), std::string());
    // what was read is in memory again, and is dropped again
    for (int i = 0; i < 3; ++i)
        store->flush();
    QVERIFY(run->now().columnBytes() <= bytes / 4);
    RunBatch batch; // pictures that somebody holds count, too
    batch.pictures = LanePictures{9, {Picture{400, 400, 3, std::vector<float>(480000)}}};
    run->append(std::move(batch));
    const auto held = run->now().pictures();
    store->flush();
    QVERIFY(store->residentBytes() > 480000 * sizeof(float));
    store->setBudget(1);
    store->flush();
    store->flush();
    QVERIFY(store->isFull());
    // readers outlive the session and its file
    store->discard();
    store.reset();
    QCOMPARE(difference(whole->now(), run->now()), std::string());
}

/// The values of a long training become spans of spans, in a run that continues another, too.
void TestSessionStore::aLongRunTakesLittleMemory() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    constexpr size_t kBudget = size_t{3} << 20;
    constexpr int64_t kSteps = 200000, kPart = 10000, kContinued = 123456;
    const std::shared_ptr<Run> run = madeRun(kPart);
    std::shared_ptr<Run> next;
    {
        SessionStore store({sessions, kBudget, 10ms});
        store.watch(run, "one");
        std::atomic<int64_t> wrong{0}, reads{0};
        std::jthread reader([&](const std::stop_token& stop) { // as plots do meanwhile
            std::vector<Point> points(100);
            while (!stop.stop_requested()) {
                const RunSnapshot now = run->snapshot();
                const Column& counted = now.column(1, metric::SkippedSoFar);
                const int64_t last = counted.lastStep(), step = 1 + reads * 7919 % last;
                wrong += counted.extremes(1, last).last.value != static_cast<double>(last / 97);
                const size_t count = counted.read(step, last, points);
                for (size_t i = 0; i < count; ++i)
                    wrong += points[i].step != step + static_cast<int64_t>(i) ||
                             points[i].value != static_cast<double>(points[i].step / 97);
                ++reads;
            }
        });
        for (int64_t step = kPart; step < kSteps; step += kPart) {
            appendRows(*run, step + 1, step + kPart, 3);
            for (int i = 0; i < 3; ++i)
                store.flush();
            QVERIFY(store.residentBytes() <= kBudget);
        }
        reader.request_stop();
        reader.join();
        QVERIFY(reads > 0);
        QCOMPARE(wrong.load(), int64_t{0});
        const Column& loss = run->column(0, metric::Loss);
        QVERIFY(loss.spans()[0]->level() > 0);
        QCOMPARE(loss.size(), kSteps);
        next = Run::goingOn(run->now().info().recorded, run->now(), kContinued);
        RunBatch device;
        device.info = run->now().info();
        next->append(std::move(device));
        store.watch(next, "two");
        store.flush();
        QVERIFY(store.problem().empty());
    }
    const std::shared_ptr<Run> whole = madeRun(kPart);
    appendRows(*whole, kPart + 1, kSteps, 3);
    QCOMPARE(difference(whole->now(), run->now()), std::string());
    const std::vector<LeftSession> left = leftSessions(sessions);
    const std::vector<LeftRun> runs = left.at(0).runs();
    QCOMPARE(runs.size(), size_t{2});
    QCOMPARE(difference(whole->now(), left[0].read(runs[0])->now()), std::string());
    const std::shared_ptr<Run> again = left[0].read(runs[1]);
    QCOMPARE(again->now().column(1, metric::Loss).lastStep(), kContinued);
    QCOMPARE(difference(next->now(), again->now()), std::string());
}

/// Files may not grow; later they may again.
/// A run that was over before its values had to leave the memory.
void TestSessionStore::aFinishedRunTakesLittleMemory() {
    const QTemporaryDir folder;
    constexpr int64_t kSteps = 4096 * 16 * 17;
    RunConfig config = defaultConfig();
    config.steps = kSteps;
    config.lanes.resize(1);
    const auto run = std::make_shared<Run>(infoOf(config), lanesOf(config));
    appendRows(*run, 1, kSteps, 1);
    const Extremes before = run->column(0, metric::GradientNorm).extremes(1, kSteps);
    SessionStore store({folder.path().toStdString(), 1, 1h});
    store.watch(run, "over");
    for (int i = 0; i < 3; ++i)
        store.flush();
    const size_t chunks = store.residentBytes();
    QVERIFY(store.isFull());
    int merges = 0;
    for (int idle = 0; idle < 3; ++idle) { // as the window does
        const uint64_t version = run->version();
        if (run->mergeSpans()) idle = 0;
        if (run->version() != version) ++merges;
        store.flush();
    }
    QCOMPARE(merges, 2);
    QVERIFY2(store.residentBytes() < chunks / 4, std::to_string(store.residentBytes()).c_str());
    const Extremes after = run->column(0, metric::GradientNorm).extremes(1, kSteps);
    QVERIFY(after.lowest == before.lowest && after.highest == before.highest &&
            after.finite == before.finite && after.notFinite == before.notFinite);
    QCOMPARE(run->column(0, metric::Loss).at(70000), rowAt(70000, 0)[metric::Loss]);
}

void TestSessionStore::aFullDisk() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    const std::shared_ptr<Run> run = madeRun(9000);
    {
        SessionStore store({sessions, usualBudget(), 10ms});
        store.watch(run, "one");
        store.flush();
        std::string problem;
        {
            const GrowthLimit limit(size_t{1} << 20);
            appendRows(*run, 9001, 60000, 3);
            const uint64_t asked = store.askToWrite();
            store.flush();
            problem = store.problem().english();
            QVERIFY(!store.isWritten(asked));
        }
        QVERIFY2(problem.starts_with(store.path() + ": "), problem.c_str());
        appendRows(*run, 60001, 60100, 3);
        store.flush();
        QVERIFY(store.problem().empty());
        const uint64_t asked = store.askToWrite();
        store.flush();
        QVERIFY(store.isWritten(asked));
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.size(), size_t{1});
    QCOMPARE(difference(run->now(), left[0].read(left[0].runs().at(0))->now()), std::string());
}

/// A lane that skips every step has more events than values.
void TestSessionStore::eventsCountToo() {
    const QTemporaryDir folder;
    const std::shared_ptr<Run> run = madeRun(6000);
    SessionStore store({folder.path().toStdString(), size_t{1} << 20});
    store.watch(run, "one");
    store.flush();
    QVERIFY(!store.isFull());
    RunBatch flood;
    for (int64_t step = 1; step <= 10000; ++step)
        flood.events.push_back(eventAt(step, 1));
    run->append(std::move(flood));
    store.flush();
    QVERIFY(store.isFull());
}

void TestSessionStore::aForgottenRunIsNotOffered() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    const std::shared_ptr<Run> one = madeRun(6000), two = madeRun(7000);
    {
        SessionStore store({sessions});
        store.watch(one, "one");
        store.watch(two, "two");
        store.flush();
        store.forget(one.get());
        store.flush();
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.size(), size_t{1});
    QCOMPARE(left[0].runs().size(), size_t{1});
    QCOMPARE(left[0].runs()[0].name, std::string("two"));
    QCOMPARE(difference(left[0].read(left[0].runs()[0])->now(), two->now()), std::string());
}

/// Nothing can be written when the run is forgotten; it is erased when that is possible again.
void TestSessionStore::aRunIsForgottenOnAFullDisk() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    const std::shared_ptr<Run> one = madeRun(6000), two = madeRun(7000);
    {
        SessionStore store({sessions, usualBudget(), 1h});
        store.watch(one, "one");
        store.watch(two, "two");
        store.flush();
        std::string problem;
        {
            const GrowthLimit limit(1);
            store.forget(one.get());
            store.flush();
            problem = store.problem().english();
        }
        QVERIFY2(problem.starts_with(store.path() + ": "), problem.c_str());
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.size(), size_t{1});
    QCOMPARE(left[0].runs().size(), size_t{1});
    QCOMPARE(left[0].runs()[0].name, std::string("two"));
}

/// A store that cannot be made leaves no empty session: a window tries it again and again.
void TestSessionStore::noneIsMadeOnAFullDisk() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    std::string problem;
    {
        const GrowthLimit limit(1);
        problem = thrownBy<RunError>([&] { SessionStore({sessions, usualBudget(), 1h}); });
    }
    QVERIFY2(problem.starts_with(sessions + "/"), problem.c_str());
    QVERIFY(QDir(folder.path()).isEmpty());
}

/// The run is offered whether or not the store looked at it before it was forgotten and watched
/// again.
void TestSessionStore::aRunThatComesBackIsOffered() {
    for (const bool looked : {false, true}) {
        const QTemporaryDir folder;
        const std::string sessions = folder.path().toStdString();
        const std::shared_ptr<Run> run = madeRun(5100);
        {
            SessionStore store({sessions, usualBudget(), 1h});
            store.watch(run, "one");
            if (looked) store.flush();
            store.forget(run.get());
            store.watch(run, "again");
        }
        const std::vector<LeftSession> left = leftSessions(sessions);
        QCOMPARE(left.size(), size_t{1});
        QCOMPARE(left[0].runs().size(), size_t{1});
        QCOMPARE(left[0].runs()[0].name, std::string("again"));
    }
}

/// Bytes changed here and there: an error or what can be read, and no crash.
/// Rows are written more often than pictures: the end of a session has the last ones of both.
void TestSessionStore::theLastStepIsWritten() {
    const QTemporaryDir folder;
    {
        SessionStore store({.folder = folder.path().toStdString(), .every = 1ms});
        auto run = std::make_shared<Run>(infoOf(defaultConfig()), lanesOf(defaultConfig()));
        appendRows(*run, 1, 10, 2);
        store.watch(run, "one");
        QVERIFY(store.flush());
        appendRows(*run, 11, 11, 2);
        RunBatch news;
        news.pictures = LanePictures{11, {Picture{1, 1, 1, {0.5f}}, Picture{1, 1, 1, {1}}}};
        news.pictures->target = Picture{1, 1, 1, {0.75f}}; // of a validation
        run->append(std::move(news));
        std::this_thread::sleep_for(100ms); // for turns that write rows alone
    }
    const std::vector<LeftSession> left = leftSessions(folder.path().toStdString());
    const std::shared_ptr<Run> back = left.at(0).read(left[0].runs().at(0));
    QVERIFY(back->step() == 11 && back->now().pictures()->step == 11);
    QVERIFY(back->now().target()->values == std::vector{0.75f});
}

namespace {

/// Appends 100 steps every 10 ms to a run whose session is in a folder, and kills this program
/// after some time; writes the last step into a file beside it.
[[noreturn]] void trainAndDie(const std::string& sessions, std::chrono::seconds after) {
    SessionStore store({sessions});
    auto run = std::make_shared<Run>(infoOf(defaultConfig()), lanesOf(defaultConfig()));
    store.watch(run, "one");
    const auto start = std::chrono::steady_clock::now();
    for (int64_t step = 1;; step += 100) {
        appendRows(*run, step, step + 99, 2);
        std::this_thread::sleep_for(10ms);
        if (std::chrono::steady_clock::now() - start > after) {
            std::ofstream(sessions + "/last") << step;
            kill(getpid(), SIGKILL);
        }
    }
}

} // namespace

/// At least half of two seconds is there; of a longer time when a busy disk has held up the writer.
void TestSessionStore::aKilledProgramLosesLittle() {
    bool enough = false;
    for (auto after = 2s; !enough && after < 20s; after *= 2) {
        const QTemporaryDir folder;
        const std::string sessions = folder.path().toStdString();
        const pid_t child = fork();
        QVERIFY(child >= 0);
        if (child == 0) trainAndDie(sessions, after);
        int status = 0;
        QCOMPARE(waitpid(child, &status, 0), child);
        QVERIFY(WIFSIGNALED(status));
        int64_t last = 0;
        std::ifstream(sessions + "/last") >> last;
        const std::vector<LeftSession> left = leftSessions(sessions);
        if (left.empty() || left[0].runs().empty()) continue; // nothing was written yet
        QCOMPARE(left.size(), size_t{1});
        const std::shared_ptr<Run> back = left[0].read(left[0].runs().at(0));
        enough = back->step() > last / 2;
        for (int64_t step : {int64_t{1}, back->step() / 2, back->step()})
            if (step > 0) QCOMPARE(back->now().row(0, step).loss(), rowAt(step, 0).loss());
    }
    QVERIFY(enough);
}

} // namespace tst_session_store

QTEST_GUILESS_MAIN(tst_session_store::TestSessionStore)
#include "tst_session_store.moc"
