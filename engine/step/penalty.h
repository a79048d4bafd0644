// The gradient penalty: the L2 norm of a loss's gradient, as nodes that can be differentiated
// again.
#pragma once

#include "engine/ops/builder.h"

#include <span>

namespace halfscope {

struct PenaltyTerms {
    NodeId scaledLoss = kNoNode;
    NodeId inverseScale = kNoNode; ///< F32, rank 0; kNoNode: the loss is not scaled
    std::span<const NodeId> parameters;
    double epsilon = 0; ///< added to the sum of squares
};

/// sqrt(sum of squares of the unscaled gradients + epsilon), F32, rank 0. As in PyTorch's recipe
/// the gradients are taken outside of autocast from the scaled loss, so that they do not vanish in
/// half precision, and the norm is taken under the builder's autocast policy.
NodeId emitGradientPenalty(Builder&, const PenaltyTerms&);

} // namespace halfscope
