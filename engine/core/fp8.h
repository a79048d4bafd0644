// The two 8-bit formats of FP8 training and how a value is rounded to one of them. Tensors are
// never stored in 8 bits here: a rounded value is kept in float32 or bfloat16, which hold it
// exactly (bfloat16 unless it is below 2^-133, in a tensor whose greatest magnitude is below
// 2^-100). Sources: "FP8 Formats for Deep Learning" (Micikevicius et al., 2022);
// transformer_engine/common/recipe (power-of-two scales, saturation).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace halfscope {

enum class Fp8Format : uint8_t {
    E4M3, ///< 4 bits of exponent, 3 of fraction: for activations and weights
    E5M2  ///< 5 bits of exponent, 2 of fraction: for gradients
};

/// Where the scale of a tensor comes from before it is rounded to FP8.
enum class Fp8Scaling : uint8_t {
    Dynamic, ///< the largest power of two at which the tensor's greatest magnitude stays in range
    None     ///< 1
};

constexpr const char* nameOf(Fp8Format format) {
    return format == Fp8Format::E4M3 ? "e4m3" : "e5m2";
}
/// Returns "dynamic" or "none"; empty beyond the last.
constexpr const char* nameOf(Fp8Scaling scaling) {
    switch (scaling) {
    case Fp8Scaling::Dynamic: return "dynamic";
    case Fp8Scaling::None: return "none";
    }
    return "";
}

struct Fp8Facts {
    int fractionBits; ///< without the hidden bit: 3, 2
    int minExponent;  ///< of the smallest normal number: -6, -14
    int maxExponent;  ///< of the greatest number: 8, 15
    float max;        ///< 448, 57344: 1.75 times 2 to the maxExponent in both
};
constexpr Fp8Facts factsOf(Fp8Format format) {
    return format == Fp8Format::E4M3 ? Fp8Facts{3, -6, 8, 448.0f} : Fp8Facts{2, -14, 15, 57344.0f};
}

/// Rounds to the nearest value of the format, ties to even, with gradual underflow. Greater values
/// become the greatest one, infinities too; NaN stays NaN.
[[gnu::always_inline]] inline float roundedToFp8(const Fp8Facts& facts, float x) {
    const float magnitude = std::fabs(x) > facts.max ? facts.max : std::fabs(x);
    // Next to this number floats are as far apart as values of the format next to x.
    const uint32_t exponent = std::max(std::bit_cast<uint32_t>(magnitude) >> 23,
                                       static_cast<uint32_t>(127 + facts.minExponent));
    const float anchor = std::bit_cast<float>(
        ((exponent + 23U - static_cast<uint32_t>(facts.fractionBits)) << 23) | 0x400000U);
    return std::copysign((magnitude + anchor) - anchor, x);
}

/// Does the same in double, by the definition and more slowly.
double nearestFp8(const Fp8Facts&, double x);

/// Returns the exponent of the scale for a tensor with that greatest magnitude: at most 126 away
/// from 0, and 0 for a magnitude of 0, infinity or NaN.
[[gnu::always_inline]] inline int fp8ScaleExponent(const Fp8Facts& facts, float amax) {
    const uint32_t bits = std::bit_cast<uint32_t>(amax) & 0x7FFFFFFFU;
    const int exponent = static_cast<int>(bits >> 23) - 127;
    const int beyond = (bits & 0x7FFFFFU) > 0x600000U ? 1 : 0; // above 1.75 times a power of two
    const int scale = std::clamp(facts.maxExponent - exponent - beyond, -126, 126);
    return bits == 0 || exponent == 128 ? 0 : scale;
}

/// Returns x after scaling by the power of two for `amax`, rounding to the format and scaling back.
[[gnu::always_inline]] inline float quantizedToFp8(const Fp8Facts& facts, float x, float amax) {
    const auto exponent = static_cast<uint32_t>(fp8ScaleExponent(facts, amax));
    const float scale = std::bit_cast<float>((127U + exponent) << 23);
    const float back = std::bit_cast<float>((127U - exponent) << 23);
    return roundedToFp8(facts, x * scale) * back;
}

} // namespace halfscope
