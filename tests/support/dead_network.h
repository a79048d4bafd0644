// A network that is dead for a while, and what holds a thread that waits for it.
#pragma once

#include "ui/session/left_threads.h"

#include <QElapsedTimer>
#include <QTest>

#include <atomic>
#include <future>
#include <memory>

namespace halfscope {

struct DeadNetwork {
    std::promise<void> answers;
    std::atomic<bool> asked{false};

    void wait() {
        asked = true;
        answers.get_future().wait();
    }
};

/// Calls `start` with a network that a thread is to wait for, and destroys what it returns, which
/// must not wait: the thread is left to itself, owns all that it uses, and ends when the network
/// answers.
template <class Start>
void checkLeavesItsThread(const Start& start) {
    auto network = std::make_shared<DeadNetwork>();
    const std::weak_ptr<DeadNetwork> used = network;
    QElapsedTimer clock;
    {
        const auto owner = start(network);
        QTRY_VERIFY(network->asked.load());
        clock.start();
    }
    // far above the wait for a thread that reads, and below the one for a thread that writes
    static_assert(20 * kForReading < kForFiles);
    QVERIFY2(clock.elapsed() < 20 * kForReading.count(),
             qPrintable(QString::number(clock.elapsed())));
    QVERIFY(anyThreadLeft());
    network->answers.set_value();
    network.reset();
    QTRY_VERIFY(used.expired());
}

} // namespace halfscope
