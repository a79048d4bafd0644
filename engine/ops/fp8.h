// Rounds tensors to FP8 in the graph.
#pragma once

#include "engine/ops/builder.h"

namespace halfscope {

/// Returns x rounded to the format, with a scale for the whole tensor. Its gradient is that of x:
/// rounding counts as the identity ("straight through"). x must be F32, F16 or BF16.
NodeId fp8Rounded(Builder&, NodeId x, Fp8Format, Fp8Scaling);

/// Returns x itself, with a gradient that is rounded to the format.
NodeId withFp8Gradient(Builder&, NodeId x, Fp8Format, Fp8Scaling);

} // namespace halfscope
