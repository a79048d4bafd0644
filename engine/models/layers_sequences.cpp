// Layers for sequences: Embedding and EmbeddingBag, which turn indices into vectors, a vector for
// each position, and the encoder layer of a transformer (Vaswani et al., "Attention Is All You
// Need", 2017) with the parameters, names and initial values of torch.nn.TransformerEncoderLayer.
// PyTorch's layer takes masks in forward(), where nn.Sequential hands on none: the encoder with the
// causal mask is a layer of its own, and PaddedSequential hides padding from the layers in it.
#include "engine/lang/python.h"
#include "engine/models/layer_context.h"
#include "engine/ops/functional.h"

#include <array>
#include <cmath>

namespace halfscope {

namespace {

constexpr double kMostUnits = 1 << 20, kMostRows = 1 << 24;
constexpr InitialValue kZero{InitialValue::Kind::Constant, 0};
constexpr InitialValue kOne{InitialValue::Kind::Constant, 1};
constexpr InitialValue kNormal{InitialValue::Kind::Normal, 1};
constexpr std::string_view kCausalEncoder = "CausalTransformerEncoderLayer";

constexpr ArgInfo kEmbeddingArgs[] = {
    {"num_embeddings", ArgKind::Whole, "", ArgShown::Bare, 1, kMostRows},
    {"embedding_dim", ArgKind::Whole, "", ArgShown::Bare, 1, kMostUnits},
    {"padding_idx", ArgKind::Whole, "None", ArgShown::Changed, -kMostRows, kMostRows},
    {"max_norm", ArgKind::Real, "None", ArgShown::Changed, 0, 1e9, "None"},
    {"norm_type", ArgKind::Real, "2.0", ArgShown::Changed, 0, 1e9, "2.0"},
    {"scale_grad_by_freq", ArgKind::Truth, "False", ArgShown::Changed, 0, 0, "False"},
    {"sparse", ArgKind::Truth, "False", ArgShown::Changed, 0, 0, "False"},
};

std::optional<int64_t> paddingOf(const LayerSpec& layer) {
    if (layer.value("padding_idx").isNone) return std::nullopt;
    return layer.whole("padding_idx");
}

/// A negative padding_idx counts from the end; PyTorch prints the row that it names.
void completeEmbedding(LayerSpec& layer) {
    const auto padding = paddingOf(layer);
    if (!padding) return;
    const int64_t rows = layer.whole("num_embeddings");
    if (*padding < -rows || *padding >= rows)
        layer.refuse({phrase("Model", "padding_idx must be from %1 to %2"), -rows, rows - 1});
    if (*padding < 0)
        for (size_t i = 0; i < layer.args.size(); ++i)
            if (layer.info->args[i].name == "padding_idx")
                layer.args[i].numbers = {static_cast<double>(*padding + rows)};
}

std::vector<ParameterInfo> embeddingParameters(const LayerSpec& layer) {
    InitialValue start = kNormal;
    start.zeroRow = paddingOf(layer).value_or(-1);
    return {{"weight",
             {layer.whole("num_embeddings"), layer.whole("embedding_dim")},
             ParameterRole::Weight,
             start}};
}

NodeType embeddingOutput(const LayerSpec& layer, const NodeType& in) {
    if (in.shape.rank() == kMaxRank)
        layer.refuse({phrase("Model", "the result has more than %1 axes"), kMaxRank});
    NodeType out{in.shape, DType::F32};
    out.shape.push(layer.whole("embedding_dim"));
    return out;
}

NodeId emitEmbedding(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return fn::embedding(c.b, c.parameter("weight"), x, paddingOf(layer));
}

constexpr ArgInfo kBagArgs[] = {
    {"num_embeddings", ArgKind::Whole, "", ArgShown::Bare, 1, kMostRows},
    {"embedding_dim", ArgKind::Whole, "", ArgShown::Bare, 1, kMostUnits},
    {"max_norm", ArgKind::Real, "None", ArgShown::Changed, 0, 1e9, "None"},
    {"norm_type", ArgKind::Real, "2.0", ArgShown::Changed, 0, 1e9, "2.0"},
    {"scale_grad_by_freq", ArgKind::Truth, "False", ArgShown::Changed, 0, 0, "False"},
    {"mode", ArgKind::Word, "'mean'", ArgShown::Named, 0, 0, "'mean' or 'sum'"},
    {"sparse", ArgKind::Truth, "False", ArgShown::Never, 0, 0, "False"},
    {"_weight", ArgKind::Whole, "None", ArgShown::Never, 0, 0, "None"},
    {"include_last_offset", ArgKind::Truth, "False", ArgShown::Never, 0, 0, "False"},
    {"padding_idx", ArgKind::Whole, "None", ArgShown::Changed, -kMostRows, kMostRows, "None"},
};

std::vector<ParameterInfo> bagParameters(const LayerSpec& layer) {
    return {{"weight",
             {layer.whole("num_embeddings"), layer.whole("embedding_dim")},
             ParameterRole::Weight,
             kNormal}};
}

NodeType bagOutput(const LayerSpec& layer, const NodeType& in) {
    if (in.shape.rank() != 2)
        layer.refuse({phrase("Model", "the input is %1; indices (samples, length) are expected"),
                      shapeText(in.shape)});
    requireRoom(layer, {in.shape[0], in.shape[1], layer.whole("embedding_dim")});
    return {{in.shape[0], layer.whole("embedding_dim")}, DType::F32};
}

NodeId emitBag(LayerContext& c, const LayerSpec& layer, NodeId x) {
    const NodeId picked = fn::embedding(c.b, c.parameter("weight"), x);
    const AutocastScope off(c.b, nullptr);
    const Shape shape = c.b.shapeOf(picked);
    const bool sums = layer.value("mode").word == "sum";
    const NodeId y = sums ? c.b.sum(picked, Shape{1}) : c.b.mean(picked, Shape{1});
    return c.b.reshape(y, {shape[0], shape[2]});
}

/// Refuses inputs that are not (samples, length, features).
void requireVectors(const LayerSpec& layer, const NodeType& in) {
    if (in.shape.rank() != 3)
        layer.refuse({phrase("Model", "the input is %1; (samples, length, features) is expected"),
                      shapeText(in.shape)});
}
/// Refuses other numbers of features, too.
void requireVectors(const LayerSpec& layer, const NodeType& in, std::string_view features) {
    requireVectors(layer, in);
    if (in.shape[2] != layer.whole(features))
        layer.refuse({phrase("Model", "the input has %1 features"), in.shape[2]});
}

constexpr ArgInfo kPositionArgs[] = {
    {"num_positions", ArgKind::Whole, "", ArgShown::Named, 1, kMostUnits},
    {"embedding_dim", ArgKind::Whole, "", ArgShown::Named, 1, kMostUnits},
};

std::vector<ParameterInfo> positionParameters(const LayerSpec& layer) {
    return {{"embedding.weight",
             {layer.whole("num_positions"), layer.whole("embedding_dim")},
             ParameterRole::Weight,
             kNormal}};
}

NodeType positionOutput(const LayerSpec& layer, const NodeType& in) {
    requireVectors(layer, in, "embedding_dim");
    if (in.shape[1] > layer.whole("num_positions"))
        layer.refuse({phrase("Model", "the input has %1 positions"), in.shape[1]});
    return in;
}

NodeId emitPositions(LayerContext& c, const LayerSpec&, NodeId x) {
    const NodeId weight = c.parameter("embedding.weight");
    return fn::add(c.b, x, c.b.slice(weight, 0, 0, c.b.shapeOf(x)[1]));
}

constexpr std::string_view kPositionClass = R"(
class PositionalEmbedding(nn.Module):
    """Adds a vector to each position of a sequence, which is learnt, as GPT has it."""

