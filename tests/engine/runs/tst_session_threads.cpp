// A session's store while other threads work: calls from the window, a run that grows, readers of
// values that were dropped from memory, saving, and the end of the session. Under ThreadSanitizer
// the test fails if any lock of the store is removed.
#include "engine/runs/left_session.h"
#include "engine/runs/run_reader.h"
#include "engine/runs/run_saving.h"
#include "engine/runs/session_store.h"
#include "tests/support/cpu_run.h"
#include "tests/support/growth_limit.h"
#include "tests/support/side_by_side.h"
#include "tests/support/under_sanitizer.h"

#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <cmath>
#include <random>
#include <set>
#include <thread>

namespace tst_session_threads {

using namespace halfscope;
using namespace std::chrono_literals;
using halfscope::test::sideBySide;
using halfscope::test::sizeFor;

namespace {

/// Returns noise, which no compression makes small enough to stay in memory.
float valueAt(int64_t step, int lane) {
    return static_cast<float>(std::sin(static_cast<double>(step * (lane + 3)) * 12.9898));
}

StepRow rowAt(int64_t step, int lane) {
    return StepRow(step, lane)
        .set(metric::Loss, valueAt(step, lane))
        .set(metric::Scale, 65536.0f)
        .set(metric::GrowthTracker, step % 2000)
        .set(metric::LearningRate, 0.001f)
        .set(metric::GradientNorm, 7 + valueAt(step, lane))
        .setFlags(0)
        .set(metric::SkippedSoFar, int64_t{0})
        .set(metric::DeviceSeconds, 0.001)
        .set(metric::WallSeconds, static_cast<double>(step) / 700);
}

RunBatch batchOf(int64_t from, int64_t to, int lanes) {
    RunBatch batch;
    for (int64_t step = from; step <= to; ++step)
        for (int lane = 0; lane < lanes; ++lane)
            batch.rows.push_back(rowAt(step, lane));
    return batch;
}

std::shared_ptr<Run> madeRun(int64_t steps) {
    auto run = std::make_shared<Run>(cpuRunInfo(), lanesOf(defaultConfig()));
    run->append(batchOf(1, steps, 2));
    return run;
}

std::string contentAfter(int64_t step) {
    return std::string(20000, static_cast<char>('a' + step % 26)) + std::to_string(step);
}

std::shared_ptr<const RunCheckpoint> checkpointAfter(int64_t step) {
    return std::make_shared<const RunCheckpoint>(step, [step] { return contentAfter(step); });
}

void keep(Run& run, int64_t step) {
    RunBatch batch;
    batch.checkpoint = checkpointAfter(step);
    run.append(std::move(batch));
}

/// Counts the wrong values and the missing steps between two random steps.
int64_t wrongOf(const RunSnapshot& now, int lane, std::mt19937& random) {
    const int64_t last = now.column(lane, metric::Loss).lastStep();
    if (last == 0) return 0;
    const int64_t from = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(last));
    const int64_t to = std::min(last, from + static_cast<int64_t>(random() % 2000));
    int64_t next = from, wrong = 0;
    now.column(lane, metric::Loss).values(from, to, [&](int64_t step, double value) {
        wrong += step != next++ || value != double{valueAt(step, lane)};
    });
    const Extremes all = now.column(lane, metric::Loss).extremes(from, to);
    return wrong + (next != to + 1) + (all.finite != to - from + 1);
}

/// Appends everything that a run may have, on a thread of its own, until the object is destroyed.
class Training {
public:
    explicit Training(Run& run) : m_run(run) {
        m_thread = std::jthread([this](const std::stop_token& stop) { train(stop); });
    }
    int64_t step() const { return m_step; }

private:
    void train(const std::stop_token& stop) {
        constexpr int64_t kBlock = 200;
        const int64_t first = m_run.now().step() + 1;
        for (int64_t step = first; !stop.stop_requested(); step += kBlock) {
            RunBatch batch = batchOf(step, step + kBlock - 1, m_run.now().laneCount());
            batch.events = {
                {EventKind::Edit, step, 0, 1, 1, "optimizer.lr", Message::data("An edit")}};
            if (step / kBlock % 5 == 0) batch.checkpoint = checkpointAfter(step + kBlock - 1);
            if (step / kBlock % 7 == 0)
                batch.pictures = LanePictures{step, {Picture{1, 1, 1, {0.5f}, {}}}};
            GradientRange range;
            range.step = step;
            range.outputs.buckets[40] = 3;
            batch.gradients = {{range, range}};
            m_run.append(std::move(batch));
            m_step = step + kBlock - 1;
        }
    }

