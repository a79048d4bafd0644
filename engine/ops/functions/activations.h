// Activation functions that are not ops of their own, the softmax family, random numbers and
// dropout.
#pragma once

#include "engine/ops/builder.h"

namespace halfscope::fn {

NodeId leakyRelu(Builder&, NodeId x, double slope = 0.01);
NodeId elu(Builder&, NodeId x, double alpha = 1);
NodeId selu(Builder&, NodeId x);
NodeId celu(Builder&, NodeId x, double alpha = 1); ///< alpha must not be 0
/// log(1 + e^(beta x)) / beta, and x where beta x is above the threshold.
NodeId softplus(Builder&, NodeId x, double beta, double threshold);
NodeId mish(Builder&, NodeId x); ///< x tanh(softplus(x))
NodeId hardtanh(Builder&, NodeId x, double low = -1, double high = 1);
NodeId hardswish(Builder&, NodeId x);   ///< x clamp(x + 3, 0, 6) / 6
NodeId hardsigmoid(Builder&, NodeId x); ///< clamp(x + 3, 0, 6) / 6
/// Returns 0 for -bound <= x <= bound; outside, hardshrink() returns x itself, and softshrink() x
/// moved towards 0 by bound.
NodeId hardshrink(Builder&, NodeId x, double bound = 0.5);
NodeId softshrink(Builder&, NodeId x, double bound = 0.5);
/// Returns `value` for x <= bound, and x otherwise.
NodeId threshold(Builder&, NodeId x, double bound, double value);
NodeId logSigmoid(Builder&, NodeId x);
/// Two and three functions of their own, each of which rounds: x - tanh(x) and x / (|x| + 1).
NodeId tanhshrink(Builder&, NodeId x);
NodeId softsign(Builder&, NodeId x);
/// Multiplies the first half of the axis by the sigmoid of the second.
NodeId glu(Builder&, NodeId x, int axis);
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

/// Does the same with whole channels of x (n, c, ..), in x's dtype.
NodeId channelDropout(Builder&, NodeId x, double p, NodeId counter, uint64_t seed);
/// Sets elements to -1.758.., where SELU ends, with probability p, and keeps mean and variance of
/// the rest by a factor and a shift.
NodeId alphaDropout(Builder&, NodeId x, double p, NodeId counter, uint64_t seed);
/// Does the same with whole channels of x (n, c, ..).
NodeId featureAlphaDropout(Builder&, NodeId x, double p, NodeId counter, uint64_t seed);
/// Multiplies each number that is not above 0 by a slope of its own, drawn between the bounds.
NodeId rrelu(Builder&, NodeId x, double low, double high, NodeId counter, uint64_t seed);

NodeId softmax(Builder&, NodeId x, int axis);
NodeId logSoftmax(Builder&, NodeId x, int axis);
NodeId softmin(Builder&, NodeId x, int axis);
NodeId logsumexp(Builder&, NodeId x, int axis); ///< the axis is removed

} // namespace halfscope::fn
