// Waiting that a busy machine cannot cut short: QTest::qWait ends when its time is over, even if
// the thread got no processor meanwhile and has served no event.
#pragma once

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QTimer>

namespace halfscope::test {

/// Serves events for at least this long, counted in beats of a timer: when it returns, timers of
/// the same thread that were due meanwhile, and what they brought about, have been served.
inline void serveEvents(int ms) {
    constexpr int kBeat = 5;
    int beats = 0;
    QTimer timer;
    timer.setTimerType(Qt::PreciseTimer);
    QObject::connect(&timer, &QTimer::timeout, &timer, [&beats] { ++beats; });
    timer.start(kBeat);
    while (beats * kBeat < ms)
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    QCoreApplication::processEvents();
}

/// Returns what the first attempt returns that took less than `ms`, for what a user does within a
/// time that the program measures. A machine that stalls makes an attempt too slow, and it is
/// repeated. Returns an empty value when all were too slow.
template <class Attempt>
auto doneWithin(qint64 ms, const Attempt& attempt) -> decltype(attempt()) {
    constexpr int kAttempts = 20;
    for (int i = 0; i < kAttempts; ++i) {
        QElapsedTimer clock;
        clock.start();
        auto result = attempt();
        if (clock.elapsed() < ms) return result;
    }
    return {};
}

} // namespace halfscope::test
