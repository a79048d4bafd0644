// Exponential functions and logarithms of the CPU loops, in double. They use only additions,
// multiplications and divisions, each rounded once: so the bits are the same on every processor and
// with every C library, and compilers can vectorise them. The relative error is about 1e-14, so
// that the float made of a result is nearly always the nearest one. Arguments are floats, or
// results of these functions.
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

#undef HALFSCOPE_LOOP_MATH

} // namespace halfscope::loop_math
