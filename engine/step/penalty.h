// Penalties on gradients, as nodes that can be differentiated again: the L2 norm of a loss's
// gradient, and how far a critic's slopes are from 1.
#pragma once

#include "engine/ops/builder.h"

#include <span>

namespace halfscope {

struct PenaltyTerms {
    NodeId scaledLoss = kNoNode;
    NodeId inverseScale = kNoNode; ///< F32, rank 0; kNoNode when the loss is not scaled
    std::span<const NodeId> parameters;
    double epsilon = 0; ///< added to the sum of squares
};

/// Emits sqrt(sum of squares of the unscaled gradients + epsilon), F32, rank 0. As in PyTorch's
/// recipe, the gradients are taken outside of autocast from the scaled loss, so that they do not
/// vanish in half precision, and the norm is taken under the builder's autocast policy.
NodeId emitGradientPenalty(Builder&, const PenaltyTerms&);

/// Emits the mean over rows of (|d output / d at| - 1)^2, F32, rank 0: the gradient penalty of
/// Gulrajani et al., "Improved Training of Wasserstein GANs" (2017). `at` is (rows, values),
/// `output` has a value for each row. Like emitGradientPenalty(), it takes the gradients of the
/// scaled output, outside of autocast, and unscales them.
NodeId emitSlopePenalty(Builder&, NodeId at, NodeId output, NodeId scale, NodeId inverseScale);

} // namespace halfscope
