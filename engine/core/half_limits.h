// The limits of fp16, as powers of two.
#pragma once

namespace halfscope {

// Less than half of the smallest subnormal rounds to zero, below 2^-14 digits are lost, and what
// rounds to 2^16 (the largest value is 65504) is infinite.
inline constexpr int kHalfZero = -25, kHalfNormal = -14, kHalfInfinite = 16;

} // namespace halfscope
