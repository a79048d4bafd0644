// Linear, the convolutions of sequences and images, and the transposed ones. A 1x1 convolution
// takes its pixels as rows, so that it is a matrix product.
#include "engine/models/layer_context.h"
#include "engine/models/pool_shape.h"
#include "engine/ops/functional.h"

#include <algorithm>

namespace halfscope {

namespace {

constexpr double kMostUnits = 1 << 20;

/// The fan in is that of weight (out, in, ..); PyTorch counts it the same way for transposed
/// convolutions (in, out, ..).
std::vector<ParameterInfo> weightAndBias(const LayerSpec& layer, const Shape& weight,
                                         int64_t outputs) {
    double fanIn = 1;
    for (int axis = 1; axis < weight.rank(); ++axis)
        fanIn *= static_cast<double>(weight[axis]);
    const InitialValue start = linearStart(fanIn);
    std::vector<ParameterInfo> all{{"weight", weight, ParameterRole::Weight, start}};
    if (layer.truth("bias")) all.push_back({"bias", {outputs}, ParameterRole::Bias, start});
    return all;
}

constexpr ArgInfo kLinearArgs[] = {
    {"in_features", ArgKind::Whole, "", ArgShown::Named, 1, kMostUnits},
    {"out_features", ArgKind::Whole, "", ArgShown::Named, 1, kMostUnits},
    {"bias", ArgKind::Truth, "True"},
};

std::vector<ParameterInfo> linearParameters(const LayerSpec& layer) {
    const int64_t outputs = layer.whole("out_features");
    return weightAndBias(layer, {outputs, layer.whole("in_features")}, outputs);
}

NodeType linearOutput(const LayerSpec& layer, const NodeType& in) {
    return lastAxisOutput(layer, in, layer.whole("out_features"));
}

NodeId emitLinearLayer(LayerContext& c, const LayerSpec&, NodeId x) {
    const NodeId weight = c.parameter("weight"), bias = c.parameter("bias");
    return fn::linear(c.b, x, weight, bias);
}

constexpr Phrase kKernelTooLarge =
    phrase("Model", "the kernel is larger than the input, %1, with its padding");
constexpr Phrase kDilatedKernelTooLarge =
    phrase("Model", "the kernel with its dilation is larger than the input, %1, with its padding");

constexpr ArgInfo paddingOf(ArgKind kind) {
    return {.name = "padding",
            .kind = kind,
            .standard = "0",
            .shown = ArgShown::Changed,
            .least = 0,
            .most = 4096,
            .paddingWords = true};
}

constexpr ArgInfo kPaddingMode{.name = "padding_mode",
                               .kind = ArgKind::Word,
                               .standard = "'zeros'",
                               .shown = ArgShown::Changed,
                               .only = "'zeros' or 'reflect' or 'replicate' or 'circular'",
                               .bareWord = true};

constexpr ArgInfo kConvArgs[] = {
    {"in_channels", ArgKind::Whole, "", ArgShown::Bare, 1, kMostUnits},
    {"out_channels", ArgKind::Whole, "", ArgShown::Bare, 1, kMostUnits},
    {"kernel_size", ArgKind::Pair, "", ArgShown::Named, 1, 4096},
    {"stride", ArgKind::Pair, "1", ArgShown::Named, 1, 4096},
    paddingOf(ArgKind::Pair),
    {"dilation", ArgKind::Pair, "1", ArgShown::Changed, 1, 4096},
    {"groups", ArgKind::Whole, "1", ArgShown::Changed, 1, kMostUnits},
    {"bias", ArgKind::Truth, "True", ArgShown::Changed},
    kPaddingMode,
};

/// Refuses channels that the groups cannot share evenly.
void requireGroups(const LayerSpec& layer) {
    const int64_t groups = layer.whole("groups");
    if (layer.whole("in_channels") % groups != 0)
        layer.refuse(phrase("Model", "in_channels must be divisible by groups"));
    if (layer.whole("out_channels") % groups != 0)
        layer.refuse(phrase("Model", "out_channels must be divisible by groups"));
}

/// Checks the groups, and sets the numbers that 'same' and 'valid' mean for this kernel, beside the
/// word; what 'same' adds at the ends only is evenEnds().
void completeConv(LayerSpec& layer) {
    requireGroups(layer);
    const auto isPadding = [](const ArgInfo& info) { return info.paddingWords; };
    const auto found = std::find_if(layer.info->args.begin(), layer.info->args.end(), isPadding);
    ArgValue& padding = layer.args[static_cast<size_t>(found - layer.info->args.begin())];
    if (padding.word.empty()) return;
    const bool same = padding.word == "same";
    for (const double stride : layer.value("stride").numbers)
        if (same && stride != 1)
            layer.refuse(phrase("Model", "padding='same' needs a stride of 1, as in PyTorch"));
    padding.numbers.clear();
    // one number may stand for both axes
    const auto& kernel = layer.value("kernel_size").numbers;
    const auto& dilation = layer.value("dilation").numbers;
    for (size_t i = 0; i < std::max(kernel.size(), dilation.size()); ++i) {
        const double spread = kernel[std::min(i, kernel.size() - 1)] - 1;
        const double apart = dilation[std::min(i, dilation.size() - 1)];
        const auto beside = static_cast<int64_t>(spread * apart); // a row loses so many values
        padding.numbers.push_back(same ? static_cast<double>(beside / 2) : 0);
    }
}

std::vector<ParameterInfo> convParameters(const LayerSpec& layer) {
    const auto kernel = layer.pair("kernel_size");
    const int64_t outputs = layer.whole("out_channels");
    const int64_t seen = layer.whole("in_channels") / layer.whole("groups");
    return weightAndBias(layer, {outputs, seen, kernel[0], kernel[1]}, outputs);
}

void requireInChannels(const LayerSpec& layer, const NodeType& in) {
    if (in.shape[1] != layer.whole("in_channels"))
        layer.refuse({phrase("Model", "the input has %1 channels"), in.shape[1]});
}

ConvAttrs convAttrs(const LayerSpec& layer) {
    return {.stride = layer.pair("stride"),
            .padding = fillsBorder(layer) ? std::array<int64_t, 2>{0, 0} : layer.pair("padding"),
            .dilation = layer.pair("dilation"),
            .groups = layer.whole("groups")};
}

fn::Conv1dAttrs conv1dAttrs(const LayerSpec& layer) {
    return {.stride = layer.whole("stride"),
            .padding = fillsBorder(layer) ? 0 : layer.whole("padding"),
            .dilation = layer.whole("dilation"),
            .groups = layer.whole("groups")};
}

/// Returns the border that the input gets before the convolution: all of it, or only what 'same'
/// adds at the ends where the convolution adds the rest.
fn::Border borderBefore(const LayerSpec& layer, const Shape& in) {
    if (fillsBorder(layer)) return borderOfConv(layer);
    const auto ends = evenEnds(layer);
    return {.right = ends[1], .bottom = in.rank() == 4 ? ends[0] : 0};
}

/// Returns the input with this border.
NodeType withBorder(const LayerSpec& layer, NodeType in) {
    const fn::Border border = borderBefore(layer, in.shape);
    const std::string& mode = layer.value("padding_mode").word;
    if (mode == "reflect") requireReflectable(layer, in.shape, border);
    if (mode == "circular") requireRepeatable(layer, in.shape, border);
    const int last = in.shape.rank() - 1;
    in.shape[last] += border.left + border.right;
    in.shape[last - 1] += border.top + border.bottom;
    requireRoom(layer, in.shape);
    return in;
}
NodeId withBorder(LayerContext& c, const LayerSpec& layer, NodeId x) {
    const fn::Border border = borderBefore(layer, c.b.shapeOf(x));
    if (border.left + border.right + border.top + border.bottom == 0) return x;
    const std::string& mode = layer.value("padding_mode").word;
    if (mode == "reflect") return fn::reflectionPad(c.b, x, border);
    if (mode == "replicate") return fn::replicationPad(c.b, x, border);
    if (mode == "circular") return fn::circularPad(c.b, x, border);
    return fn::constantPad(c.b, x, border, 0);
}

/// The result's extent along an axis of the input `in`.
int64_t convExtent(const LayerSpec& layer, const NodeType& in, int axis, int64_t kernel,
                   const fn::Conv1dAttrs& how) {
    const int64_t room = in.shape[axis] + 2 * how.padding - how.dilation * (kernel - 1) - 1;
    if (room < 0)
        layer.refuse(
            {how.dilation == 1 ? kKernelTooLarge : kDilatedKernelTooLarge, shapeText(in.shape)});
    return room / how.stride + 1;
}

NodeType convOutput(const LayerSpec& layer, const NodeType& in) {
    requireImage(layer, in);
    requireInChannels(layer, in);
    const ConvAttrs how = convAttrs(layer);
    const NodeType widened = withBorder(layer, in);
    NodeType out = in;
    out.shape[1] = layer.whole("out_channels");
    for (size_t i = 0; i < 2; ++i) {
        const int axis = 2 + static_cast<int>(i);
        out.shape[axis] = convExtent(layer, widened, axis, layer.pair("kernel_size")[i],
                                     {how.stride[i], how.padding[i], how.dilation[i], how.groups});
    }
    return out;
}

Layout convLayout(const LayerSpec& layer, Layout) {
    using Two = std::array<int64_t, 2>;
    const bool pointwise = layer.pair("kernel_size") == Two{1, 1} &&
                           layer.pair("stride") == Two{1, 1} &&
                           layer.pair("padding") == Two{0, 0} && layer.whole("groups") == 1;
    return pointwise ? Layout::Rows : Layout::Planes;
}

NodeId emitConv(LayerContext& c, const LayerSpec& layer, NodeId x) {
    const NodeId weight = c.parameter("weight"), bias = c.parameter("bias");
    if (c.layout == Layout::Rows) return fn::pointwiseConv2d(c.b, x, weight, bias);
    return fn::conv2d(c.b, withBorder(c, layer, x), weight, bias, convAttrs(layer));
}

constexpr ArgInfo kConv1dArgs[] = {
    {"in_channels", ArgKind::Whole, "", ArgShown::Bare, 1, kMostUnits},
    {"out_channels", ArgKind::Whole, "", ArgShown::Bare, 1, kMostUnits},
    {"kernel_size", ArgKind::Single, "", ArgShown::Named, 1, 4096},
    {"stride", ArgKind::Single, "1", ArgShown::Named, 1, 4096},
    paddingOf(ArgKind::Single),
    {"dilation", ArgKind::Single, "1", ArgShown::Changed, 1, 4096},
    {"groups", ArgKind::Whole, "1", ArgShown::Changed, 1, kMostUnits},
    {"bias", ArgKind::Truth, "True", ArgShown::Changed},
    kPaddingMode,
};

std::vector<ParameterInfo> conv1dParameters(const LayerSpec& layer) {
    const int64_t outputs = layer.whole("out_channels");
    const int64_t seen = layer.whole("in_channels") / layer.whole("groups");
    return weightAndBias(layer, {outputs, seen, layer.whole("kernel_size")}, outputs);
}

NodeType conv1dOutput(const LayerSpec& layer, const NodeType& in) {
    requireSequence(layer, in);
    requireInChannels(layer, in);
    const int64_t length =
        convExtent(layer, withBorder(layer, in), 2, layer.whole("kernel_size"), conv1dAttrs(layer));
    return {{in.shape[0], layer.whole("out_channels"), length}, in.dtype};
}

NodeId emitConv1d(LayerContext& c, const LayerSpec& layer, NodeId x) {
    const NodeId weight = c.parameter("weight"), bias = c.parameter("bias");
    return fn::conv1d(c.b, withBorder(c, layer, x), weight, bias, conv1dAttrs(layer));
}

constexpr ArgInfo kConvTransposeArgs[] = {
    {"in_channels", ArgKind::Whole, "", ArgShown::Bare, 1, kMostUnits},
    {"out_channels", ArgKind::Whole, "", ArgShown::Bare, 1, kMostUnits},
    {"kernel_size", ArgKind::Pair, "", ArgShown::Named, 1, 4096},
    {"stride", ArgKind::Pair, "1", ArgShown::Named, 1, 4096},
    {"padding", ArgKind::Pair, "0", ArgShown::Changed, 0, 4096},
    {"output_padding", ArgKind::Pair, "0", ArgShown::Changed, 0, 4096},
    {"groups", ArgKind::Whole, "1", ArgShown::Changed, 1, kMostUnits},
    {"bias", ArgKind::Truth, "True", ArgShown::Changed},
    {.name = "dilation",
     .kind = ArgKind::Pair,
     .standard = "1",
     .shown = ArgShown::Changed,
     .least = 1,
     .most = 4096,
     .printedAfter = "padding"},
    {"padding_mode", ArgKind::Word, "'zeros'", ArgShown::Changed, 0, 0, "'zeros'"},
};

std::vector<ParameterInfo> convTransposeParameters(const LayerSpec& layer) {
    const auto kernel = layer.pair("kernel_size");
    const int64_t outputs = layer.whole("out_channels");
    const int64_t each = outputs / layer.whole("groups");
    return weightAndBias(layer, {layer.whole("in_channels"), each, kernel[0], kernel[1]}, outputs);
}

void completeConvTranspose(LayerSpec& layer) {
    requireGroups(layer);
    const auto stride = layer.pair("stride"), more = layer.pair("output_padding");
    const auto dilation = layer.pair("dilation");
    for (const size_t i : {0U, 1U})
        if (more[i] >= std::max(stride[i], dilation[i]))
            layer.refuse(phrase("Model", "output_padding must be smaller than stride or dilation"));
}

/// The result's extent along an axis of the input `in`.
int64_t convTransposeExtent(const LayerSpec& layer, const NodeType& in, int axis, int64_t kernel,
                            const fn::Conv1dAttrs& how, int64_t more) {
    const int64_t extent = (in.shape[axis] - 1) * how.stride + how.dilation * (kernel - 1) + 1 +
                           more - 2 * how.padding;
    if (extent < 1)
        layer.refuse(
            {phrase("Model", "with this padding, nothing is left of the result for the input %1"),
             shapeText(in.shape)});
    return extent;
}

NodeType convTransposeOutput(const LayerSpec& layer, const NodeType& in) {
    requireImage(layer, in);
    requireInChannels(layer, in);
    const auto kernel = layer.pair("kernel_size"), more = layer.pair("output_padding");
    const ConvAttrs how = convAttrs(layer);
    NodeType out = in;
    out.shape[1] = layer.whole("out_channels");
    for (size_t i = 0; i < 2; ++i) {
        const int axis = 2 + static_cast<int>(i);
        out.shape[axis] = convTransposeExtent(
            layer, in, axis, kernel[i],
            {how.stride[i], how.padding[i], how.dilation[i], how.groups}, more[i]);
    }
    return out;
}

NodeId emitConvTranspose(LayerContext& c, const LayerSpec& layer, NodeId x) {
    const NodeId weight = c.parameter("weight"), bias = c.parameter("bias");
    return fn::convTranspose2d(c.b, x, weight, bias, convAttrs(layer),
                               layer.pair("output_padding"));
}

constexpr ArgInfo kConvTranspose1dArgs[] = {
    {"in_channels", ArgKind::Whole, "", ArgShown::Bare, 1, kMostUnits},
    {"out_channels", ArgKind::Whole, "", ArgShown::Bare, 1, kMostUnits},
    {"kernel_size", ArgKind::Single, "", ArgShown::Named, 1, 4096},
    {"stride", ArgKind::Single, "1", ArgShown::Named, 1, 4096},
    {"padding", ArgKind::Single, "0", ArgShown::Changed, 0, 4096},
    {"output_padding", ArgKind::Single, "0", ArgShown::Changed, 0, 4096},
    {"groups", ArgKind::Whole, "1", ArgShown::Changed, 1, kMostUnits},
    {"bias", ArgKind::Truth, "True", ArgShown::Changed},
    {.name = "dilation",
     .kind = ArgKind::Single,
     .standard = "1",
     .shown = ArgShown::Changed,
     .least = 1,
     .most = 4096,
     .printedAfter = "padding"},
    {"padding_mode", ArgKind::Word, "'zeros'", ArgShown::Changed, 0, 0, "'zeros'"},
};

std::vector<ParameterInfo> convTranspose1dParameters(const LayerSpec& layer) {
    const int64_t outputs = layer.whole("out_channels");
    const int64_t each = outputs / layer.whole("groups");
    return weightAndBias(layer, {layer.whole("in_channels"), each, layer.whole("kernel_size")},
                         outputs);
}

NodeType convTranspose1dOutput(const LayerSpec& layer, const NodeType& in) {
    requireSequence(layer, in);
    requireInChannels(layer, in);
    const int64_t length = convTransposeExtent(layer, in, 2, layer.whole("kernel_size"),
                                               conv1dAttrs(layer), layer.whole("output_padding"));
    return {{in.shape[0], layer.whole("out_channels"), length}, in.dtype};
}

NodeId emitConvTranspose1d(LayerContext& c, const LayerSpec& layer, NodeId x) {
    const NodeId weight = c.parameter("weight"), bias = c.parameter("bias");
    return fn::convTranspose1d(c.b, x, weight, bias, conv1dAttrs(layer),
                               layer.whole("output_padding"));
}

constexpr LayerInfo kRows[] = {
    {"Linear", Wants::Features, kLinearArgs, linearOutput, emitLinearLayer, linearParameters},
    {"Conv1d", Wants::Samples, kConv1dArgs, conv1dOutput, emitConv1d, conv1dParameters, nullptr,
     completeConv},
    {"Conv2d", Wants::Images, kConvArgs, convOutput, emitConv, convParameters, convLayout,
     completeConv},
    {"ConvTranspose2d", Wants::Images, kConvTransposeArgs, convTransposeOutput, emitConvTranspose,
     convTransposeParameters, nullptr, completeConvTranspose},
    {"ConvTranspose1d", Wants::Samples, kConvTranspose1dArgs, convTranspose1dOutput,
     emitConvTranspose1d, convTranspose1dParameters, nullptr, completeConvTranspose},
};

} // namespace

std::span<const LayerInfo> productLayers() { return kRows; }

bool fillsBorder(const LayerSpec& layer) { return layer.value("padding_mode").word != "zeros"; }

fn::Border borderOfConv(const LayerSpec& layer) {
    const auto ends = evenEnds(layer);
    if (layer.info->name == "Conv1d") {
        const int64_t padding = layer.whole("padding");
        return {padding, padding + ends[1]};
    }
    const auto sides = layer.pair("padding");
    return {sides[1], sides[1] + ends[1], sides[0], sides[0] + ends[0]};
}

std::array<int64_t, 2> evenEnds(const LayerSpec& layer) {
    if (layer.value("padding").word != "same") return {0, 0};
    const auto kernel = layer.pair("kernel_size"), dilation = layer.pair("dilation");
    return {(kernel[0] - 1) * dilation[0] % 2, (kernel[1] - 1) * dilation[1] % 2};
}

} // namespace halfscope
