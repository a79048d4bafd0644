// What the CPU kernels share: alignment, element addresses, and the check whether to give up.
// Contains no kernel.
#pragma once

#include "engine/cpu/cpu_kernels.h"

#include <algorithm>

namespace halfscope {

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Rounds floats up to a cache line, so that areas of different threads share none.
inline int64_t alignedFloats(int64_t floats) { return ceilDiv(floats, 16) * 16; }
inline size_t areaFloats(int64_t floats) { return static_cast<size_t>(alignedFloats(floats)); }

inline const std::byte* elementAt(const void* base, int64_t index, DType type) {
    return static_cast<const std::byte*>(base) + index * static_cast<int64_t>(bytesOf(type));
}
inline std::byte* elementAt(void* base, int64_t index, DType type) {
    return static_cast<std::byte*>(base) + index * static_cast<int64_t>(bytesOf(type));
}

inline bool stopped(const CpuCall& call) {
    return call.stop != nullptr && call.stop->load(std::memory_order_relaxed);
}

inline float* scratchFloats(const CpuCall& call) {
    return reinterpret_cast<float*>(call.scratch.data());
}

} // namespace halfscope
