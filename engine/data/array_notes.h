// What may be odd about the values of an array.
#pragma once

#include "engine/core/message.h"
#include "engine/io/array.h"

#include <cstdint>
#include <optional>

namespace halfscope {

/// Of which array, how many, and in which sample.
inline constexpr Phrase kNotFiniteValues =
    phrase("Data", "Values of %1 that are inf or nan as float32: %2, the first in sample %3 "
                   "(counted from 0). The loss of each batch with such a sample is not finite.");

/// What training may not survive.
struct Extremes {
    int64_t notFinite = 0;   ///< how many are inf or nan as float32
    int64_t firstSample = 0; ///< the first sample with one of them
    float largest = 0;       ///< of the finite ones, without their signs
};
Extremes extremesOf(const Array&); ///< Cancellable.

/// Tells of inputs that are bytes, 0 to 255, from which networks learn badly: those of pictures, or
/// in rows. Cancellable.
std::optional<Message> bytesNote(const Array& x);

/// Tells of targets that seem to be classes but are learnt as numbers: by the choice of the loss,
/// for a single label that is far from the others, or in a form that cross-entropy does not take.
std::optional<Message> otherClassesNote(const Array& y);

} // namespace halfscope
