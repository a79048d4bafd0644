// The watch that tells a thread at work from one that a system call holds.
#include "engine/core/held_watch.h"

#include <QElapsedTimer>
#include <QTest>

#include <chrono>
#include <ctime>
#include <future>
#include <semaphore>
#include <thread>

namespace tst_held_watch {

using namespace halfscope;
using namespace std::chrono_literals;

class TestHeldWatch : public QObject {
    Q_OBJECT
private slots:
    void aHeldThread();
    void aThreadAtWork();
    void aThreadThatHasEnded();
};

void TestHeldWatch::aHeldThread() {
    std::promise<void> answers;
    std::thread thread([&] { answers.get_future().wait(); });
    QElapsedTimer clock; // begins before the watch does, which a busy machine may hold up
    clock.start();
    HeldWatch watch(thread.native_handle());
    const bool atOnce = watch.isHeld(1h);
    bool held = false;
    while (!held && clock.elapsed() < 60'000) {
        std::this_thread::sleep_for(5ms);
        held = watch.isHeld(300ms);
    }
    const qint64 elapsed = clock.elapsed();
    answers.set_value();
    thread.join();
    QVERIFY(!atOnce);
    QVERIFY2(held && elapsed >= 299, qPrintable(QString::number(elapsed)));
}

/// A thread that pauses now and then, as it would for a disk, is not held.
void TestHeldWatch::aThreadAtWork() {
    constexpr int kRounds = 30; // of 50 ms and more, together three times the patience
    std::counting_semaphore<> begin{0}, end{0};
    std::thread thread([&] {
        for (int round = 0; round < kRounds; ++round) {
            begin.acquire();
            const auto computed = [] { // of this thread, in ns
                timespec time{};
                clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
                return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
            };
            constexpr double kWork = 10e6; // twice a hundredth of the patience
            for (const double start = computed(); computed() - start < kWork;) {
            }
            end.release();
        }
    });
    HeldWatch watch(thread.native_handle());
    int held = 0;
    for (int round = 0; round < kRounds; ++round) { // each looks just after the thread has worked
        std::this_thread::sleep_for(50ms);
        begin.release();
        end.acquire();
        held += watch.isHeld(500ms);
    }
    thread.join();
    QCOMPARE(held, 0);
}

/// Its clock is gone, which is no failure.
void TestHeldWatch::aThreadThatHasEnded() {
    std::promise<void> end;
    std::thread thread([&] { end.set_value(); });
    end.get_future().wait();
    std::this_thread::sleep_for(5ms);
    HeldWatch watch(thread.native_handle());
    QVERIFY(watch.isHeld(0ms));
    thread.join();
}

} // namespace tst_held_watch

QTEST_GUILESS_MAIN(tst_held_watch::TestHeldWatch)
#include "tst_held_watch.moc"
