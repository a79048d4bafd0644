// The product of f32 values by tiles of bfloat16 (tile_gemm.h). Each value is the sum of a few
// bfloat16 terms, and the product of two values is the sum of the products of their terms, each of
// which is exact in f32. A value of fp16 or TF32 has 11 significant bits and is two terms, of which
// all four products are taken: a quarter of bfloat16's rate. A value of f32 is three terms, of
// which six of nine products are taken: a sixth of the rate. The second by the third, the third by
// the second and the third by the third are left out; they come to less than 2^-23 |a| |b|. A lane
// of `a` holds two terms and one of b the two that meet them, and the lanes of a step are in planes
// (tile_gemm_kernel.h):
//   two     (a1, a2) by (b1, b1) and (b2, b2)
//   three   (a1, a2) by (b1, b1) and (b2, b2), (a1, a3) by (b3, b1)
#pragma once

#include "engine/cpu/panel_gemm.h"

#include <cstdint>

namespace halfscope {

/// How many terms a value is the sum of.
enum class Terms : uint8_t {
    Two,  ///< fp16 and TF32
    Three ///< f32
};

inline constexpr int64_t planesOfA(Terms terms) { return terms == Terms::Two ? 1 : 2; }
inline constexpr int64_t planesOfB(Terms terms) { return terms == Terms::Two ? 2 : 3; }

/// The exponent fields of f32 values other than zero.
struct FloatExponents {
    int least = 512;  ///< of the smallest magnitude; 0 for a subnormal, 512 when all are zero
    int greatest = 0; ///< 255 when a value is infinite or NaN
    void add(const FloatExponents& more);
};

/// Splits values by rounding to the nearest bfloat16 again and again: to[i] and, for three terms,
/// to[plane + i] are the lanes of from[i] as `a`.
FloatExponents splitRow(Terms, const float* from, int64_t count, uint32_t* to, int64_t plane);
/// Splits a panel of packPanel into the planes of b, one behind the other.
FloatExponents splitPanel(Terms, const float* panel, int64_t depth, uint32_t* to);

/// Whether the tiles keep a block of kPanelDepth within the bounds below. They take subnormals for
/// zero, and a first term may round to infinity. Two terms: every term, product and sum is exact
/// except for the rounding of sums. Three terms: besides, what is lost in a product is less than
/// 2^-23 |a| |b|, and what becomes zero is less than 2^-30 of the smallest product.
bool tilesKeep(Terms, const FloatExponents& a, const FloatExponents& b);

/// Does the same as multiplyPanels when `a` and the panels are planes: each plane of `a` is
/// `planeOfA` lanes behind the one before. tilesKeep must hold.
void multiplyTerms(Terms, const PanelShape&, int64_t planeOfA, const uint32_t* a,
                   const uint32_t* panels, float* c);
/// Whether this program, the set and this processor have it.
bool hasTermGemm(VectorSet);

} // namespace halfscope
