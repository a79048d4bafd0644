// Finds the loss scale at which a skipped step would not have overflowed: searches the powers of
// two by trials and leaves it to the trainer to run them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace halfscope {

/// What is known of the loss scales at which a step would not have overflowed.
struct FittingScale {
    enum class Known : uint8_t {
        Nothing, ///< no scale was tried
        Largest, ///< `largest` fits, and twice as much does not
        None     ///< the step overflows at every scale
    };
    Known known = Known::Nothing;
    float largest = 0; ///< a power of two
    /// It was tried with the weights that the other one of two optimizers, which did not skip the
    /// step, has set since.
    bool othersChanged = false;

    bool operator==(const FittingScale&) const = default;
};

/// 2^-126: a smaller scale would be subnormal in float32, and below 2^-128 its inverse is inf.
inline constexpr int kLeastExponent = -126;

/// Returns whether the step overflows at this scale; nothing when it was stopped midway.
using ScaleTrial = std::function<std::optional<bool>(float scale)>;

/// Returns the largest power of two below `scale` that fits; at `scale` the step overflowed. Both
/// parts of the answer were tried: the scale that fits, and the next one, unless that is `scale` or
/// more. Takes two trials when the guess is right, otherwise about twice as many as the distance
/// has binary digits. `guess` is the answer for the step before this one. Returns nothing when a
/// trial was stopped.
std::optional<FittingScale> fittingScale(float scale, const FittingScale& guess,
                                         const ScaleTrial& overflows);

} // namespace halfscope
