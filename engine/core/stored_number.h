// What a storage format makes of one number, for showing it to people: its bits, the value that
// they stand for, and what was lost. The conversions themselves are in dtype.h.
#pragma once

#include "engine/core/dtype.h"

#include <string>

namespace halfscope {

/// What became of a number when it was stored.
enum class Stored : uint8_t {
    Exact,
    Rounded,
    Subnormal, ///< rounded to fewer significant bits than the format has for larger numbers
    Zero,      ///< it was not zero, but too small
    Infinite,  ///< it was finite, but too large
    NotFinite, ///< it was inf or nan before
};

struct StoredNumber {
    DType type = DType::F32;
    Stored as = Stored::Exact;
    float value = 0;   ///< as it is read back
    uint32_t bits = 0; ///< in the lowest bytesOf(type)
    /// The distance to the neighbour that is farther from zero or, of the largest number, nearer;
    /// nan for inf and nan.
    float spacing = 0;
    double relativeError = 0; ///< |value - x| / |x|; 0 unless Rounded or Subnormal
};

/// Stores a number with one rounding, to nearest even. The type is F32, F16 or BF16.
StoredNumber stored(DType, double x);

/// Returns the bits in three groups: sign, exponent, fraction; "0 01111 1000000000" is 1.5.
std::string bitsText(const StoredNumber&);

} // namespace halfscope
