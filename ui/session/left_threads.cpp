// Judges by a thread's own clock whether it is at work.
#include "ui/session/left_threads.h"

#include <pthread.h>

#include <atomic>
#include <ctime>

namespace halfscope {
namespace {

std::atomic<bool> g_left{false}; // global, because the program ends only once
constexpr int kBusyShare = 100;  // a thread that computes for a hundredth of the time is at work

} // namespace

HeldWatch::HeldWatch(std::thread& thread)
    : m_thread(thread.native_handle()), m_since(std::chrono::steady_clock::now()), m_computed{} {
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

void leaveOrJoin(std::thread& thread, const std::future<void>& ended) {
    if (ended.wait_for(std::chrono::seconds(0)) == std::future_status::ready) return thread.join();
    thread.detach();
    countLeftThread();
}

void countLeftThread() { g_left = true; }

bool anyThreadLeft() { return g_left; }

} // namespace halfscope
