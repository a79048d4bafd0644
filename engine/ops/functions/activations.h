// Activation functions that are not ops of their own, the softmax family, random numbers and
// dropout.
#pragma once

#include "engine/ops/builder.h"

namespace halfscope::fn {

NodeId leakyRelu(Builder&, NodeId x, double slope = 0.01);
NodeId elu(Builder&, NodeId x, double alpha = 1);
NodeId hardtanh(Builder&, NodeId x, double low = -1, double high = 1);
NodeId hardswish(Builder&, NodeId x); ///< x clamp(x + 3, 0, 6) / 6
/// GELU by PyTorch's approximate='tanh': x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
NodeId geluTanh(Builder&, NodeId x);
/// weight is one slope, or one for each channel (axis 1).
NodeId prelu(Builder&, NodeId x, NodeId weight);
/// Returns numbers that are uniform in [0, 1), F32. They come from Philox by the counter (rank 0, a
/// state that counts steps) and a stream number of this node alone, so two calls never share one,
/// and gradients of any order see the numbers of their forward pass.
NodeId uniform(Builder&, const Shape&, NodeId counter, uint64_t seed);
/// Multiplies x by 0 with probability p, and otherwise by 1 / (1 - p); the mask is drawn as
/// uniform() draws.
NodeId dropout(Builder&, NodeId x, double p, NodeId counter, uint64_t seed);

NodeId softmax(Builder&, NodeId x, int axis);
NodeId logSoftmax(Builder&, NodeId x, int axis);
NodeId softmin(Builder&, NodeId x, int axis);
NodeId logsumexp(Builder&, NodeId x, int axis); ///< the axis is removed

} // namespace halfscope::fn
