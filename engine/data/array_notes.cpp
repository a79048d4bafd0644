// Goes through all values, as numbers.
#include "engine/data/array_notes.h"

#include "engine/core/cancel.h"
#include "engine/data/target_scale.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <vector>

namespace halfscope {

namespace {

/// Whether each row has a single 1, and else zeros.
bool isOneHot(const Array& y) {
    const int64_t samples = y.info.shape[0], each = y.info.elements() / samples;
    for (int64_t sample = 0; sample < samples; ++sample) {
        int64_t ones = 0;
        for (int64_t i = sample * each; i < (sample + 1) * each; ++i) {
            if (y.at(i) != 0 && y.at(i) != 1) return false;
            ones += y.at(i) == 1;
        }
        if (ones != 1) return false;
    }
    return true;
}

/// Returns how many different whole numbers there are, where they may well be classes that are not
/// numbered from 0 as whole numbers; else 0.
size_t otherClasses(const Array& y) {
    constexpr size_t kLeast = 2, kMost = 20, kLeastOfEach = 5;
    const int64_t samples = y.info.shape[0];
    std::set<double> seen;
    for (int64_t i = 0; i < samples && seen.size() <= kMost; ++i) {
        if (y.at(i) != std::trunc(y.at(i))) return 0; // also for nan
        seen.insert(y.at(i));
    }
    if (isWhole(y.info.type) && *seen.begin() >= 0) return 0;
    const bool fits = seen.size() >= kLeast && seen.size() <= kMost &&
                      static_cast<size_t>(samples) >= kLeastOfEach * seen.size();
    return fits ? seen.size() : 0;
}

} // namespace

Extremes extremesOf(const Array& array) {
    Extremes found;
    if (isWhole(array.info.type) && bytesOf(array.info.type) == 1) return found; // up to 255
    const int64_t samples = array.info.shape[0], each = array.info.elements() / samples;
    std::vector<float> values(static_cast<size_t>(each));
    for (int64_t sample = 0; sample < samples; ++sample) {
        checkCancelled();
        array.toFloats(sample * each, values);
        int64_t odd = 0;
        for (const float x : values)
            if (std::isfinite(x))
                found.largest = std::max(found.largest, std::abs(x));
            else
                ++odd;
        if (odd > 0 && found.notFinite == 0) found.firstSample = sample;
        found.notFinite += odd;
    }
    return found;
}

std::optional<Message> bytesNote(const Array& x) {
    constexpr int64_t kLeast = 100; // of the highest one; masks and small counts stay below it
    if (x.info.type != ElementType::U8) return std::nullopt;
    constexpr size_t kBlock = size_t{1} << 22; // some milliseconds
    std::byte most{};
    for (std::span<const std::byte> rest = x.bytes; !rest.empty();) {
        checkCancelled();
        const auto block = rest.first(std::min(kBlock, rest.size()));
        most = std::max(most, *std::ranges::max_element(block));
        rest = rest.subspan(block.size());
    }
    const auto highest = std::to_integer<int64_t>(most);
    if (highest < kLeast) return std::nullopt;
    if (x.info.shape.size() <= 2) // ages, tokens and the like, or pictures in rows
        return Message(phrase("Data", "The values of x are bytes that reach %1, which networks "
                                      "learn badly as they are: %2. If they stand for words or "
                                      "other tokens, a network that begins with nn.Embedding(%3, "
                                      "...) takes them as such."),
                       highest, Message(kSetToTrue, "data.standardise_x"), highest + 1);
    return Message(phrase("Data", "The values of x are bytes that reach %1, which networks learn "
                                  "badly as they are: divide them by 255, or %2."),
                   highest, Message(kSetToTrue, "data.standardise_x"));
}

std::optional<Message> otherClassesNote(const Array& y) {
    if (y.info.elements() > y.info.shape[0]) {
        if (y.info.shape.size() != 2 || !isOneHot(y)) return std::nullopt;
        return phrase("Data",
                      "Each row of y has a single 1 among zeros, as classes in one-hot form "
                      "have. y.argmax(1) makes the numbers of classes of them, which the "
                      "loss cross-entropy takes.");
    }
    const size_t classes = otherClasses(y);
    if (classes == 0) return std::nullopt;
    return Message(phrase("Data", "y has %1 different whole numbers, which are learnt as numbers. "
                                  "If they are classes, numpy.unique(y, return_inverse=True)[1] "
                                  "numbers them from 0."),
                   classes);
}

} // namespace halfscope
