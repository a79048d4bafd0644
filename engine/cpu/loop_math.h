// Exponential functions, logarithms, sines and error functions of the CPU loops, in double. They
// use only additions, multiplications and divisions, each rounded once: so the bits are the same on
// every processor and with every C library, and compilers can vectorise them. The relative error is
// about 1e-14, so that the float made of a result is nearly always the nearest one. Arguments are
// floats, or results of these functions.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace halfscope::loop_math {

#define HALFSCOPE_LOOP_MATH [[gnu::always_inline]] inline

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
// log 2 in two parts; the last bits of the first are zeros, so that its product with a small
// integer is exact
inline constexpr double kLog2High = 6.93147180369123816490e-01;
inline constexpr double kLog2Low = 1.90821492927058770002e-10;

/// e^x as 2^n + 2^n * rest.
struct Exponential {
    double power, rest;
};

/// For |x| up to some hundred; farther out the values are those of 200 and -200, which are beyond
/// all floats.
HALFSCOPE_LOOP_MATH Exponential exponential(double x) {
    constexpr double kRange = 200, kLog2e = 1.4426950408889634;
    constexpr double kShift = 0x1.8p52; // a sum with it holds the nearest integer in its last bits
    x = x < -kRange ? -kRange : x;      // comparisons that pass NaN through
    x = x > kRange ? kRange : x;
    const double shifted = x * kLog2e + kShift;
    const double n = shifted - kShift;
    const double r = (x - n * kLog2High) - n * kLog2Low; // within log(2) / 2 of 0
    const double power = std::bit_cast<double>((std::bit_cast<uint64_t>(shifted) + 1023) << 52);
    // Taylor series: the first term left out is below 1e-14
    double sum = 1.0 / 39916800;
    sum = sum * r + 1.0 / 3628800;
    sum = sum * r + 1.0 / 362880;
    sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040;
    sum = sum * r + 1.0 / 720;
    sum = sum * r + 1.0 / 120;
    sum = sum * r + 1.0 / 24;
    sum = sum * r + 1.0 / 6;
    sum = sum * r + 1.0 / 2;
    return {power, sum * r * r + r};
}

HALFSCOPE_LOOP_MATH double exp(double x) {
    const Exponential e = exponential(x);
    const double value = e.power + e.power * e.rest;
    return x > 200 ? kInfinity : value;
}

HALFSCOPE_LOOP_MATH double expm1(double x) {
    const Exponential e = exponential(x);
    double value = (e.power - 1) + e.power * e.rest;
    value = x == 0 ? x : value; // keeps -0
    return x > 200 ? kInfinity : value;
}

HALFSCOPE_LOOP_MATH double log(double x) {
    // x = 2^n m, where m is between the roots of 1/2 and 2
    constexpr uint64_t kRootOfHalf = 0x3fe6a09e667f3bcd, kBias = 1024;
    const auto bits = std::bit_cast<uint64_t>(x);
    const uint64_t biased = (bits - kRootOfHalf + (kBias << 52)) >> 52;
    const double n = std::bit_cast<double>(biased | 0x4330000000000000) - (0x1p52 + kBias);
    const double m = std::bit_cast<double>(bits - ((biased - kBias) << 52));
    const double s = (m - 1) / (m + 1), z = s * s; // log m = 2 artanh s; z is below 0.03
    double sum = 1.0 / 17;
    sum = sum * z + 1.0 / 15;
    sum = sum * z + 1.0 / 13;
    sum = sum * z + 1.0 / 11;
    sum = sum * z + 1.0 / 9;
    sum = sum * z + 1.0 / 7;
    sum = sum * z + 1.0 / 5;
    sum = sum * z + 1.0 / 3;
    const double artanh = sum * z * s + s;
    double value = n * kLog2High + (n * kLog2Low + 2 * artanh);
    value = x == 0 ? -kInfinity : value;
    value = x < 0 ? std::numeric_limits<double>::quiet_NaN() : value;
    value = x == kInfinity ? kInfinity : value;
    return x != x ? x : value;
}

HALFSCOPE_LOOP_MATH double log1p(double x) {
    const double sum = 1 + x;
    const double lost = (x - (sum - 1)) / sum; // what the addition rounded off
    double value = log(sum);
    value = x > -1 && x < kInfinity ? value + lost : value;
    return x == 0 ? x : value; // keeps -0
}

HALFSCOPE_LOOP_MATH double tanh(double x) {
    const double size = std::fabs(x);
    const double e = expm1(2 * (size > 20 ? 20 : size)); // the result is 1 from there on
    return std::copysign(e / (e + 2), x);
}

inline constexpr float kFarthestAngle = 0x1p22F;

