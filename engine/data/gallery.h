// Samples with classes in one picture, and which of them a network takes for another class:
// pictures side by side, or of a text what follows. Networks that predict every character of a text
// write one, too.
#pragma once

#include "engine/data/dataset.h"
#include "engine/io/picture.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// Samples that are shown, in the form in which a network sees them.
struct Gallery {
    Batch samples;
    std::vector<ChannelScale> scales{}; ///< see Dataset::channelScales()
    /// Where every character of a text is predicted: the sample in front of the others, and how the
    /// text goes on behind it. Else empty.
    std::vector<int32_t> prompt{}, continued{};
};

/// Samples spread evenly over the split to validate on, or where it has none, to train on; at most
/// 64, and fewer where they are large. Samples that cannot be read are left out. Of a text, as many
/// consecutive ones as fit on a sheet; where every character is predicted, a prompt and those
/// behind it. Null where samples are neither pictures (1 or 3 channels) with classes nor
/// characters.
std::shared_ptr<const Gallery> galleryOf(const Dataset&);

/// Draws the samples with the numbers of their classes, or the characters that follow. When no
/// scales are known, the lowest of all values is black and the highest white. The caption tells
/// what the numbers mean, unless `names` are just the numbers: "0 T-shirt/top, 1 Trouser".
Picture galleryWithClasses(const Gallery&, std::span<const std::string> names);
/// Draws the samples with the mistakes that (rows, classes) scores show. A sample that was taken
/// for another class has a frame and the number of that class; one without a highest score has only
/// a frame. For a text it draws the characters that the network expects, on orange where they are
/// wrong. The caption, such as "58/64", tells how many were right.
Picture galleryWithMistakes(const Gallery&, std::span<const float> scores,
                            std::span<const std::string> names);

/// Returns how many characters a lane writes behind the prompt of a gallery: kWrittenCharacters, or
/// fewer in whole rows where a network takes long because the prompt is longer than 64.
size_t writtenCharacters(const Gallery&);
/// Shows, for a gallery with a prompt, what a lane has written behind it, compared with what lane A
/// (`first`) has written, and below that the predictions by (rows, positions, classes) scores. The
/// caption is "58/104": how many of these were right. See writtenSheet().
Picture galleryWithText(const Gallery&, std::span<const float> scores,
                        std::span<const std::string> names, std::span<const int32_t> written,
                        std::span<const int32_t> first);

} // namespace halfscope
