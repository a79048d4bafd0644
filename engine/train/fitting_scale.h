// Which loss scale a skipped step would have gone through with. Looks for the power of two by
// trials and leaves it to the trainer to run them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace halfscope {

/// What is known of the loss scales at which a step would not have overflowed.
struct FittingScale {
    enum class Known : uint8_t {
        Nothing, ///< nobody has tried
        Largest, ///< `largest` fits, and twice as much does not
        None     ///< the step overflows at every scale
    };
    Known known = Known::Nothing;
    float largest = 0; ///< a power of two

    bool operator==(const FittingScale&) const = default;
};

/// 2^-126: a smaller scale would be subnormal in float32, and below 2^-128 its inverse is inf.
inline constexpr int kLeastExponent = -126;

/// Whether the step overflows at this scale. Nothing when it was stopped midway.
using ScaleTrial = std::function<std::optional<bool>(float scale)>;

/// The largest power of two below `scale`, at which the step overflowed, that fits. Each of its
/// answers was tried: the scale that fits, and the one above unless that is `scale` or more. With a
/// guess that is right, two trials; else about twice as many as the distance has binary digits.
/// `guess`: what the step before this one gave. Nothing when a trial was stopped.
std::optional<FittingScale> fittingScale(float scale, const FittingScale& guess,
                                         const ScaleTrial& overflows);

} // namespace halfscope
