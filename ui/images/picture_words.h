// Says what pictures of classes mean, in words for the line below them.
#pragma once

#include <QString>

#include <cstdint>
#include <optional>

namespace halfscope {

enum class WordsFor : uint8_t { MuchRoom, LittleRoom };

/// What samples show when they stand in place of tables.
enum class SamplesShow : uint8_t {
    Mistakes, ///< which of them are taken for another class
    Writing,  ///< a text that each lane writes, and predictions below it
};

/// Tells which samples a table of classes counts, and how to read it. `validated`: see
/// LanePictures.
QString tableWords(std::optional<int64_t> validated, WordsFor);
/// Tells how to read the samples that are shown in place of tables.
QString samplesWords(SamplesShow, WordsFor);

} // namespace halfscope
