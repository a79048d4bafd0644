// Makes text from files and command lines fit to be shown: one line without control characters,
// without what turns the direction of writing, in valid UTF-8, and not longer than a reader needs.
#pragma once

#include <string>
#include <string_view>

namespace halfscope {

/// Characters at most of what a message repeats of its input.
inline constexpr size_t kMostQuoted = 200;
/// Characters at most of a whole message, and of one argument that it shows.
inline constexpr size_t kMostMessage = 2000;

/// Bytes of the UTF-8 sequence at the front, which has no overlong form and is no surrogate; 0
/// where there is none.
size_t sequenceLength(std::string_view);

/// Control characters (those of C1 too), separators of lines, and controls of the direction of
/// writing as "\n" or "\u202e", bytes that are no UTF-8 as "\xff". At most so many characters of
/// the text: of a longer one the start, and "..." behind it.
std::string escapedText(std::string_view, size_t most = kMostQuoted);
/// The same; of a longer text the start and the end, with "..." between them: a message's reason
/// and a path's name stand at the end.
std::string escapedEnds(std::string_view, size_t most = kMostQuoted);

/// A message: escapedEnds() of at most kMostMessage characters.
std::string messageText(std::string_view);

} // namespace halfscope
