// The f32 product of small matrices in a fixed order and in double. It has the same bits on every
// processor, however wide the vectors are and whether or not there is a fused multiply-add, and
// they are those of the float nearest to the result. The libraries' kernels differ from one
// processor to the next, and a small network's training may depend on the last bit (a unit that
// switches on or off, followed by Adam's full step); with this product such a run repeats anywhere.
#pragma once

#include "engine/core/vector_set.h"
#include "engine/cpu/cpu_kernels.h"

namespace halfscope {

// Part of the numeric contract: an element is float(c + s), where c is 0 unless the product
// accumulates, and s is the sum, in double, of a[k] * b[k] in ascending k from 0. The product of
// two floats is exact in double, so it is the same with or without fusing.

/// Whether gemm() uses it: up to this many multiplications, for which it takes at most about twice
/// the library's time. Larger products go to the library, whose order depends on the processor. So
/// does a long row-major matrix times one column, which would have to be transposed to use each
/// element once.
inline constexpr int64_t kSmallGemmLimit = int64_t{1} << 20;
inline constexpr int64_t kSmallColumnLimit = int64_t{1} << 14;
inline bool isSmallGemm(const GemmShape& s) {
    const bool column = s.n == 1 && !s.transposeA;
    return s.m * s.n * s.k <= (column ? kSmallColumnLimit : kSmallGemmLimit);
}

/// Does the same as gemm() for any size, with a set that this machine has. All sets give the same
/// bits; a program for other processors has only the portable one.
void smallGemm(VectorSet, const GemmShape&, const float* a, const float* b, float* c);

// One for each compiled file.
void smallGemmPortable(const GemmShape&, const float* a, const float* b, float* c);
void smallGemmAvx2(const GemmShape&, const float* a, const float* b, float* c);
void smallGemmAvx512(const GemmShape&, const float* a, const float* b, float* c);

} // namespace halfscope
