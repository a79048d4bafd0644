// Judges by the processor time of a thread whether it is at work.
#include "engine/core/held_watch.h"

#include <pthread.h>

#include <ctime>

namespace halfscope {
namespace {

constexpr int kBusyShare = 100; // a thread that computes for a hundredth of the time is at work

} // namespace

HeldWatch::HeldWatch(std::thread::native_handle_type thread)
    : m_thread(thread), m_since(std::chrono::steady_clock::now()), m_computed{} {
    m_computed = computed();
}

std::chrono::nanoseconds HeldWatch::computed() const {
    clockid_t clock{};
    timespec time{};
    if (pthread_getcpuclockid(m_thread, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return m_computed; // the thread is ending
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

bool HeldWatch::isHeld(std::chrono::milliseconds patience) {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::nanoseconds all = computed();
    if (all - m_computed > patience / kBusyShare) {
        m_computed = all;
        m_since = now;
    }
    return now - m_since >= patience;
}

} // namespace halfscope
