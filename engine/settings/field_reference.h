// The reference of settings in the manual, written from the table of settings.
#pragma once

#include <string>

namespace halfscope {

/// Returns the reference as Markdown: a heading for each setting, what it does, its range and what
/// it is in PyTorch, narrow enough for the help window.
std::string fieldReference();

} // namespace halfscope
