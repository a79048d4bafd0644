// Samples with classes in one picture, and which of them a network takes for another class:
// pictures side by side, or of a text what follows.
#pragma once

#include "engine/data/dataset.h"
#include "engine/io/picture.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// Samples that are shown, as a network sees them.
struct Gallery {
    Batch samples;
    std::vector<ChannelScale> scales{}; ///< see Dataset::channelScales()
};

/// Samples spread evenly over the split to validate on, or where it has none, to train on; at most
/// 64, and fewer where they are large. Samples that cannot be read are left out. Of a text, as many
/// consecutive ones as fit on a sheet. Null where samples are neither pictures (1 or 3 channels)
/// with classes nor characters.
std::shared_ptr<const Gallery> galleryOf(const Dataset&);

/// The samples with the numbers of their classes, or the characters that follow. Where no scales
/// are known, the lowest value of all is black and the highest white. The caption tells what the
/// numbers mean, where `names` are not just them: "0 T-shirt/top, 1 Trouser".
Picture galleryWithClasses(const Gallery&, std::span<const std::string> names);
/// By (rows, classes) scores: a sample that was taken for another class has a frame and that
/// class's number; one without a highest score has only a frame. Of a text, the characters that the
/// network expects, on orange where they are wrong. The caption is "58/64": how many were right.
Picture galleryWithMistakes(const Gallery&, std::span<const float> scores,
                            std::span<const std::string> names);

} // namespace halfscope
