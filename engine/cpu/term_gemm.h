// The product of f32 values by tiles of bfloat16 (tile_gemm.h): each value is the sum of a few
// bfloat16 terms, and the product of two values the sum of the products of their terms, each of
// them exact in f32. A value of fp16 or TF32 has 11 significant bits and is two terms, so that all
// four products of a pair are taken: a quarter of bfloat16's rate. A value of f32 is three, of
// which six of nine products are taken, a sixth of the rate: those of the second by the third and
// of the third by the third come to less than 2^-23 |a| |b|. A lane of `a` holds two terms and one
// of b the two that meet them, and the lanes of a step lie in planes (tile_gemm_kernel.h):
//   two     (a1, a2) by (b1, b1) and (b2, b2)
//   three   (a1, a2) by (b1, b1) and (b2, b2), (a1, a3) by (b3, b1)
#pragma once

#include "engine/cpu/panel_gemm.h"

#include <cstdint>

namespace halfscope {

/// How many a value is the sum of.
enum class Terms : uint8_t {
    Two,  ///< fp16 and TF32
    Three ///< f32
};

inline constexpr int64_t planesOfA(Terms terms) { return terms == Terms::Two ? 1 : 2; }
inline constexpr int64_t planesOfB(Terms terms) { return terms == Terms::Two ? 2 : 3; }

/// Exponent fields of f32 values, over all that are no zeros.
struct FloatExponents {
    int least = 512;  ///< of the smallest magnitude; 0 for a subnormal, 512 where all are zero
    int greatest = 0; ///< 255 where a value is infinite or NaN
    void add(const FloatExponents& more);
};

/// Rounds to the nearest bfloat16 again and again: to[i], and to[plane + i] for three terms, are
/// the lanes of from[i] as `a`.
FloatExponents splitRow(Terms, const float* from, int64_t count, uint32_t* to, int64_t plane);
/// A panel of packPanel, as the planes of b one behind the other.
FloatExponents splitPanel(Terms, const float* panel, int64_t depth, uint32_t* to);

/// Whether the tiles, which take subnormals for zero, and in which a first term may round to
/// infinity, keep a block of kPanelDepth within these bounds. Two terms: every term, product and
/// sum is exact but for the rounding of sums. Three terms: besides, what is lost in a product is
/// less than 2^-23 |a| |b|, and what becomes zero less than 2^-30 of the smallest product.
bool tilesKeep(Terms, const FloatExponents& a, const FloatExponents& b);

/// As multiplyPanels, `a` and panels being planes: a plane of `a` is `planeOfA` lanes behind the
/// one before. tilesKeep must hold.
void multiplyTerms(Terms, const PanelShape&, int64_t planeOfA, const uint32_t* a,
                   const uint32_t* panels, float* c);
/// Whether this program, the set and this processor have it.
bool hasTermGemm(VectorSet);

} // namespace halfscope
