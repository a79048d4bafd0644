// Storage types of tensors and the correctly rounded conversions between them. Holds DType, its
// properties, and scalar and block conversions. Leaves arithmetic to the ops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace halfscope {

/// How a tensor is stored. F64 holds small exact states (loss scaler, counters) and the reference
/// evaluator's values; I32 holds indices (arithmetic on them and comparisons run in f32, exact up
/// to 2^24); Bool holds masks, one byte each.
enum class DType : uint8_t { F32, F16, BF16, F64, I32, Bool };
inline constexpr int kDTypeCount = 6;

/// Properties of a binary floating-point storage format.
struct FloatFormat {
    int significandBits; ///< including the hidden bit: 24, 11, 8, 53
    double maxFinite;    ///< 65504 for F16
    double minNormal;    ///< 2^-14 for F16
    double minSubnormal; ///< 2^-24 for F16
    /// Half the spacing at 1: the relative error of one rounding to nearest.
    double unitRoundoff() const;
};

size_t bytesOf(DType);          ///< bytes of one element
std::string_view nameOf(DType); ///< "float32", "float16", "bfloat16", "float64", "int32", "bool"
std::optional<DType> dtypeNamed(std::string_view name); ///< the inverse of nameOf
bool isFloat(DType);                                    ///< F32, F16, BF16 or F64
bool isLow(DType);                                      ///< F16 or BF16
/// Returns whether every value of `from` is a value of `to`, so that a cast to it loses nothing.
bool holdsAll(DType to, DType from);
const FloatFormat& formatOf(DType); ///< the type must be a float

/// Rounds to nearest even, with gradual underflow; too large values become inf; NaN stays NaN. From
/// double there is no double rounding: the result is the nearest half (bfloat16) value.
uint16_t halfFromFloat(float);
uint16_t halfFromDouble(double);
float floatFromHalf(uint16_t);
uint16_t bfloat16FromFloat(float);
uint16_t bfloat16FromDouble(double);
float floatFromBfloat16(uint16_t);

/// Returns the value of x after one store to and load from `type` (Bool: x != 0; I32: towards
/// zero).
float roundTo(DType type, float x);
double roundTo(DType type, double x);

/// Converts n elements of storage type `type` at `from` to float, and back with one rounding.
/// Vectorised (F16C, AVX-512) when the machine has it; the bits are the same everywhere, except NaN
/// payloads.
void loadAsFloat(DType type, const void* from, float* to, size_t n);
void storeFromFloat(DType type, const float* from, void* to, size_t n);
/// Rounds in place: to[i] = roundTo(type, to[i]), without a trip through storage.
void roundInPlace(DType type, float* values, size_t n);

} // namespace halfscope
