// What a storage format makes of one number, for showing it to people: its bits, the value that
// they stand for, and what was lost. The conversions themselves are in dtype.h.
#pragma once

#include "engine/core/dtype.h"

#include <string>

namespace halfscope {

/// The formats that are shown: those of tensors, and the two that FP8 rounds operands to.
enum class NumberFormat : uint8_t { Float32, Float16, Bfloat16, Fp8E4m3, Fp8E5m2 };

const char* nameOf(NumberFormat);          ///< "float32", "float16", "bfloat16", "FP8 E4M3", ...
const FloatFormat& formatOf(NumberFormat); ///< the facts of a format

/// What became of a number when it was stored.
enum class Stored : uint8_t {
    Exact,
    Rounded,
    Subnormal, ///< rounded to fewer significant bits than the format has for larger numbers
    Zero,      ///< it was not zero, but too small
    Infinite,  ///< it was finite, but too large
    Largest,   ///< it was too large, and the format keeps its largest number instead: FP8
    NotFinite, ///< it was inf or nan before
};

struct StoredNumber {
    NumberFormat format = NumberFormat::Float32;
    Stored as = Stored::Exact;
    float value = 0;   ///< as it is read back
    uint32_t bits = 0; ///< in the lowest bits, as many as the format has
    /// The distance to the neighbour that is farther from zero or, of the largest number, nearer;
    /// nan for inf and nan.
    float spacing = 0;
    double relativeError = 0; ///< |value - x| / |x|; 0 unless Rounded or Subnormal
};

/// Stores a number with one rounding, to nearest even. An FP8 number has no scale here.
StoredNumber stored(NumberFormat, double x);

/// Returns the bits in three groups: sign, exponent, fraction; "0 01111 1000000000" is 1.5.
std::string bitsText(const StoredNumber&);

} // namespace halfscope
