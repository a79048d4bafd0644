// Block conversions between float and 16-bit storage, one set for each instruction set, so that
// tests can compare them. Everything else calls loadAsFloat and friends of dtype.h.
#pragma once

#include "engine/core/dtype.h"

namespace halfscope {

/// Pointers may be unaligned, and n may be odd. 16-bit storage is untyped bytes.
struct BlockKernels {
    void (*loadHalf)(const void* from, float* to, size_t n);
    void (*storeHalf)(const float* from, void* to, size_t n);
    void (*roundHalf)(float* values, size_t n);
    void (*loadBfloat16)(const void* from, float* to, size_t n);
    void (*storeBfloat16)(const float* from, void* to, size_t n);
    void (*roundBfloat16)(float* values, size_t n);
};

enum class BlockPath : uint8_t { Portable, F16C, Avx512 };
inline constexpr int kBlockPaths = 3;

/// Null when this machine or this build has not got the instructions.
const BlockKernels* blockKernels(BlockPath);
/// The fastest that this machine has.
const BlockKernels& blockKernels();

} // namespace halfscope
