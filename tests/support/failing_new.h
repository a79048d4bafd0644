// Replaces operator new of a program, so that it fails when the program says so: include it in one
// file of a program that has no other test.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace halfscope::test {
/// Defined by the program that includes this: whether there is no memory for the allocation.
bool allocationFails(size_t bytes) noexcept;
} // namespace halfscope::test

void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
    return halfscope::test::allocationFails(bytes) ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(size_t bytes) {
    void* memory = operator new(bytes, std::nothrow);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t& none) noexcept {
    return operator new(bytes, none);
}
// Not inline: g++ 14 would warn because it sees free() called on what new returned.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
