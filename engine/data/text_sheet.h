// Draws characters of a text as a picture: what a network expects to follow and what it writes.
#pragma once

#include "engine/io/picture.h"

#include <cstdint>
#include <span>
#include <string>

namespace halfscope {

inline constexpr int kTextColumns = 26, kTextRows = 11;
inline constexpr int kTextCharacters = kTextColumns * kTextRows;

/// Draws the first kTextCharacters of `shown`, which are indices in `names`, in rows; those that
/// differ from `right` stand on orange. ASCII letters are drawn, a line end is a hook; all others,
/// and indices beyond the names, are boxes.
Picture textSheet(std::span<const std::string> names, std::span<const int32_t> shown,
                  std::span<const int32_t> right);

inline constexpr int kWrittenCharacters = 5 * kTextColumns, kJudgedCharacters = 4 * kTextColumns;

/// What a lane writes and predicts, as indices into the names.
struct WrittenText {
    std::span<const int32_t> prompt;       ///< only the end of it is shown
    std::span<const int32_t> written;      ///< at most kWrittenCharacters, behind the prompt
    std::span<const int32_t> first;        ///< what lane A has written; as long as `written`
    std::span<const int32_t> shown, right; ///< at most kJudgedCharacters, as in textSheet()
};

/// Returns a picture as large as textSheet(). The first row holds the prompt, on grey. The written
/// text follows; where it differs from lane A's, it is underlined, on blue. `shown` stands below a
/// line, drawn as in textSheet().
Picture writtenSheet(std::span<const std::string> names, const WrittenText&);

/// A text and its class, or the one that is predicted for it.
struct ClassedText {
    std::string text, name;
    bool right = true;
    std::string truth{}; ///< its true class, to be shown beside a wrong one; may be empty
};
inline constexpr int kClassedTexts = 8, kLongestClass = 16;

/// Draws at most kClassedTexts texts, each in two rows; one that does not fit ends with three dots.
/// The name of the class ends the second row, on grey, or on orange where it is wrong, with the
/// true one on grey before it where that is to be shown. Texts that are so short that a class of
/// `longest` letters stands beside each of them take one row, in larger letters.
Picture classedSheet(std::span<const ClassedText>, size_t longest = kLongestClass);

} // namespace halfscope
