// Clipping of unscaled gradients, as torch.nn.utils.clip_grad_norm_ and clip_grad_value_ do it.
#pragma once

#include "engine/step/optimizer.h"

#include <span>

namespace halfscope {

/// Replaces the gradients (F32) of one optimizer by the clipped ones. Returns their norm over all
/// tensors before clipping (L2 or largest magnitude), or kNoNode when the kind has none. As in
/// PyTorch, a norm of inf makes finite elements 0 and infinite ones nan, and a norm of nan makes
/// all elements nan: the scaler skips such a step; without a scaler the weights are spoilt.
NodeId clipGradients(Builder&, ClipKind, double limit, std::span<ParameterGradient>);

} // namespace halfscope
