// Ctrl-C: the first asks the run to stop, the second ends the program.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

namespace halfscope::cli {

inline constexpr int kInterruptedExit = 130; ///< 128 + SIGINT, as shells report it

/// While it lives, a thread waits for SIGINT, SIGTERM and SIGHUP (those that the parent process did
/// not ignore). Make it before any other thread, because threads inherit that the signals are
/// blocked. Signals within half a second after the first count as one with it: timeout and process
/// managers signal a program and its group.
class SignalWatch {
public:
    SignalWatch(); ///< throws RunError when the system has no thread to give
    ~SignalWatch();
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;

    /// Sets what to do at the first signal. It is called again and again until it is replaced by an
    /// empty function, because a step forgets a request that comes just before it starts. Without
    /// one there is nothing to save: a signal ends the program at once, with exit code 130.
    void setStop(std::function<void()> stop);
    bool interrupted() const { return m_interrupted; }

private:
    void watch();
    void react(int number);

    sigset_t m_signals{};
    sigset_t m_before{};
    std::mutex m_mutex;
    std::function<void()> m_stop;
    std::atomic<bool> m_interrupted{false};
    std::chrono::steady_clock::time_point m_first; ///< when it was interrupted
    std::atomic<bool> m_done{false};
    std::thread m_thread;
};

} // namespace halfscope::cli
