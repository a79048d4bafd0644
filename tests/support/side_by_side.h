// Makes two threads call functions at the same time, many times. Only the locks of these functions
// order the calls, so ThreadSanitizer (./dev sanitize threads) reports a lock that is missing in
// either of them.
#pragma once

#include <atomic>
#include <thread>

namespace halfscope::test {

/// Calls both functions with 1, 2, ... `times`, and `one` on a thread of its own.
template <class One, class Other>
void sideBySide(int times, const One& one, const Other& other) {
    std::atomic<int> ready{0};
    const auto repeat = [&](const auto& call) {
        for (++ready; ready < 2;)
            std::this_thread::yield();
        for (int i = 1; i <= times; ++i) {
            call(i);
            if (i % 8 == 0)
                std::this_thread::yield(); // so that they take turns on a single core too
        }
    };
    const std::jthread thread([&] { repeat(one); });
    repeat(other);
}

} // namespace halfscope::test
