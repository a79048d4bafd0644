// Weights that were split into several safetensors files, as Hugging Face saves large networks:
// model-00001-of-00002.safetensors and so on, with model.safetensors.index.json beside them.
#pragma once

#include "engine/core/message.h"

#include <optional>
#include <string>

namespace halfscope {

/// Whether a file is the list of such parts, by its name.
bool isListOfParts(const std::string& path);

/// Returns what is said of a file that is, by its name, one of several parts or their list, with
/// the command that joins them; nothing for any other file. A part may be all that is wanted.
std::optional<Message> splitFileRefusal(const std::string& path);

} // namespace halfscope
