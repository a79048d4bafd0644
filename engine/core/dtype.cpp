// Properties of the storage types and their scalar conversions, in integers so that every compiler
// and flag gives the same bits. Leaves the vector instructions to dtype_blocks.cpp.
#include "engine/core/dtype.h"

#include "engine/core/dtype_blocks.h"
#include "engine/core/error.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace halfscope {
namespace {

struct DTypeRow {
    std::string_view name;
    size_t bytes;
};
constexpr std::array<DTypeRow, kDTypeCount> kRows{
    {{"float32", 4}, {"float16", 2}, {"bfloat16", 2}, {"float64", 8}, {"int32", 4}, {"bool", 1}}};

constexpr FloatFormat kFormatF32{24, 0x1.fffffep127, 0x1p-126, 0x1p-149};
constexpr FloatFormat kFormatF16{11, 65504.0, 0x1p-14, 0x1p-24};
constexpr FloatFormat kFormatBF16{8, 0x1.fep127, 0x1p-126, 0x1p-133};
constexpr FloatFormat kFormatF64{53, std::numeric_limits<double>::max(), 0x1p-1022, 0x1p-1074};

// Rounds a double to the nearest value of a 16-bit format with `SignificandBits` (hidden bit
// included), ties to even. The double is m * 2^(exponent - 52) with an integer m below 2^53;
// subnormal doubles are far below half the smallest number of either format.
template <int SignificandBits>
uint16_t narrowed(double x) {
    constexpr int kStoredBits = SignificandBits - 1;
    constexpr int kBias = (1 << (15 - kStoredBits - 1)) - 1;
    constexpr uint64_t kInfinity = ((uint64_t{1} << (15 - kStoredBits)) - 1) << kStoredBits;
    const auto bits = std::bit_cast<uint64_t>(x);
    const uint64_t sign = (bits >> 63) << 15;
    const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
    const int exponent = static_cast<int>((bits >> 52) & 0x7FF) - 1023;
    if (exponent == 1024) {
        // NaN keeps the top of its payload and becomes quiet, as the conversion instructions do.
        const uint64_t quiet =
            (fraction >> (52 - kStoredBits)) | (uint64_t{1} << (kStoredBits - 1));
        return static_cast<uint16_t>(sign | kInfinity | (fraction != 0 ? quiet : 0));
    }
    if (exponent > kBias) return static_cast<uint16_t>(sign | kInfinity);

    const bool normal = exponent >= 1 - kBias;
    const int dropped = 53 - SignificandBits + (normal ? 0 : 1 - kBias - exponent);
    if (dropped > 53) return static_cast<uint16_t>(sign); // below half the smallest subnormal
    const uint64_t significand = fraction | (uint64_t{1} << 52);
    const uint64_t rest = significand & ((uint64_t{1} << dropped) - 1);
    const uint64_t half = uint64_t{1} << (dropped - 1);
    uint64_t kept = significand >> dropped;
    kept += (rest > half || (rest == half && (kept & 1) != 0)) ? 1 : 0;
    // The hidden bit adds one to the exponent field, and so does a carry out of the significand:
    // this reaches infinity, and goes from the largest subnormal to the smallest normal number.
    const uint64_t field = normal ? static_cast<uint64_t>(exponent + kBias - 1) << kStoredBits : 0;
    return static_cast<uint16_t>(sign | (field + kept));
}

// Saturates, and turns NaN into 0, as a GPU's conversion instruction does.
int32_t integerFrom(double x) {
    if (std::isnan(x)) return 0;
    if (x >= 2147483647.0) return std::numeric_limits<int32_t>::max();
    if (x <= -2147483648.0) return std::numeric_limits<int32_t>::min();
    return static_cast<int32_t>(x);
}

template <class Stored>
Stored elementAt(const void* from, size_t i) {
    Stored value;
    std::memcpy(&value, static_cast<const std::byte*>(from) + i * sizeof(Stored), sizeof(Stored));
    return value;
}
template <class Stored>
void putElement(void* to, size_t i, Stored value) {
    std::memcpy(static_cast<std::byte*>(to) + i * sizeof(Stored), &value, sizeof(Stored));
}

} // namespace

double FloatFormat::unitRoundoff() const { return std::ldexp(1.0, -significandBits); }

size_t bytesOf(DType type) { return kRows[static_cast<size_t>(type)].bytes; }

std::string_view nameOf(DType type) { return kRows[static_cast<size_t>(type)].name; }

std::optional<DType> dtypeNamed(std::string_view name) {
    for (size_t i = 0; i < kRows.size(); ++i)
        if (kRows[i].name == name) return static_cast<DType>(i);
    return std::nullopt;
}

bool isFloat(DType type) { return isLow(type) || type == DType::F32 || type == DType::F64; }

bool isLow(DType type) { return type == DType::F16 || type == DType::BF16; }

bool holdsAll(DType to, DType from) {
    if (to == from || from == DType::Bool) return true;
    if (from == DType::I32) return to == DType::F64;
    if (isLow(from)) return to == DType::F32 || to == DType::F64;
    return from == DType::F32 && to == DType::F64;
}

