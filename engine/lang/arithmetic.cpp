// Whole numbers are exact or refused.
#include "engine/lang/arithmetic.h"

#include "engine/core/message.h"

#include <cmath>
#include <limits>

namespace halfscope::lang {

namespace {

constexpr Phrase kTooLarge = phrase("Model", "the result is too large");
constexpr Phrase kByNothing = phrase("Model", "a division by 0 is not allowed");
constexpr double kExact = 0x1p53; ///< up to it, every whole number is a double

bool areWhole(const Value& a, const Value& b) {
    return a.kind == Kind::Whole && b.kind == Kind::Whole;
}

Value wholeAt(Place place, int64_t whole) {
    Value value;
    value.kind = Kind::Whole;
    value.place = place;
    value.whole = whole;
    value.real = static_cast<double>(whole);
    return value;
}

Value realAt(Place place, double real) {
    Value value;
    value.kind = Kind::Real;
    value.place = place;
    value.real = real;
    return value;
}

/// Returns Python's a // b: 7.0 // 0.1 is 69, because 0.1 is stored as slightly more than a tenth.
/// The rounded quotient would be 70.
double floorOf(double a, double b) {
    const double remainder = std::fmod(a, b);
    double quotient = (a - remainder) / b;
    if (remainder != 0 && (b < 0) != (remainder < 0)) quotient -= 1;
    const double whole = std::floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
}

} // namespace

Value productOf(const Value& a, const Value& b) {
    if (!areWhole(a, b)) return realAt(a.place, a.real * b.real);
    int64_t product = 0;
    if (__builtin_mul_overflow(a.whole, b.whole, &product)) refuseAt(a.place, kTooLarge);
    return wholeAt(a.place, product);
}

Value quotientOf(const Value& a, const Value& b) {
    if (b.real == 0) refuseAt(b.place, kByNothing);
    if (!areWhole(a, b)) return realAt(a.place, floorOf(a.real, b.real));
    if (a.whole == std::numeric_limits<int64_t>::min() && b.whole == -1)
        refuseAt(a.place, kTooLarge);
    const bool down = a.whole % b.whole != 0 && (a.whole < 0) != (b.whole < 0);
    return wholeAt(a.place, a.whole / b.whole - (down ? 1 : 0));
}

Value ratioOf(const Value& a, const Value& b) {
    if (b.real == 0) refuseAt(b.place, kByNothing);
    const double ratio = a.real / b.real;
    if (!std::isfinite(ratio)) refuseAt(a.place, kTooLarge);
    return realAt(a.place, ratio);
}

Value wholeOf(const Value& a) {
    if (a.kind == Kind::Whole) return a;
    if (!(std::abs(a.real) <= kExact)) refuseAt(a.place, kTooLarge);
    return wholeAt(a.place, static_cast<int64_t>(a.real));
}

Value powerOf(const Value& a, const Value& b) {
    if (a.real < 0 || b.real < 0)
        refuseAt(a.place, phrase("Model", "powers of and by negative numbers are not allowed"));
    const double power = std::pow(a.real, b.real);
    const bool whole = areWhole(a, b);
    if (!std::isfinite(power) || (whole && power > kExact)) refuseAt(a.place, kTooLarge);
    return whole ? wholeAt(a.place, static_cast<int64_t>(power)) : realAt(a.place, power);
}

} // namespace halfscope::lang
