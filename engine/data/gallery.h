// Pictures with classes, side by side in one picture: the samples themselves, and which of them a
// network takes for another class.
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
/// 64, and fewer where they are large. A sample that cannot be read is left black. Null where
/// samples are no pictures (1 or 3 channels) with classes.
std::shared_ptr<const Gallery> galleryOf(const Dataset&);

/// The samples with the numbers of their classes. Where no scales are known, the lowest value of
/// all is black and the highest white. The caption tells what the numbers mean, where `names` are
/// not just them: "0 T-shirt/top, 1 Trouser".
Picture galleryWithClasses(const Gallery&, std::span<const std::string> names);
/// A sample that was taken for another class, by (rows, classes) scores, has a frame and that
/// class's number; one that has no class a frame alone. The caption is "58/64": how many were
/// right.
Picture galleryWithMistakes(const Gallery&, std::span<const float> scores);

} // namespace halfscope
