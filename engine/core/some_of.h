// Names in a sentence.
#pragma once

#include "engine/core/message.h"

#include <span>
#include <string>

namespace halfscope {

/// Returns the names with commas between them; of many, the first few and how many more: "a, b and
/// 12 more".
Message someOf(std::span<const std::string> names);

} // namespace halfscope