    def __init__(self, num_positions, embedding_dim):
        super().__init__()
        self.embedding = nn.Embedding(num_positions, embedding_dim)

    def forward(self, x):
        return x + self.embedding.weight[: x.shape[1]]
)";

constexpr ArgInfo kEncoderArgs[] = {
    {"d_model", ArgKind::Whole, "", ArgShown::Named, 1, kMostUnits},
    {"nhead", ArgKind::Whole, "", ArgShown::Named, 1, kMostUnits},
    {"dim_feedforward", ArgKind::Whole, "2048", ArgShown::Named, 1, kMostUnits},
    {"dropout", ArgKind::Real, "0.1", ArgShown::Named, 0, 1},
    {.name = "activation",
     .kind = ArgKind::Word,
     .standard = "'relu'",
     .only = "'relu' or 'gelu'",
     .functions = true},
    {"layer_norm_eps", ArgKind::Real, "1e-05", ArgShown::Named, 0, 1},
    {"batch_first", ArgKind::Truth, "False"},
    {"norm_first", ArgKind::Truth, "False"},
    {"bias", ArgKind::Truth, "True"},
};

constexpr std::string_view kCausalClass = R"(
class CausalTransformerEncoderLayer(nn.TransformerEncoderLayer):
    """Each position sees itself and those before it."""

