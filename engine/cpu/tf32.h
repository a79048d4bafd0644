// TF32 on the CPU: f32 operands of a matrix product or convolution with 11 significand bits. Leaves
// products and sums in f32, as tensor cores do.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace halfscope {

/// Rounds to 11 significand bits (10 stored), the exponent range stays f32's. Nearest even, the
/// rule of all other roundings here; PTX's cvt.rna.tf32 rounds ties away from zero, and tensor
/// cores that get f32 bits as they are may cut them off. Too large becomes inf; inf and NaN stay.
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
