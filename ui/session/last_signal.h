// Emits the last signal of a job's thread, even when memory is short.
#pragma once

#include <chrono>
#include <functional>
#include <new>
#include <thread>

namespace halfscope {

/// Calls `emitSignal`, which emits the signal, until there is memory for it or nobody waits any
/// more: an exception that left the thread would end the program.
template <class Emit>
void emitLast(const std::function<bool()>& isStopped, Emit emitSignal) {
    constexpr std::chrono::milliseconds kBetween{20};
    while (!isStopped()) {
        try {
            return emitSignal();
        } catch (const std::bad_alloc&) {
            std::this_thread::sleep_for(kBetween);
        }
    }
}

} // namespace halfscope
