// What each setting is called in PyTorch, for the reference of settings.
#pragma once

#include <string_view>

namespace halfscope {

/// Returns where PyTorch has the setting, as Markdown: "`lr` of the optimizer"; empty where it has
/// nothing like it.
std::string_view nameInPyTorch(std::string_view key);

} // namespace halfscope
