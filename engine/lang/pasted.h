// What comes along when a text is copied from a page or a terminal, and is no part of it.
#pragma once

#include <string>
#include <string_view>

namespace halfscope::lang {

/// Returns the text with spaces in place of Python's prompts (">>>" and "...") and of lines that
/// begin with a fence of Markdown ("```"), so that every line and column stays where it was.
std::string withoutMarks(std::string_view text);
/// Returns the text with the usual line ends in place of those of a one-line editor.
std::string withLineEnds(std::string text);

} // namespace halfscope::lang
