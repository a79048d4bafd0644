// The values of all samples of a split, and what a data set tells of itself, for tests of data sets
// that compare them with lists.
#pragma once

#include "tests/support/all_samples.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

/// A namespace of its own: other tests, which are compiled together with these, call functions of
/// their own by these names.
namespace halfscope::split_values {

using Floats = std::vector<float>;

inline Floats inputsOf(const Dataset& data, Split split) {
    const Batch batch = allOf(data, split);
    const auto x = batch.floats(kX);
    return {x.begin(), x.end()};
}

inline Floats targetsOf(const Dataset& data, Split split) {
    const Batch batch = allOf(data, split);
    const auto y = batch.floats(kTarget);
    return {y.begin(), y.end()};
}

inline std::vector<int32_t> labelsOf(const Dataset& data, Split split) {
    const Batch batch = allOf(data, split);
    const auto y = batch.labels(kTarget);
    return {y.begin(), y.end()};
}

/// Whether one of the notes of the data set is this one, in English.
inline bool isTold(const Dataset& data, const std::string& note) {
    const std::vector<Message> notes = data.notes();
    return std::ranges::any_of(notes, [&](const Message& each) { return each.english() == note; });
}

} // namespace halfscope::split_values
