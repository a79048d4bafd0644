// The ops as users of PyTorch know them: each asks the autocast policy, promotes dtypes,
// broadcasts, and emits strict nodes. Composites (norms, softmax, losses) run with autocast off
// inside, as the wrapped kernels do in PyTorch. Axes may be negative.
#pragma once

#include "engine/ops/cast_inputs.h"

namespace halfscope::fn {

// elementwise: promoted to the wider dtype and broadcast
NodeId add(Builder&, NodeId a, NodeId b);
NodeId sub(Builder&, NodeId a, NodeId b);
NodeId mul(Builder&, NodeId a, NodeId b);
NodeId div(Builder&, NodeId a, NodeId b);
NodeId maximum(Builder&, NodeId a, NodeId b);
NodeId minimum(Builder&, NodeId a, NodeId b);
NodeId pow(Builder&, NodeId a, NodeId b);
/// Not an overload of pow: an int exponent would be taken for a node.
NodeId powScalar(Builder&, NodeId a, double exponent);
NodeId where(Builder&, NodeId condition, NodeId a, NodeId b);
enum class Comparison : uint8_t { Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual };
NodeId compare(Builder&, Comparison, NodeId a, NodeId b); ///< Bool, no gradient
/// Any elementwise op of one input but Clamp and Cast: Neg, Exp, ... IsFinite, LogicalNot.
NodeId unary(Builder&, Op, NodeId x);
NodeId clamp(Builder&, NodeId x, double low, double high);

// contractions
/// torch.matmul for ranks 1 to kMaxRank, with broadcast batch axes.
NodeId matmul(Builder&, NodeId a, NodeId b);
/// x (.., in) times weight (out, in) transposed, plus bias (out) or kNoNode.
NodeId linear(Builder&, NodeId x, NodeId weight, NodeId bias);
/// x (n, c, h, w), weight (out, c, kh, kw), bias (out) or kNoNode.
NodeId conv2d(Builder&, NodeId x, NodeId weight, NodeId bias, const ConvAttrs& attrs);

// reductions; an empty list of axes means all
enum class KeepAxes : uint8_t { No, Yes };
NodeId sum(Builder&, NodeId x, Shape axes, KeepAxes keep = KeepAxes::No);
NodeId mean(Builder&, NodeId x, Shape axes, KeepAxes keep = KeepAxes::No);
NodeId amax(Builder&, NodeId x, Shape axes, KeepAxes keep = KeepAxes::No);
NodeId amin(Builder&, NodeId x, Shape axes, KeepAxes keep = KeepAxes::No);

// pooling, NCHW
NodeId maxPool2d(Builder&, NodeId x, const PoolAttrs& attrs);
NodeId avgPool2d(Builder&, NodeId x, const PoolAttrs& attrs);

// norms and softmax
struct BatchNormResult {
    NodeId y = kNoNode;
    NodeId mean = kNoNode;             ///< batch mean, (c), F32
    NodeId unbiasedVariance = kNoNode; ///< batch variance times n/(n-1), (c), F32
};
/// Normalises over all axes but `channelAxis` with the batch's statistics, which accumulate in F32
/// and are two-pass; y has x's dtype. weight and bias are (c), F32, or kNoNode.
BatchNormResult batchNorm(Builder&, NodeId x, NodeId weight, NodeId bias, int channelAxis,
                          double eps);
/// The same with given statistics (c), for evaluation.
NodeId batchNormWith(Builder&, NodeId x, NodeId weight, NodeId bias, NodeId mean, NodeId variance,
                     int channelAxis, double eps);
/// Over the last axis.
NodeId layerNorm(Builder&, NodeId x, NodeId weight, NodeId bias, double eps);
NodeId softmax(Builder&, NodeId x, int axis);
NodeId logSoftmax(Builder&, NodeId x, int axis);
NodeId logsumexp(Builder&, NodeId x, int axis); ///< the axis is removed

// losses, mean over all elements, rank 0
NodeId mseLoss(Builder&, NodeId input, NodeId target);
/// logits (n, classes), labels (n) as I32.
NodeId crossEntropy(Builder&, NodeId logits, NodeId labels);
NodeId bceWithLogits(Builder&, NodeId logits, NodeId target);
/// Banned under CUDA policies: throws InputError that names binary_cross_entropy_with_logits.
NodeId bce(Builder&, NodeId probability, NodeId target);

} // namespace halfscope::fn
