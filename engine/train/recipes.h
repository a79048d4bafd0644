// The recipes of PyTorch's notes on automatic mixed precision as experiments that run.
#pragma once

#include "engine/train/fields.h"

namespace halfscope {

/// Presets "recipe-plain", "recipe-clip", ...: one for each recipe, on a small regression.
std::vector<Preset> recipePresets();

} // namespace halfscope
