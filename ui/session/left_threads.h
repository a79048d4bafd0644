// Threads that a dead network holds: who waits for them, how long, and what the program does at its
// end when one was left.
#pragma once

#include <chrono>
#include <future>
#include <thread>

namespace halfscope {

/// With a thread that only reads, and with one that writes what somebody asked for: a slow disk
/// may take long to be sure of it, and the window is gone meanwhile.
inline constexpr std::chrono::milliseconds kForReading{700}, kForFiles{30000};

/// Looks whether a thread that was asked to end still does something.
class HeldWatch {
public:
    explicit HeldWatch(std::thread&);
    /// Whether it has computed next to nothing for so long, as one does that a call of the system
    /// holds. Ask often.
    bool isHeld(std::chrono::milliseconds patience);

private:
    std::chrono::nanoseconds computed() const;

    pthread_t m_thread;
    std::chrono::steady_clock::time_point m_since;
    std::chrono::nanoseconds m_computed;
};

/// Joins a thread that has ended; any other is left to itself, which must own all that it uses.
void leaveOrJoin(std::thread&, const std::future<void>& ended);
/// Tells of a thread that was left by other means.
void countLeftThread();
/// Whether a thread was left. Then the program must end by _Exit: what ends with it in the usual
/// way would be taken from under a thread that comes back.
bool anyThreadLeft();

} // namespace halfscope
