// Small text helpers for messages and files: numbers that round-trip and never follow a locale, the
// nearest known word, one-line quoting. Leaves files and fields to others.
#pragma once

#include "engine/core/message.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// Returns the shortest text that reads back as the same value: "0.001", "65536", "1e-08", "nan",
/// "inf".
std::string numberText(double);
std::string numberText(float);
std::string numberText(int64_t);

/// Returns a number of bytes for people, with three digits, or four below the next unit: "512 B",
/// "97.7 MiB", "1023 KiB", "4096 GiB".
std::string sizeText(size_t bytes);

/// Returns a user's text for use in a message: escaped, in quotation marks, and cut to its first
/// kMostQuoted characters, see escape.h.
std::string quotedText(std::string_view);
/// Returns a path or a key for use in a message: without quotation marks; a long one keeps both
/// ends.
std::string pathText(std::string_view);

/// Returns a text as it is, as one word of a command line for a shell.
std::string shellWord(std::string_view);
/// Does the same with a path as pathText() returns it.
std::string shellText(std::string_view path);

/// Removes the byte order mark with which some programs begin a file of UTF-8.
std::string_view withoutByteOrderMark(std::string_view);

/// Removes the spaces and tabs at both ends.
std::string_view trimmed(std::string_view);

/// Returns the text without line breaks, tabs and other control characters of ASCII: a space stands
/// for those that follow one another, and none at the ends.
std::string onOneLine(std::string_view);

/// Returns the text with the letters A to Z as a to z; all other bytes stay.
std::string lowerCase(std::string);

/// Returns the parts between separators, empty ones too: one more than there are separators.
std::vector<std::string_view> partsOf(std::string_view text, char separator);

/// Returns whether the text is UTF-8 without overlong forms, surrogates and control characters,
/// those of C1 too, so that it fits into JSON and into one line.
bool isPlainText(std::string_view);

/// Returns the number of edits (insert, remove or replace a character, swap two neighbours) from a
/// typed word to a known one; case does not count. A word that only lacks its end ("amp" for
/// "amp-fp16") counts as one edit.
size_t editDistance(std::string_view word, std::string_view known);
/// Returns the candidate with the fewest edits, the first of equals; empty without candidates.
std::string nearestOf(std::string_view word, std::span<const std::string> candidates);
/// Returns whether a typed word can be a misspelling of a known one: at most one edit, and one more
/// for every four characters.
bool isNear(std::string_view word, std::string_view known);
inline constexpr Phrase kNearest = phrase("Engine", "; the nearest one is %1");
inline constexpr Phrase kNearestKnown = phrase("Engine", "; the nearest known one is %1");
/// Returns the end of a message about an unknown word: "; the nearest one is X" (the phrase, with X
/// for %1) when one is near, otherwise "; there are: X, Y", because a wrong suggestion would
/// mislead.
Message nearestHint(std::string_view word, std::span<const std::string> candidates,
                    Phrase nearest = kNearest);

} // namespace halfscope