    Run& m_run;
    std::atomic<int64_t> m_step{0};
    std::jthread m_thread; ///< declared last, because it uses the other members
};

} // namespace

class TestSessionThreads : public QObject {
    Q_OBJECT
private slots:
    void callsBesideTheWriter_data();
    void callsBesideTheWriter();
    void eachRequestHasItsNumber();
    void aFullDiskBesideTheWindow();
    void droppedValuesAreReadByMany();
    void checkpointsAreReadByMany();
    void storedWhileTheyAreRead();
    void readWhileItGrows();
    void savedWhileItGrows();
};

namespace {

using Runs = std::vector<std::shared_ptr<Run>>;
/// A call that the window makes while the store's own thread keeps looking at the runs.
struct Call {
    const char* name;
    void (*make)(SessionStore&, const Runs&, size_t i);
};
const Call kCalls[] = {
    {"watch", [](SessionStore& store, const Runs& runs, size_t i) { store.watch(runs[i], "new"); }},
    {"forget",
     [](SessionStore& store, const Runs& runs, size_t i) { store.forget(runs[i].get()); }},
    {"ask", [](SessionStore& store, const Runs&, size_t) { store.askToWrite(); }},
    {"is written", [](SessionStore& store, const Runs&, size_t i) { (void)store.isWritten(i); }},
    {"unread", [](SessionStore& store, const Runs&, size_t) { (void)store.unreadIn("another"); }},
    {"flush", [](SessionStore& store, const Runs&, size_t) { store.flush(); }},
    {"budget", [](SessionStore& store, const Runs&, size_t i) { store.setBudget(i << 20); }},
    {"problem", [](SessionStore& store, const Runs&, size_t) { (void)store.problem().empty(); }},
    {"is full", [](SessionStore& store, const Runs&, size_t) { (void)store.isFull(); }},
    {"discard", [](SessionStore& store, const Runs&, size_t) { store.discard(); }},
};

} // namespace

void TestSessionThreads::callsBesideTheWriter_data() {
    QTest::addColumn<int>("call");
    for (int i = 0; i < static_cast<int>(std::size(kCalls)); ++i)
        QTest::newRow(kCalls[i].name) << i;
}

void TestSessionThreads::callsBesideTheWriter() {
    QFETCH(int, call);
    constexpr size_t kTimes = 200;
    const QTemporaryDir folder;
    Runs runs;
    for (size_t i = 0; i < kTimes; ++i)
        runs.push_back(madeRun(2));
    {
        SessionStore store({folder.path().toStdString(), usualBudget(), 0ms});
        const bool coming = std::string(kCalls[call].name) == "watch";
        for (size_t i = 0; i < (coming ? kTimes / 4 : kTimes); ++i)
            store.watch(runs[i], "there");
        store.flush();
        for (size_t i = coming ? kTimes / 4 : 0; i < kTimes; ++i) {
            kCalls[call].make(store, runs, i);
            std::this_thread::sleep_for(200us); // the writer looks meanwhile
        }
        QVERIFY(store.problem().empty());
    }
    size_t left = 0;
    for (const LeftSession& session : leftSessions(folder.path().toStdString()))
        left += session.runs().size();
    const std::string name = kCalls[call].name;
    QCOMPARE(left, name == "forget" || name == "discard" ? size_t{0} : kTimes);
}

