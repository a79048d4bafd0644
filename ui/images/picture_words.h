// What pictures of classes mean, in words for the line below them.
#pragma once

#include <QString>

#include <cstdint>
#include <optional>

namespace halfscope {

enum class WordsFor : uint8_t { MuchRoom, LittleRoom };

/// What samples in place of tables show.
enum class SamplesShow : uint8_t {
    Mistakes, ///< which of them are taken for another class
    Writing,  ///< a text that each lane writes, and predictions below it
};

/// Tells which samples a table of classes counts, and how it is read. `validated`: see
/// LanePictures.
QString tableWords(std::optional<int64_t> validated, WordsFor);
/// Tells how samples are read that are shown in place of tables.
QString samplesWords(SamplesShow, WordsFor);

} // namespace halfscope
