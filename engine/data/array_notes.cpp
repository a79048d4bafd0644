// Goes through all values, as numbers.
#include "engine/data/array_notes.h"

#include "engine/core/cancel.h"
#include "engine/data/target_scale.h"
#include "engine/data/targets.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
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

/// Whole numbers as targets, as far as they may be classes.
struct WholeTargets {
    std::map<double, int64_t> first; ///< each different one, and the first sample that has it
    double lastOnce = -1;            ///< the highest one, where a single sample has it
};

/// Returns nothing when some are no whole numbers, or when too many differ to be classes.
std::optional<WholeTargets> wholeTargets(const Array& y) {
    constexpr size_t kMost = 21;                 // a single wrong label beside 20 classes
    constexpr int64_t kBlock = int64_t{1} << 20; // some milliseconds
    const int64_t samples = y.info.shape[0];
    WholeTargets found;
    for (int64_t i = 0; i < samples; ++i) {
        if (i % kBlock == 0) checkCancelled();
        const double value = y.at(i);
        if (value != std::trunc(value)) return std::nullopt; // also for nan
        const bool isNew = found.first.try_emplace(value, i).second;
        if (found.first.size() > kMost) return std::nullopt;
        const double highest = found.first.rbegin()->first;
        if (value == highest) found.lastOnce = isNew ? value : -1;
    }
    return found;
}

/// Tells of classes from 0 on of which a single sample has a number far above the others, as a
/// wrong label has: it alone makes numbers of them all.
std::optional<Message> strayLabelNote(const WholeTargets& found, int64_t samples) {
    constexpr double kFar = 4; // times as many as the classes
    if (found.first.size() < 3 || found.lastOnce < 0 || found.first.begin()->first != 0)
        return std::nullopt;
    const double most = std::next(found.first.rbegin())->first;
    const auto classes = static_cast<int64_t>(found.first.size()) - 1;
    const bool without = most + 1 == static_cast<double>(classes);
    if (!without || !mayBeClasses(classes, samples - 1) || found.lastOnce < kFar * (most + 1))
        return std::nullopt;
    return Message(phrase("Data", "y: sample %1 (counted from 0) is %2, and all others are whole "
                                  "numbers from 0 to %3, which are learnt as numbers. If they are "
                                  "classes, correct that one and set task.loss to cross-entropy."),
                   found.first.rbegin()->second, found.lastOnce, classes - 1);
}

/// Whether the classes are numbered from 0 on beside a negative number, as programs mark samples
/// without a label: scikit-learn with -1, PyTorch's cross_entropy with -100.
bool marksUnlabelled(const WholeTargets& found) {
    const auto classes = static_cast<double>(found.first.size()) - 1;
    const double least = found.first.begin()->first, most = found.first.rbegin()->first;
    return (least == -1 || least == -100) && std::next(found.first.begin())->first == 0 &&
           most + 1 == classes;
}

/// Tells of numbers that may well be classes: from 0 on, or else not numbered as whole numbers.
std::optional<Message> likelyClassesNote(const Array& y) {
    const std::optional<WholeTargets> found = wholeTargets(y);
    if (!found) return std::nullopt;
    const int64_t samples = y.info.shape[0];
    const bool whole = isWhole(y.info.type);
    if (whole)
        if (auto note = strayLabelNote(*found, samples)) return note;
    const auto classes = static_cast<int64_t>(found->first.size());
    if (classes < 2 || !mayBeClasses(classes, samples)) return std::nullopt;
    const double least = found->first.begin()->first, most = found->first.rbegin()->first;
    if (least == 0 && most + 1 == static_cast<double>(classes))
        return Message(phrase("Data", "y has the whole numbers from 0 to %1, which are learnt as "
                                      "numbers. If they are classes, set task.loss to "
                                      "cross-entropy."),
                       classes - 1);
    if (whole && least >= 0) return std::nullopt;
    const Message numbered(phrase("Data", "y has %1 different whole numbers, which are learnt as "
                                          "numbers. If they are classes, numpy.unique(y, "
                                          "return_inverse=True)[1] numbers them from 0."),
                           classes);
    if (!marksUnlabelled(*found)) return numbered;
    if (y.info.shape.size() > 1) // a mask with more axes does not choose samples of x
        return Message(phrase("Data", "%1 If %2 marks samples without a label, leave those out "
                                      "before: y = y.ravel(); x, y = x[y != %2], y[y != %2]."),
                       numbered, least);
    return Message(phrase("Data", "%1 If %2 marks samples without a label, leave those out before: "
                                  "x, y = x[y != %2], y[y != %2]."),
                   numbered, least);
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
    return likelyClassesNote(y);
}

} // namespace halfscope
