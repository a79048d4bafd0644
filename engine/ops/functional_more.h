// More functions as users of PyTorch know them: the rest of the recorded autocast tables. The rules
// are those of functional.h: autocast first, then promotion and broadcasting; what computes in
// several steps does so in F32 and rounds once.
#pragma once

#include "engine/ops/functional.h"

namespace halfscope::fn {

// ---- pointwise ---------------------------------------------------------------------------------
NodeId square(Builder&, NodeId x);
NodeId rpow(Builder&, double base, NodeId exponent); ///< base^exponent
NodeId frac(Builder&, NodeId x);                     ///< x - trunc(x)
NodeId atan2(Builder&, NodeId y, NodeId x);
NodeId leakyRelu(Builder&, NodeId x, double slope = 0.01);
NodeId elu(Builder&, NodeId x, double alpha = 1);
NodeId hardtanh(Builder&, NodeId x, double low = -1, double high = 1);
/// weight: one slope, or one for each channel (axis 1).
NodeId prelu(Builder&, NodeId x, NodeId weight);
NodeId addcmul(Builder&, NodeId x, NodeId a, NodeId c, double value = 1); ///< x + value a c
NodeId addcdiv(Builder&, NodeId x, NodeId a, NodeId c, double value = 1); ///< x + value a / c
/// start + weight (end - start); both must have one dtype.
NodeId lerp(Builder&, NodeId start, NodeId end, double weight);
/// x times 0 with probability p, else x / (1 - p). The mask comes from Philox by the counter (rank
/// 0, a state that counts steps) and a stream number of this node alone, so two calls never share
/// one, and gradients of any order see the mask of their forward.
NodeId dropout(Builder&, NodeId x, double p, NodeId counter, uint64_t seed);

// ---- matrices ----------------------------------------------------------------------------------
// Inputs of mm, bmm, mv, dot and their kin must have one dtype, unless autocast makes it so.
NodeId mm(Builder&, NodeId a, NodeId c);                ///< (m, k) (k, n)
NodeId bmm(Builder&, NodeId a, NodeId c);               ///< (t, m, k) (t, k, n)
NodeId mv(Builder&, NodeId matrix, NodeId x);           ///< (m, k) (k)
NodeId dot(Builder&, NodeId a, NodeId c);               ///< (k) (k)
NodeId addmm(Builder&, NodeId x, NodeId a, NodeId c);   ///< x + a c
NodeId addmv(Builder&, NodeId x, NodeId a, NodeId c);   ///< x + a c, x and c vectors
NodeId addbmm(Builder&, NodeId x, NodeId a, NodeId c);  ///< x + the sum of a[t] c[t]
NodeId baddbmm(Builder&, NodeId x, NodeId a, NodeId c); ///< x[t] + a[t] c[t]
NodeId chainMatmul(Builder&, std::span<const NodeId> in);
/// Sums over the last `axes` of a and the first of c.
NodeId tensordot(Builder&, NodeId a, NodeId c, int axes);
/// Two operands, lower-case labels, no repeats and no ellipsis: "bij,jk->bik".
NodeId einsum(Builder&, std::string_view equation, NodeId a, NodeId c);
/// y[n, o] = a[n, i] weight[o, i, j] c[n, j] + bias[o]; bias may be kNoNode.
NodeId bilinear(Builder&, NodeId a, NodeId c, NodeId weight, NodeId bias);
NodeId cross(Builder&, NodeId a, NodeId c, int axis); ///< an axis of 3
/// softmax(query key^T / sqrt(d)) value over the last two axes (.., length, d).
NodeId scaledDotProductAttention(Builder&, NodeId query, NodeId key, NodeId value);
/// x (n, c, l), weight (out, c, k).
NodeId conv1d(Builder&, NodeId x, NodeId weight, NodeId bias, int64_t stride, int64_t padding);
/// x (n, c, d, h, w), weight (out, c, kd, kh, kw); stride 1, no padding.
NodeId conv3d(Builder&, NodeId x, NodeId weight, NodeId bias);
/// x (n, c, h, w), weight (c, out, kh, kw); the result is the smallest image that fits, plus
/// `more` rows and columns.
NodeId convTranspose2d(Builder&, NodeId x, NodeId weight, NodeId bias, const ConvAttrs&,
                       std::array<int64_t, 2> more = {0, 0});
/// The weights of a recurrent cell: gates stacked as in PyTorch (GRU: reset, update, new; LSTM:
/// input, forget, cell, output), (gates h, in) and (gates h, h); biases may be kNoNode.
struct CellWeights {
    NodeId input = kNoNode, hidden = kNoNode, inputBias = kNoNode, hiddenBias = kNoNode;
};
NodeId gruCell(Builder&, NodeId x, NodeId h, const CellWeights&); ///< (n, in), (n, h)
struct LstmState {
    NodeId h = kNoNode, c = kNoNode;
};
LstmState lstmCell(Builder&, NodeId x, LstmState state, const CellWeights&);

// ---- reductions, norms and distances -----------------------------------------------------------
NodeId prod(Builder&, NodeId x, Shape axes, KeepAxes keep = KeepAxes::No);
NodeId cumsum(Builder&, NodeId x, int axis);
NodeId cumprod(Builder&, NodeId x, int axis);
/// Of the sum of squares; slope 0 at 0.
NodeId norm(Builder&, NodeId x, Shape axes, KeepAxes keep = KeepAxes::No);
/// Two-pass; divided by n - 1. InputError for fewer than 2 values, where PyTorch warns and gives
/// NaN.
NodeId var(Builder&, NodeId x, Shape axes, KeepAxes keep = KeepAxes::No);
NodeId stddev(Builder&, NodeId x, Shape axes, KeepAxes keep = KeepAxes::No);
NodeId softmin(Builder&, NodeId x, int axis);
/// x (n, c, ..); weight and bias (c) or kNoNode.
NodeId groupNorm(Builder&, NodeId x, int64_t groups, NodeId weight, NodeId bias, double eps);
NodeId instanceNorm(Builder&, NodeId x, NodeId weight, NodeId bias, double eps);
/// x over the larger of its norm along the axis and eps.
NodeId normalize(Builder&, NodeId x, int axis, double eps = 1e-12);
NodeId cosineSimilarity(Builder&, NodeId a, NodeId c, int axis, double eps = 1e-8);
NodeId dist(Builder&, NodeId a, NodeId c);  ///< norm of the difference
NodeId cdist(Builder&, NodeId a, NodeId c); ///< (m, d), (n, d) to (m, n)
NodeId pdist(Builder&, NodeId x);           ///< (n, d) to the n (n - 1) / 2 pairs; no 16-bit kernel
/// Slices along the axis with a norm above the limit are scaled down to it.
NodeId renorm(Builder&, NodeId x, int axis, double limit);

// ---- indices -----------------------------------------------------------------------------------
NodeId cat(Builder&, std::span<const NodeId> in, int axis);
NodeId stack(Builder&, std::span<const NodeId> in, int axis); ///< a new axis
/// x plus the values of src at the places that index (shape of src, I32) names along the axis.
NodeId scatterAdd(Builder&, NodeId x, int axis, NodeId index, NodeId src);
NodeId indexSelect(Builder&, NodeId x, int axis, NodeId index); ///< index (n), I32
/// x with rows index (n), I32, each at most once, replaced by those of values (n, ..).
NodeId indexPut(Builder&, NodeId x, NodeId index, NodeId values);

// ---- images ------------------------------------------------------------------------------------
NodeId adaptiveAvgPool2d(Builder&, NodeId x, std::array<int64_t, 2> size);
NodeId adaptiveMaxPool2d(Builder&, NodeId x, std::array<int64_t, 2> size);
/// x (n, c, h, w) read at grid (n, oh, ow, 2), x before y, -1 and 1 the outer edges: bilinear,
/// zeros outside (align_corners off).
NodeId gridSample(Builder&, NodeId x, NodeId grid);

// ---- losses, mean over all elements, rank 0 ----------------------------------------------------
NodeId l1Loss(Builder&, NodeId input, NodeId target);
NodeId smoothL1Loss(Builder&, NodeId input, NodeId target, double beta = 1);
NodeId huberLoss(Builder&, NodeId input, NodeId target, double delta = 1);
NodeId klDiv(Builder&, NodeId logInput, NodeId target);
NodeId softMarginLoss(Builder&, NodeId input, NodeId target); ///< targets -1 and 1
NodeId poissonNllLoss(Builder&, NodeId logRate, NodeId target);
NodeId nllLoss(Builder&, NodeId logProbability, NodeId labels); ///< (n, classes), (n) as I32
NodeId hingeEmbeddingLoss(Builder&, NodeId input, NodeId target, double margin = 1);
/// target (n) of -1 and 1; a and c (n, d).
NodeId cosineEmbeddingLoss(Builder&, NodeId a, NodeId c, NodeId target, double margin = 0);
NodeId marginRankingLoss(Builder&, NodeId a, NodeId c, NodeId target, double margin = 0);
NodeId tripletMarginLoss(Builder&, NodeId anchor, NodeId positive, NodeId negative,
                         double margin = 1);
NodeId multilabelSoftMarginLoss(Builder&, NodeId input, NodeId target); ///< (n, classes)

} // namespace halfscope::fn
