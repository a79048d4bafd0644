// TF32 on the CPU: f32 operands of a matrix product or convolution with 11 significant bits.
// Products and sums stay f32, as in tensor cores.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace halfscope {

/// Rounds to 11 significant bits (10 stored); the exponent range remains that of f32. Ties go to
/// even, as in all other roundings here; PTX's cvt.rna.tf32 rounds ties away from zero, and tensor
/// cores that get unrounded f32 bits may cut them off. What is too large becomes inf; inf and NaN
/// stay.
inline float roundToTf32(float x) {
    const auto bits = std::bit_cast<uint32_t>(x);
    if ((bits & 0x7f800000u) == 0x7f800000u) return x;
    return std::bit_cast<float>((bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu);
}

inline void roundToTf32(float* values, size_t n) {
    for (size_t i = 0; i < n; ++i)
        values[i] = roundToTf32(values[i]);
}

} // namespace halfscope
