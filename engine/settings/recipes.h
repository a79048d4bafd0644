// The recipes of PyTorch's notes on automatic mixed precision as experiments that run: kinds of
// steps, clipping, learning-rate schedules and optimizers.
#pragma once

#include "engine/settings/fields.h"

namespace halfscope {

/// The pace in steps per second at which each recipe can be watched.
inline constexpr double kWatchedPace = 15;

/// Returns the presets "recipe-plain", "recipe-clip", "recipe-schedule-step", ...: one for each
/// recipe, on a small regression. Sources: PyTorch's notes "Automatic Mixed Precision examples",
/// and the documentation of torch.nn.utils.clip_grad_*, torch.optim and torch.optim.lr_scheduler.
std::vector<Preset> recipePresets();

} // namespace halfscope
