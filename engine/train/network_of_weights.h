// The network that a file of weights was saved from, as far as the file tells: the one that its
// metadata name, as Halfscope's own files do, or a stack of nn.Linear.
#pragma once

#include "engine/train/state_dict.h"

#include <optional>
#include <string>

namespace halfscope {

struct NetworkOfWeights {
    std::string layers; ///< for model.layers
    /// The values before and behind each layer of a stack, "784-128-10", whose activations the file
    /// does not tell: ReLU is assumed. Empty for a network that the file names.
    std::string sizes{};
    StateDictFit fit{}; ///< how the weights fit it: as a whole
};

/// Returns a network that takes all weights of the file and can be trained on the data of the
/// settings; nothing where there is none. Reads these data, so call it where files may be read.
/// Throws InputError for a file that is no state dict.
std::optional<NetworkOfWeights> networkOfWeights(const std::string& path, const RunConfig&);

} // namespace halfscope
