// What comes along when a text is copied from a page or a terminal, and is no part of it.
#pragma once

#include <string>
#include <string_view>

namespace halfscope::lang {

/// Returns the text with spaces in place of Python's prompts (">>>" and "...") and of lines that
/// begin with a fence of Markdown ("```"), so that every line and column stays where it was.
std::string withoutMarks(std::string_view text);

} // namespace halfscope::lang
