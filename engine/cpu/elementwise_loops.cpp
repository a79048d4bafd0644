// The elementwise CPU loops, in f32. Those that do not call the C library are compiled for several
// vector widths and chosen at load time; their results have the same bits on each. Meaning and
// gradients are in elementwise.cpp.
#include "engine/cpu/elementwise_loops.h"

#include "engine/core/erfinv.h"
#include "engine/core/fp8.h"
#include "engine/core/vector_clones.h"
#include "engine/cpu/loop_math.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>

// Result i depends only on input i, so writing out over in[k] carries nothing from one iteration to
// the next.
#define HALFSCOPE_UNARY(attribute, name, expression)                                               \
    attribute void name(const LoopArgs& args) {                                                    \
        const float* in0 = args.in[0];                                                             \
        float* out = args.out;                                                                     \
        const size_t n = args.n;                                                                   \
        HALFSCOPE_INDEPENDENT for (size_t i = 0; i < n; ++i) {                                     \
            const float x = in0[i];                                                                \
            out[i] = (expression);                                                                 \
        }                                                                                          \
    }
#define HALFSCOPE_BINARY(attribute, name, expression)                                              \
    attribute void name(const LoopArgs& args) {                                                    \
        const float* in0 = args.in[0];                                                             \
        const float* in1 = args.in[1];                                                             \
        float* out = args.out;                                                                     \
        const size_t n = args.n;                                                                   \
        HALFSCOPE_INDEPENDENT for (size_t i = 0; i < n; ++i) {                                     \
            const float a = in0[i], b = in1[i];                                                    \
            out[i] = (expression);                                                                 \
        }                                                                                          \
    }
#define HALFSCOPE_PLAIN

namespace halfscope {

namespace {

/// A function of loop_math.h, rounded once to f32.
#define HALFSCOPE_DOUBLE(function) static_cast<float>(loop_math::function(double{x}))

// Through double where f32 steps would lose more than one ulp: cancellation in 1 + erf, or an
// intermediate that under- or overflows although the result does not.
[[gnu::always_inline]] inline float sigmoid(float x) {
    return static_cast<float>(1.0 / (1.0 + loop_math::exp(-double{x})));
}
[[gnu::always_inline]] inline float silu(float x) {
    return static_cast<float>(double{x} / (1.0 + loop_math::exp(-double{x})));
}

/// Angles are looked at in blocks, because a loop without a choice is vectorised: a block with one
/// that is too far away for loop_math.h is left to the C library.
[[gnu::always_inline]] inline void sines(const LoopArgs& args, double quarters,
                                         double (*library)(double)) {
    constexpr size_t kBlock = 256;
    constexpr uint32_t kFarthest = std::bit_cast<uint32_t>(loop_math::kFarthestAngle);
    for (size_t first = 0; first < args.n; first += kBlock) {
        const size_t n = std::min(kBlock, args.n - first);
        const float* in0 = args.in[0] + first;
        float* out = args.out + first;
        uint32_t far = 0; // NaN and infinity too
        for (size_t i = 0; i < n; ++i)
            far |= (std::bit_cast<uint32_t>(in0[i]) & 0x7FFFFFFFU) > kFarthest ? 1U : 0U;
        if (far != 0) {
            for (size_t i = 0; i < n; ++i)
                out[i] = static_cast<float>(library(double{in0[i]}));
            continue;
        }
        HALFSCOPE_INDEPENDENT
        for (size_t i = 0; i < n; ++i)
            out[i] = static_cast<float>(loop_math::turnedSine(double{in0[i]}, quarters));
    }
}

[[gnu::always_inline]] inline float gelu(float x) {
    constexpr double kRootOfHalf = 0x1.6a09e667f3bcdp-1;
    return static_cast<float>(0.5 * x * loop_math::erfc(-x * kRootOfHalf));
}
} // namespace

// ---- one input ---------------------------------------------------------------------------------

HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopNeg, -x)
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopExp, HALFSCOPE_DOUBLE(exp))
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopExpm1, HALFSCOPE_DOUBLE(expm1))
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopLog, HALFSCOPE_DOUBLE(log))
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopLog1p, HALFSCOPE_DOUBLE(log1p))
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopSqrt, std::sqrt(x))
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopRsqrt, 1.0f / std::sqrt(x))
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopReciprocal, 1.0f / x)
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopTanh, HALFSCOPE_DOUBLE(tanh))
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopSigmoid, sigmoid(x))
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopRelu, x <= 0.0f ? 0.0f : x) // keeps NaN, turns -0 into +0
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopGelu, gelu(x))
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopSilu, silu(x))
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopAbs, std::fabs(x))
// 0 for NaN, as in PyTorch
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopSign, (x > 0.0f ? 1.0f : 0.0f) - (x < 0.0f ? 1.0f : 0.0f))
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopErf, HALFSCOPE_DOUBLE(erf))
HALFSCOPE_UNARY(HALFSCOPE_PLAIN, loopErfinv, static_cast<float>(erfinvOf(double{x})))
// through double: the f32 functions of some libraries are off by more than 2 ulp
HALFSCOPE_UNARY(HALFSCOPE_PLAIN, loopTan, static_cast<float>(std::tan(double{x})))
HALFSCOPE_UNARY(HALFSCOPE_PLAIN, loopAsin, static_cast<float>(std::asin(double{x})))
HALFSCOPE_UNARY(HALFSCOPE_PLAIN, loopAcos, static_cast<float>(std::acos(double{x})))
HALFSCOPE_UNARY(HALFSCOPE_PLAIN, loopSinh, static_cast<float>(std::sinh(double{x})))
HALFSCOPE_UNARY(HALFSCOPE_PLAIN, loopCosh, static_cast<float>(std::cosh(double{x})))
HALFSCOPE_UNARY(HALFSCOPE_PLAIN, loopLog10, static_cast<float>(std::log10(double{x})))
HALFSCOPE_UNARY(HALFSCOPE_PLAIN, loopLog2, static_cast<float>(std::log2(double{x})))
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopFloor, std::floor(x))
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopCeil, std::ceil(x))
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopRound, std::nearbyint(x))
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopTrunc, std::trunc(x))
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopIsFinite, std::fabs(x) <= FLT_MAX ? 1.0f : 0.0f)
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopLogicalNot, x == 0.0f ? 1.0f : 0.0f)
HALFSCOPE_UNARY(HALFSCOPE_VECTOR, loopCast, x)

