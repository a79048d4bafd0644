// The watch that tells a thread at work from one that a system call holds.
#include "engine/core/held_watch.h"

#include <QElapsedTimer>
#include <QTest>

#include <atomic>
#include <future>
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
    HeldWatch watch(thread.native_handle());
    QElapsedTimer clock;
    clock.start();
    QVERIFY(!watch.isHeld(300ms));
    while (!watch.isHeld(300ms))
        std::this_thread::sleep_for(5ms);
    QVERIFY2(clock.elapsed() >= 299 && clock.elapsed() < 10000,
             qPrintable(QString::number(clock.elapsed())));
    answers.set_value();
    thread.join();
}

/// A thread that pauses now and then, as it would for a disk, is not held.
void TestHeldWatch::aThreadAtWork() {
    std::atomic<bool> done{false};
    std::thread thread([&] {
        while (!done) {
            const auto end = std::chrono::steady_clock::now() + 2ms;
            while (std::chrono::steady_clock::now() < end) {
            }
            std::this_thread::sleep_for(2ms);
        }
    });
    HeldWatch watch(thread.native_handle());
    QElapsedTimer clock;
    for (clock.start(); clock.elapsed() < 1500; std::this_thread::sleep_for(5ms))
        QVERIFY(!watch.isHeld(500ms));
    done = true;
    thread.join();
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
