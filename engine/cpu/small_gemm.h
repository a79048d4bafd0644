// The f32 product of small matrices in a fixed order and in double: the same bits on every
// processor, however wide its vectors are and whether or not it has a fused multiply-add, and the
// float nearest to the result. The libraries' kernels differ from one processor to the next, and a
// small network's training may hang on the last bit (a unit that switches on or off, Adam's full
// step behind it); with this product such a run repeats anywhere.
#pragma once

#include "engine/core/vector_set.h"
#include "engine/cpu/cpu_kernels.h"

namespace halfscope {

// Part of the numeric contract: an element is float(c + s), with c = 0 unless the product
// accumulates and s the sum, in double, of a[k] * b[k] in ascending k from 0. The product of two
// floats is exact in double, so it is the same fused or not.

/// Whether gemm() takes it: up to this many multiplications, where it takes at most about twice the
/// library's time. Larger products go there, where the order depends on the processor. So does a
/// long row-major matrix times one column: it has to be turned round for one use of each element.
inline constexpr int64_t kSmallGemmLimit = int64_t{1} << 20;
inline constexpr int64_t kSmallColumnLimit = int64_t{1} << 14;
inline bool isSmallGemm(const GemmShape& s) {
    const bool column = s.n == 1 && !s.transposeA;
    return s.m * s.n * s.k <= (column ? kSmallColumnLimit : kSmallGemmLimit);
}

/// As gemm(), of any size, by a set that this machine has. All give the same bits; a program for
/// other processors has the portable one alone.
void smallGemm(VectorSet, const GemmShape&, const float* a, const float* b, float* c);

// one for each compiled file
void smallGemmPortable(const GemmShape&, const float* a, const float* b, float* c);
void smallGemmAvx2(const GemmShape&, const float* a, const float* b, float* c);
void smallGemmAvx512(const GemmShape&, const float* a, const float* b, float* c);

} // namespace halfscope
