// Letters as bits, for pictures that have words in them.
#pragma once

#include <cstdint>

namespace halfscope {

inline constexpr int kLetterWidth = 5, kLetterHeight = 12;

/// Whether there are bits for it: from space to ~.
constexpr bool isLetter(char c) { return c >= ' ' && c <= '~'; }
/// Returns the pixels of a letter. The highest of the 60 bits is the upper left pixel; each row has
/// five.
uint64_t letterBits(char letter);

} // namespace halfscope
