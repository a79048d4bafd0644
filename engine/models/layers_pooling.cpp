// Pooling and upsampling of images and sequences.
#include "engine/models/layer_context.h"
#include "engine/models/pool_shape.h"
#include "engine/ops/functional.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace halfscope {

namespace {

constexpr double kMostWindow = 4096, kLeastFactor = 0.001;

constexpr ArgInfo kMaxArgs[] = {
    {"kernel_size", ArgKind::Size, "", ArgShown::Named, 1, kMostWindow},
    {"stride", ArgKind::Size, "None", ArgShown::Named, 1, kMostWindow},
    {"padding", ArgKind::Size, "0", ArgShown::Named, 0, kMostWindow},
    {"dilation", ArgKind::Size, "1", ArgShown::Named, 1, kMostWindow},
    {"return_indices", ArgKind::Truth, "False", ArgShown::Never, 0, 0, "False"},
    {"ceil_mode", ArgKind::Truth, "False"},
};
constexpr ArgInfo kAvgArgs[] = {
    {"kernel_size", ArgKind::Size, "", ArgShown::Named, 1, kMostWindow},
    {"stride", ArgKind::Size, "None", ArgShown::Named, 1, kMostWindow},
    {"padding", ArgKind::Size, "0", ArgShown::Named, 0, kMostWindow},
    {"ceil_mode", ArgKind::Truth, "False", ArgShown::Lost},
    {"count_include_pad", ArgKind::Truth, "True", ArgShown::Lost},
    {"divisor_override", ArgKind::Whole, "None", ArgShown::Lost, 1, 1e9},
};
constexpr ArgInfo kAdaptiveArgs[] = {
    {"output_size", ArgKind::Size, "", ArgShown::Named, 1, kMostWindow},
};
constexpr ArgInfo kAdaptiveMaxArgs[] = {
    {"output_size", ArgKind::Size, "", ArgShown::Named, 1, kMostWindow},
    {"return_indices", ArgKind::Truth, "False", ArgShown::Never, 0, 0, "False"},
};
constexpr ArgInfo kMaxLineArgs[] = {
    {"kernel_size", ArgKind::Whole, "", ArgShown::Named, 1, kMostWindow},
    {"stride", ArgKind::Whole, "None", ArgShown::Named, 1, kMostWindow},
    {"padding", ArgKind::Whole, "0", ArgShown::Named, 0, kMostWindow},
    {"dilation", ArgKind::Whole, "1", ArgShown::Named, 1, kMostWindow},
    {"return_indices", ArgKind::Truth, "False", ArgShown::Never, 0, 0, "False"},
    {"ceil_mode", ArgKind::Truth, "False"},
};
constexpr ArgInfo kAvgLineArgs[] = {
    {"kernel_size", ArgKind::Single, "", ArgShown::Named, 1, kMostWindow},
    {"stride", ArgKind::Single, "None", ArgShown::Named, 1, kMostWindow},
    {"padding", ArgKind::Single, "0", ArgShown::Named, 0, kMostWindow},
    {"ceil_mode", ArgKind::Truth, "False", ArgShown::Lost},
    {"count_include_pad", ArgKind::Truth, "True", ArgShown::Lost},
};
constexpr ArgInfo kAdaptiveLineArgs[] = {
    {"output_size", ArgKind::Whole, "", ArgShown::Named, 1, kMostWindow},
};
constexpr ArgInfo kAdaptiveMaxLineArgs[] = {
    {"output_size", ArgKind::Whole, "", ArgShown::Named, 1, kMostWindow},
    {"return_indices", ArgKind::Truth, "False", ArgShown::Never, 0, 0, "False"},
};
constexpr ArgInfo kNewSize{.name = "size",
                           .kind = ArgKind::Size,
                           .standard = "None",
                           .shown = ArgShown::Changed,
                           .least = 1,
                           .most = 1 << 16,
                           .orOne = true};
constexpr ArgInfo kNewFactor{.name = "scale_factor",
                             .kind = ArgKind::Factor,
                             .standard = "None",
                             .shown = ArgShown::Changed,
                             .least = kLeastFactor,
                             .most = kMostWindow,
                             .orOne = true};
constexpr ArgInfo kUpsampleArgs[] = {
    kNewSize,
    kNewFactor,
    {"mode", ArgKind::Word, "'nearest'", ArgShown::Named, 0, 0,
     "'nearest' or 'linear' or 'bilinear' or 'bicubic'"},
    {"align_corners", ArgKind::Truth, "None", ArgShown::Lost},
    {"recompute_scale_factor", ArgKind::Truth, "None", ArgShown::Never, 0, 0, "None"},
};

/// The older names of Upsample, which print() shows with their mode.
constexpr ArgInfo modeOf(std::string_view mode) {
    return {.name = "mode", .kind = ArgKind::Word, .standard = mode, .only = mode, .byName = true};
}
constexpr ArgInfo kNearestArgs[] = {kNewSize, kNewFactor, modeOf("'nearest'")};
constexpr ArgInfo kBilinearArgs[] = {kNewSize, kNewFactor, modeOf("'bilinear'")};

/// Returns the steps between the values of a window, which averages do not have.
std::array<int64_t, 2> dilationOf(const LayerSpec& layer) {
    return layer.info->name.starts_with("Max") ? layer.pair("dilation")
                                               : std::array<int64_t, 2>{1, 1};
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

NodeType poolOutput(const LayerSpec& layer, const NodeType& in) {
    requireImage(layer, in);
    const auto windows = poolShape(layer, in.shape).windows;
    return {{in.shape[0], in.shape[1], windows[0], windows[1]}, in.dtype};
}
NodeType linePoolOutput(const LayerSpec& layer, const NodeType& in) {
    requireSequence(layer, in);
    return {{in.shape[0], in.shape[1], poolShape(layer, in.shape).windows[1]}, in.dtype};
}

NodeId asImage(LayerContext& c, NodeId x) {
    const Shape s = c.b.shapeOf(x);
    return s.rank() == 4 ? x : c.b.reshape(x, {s[0], s[1], 1, s[2]});
}
NodeId asSequence(LayerContext& c, NodeId x) {
    const Shape s = c.b.shapeOf(x);
    return c.b.reshape(x, {s[0], s[1], s[3]});
}

/// Pools images, and sequences as images of one row.
NodeId emitMaxPool(LayerContext& c, const LayerSpec& layer, NodeId x) {
    const PoolShape how = poolShape(layer, c.b.shapeOf(x));
    return fn::maxPool2d(c.b, asImage(c, x), how.attrs, how.beyond, how.dilation);
}
NodeId emitAvgPool(LayerContext& c, const LayerSpec& layer, NodeId x) {
    const PoolShape how = poolShape(layer, c.b.shapeOf(x));
    return fn::avgPool2d(c.b, asImage(c, x), how.attrs, how.beyond, divisorOf(layer));
}
NodeId emitLineMaxPool(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return asSequence(c, emitMaxPool(c, layer, x));
}
NodeId emitLineAvgPool(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return asSequence(c, emitAvgPool(c, layer, x));
}

NodeType lineAdaptiveOutput(const LayerSpec& layer, const NodeType& in) {
    requireSequence(layer, in);
    return {{in.shape[0], in.shape[1], layer.whole("output_size")}, in.dtype};
}
using Adaptive = NodeId (*)(Builder&, NodeId, std::array<int64_t, 2>);
template <Adaptive function>
NodeId emitLineAdaptive(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return asSequence(c, function(c.b, asImage(c, x), {1, layer.whole("output_size")}));
}

NodeType adaptiveOutput(const LayerSpec& layer, const NodeType& in) {
    requireImage(layer, in);
    const auto size = layer.pair("output_size");
    return {{in.shape[0], in.shape[1], size[0], size[1]}, in.dtype};
}
template <Adaptive function>
NodeId emitAdaptive(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return function(c.b, x, layer.pair("output_size"));
}

void completeUpsample(LayerSpec& layer) {
    if (layer.value("size").isNone == layer.value("scale_factor").isNone)
        layer.refuse(phrase("Model", "either size or scale_factor must be given"));
    if (layer.value("mode").word == "nearest" && layer.info->name == "Upsample" &&
        !layer.value("align_corners").isNone)
        layer.refuse(
            phrase("Model", "align_corners goes with mode='linear', 'bilinear' or 'bicubic'"));
    if (layer.value("mode").word == "nearest") layer.untold.clear(); // it has no corners to align
}

/// Refuses a tuple that has not as many numbers as the input has axes to bring to a size.
void checkTuple(const LayerSpec& layer, const Shape& in) {
    for (const std::string_view arg : {"size", "scale_factor"}) {
        const ArgValue& value = layer.value(arg);
        const size_t given = value.numbers.size();
        if (!value.isTuple || given == static_cast<size_t>(in.rank()) - 2) continue;
        layer.refuse({given == 1 ? phrase("Model", "%1 has one number in brackets, which is for "
                                                   "sequences, and the input is %2")
                                 : phrase("Model", "%1 has two numbers, which is for images, and "
                                                   "the input is %2"),
                      arg, shapeText(in)});
    }
}

/// Images, and sequences where the mode takes them.
NodeType upsampleOutput(const LayerSpec& layer, const NodeType& in) {
    const std::string& mode = layer.value("mode").word;
    const bool either = mode == "nearest" && layer.info->name == "Upsample" && in.shape.rank() == 3;
    if (mode == "linear" || either)
        requireSequence(layer, in);
    else
        requireImage(layer, in);
    checkTuple(layer, in.shape);
    const auto size = newSizeOf(layer, in.shape).size;
    NodeType out = in;
    out.shape[in.shape.rank() - 1] = size[1];
    if (in.shape.rank() == 4) out.shape[2] = size[0];
    return out;
}

/// Returns how many times the image grows along both axes, where these are whole numbers.
std::optional<std::array<int64_t, 2>> factorsOf(const fn::NewSize& to, const Shape& in) {
    std::array<int64_t, 2> factors{};
    for (size_t i = 0; i < 2; ++i) {
        factors[i] = std::llround(1 / to.step[i]);
        if (factors[i] * in[2 + static_cast<int>(i)] != to.size[i] ||
            1 / static_cast<double>(factors[i]) != to.step[i])
            return std::nullopt;
    }
    return factors;
}

NodeId upsampled(LayerContext& c, const LayerSpec& layer, NodeId x, const fn::NewSize& to) {
    const Shape in = c.b.shapeOf(x);
    const std::string& mode = layer.value("mode").word;
    const bool linear = mode == "linear" || mode == "bilinear";
    const auto factors = factorsOf(to, in);
    if (mode == "nearest")
        return factors ? fn::upsampleNearest2d(c.b, x, *factors)
                       : fn::resampled2d(c.b, x, to, fn::Resampling::Nearest, fn::Corners::Edges);
    if (linear && factors) return fn::upsampleBilinear2d(c.b, x, *factors, cornersOf(layer));
    const auto how = linear ? fn::Resampling::Bilinear : fn::Resampling::Bicubic;
    return fn::resampled2d(c.b, x, to, how, cornersOf(layer));
}

/// Brings images to another size, and sequences as images of one row.
NodeId emitUpsample(LayerContext& c, const LayerSpec& layer, NodeId x) {
    const Shape in = c.b.shapeOf(x);
    const NodeId y = upsampled(c, layer, asImage(c, x), newSizeOf(layer, in));
    return in.rank() == 4 ? y : asSequence(c, y);
}

constexpr LayerInfo kRows[] = {
    {"MaxPool1d", Wants::Samples, kMaxLineArgs, linePoolOutput, emitLineMaxPool, nullptr, nullptr,
     completePool},
    {"MaxPool2d", Wants::Images, kMaxArgs, poolOutput, emitMaxPool, nullptr, nullptr, completePool},
    {"AvgPool1d", Wants::Samples, kAvgLineArgs, linePoolOutput, emitLineAvgPool, nullptr, nullptr,
     completePool},
    {"AvgPool2d", Wants::Images, kAvgArgs, poolOutput, emitAvgPool, nullptr, nullptr, completePool},
    {"AdaptiveAvgPool1d", Wants::Samples, kAdaptiveLineArgs, lineAdaptiveOutput,
     emitLineAdaptive<fn::adaptiveAvgPool2d>},
    {"AdaptiveAvgPool2d", Wants::Images, kAdaptiveArgs, adaptiveOutput,
     emitAdaptive<fn::adaptiveAvgPool2d>},
    {"AdaptiveMaxPool1d", Wants::Samples, kAdaptiveMaxLineArgs, lineAdaptiveOutput,
     emitLineAdaptive<fn::adaptiveMaxPool2d>},
    {"AdaptiveMaxPool2d", Wants::Images, kAdaptiveMaxArgs, adaptiveOutput,
     emitAdaptive<fn::adaptiveMaxPool2d>},
    {"Upsample", Wants::Images, kUpsampleArgs, upsampleOutput, emitUpsample, nullptr, nullptr,
     completeUpsample},
    {"UpsamplingNearest2d", Wants::Images, kNearestArgs, upsampleOutput, emitUpsample, nullptr,
     nullptr, completeUpsample},
    {"UpsamplingBilinear2d", Wants::Images, kBilinearArgs, upsampleOutput, emitUpsample, nullptr,
     nullptr, completeUpsample},
};

} // namespace

std::span<const LayerInfo> poolingLayers() { return kRows; }

PoolShape poolShape(const LayerSpec& layer, const Shape& in) {
    const bool image = in.rank() == 4;
    const auto of = [&](std::string_view arg, int64_t inRows) -> std::array<int64_t, 2> {
        if (image) return layer.pair(arg);
        return {inRows, layer.whole(arg)};
    };
    PoolShape pool;
    pool.attrs = {of("kernel_size", 1), of("stride", 1), of("padding", 0), {}};
    pool.dilation = dilationOf(layer);
    pool.extents = image ? std::array{in[2], in[3]} : std::array{int64_t{1}, in[2]};
    for (size_t i = 0; i < 2; ++i) {
        const int64_t padding = pool.attrs.padding[i], stride = pool.attrs.stride[i];
        const int64_t padded = pool.extents[i] + 2 * padding;
        const int64_t kernel = pool.dilation[i] * (pool.attrs.kernel[i] - 1) + 1;
        const int64_t more = layer.truth("ceil_mode") ? stride - 1 : 0;
        if (padded - kernel + more < 0)
            layer.refuse(
                {phrase("Model", "the window is larger than the input, %1"), shapeText(in)});
        int64_t& windows = pool.windows[i];
        windows = (padded - kernel + more) / stride + 1;
        // As in PyTorch, a window does not begin behind the input.
        if (more > 0 && (windows - 1) * stride >= pool.extents[i] + padding) --windows;
        pool.beyond[i] = std::max<int64_t>(0, (windows - 1) * stride + kernel - padded);
    }
    requireRoom(layer,
                {in[0], in[1], pool.extents[0] + pool.beyond[0], pool.extents[1] + pool.beyond[1]});
    return pool;
}

fn::Divisor divisorOf(const LayerSpec& layer) {
    fn::Divisor divisor{layer.truth("count_include_pad")};
    const bool overrides =
        layer.info->name == "AvgPool2d" && !layer.value("divisor_override").isNone;
    if (overrides) divisor.fixed = layer.whole("divisor_override");
    return divisor;
}

fn::NewSize newSizeOf(const LayerSpec& layer, const Shape& in) {
    const std::vector<double>& factors = layer.value("scale_factor").numbers;
    const std::string& mode = layer.value("mode").word;
    fn::NewSize to{.size = {1, 1}, .step = {1, 1}};
    const size_t rows = in.rank() == 4 ? 2 : 1; // a sequence is an image of one row
    for (size_t i = 2 - rows; i < 2; ++i) {
        const int64_t extent = in[in.rank() - 2 + static_cast<int>(i)];
        int64_t& size = to.size[i];
        if (factors.empty()) {
            size = layer.pair("size")[i];
            to.step[i] = static_cast<double>(extent) / static_cast<double>(size);
        } else {
            const double factor = factors[std::min(i, factors.size() - 1)];
            size = static_cast<int64_t>(static_cast<double>(extent) * factor);
            to.step[i] = 1 / factor;
        }
        if (size < 1)
            layer.refuse(
                {phrase("Model", "of the input, %1, no pixel would be left"), shapeText(in)});
        // as PyTorch's kernels for the CPU have it, whatever the factor
        if (size == extent && mode != "bicubic") to.step[i] = 1;
        if (size == 2 * extent && mode == "nearest") to.step[i] = 0.5;
    }
    return to;
}

fn::Corners cornersOf(const LayerSpec& layer) {
    const bool keeps = layer.info->name == "UpsamplingBilinear2d" || layer.truth("align_corners");
    return keeps ? fn::Corners::Pixels : fn::Corners::Edges;
}

} // namespace halfscope