const FloatFormat& formatOf(DType type) {
    switch (type) {
    case DType::F32: return kFormatF32;
    case DType::F16: return kFormatF16;
    case DType::BF16: return kFormatBF16;
    case DType::F64: return kFormatF64;
    case DType::I32:
    case DType::Bool: break;
    }
    failInvariant("no float format: " + std::string(nameOf(type)));
}

// Every float is a double, so rounding once from double rounds once from float.
uint16_t halfFromFloat(float x) { return narrowed<11>(static_cast<double>(x)); }
uint16_t halfFromDouble(double x) { return narrowed<11>(x); }
uint16_t bfloat16FromFloat(float x) { return narrowed<8>(static_cast<double>(x)); }
uint16_t bfloat16FromDouble(double x) { return narrowed<8>(x); }

float floatFromHalf(uint16_t half) {
    const uint32_t sign = (uint32_t{half} & 0x8000U) << 16;
    const uint32_t exponent = (uint32_t{half} >> 10) & 0x1FU;
    const uint32_t fraction = uint32_t{half} & 0x3FFU;
    if (exponent == 0) { // zero or subnormal: a multiple of 2^-24
        const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
        return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
    }
    if (exponent == 0x1F) {
        const uint32_t quiet = fraction != 0 ? 0x400000U : 0U;
        return std::bit_cast<float>(sign | 0x7F800000U | quiet | (fraction << 13));
    }
    return std::bit_cast<float>(sign | ((exponent + 112U) << 23) | (fraction << 13));
}

float floatFromBfloat16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

float roundTo(DType type, float x) {
    switch (type) {
    case DType::F32:
    case DType::F64: return x;
    case DType::F16: return floatFromHalf(halfFromFloat(x));
    case DType::BF16: return floatFromBfloat16(bfloat16FromFloat(x));
    case DType::I32: return static_cast<float>(integerFrom(static_cast<double>(x)));
    case DType::Bool: return x != 0.0F ? 1.0F : 0.0F;
    }
    failInvariant("roundTo: not a dtype");
}

double roundTo(DType type, double x) {
    switch (type) {
    case DType::F32: return static_cast<double>(static_cast<float>(x));
    case DType::F64: return x;
    case DType::F16: return static_cast<double>(floatFromHalf(halfFromDouble(x)));
    case DType::BF16: return static_cast<double>(floatFromBfloat16(bfloat16FromDouble(x)));
    case DType::I32: return static_cast<double>(integerFrom(x));
    case DType::Bool: return x != 0.0 ? 1.0 : 0.0;
    }
    failInvariant("roundTo: not a dtype");
}

void loadAsFloat(DType type, const void* from, float* to, size_t n) {
    if (n == 0) return; // an empty tensor may have no address
    switch (type) {
    case DType::F32: std::memcpy(to, from, n * sizeof(float)); return;
    case DType::F16: blockKernels().loadHalf(from, to, n); return;
    case DType::BF16: blockKernels().loadBfloat16(from, to, n); return;
    case DType::F64:
        for (size_t i = 0; i < n; ++i)
            to[i] = static_cast<float>(elementAt<double>(from, i));
        return;
    case DType::I32:
        for (size_t i = 0; i < n; ++i)
            to[i] = static_cast<float>(elementAt<int32_t>(from, i));
        return;
    case DType::Bool:
        for (size_t i = 0; i < n; ++i)
            to[i] = elementAt<uint8_t>(from, i) != 0 ? 1.0F : 0.0F;
        return;
    }
    failInvariant("loadAsFloat: not a dtype");
}

void storeFromFloat(DType type, const float* from, void* to, size_t n) {
    if (n == 0) return;
    switch (type) {
    case DType::F32: std::memcpy(to, from, n * sizeof(float)); return;
    case DType::F16: blockKernels().storeHalf(from, to, n); return;
    case DType::BF16: blockKernels().storeBfloat16(from, to, n); return;
    case DType::F64:
        for (size_t i = 0; i < n; ++i)
            putElement(to, i, static_cast<double>(from[i]));
        return;
    case DType::I32:
        for (size_t i = 0; i < n; ++i)
            putElement(to, i, integerFrom(static_cast<double>(from[i])));
        return;
    case DType::Bool:
        for (size_t i = 0; i < n; ++i)
            putElement(to, i, static_cast<uint8_t>(from[i] != 0.0F ? 1 : 0));
        return;
    }
    failInvariant("storeFromFloat: not a dtype");
}

void roundInPlace(DType type, float* values, size_t n) {
    switch (type) {
    case DType::F32:
    case DType::F64: return;
    case DType::F16: blockKernels().roundHalf(values, n); return;
    case DType::BF16: blockKernels().roundBfloat16(values, n); return;
    case DType::I32:
    case DType::Bool:
        for (size_t i = 0; i < n; ++i)
            values[i] = roundTo(type, values[i]);
        return;
    }
    failInvariant("roundInPlace: not a dtype");
}

} // namespace halfscope
