// Block conversions between float and 16-bit storage, one set for each instruction set, so that
// tests can compare them. All other code calls loadAsFloat and its relatives in dtype.h.
#pragma once

#include "engine/core/dtype.h"
#include "engine/core/vector_set.h"

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

/// Returns null when this machine or this build does not have the instructions.
const BlockKernels* blockKernels(VectorSet);
/// Returns the fastest that usedVectorSet allows.
const BlockKernels& blockKernels();

} // namespace halfscope
