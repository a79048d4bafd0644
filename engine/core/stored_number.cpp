// Takes a stored number apart.
#include "engine/core/stored_number.h"

#include "engine/core/error.h"

#include <bit>
#include <cmath>
#include <limits>

namespace halfscope {

namespace {

uint32_t bitsOf(DType type, double x) {
    switch (type) {
    case DType::F16: return halfFromDouble(x);
    case DType::BF16: return bfloat16FromDouble(x);
    default:
        require(type == DType::F32, "stored number: no format for tensors");
        return std::bit_cast<uint32_t>(static_cast<float>(x));
    }
}

float valueOf(DType type, uint32_t bits) {
    switch (type) {
    case DType::F16: return floatFromHalf(static_cast<uint16_t>(bits));
    case DType::BF16: return floatFromBfloat16(static_cast<uint16_t>(bits));
    default: return std::bit_cast<float>(bits);
    }
}

Stored fateOf(DType type, double x, float value) {
    if (!std::isfinite(x)) return Stored::NotFinite;
    if (std::isinf(value)) return Stored::Infinite;
    if (static_cast<double>(value) == x) return Stored::Exact;
    if (value == 0) return Stored::Zero;
    return std::fabs(static_cast<double>(value)) < formatOf(type).minNormal ? Stored::Subnormal
                                                                            : Stored::Rounded;
}

} // namespace

StoredNumber stored(DType type, double x) {
    StoredNumber number{.type = type, .bits = bitsOf(type, x)};
    number.value = valueOf(type, number.bits);
    number.as = fateOf(type, x, number.value);
    if (number.as == Stored::Rounded || number.as == Stored::Subnormal)
        number.relativeError = std::fabs((static_cast<double>(number.value) - x) / x);
    if (!std::isfinite(number.value)) {
        number.spacing = std::numeric_limits<float>::quiet_NaN();
        return number;
    }
    const bool largest = std::fabs(static_cast<double>(number.value)) == formatOf(type).maxFinite;
    const float neighbour = valueOf(type, largest ? number.bits - 1 : number.bits + 1);
    number.spacing = std::fabs(neighbour - number.value);
    return number;
}

std::string bitsText(const StoredNumber& number) {
    const int width = static_cast<int>(8 * bytesOf(number.type));
    const int fraction = formatOf(number.type).significandBits - 1;
    std::string text;
    for (int bit = width - 1; bit >= 0; --bit) {
        text += (number.bits >> bit & 1U) != 0 ? '1' : '0';
        if (bit == width - 1 || bit == fraction) text += ' ';
    }
    return text;
}

} // namespace halfscope
