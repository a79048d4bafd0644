// Threads that a dead network holds: how long the program waits for them, and how it ends when one
// of them was left behind.
#pragma once

#include <chrono>
#include <future>
#include <thread>

namespace halfscope {

/// How long to wait for a held thread that only reads, and for one that writes a file that somebody
/// asked for: a slow disk may need long to confirm a write, and the window is gone meanwhile.
inline constexpr std::chrono::milliseconds kForReading{700}, kForFiles{30000};

/// Joins a thread that has ended. Any other is left to itself: it must own all that it uses.
void leaveOrJoin(std::thread&, const std::future<void>& ended);
/// Records that a thread was left by other means.
void countLeftThread();
/// Whether a thread was left. Then the program must end by _Exit: an ordinary end destroys objects
/// that the thread may still use.
bool anyThreadLeft();

} // namespace halfscope
