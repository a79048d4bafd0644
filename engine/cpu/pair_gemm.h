// The product of bfloat16 matrices by packed panels, for processors that multiply pairs of them
// (VDPBF16PS): up to twice the rate of f32 (but see pairsAreSlow), with the bits of panel_gemm.h on
// the widened matrices. The instruction adds first the product of the upper halves of two lanes and
// then that of the lower halves, each fused and rounded to nearest even. So a lane holds two inner
// indices, the first in its upper half, and a sum runs in the order of panel_gemm.h. The
// instruction takes subnormals for zero, in operands and sums; products in which they could occur
// are multiplied as f32. Source: Intel 64 and IA-32 Architectures Software Developer's Manual,
// volume 2, VDPBF16PS.
#pragma once

#include "engine/cpu/panel_gemm.h"

#include <cstdint>

namespace halfscope {

inline constexpr int64_t kPairDepth = kPanelDepth / 2;    ///< pairs of a block
inline int64_t pairsOf(int64_t k) { return (k + 1) / 2; } ///< an odd k ends with a zero

/// The least exponent is the exponent field of the smallest magnitude among bfloat16 values other
/// than zero. It is 0 for a subnormal, and kNoExponent when all values are zero.
inline constexpr int kNoExponent = 512;
/// Whether no operand and no sum can be subnormal when these are the least exponents of the two
/// matrices, so that multiplyPairs is exact for them. Values with exponent field e are multiples of
/// 2^(e - 134); their products and all sums of those, rounded or not, are multiples of 2^(ea + eb -
/// 268), which has to be a normal float.
inline bool staysNormal(int leastA, int leastB) {
    return leastA > 0 && leastB > 0 && leastA + leastB - 268 >= -126;
}

/// The exponent fields of the smallest magnitude, as above, and of the greatest, which is 255 when
/// a value is infinite or NaN.
struct Exponents {
    int least, greatest;
};
/// Returns the exponents of `count` bfloat16 values, which may be at any address.
Exponents exponentsOf(const void* values, int64_t count);

// Each packs some values and returns their least exponent; `ld` counts values.
/// Writes to[r * pairsOf(depth) + i] = (a[r][2i], a[r][2i + 1]).
int packPairs(const uint16_t* a, int64_t ld, int64_t rows, int64_t depth, uint32_t* to);
/// Writes to[i * columns + j] = (a[2i][j], a[2i + 1][j]).
int interleavePairs(const uint16_t* a, int64_t ld, int64_t depth, int64_t columns, uint32_t* to);
/// Packs a panel of b (k, n), or of its transpose (n, k), of the given depth, at most kPanelDepth.
int packPairPanel(const uint16_t* b, int64_t ld, bool transposed, int64_t depth, int64_t columns,
                  uint32_t* panel);

/// Does the same as multiplyPanels, with k and lda in pairs and blocks of kPairDepth; staysNormal
/// must hold. Uses tiles (tile_gemm.h) if the set has them.
void multiplyPairs(VectorSet, const PanelShape&, const uint32_t* a, const uint32_t* panels,
                   float* c);
/// Does the same for at most one block by products of f32, for any values and for the sets of
/// multiplyPanels.
void multiplyPairsWidened(VectorSet, const PanelShape&, const uint32_t* a, const uint32_t* panels,
                          float* c);
/// Multiplies at most one block with the set in use: as pairs where the least exponents of the
/// operands allow it, else by products of f32.
void multiplyPairBlock(const PanelShape&, const uint32_t* a, int leastOfA, const uint32_t* panels,
                       int leastOfPanels, float* c);
/// Whether this program and the set have what multiplyPairs needs.
bool hasPairGemm(VectorSet);

// One for each compiled file.
void multiplyPairsAvx512(const PanelShape&, const uint32_t* a, const uint32_t* panels, float* c);

} // namespace halfscope
