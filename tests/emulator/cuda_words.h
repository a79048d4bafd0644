// CUDA's words for generated text on the CPU, as far as texts use them: threadIdx, barriers,
// exchanges between lanes, atomics. The emulator (cuda_emulator.cpp) compiles a text behind this
// file and runs its threads as fibers.
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HS_EMULATED 1
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// Blocks run one after another, so one static object is the block's. Filled anew for no block:
// kernels take the shared area that they are given (HS_DYNAMIC_SHARED).
#define __shared__ static

namespace hs_emulated {

struct Index {
    unsigned x = 0, y = 0, z = 0;
};

/// What the emulator and a compiled text share. The emulator fills it before each thread runs on.
struct State {
    Index thread, block, blockDim, gridDim;
    char* shared = nullptr;
    void* context = nullptr;
    /// Returns when all threads of the block have come to the barrier at this line.
    void (*barrier)(void* context, int line) = nullptr;
    /// Gathers `bytes` (up to 64) of every lane in the mask: returns 32 slots of 64 bytes. Valid
    /// until the thread's next call.
    const char* (*exchange)(void* context, unsigned mask, const void* mine, int bytes,
                            int line) = nullptr;
    /// Returns when all threads of the warpgroup have come to this line.
    void (*meetGroup)(void* context, int line) = nullptr;
    // of instrumented texts alone
    void (*access)(void* context, const void* at, size_t bytes, bool isWrite) = nullptr;
    void (*atomic)(void* context, const void* at) = nullptr;
    void (*fence)(void* context) = nullptr;
    /// Where the threads' stacks lie: accesses there are nobody else's business.
    const char* stacks = nullptr;
    size_t stackBytes = 0;
    /// A pointer that its type's alignment does not allow, at this line of the text.
    void (*misaligned)(void* context, const void* at, int line) = nullptr;
    /// A line of memory that will be read soon.
    void (*ahead)(void* context, const void* at) = nullptr;
};

} // namespace hs_emulated

#if !defined(HS_EMULATOR_HOST)
extern "C" {
hs_emulated::State hs_emulated_state = {};
}

// The members, not the structs: a fiber may be moved on between two reads.
#define threadIdx (hs_emulated_state.thread)
#define blockIdx (hs_emulated_state.block)
#define blockDim (hs_emulated_state.blockDim)
#define gridDim (hs_emulated_state.gridDim)

#define HS_DYNAMIC_SHARED(name) char* name = hs_emulated_state.shared

namespace hs_emulated {

inline void barrier(int line) { hs_emulated_state.barrier(hs_emulated_state.context, line); }

inline void meetGroup(int line) { hs_emulated_state.meetGroup(hs_emulated_state.context, line); }

inline void ahead(const void* at) { hs_emulated_state.ahead(hs_emulated_state.context, at); }

/// The values of all 32 lanes: what the body of an emulated warp-wide instruction begins with.
template <class T>
struct Gathered {
    const char* slots;
    T operator[](int lane) const {
        T value;
        memcpy(&value, slots + 64 * lane, sizeof value);
        return value;
    }
};
template <class T>
inline Gathered<T> gather(unsigned mask, const T& mine, int line) {
    static_assert(sizeof(T) <= 64, "an exchange holds 64 bytes a lane");
    return {hs_emulated_state.exchange(hs_emulated_state.context, mask, &mine, sizeof(T), line)};
}

inline int lane() { return static_cast<int>(hs_emulated_state.thread.x & 31u); }

template <class T>
inline T shuffleXor(unsigned mask, T mine, int bits, int line) {
    return gather(mask, mine, line)[lane() ^ bits];
}

} // namespace hs_emulated

#define __syncthreads() hs_emulated::barrier(__LINE__)
#define __syncwarp(...) ((void)hs_emulated::gather(0xFFFFFFFFu, 0, __LINE__))
#define __shfl_xor_sync(...) hs_emulated::shuffleXor(__VA_ARGS__, __LINE__)

// One host thread runs all: fences and atomics matter to the search for races alone.
#define HS_UNSEEN __attribute__((noinline, no_sanitize("thread")))
HS_UNSEEN inline void __threadfence() {
    if (hs_emulated_state.fence != nullptr) hs_emulated_state.fence(hs_emulated_state.context);
}
inline void __threadfence_system() { __threadfence(); }
HS_UNSEEN inline unsigned atomicAdd(unsigned* at, unsigned by) {
    if (hs_emulated_state.atomic != nullptr)
        hs_emulated_state.atomic(hs_emulated_state.context, at);
    const unsigned old = *at;
    *at = old + by;
    return old;
}
template <class T>
inline T __ldcg(const T* from) {
    return *from;
}

// What the compiler calls before an access, where it is asked to look for races or for pointers
// that are not aligned.
extern "C" {
HS_UNSEEN inline void hs_emulated_access(const void* at, size_t bytes, bool isWrite) {
    if (hs_emulated_state.access == nullptr ||
        reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(hs_emulated_state.stacks) <
            hs_emulated_state.stackBytes ||
        reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(&hs_emulated_state) <
            sizeof hs_emulated_state)
        return;
    hs_emulated_state.access(hs_emulated_state.context, at, bytes, isWrite);
}
#define HS_ACCESS(name, bytes, isWrite)                                                            \
    __attribute__((no_sanitize("thread"), visibility("hidden"))) void __tsan_##name(void* at) {    \
        hs_emulated_access(at, bytes, isWrite);                                                    \
    }
HS_ACCESS(read1, 1, false)
HS_ACCESS(read2, 2, false)
HS_ACCESS(read4, 4, false)
HS_ACCESS(read8, 8, false)
HS_ACCESS(read16, 16, false)
HS_ACCESS(write1, 1, true)
HS_ACCESS(write2, 2, true)
HS_ACCESS(write4, 4, true)
HS_ACCESS(write8, 8, true)
HS_ACCESS(write16, 16, true)
HS_ACCESS(unaligned_read2, 2, false)
HS_ACCESS(unaligned_read4, 4, false)
HS_ACCESS(unaligned_read8, 8, false)
HS_ACCESS(unaligned_read16, 16, false)
HS_ACCESS(unaligned_write2, 2, true)
HS_ACCESS(unaligned_write4, 4, true)
HS_ACCESS(unaligned_write8, 8, true)
HS_ACCESS(unaligned_write16, 16, true)
#undef HS_ACCESS
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
HS_UNSEEN void __tsan_read_range(void* at, size_t bytes) { hs_emulated_access(at, bytes, false); }
HS_UNSEEN void __tsan_write_range(void* at, size_t bytes) { hs_emulated_access(at, bytes, true); }
// Clang's names for what GCC leaves to memcpy() and its like.
HS_UNSEEN void* __tsan_memcpy(void* to, const void* from, size_t bytes) {
    hs_emulated_access(from, bytes, false);
    hs_emulated_access(to, bytes, true);
    return memcpy(to, from, bytes);
}
HS_UNSEEN void* __tsan_memset(void* to, int byte, size_t bytes) {
    hs_emulated_access(to, bytes, true);
    return memset(to, byte, bytes);
}
/// The compiler's record of a place; what follows it says of which type.
struct hs_emulated_place {
    const char* file;
    unsigned line, column;
};
/// Hidden, or in a program that is sanitized itself the program's own would be called.
__attribute__((visibility("hidden"))) HS_UNSEEN void
__ubsan_handle_type_mismatch_v1(const hs_emulated_place* place, void* at) {
    if (hs_emulated_state.misaligned != nullptr)
        hs_emulated_state.misaligned(hs_emulated_state.context, at, static_cast<int>(place->line));
}
}
#endif
