// The walk through a model, and the rows of products, norms, shapes and sequences. Operators are
// those of opset 17; what it lacks (group norm, for example) is composed as PyTorch's own exporter
// does it.
#include "engine/models/onnx_layers.h"

#include "engine/core/error.h"
#include "engine/models/onnx_rows.h"
#include "engine/models/pool_shape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace halfscope {

namespace {

constexpr int64_t kOnnxBool = 9; ///< TensorProto.BOOL

using Layer = OnnxLayer;

/// Adds x times weight transposed, plus bias; x may have any rank.
std::string linear(const Layer& layer, const std::string& x, const std::string& weight,
                   const std::string& bias) {
    if (layer.in.shape.rank() == 2 && !bias.empty())
        return layer.node("Gemm", {x, weight, bias}, {{"transB", int64_t{1}}});
    const std::string turned =
        layer.node("Transpose", {weight}, {{"perm", std::vector<int64_t>{1, 0}}});
    const std::string product = layer.node("MatMul", {x, turned});
    return bias.empty() ? product : layer.node("Add", {product, bias});
}

std::string emitLinear(const Layer& layer, const std::string& x) {
    return linear(layer, x, layer.parameter("weight"), layer.parameter("bias"));
}

/// Writes the border of a convolution that fills it with something else than zeros.
std::string withBorderOf(const Layer& layer, const std::string& x) {
    if (!fillsBorder(layer.spec)) return x;
    return onnxBorder(layer, x, borderOfConv(layer.spec), layer.spec.value("padding_mode").word);
}

std::string emitConv2d(const Layer& layer, const std::string& x) {
    const auto sides = layer.spec.pair("padding"), ends = evenEnds(layer.spec);
    std::vector pads{sides[0], sides[1], sides[0] + ends[0], sides[1] + ends[1]};
    if (fillsBorder(layer.spec)) pads = {0, 0, 0, 0};
    const std::string from = withBorderOf(layer, x);
    return layer.node("Conv", {from, layer.parameter("weight"), layer.parameter("bias")},
                      {{"kernel_shape", listOf(layer.spec.pair("kernel_size"))},
                       {"strides", listOf(layer.spec.pair("stride"))},
                       {"pads", pads},
                       {"dilations", listOf(layer.spec.pair("dilation"))},
                       {"group", layer.spec.whole("groups")}});
}

std::string emitConv1d(const Layer& layer, const std::string& x) {
    const int64_t padding = layer.spec.whole("padding");
    std::vector pads{padding, padding + evenEnds(layer.spec)[1]};
    if (fillsBorder(layer.spec)) pads = {0, 0};
    const std::string from = withBorderOf(layer, x);
    return layer.node("Conv", {from, layer.parameter("weight"), layer.parameter("bias")},
                      {{"kernel_shape", std::vector{layer.spec.whole("kernel_size")}},
                       {"strides", std::vector{layer.spec.whole("stride")}},
                       {"pads", pads},
                       {"dilations", std::vector{layer.spec.whole("dilation")}},
                       {"group", layer.spec.whole("groups")}});
}

/// ONNX Runtime takes an output_padding below the stride only: whole strides of it become zeros
/// behind the input.
std::string emitConvTranspose2d(const Layer& layer, const std::string& x) {
    const auto stride = layer.spec.pair("stride"), more = layer.spec.pair("output_padding");
    const std::vector<int64_t> behind{0, 0, 0, 0, 0, 0, more[0] / stride[0], more[1] / stride[1]};
    const bool longer = behind[6] + behind[7] > 0;
    const std::string from =
        longer ? layer.node("Pad", {x, layer.graph.integers(behind), layer.graph.scalar(0)}) : x;
    return layer.node("ConvTranspose", {from, layer.parameter("weight"), layer.parameter("bias")},
                      {{"kernel_shape", listOf(layer.spec.pair("kernel_size"))},
                       {"strides", listOf(layer.spec.pair("stride"))},
                       {"pads", padsOf(layer.spec.pair("padding"))},
                       {"output_padding", std::vector{more[0] % stride[0], more[1] % stride[1]}},
                       {"dilations", listOf(layer.spec.pair("dilation"))},
                       {"group", layer.spec.whole("groups")}});
}

std::string emitConvTranspose1d(const Layer& layer, const std::string& x) {
    const int64_t stride = layer.spec.whole("stride"), padding = layer.spec.whole("padding");
    const int64_t more = layer.spec.whole("output_padding");
    const std::vector<int64_t> behind{0, 0, 0, 0, 0, more / stride};
    const std::string from =
        more >= stride ? layer.node("Pad", {x, layer.graph.integers(behind), layer.graph.scalar(0)})
                       : x;
    return layer.node("ConvTranspose", {from, layer.parameter("weight"), layer.parameter("bias")},
                      {{"kernel_shape", std::vector{layer.spec.whole("kernel_size")}},
                       {"strides", std::vector{stride}},
                       {"pads", std::vector{padding, padding}},
                       {"output_padding", std::vector{more % stride}},
                       {"dilations", std::vector{layer.spec.whole("dilation")}},
                       {"group", layer.spec.whole("groups")}});
}

OnnxAttribute epsilon(const Layer& layer) {
    return {"epsilon", static_cast<float>(layer.spec.real("eps"))};
}

/// Multiplies the channels of (samples, channels, ..) by weight and adds bias.
std::string affine(const Layer& layer, std::string x) {
    Shape shape{layer.in.shape[1]};
    for (int axis = 2; axis < layer.in.shape.rank(); ++axis)
        shape.push(1);
    const auto alongChannels = [&](const std::string& parameter) {
        return layer.node(
            "Reshape", {parameter, layer.graph.integers(std::vector(shape.begin(), shape.end()))});
    };
    const std::string weight = layer.parameter("weight"), bias = layer.parameter("bias");
    if (!weight.empty()) x = layer.node("Mul", {x, alongChannels(weight)});
    if (!bias.empty()) x = layer.node("Add", {x, alongChannels(bias)});
    return x;
}

/// Writes a batch norm without running statistics, which takes those of the batch that it is given.
std::string emitNormOfBatch(const Layer& layer, const std::string& x) {
    std::vector<int64_t> axes{0};
    for (int axis = 2; axis < layer.in.shape.rank(); ++axis)
        axes.push_back(axis);
    const auto mean = [&](const std::string& of) {
        return layer.node("ReduceMean", {of}, {{"axes", axes}});
    };
    const std::string centred = layer.node("Sub", {x, mean(x)});
    const std::string variance = mean(layer.node("Mul", {centred, centred}));
    const std::string wide =
        layer.node("Add", {variance, layer.graph.scalar(layer.spec.real("eps"))});
    return affine(layer, layer.node("Div", {centred, layer.node("Sqrt", {wide})}));
}

std::string emitBatchNorm(const Layer& layer, const std::string& x) {
    if (!layer.spec.truth("track_running_stats")) return emitNormOfBatch(layer, x);
    const Shape channels{layer.in.shape[1]};
    return layer.node("BatchNormalization",
                      {x, layer.parameterOr("weight", channels, 1),
                       layer.parameterOr("bias", channels, 0), layer.parameter("running_mean"),
                       layer.parameter("running_var")},
                      {epsilon(layer)});
}

std::string emitLayerNorm(const Layer& layer, const std::string& x) {
    const Shape normed = layer.spec.extents("normalized_shape");
    return layer.node(
        "LayerNormalization",
        {x, layer.parameterOr("weight", normed, 1), layer.parameterOr("bias", normed, 0)},
        {{"axis", int64_t{-normed.rank()}}, epsilon(layer)});
}

/// Writes x / sqrt(mean(x^2) + eps) * weight.
std::string emitRmsNorm(const Layer& layer, const std::string& x) {
    OnnxGraph& graph = layer.graph;
    const int normed = layer.spec.extents("normalized_shape").rank();
    std::vector<int64_t> axes;
    for (int axis = -normed; axis < 0; ++axis)
        axes.push_back(axis);
    const ArgValue& eps = layer.spec.value("eps");
    const std::string mean =
        layer.node("ReduceMean", {layer.node("Mul", {x, x})}, {{"axes", axes}});
    const double least = eps.isNone ? std::numeric_limits<float>::epsilon() : eps.numbers.at(0);
    const std::string root = layer.node("Sqrt", {layer.node("Add", {mean, graph.scalar(least)})});
    const std::string y = layer.node("Div", {x, root}), weight = layer.parameter("weight");
    return weight.empty() ? y : layer.node("Mul", {y, weight});
}

/// Writes PyTorch's windows, which differ from those of ONNX's LRN for an even number of channels.
std::string emitResponseNorm(const Layer& layer, const std::string& x) {
    OnnxGraph& graph = layer.graph;
    const Shape& in = layer.in.shape;
    const Shape apart{in[0], 1, in[1], in.elements() / in[0] / in[1]};
    const int64_t size = layer.spec.whole("size");
    const std::string squares = onnxReshape(graph, layer.node("Mul", {x, x}), in, apart);
    const std::string means =
        layer.node("AveragePool", {squares},
                   {{"kernel_shape", std::vector<int64_t>{size, 1}},
                    {"pads", std::vector<int64_t>{size / 2, 0, (size - 1) / 2, 0}},
                    {"count_include_pad", int64_t{1}}});
    const std::string scaled = layer.node(
        "Mul", {onnxReshape(graph, means, apart, in), graph.scalar(layer.spec.real("alpha"))});
    const std::string sum = layer.node("Add", {scaled, graph.scalar(layer.spec.real("k"))});
    return layer.node("Div", {x, layer.node("Pow", {sum, graph.scalar(layer.spec.real("beta"))})});
}

/// Writes each group as one channel of an instance norm.
std::string emitGroupNorm(const Layer& layer, const std::string& x) {
    const int64_t groups = layer.spec.whole("num_groups");
    const Shape& in = layer.in.shape;
    const Shape apart{in[0], groups, in.elements() / in[0] / groups};
    const std::string normed = layer.node("InstanceNormalization",
                                          {onnxReshape(layer.graph, x, in, apart),
                                           layer.filled({groups}, 1), layer.filled({groups}, 0)},
                                          {epsilon(layer)});
    return affine(layer, onnxReshape(layer.graph, normed, apart, in));
}

std::string emitInstanceNorm(const Layer& layer, const std::string& x) {
    if (layer.spec.truth("track_running_stats")) return emitBatchNorm(layer, x);
    const Shape channels{layer.in.shape[1]};
    return layer.node(
        "InstanceNormalization",
        {x, layer.parameterOr("weight", channels, 1), layer.parameterOr("bias", channels, 0)},
        {epsilon(layer)});
}

std::string emitReshape(const Layer& layer, const std::string& x) {
    return onnxReshape(layer.graph, x, layer.in.shape, layer.out.shape);
}

/// Returns the input unchanged, for the dropouts and Identity.
std::string emitNothing(const Layer&, const std::string& x) { return x; }

/// Writes sin(omega_0 linear(x)).
std::string emitSineLayer(const Layer& layer, const std::string& x) {
    const std::string y =
        linear(layer, x, layer.parameter("linear.weight"), layer.parameter("linear.bias"));
    if (layer.spec.truth("is_last")) return y;
    return layer.node("Sin",
                      {layer.node("Mul", {y, layer.graph.scalar(layer.spec.real("omega_0"))})});
}

/// Writes sin and cos of 2 pi x times B transposed, side by side.
std::string emitFourierFeatures(const Layer& layer, const std::string& x) {
    const std::string turns = layer.node("Mul", {x, layer.graph.scalar(2 * std::numbers::pi)});
    const std::string angles = linear(layer, turns, layer.parameter("B"), {});
    return layer.node("Concat", {layer.node("Sin", {angles}), layer.node("Cos", {angles})},
                      {{"axis", int64_t{-1}}});
}

std::string emitEmbedding(const Layer& layer, const std::string& x) {
    return layer.node("Gather", {layer.parameter("weight"), x}, {{"axis", int64_t{0}}});
}

std::string emitEmbeddingBag(const Layer& layer, const std::string& x) {
    const std::string picked = emitEmbedding(layer, x);
    if (layer.spec.value("mode").word == "mean")
        return layer.node("ReduceMean", {picked},
                          {{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{0}}});
    const std::string positions = layer.graph.integers(std::array{int64_t{1}});
    return layer.node("ReduceSum", {picked, positions}, {{"keepdims", int64_t{0}}});
}

std::string emitPositionalEmbedding(const Layer& layer, const std::string& x) {
    const std::string weight = layer.parameter("embedding.weight");
    return layer.node("Add", {x, onnxSlice(layer, weight, 0, 0, layer.in.shape[1])});
}

/// Applies a linear part of an encoder layer, by its name in the state dict.
std::string linearPart(const Layer& layer, const std::string& of, const std::string& x) {
    return linear(layer, x, layer.parameter(of + ".weight"), layer.parameter(of + ".bias"));
}
std::string normPart(const Layer& layer, const std::string& of, const std::string& x) {
    const Shape normed{layer.in.shape[2]};
    return layer.node(
        "LayerNormalization",
        {x, layer.parameter(of + ".weight"), layer.parameterOr(of + ".bias", normed, 0)},
        {{"axis", int64_t{-1}},
         {"epsilon", static_cast<float>(layer.spec.real("layer_norm_eps"))}});
}

/// Sets scores (.., length, length) to -inf where the key comes after the query.
std::string causallyMasked(const Layer& layer, const std::string& scores) {
    const int64_t length = layer.in.shape[1];
    const std::string ones = layer.node(
        "Expand", {layer.graph.scalar(1), layer.graph.integers(std::array{length, length})});
    const std::string lower = layer.node("Trilu", {ones}, {{"upper", int64_t{0}}});
    const std::string seen = layer.node("Cast", {lower}, {{"to", kOnnxBool}});
    const double hidden = -std::numeric_limits<double>::infinity();
    return layer.node("Where", {seen, scores, layer.graph.scalar(hidden)});
}

std::string unsqueezed(const Layer& layer, const std::string& x, const std::vector<int64_t>& axes) {
    return layer.node("Unsqueeze", {x, layer.graph.integers(axes)});
}

std::string emitMaskedMean(const Layer& layer, const std::string& x) {
    OnnxGraph& graph = layer.graph;
    const std::string zero = graph.scalar(0), one = graph.scalar(1);
    const std::string positions = graph.integers(std::array{int64_t{1}});
    const std::string seen = layer.node("Where", {unsqueezed(layer, layer.padding, {2}), zero, x});
    const std::string sums = layer.node("ReduceSum", {seen, positions}, {{"keepdims", int64_t{0}}});
    const std::string kept = layer.node("Where", {layer.padding, zero, one});
    const std::string count =
        layer.node("ReduceSum", {kept, positions}, {{"keepdims", int64_t{1}}});
    return layer.node("Div", {sums, layer.node("Max", {count, one})});
}

std::string attention(const Layer& layer, const std::string& x) {
    const Shape& in = layer.in.shape;
    const int64_t heads = layer.spec.whole("nhead"), width = in[2] / heads;
    const std::string packed = linear(layer, x, layer.parameter("self_attn.in_proj_weight"),
                                      layer.parameter("self_attn.in_proj_bias"));
    const auto part = [&](int64_t i, std::vector<int64_t> perm) {
        const std::string one = onnxSlice(layer, packed, 2, i * in[2], (i + 1) * in[2]);
        const std::string split = onnxReshape(layer.graph, one, in, {in[0], in[1], heads, width});
        return layer.node("Transpose", {split}, {{"perm", std::move(perm)}});
    };
    const std::string query = part(0, {0, 2, 1, 3}), key = part(1, {0, 2, 3, 1});
    const std::string value = part(2, {0, 2, 1, 3});
    const double root = std::sqrt(static_cast<double>(width));
    std::string scores =
        layer.node("Div", {layer.node("MatMul", {query, key}), layer.graph.scalar(root)});
    if (layer.spec.info->name == "CausalTransformerEncoderLayer")
        scores = causallyMasked(layer, scores);
    const bool padded = !layer.padding.empty() && layer.spec.info->padding == Padding::Takes;
    const std::string hidden = padded ? unsqueezed(layer, layer.padding, {1, 2}) : std::string();
    if (padded) {
        const double lowest = std::numeric_limits<float>::lowest();
        scores = layer.node("Where", {hidden, layer.graph.scalar(lowest), scores});
    }
    std::string shares = layer.node("Softmax", {scores}, {{"axis", int64_t{-1}}});
    if (padded) shares = layer.node("Where", {hidden, layer.graph.scalar(0), shares});
    const std::string mixed = layer.node("Transpose", {layer.node("MatMul", {shares, value})},
                                         {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
    return linearPart(layer, "self_attn.out_proj",
                      onnxReshape(layer.graph, mixed, {in[0], in[1], heads, width}, in));
}

std::string feedForward(const Layer& layer, const std::string& x) {
    const std::string inner = linearPart(layer, "linear1", x);
    const bool gelu = layer.spec.value("activation").word == "gelu";
    return linearPart(layer, "linear2",
                      gelu ? onnxGelu(layer, inner) : layer.node("Relu", {inner}));
}

std::string emitEncoder(const Layer& layer, const std::string& given) {
    std::string x = given;
    const auto sum = [&](const std::string& a, const std::string& b) {
        return layer.node("Add", {a, b});
    };
    if (layer.spec.truth("norm_first")) {
        x = sum(x, attention(layer, normPart(layer, "norm1", x)));
        return sum(x, feedForward(layer, normPart(layer, "norm2", x)));
    }
    x = normPart(layer, "norm1", sum(x, attention(layer, x)));
    return normPart(layer, "norm2", sum(x, feedForward(layer, x)));
}

constexpr OnnxRow kRows[] = {
    {"Linear", emitLinear},
    {"Conv1d", emitConv1d},
    {"Conv2d", emitConv2d},
    {"ConvTranspose2d", emitConvTranspose2d},
    {"ConvTranspose1d", emitConvTranspose1d},
    {"BatchNorm1d", emitBatchNorm},
    {"BatchNorm2d", emitBatchNorm},
    {"SyncBatchNorm", emitBatchNorm},
    {"LayerNorm", emitLayerNorm},
    {"RMSNorm", emitRmsNorm},
    {"LocalResponseNorm", emitResponseNorm},
    {"GroupNorm", emitGroupNorm},
    {"InstanceNorm1d", emitInstanceNorm},
    {"InstanceNorm2d", emitInstanceNorm},
    {"Flatten", emitReshape},
    {"Unflatten", emitReshape},
    {"Dropout", emitNothing},
    {"Dropout1d", emitNothing},
    {"Dropout2d", emitNothing},
    {"AlphaDropout", emitNothing},
    {"FeatureAlphaDropout", emitNothing},
    {"Identity", emitNothing},
    {"SineLayer", emitSineLayer},
    {"FourierFeatures", emitFourierFeatures},
    {"Embedding", emitEmbedding},
    {"EmbeddingBag", emitEmbeddingBag},
    {"PositionalEmbedding", emitPositionalEmbedding},
    {"TransformerEncoderLayer", emitEncoder},
    {"CausalTransformerEncoderLayer", emitEncoder},
    {"MaskedMean", emitMaskedMean},
};

const OnnxRow* findRow(std::string_view name) {
    for (const std::span<const OnnxRow> rows :
         {std::span<const OnnxRow>(kRows), onnxActivations(), onnxPooling()})
        for (const OnnxRow& row : rows)
            if (row.name == name) return &row;
    return nullptr;
}

/// Walks through a model.
class Writer {
public:
    Writer(OnnxGraph& graph, const std::string& prefix, const OnnxWeights* weights)
        : m_graph(graph), m_prefix(prefix), m_weights(weights) {}

    std::string write(const LayerSpec& layer, const std::string& x, NodeType& type) {
        if (layer.info->holds == Holds::Residual) return residual(layer, x, type);
        if (layer.info->holds == Holds::Nothing) return single(layer, x, type);
        const std::string outside = std::exchange(m_padding, paddingOf(layer, x));
        std::string at = x;
        for (const LayerSpec& child : layer.children)
            at = write(child, at, type);
        m_padding = outside;
        return at;
    }

private:
    std::string paddingOf(const LayerSpec& layer, const std::string& x) {
        if (layer.info->padding != Padding::Tells) return {};
        m_graph.setLabel(m_prefix + layer.label);
        return m_graph.node("Equal", {x, m_graph.integers(std::array{paddingIndexOf(layer)})});
    }

    std::string single(const LayerSpec& spec, const std::string& x, NodeType& type) {
        const OnnxRow* row = findRow(spec.info->name);
        if (!row) spec.refuse(phrase("Model", "this layer cannot be written into an ONNX file"));
        const NodeType in = type;
        type = checkedOutput(spec, in, ModelMode::Evaluate);
        m_graph.setLabel(m_prefix + spec.label);
        return row->emit({m_graph, spec, in, type, parametersOf(spec), m_padding}, x);
    }

    std::map<std::string_view, std::string> parametersOf(const LayerSpec& spec) {
        std::map<std::string_view, std::string> names;
        if (!spec.info->parameters) return names;
        for (const ParameterInfo& info : spec.info->parameters(spec)) {
            const std::string name = m_prefix + joinedPath(spec.path, info.name);
            names[info.name] = name;
            if (!m_weights) continue;
            const auto found = m_weights->find(name);
            require(found != m_weights->end(), "the weights lack " + name);
            m_graph.tensor(name, info.shape, found->second);
        }
        return names;
    }

    std::string residual(const LayerSpec& layer, const std::string& x, NodeType& type) {
        const NodeType in = type;
        NodeType flow = in, beside = in;
        std::string main = x, shortcut = x;
        for (const LayerSpec& child : layer.children) {
            if (child.name == kShortcutName)
                shortcut = write(child, shortcut, beside);
            else
                main = write(child, main, flow);
        }
        checkSum(layer, in.shape, flow.shape, beside.shape);
        type = flow;
        m_graph.setLabel(m_prefix + layer.label);
        return m_graph.node("Add", {main, shortcut});
    }

    OnnxGraph& m_graph;
    const std::string& m_prefix;
    const OnnxWeights* m_weights;
    std::string m_padding; ///< see Layer::padding
};

} // namespace

bool hasOnnxForm(std::string_view layer) { return findRow(layer) != nullptr; }

std::string onnxReshape(OnnxGraph& graph, const std::string& x, const Shape& in, const Shape& out) {
    std::vector<int64_t> extents(out.begin(), out.end());
    // 0 keeps the number of samples; when the samples themselves are regrouped, -1 stands for the
    // rest.
    if (!extents.empty()) extents[0] = !in.empty() && in[0] == out[0] ? 0 : -1;
    return graph.node("Reshape", {x, graph.integers(extents)});
}

std::string onnxSlice(const OnnxLayer& layer, const std::string& x, int64_t axis, int64_t begin,
                      int64_t end) {
    OnnxGraph& graph = layer.graph;
    return layer.node("Slice", {x, graph.integers(std::array{begin}),
                                graph.integers(std::array{end}), graph.integers(std::array{axis})});
}

std::string emitOnnx(OnnxGraph& graph, const LayerSpec& layer, const std::string& x, NodeType& type,
                     const std::string& prefix, const OnnxWeights* weights) {
    return Writer(graph, prefix, weights).write(layer, x, type);
}

} // namespace halfscope