    def forward(self, x):
        size = x.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(size, x.device, x.dtype)
        return super().forward(x, src_mask=mask, is_causal=True)
)";

/// PyTorch's layer takes masks in forward(); here only another class can have one.
Message maskHint(std::string_view argument) {
    if (argument == "src_key_padding_mask")
        return phrase("Model", "; PaddedSequential(Embedding(..., padding_idx=0), ...) hides "
                               "padding from the layers in it");
    const bool causal = argument == "is_causal" || argument == "mask" || argument == "src_mask";
    if (!causal) return {};
    return {phrase("Model", "; %1(...) is the layer with a causal mask"), kCausalEncoder};
}

/// Returns an argument of one of the printed parts, such as in_features of linear1, as text;
/// `otherwise` where there is none.
std::string printedIn(std::span<const lang::Argument* const> parts, std::string_view part,
                      std::string_view argument, const char* otherwise) {
    for (const lang::Argument* each : parts) {
        if (each->name != part) continue;
        for (const lang::Argument& inner : each->value.arguments)
            if (inner.name == argument) return lang::textOf(inner.value, 20);
    }
    return otherwise;
}

/// PyTorch prints the parts of an encoder, from which its number of heads cannot be told.
Message encoderInPlaceOfParts(const LayerSpec& layer,
                              std::span<const lang::Argument* const> parts) {
    const std::string width = printedIn(parts, "linear1", "in_features", "d_model");
    const std::string inner = printedIn(parts, "linear1", "out_features", "2048");
    const std::string dropout = printedIn(parts, "dropout", "p", "0.1");
    const std::string prefix = layer.info->python.empty() ? "nn." : "";
    return {phrase("Model", "PyTorch's print of %1 does not show all arguments, such as nhead: "
                            "write %2(%3, nhead, dim_feedforward=%4, dropout=%5, "
                            "batch_first=True), with the nhead of your program and what else it "
                            "gives there"),
            layer.info->name,
            prefix + std::string(layer.info->name),
            width,
            inner,
            dropout};
}

/// Requires that heads divide the features evenly and that the first axis counts samples. With
/// PyTorch's default (batch_first=False), samples would silently attend to each other.
void completeEncoder(LayerSpec& layer) {
    if (layer.whole("d_model") % layer.whole("nhead") != 0)
        layer.refuse(phrase("Model", "d_model must be a multiple of nhead"));
    if (!layer.truth("batch_first"))
        layer.refuse(phrase("Model", "batch_first=True is missing: samples come first here"));
}

/// nn.MultiheadAttention initialises in_proj_weight as xavier_uniform_ does, and its biases to 0.
std::vector<ParameterInfo> encoderParameters(const LayerSpec& layer) {
    const int64_t width = layer.whole("d_model"), inner = layer.whole("dim_feedforward");
    const auto fan = static_cast<double>(width);
    const InitialValue xavier{InitialValue::Kind::Uniform, std::sqrt(6 / (4 * fan))};
    const InitialValue outer = linearStart(fan), back = linearStart(static_cast<double>(inner));
    using enum ParameterRole;
    std::vector<ParameterInfo> all{
        {"self_attn.in_proj_weight", {3 * width, width}, Weight, xavier},
        {"self_attn.in_proj_bias", {3 * width}, Bias, kZero},
        {"self_attn.out_proj.weight", {width, width}, Weight, outer},
        {"self_attn.out_proj.bias", {width}, Bias, kZero},
        {"linear1.weight", {inner, width}, Weight, outer},
        {"linear1.bias", {inner}, Bias, outer},
        {"linear2.weight", {width, inner}, Weight, back},
        {"linear2.bias", {width}, Bias, back},
        {"norm1.weight", {width}, NormWeight, kOne},
        {"norm1.bias", {width}, NormBias, kZero},
        {"norm2.weight", {width}, NormWeight, kOne},
        {"norm2.bias", {width}, NormBias, kZero},
    };
    if (!layer.truth("bias"))
        std::erase_if(all,
                      [](const ParameterInfo& p) { return p.role == Bias || p.role == NormBias; });
    return all;
}

NodeType encoderOutput(const LayerSpec& layer, const NodeType& in) {
    requireVectors(layer, in, "d_model");
    return in;
}

constexpr std::string_view kEncoderParts[] = {
    "self_attn", "self_attn.out_proj", "norm1", "linear1", "linear2", "norm2"};

