// Searches with strides that double until the answer lies between two trials, then halves the rest.
#include "engine/train/fitting_scale.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace halfscope {

namespace {

constexpr int kBelowLeast = kLeastExponent - 1;
constexpr int kAboveMost = std::numeric_limits<float>::max_exponent; // 2^128 is inf

/// Returns the smallest exponent whose power of two is at least `scale`.
int exponentAbove(float scale) {
    if (!std::isfinite(scale)) return kAboveMost;
    int exponent = 0;
    return std::frexp(scale, &exponent) == 0.5f ? exponent - 1 : exponent;
}

int firstTrial(const FittingScale& guess, int over) {
    switch (guess.known) {
    case FittingScale::Known::Nothing: break;
    case FittingScale::Known::Largest: return std::min(std::ilogb(guess.largest), over - 1);
    case FittingScale::Known::None: return kLeastExponent;
    }
    return over - 1;
}

} // namespace

std::optional<FittingScale> fittingScale(float scale, const FittingScale& guess,
                                         const ScaleTrial& overflows) {
    // nothing can be tried below a scale that is nan, 0, negative or at most the least one
    if (!(scale > std::ldexp(1.0f, kLeastExponent))) return FittingScale{};
    int over = exponentAbove(scale), fit = kBelowLeast;
    int stride = 1;
    for (int at = firstTrial(guess, over); over - fit > 1;) {
        const std::optional<bool> answer = overflows(std::ldexp(1.0f, at));
        if (!answer) return std::nullopt;
        (*answer ? over : fit) = at;
        // doubles the stride while one side is unknown, then halves the interval
        at = fit == kBelowLeast ? std::max(over - stride, kLeastExponent)
                                : std::min(fit + stride, std::midpoint(fit, over));
        stride *= 2;
    }
    if (fit == kBelowLeast) return FittingScale{FittingScale::Known::None, 0};
    return FittingScale{FittingScale::Known::Largest, std::ldexp(1.0f, fit)};
}

} // namespace halfscope
