// The limits of fp16, as powers of two.
#pragma once

namespace halfscope {

// Values below half of the smallest subnormal round to zero, values below 2^-14 lose digits, and
// values that round to 2^16 become infinite (the largest value is 65504).
inline constexpr int kHalfZero = -25, kHalfNormal = -14, kHalfInfinite = 16;

} // namespace halfscope
