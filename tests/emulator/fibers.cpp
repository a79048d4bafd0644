// Switching of stacks: a few instructions on x86-64, ucontext elsewhere (a system call a switch).
#include "tests/emulator/fibers.h"

#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
extern "C" void __asan_unpoison_memory_region(const volatile void* address, size_t size);
#endif

#if defined(__x86_64__)
extern "C" void halfscope_switch_stack(void** save, void* load);
// Saves what a function must keep, stores the stack pointer, takes the other's.
__asm__(".pushsection .text\n"
        ".balign 16\n"
        ".globl halfscope_switch_stack\n"
        ".hidden halfscope_switch_stack\n"
        ".type halfscope_switch_stack, @function\n"
        "halfscope_switch_stack:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n"
        ".size halfscope_switch_stack, .-halfscope_switch_stack\n"
        ".popsection\n");
#endif

namespace halfscope::test {

namespace {

constexpr size_t kStackBytes = 256 * 1024; ///< only touched pages count
/// Stacks begin at other cache lines: all at the same ones, they would drive each other out.
constexpr size_t kColours = 512, kColourBytes = 64;

struct Fiber {
    char* stack = nullptr; ///< its lowest page is a guard
    Fibers::Body body = nullptr;
    void* argument = nullptr;
    int index = 0;
    bool running = false; ///< started and not at its end
    void* pointer = nullptr;
    void* resumer = nullptr;
#if !defined(__x86_64__)
    ucontext_t context{}, caller{};
#endif
};

/// The fiber that start() prepared last or resume() runs: how an entry finds itself.
Fiber* g_entering = nullptr;

// It is left by a switch, not by its end: ThreadSanitizer would count it among the callers for
// ever.
#if defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize("thread")))
#endif
void runBody() {
    Fiber* self = g_entering;
    self->body(self->argument, self->index);
    self->running = false;
#if defined(__x86_64__)
    halfscope_switch_stack(&self->pointer, self->resumer);
    std::abort(); // resumed after its end
#endif
}

} // namespace

struct Fibers::Impl {
    std::vector<Fiber> fibers;
    char* memory = nullptr;
    size_t bytes = 0;
};

Fibers::Fibers(int count) : m_impl(new Impl) {
    m_impl->fibers.resize(static_cast<size_t>(count));
    m_impl->bytes = static_cast<size_t>(count) * kStackBytes;
    void* memory = ::mmap(nullptr, m_impl->bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        delete m_impl;
        throw std::bad_alloc();
    }
    m_impl->memory = static_cast<char*>(memory);
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    for (size_t i = 0; i < m_impl->fibers.size(); ++i) {
        m_impl->fibers[i].stack = m_impl->memory + i * kStackBytes;
        m_impl->fibers[i].index = static_cast<int>(i);
        ::mprotect(m_impl->fibers[i].stack, page, PROT_NONE);
    }
}

Fibers::~Fibers() {
    ::munmap(m_impl->memory, m_impl->bytes);
    delete m_impl;
}

void Fibers::start(int index, Body body, void* argument) {
    Fiber& fiber = m_impl->fibers[static_cast<size_t>(index)];
#if defined(__SANITIZE_ADDRESS__)
    // Frames that were dropped leave their red zones behind.
    if (fiber.running) {
        const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
        __asan_unpoison_memory_region(fiber.stack + page, kStackBytes - page);
    }
#endif
    fiber.running = true;
    fiber.body = body;
    fiber.argument = argument;
#if defined(__x86_64__)
    // As if runBody had been called with the stack aligned: an address to return to on top of six
    // saved registers.
    const size_t colour = static_cast<size_t>(index) % kColours * kColourBytes;
    auto** top = reinterpret_cast<void**>(fiber.stack + kStackBytes - colour);
    *--top = nullptr;
    *--top = reinterpret_cast<void*>(&runBody);
    for (int i = 0; i < 6; ++i)
        *--top = nullptr;
    fiber.pointer = top;
#else
    ::getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack;
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = &fiber.caller;
    ::makecontext(&fiber.context, &runBody, 0);
#endif
}

void Fibers::resume(int index) {
    Fiber& fiber = m_impl->fibers[static_cast<size_t>(index)];
    g_entering = &fiber;
#if defined(__x86_64__)
    halfscope_switch_stack(&fiber.resumer, fiber.pointer);
#else
    ::swapcontext(&fiber.caller, &fiber.context);
#endif
}

std::span<const char> Fibers::stacks() const { return {m_impl->memory, m_impl->bytes}; }

void Fibers::yield(int index) {
    Fiber& fiber = m_impl->fibers[static_cast<size_t>(index)];
#if defined(__x86_64__)
    halfscope_switch_stack(&fiber.pointer, fiber.resumer);
#else
    ::swapcontext(&fiber.context, &fiber.caller);
#endif
}

} // namespace halfscope::test
