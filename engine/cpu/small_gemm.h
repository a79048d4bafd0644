// The f32 product of small matrices in a fixed order: the same bits on every processor, however
// wide its vectors are and whether or not it has a fused multiply-add. The libraries' kernels
// differ from one processor to the next, and a small network's training may hang on the last bit
// (a unit that switches on or off, Adam's full step behind it); with this product such a run
// repeats anywhere.
#pragma once

#include "engine/cpu/cpu_kernels.h"

namespace halfscope {

/// Inner indices of one partial sum. Part of the numeric contract, like the rest of the order: an
/// element is c = c + s over the blocks of 64 inner indices, where s = fma(a[k], b[k], s) from s =
/// 0 in ascending k. How rows and columns are cut does not enter, so callers may tile as they like.
/// Other orders are as good, but one has to be fixed: the recorded training "checkerboard seed 1"
/// has a unit within a rounding of zero, and orders fall on either side of it. This one falls on
/// the side of the float64 run.
inline constexpr int64_t kSmallGemmDepth = 64;

/// Whether gemm() takes it: up to this many multiplications, where it is not slower than the
/// library. Larger products go there, where the order depends on the processor. So does a long
/// row-major matrix times one column: it has to be turned round for one use of each element.
inline constexpr int64_t kSmallGemmLimit = int64_t{1} << 20;
inline constexpr int64_t kSmallColumnLimit = int64_t{1} << 14;
inline bool isSmallGemm(const GemmShape& s) {
    const bool column = s.n == 1 && !s.transposeA;
    return s.m * s.n * s.k <= (column ? kSmallColumnLimit : kSmallGemmLimit);
}

/// The instruction sets that it is compiled for. All give the same bits.
enum class SmallGemmPath : uint8_t { Portable, Avx2, Avx512 };
bool hasSmallGemmPath(SmallGemmPath); ///< this program on this processor
SmallGemmPath bestSmallGemmPath();

/// As gemm(), of any size. The path must be there.
void smallGemm(SmallGemmPath, const GemmShape&, const float* a, const float* b, float* c);

/// round(a * b + c) with one rounding, by plain arithmetic in double: for processors without the
/// instruction, where libraries take a hundred times as long.
float fusedMultiplyAdd(float a, float b, float c);

// one for each compiled file
void smallGemmPortable(const GemmShape&, const float* a, const float* b, float* c);
void smallGemmAvx2(const GemmShape&, const float* a, const float* b, float* c);
void smallGemmAvx512(const GemmShape&, const float* a, const float* b, float* c);

} // namespace halfscope
