// The rows of the suite, one for each function, with the fewest elements that show what it does.
#include "engine/ops/op_suite.h"

#include "engine/core/error.h"
#include "engine/ops/functional.h"
#include "engine/ops/op_info.h"

#include <algorithm>

namespace halfscope {
namespace {

using In = std::span<const NodeId>;
using Cases = std::vector<AutocastCase>;

const Shape kSquare{4, 4}, kImage{2, 2, 4, 4}, kBatch{2, 3, 3};

NodeId labels(Builder& b, int64_t n) { return b.iota({n}, 0, DType::I32); }

template <Op Code>
NodeId emitUnary(Builder& b, In in) {
    return fn::unary(b, Code, in[0]);
}
template <Op... Codes>
void addUnary(Cases& cases) {
    (cases.push_back({nameOf(Codes), {kSquare}, emitUnary<Codes>}), ...);
}

template <NodeId (*F)(Builder&, NodeId, NodeId)>
NodeId emitPair(Builder& b, In in) {
    return F(b, in[0], in[1]);
}
template <NodeId (*F)(Builder&, NodeId, NodeId, NodeId)>
NodeId emitThree(Builder& b, In in) {
    return F(b, in[0], in[1], in[2]);
}
template <NodeId (*F)(Builder&, NodeId, int)>
NodeId emitAlong(Builder& b, In in) {
    return F(b, in[0], 1);
}
template <NodeId (*F)(Builder&, NodeId, Shape, fn::KeepAxes)>
NodeId emitReduced(Builder& b, In in) {
    return F(b, in[0], {1}, fn::KeepAxes::No);
}

void addMatrices(Cases& cases) {
    const Shape vector{4};
    const auto add = [&](std::string_view name, std::vector<Shape> shapes,
                         NodeId (*emit)(Builder&, In)) {
        cases.push_back({name, std::move(shapes), emit});
    };
    add("matmul", {kSquare, kSquare}, emitPair<fn::matmul>);
    add("mm", {kSquare, kSquare}, emitPair<fn::mm>);
    add("bmm", {kBatch, kBatch}, emitPair<fn::bmm>);
    add("mv", {kSquare, vector}, emitPair<fn::mv>);
    add("dot", {vector, vector}, emitPair<fn::dot>);
    add("addmm", {kSquare, kSquare, kSquare}, emitThree<fn::addmm>);
    add("addmv", {vector, kSquare, vector}, emitThree<fn::addmv>);
    add("addbmm", {{3, 3}, kBatch, kBatch}, emitThree<fn::addbmm>);
    add("baddbmm", {kBatch, kBatch, kBatch}, emitThree<fn::baddbmm>);
    add("linear", {kSquare, kSquare, vector},
        [](Builder& b, In in) { return fn::linear(b, in[0], in[1], in[2]); });
    add("chain_matmul", {kSquare, kSquare, kSquare}, fn::chainMatmul);
    add("tensordot", {kSquare, kSquare},
        [](Builder& b, In in) { return fn::tensordot(b, in[0], in[1], 1); });
    add("einsum", {kSquare, kSquare},
        [](Builder& b, In in) { return fn::einsum(b, "ij,jk->ik", in[0], in[1]); });
    add("bilinear", {{2, 3}, {2, 4}, {2, 3, 4}},
        [](Builder& b, In in) { return fn::bilinear(b, in[0], in[1], in[2], kNoNode); });
    add("cross", {{4, 3}, {4, 3}}, [](Builder& b, In in) { return fn::cross(b, in[0], in[1], 1); });
    add("scaled_dot_product_attention", {kBatch, kBatch, kBatch},
        emitThree<fn::scaledDotProductAttention>);
    add("gru_cell", {{2, 3}, {2, 2}, {6, 3}, {6, 2}}, [](Builder& b, In in) {
        return fn::gruCell(b, in[0], in[1], {in[2], in[3], kNoNode, kNoNode});
    });
    add("lstm_cell", {{2, 3}, {2, 2}, {2, 2}, {8, 3}, {8, 2}}, [](Builder& b, In in) {
        return fn::lstmCell(b, in[0], {in[1], in[2]}, {in[3], in[4], kNoNode, kNoNode}).h;
    });
}

void addConvolutions(Cases& cases) {
    cases.push_back({"conv1d", {{2, 4, 5}, {6, 2, 3}}, [](Builder& b, In in) {
                         return fn::conv1d(b, in[0], in[1], kNoNode,
                                           {.padding = 1, .dilation = 2, .groups = 2});
                     }});
    cases.push_back({"conv2d", {kImage, {3, 2, 3, 3}, {3}}, [](Builder& b, In in) {
                         return fn::conv2d(b, in[0], in[1], in[2], {});
                     }});
    cases.push_back({"conv3d", {{1, 2, 3, 3, 3}, {2, 2, 2, 2, 2}}, [](Builder& b, In in) {
                         return fn::conv3d(b, in[0], in[1], kNoNode);
                     }});
    cases.push_back({"conv_transpose2d", {{1, 4, 3, 2}, {4, 3, 2, 3}}, [](Builder& b, In in) {
                         const ConvAttrs how{{2, 1}, {0, 1}, {}, {1, 2}, 2};
                         return fn::convTranspose2d(b, in[0], in[1], kNoNode, how, {1, 0});
                     }});
}

void addPointwise(Cases& cases) {
    addUnary<Op::Exp, Op::Expm1, Op::Log, Op::Log10, Op::Log1p, Op::Log2, Op::Reciprocal, Op::Rsqrt,
             Op::Sinh, Op::Cosh, Op::Tan, Op::Acos, Op::Asin, Op::Erfinv, Op::Sqrt, Op::Sin,
             Op::Cos, Op::Tanh, Op::Sigmoid, Op::Abs, Op::Neg, Op::Floor, Op::Ceil, Op::Round,
             Op::Trunc, Op::Relu, Op::Erf, Op::Sign, Op::Softplus, Op::Gelu, Op::Silu>(cases);
    const auto one = [&](std::string_view name, NodeId (*emit)(Builder&, In)) {
        cases.push_back({name, {kSquare}, emit});
    };
    const auto pair = [&](std::string_view name, NodeId (*emit)(Builder&, In)) {
        cases.push_back({name, {kSquare, kSquare}, emit});
    };
    one("square", [](Builder& b, In in) { return fn::square(b, in[0]); });
    one("frac", [](Builder& b, In in) { return fn::frac(b, in[0]); });
    one("pow", [](Builder& b, In in) { return fn::powScalar(b, in[0], 3); });
    one("rpow", [](Builder& b, In in) { return fn::rpow(b, 2, in[0]); });
    one("leaky_relu", [](Builder& b, In in) { return fn::leakyRelu(b, in[0]); });
    one("elu", [](Builder& b, In in) { return fn::elu(b, in[0]); });
    one("hardtanh", [](Builder& b, In in) { return fn::hardtanh(b, in[0]); });
    one("clamp", [](Builder& b, In in) { return fn::clamp(b, in[0], -1, 1); });
    one("dropout", [](Builder& b, In in) {
        return fn::dropout(b, in[0], 0.5, b.constant(0, {}, DType::I32), 1);
    });
    pair("pow_tensor", emitPair<fn::pow>);
    pair("add", emitPair<fn::add>);
    pair("sub", emitPair<fn::sub>);
    pair("mul", emitPair<fn::mul>);
    pair("div", emitPair<fn::div>);
    pair("maximum", emitPair<fn::maximum>);
    pair("atan2", emitPair<fn::atan2>);
    pair("lerp", [](Builder& b, In in) { return fn::lerp(b, in[0], in[1], 0.3); });
    pair("where", [](Builder& b, In in) {
        const NodeId column = b.iota({4, 1}, 0, DType::I32);
        return fn::where(b, b.emit(Op::Less, {column, b.constantLike(2, column)}), in[0], in[1]);
    });
    cases.push_back({"prelu", {kImage, {2}}, emitPair<fn::prelu>});
    cases.push_back({"addcmul", {kSquare, kSquare, kSquare}, [](Builder& b, In in) {
                         return fn::addcmul(b, in[0], in[1], in[2], 0.5);
                     }});
    cases.push_back({"addcdiv", {kSquare, kSquare, kSquare}, [](Builder& b, In in) {
                         return fn::addcdiv(b, in[0], in[1], in[2], 0.5);
                     }});
}

void addReductions(Cases& cases) {
    const auto one = [&](std::string_view name, NodeId (*emit)(Builder&, In)) {
        cases.push_back({name, {kSquare}, emit});
    };
    one("sum", emitReduced<fn::sum>);
    one("prod", emitReduced<fn::prod>);
    one("mean", emitReduced<fn::mean>);
    one("norm", emitReduced<fn::norm>);
    one("std", emitReduced<fn::stddev>);
    one("var", emitReduced<fn::var>);
    one("amax", emitReduced<fn::amax>);
    one("amin", emitReduced<fn::amin>);
    one("max", [](Builder& b, In in) { return fn::amax(b, in[0], {}); });
    one("cumsum", emitAlong<fn::cumsum>);
    one("cumprod", emitAlong<fn::cumprod>);
    one("softmax", emitAlong<fn::softmax>);
    one("log_softmax", emitAlong<fn::logSoftmax>);
    one("softmin", emitAlong<fn::softmin>);
    one("logsumexp", emitAlong<fn::logsumexp>);
}

void addNorms(Cases& cases) {
    const auto one = [&](std::string_view name, Shape shape, NodeId (*emit)(Builder&, In)) {
        cases.push_back({name, {shape}, emit});
    };
    one("layer_norm", kSquare,
        [](Builder& b, In in) { return fn::layerNorm(b, in[0], kNoNode, kNoNode, 1e-5); });
    one("group_norm", {2, 4, 3},
        [](Builder& b, In in) { return fn::groupNorm(b, in[0], 2, kNoNode, kNoNode, 1e-5); });
    one("batch_norm", kSquare,
        [](Builder& b, In in) { return fn::batchNorm(b, in[0], kNoNode, kNoNode, 1, 1e-5).y; });
    one("instance_norm", {2, 2, 5},
        [](Builder& b, In in) { return fn::instanceNorm(b, in[0], kNoNode, kNoNode, 1e-5); });
    one("normalize", kSquare, [](Builder& b, In in) { return fn::normalize(b, in[0], 1); });
    one("renorm", kSquare, [](Builder& b, In in) { return fn::renorm(b, in[0], 0, 1); });
    one("pdist", {4, 3}, [](Builder& b, In in) { return fn::pdist(b, in[0]); });
    cases.push_back({"cosine_similarity", {kSquare, kSquare}, [](Builder& b, In in) {
                         return fn::cosineSimilarity(b, in[0], in[1], 1);
                     }});
    cases.push_back({"cdist", {{3, 4}, {2, 4}}, emitPair<fn::cdist>});
    cases.push_back({"dist", {kSquare, kSquare}, emitPair<fn::dist>});
}

void addImages(Cases& cases) {
    constexpr PoolAttrs kHalves{{2, 2}, {2, 2}, {0, 0}, {}};
    static const PoolAttrs halves = kHalves;
    cases.push_back({"max_pool2d", {kImage}, [](Builder& b, In in) {
                         return fn::maxPool2d(b, in[0], halves);
                     }});
    cases.push_back({"avg_pool2d", {kImage}, [](Builder& b, In in) {
                         return fn::avgPool2d(b, in[0], halves);
                     }});
    cases.push_back({"adaptive_avg_pool2d", {kImage}, [](Builder& b, In in) {
                         return fn::adaptiveAvgPool2d(b, in[0], {3, 2});
                     }});
    cases.push_back({"grid_sample", {{1, 2, 3, 4}, {1, 2, 2, 2}}, emitPair<fn::gridSample>});
}

/// Returns targets that alternate between -1 and 1.
NodeId signs(Builder& b, Shape shape) {
    const NodeId i = b.iota(shape, 0, DType::F32);
    const NodeId half = b.scale(i, 0.5);
    const NodeId odd = b.sub(half, b.unary(Op::Floor, half)); // 0 or 0.5
    return b.shift(b.scale(odd, 4), -1);
}

void addLosses(Cases& cases) {
    const auto pair = [&](std::string_view name, NodeId (*emit)(Builder&, In)) {
        cases.push_back({name, {kSquare, kSquare}, emit});
    };
    pair("mse_loss", emitPair<fn::mseLoss>);
    pair("l1_loss", emitPair<fn::l1Loss>);
    pair("smooth_l1_loss", [](Builder& b, In in) { return fn::smoothL1Loss(b, in[0], in[1]); });
    pair("huber_loss", [](Builder& b, In in) { return fn::huberLoss(b, in[0], in[1], 0.5); });
    pair("kl_div", emitPair<fn::klDiv>);
    pair("soft_margin_loss", emitPair<fn::softMarginLoss>);
    pair("poisson_nll_loss", emitPair<fn::poissonNllLoss>);
    pair("binary_cross_entropy", emitPair<fn::bce>);
    pair("binary_cross_entropy_with_logits", emitPair<fn::bceWithLogits>);
    pair("hinge_embedding_loss",
         [](Builder& b, In in) { return fn::hingeEmbeddingLoss(b, in[0], in[1]); });
    pair("multilabel_soft_margin_loss", emitPair<fn::multilabelSoftMarginLoss>);
    pair("cosine_embedding_loss",
         [](Builder& b, In in) { return fn::cosineEmbeddingLoss(b, in[0], in[1], signs(b, {4})); });
    pair("margin_ranking_loss", [](Builder& b, In in) {
        return fn::marginRankingLoss(b, in[0], in[1], signs(b, kSquare), 0.5);
    });
    cases.push_back({"triplet_margin_loss", {kSquare, kSquare, kSquare}, [](Builder& b, In in) {
                         return fn::tripletMarginLoss(b, in[0], in[1], in[2]);
                     }});
    cases.push_back({"cross_entropy", {kSquare}, [](Builder& b, In in) {
                         return fn::crossEntropy(b, in[0], labels(b, 4));
                     }});
    cases.push_back({"nll_loss", {kSquare}, [](Builder& b, In in) {
                         return fn::nllLoss(b, in[0], labels(b, 4));
                     }});
}

void addIndices(Cases& cases) {
    const auto pair = [&](std::string_view name, Shape second, NodeId (*emit)(Builder&, In)) {
        cases.push_back({name, {kSquare, second}, emit});
    };
    pair("cat", kSquare, [](Builder& b, In in) { return fn::cat(b, in, 0); });
    pair("stack", kSquare, [](Builder& b, In in) { return fn::stack(b, in, 0); });
    pair("scatter_add", {2, 4}, [](Builder& b, In in) {
        // Rows 0 and 1 of src both go to row 1.
        return fn::scatterAdd(b, in[0], 0, b.constant(1, {2, 4}, DType::I32), in[1]);
    });
    pair("index_put", {2, 4},
         [](Builder& b, In in) { return fn::indexPut(b, in[0], labels(b, 2), in[1]); });
}

void addOtherActivations(Cases& cases) {
    const auto one = [&](std::string_view name, NodeId (*emit)(Builder&, In)) {
        cases.push_back({name, {kSquare}, emit});
    };
    one("selu", [](Builder& b, In in) { return fn::selu(b, in[0]); });
    one("celu", [](Builder& b, In in) { return fn::celu(b, in[0], 0.7); });
    one("mish", [](Builder& b, In in) { return fn::mish(b, in[0]); });
    one("hardswish", [](Builder& b, In in) { return fn::hardswish(b, in[0]); });
    one("hardsigmoid", [](Builder& b, In in) { return fn::hardsigmoid(b, in[0]); });
    one("hardshrink", [](Builder& b, In in) { return fn::hardshrink(b, in[0]); });
    one("softshrink", [](Builder& b, In in) { return fn::softshrink(b, in[0]); });
    one("threshold", [](Builder& b, In in) { return fn::threshold(b, in[0], 0.1, -1); });
    one("log_sigmoid", [](Builder& b, In in) { return fn::logSigmoid(b, in[0]); });
    one("glu", [](Builder& b, In in) { return fn::glu(b, in[0], 1); });
    one("feature_dropout", [](Builder& b, In in) {
        return fn::channelDropout(b, in[0], 0.5, b.constant(0, {}, DType::I32), 1);
    });
    one("alpha_dropout", [](Builder& b, In in) {
        return fn::alphaDropout(b, in[0], 0.5, b.constant(0, {}, DType::I32), 1);
    });
    one("feature_alpha_dropout", [](Builder& b, In in) {
        return fn::featureAlphaDropout(b, in[0], 0.5, b.constant(0, {}, DType::I32), 1);
    });
    one("rrelu_with_noise", [](Builder& b, In in) {
        return fn::rrelu(b, in[0], 0.1, 0.4, b.constant(0, {}, DType::I32), 1);
    });
}

void addOtherImages(Cases& cases) {
    const auto one = [&](std::string_view name, Shape shape, NodeId (*emit)(Builder&, In)) {
        cases.push_back({name, {shape}, emit});
    };
    cases.push_back({"rms_norm", {kSquare, {4}}, [](Builder& b, In in) {
                         return fn::rmsNorm(b, in[0], in[1], 0.1);
                     }});
    one("local_response_norm", {2, 5, 3}, [](Builder& b, In in) {
        return fn::localResponseNorm(b, in[0], {4, 0.5, 0.75, 1});
    });
    one("constant_pad_nd", {2, 2, 3}, [](Builder& b, In in) {
        return fn::constantPad(b, in[0], {1, 2}, 0.5);
    });
    one("reflection_pad1d", {2, 2, 3}, [](Builder& b, In in) {
        return fn::reflectionPad(b, in[0], {2, 1});
    });
    one("reflection_pad2d", kImage, [](Builder& b, In in) {
        return fn::reflectionPad(b, in[0], {2, 1, 0, 3});
    });
    one("replication_pad1d", {2, 2, 3}, [](Builder& b, In in) {
        return fn::replicationPad(b, in[0], {2, 1});
    });
    one("replication_pad2d", kImage, [](Builder& b, In in) {
        return fn::replicationPad(b, in[0], {2, 1, 0, 3});
    });
    one("_pad_circular", kImage, [](Builder& b, In in) {
        return fn::circularPad(b, in[0], {2, 1, 0, 3});
    });
    one("pixel_shuffle", {2, 4, 3, 2},
        [](Builder& b, In in) { return fn::pixelShuffle(b, in[0], 2); });
    one("pixel_unshuffle", kImage,
        [](Builder& b, In in) { return fn::pixelUnshuffle(b, in[0], 2); });
    one("channel_shuffle", {2, 4, 3, 2},
        [](Builder& b, In in) { return fn::channelShuffle(b, in[0], 2); });
    one("adaptive_max_pool2d", kImage, [](Builder& b, In in) {
        return fn::adaptiveMaxPool2d(b, in[0], {3, 2});
    });
    one("upsample_nearest2d", kImage, [](Builder& b, In in) {
        return fn::upsampleNearest2d(b, in[0], {2, 1});
    });
    one("upsample_bilinear2d", kImage, [](Builder& b, In in) {
        return fn::upsampleBilinear2d(b, in[0], {2, 3}, fn::Corners::Pixels);
    });
    one("upsample_bicubic2d", kImage, [](Builder& b, In in) {
        return fn::resampled2d(b, in[0], {{3, 6}, {4.0 / 3, 1 / 1.5}}, fn::Resampling::Bicubic,
                               fn::Corners::Edges);
    });
}

const Cases& suite() {
    static const Cases all = [] {
        Cases cases;
        addMatrices(cases);
        addConvolutions(cases);
        addPointwise(cases);
        addReductions(cases);
        addNorms(cases);
        addImages(cases);
        addLosses(cases);
        addIndices(cases);
        return cases;
    }();
    return all;
}

/// Returns the dtypes of n inputs in one of the tables' combinations.
std::vector<DType> combined(std::string_view combination, size_t n, DType low) {
    std::vector<DType> types(n, combination == "all_low" ? low : DType::F32);
    if (combination == "first_low")
        types.front() = low;
    else if (combination == "last_low")
        types.back() = low;
    else
        require(combination == "all_low" || combination == "all_float32",
                "autocast case: no combination " + std::string(combination));
    return types;
}

} // namespace

std::span<const AutocastCase> autocastCases() { return suite(); }

std::span<const AutocastCase> otherCases() {
    static const Cases all = [] {
        Cases cases;
        addOtherActivations(cases);
        addOtherImages(cases);
        return cases;
    }();
    return all;
}

const AutocastCase* autocastCase(std::string_view name) {
    const auto found = std::find_if(suite().begin(), suite().end(),
                                    [&](const AutocastCase& c) { return c.name == name; });
    return found == suite().end() ? nullptr : &*found;
}

std::optional<CastPolicy> autocastTablePolicy(std::string_view table) {
    if (table == "cuda_float16") return torchCudaPolicy(DType::F16);
    if (table == "cuda_bfloat16") return torchCudaPolicy(DType::BF16);
    if (table == "cpu_bfloat16") return torchCpuPolicy(DType::BF16);
    if (table == "cpu_float16") return torchCpuPolicy(DType::F16);
    return std::nullopt;
}

DType autocastResult(const AutocastCase& given, const CastPolicy& policy,
                     std::string_view combination) {
    const std::vector<DType> types = combined(combination, given.shapes.size(), policy.low);
    Graph graph;
    Builder b(graph);
    std::vector<NodeId> in;
    for (size_t i = 0; i < types.size(); ++i)
        in.push_back(b.input("x" + std::to_string(i), given.shapes[i], types[i]));
    const AutocastScope scope(b, &policy);
    return b.dtypeOf(given.emit(b, in));
}

} // namespace halfscope
