// Normalisation layers: over a batch, a layer, groups of channels, or one image.
#pragma once

#include "engine/ops/builder.h"

#include <optional>

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
/// Divides by the root of the mean square over the last axis. Without eps, PyTorch adds the machine
/// epsilon of the dtype in which it computes.
NodeId rmsNorm(Builder&, NodeId x, NodeId weight, std::optional<double> eps);
/// Divides x (n, c, ..) by (k + alpha mean)^beta, where the mean is that of the squares of `size`
/// channels around each one, with zeros beyond the first and the last. Each part is a function of
/// its own, as in PyTorch.
struct ResponseShape {
    int64_t size = 1;
    double alpha = 1e-4, beta = 0.75, k = 1;
};
NodeId localResponseNorm(Builder&, NodeId x, const ResponseShape&);
/// x is (n, c, ..); weight and bias are (c) or kNoNode.
NodeId groupNorm(Builder&, NodeId x, int64_t groups, NodeId weight, NodeId bias, double eps);
NodeId instanceNorm(Builder&, NodeId x, NodeId weight, NodeId bias, double eps);
/// The means over the samples of what instanceNorm() takes from each of them, (c), F32.
struct InstanceStatistics {
    NodeId mean = kNoNode, unbiasedVariance = kNoNode;
};
InstanceStatistics instanceStatistics(Builder&, NodeId x);

} // namespace halfscope::fn
