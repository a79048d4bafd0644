// Small text helpers for messages and files: numbers that round-trip and never follow a locale, the
// nearest known word, one-line quoting. Leaves files and fields to others.
#pragma once

#include "engine/core/message.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// The shortest text that reads back as the same value: "0.001", "65536", "1e-08", "nan", "inf".
std::string numberText(double);
std::string numberText(float);
std::string numberText(int64_t);

/// A user's text inside a message: in quotation marks, escaped, and of a long one the first
/// kMostQuoted characters, see escape.h.
std::string quotedText(std::string_view);
/// A path or a key inside a message: without quotation marks; of a long one both ends.
std::string pathText(std::string_view);

/// Without the byte order mark that some programs begin a file of UTF-8 with.
std::string_view withoutByteOrderMark(std::string_view);

/// Without the spaces and tabs at both ends.
std::string_view trimmed(std::string_view);

/// With the letters A to Z as a to z; all other bytes stay.
std::string lowerCase(std::string);

/// What stands between separators: one part more than there are of them, empty ones too.
std::vector<std::string_view> partsOf(std::string_view text, char separator);

/// UTF-8 without overlong forms, surrogates and control characters, those of C1 too, so that it
/// fits into JSON and into one line.
bool isPlainText(std::string_view);

/// Edits (insert, remove, replace a character) from a typed word to a known one; case does not
/// count. A word that only lacks its end ("amp" for "amp-fp16") counts as one edit.
size_t editDistance(std::string_view word, std::string_view known);
/// The candidate with the fewest edits, the first of equals; empty without candidates.
std::string nearestOf(std::string_view word, std::span<const std::string> candidates);
/// Whether a typed word can be a misspelling of a known one: one edit, and one more for every four
/// characters.
bool isNear(std::string_view word, std::string_view known);
inline constexpr Phrase kNearest = phrase("Engine", "; the nearest one is %1");
inline constexpr Phrase kNearestKnown = phrase("Engine", "; the nearest known one is %1");
/// The end of a message about an unknown word: "; the nearest one is X" (the phrase, with X for %1)
/// where one is near, else "; there are: X, Y". A suggestion that was not meant would mislead.
Message nearestHint(std::string_view word, std::span<const std::string> candidates,
                    Phrase nearest = kNearest);

} // namespace halfscope