/// The two halves of a layer, each from (samples, length, features) to the same shape.
class Encoder {
public:
    Encoder(LayerContext& c, const LayerSpec& layer, fn::AttentionMask mask)
        : m_c(c), m_b(c.b), m_layer(layer), m_label(c.b.label()), m_mask(mask),
          m_dropout(c.trains() ? layer.real("dropout") : 0) {}

    NodeId emit(NodeId x) {
        if (m_layer.truth("norm_first")) {
            x = fn::add(m_b, x, attention(norm("norm1", x)));
            return fn::add(m_b, x, feedForward(norm("norm2", x)));
        }
        x = norm("norm1", fn::add(m_b, x, attention(x)));
        return norm("norm2", fn::add(m_b, x, feedForward(x)));
    }

private:
    NodeId parameter(const std::string& of, const char* name) { return m_c.parameter(of + name); }
    /// Returns the label of a part of the layer, as its parameters name it.
    std::string labelOf(const std::string& part) const { return m_label + "." + part; }

    NodeId linear(const std::string& of, NodeId x) {
        const LabelScope label(m_b, labelOf(of));
        const NodeId weight = parameter(of, ".weight"), bias = parameter(of, ".bias");
        return fn::linear(m_b, x, weight, bias);
    }

    NodeId norm(const std::string& of, NodeId x) {
        const LabelScope label(m_b, labelOf(of));
        const NodeId weight = parameter(of, ".weight"), bias = parameter(of, ".bias");
        return fn::layerNorm(m_b, x, weight, bias, m_layer.real("layer_norm_eps"));
    }

    NodeId dropped(NodeId x) {
        return m_dropout > 0 ? fn::dropout(m_b, x, m_dropout, m_c.counter(), m_c.seed()) : x;
    }

    NodeId attention(NodeId x) { return dropped(linear("self_attn.out_proj", heads(x))); }

    /// Computes queries, keys and values by one product. Each head sees features of its own.
    NodeId heads(NodeId x) {
        const LabelScope label(m_b, labelOf("self_attn"));
        const Shape shape = m_b.shapeOf(x);
        const int64_t count = m_layer.whole("nhead"), width = shape[2] / count;
        const NodeId weight = m_c.parameter("self_attn.in_proj_weight");
        // PyTorch's samples come second there, in a view that is contiguous only if there is one of
        // them or one place (F.multi_head_attention_forward)
        const bool contiguous = shape[0] == 1 || shape[1] == 1;
        const NodeId packed =
            fn::linear(m_b, x, weight, m_c.parameter("self_attn.in_proj_bias"),
                       contiguous ? fn::BiasRounding::Once : fn::BiasRounding::Twice);
        std::array<NodeId, 3> parts{};
        for (size_t i = 0; i < parts.size(); ++i) {
            const auto first = static_cast<int64_t>(i) * shape[2];
            const NodeId part = m_b.slice(packed, 2, first, first + shape[2]);
            const NodeId split = m_b.reshape(part, {shape[0], shape[1], count, width});
            parts[i] = m_b.transpose(split, {0, 2, 1, 3});
        }
        fn::AttentionDropout drop{m_dropout};
        if (m_dropout > 0) drop = {m_dropout, m_c.counter(), m_c.seed()};
        const auto& [query, key, value] = parts;
        const NodeId hidden = m_mask == fn::AttentionMask::None ? m_c.padding() : kNoNode;
        const NodeId y =
            fn::scaledDotProductAttention(m_b, query, key, value, drop, m_mask, hidden);
        return m_b.reshape(m_b.transpose(y, {0, 2, 1, 3}), shape);
    }

    NodeId feedForward(NodeId x) {
        const Op op = m_layer.value("activation").word == "gelu" ? Op::Gelu : Op::Relu;
        const NodeId inner = fn::unary(m_b, op, linear("linear1", x));
        return dropped(linear("linear2", dropped(inner)));
    }

    LayerContext& m_c;
    Builder& m_b;
    const LayerSpec& m_layer;
    const std::string m_label; ///< of the whole layer
    const fn::AttentionMask m_mask;
    const double m_dropout;
};

NodeId emitEncoder(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return Encoder(c, layer, fn::AttentionMask::None).emit(x);
}
NodeId emitCausalEncoder(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return Encoder(c, layer, fn::AttentionMask::Causal).emit(x);
}

