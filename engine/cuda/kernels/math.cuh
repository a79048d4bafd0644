// The elementwise ops, one function per op, in float and in double: what the CPU's loops
// (cpu/elementwise_loops.cpp) and references (ops/elementwise.cpp) compute. + - * / and square
// roots give the same bits; the others are off by a few ulp of float. The caller rounds to storage.
#pragma once

namespace hs {

constexpr float kMaxFloat = 3.402823466e+38f;
constexpr double kMaxDouble = 1.7976931348623157e+308;
constexpr u64 kInfinityBits = 0x7FF0000000000000ull, kNanBits = 0x7FF8000000000000ull;

// ---- one input ---------------------------------------------------------------------------------

// Both precisions at once: `f` and `d` are the functions' names in float and double.
#define HS_UNARY(name, f, d)                                                                       \
    HS_HD inline float name(float x) { return f(x); }                                              \
    HS_HD inline double name(double x) { return d(x); }
HS_UNARY(expOf, expf, exp)
HS_UNARY(expm1Of, expm1f, expm1)
HS_UNARY(logOf, logf, log)
HS_UNARY(log1pOf, log1pf, log1p)
HS_UNARY(sqrtOf, sqrtf, sqrt)
HS_UNARY(tanhOf, tanhf, tanh)
HS_UNARY(sinOf, sinf, sin)
HS_UNARY(cosOf, cosf, cos)
HS_UNARY(absOf, fabsf, fabs)
HS_UNARY(erfOf, erff, erf)
HS_UNARY(tanOf, tanf, tan)
HS_UNARY(asinOf, asinf, asin)
HS_UNARY(acosOf, acosf, acos)
HS_UNARY(sinhOf, sinhf, sinh)
HS_UNARY(coshOf, coshf, cosh)
HS_UNARY(log10Of, log10f, log10)
HS_UNARY(log2Of, log2f, log2)
HS_UNARY(floorOf, floorf, floor)
HS_UNARY(ceilOf, ceilf, ceil)
HS_UNARY(roundOf, rintf, rint) // halves to even
HS_UNARY(truncOf, truncf, trunc)
#undef HS_UNARY

template <class Real>
HS_HD inline Real negOf(Real x) {
    return -x;
}
template <class Real>
HS_HD inline Real detachOf(Real x) {
    return x;
}
// 1 / sqrt, each rounded: this gives the CPU's bits, as an approximate instruction would not
template <class Real>
HS_HD inline Real rsqrtOf(Real x) {
    return Real(1) / sqrtOf(x);
}
template <class Real>
HS_HD inline Real reciprocalOf(Real x) {
    return Real(1) / x;
}
template <class Real>
HS_HD inline Real reluOf(Real x) { // keeps NaN, turns -0 into +0
    return x <= Real(0) ? Real(0) : x;
}
template <class Real>
HS_HD inline Real sigmoidOf(Real x) {
    const Real e = expOf(-absOf(x)); // at most 1, which keeps small results at full precision
    return (x < Real(0) ? e : Real(1)) / (Real(1) + e);
}
template <class Real>
HS_HD inline Real siluOf(Real x) {
    if (x < Real(-64)) { // e^x may be subnormal although x e^x is not
        const Real root = expOf(x * Real(0.5));
        return x * root * root;
    }
    const Real e = expOf(-absOf(x));
    return (x < Real(0) ? x * e : x) / (Real(1) + e);
}
HS_HD inline double geluOf(double x) { return 0.5 * x * erfc(-x / 1.4142135623730951); }
HS_HD inline float geluOf(float x) {
    // The rounding of the argument t = -x / sqrt 2 counts 2 t^2 times in erfc(t). It is added back
    // by the slope, which for large t is -2 t erfc(t).
    constexpr float kHigh = 0.707106769f, kLow = 1.21016175e-8f; // their sum is 1 / sqrt 2
    const float t = -x * kHigh;
    const float rest = fmaf(-x, kHigh, -t) - x * kLow;
    float tail = erfcf(t);
    if (t > 1.0f && t < 20.0f) tail = fmaf(-2.0f * t * rest, tail, tail);
    return 0.5f * x * tail;
}
/// beta is 1; PyTorch returns x above its threshold of 20.
template <class Real>
HS_HD inline Real softplusOf(Real x) {
    return x > Real(20) ? x : log1pOf(expOf(x));
}
template <class Real>
HS_HD inline Real signOf(Real x) { // 0 for NaN, as in PyTorch
    return (x > Real(0) ? Real(1) : Real(0)) - (x < Real(0) ? Real(1) : Real(0));
}
HS_HD inline double erfinvOf(double x) {
    const double size = fabs(x);
    if (!(size < 1.0)) return size == 1.0 ? x * doubleOf(kInfinityBits) : doubleOf(kNanBits);
    // Winitzki's approximation, then Halley's steps on erf itself (see cpu/elementwise_loops.cpp)
    constexpr double kA = 0.147, kPi = 3.141592653589793, kInvSqrtPi = 0.5641895835477563;
    const double log = log1p(-size * size), half = 2.0 / (kPi * kA) + log / 2.0;
    const double square = sqrt(half * half - log / kA) - half;
    double z = sqrt(square > 0.0 ? square : 0.0);
    for (int i = 0; i < 3; ++i) {
        const double off = size < 0.5 ? erf(z) - size : (1.0 - size) - erfc(z);
        const double newton = off * exp(z * z) / (2.0 * kInvSqrtPi);
        z -= newton / (1.0 + z * newton);
    }
    return bitsOf(x) >> 63 != 0 ? -z : z; // also for -0
}
HS_HD inline float erfinvOf(float x) {
    return static_cast<float>(erfinvOf(static_cast<double>(x)));
}
HS_HD inline float isFiniteOf(float x) { return fabsf(x) <= kMaxFloat ? 1.0f : 0.0f; }
HS_HD inline double isFiniteOf(double x) { return fabs(x) <= kMaxDouble ? 1.0 : 0.0; }
template <class Real>
HS_HD inline Real logicalNotOf(Real x) {
    return x == Real(0) ? Real(1) : Real(0);
}
template <class Real>
HS_HD inline Real clampOf(Real x, Real low, Real high) {
    const Real raised = x < low ? low : x; // comparisons that pass NaN through
    return raised > high ? high : raised;
}

// ---- two and three inputs ----------------------------------------------------------------------

#define HS_BINARY(name, expression)                                                                \
    template <class Real>                                                                          \
    HS_HD inline Real name(Real a, Real b) {                                                       \
        return expression;                                                                         \
    }
HS_BINARY(addOf, a + b)
HS_BINARY(subOf, a - b)
HS_BINARY(mulOf, a* b)
HS_BINARY(divOf, a / b)
// a wins when it is greater or NaN; a NaN in b fails the comparison and so is taken
HS_BINARY(maximumOf, a != a ? a : (a > b ? a : b))
HS_BINARY(minimumOf, a != a ? a : (a < b ? a : b))
HS_BINARY(lessOf, a < b ? Real(1) : Real(0))
HS_BINARY(lessEqualOf, a <= b ? Real(1) : Real(0))
HS_BINARY(equalOf, a == b ? Real(1) : Real(0))
HS_BINARY(notEqualOf, a != b ? Real(1) : Real(0))
HS_BINARY(logicalAndOf, a* b != Real(0) ? Real(1) : Real(0)) // masks are 0 and 1
HS_BINARY(logicalOrOf, a + b != Real(0) ? Real(1) : Real(0))
#undef HS_BINARY
HS_HD inline float powOf(float a, float b) { return powf(a, b); }
HS_HD inline double powOf(double a, double b) { return pow(a, b); }
HS_HD inline float atan2Of(float a, float b) { return atan2f(a, b); }
HS_HD inline double atan2Of(double a, double b) { return atan2(a, b); }
template <class Real>
HS_HD inline Real whereOf(Real condition, Real a, Real b) {
    return condition != Real(0) ? a : b;
}

// ---- FP8 ---------------------------------------------------------------------------------------

// A format, as Fp8Facts of core/fp8.h, where the steps are explained.
struct Fp8 {
    int fractionBits, minExponent, maxExponent;
    float max;
};
HS_HD inline float quantizeFp8Of(float x, float amax, Fp8 f) {
    const u32 most = bitsOf(amax) & 0x7fffffffu;
    const int beyond = (most & 0x7fffffu) > 0x600000u ? 1 : 0;
    int power = f.maxExponent - (static_cast<int>(most >> 23) - 127) - beyond;
    power = power < -126 ? -126 : power > 126 ? 126 : power;
    if (most == 0u || most >= 0x7f800000u) power = 0;
    const float scaled = x * floatOf(static_cast<u32>(127 + power) << 23);
    const float size = fabsf(scaled) > f.max ? f.max : fabsf(scaled);
    const u32 least = static_cast<u32>(127 + f.minExponent), own = bitsOf(size) >> 23;
    const u32 exponent = own > least ? own : least;
    const float anchor =
        floatOf(((exponent + 23u - static_cast<u32>(f.fractionBits)) << 23) | 0x400000u);
    const float rounded = (size + anchor) - anchor;
    return copysignf(rounded, scaled) * floatOf(static_cast<u32>(127 - power) << 23);
}
HS_HD inline float quantizeGradientOf(float x) { return x; }

} // namespace hs
