// Takes a stored number apart.
#include "engine/core/stored_number.h"

#include "engine/core/fp8.h"

#include <bit>
#include <cmath>
#include <limits>

namespace halfscope {

namespace {

bool isFp8(NumberFormat format) { return format >= NumberFormat::Fp8E4m3; }

Fp8Facts fp8Of(NumberFormat format) {
    return factsOf(format == NumberFormat::Fp8E4m3 ? Fp8Format::E4M3 : Fp8Format::E5M2);
}

FloatFormat floatFormatOf(const Fp8Facts& facts) {
    return {facts.fractionBits + 1, static_cast<double>(facts.max), std::exp2(facts.minExponent),
            std::exp2(facts.minExponent - facts.fractionBits)};
}

int widthOf(NumberFormat format) {
    return isFp8(format) ? 8 : format == NumberFormat::Float32 ? 32 : 16;
}

/// Returns the bits of a number of the format, by its definition. NaN has all bits but the sign.
uint32_t fp8Bits(const Fp8Facts& facts, double value) {
    const uint32_t sign = std::signbit(value) ? 0x80 : 0;
    if (std::isnan(value)) return sign | 0x7F;
    const double size = std::fabs(value);
    const int exponent =
        std::max(size > 0 ? std::ilogb(size) : facts.minExponent, facts.minExponent);
    // in units of the spacing; the hidden bit carries into the exponent, which 0 stands for below
    const auto digits = static_cast<uint32_t>(std::ldexp(size, facts.fractionBits - exponent));
    const auto steps = static_cast<uint32_t>(exponent - facts.minExponent);
    return sign | ((steps << facts.fractionBits) + digits);
}

double fp8Value(const Fp8Facts& facts, uint32_t bits) {
    const uint32_t fraction = bits & ((1U << facts.fractionBits) - 1);
    const int exponent = static_cast<int>((bits & 0x7FU) >> facts.fractionBits);
    const uint32_t hidden = exponent > 0 ? 1U << facts.fractionBits : 0;
    const double size =
        std::ldexp(static_cast<double>(hidden + fraction),
                   std::max(exponent - 1, 0) + facts.minExponent - facts.fractionBits);
    return (bits & 0x80U) != 0 ? -size : size;
}

uint32_t bitsOf(NumberFormat format, double x) {
    switch (format) {
    case NumberFormat::Float16: return halfFromDouble(x);
    case NumberFormat::Bfloat16: return bfloat16FromDouble(x);
    case NumberFormat::Float32: return std::bit_cast<uint32_t>(static_cast<float>(x));
    default: return fp8Bits(fp8Of(format), nearestFp8(fp8Of(format), x));
    }
}

float valueOf(NumberFormat format, uint32_t bits) {
    switch (format) {
    case NumberFormat::Float16: return floatFromHalf(static_cast<uint16_t>(bits));
    case NumberFormat::Bfloat16: return floatFromBfloat16(static_cast<uint16_t>(bits));
    case NumberFormat::Float32: return std::bit_cast<float>(bits);
    default:
        return (bits & 0x7FU) == 0x7FU ? std::numeric_limits<float>::quiet_NaN()
                                       : static_cast<float>(fp8Value(fp8Of(format), bits));
    }
}

Stored fateOf(NumberFormat format, double x, float value) {
    if (isFp8(format) && std::fabs(x) > formatOf(format).maxFinite) {
        // what rounds to the largest number anyway is merely rounded
        const double largest = formatOf(format).maxFinite;
        const double above = std::ldexp(1.0, std::ilogb(largest) - fp8Of(format).fractionBits);
        if (std::fabs(x) > largest + above / 2) return Stored::Largest;
    }
    if (!std::isfinite(x)) return Stored::NotFinite;
    if (std::isinf(value)) return Stored::Infinite;
    if (static_cast<double>(value) == x) return Stored::Exact;
    if (value == 0) return Stored::Zero;
    return std::fabs(static_cast<double>(value)) < formatOf(format).minNormal ? Stored::Subnormal
                                                                              : Stored::Rounded;
}

} // namespace

const char* nameOf(NumberFormat format) {
    switch (format) {
    case NumberFormat::Float32: return "float32";
    case NumberFormat::Float16: return "float16";
    case NumberFormat::Bfloat16: return "bfloat16";
    case NumberFormat::Fp8E4m3: return "FP8 E4M3";
    case NumberFormat::Fp8E5m2: return "FP8 E5M2";
    }
    return "";
}

const FloatFormat& formatOf(NumberFormat format) {
    static const FloatFormat e4m3 = floatFormatOf(fp8Of(NumberFormat::Fp8E4m3));
    static const FloatFormat e5m2 = floatFormatOf(fp8Of(NumberFormat::Fp8E5m2));
    switch (format) {
    case NumberFormat::Float16: return formatOf(DType::F16);
    case NumberFormat::Bfloat16: return formatOf(DType::BF16);
    case NumberFormat::Fp8E4m3: return e4m3;
    case NumberFormat::Fp8E5m2: return e5m2;
    default: return formatOf(DType::F32);
    }
}

StoredNumber stored(NumberFormat format, double x) {
    StoredNumber number{.format = format, .bits = bitsOf(format, x)};
    number.value = valueOf(format, number.bits);
    number.as = fateOf(format, x, number.value);
    if (number.as == Stored::Rounded || number.as == Stored::Subnormal)
        number.relativeError = std::fabs((static_cast<double>(number.value) - x) / x);
    if (!std::isfinite(number.value)) {
        number.spacing = std::numeric_limits<float>::quiet_NaN();
        return number;
    }
    const bool largest = std::fabs(static_cast<double>(number.value)) == formatOf(format).maxFinite;
    const float neighbour = valueOf(format, largest ? number.bits - 1 : number.bits + 1);
    number.spacing = std::fabs(neighbour - number.value);
    return number;
}

std::string bitsText(const StoredNumber& number) {
    const int width = widthOf(number.format);
    const int fraction = formatOf(number.format).significandBits - 1;
    std::string text;
    for (int bit = width - 1; bit >= 0; --bit) {
        text += (number.bits >> bit & 1U) != 0 ? '1' : '0';
        if (bit == width - 1 || bit == fraction) text += ' ';
    }
    return text;
}

} // namespace halfscope
