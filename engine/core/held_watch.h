// Tells a thread that is at work from one that a system call holds, as a dead network does.
#pragma once

#include <chrono>
#include <thread>

namespace halfscope {

class HeldWatch {
public:
    /// `thread` is the native handle of a thread that has not been joined while this lives.
    explicit HeldWatch(std::thread::native_handle_type thread);
    /// Whether the thread has computed next to nothing for `patience`. Ask often.
    bool isHeld(std::chrono::milliseconds patience);

private:
    std::chrono::nanoseconds computed() const;

    std::thread::native_handle_type m_thread;
    std::chrono::steady_clock::time_point m_since;
    std::chrono::nanoseconds m_computed;
};

} // namespace halfscope
