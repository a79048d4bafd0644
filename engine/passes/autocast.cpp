// The autocast lists of torch.amp as data, and the casts that they ask for. Emits casts only; which
// op asks is up to engine/ops/functional.h.
#include "engine/passes/autocast.h"

#include "engine/core/error.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace halfscope {
namespace {

using Names = std::initializer_list<const char*>;

// The lists follow aten/src/ATen/autocast_mode.h of PyTorch 2.11, under the names of its functions.
constexpr Names kLower = {"conv1d",
                          "conv2d",
                          "conv3d",
                          "conv_tbc",
                          "conv_transpose1d",
                          "conv_transpose2d",
                          "convolution",
                          "conv_transpose3d",
                          "prelu",
                          "addmm",
                          "addmv",
                          "addr",
                          "matmul",
                          "einsum",
                          "mm",
                          "mv",
                          "vecdot",
                          "linear",
                          "addbmm",
                          "baddbmm",
                          "bmm",
                          "chain_matmul",
                          "multi_dot",
                          "lstm_cell",
                          "gru_cell",
                          "rnn_tanh_cell",
                          "rnn_relu_cell",
                          "scaled_dot_product_attention"};

constexpr Names kFull = {
    // pointwise
    "acos", "asin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log2", "log1p", "reciprocal",
    "rsqrt", "sinh", "tan", "softplus", "pow",
    // norms and distances
    "layer_norm", "native_layer_norm", "group_norm", "frobenius_norm", "nuclear_norm",
    "cosine_similarity", "dist", "pdist", "cdist", "renorm", "logsumexp",
    // losses
    "poisson_nll_loss", "cosine_embedding_loss", "cross_entropy", "nll_loss", "nll_loss2d",
    "hinge_embedding_loss", "kl_div", "l1_loss", "smooth_l1_loss", "huber_loss", "mse_loss",
    "margin_ranking_loss", "multilabel_margin_loss", "soft_margin_loss", "triplet_margin_loss",
    "multi_margin_loss", "binary_cross_entropy_with_logits",
    // resize
    "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_linear1d",
    "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d"};

constexpr Names kFullBySet = {"prod", "softmax",     "log_softmax", "cumprod", "cumsum",
                              "sum",  "vector_norm", "matrix_norm", "norm"};

constexpr Names kWidest = {"addcdiv", "addcmul",     "atan2",     "bilinear",  "cross",      "dot",
                           "vdot",    "grid_sample", "index_put", "tensordot", "scatter_add"};

bool eligible(DType type) { return type == DType::F32 || isLow(type); }

/// The dtype of the wide one among the inputs, or of the policy; a foreign low dtype is refused.
DType widest(Builder& b, const CastPolicy& policy, std::string_view name,
             std::span<const NodeId> in) {
    DType target = policy.low;
    for (const NodeId x : in) {
        if (x == kNoNode) continue;
        const DType type = b.dtypeOf(x);
        if (isLow(type) && type != policy.low) {
            throw InputError(std::string(name) + ": an input of " + std::string(nameOf(type)) +
                             " under the policy " + policy.name + "; allowed are float32 and " +
                             std::string(nameOf(policy.low)));
        }
        if (type == DType::F32) target = DType::F32;
    }
    return target;
}

} // namespace

std::string_view nameOf(CastRule rule) {
    constexpr std::array<std::string_view, 6> kNames = {
        "follows its inputs", "lower precision", "float32",
        "float32 result",     "widest input",    "banned"};
    return kNames[static_cast<size_t>(rule)];
}

CastRule CastPolicy::ruleOf(std::string_view op) const {
    const auto found = rules.find(op);
    return found == rules.end() ? CastRule::Follow : found->second;
}

CastPolicy torchCudaPolicy(DType low) {
    require(isLow(low), "torchCudaPolicy: the low dtype must be float16 or bfloat16");
    CastPolicy policy;
    policy.name = "torch cuda " + std::string(nameOf(low));
    policy.low = low;
    const auto list = [&](Names names, CastRule rule) {
        for (const char* name : names)
            policy.rules.emplace(name, rule);
    };
    list(kLower, CastRule::Lower);
    list(kFull, CastRule::Full);
    list(kFullBySet, CastRule::FullBySet);
    list(kWidest, CastRule::Widest);
    list({"binary_cross_entropy"}, CastRule::Banned);
    return policy;
}

std::vector<NodeId> castInputs(Builder& b, std::string_view name, std::span<const NodeId> in) {
    std::vector<NodeId> out(in.begin(), in.end());
    if (b.policy() == nullptr) return out;
    const CastPolicy& policy = *b.policy();
    const CastRule rule = policy.ruleOf(name);
    DType target = DType::F32;
    size_t count = out.size();
    switch (rule) {
    case CastRule::Follow: return out;
    case CastRule::Banned:
        throw InputError(std::string(name) + ": unsafe under autocast (" + policy.name +
                         "); use binary_cross_entropy_with_logits, which takes the logits");
    case CastRule::Lower: target = policy.low; break;
    case CastRule::Full: break;
    case CastRule::FullBySet: count = std::min<size_t>(count, 1); break;
    case CastRule::Widest: target = widest(b, policy, name, in); break;
    }
    b.setRule(std::string(name) + ": " + std::string(nameOf(rule)) + " (" + policy.name + ")");
    for (size_t i = 0; i < count; ++i) {
        if (out[i] == kNoNode) continue;
        const DType type = b.dtypeOf(out[i]);
        if (eligible(type) && type != target) out[i] = b.cast(out[i], target);
    }
    b.setRule({});
    return out;
}

} // namespace halfscope
