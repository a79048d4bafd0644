// Losses: mean over all elements, rank 0. They throw InputError for operands whose shapes or dtypes
// do not fit.
#pragma once

#include "engine/ops/builder.h"

namespace halfscope::fn {

NodeId mseLoss(Builder&, NodeId input, NodeId target);
/// Takes logits (n, classes) and labels (n) as I32. With label smoothing every class has its share
/// of each sample's target. With weights (classes) a label counts as much as its class weighs, and
/// the mean is divided by the weights of all labels.
NodeId crossEntropy(Builder&, NodeId logits, NodeId labels, double smoothing = 0,
                    NodeId weights = kNoNode);
NodeId bceWithLogits(Builder&, NodeId logits, NodeId target);
/// Banned under CUDA policies: throws an InputError that names binary_cross_entropy_with_logits.
NodeId bce(Builder&, NodeId probability, NodeId target);
NodeId l1Loss(Builder&, NodeId input, NodeId target);
NodeId smoothL1Loss(Builder&, NodeId input, NodeId target, double beta = 1);
NodeId huberLoss(Builder&, NodeId input, NodeId target, double delta = 1);
NodeId klDiv(Builder&, NodeId logInput, NodeId target);
NodeId softMarginLoss(Builder&, NodeId input, NodeId target); ///< targets -1 and 1
NodeId poissonNllLoss(Builder&, NodeId logRate, NodeId target);
NodeId nllLoss(Builder&, NodeId logProbability, NodeId labels); ///< (n, classes), (n) as I32
NodeId hingeEmbeddingLoss(Builder&, NodeId input, NodeId target, double margin = 1);
/// target is (n), of -1 and 1; a and c are (n, d).
NodeId cosineEmbeddingLoss(Builder&, NodeId a, NodeId c, NodeId target, double margin = 0);
NodeId marginRankingLoss(Builder&, NodeId a, NodeId c, NodeId target, double margin = 0);
NodeId tripletMarginLoss(Builder&, NodeId anchor, NodeId positive, NodeId negative,
                         double margin = 1);
NodeId multilabelSoftMarginLoss(Builder&, NodeId input, NodeId target); ///< (n, classes)

} // namespace halfscope::fn
