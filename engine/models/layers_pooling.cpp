// Pooling of images and sequences, and upsampling of images.
#include "engine/models/layer_context.h"
#include "engine/ops/functional.h"

namespace halfscope {

namespace {

constexpr double kMostWindow = 4096;

constexpr ArgInfo kMaxArgs[] = {
    {"kernel_size", ArgKind::Size, "", ArgShown::Named, 1, kMostWindow},
    {"stride", ArgKind::Size, "None", ArgShown::Named, 1, kMostWindow},
    {"padding", ArgKind::Size, "0", ArgShown::Named, 0, kMostWindow},
    {"dilation", ArgKind::Size, "1", ArgShown::Named, 1, kMostWindow, "1"},
    {"return_indices", ArgKind::Truth, "False", ArgShown::Never, 0, 0, "False"},
    {"ceil_mode", ArgKind::Truth, "False", ArgShown::Named, 0, 0, "False"},
};
constexpr ArgInfo kAvgArgs[] = {
    {"kernel_size", ArgKind::Size, "", ArgShown::Named, 1, kMostWindow},
    {"stride", ArgKind::Size, "None", ArgShown::Named, 1, kMostWindow},
    {"padding", ArgKind::Size, "0", ArgShown::Named, 0, kMostWindow},
    {"ceil_mode", ArgKind::Truth, "False", ArgShown::Never, 0, 0, "False"},
    {"count_include_pad", ArgKind::Truth, "True", ArgShown::Never, 0, 0, "True"},
    {"divisor_override", ArgKind::Whole, "None", ArgShown::Never, 1, 1e9, "None"},
};
constexpr ArgInfo kAdaptiveArgs[] = {
    {"output_size", ArgKind::Size, "", ArgShown::Named, 1, kMostWindow},
};
constexpr ArgInfo kMaxLineArgs[] = {
    {"kernel_size", ArgKind::Whole, "", ArgShown::Named, 1, kMostWindow},
    {"stride", ArgKind::Whole, "None", ArgShown::Named, 1, kMostWindow},
    {"padding", ArgKind::Whole, "0", ArgShown::Named, 0, kMostWindow},
    {"dilation", ArgKind::Whole, "1", ArgShown::Named, 1, kMostWindow, "1"},
    {"return_indices", ArgKind::Truth, "False", ArgShown::Never, 0, 0, "False"},
    {"ceil_mode", ArgKind::Truth, "False", ArgShown::Named, 0, 0, "False"},
};
constexpr ArgInfo kAvgLineArgs[] = {
    {"kernel_size", ArgKind::Single, "", ArgShown::Named, 1, kMostWindow},
    {"stride", ArgKind::Single, "None", ArgShown::Named, 1, kMostWindow},
    {"padding", ArgKind::Single, "0", ArgShown::Named, 0, kMostWindow},
    {"ceil_mode", ArgKind::Truth, "False", ArgShown::Never, 0, 0, "False"},
    {"count_include_pad", ArgKind::Truth, "True", ArgShown::Never, 0, 0, "True"},
};
constexpr ArgInfo kAdaptiveLineArgs[] = {
    {"output_size", ArgKind::Whole, "", ArgShown::Named, 1, kMostWindow},
};
constexpr ArgInfo kUpsampleArgs[] = {
    {"size", ArgKind::Size, "None", ArgShown::Changed, 1, 1 << 16},
    {"scale_factor", ArgKind::Factor, "None", ArgShown::Changed, 1, kMostWindow},
    {"mode", ArgKind::Word, "'nearest'", ArgShown::Named, 0, 0, "'nearest'"},
    {"align_corners", ArgKind::Truth, "None", ArgShown::Never, 0, 0, "None"},
    {"recompute_scale_factor", ArgKind::Truth, "None", ArgShown::Never, 0, 0, "None"},
};

PoolAttrs attrsOf(const LayerSpec& layer) {
    return {layer.pair("kernel_size"), layer.pair("stride"), layer.pair("padding"), {}};
}

/// How a sequence (n, c, length) is pooled as an image of one row (n, c, 1, length).
PoolAttrs lineAttrsOf(const LayerSpec& layer) {
    return {{1, layer.whole("kernel_size")},
            {1, layer.whole("stride")},
            {0, layer.whole("padding")},
            {}};
}

/// PyTorch's default stride is the window.
void completePool(LayerSpec& layer) {
    ArgValue& stride = layer.args[1];
    if (stride.isNone) stride = layer.args[0];
    const auto kernel = layer.pair("kernel_size"), padding = layer.pair("padding");
    for (size_t i = 0; i < 2; ++i)
        if (2 * padding[i] > kernel[i])
            layer.refuse(phrase("Model", "the padding must be at most half of kernel_size"));
}

/// Returns how many windows fit along an axis of the input.
int64_t windowsAlong(const LayerSpec& layer, const Shape& in, int axis, const PoolAttrs& how,
                     size_t i) {
    const int64_t room = in[axis] + 2 * how.padding[i] - how.kernel[i];
    if (room < 0)
        layer.refuse({phrase("Model", "the window is larger than the input, %1"), shapeText(in)});
    return room / how.stride[i] + 1;
}

NodeType poolOutput(const LayerSpec& layer, const NodeType& in) {
    requireImage(layer, in);
    const PoolAttrs how = attrsOf(layer);
    NodeType out = in;
    for (const int i : {0, 1})
        out.shape[2 + i] = windowsAlong(layer, in.shape, 2 + i, how, static_cast<size_t>(i));
    return out;
}

NodeType linePoolOutput(const LayerSpec& layer, const NodeType& in) {
    requireSequence(layer, in);
    const int64_t length = windowsAlong(layer, in.shape, 2, lineAttrsOf(layer), 1);
    return {{in.shape[0], in.shape[1], length}, in.dtype};
}

NodeId emitMaxPool(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return fn::maxPool2d(c.b, x, attrsOf(layer));
}
NodeId emitAvgPool(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return fn::avgPool2d(c.b, x, attrsOf(layer));
}

NodeId asImage(LayerContext& c, NodeId x) {
    const Shape s = c.b.shapeOf(x);
    return c.b.reshape(x, {s[0], s[1], 1, s[2]});
}
NodeId asSequence(LayerContext& c, NodeId x) {
    const Shape s = c.b.shapeOf(x);
    return c.b.reshape(x, {s[0], s[1], s[3]});
}
NodeId emitLineMaxPool(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return asSequence(c, fn::maxPool2d(c.b, asImage(c, x), lineAttrsOf(layer)));
}
NodeId emitLineAvgPool(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return asSequence(c, fn::avgPool2d(c.b, asImage(c, x), lineAttrsOf(layer)));
}

NodeType lineAdaptiveOutput(const LayerSpec& layer, const NodeType& in) {
    requireSequence(layer, in);
    return {{in.shape[0], in.shape[1], layer.whole("output_size")}, in.dtype};
}
NodeId emitLineAdaptive(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return asSequence(c,
                      fn::adaptiveAvgPool2d(c.b, asImage(c, x), {1, layer.whole("output_size")}));
}

NodeType adaptiveOutput(const LayerSpec& layer, const NodeType& in) {
    requireImage(layer, in);
    const auto size = layer.pair("output_size");
    return {{in.shape[0], in.shape[1], size[0], size[1]}, in.dtype};
}
NodeId emitAdaptive(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return fn::adaptiveAvgPool2d(c.b, x, layer.pair("output_size"));
}

/// Returns how many times an image of `in` grows along each axis; refuses factors that are not
/// whole numbers.
std::array<int64_t, 2> factorsOf(const LayerSpec& layer, const Shape& in) {
    if (!layer.value("scale_factor").isNone) return layer.pair("scale_factor");
    std::array<int64_t, 2> size = layer.pair("size");
    for (size_t i = 0; i < 2; ++i) {
        const int64_t extent = in[2 + static_cast<int>(i)];
        if (size[i] % extent != 0)
            layer.refuse(
                {phrase("Model", "the input, %1, does not grow to this size by whole numbers"),
                 shapeText(in)});
        size[i] /= extent;
    }
    return size;
}

void completeUpsample(LayerSpec& layer) {
    if (layer.value("size").isNone == layer.value("scale_factor").isNone)
        layer.refuse(phrase("Model", "either size or scale_factor must be given"));
    for (const double factor : layer.value("scale_factor").numbers)
        if (factor != static_cast<double>(static_cast<int64_t>(factor)))
            layer.refuse(phrase("Model", "a scale_factor must be a whole number here, such as 2"));
}

NodeType upsampleOutput(const LayerSpec& layer, const NodeType& in) {
    requireImage(layer, in);
    const auto factors = factorsOf(layer, in.shape);
    return {{in.shape[0], in.shape[1], in.shape[2] * factors[0], in.shape[3] * factors[1]},
            in.dtype};
}

NodeId emitUpsample(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return fn::upsampleNearest2d(c.b, x, factorsOf(layer, c.b.shapeOf(x)));
}

constexpr LayerInfo kRows[] = {
    {"MaxPool1d", Wants::Samples, kMaxLineArgs, linePoolOutput, emitLineMaxPool, nullptr, nullptr,
     completePool},
    {"MaxPool2d", Wants::Images, kMaxArgs, poolOutput, emitMaxPool, nullptr, nullptr, completePool},
    {"AvgPool1d", Wants::Samples, kAvgLineArgs, linePoolOutput, emitLineAvgPool, nullptr, nullptr,
     completePool},
    {"AvgPool2d", Wants::Images, kAvgArgs, poolOutput, emitAvgPool, nullptr, nullptr, completePool},
    {"AdaptiveAvgPool1d", Wants::Samples, kAdaptiveLineArgs, lineAdaptiveOutput, emitLineAdaptive},
    {"AdaptiveAvgPool2d", Wants::Images, kAdaptiveArgs, adaptiveOutput, emitAdaptive},
    {"Upsample", Wants::Images, kUpsampleArgs, upsampleOutput, emitUpsample, nullptr, nullptr,
     completeUpsample},
};

} // namespace

std::span<const LayerInfo> poolingLayers() { return kRows; }

} // namespace halfscope
