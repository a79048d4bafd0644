// Finds the preset whose network a file of weights fits.
#pragma once

#include "engine/settings/fields.h"
#include "engine/train/state_dict.h"

#include <optional>

namespace halfscope {

struct FittingPreset {
    std::string name; ///< "mnist-mlp"
    StateDictFit fit;
};

/// Returns the first preset whose network the file fits as a whole: one of the same names, or else
/// one of other names. Reads data that come with the program, and a folder that has been
/// downloaded for a preset, so call it where files may be read. Can be cancelled. Throws InputError
/// for a file that is no state dict, as stateDictFit() does.
std::optional<FittingPreset> fittingPreset(const std::string& path);

} // namespace halfscope