/// sin(x + quarters * pi / 2) for |x| up to kFarthestAngle; `quarters` is 0 for the sine and 1 for
/// the cosine.
HALFSCOPE_LOOP_MATH double turnedSine(double x, double quarters) {
    // pi / 2 in three parts: up to the farthest angle, products with the first two are exact
    constexpr double kHigh = 0x1.921fb544p+0, kMiddle = 0x1.0b4611a4p-34,
                     kLow = 0x1.13198a2e03707p-65;
    constexpr double kInversePi = 0x1.45f306dc9c883p-2;
    constexpr double kShift = 0x1.8p52; // a sum with it holds the nearest integer in its last bits
    const double shifted = (x * kInversePi + 0.5 * quarters) + kShift;
    const double n = 2 * (shifted - kShift) - quarters;
    const double r = ((x - n * kHigh) - n * kMiddle) - n * kLow; // within pi / 2 of 0
    const double z = r * r;
    // Taylor series: the first term left out is below 1e-15
    double sum = -1.0 / 121645100408832000;
    sum = sum * z + 1.0 / 355687428096000;
    sum = sum * z - 1.0 / 1307674368000;
    sum = sum * z + 1.0 / 6227020800;
    sum = sum * z - 1.0 / 39916800;
    sum = sum * z + 1.0 / 362880;
    sum = sum * z - 1.0 / 5040;
    sum = sum * z + 1.0 / 120;
    sum = sum * z - 1.0 / 6;
    const double value = r * (sum * z + 1); // keeps -0
    const uint64_t odd = std::bit_cast<uint64_t>(shifted) << 63;
    return std::bit_cast<double>(std::bit_cast<uint64_t>(value) ^ odd);
}

/// 1 - erf(x).
HALFSCOPE_LOOP_MATH double erfc(double x) {
    constexpr double kZero = 10.5; // from here on, the result is below all floats
    const double z = std::fabs(x);
    // erfc(z) e^(z^2) as a polynomial in w, which goes from 1 at z = 0 to -1 at 10.5: its expansion
    // in Chebyshev polynomials, without terms below 1e-15 of the result
    const double w = 0x1.edb6db6db6db7p+2 / (3 + z) - 0x1.9249249249249p+0;
    double sum = 0x1.734254e66b553p-35;
    sum = sum * w + 0x1.601e8fe12da81p-31;
    sum = sum * w - 0x1.b0092c86ddfb0p-30;
    sum = sum * w - 0x1.177bd09d56876p-27;
    sum = sum * w + 0x1.df2e62ae49279p-26;
    sum = sum * w + 0x1.3267520566f61p-24;
    sum = sum * w - 0x1.a7796a48f5be5p-22;
    sum = sum * w - 0x1.793c166ee14c0p-21;
    sum = sum * w + 0x1.679a2a1aa8d83p-18;
    sum = sum * w + 0x1.824a13bf4d568p-17;
    sum = sum * w - 0x1.2b23d72152cefp-14;
    sum = sum * w - 0x1.3d85e7f03a8f9p-12;
    sum = sum * w + 0x1.0f205171ab80dp-11;
    sum = sum * w + 0x1.0e47a41bc99cbp-7;
    sum = sum * w + 0x1.307358442a74cp-5;
    sum = sum * w + 0x1.b4f09eec1f473p-4;
    sum = sum * w + 0x1.ca12e4df0090ap-3;
    sum = sum * w + 0x1.6f3ad8988a917p-2;
    sum = sum * w + 0x1.0fd540053f1b2p-2;
    const double tail = z > kZero ? 0 : sum * exp(-z * z);
    return x < 0 ? 2 - tail : tail;
}

HALFSCOPE_LOOP_MATH double erf(double x) {
    const double z = x * x;
    // Taylor series for |x| up to 1/2: the first term left out is below 1e-15 of the result
    constexpr double kFirst = 0x1.20dd750429b6dp+0; // 2 / sqrt(pi)
    double sum = 1.0 / 76204800;
    sum = sum * z - 1.0 / 6894720;
    sum = sum * z + 1.0 / 685440;
    sum = sum * z - 1.0 / 75600;
    sum = sum * z + 1.0 / 9360;
    sum = sum * z - 1.0 / 1320;
    sum = sum * z + 1.0 / 216;
    sum = sum * z - 1.0 / 42;
    sum = sum * z + 1.0 / 10;
    sum = sum * z - 1.0 / 3;
    const double small = kFirst * x * (sum * z + 1);
    return z <= 0.25 ? small : 1 - erfc(x);
}

#undef HALFSCOPE_LOOP_MATH

} // namespace halfscope::loop_math
