// Shows samples with classes in one picture, and which of them a network takes for another class:
// pictures side by side, texts one below the other, or the characters that follow in a text. A
// network that predicts every character of a text also writes one. Also shows only those samples
// of a validation that networks take for another class.
#pragma once

#include "engine/data/dataset.h"
#include "engine/data/judged_samples.h"
#include "engine/io/picture.h"

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// Samples that are shown, in the form in which a network sees them.
struct Gallery {
    Batch samples;
    std::vector<ChannelScale> scales{}; ///< see Dataset::channelScales()
    /// When every character of a text is predicted: the sample before the others, and how the text
    /// goes on behind it. Empty otherwise.
    std::vector<int32_t> prompt{}, continued{};
    std::vector<std::string> texts{}; ///< the samples, when they are texts that have classes
};

/// Returns samples that are spread evenly over the validation split, or over the training split
/// when there is no other; at most 64, and fewer when they are large. Samples that cannot be read
/// are left out; of texts with classes, as many as fit on a sheet. For a text, returns as many
/// consecutive samples as fit on a sheet; when every character is predicted, a prompt and the
/// samples behind it. Returns null when samples are neither pictures (1 or 3 channels) with classes
/// nor characters. Classes may be sides, see Dataset::targetsAreSides().
std::shared_ptr<const Gallery> galleryOf(const Dataset&);

/// Draws the samples with the names of their classes beside them where all are short, else with the
/// numbers, or the characters that follow.
/// When no scales are known, the lowest of all values is black and the highest white. The caption
/// tells what the numbers mean, unless `names` are just the numbers: "0 T-shirt/top, 1 Trouser".
/// That of pictures ends with samplesCaption(), here and in what follows.
Picture galleryWithClasses(const Gallery&, std::span<const std::string> names);
/// Draws the samples with the mistakes that (rows, classes) scores, or the logits of sides, show. A
/// sample that was taken for another class has a frame and, beside it, the name or the number of
/// that class; one without a highest score has only a frame. For a text it draws the characters
/// that the network expects, on orange where they are wrong. The caption, such as "58/64", tells
/// how many were right.
Picture galleryWithMistakes(const Gallery&, std::span<const float> scores,
                            std::span<const std::string> names);

/// Returns how many samples mistakeSheets() draws at most; 0 where they are no pictures or texts
/// with a class each.
size_t mistakesShown(const Dataset&);
/// Draws, for each lane, the first validation samples that it took for another class: as many as a
/// gallery has, as many in a row for all lanes. Each picture has the class that it was taken for at
/// its left, on orange, and below that the true one; each text has the true one before the other.
/// The caption, such as "64/67", tells how many of how many are shown. Returns no pictures where
/// samples are no pictures or texts with a class each, or where none were judged. Reads the
/// samples anew whose values were not kept; returns nothing when `stop` turns true meanwhile.
std::optional<std::vector<Picture>> mistakeSheets(const Dataset&,
                                                  std::span<const JudgedSamples> lanes,
                                                  std::span<const std::string> names,
                                                  const std::atomic<bool>& stop);

/// Returns how many characters a lane writes behind the prompt of a gallery: kWrittenCharacters, or
/// a smaller number of whole rows when the prompt is longer than 64 characters and the network
/// takes long because of it.
size_t writtenCharacters(const Gallery&);
/// Shows what a lane has written behind the prompt of a gallery, compared with what lane A
/// (`first`) has written. Below that, shows the predictions from the scores (rows, positions,
/// classes). The caption, such as "58/104", says how many of the predictions were right. See
/// writtenSheet().
Picture galleryWithText(const Gallery&, std::span<const float> scores,
                        std::span<const std::string> names, std::span<const int32_t> written,
                        std::span<const int32_t> first);

} // namespace halfscope