constexpr std::string_view kPaddedClass = R"(
class PaddedSequential(nn.Sequential):
    """Tells its layers where the embedding in front finds padding."""

    def forward(self, x):
        padding = x == self[0].padding_idx
        for layer in self:
            if type(layer) is nn.TransformerEncoderLayer:
                x = layer(x, src_key_padding_mask=padding)
            elif getattr(layer, "needs_padding", False):
                x = layer(x, padding)
            else:
                x = layer(x)
        return x
)";

constexpr std::string_view kMeanClass = R"(
class MaskedMean(nn.Module):
    """The mean over the positions that are not padding."""

    needs_padding = True  # as PaddedSequential gives it

    def forward(self, x, padding):
        count = (~padding).sum(1, keepdim=True).clamp(min=1)
        return x.masked_fill(padding[..., None], 0).sum(1) / count
)";

void completePadded(LayerSpec& layer) {
    const bool fits = !layer.children.empty() && layer.children.front().info->takesIndices &&
                      paddingOf(layer.children.front()).has_value();
    if (!fits)
        layer.refuse(phrase("Model",
                            "its first layer must be an Embedding with a padding_idx, such "
                            "as Embedding(1000, 64, padding_idx=0)"));
}

NodeType meanOutput(const LayerSpec& layer, const NodeType& in) {
    requireVectors(layer, in);
    return {{in.shape[0], in.shape[2]}, in.dtype};
}

/// A sample of nothing but padding has the mean 0.
NodeId emitMean(LayerContext& c, const LayerSpec&, NodeId x) {
    const Shape shape = c.b.shapeOf(x);
    const NodeId padding = c.padding();
    require(padding != kNoNode, "a mean without its padding");
    const NodeId column = c.b.reshape(padding, {shape[0], shape[1], 1});
    const NodeId seen = c.b.where(c.b.expand(column, shape), c.b.constantLike(0, x), x);
    const NodeId sums = fn::sum(c.b, seen, {1});
    const Shape table{shape[0], shape[1]};
    const AutocastScope off(c.b, nullptr);
    const NodeId none = c.b.constant(0, table, DType::F32),
                 one = c.b.constant(1, table, DType::F32);
    const NodeId kept = fn::sum(c.b, c.b.where(padding, none, one), {1}, fn::KeepAxes::Yes);
    const NodeId count = fn::maximum(c.b, kept, c.b.constantLike(1, kept));
    return fn::div(c.b, sums, c.b.cast(count, c.b.dtypeOf(sums)));
}

constexpr LayerInfo kRows[] = {
    {.name = "Embedding",
     .wants = Wants::Samples,
     .args = kEmbeddingArgs,
     .output = embeddingOutput,
     .emitNodes = emitEmbedding,
     .parameters = embeddingParameters,
     .complete = completeEmbedding,
     .takesIndices = true},
    {.name = "PositionalEmbedding",
     .wants = Wants::Samples,
     .args = kPositionArgs,
     .output = positionOutput,
     .emitNodes = emitPositions,
     .parameters = positionParameters,
     .python = kPositionClass},
    {.name = "TransformerEncoderLayer",
     .wants = Wants::Samples,
     .args = kEncoderArgs,
     .output = encoderOutput,
     .emitNodes = emitEncoder,
     .parameters = encoderParameters,
     .complete = completeEncoder,
     .hint = maskHint,
     .inPlaceOfParts = encoderInPlaceOfParts,
     .padding = Padding::Takes,
     .parts = kEncoderParts},
    {.name = kCausalEncoder,
     .wants = Wants::Samples,
     .args = kEncoderArgs,
     .output = encoderOutput,
     .emitNodes = emitCausalEncoder,
     .parameters = encoderParameters,
     .complete = completeEncoder,
     .hint = maskHint,
     .inPlaceOfParts = encoderInPlaceOfParts,
     .python = kCausalClass,
     .parts = kEncoderParts},
    {.name = "EmbeddingBag",
     .wants = Wants::Samples,
     .args = kBagArgs,
     .output = bagOutput,
     .emitNodes = emitBag,
     .parameters = bagParameters,
     .takesIndices = true},
    {.name = "MaskedMean",
     .wants = Wants::Samples,
     .output = meanOutput,
     .emitNodes = emitMean,
     .python = kMeanClass,
     .padding = Padding::Needs},
    {.name = "PaddedSequential",
     .complete = completePadded,
     .holds = Holds::Chain,
     .python = kPaddedClass,
     .padding = Padding::Tells},
};

} // namespace

std::span<const LayerInfo> sequenceLayers() { return kRows; }

} // namespace halfscope
