// How long a window's thread was held up.
#pragma once

#include <QDeadlineTimer>
#include <QElapsedTimer>
#include <QTimer>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace halfscope::test {

/// Returns how many milliseconds this thread has been ready to run while other threads had the
/// processors; 0 where the system does not tell.
inline qint64 pushedAside() {
    std::array<char, 100> text{};
    const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const bool told = read(file, text.data(), text.size() - 1) > 0;
    close(file);
    long long ran = 0, waited = 0; // ns
    constexpr long long kMillisecond = 1'000'000;
    return told && std::sscanf(text.data(), "%lld %lld", &ran, &waited) == 2 ? waited / kMillisecond
                                                                             : 0;
}

/// Measures the longest time in which the window's thread served no timer, because it computed or
/// waited for something. Two kinds of time do not count, because a busy machine would lengthen the
/// window's: when other threads had the processors, and what held up an idle thread, too.
class Hold {
public:
    Hold() {
        m_clock.start();
        QObject::connect(&m_timer, &QTimer::timeout, &m_timer, [this] { look(); });
        m_timer.start(kBeat);
        m_idle = std::jthread([this](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                std::this_thread::sleep_for(kBeat);
                const qint64 time = now();
                m_longestOfIdle = std::max(m_longestOfIdle.load(), time - m_beat.exchange(time));
            }
        });
    }
    qint64 longest() {
        look();
        return m_longest - ofMachine();
    }
    /// Does the same, and starts anew.
    qint64 takeLongest() {
        const qint64 longest = this->longest();
        m_longest = 0;
        m_longestOfIdle = 0;
        return std::max(longest, qint64{0});
    }
    qint64 ofMachine() const { return std::max(m_longestOfIdle.load(), now() - m_beat); }

private:
    static constexpr std::chrono::milliseconds kBeat{5};
    static qint64 now() { return QDeadlineTimer::current().deadline(); } // ms
    void look() {
        const qint64 aside = pushedAside();
        m_longest =
            std::max(m_longest, m_clock.restart() - (aside - std::exchange(m_aside, aside)));
    }

    QTimer m_timer;
    QElapsedTimer m_clock;
    qint64 m_longest = 0, m_aside = pushedAside();
    std::atomic<qint64> m_beat{now()}, m_longestOfIdle{0};
    std::jthread m_idle; ///< declared last, because it uses the other members
};

} // namespace halfscope::test
