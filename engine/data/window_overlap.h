// Finds out whether samples are overlapping windows of a series, of which those that are held back
// by chance would be known from their neighbours to train on.
#pragma once

#include "engine/core/message.h"

#include <cstdint>
#include <functional>
#include <span>

namespace halfscope {

/// Returns how many of the samples behind a sample share values with it: 9 for windows of 10 values
/// that begin one value after the other, and 3 for columns with the values of the three days
/// before; 0 when the first samples are no such windows. `read` puts the values of a sample.
int64_t overlapOf(int64_t samples, int64_t values,
                  const std::function<void(int64_t sample, std::span<float> values)>& read);

/// A sentence for samples of this overlap that chance holds back.
Message overlapNote(int64_t overlap);
/// Whether a note is such a one.
bool tellsOverlap(const Message& note);

} // namespace halfscope
