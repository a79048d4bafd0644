// Makes text from files and command lines fit to be shown: one line without control characters or
// characters that change the direction of writing, in valid UTF-8, and no longer than a reader
// needs.
#pragma once

#include <string>
#include <string_view>

namespace halfscope {

/// The most characters that a message repeats of its input.
inline constexpr size_t kMostQuoted = 200;
/// The most characters of a whole message, and of one argument that it shows.
inline constexpr size_t kMostMessage = 2000;

/// Returns the length in bytes of the UTF-8 sequence at the front; 0 when there is none. Overlong
/// forms and surrogates do not count.
size_t sequenceLength(std::string_view);

/// Returns the text with control characters (those of C1 too), line separators and direction
/// controls as "\n" or "\u202e", and bytes that are not UTF-8 as "\xff". Of a text that takes more
/// than `most` characters so, it returns as many, with "..." behind them.
std::string escapedText(std::string_view, size_t most = kMostQuoted);
/// Does the same, but keeps both the start and the end of a longer text, with "..." between them:
/// a message's reason and a path's name stand at the end. At most `most` characters in all, so that
/// doing it again changes nothing.
std::string escapedEnds(std::string_view, size_t most = kMostQuoted);

/// Returns a message's text: escapedEnds() of at most kMostMessage characters.
std::string messageText(std::string_view);

} // namespace halfscope
