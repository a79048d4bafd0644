// The autocast lists of torch.amp and of NVIDIA Apex as data.
#include "engine/autocast/cast_policy.h"

#include "engine/core/error.h"

#include <array>
#include <initializer_list>

namespace halfscope {
namespace {

using Names = std::initializer_list<const char*>;

// The lists follow aten/src/ATen/autocast_mode.h of PyTorch 2.11, under the names of its functions;
// rms_norm is from that of 2.15.
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
    "layer_norm", "native_layer_norm", "rms_norm", "group_norm", "frobenius_norm", "nuclear_norm",
    "cosine_similarity", "dist", "pdist", "cdist", "renorm", "logsumexp",
    // losses
    "poisson_nll_loss", "cosine_embedding_loss", "nll_loss", "nll_loss2d", "hinge_embedding_loss",
    "kl_div", "l1_loss", "smooth_l1_loss", "huber_loss", "mse_loss", "margin_ranking_loss",
    "multilabel_margin_loss", "soft_margin_loss", "triplet_margin_loss", "multi_margin_loss",
    "binary_cross_entropy_with_logits",
    // resize
    "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_linear1d",
    "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d"};

constexpr Names kFullBySet = {"prod", "softmax",     "log_softmax", "cumprod", "cumsum",
                              "sum",  "vector_norm", "matrix_norm", "norm"};

constexpr Names kWidest = {"addcdiv", "addcmul",     "atan2",     "bilinear",  "cross",      "dot",
                           "vdot",    "grid_sample", "index_put", "tensordot", "scatter_add"};

// The CPU lists (same file): no transcendentals, norms or softmax, because their 16-bit kernels
// compute in float32 inside and count as safe; more losses, pools and resizes. float16 shares the
// lists.
constexpr Names kCpuLower = {"conv1d",
                             "conv2d",
                             "conv3d",
                             "conv_tbc",
                             "conv_transpose1d",
                             "conv_transpose2d",
                             "conv_transpose3d",
                             "bmm",
                             "mm",
                             "vecdot",
                             "baddbmm",
                             "addmm",
                             "addbmm",
                             "linear",
                             "matmul",
                             "mkldnn_rnn_layer",
                             "prelu",
                             "scaled_dot_product_attention"};

constexpr Names kCpuFull = {"avg_pool3d",
                            "binary_cross_entropy",
                            "grid_sample",
                            "polar",
                            "prod",
                            "quantile",
                            "nanquantile",
                            "stft",
                            "cdist",
                            "trace",
                            "view_as_complex",
                            "cholesky",
                            "cholesky_inverse",
                            "cholesky_solve",
                            "inverse",
                            "lu_solve",
                            "orgqr",
                            "ormqr",
                            "pinverse",
                            "max_pool3d",
                            "max_unpool2d",
                            "max_unpool3d",
                            "adaptive_avg_pool3d",
                            "adaptive_max_pool3d",
                            "fractional_max_pool2d",
                            "fractional_max_pool3d",
                            "reflection_pad1d",
                            "reflection_pad2d",
                            "replication_pad1d",
                            "replication_pad2d",
                            "replication_pad3d",
                            "mse_loss",
                            "cosine_embedding_loss",
                            "nll_loss",
                            "nll_loss2d",
                            "hinge_embedding_loss",
                            "poisson_nll_loss",
                            "smooth_l1_loss",
                            "cross_entropy",
                            "l1_loss",
                            "huber_loss",
                            "margin_ranking_loss",
                            "soft_margin_loss",
                            "triplet_margin_loss",
                            "multi_margin_loss",
                            "ctc_loss",
                            "kl_div",
                            "multilabel_margin_loss",
                            "binary_cross_entropy_with_logits",
                            "qr",
                            "svd",
                            "triangular_solve"};

constexpr Names kCpuWidest = {"stack", "cat", "index_copy"};

// Apex's level O1: unlike in torch.amp, gelu, std, var and interpolation run in float32; sums and
// softmax have their inputs cast; add and similar ops promote. Sources:
// apex/amp/lists/functional_overrides.py, torch_overrides.py, tensor_overrides.py. Of interpolate,
// which they list, there are those of images here.
constexpr Names kApexLower = {"conv1d",
                              "conv2d",
                              "conv3d",
                              "conv_transpose1d",
                              "conv_transpose2d",
                              "conv_transpose3d",
                              "conv_tbc",
                              "prelu",
                              "addmm",
                              "addmv",
                              "addr",
                              "matmul",
                              "mm",
                              "mv",
                              "linear",
                              "bmm",
                              "addbmm",
                              "baddbmm"};

constexpr Names kApexFull = {
    "acos", "asin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log2", "reciprocal", "rsqrt",
    "sinh", "tan", "pow", "cumprod", "cumsum", "dist", "norm", "prod", "std", "sum", "var",
    "renorm", "upsample_nearest2d", "upsample_bilinear2d", "upsample_bicubic2d", "grid_sample",
    "softplus", "softmin", "log_softmax", "softmax", "gelu", "layer_norm", "group_norm",
    "local_response_norm", "normalize", "cosine_similarity",
    // losses
    "poisson_nll_loss", "cosine_embedding_loss", "cross_entropy", "hinge_embedding_loss", "kl_div",
    "l1_loss", "mse_loss", "margin_ranking_loss", "multilabel_margin_loss",
    "multilabel_soft_margin_loss", "multi_margin_loss", "nll_loss",
    "binary_cross_entropy_with_logits", "smooth_l1_loss", "soft_margin_loss",
    "triplet_margin_loss"};

constexpr Names kApexWidest = {"addcdiv", "addcmul", "atan2", "cross", "bilinear", "dot",
                               "add",     "div",     "mul",   "cat",   "stack"};

void list(CastPolicy& policy, Names names, CastRule rule) {
    for (const char* name : names)
        policy.rules.emplace(name, rule);
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
    list(policy, kLower, CastRule::Lower);
    list(policy, kFull, CastRule::Full);
    list(policy, kFullBySet, CastRule::FullBySet);
    list(policy, kWidest, CastRule::Widest);
    list(policy, {"binary_cross_entropy"}, CastRule::Banned);
    return policy;
}

CastPolicy torchCpuPolicy(DType low) {
    require(isLow(low), "torchCpuPolicy: the low dtype must be float16 or bfloat16");
    CastPolicy policy;
    policy.name = "torch cpu " + std::string(nameOf(low));
    policy.low = low;
    list(policy, kCpuLower, CastRule::Lower);
    list(policy, kCpuFull, CastRule::Full);
    list(policy, kCpuWidest, CastRule::Widest);
    policy.biasBeforeRounding = {"conv1d", "conv2d"};
    if (low == DType::BF16)
        policy.biasBeforeRounding.insert({"conv_transpose1d", "conv_transpose2d"});
    return policy;
}

CastPolicy fp8Policy(Fp8Scaling scaling) {
    CastPolicy policy = torchCudaPolicy(DType::BF16);
    policy.name += " with FP8";
    policy.fp8 = scaling;
    return policy;
}

CastPolicy apexPolicy(DType low) {
    require(isLow(low), "apexPolicy: the low dtype must be float16 or bfloat16");
    CastPolicy policy;
    policy.name = "apex O1";
    policy.low = low;
    list(policy, kApexLower, CastRule::Lower);
    list(policy, kApexFull, CastRule::Full);
    list(policy, kApexWidest, CastRule::Widest);
    list(policy, {"binary_cross_entropy"}, CastRule::Banned);
    return policy;
}

CastPolicy layerPolicy(std::string name, DType low) {
    CastPolicy policy;
    policy.name = std::move(name);
    policy.low = low;
    policy.everyLayer = low;
    return policy;
}

std::optional<DType> CastPolicy::ownDType(std::string_view label) const {
    for (;;) {
        if (const auto found = layers.find(label); found != layers.end()) return found->second;
        const size_t dot = label.rfind('.');
        if (dot == std::string_view::npos) return std::nullopt;
        label = label.substr(0, dot);
    }
}

std::optional<DType> CastPolicy::layerDType(std::string_view label, Phase phase) const {
    if (const auto own = ownDType(label)) return own;
    if (!everyLayer) return std::nullopt;
    return phase == Phase::Forward ? *everyLayer : DType::F32;
}

} // namespace halfscope
