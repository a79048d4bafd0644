// Clipping of unscaled gradients, as torch.nn.utils.clip_grad_norm_ and clip_grad_value_ do it.
#pragma once

#include "engine/train/optimizer.h"

#include <span>

namespace halfscope {

/// Replaces the gradients (F32) of one optimizer by the clipped ones. Returns their norm over all
/// tensors before, L2 or largest magnitude, and kNoNode where the kind has none. A norm that is not
/// finite spoils every gradient: the scaler skips such a step, and without a scaler PyTorch's
/// weights are spoilt as well.
NodeId clipGradients(Builder&, ClipKind, double limit, std::span<ParameterGradient>);

} // namespace halfscope
