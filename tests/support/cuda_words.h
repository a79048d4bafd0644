// CUDA's words for generated text on the CPU: threadIdx, barriers, exchanges between lanes,
// atomics. The emulator (cuda_emulator.cpp) compiles a text behind this file and runs its threads
// as fibers.
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
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __restrict__
#define __align__(n) __attribute__((aligned(n)))
#define __constant__ static const
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

template <class T>
inline T shuffle(unsigned mask, T mine, int from, int line) {
    return gather(mask, mine, line)[from & 31];
}
inline int lane() { return static_cast<int>(hs_emulated_state.thread.x & 31u); }

template <class T>
inline T shuffleDown(unsigned mask, T mine, unsigned delta, int width, int line) {
    const int at = lane(), to = at + static_cast<int>(delta);
    return shuffle(mask, mine, to / width == at / width ? to : at, line);
}
template <class T>
inline T shuffleUp(unsigned mask, T mine, unsigned delta, int width, int line) {
    const int at = lane(), to = at - static_cast<int>(delta);
    return shuffle(mask, mine, to >= at / width * width ? to : at, line);
}
template <class T>
inline T shuffleXor(unsigned mask, T mine, int bits, int width, int line) {
    const int at = lane(), to = at ^ bits;
    return shuffle(mask, mine, to < (at / width + 1) * width ? to : at, line);
}
template <class T>
inline T shuffleFrom(unsigned mask, T mine, int from, int width, int line) {
    return shuffle(mask, mine, lane() / width * width + from % width, line);
}
inline unsigned ballot(unsigned mask, bool mine, int line) {
    const auto all = gather(mask, mine, line);
    unsigned bits = 0;
    for (int i = 0; i < 32; ++i)
        if ((mask >> i & 1u) != 0 && all[i]) bits |= 1u << i;
    return bits;
}

// the optional width
template <class T>
inline T shuffleDown(unsigned mask, T mine, unsigned delta, int line) {
    return shuffleDown(mask, mine, delta, 32, line);
}
template <class T>
inline T shuffleUp(unsigned mask, T mine, unsigned delta, int line) {
    return shuffleUp(mask, mine, delta, 32, line);
}
template <class T>
inline T shuffleXor(unsigned mask, T mine, int bits, int line) {
    return shuffleXor(mask, mine, bits, 32, line);
}
template <class T>
inline T shuffleFrom(unsigned mask, T mine, int from, int line) {
    return shuffleFrom(mask, mine, from, 32, line);
}

} // namespace hs_emulated

#define __syncthreads() hs_emulated::barrier(__LINE__)
#define __syncwarp(...) ((void)hs_emulated::gather(0xFFFFFFFFu, 0, __LINE__))
#define __shfl_sync(...) hs_emulated::shuffleFrom(__VA_ARGS__, __LINE__)
#define __shfl_down_sync(...) hs_emulated::shuffleDown(__VA_ARGS__, __LINE__)
#define __shfl_up_sync(...) hs_emulated::shuffleUp(__VA_ARGS__, __LINE__)
#define __shfl_xor_sync(...) hs_emulated::shuffleXor(__VA_ARGS__, __LINE__)
#define __ballot_sync(mask, predicate)                                                             \
    hs_emulated::ballot((mask), static_cast<bool>(predicate), __LINE__)
#define __any_sync(mask, predicate) (__ballot_sync(mask, predicate) != 0u)
#define __all_sync(mask, predicate) (__ballot_sync(mask, predicate) == (mask))

// One host thread runs all: fences are nothing, atomics plain.
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline unsigned atomicAdd(unsigned* at, unsigned by) {
    const unsigned old = *at;
    *at = old + by;
    return old;
}
inline unsigned atomicExch(unsigned* at, unsigned to) {
    const unsigned old = *at;
    *at = to;
    return old;
}
inline unsigned atomicOr(unsigned* at, unsigned bits) {
    const unsigned old = *at;
    *at = old | bits;
    return old;
}
inline unsigned atomicMax(unsigned* at, unsigned with) {
    const unsigned old = *at;
    *at = old > with ? old : with;
    return old;
}
template <class T>
inline T __ldcg(const T* from) {
    return *from;
}
template <class T>
inline T __ldg(const T* from) {
    return *from;
}
inline unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
template <class T>
inline T min(T a, T b) {
    return b < a ? b : a;
}
template <class T>
inline T max(T a, T b) {
    return a < b ? b : a;
}
#endif
