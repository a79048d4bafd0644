// Fibers: functions on stacks of their own that one host thread runs in turns. Used by the emulator
// alone.
#pragma once

#include <cstddef>
#include <span>

namespace halfscope::test {

class Fibers {
public:
    using Body = void (*)(void* argument, int index);

    explicit Fibers(int count);
    ~Fibers();
    Fibers(const Fibers&) = delete;
    Fibers& operator=(const Fibers&) = delete;

    /// Makes fiber `index` begin with body(argument, index) at its next resume(). What it was at
    /// before is dropped.
    void start(int index, Body body, void* argument);
    void resume(int index); ///< from outside: runs it until it yields or its body returns
    void yield(int index);  ///< from inside: back to who resumed it
    std::span<const char> stacks() const; ///< of all of them

private:
    struct Impl;
    Impl* m_impl;
};

} // namespace halfscope::test
