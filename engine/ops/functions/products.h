// Products of matrices, convolutions, and functions made of them: attention and recurrent cells.
#pragma once

#include "engine/ops/builder.h"

#include <array>
#include <span>
#include <string_view>

namespace halfscope::fn {

/// torch.matmul for ranks 1 to kMaxRank, with broadcast batch axes.
NodeId matmul(Builder&, NodeId a, NodeId b);
/// When a linear layer rounds: once, after the bias, or before it, too, as PyTorch does where the
/// input is not contiguous (Linear.cpp).
enum class BiasRounding : uint8_t { Once, Twice };
/// x (.., in) times weight (out, in) transposed, plus bias (out) or kNoNode. Under a policy with
/// FP8 it always rounds before the bias, too.
NodeId linear(Builder&, NodeId x, NodeId weight, NodeId bias,
              BiasRounding rounding = BiasRounding::Once);

// Inputs of mm, bmm, mv, dot and the like must have one dtype, unless autocast makes it so.
NodeId mm(Builder&, NodeId a, NodeId c);      ///< (m, k) (k, n)
NodeId bmm(Builder&, NodeId a, NodeId c);     ///< (t, m, k) (t, k, n)
NodeId mv(Builder&, NodeId matrix, NodeId x); ///< (m, k) (k)
NodeId dot(Builder&, NodeId a, NodeId c);     ///< (k) (k)
// The next four round x and the product together, once.
NodeId addmm(Builder&, NodeId x, NodeId a, NodeId c);   ///< x + a c
NodeId addmv(Builder&, NodeId x, NodeId a, NodeId c);   ///< x + a c, x and c vectors
NodeId baddbmm(Builder&, NodeId x, NodeId a, NodeId c); ///< x[t] + a[t] c[t]
/// x + the sum of a[t] c[t], which rounds after each of them.
NodeId addbmm(Builder&, NodeId x, NodeId a, NodeId c);
NodeId chainMatmul(Builder&, std::span<const NodeId> in);
/// Sums over the last `axes` axes of a and the first of c.
NodeId tensordot(Builder&, NodeId a, NodeId c, int axes);
/// Takes two operands and lower-case labels, without repeats or ellipsis: "bij,jk->bik".
NodeId einsum(Builder&, std::string_view equation, NodeId a, NodeId c);
/// y[n, o] = a[n, i] weight[o, i, j] c[n, j] + bias[o]; bias may be kNoNode.
NodeId bilinear(Builder&, NodeId a, NodeId c, NodeId weight, NodeId bias);
NodeId cross(Builder&, NodeId a, NodeId c, int axis); ///< an axis of 3

// Convolutions round their products before they add the bias, and the sum again, unless the policy
// says that they round once (CastPolicy::biasBeforeRounding).
/// x (n, c, h, w), weight (out, c / groups, kh, kw), bias (out) or kNoNode.
NodeId conv2d(Builder&, NodeId x, NodeId weight, NodeId bias, const ConvAttrs& attrs);
/// conv2d with a kernel of 1x1 as a matrix product: x (pixels, c), weight (out, c, 1, 1), result
/// (pixels, out). Autocast treats it as conv2d.
NodeId pointwiseConv2d(Builder&, NodeId x, NodeId weight, NodeId bias);
/// ConvAttrs along one axis.
struct Conv1dAttrs {
    int64_t stride = 1, padding = 0, dilation = 1, groups = 1;
};
/// x (n, c, l), weight (out, c / groups, k).
NodeId conv1d(Builder&, NodeId x, NodeId weight, NodeId bias, const Conv1dAttrs&);
/// x (n, c, d, h, w), weight (out, c, kd, kh, kw); stride 1, no padding.
NodeId conv3d(Builder&, NodeId x, NodeId weight, NodeId bias);
/// x (n, c, h, w), weight (c, out / groups, kh, kw); the result is the smallest image that fits,
/// plus `more` rows and columns.
NodeId convTranspose2d(Builder&, NodeId x, NodeId weight, NodeId bias, const ConvAttrs&,
                       std::array<int64_t, 2> more = {0, 0});
/// x (n, c, l), weight (c, out / groups, k); likewise.
NodeId convTranspose1d(Builder&, NodeId x, NodeId weight, NodeId bias, const Conv1dAttrs&,
                       int64_t more = 0);

/// softmax(query key^T / sqrt(d)) value over the last two axes (.., length, d).
NodeId scaledDotProductAttention(Builder&, NodeId query, NodeId key, NodeId value);
/// Dropout of the weights that the softmax gives, with the arguments of dropout(); p 0 for none.
struct AttentionDropout {
    double p = 0;
    NodeId counter = kNoNode;
    uint64_t seed = 0;
};
/// Which keys a query sees: all, or only those up to its own position (PyTorch's is_causal).
enum class AttentionMask : uint8_t { None, Causal };
/// No query sees the keys where `hidden`, Bool (samples, keys), is true: PyTorch's
/// key_padding_mask. A query that sees no key gets zeros.
NodeId scaledDotProductAttention(Builder&, NodeId query, NodeId key, NodeId value,
                                 const AttentionDropout&, AttentionMask = AttentionMask::None,
                                 NodeId hidden = kNoNode);
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

} // namespace halfscope::fn
