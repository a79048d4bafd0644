// The thread pool: each task runs once, no wait lasts for ever, errors of tasks, callers side by
// side.
#include "engine/core/error.h"
#include "engine/core/thread_pool.h"
#include "tests/support/thrown.h"

#include <QTest>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace tst_thread_pool {

using namespace halfscope;

class TestThreadPool : public QObject {
    Q_OBJECT

private slots:
    void runsEachTaskOnce_data();
    void runsEachTaskOnce();
    void manySmallRuns();
    void stopsAtAnyMoment();
    void usesItsThreads();
    void beginsWithItsShare_data();
    void beginsWithItsShare();
    void throwsOn_data();
    void throwsOn();
    void refusesNesting();
    void threadStart();
    void waitsForWorkers();
    void twoCallers();
};

void TestThreadPool::runsEachTaskOnce_data() {
    QTest::addColumn<int>("threads");
    QTest::addColumn<int>("count");
    for (const int threads : {0, 1, 2, 3, 8})
        for (const int count : {0, 1, 2, 7, 1000})
            QTest::addRow("%d threads, %d tasks", threads, count) << threads << count;
}

void TestThreadPool::runsEachTaskOnce() {
    QFETCH(int, threads);
    QFETCH(int, count);
    ThreadPool pool(threads);
    if (threads > 0) QCOMPARE(pool.threads(), threads);
    QVERIFY(pool.threads() >= 1);
    std::vector<std::atomic<int>> calls(static_cast<size_t>(count));
    std::atomic<int> badThread{0};
    for (int round = 0; round < 20; ++round)
        pool.run(count, [&](int64_t index, int thread) {
            ++calls[static_cast<size_t>(index)];
            if (thread < 0 || thread >= pool.threads()) ++badThread;
        });
    QCOMPARE(badThread.load(), 0);
    for (const auto& number : calls)
        QCOMPARE(number.load(), 20);
}

void TestThreadPool::manySmallRuns() {
    // Jobs lie on the caller's stack, one right after the other: a late worker must never touch the
    // earlier job, and two threads must never have the same number at once.
    for (const int threads : {2, 4}) {
        ThreadPool pool(threads);
        std::vector<std::atomic<int>> busy(static_cast<size_t>(threads));
        std::atomic<int> clashes{0};
        for (int round = 0; round < 20000; ++round) {
            std::vector<int> results(static_cast<size_t>(2 + round % 5), -1);
            pool.run(static_cast<int64_t>(results.size()), [&, round](int64_t index, int thread) {
                if (busy[static_cast<size_t>(thread)].fetch_add(1) != 0) ++clashes;
                results[static_cast<size_t>(index)] = round;
                busy[static_cast<size_t>(thread)].fetch_sub(1);
            });
            for (const int result : results)
                QCOMPARE(result, round);
        }
        QCOMPARE(clashes.load(), 0);
    }
}

void TestThreadPool::stopsAtAnyMoment() {
    // Workers that are still starting, or going back to sleep, must notice that they are to end;
    // one that misses it makes the destructor hang.
    for (int cycle = 0; cycle < 20000; ++cycle) {
        ThreadPool pool(2 + cycle % 3);
        for (int run = 0; run < cycle % 3; ++run)
            pool.run(2 + run, [](int64_t, int) {});
    }
}