void TestSessionThreads::eachRequestHasItsNumber() {
    constexpr int kTimes = 1000;
    const QTemporaryDir folder;
    SessionStore store({folder.path().toStdString(), usualBudget(), 0ms});
    std::vector<uint64_t> one, other;
    sideBySide(
        kTimes, [&](int) { one.push_back(store.askToWrite()); },
        [&](int) { other.push_back(store.askToWrite()); });
    std::set<uint64_t> all(one.begin(), one.end());
    all.insert(other.begin(), other.end());
    QCOMPARE(all.size(), size_t{2 * kTimes});
    QTRY_VERIFY_WITH_TIMEOUT(store.isWritten(*all.rbegin()), 600'000);
}

/// Runs cannot be erased on a full disk, and meanwhile the window asks what the problem is.
void TestSessionThreads::aFullDiskBesideTheWindow() {
    const QTemporaryDir folder;
    SessionStore store({folder.path().toStdString(), usualBudget(), 0ms});
    Runs runs;
    for (int i = 0; i < 100; ++i) {
        runs.push_back(madeRun(2));
        store.watch(runs.back(), "run");
    }
    store.flush();
    const GrowthLimit limit(1);
    std::atomic<bool> forgotten{false};
    std::string seen;
    std::jthread window([&] {
        const auto latest = std::chrono::steady_clock::now() + 600s;
        while (!forgotten || (seen.empty() && std::chrono::steady_clock::now() < latest))
            if (const Message problem = store.problem(); !problem.empty()) seen = problem.english();
    });
    for (const auto& run : runs) {
        store.forget(run.get());
        std::this_thread::sleep_for(500us);
    }
    forgotten = true;
    window.join();
    QVERIFY2(seen.starts_with(store.path() + ": "), seen.c_str());
}

/// The readers share one connection, and the writer drops again what they have read.
void TestSessionThreads::droppedValuesAreReadByMany() {
    const QTemporaryDir folder;
    const std::shared_ptr<Run> run = madeRun(5 * 4096);
    SessionStore store({folder.path().toStdString(), 1, 0ms});
    store.watch(run, "one");
    store.flush();
    store.flush();
    QVERIFY(run->now().columnBytes() < size_t{5 * 4096 * 2 * 2 * sizeof(float) / 2});
    std::atomic<int64_t> wrong{0};
    const auto read = [&](int lane) {
        std::mt19937 random(static_cast<unsigned>(lane));
        const RunSnapshot now = run->snapshot();
        for (int i = 0; i < 300; ++i)
            wrong += wrongOf(now, lane, random);
    };
    {
        const std::jthread a([&] { read(0); }), b([&] { read(1); }), c([&] { read(1); });
    }
    QCOMPARE(wrong.load(), int64_t{0});
}

void TestSessionThreads::checkpointsAreReadByMany() {
    const QTemporaryDir folder;
    SessionStore store({folder.path().toStdString(), usualBudget(), 0ms});
    const Runs runs{madeRun(100), madeRun(100)};
    for (size_t i = 0; i < runs.size(); ++i) {
        store.watch(runs[i], "run");
        keep(*runs[i], static_cast<int64_t>(i) + 1);
    }
    store.flush();
    std::atomic<int> wrong{0};
    const auto read = [&](size_t of) {
        try {
            wrong += runs[of]->snapshot().checkpoint()->bytes() !=
                     contentAfter(static_cast<int64_t>(of) + 1);
        } catch (const std::exception&) {
            ++wrong;
        }
    };
    sideBySide(
        500, [&](int) { read(0); }, [&](int) { read(1); });
    QCOMPARE(wrong.load(), 0);
}

/// The store frees checkpoints and values while another thread reads them.
void TestSessionThreads::storedWhileTheyAreRead() {
    const QTemporaryDir folder;
    const std::shared_ptr<Run> run = madeRun(100);
    SessionStore store({folder.path().toStdString(), 1, 0ms});
    store.watch(run, "one");
    keep(*run, 100);
    int64_t wrong = 0, step = 100;
    std::mt19937 random(1);
    sideBySide(
        200,
        [&](int) {
            const RunSnapshot now = run->snapshot();
            const auto kept = now.checkpoint();
            try {
                wrong += kept->bytes() != contentAfter(kept->step());
            } catch (const RunError&) { // a newer one has replaced it in the store
            }
            wrong += wrongOf(now, 0, random);
        },
        [&](int) {
            run->append(batchOf(step + 1, step + 100, 2));
            keep(*run, step += 100);
            if (step % 1000 == 0) store.flush(); // so that some are read from the store
        });
    QCOMPARE(wrong, int64_t{0});
    store.flush();
    QCOMPARE(run->now().checkpoint()->bytes(), contentAfter(step));
}

/// Values are dropped from memory and the session ends; readers see the right values throughout.
void TestSessionThreads::readWhileItGrows() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    const std::shared_ptr<Run> run = madeRun(4096);
    auto store = std::make_unique<SessionStore>(SessionOptions{sessions, 100'000, 1ms});
    store->watch(run, "one");
    std::atomic<int64_t> wrong{0};
    int64_t trained = 0;
    {
        const Training training(*run);
        const auto read = [&](const std::stop_token& stop, int lane) {
            std::mt19937 random(static_cast<unsigned>(lane));
            while (!stop.stop_requested()) {
                const RunSnapshot now = run->snapshot();
                wrong += wrongOf(now, lane, random);
                wrong += !now.events().empty() && now.events().back().step > now.step();
            }
        };
        const std::jthread a(read, 0), b(read, 1);
        const int64_t half = 4096 + sizeFor<int64_t>(30'000, 10'000);
        QTRY_VERIFY_WITH_TIMEOUT(training.step() > half, 600'000);
        store.reset(); // the readers go on
        trained = training.step() + 4000;
        QTRY_VERIFY_WITH_TIMEOUT(training.step() > trained, 600'000);
    }
    QCOMPARE(wrong.load(), int64_t{0});
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.size(), size_t{1});
    const std::shared_ptr<Run> back = left[0].read(left[0].runs().at(0));
    QVERIFY(back->step() > 4096 && back->step() < run->step());
    const auto kept = back->now().checkpoint();
    QVERIFY(kept && kept->step() <= back->step());
    QCOMPARE(kept->bytes(), contentAfter(kept->step()));
    std::mt19937 random(9);
    for (int i = 0; i < 50; ++i)
        QCOMPARE(wrongOf(back->now(), i % 2, random), int64_t{0});
}

/// The saved files hold the run as it was when saving began.
void TestSessionThreads::savedWhileItGrows() {
    const QTemporaryDir folder;
    const std::string sessions = folder.filePath("sessions").toStdString();
    const std::string saved = folder.filePath("saved").toStdString();
    const std::shared_ptr<Run> run = madeRun(4096);
    SessionStore store({sessions, 100'000, 1ms});
    store.watch(run, "one");
    const Training training(*run);
    for (int i = 0; i < 3; ++i) {
        QTRY_VERIFY_WITH_TIMEOUT(training.step() > 4096 + i * 3000, 600'000);
        const RunSnapshot now = run->snapshot();
        saveRun(now, saved);
        const std::shared_ptr<Run> back = readRun(saved, defaultConfig());
        QCOMPARE(back->step(), now.step());
        QCOMPARE(back->events().size(), now.events().size());
        std::mt19937 random(static_cast<unsigned>(i));
        for (int looks = 0; looks < 10; ++looks)
            QCOMPARE(wrongOf(back->now(), 1, random), int64_t{0});
    }
}

} // namespace tst_session_threads

QTEST_GUILESS_MAIN(tst_session_threads::TestSessionThreads)
#include "tst_session_threads.moc"