/// beta is 1: log(1 + e^x). PyTorch returns x above 20, and so does the rounding here. There are
/// two loops, because g++ does not vectorise the whole.
HALFSCOPE_VECTOR void loopSoftplus(const LoopArgs& args) {
    constexpr size_t kBlock = 256;
    double power[kBlock];
    for (size_t first = 0; first < args.n; first += kBlock) {
        const size_t n = std::min(kBlock, args.n - first);
        const float* in0 = args.in[0] + first;
        float* out = args.out + first;
        for (size_t i = 0; i < n; ++i)
            power[i] = loop_math::exp(-std::fabs(double{in0[i]}));
        HALFSCOPE_INDEPENDENT
        for (size_t i = 0; i < n; ++i) {
            const double x = double{in0[i]};
            out[i] = static_cast<float>((x > 0 ? x : 0.0) + loop_math::log1p(power[i]));
        }
    }
}

HALFSCOPE_VECTOR void loopSin(const LoopArgs& args) { sines(args, 0, std::sin); }
HALFSCOPE_VECTOR void loopCos(const LoopArgs& args) { sines(args, 1, std::cos); }

HALFSCOPE_VECTOR void loopClamp(const LoopArgs& args) {
    const auto& range = std::get<RangeAttrs>(*args.attrs);
    const float low = static_cast<float>(range.low), high = static_cast<float>(range.high);
    const float* in0 = args.in[0];
    float* out = args.out;
    const size_t n = args.n;
    HALFSCOPE_INDEPENDENT
    for (size_t i = 0; i < n; ++i) {
        const float x = in0[i];
        const float raised = x < low ? low : x; // comparisons that pass NaN through
        out[i] = raised > high ? high : raised;
    }
}

// ---- two and three inputs ----------------------------------------------------------------------

HALFSCOPE_BINARY(HALFSCOPE_VECTOR, loopAdd, a + b)
HALFSCOPE_BINARY(HALFSCOPE_VECTOR, loopSub, a - b)
HALFSCOPE_BINARY(HALFSCOPE_VECTOR, loopMul, a* b)
HALFSCOPE_BINARY(HALFSCOPE_VECTOR, loopDiv, a / b)
HALFSCOPE_BINARY(HALFSCOPE_PLAIN, loopPow, std::pow(a, b))
HALFSCOPE_BINARY(HALFSCOPE_PLAIN, loopAtan2, static_cast<float>(std::atan2(double{a}, double{b})))
// a wins when it is greater or NaN; a NaN in b fails the comparison and so is taken
HALFSCOPE_BINARY(HALFSCOPE_VECTOR, loopMaximum, a != a ? a : (a > b ? a : b))
HALFSCOPE_BINARY(HALFSCOPE_VECTOR, loopMinimum, a != a ? a : (a < b ? a : b))
HALFSCOPE_BINARY(HALFSCOPE_VECTOR, loopLess, a < b ? 1.0f : 0.0f)
HALFSCOPE_BINARY(HALFSCOPE_VECTOR, loopLessEqual, a <= b ? 1.0f : 0.0f)
HALFSCOPE_BINARY(HALFSCOPE_VECTOR, loopEqual, a == b ? 1.0f : 0.0f)
HALFSCOPE_BINARY(HALFSCOPE_VECTOR, loopNotEqual, a != b ? 1.0f : 0.0f)
HALFSCOPE_BINARY(HALFSCOPE_VECTOR, loopLogicalAnd, a* b != 0.0f ? 1.0f : 0.0f) // masks are 0 and 1
HALFSCOPE_BINARY(HALFSCOPE_VECTOR, loopLogicalOr, a + b != 0.0f ? 1.0f : 0.0f)

HALFSCOPE_VECTOR void loopWhere(const LoopArgs& args) {
    const float* condition = args.in[0];
    const float* in1 = args.in[1];
    const float* in2 = args.in[2];
    float* out = args.out;
    const size_t n = args.n;
    HALFSCOPE_INDEPENDENT
    for (size_t i = 0; i < n; ++i) {
        const float a = in1[i], b = in2[i]; // reads both first, so that the choice is a blend
        out[i] = condition[i] != 0.0f ? a : b;
    }
}

HALFSCOPE_VECTOR void loopQuantizeFp8(const LoopArgs& args) {
    const Fp8Facts facts = factsOf(std::get<Fp8Attrs>(*args.attrs).format);
    const float* in0 = args.in[0];
    const float* in1 = args.in[1];
    float* out = args.out;
    const size_t n = args.n;
    HALFSCOPE_INDEPENDENT
    for (size_t i = 0; i < n; ++i)
        out[i] = quantizedToFp8(facts, in0[i], in1[i]);
}

} // namespace halfscope