void TestThreadPool::usesItsThreads() {
    // Each task waits for the other: the test ends only if two threads work at the same time, also
    // after the workers have gone to sleep.
    ThreadPool pool(2);
    for (int round = 0; round < 3; ++round) {
        std::atomic<int> arrived{0};
        std::set<int> threads;
        std::mutex mutex;
        pool.run(2, [&](int64_t, int thread) {
            ++arrived;
            while (arrived.load() < 2)
                std::this_thread::yield();
            const std::lock_guard lock(mutex);
            threads.insert(thread);
        });
        QVERIFY(threads == (std::set<int>{0, 1}));
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

void TestThreadPool::beginsWithItsShare_data() {
    QTest::addColumn<TaskOrder>("order");
    QTest::addColumn<std::vector<int64_t>>("first"); // by thread, of 10 tasks
    QTest::newRow("up") << TaskOrder::Up << std::vector<int64_t>{0, 4, 7};
    QTest::newRow("down") << TaskOrder::Down << std::vector<int64_t>{3, 6, 9};
}

void TestThreadPool::beginsWithItsShare() {
    // No thread ends its first task before all have begun one: so none takes from another's share.
    QFETCH(TaskOrder, order);
    QFETCH(std::vector<int64_t>, first);
    ThreadPool pool(3);
    for (int round = 0; round < 3; ++round) {
        std::atomic<int> arrived{0};
        std::array<std::vector<int64_t>, 3> taken;
        const auto task = [&](int64_t index, int thread) {
            std::vector<int64_t>& own = taken[static_cast<size_t>(thread)];
            own.push_back(index);
            if (own.size() == 1) ++arrived;
            while (arrived.load() < 3)
                std::this_thread::yield();
        };
        pool.run(10, task, order);
        std::set<int64_t> all;
        for (size_t thread = 0; thread < taken.size(); ++thread) {
            QCOMPARE(taken[thread].front(), first[thread]);
            all.insert(taken[thread].begin(), taken[thread].end());
        }
        QCOMPARE(all.size(), size_t{10});
    }
}

void TestThreadPool::throwsOn_data() {
    QTest::addColumn<int>("threads");
    QTest::addColumn<int>("count");
    QTest::newRow("inline") << 4 << 1;
    QTest::newRow("one thread") << 1 << 100;
    QTest::newRow("two threads") << 2 << 100;
    QTest::newRow("more threads than cores") << 8 << 100;
}

void TestThreadPool::throwsOn() {
    QFETCH(int, threads);
    QFETCH(int, count);
    ThreadPool pool(threads);
    for (int round = 0; round < 200; ++round) {
        try {
            pool.run(count, [&](int64_t index, int) {
                if (index == count / 2)
                    throw EngineError(Message::data("task " + std::to_string(index)));
            });
            QFAIL("nothing thrown");
        } catch (const EngineError& error) {
            QCOMPARE(std::string(error.what()), "task " + std::to_string(count / 2));
        }
        // the pool still works afterwards
        std::atomic<int> calls{0};
        pool.run(10, [&](int64_t, int) { ++calls; });
        QCOMPARE(calls.load(), 10);
    }
}

void TestThreadPool::refusesNesting() {
    for (const int count : {1, 8}) {
        ThreadPool pool(2);
        const auto nested = [&](int64_t, int) { pool.run(1, [](int64_t, int) {}); };
        QVERIFY_THROWS_EXCEPTION(std::logic_error, pool.run(count, nested));
        std::atomic<int> calls{0};
        pool.run(4, [&](int64_t, int) { ++calls; });
        QCOMPARE(calls.load(), 4);
    }
}

void TestThreadPool::threadStart() {
    thread_local bool started = false;
    started = false;
    std::atomic<int> starts{0};
    {
        ThreadPool pool(3, [&] {
            started = true;
            ++starts;
        });
        std::atomic<int> unprepared{0};
        for (int round = 0; round < 100; ++round)
            pool.run(round % 4 + 1, [&](int64_t, int) {
                if (!started) ++unprepared;
            });
        QCOMPARE(unprepared.load(), 0);
    }
    QCOMPARE(starts.load(), 3); // two workers and the caller, once each

    // a caller that starts when the last one has ended, perhaps with the same id
    ThreadPool pool(1, [&] { ++starts; });
    starts = 0;
    for (int caller = 0; caller < 8; ++caller)
        std::thread([&] { pool.run(1, [](int64_t, int) {}); }).join();
    QCOMPARE(starts.load(), 8);
}

void TestThreadPool::waitsForWorkers() {
    ThreadPool pool(2);
    for (int round = 0; round < 10; ++round) {
        std::atomic<int> arrived{0}, finished{0};
        pool.run(2, [&](int64_t, int thread) {
            ++arrived;
            while (arrived.load() < 2) // so that each thread has one task
                std::this_thread::yield();
            if (thread != 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
            ++finished;
        });
        QCOMPARE(finished.load(), 2);
    }
}

void TestThreadPool::twoCallers() {
    // The jobs of two callers must not mix.
    ThreadPool pool(2);
    std::array<std::atomic<int>, 2> running{};
    std::atomic<int> mixed{0}, calls{0};
    const auto call = [&](size_t mine) {
        for (int round = 0; round < 100; ++round)
            pool.run(3, [&](int64_t, int) {
                ++running[mine];
                if (running[1 - mine].load() != 0) ++mixed;
                std::this_thread::sleep_for(std::chrono::microseconds(50));
                --running[mine];
                ++calls;
            });
    };
    std::thread other([&] { call(1); });
    call(0);
    other.join();
    QCOMPARE(mixed.load(), 0);
    QCOMPARE(calls.load(), 600);
}

} // namespace tst_thread_pool

QTEST_GUILESS_MAIN(tst_thread_pool::TestThreadPool)
#include "tst_thread_pool.moc"
