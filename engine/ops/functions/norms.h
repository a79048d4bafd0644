// Normalisation layers: over a batch, a layer, groups of channels, or one image.
#pragma once

#include "engine/ops/builder.h"

namespace halfscope::fn {

struct BatchNormResult {
    NodeId y = kNoNode;
    NodeId mean = kNoNode;             ///< batch mean, (c), F32
    NodeId unbiasedVariance = kNoNode; ///< batch variance times n/(n-1), (c), F32
};
/// Normalises over all axes but `channelAxis` with the batch's statistics, which accumulate in F32
/// and are two-pass; y has x's dtype. weight and bias are (c), F32, or kNoNode.
BatchNormResult batchNorm(Builder&, NodeId x, NodeId weight, NodeId bias, int channelAxis,
                          double eps);
/// Does the same with given statistics (c), for evaluation.
NodeId batchNormWith(Builder&, NodeId x, NodeId weight, NodeId bias, NodeId mean, NodeId variance,
                     int channelAxis, double eps);
/// Normalises over the last axis.
NodeId layerNorm(Builder&, NodeId x, NodeId weight, NodeId bias, double eps);
/// x is (n, c, ..); weight and bias are (c) or kNoNode.
NodeId groupNorm(Builder&, NodeId x, int64_t groups, NodeId weight, NodeId bias, double eps);
NodeId instanceNorm(Builder&, NodeId x, NodeId weight, NodeId bias, double eps);

} // namespace halfscope::fn
