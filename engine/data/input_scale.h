// What users should know of inputs that are not standardised.
#pragma once

#include "engine/core/message.h"
#include "engine/data/standardiser.h"

#include <optional>
#include <string>
#include <vector>

namespace halfscope {

/// Returns a sentence that names the inputs of which float32 rounds too much away, and the setting
/// that standardises them; nothing when there are none. Each spread has a name.
std::optional<Message> roundedInputsNote(const Standardiser&, const std::vector<std::string>& names,
                                         const char* setting);

} // namespace halfscope
