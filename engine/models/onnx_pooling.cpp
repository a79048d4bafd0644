// Pooling, upsampling, borders and regrouped pixels in ONNX, by operators of opset 17.
#include "engine/models/onnx_rows.h"
#include "engine/models/pool_shape.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace halfscope {

namespace {

/// Writes a pool with its windows as padding: what ceil_mode means at the end of the input has
/// changed between versions of ONNX.
std::string pool(const OnnxLayer& layer, std::string_view op, const std::string& x,
                 std::vector<OnnxAttribute> more = {}) {
    const PoolShape how = poolShape(layer.spec, layer.in.shape);
    std::vector<int64_t> kernel, strides, begins, ends;
    for (size_t i = layer.in.shape.rank() == 3 ? 1 : 0; i < 2; ++i) {
        kernel.push_back(how.attrs.kernel[i]);
        strides.push_back(how.attrs.stride[i]);
        begins.push_back(how.attrs.padding[i]);
        ends.push_back(how.attrs.padding[i] + how.beyond[i]);
    }
    begins.insert(begins.end(), ends.begin(), ends.end());
    more.push_back({"kernel_shape", kernel});
    more.push_back({"strides", strides});
    more.push_back({"pads", begins});
    return layer.node(op, {x}, more);
}

std::string emitMaxPool(const OnnxLayer& layer, const std::string& x) {
    const PoolShape how = poolShape(layer.spec, layer.in.shape);
    const size_t first = layer.in.shape.rank() == 3 ? 1 : 0;
    return pool(layer, "MaxPool", x,
                {{"dilations", std::vector(how.dilation.begin() + first, how.dilation.end())}});
}

/// Writes averages over whole windows, and factors for those that are divided by less.
std::string emitAvgPool(const OnnxLayer& layer, const std::string& x) {
    const PoolShape how = poolShape(layer.spec, layer.in.shape);
    const fn::Divisor divisor = divisorOf(layer.spec);
    const std::string y = pool(layer, "AveragePool", x, {{"count_include_pad", int64_t{1}}});
    if (divisor.fixed > 0) {
        const auto window = static_cast<double>(how.attrs.kernel[0] * how.attrs.kernel[1]);
        return layer.node("Mul",
                          {y, layer.graph.scalar(window / static_cast<double>(divisor.fixed))});
    }
    std::vector<float> factors;
    const auto shares = [&](size_t i) {
        return fn::windowShares(how.extents[i], how.attrs, i, how.beyond, divisor);
    };
    for (const double down : shares(0))
        for (const double across : shares(1))
            factors.push_back(static_cast<float>(down * across));
    const bool none =
        std::all_of(factors.begin(), factors.end(), [](float factor) { return factor == 1; });
    if (none) return y;
    const Shape shape =
        layer.in.shape.rank() == 3 ? Shape{how.windows[1]} : Shape{how.windows[0], how.windows[1]};
    return layer.node("Mul", {y, layer.graph.constant(shape, factors)});
}

/// Windows of one size become a pool; otherwise each is cut out.
std::string emitAdaptiveMaxPool(const OnnxLayer& layer, const std::string& x) {
    const Shape &in = layer.in.shape, &out = layer.out.shape;
    std::vector<int64_t> window;
    bool even = true;
    for (int axis = 2; axis < in.rank(); ++axis) {
        even = even && in[axis] % out[axis] == 0;
        window.push_back(in[axis] / out[axis]);
    }
    if (even) return layer.node("MaxPool", {x}, {{"kernel_shape", window}, {"strides", window}});
    std::string y = x;
    for (int axis = 2; axis < in.rank(); ++axis) {
        std::string joined;
        for (int64_t i = 0; i < out[axis]; ++i) {
            const int64_t begin = i * in[axis] / out[axis];
            const int64_t end = ((i + 1) * in[axis] + out[axis] - 1) / out[axis];
            const std::string most =
                layer.node("ReduceMax", {onnxSlice(layer, y, axis, begin, end)},
                           {{"axes", std::vector<int64_t>{axis}}});
            joined =
                i == 0 ? most : layer.node("Concat", {joined, most}, {{"axis", int64_t{axis}}});
        }
        y = joined;
    }
    return y;
}

/// Returns the matrix (to, from) for means along one axis: row i has the weights of PyTorch's i-th
/// window.
std::vector<float> windowMeans(int64_t from, int64_t to) {
    std::vector<float> matrix(static_cast<size_t>(from * to), 0);
    for (int64_t i = 0; i < to; ++i) {
        const int64_t begin = i * from / to, end = ((i + 1) * from + to - 1) / to;
        for (int64_t k = begin; k < end; ++k)
            matrix[static_cast<size_t>(i * from + k)] = 1 / static_cast<float>(end - begin);
    }
    return matrix;
}

/// Windows of one size become a pool; others are means by matrix products along both axes.
std::string emitAdaptiveAvgPool(const OnnxLayer& layer, const std::string& x) {
    const Shape &in = layer.in.shape, &out = layer.out.shape;
    if (in[2] % out[2] == 0 && in[3] % out[3] == 0) {
        const std::vector<int64_t> window{in[2] / out[2], in[3] / out[3]};
        return layer.node("AveragePool", {x}, {{"kernel_shape", window}, {"strides", window}});
    }
    const std::string rows = layer.graph.constant({out[2], in[2]}, windowMeans(in[2], out[2]));
    const std::string columns = layer.graph.constant({out[3], in[3]}, windowMeans(in[3], out[3]));
    const std::string turned =
        layer.node("Transpose", {columns}, {{"perm", std::vector<int64_t>{1, 0}}});
    return layer.node("MatMul", {rows, layer.node("MatMul", {x, turned})});
}

std::string emitAdaptiveAvgPool1d(const OnnxLayer& layer, const std::string& x) {
    const int64_t in = layer.in.shape[2], out = layer.out.shape[2];
    const std::string columns = layer.graph.constant({out, in}, windowMeans(in, out));
    const std::string turned =
        layer.node("Transpose", {columns}, {{"perm", std::vector<int64_t>{1, 0}}});
    return layer.node("MatMul", {x, turned});
}

/// Returns the factor by which ONNX brings an axis to its new size, of which it takes the whole
/// part of the product.
float factorTo(int64_t extent, int64_t size, double step) {
    auto factor = static_cast<float>(1 / step);
    while (static_cast<int64_t>(double{factor} * static_cast<double>(extent)) < size)
        factor = std::nextafter(factor, INFINITY);
    return factor;
}

std::string emitUpsample(const OnnxLayer& layer, const std::string& x) {
    const Shape& in = layer.in.shape;
    const fn::NewSize to = newSizeOf(layer.spec, in);
    std::vector<float> scales{1, 1};
    if (in.rank() == 4) scales.push_back(factorTo(in[2], to.size[0], to.step[0]));
    scales.push_back(factorTo(in[in.rank() - 1], to.size[1], to.step[1]));
    std::vector<OnnxAttribute> how{
        {"mode", std::string_view("nearest")},
        {"coordinate_transformation_mode", std::string_view("asymmetric")},
        {"nearest_mode", std::string_view("floor")}};
    if (const std::string& mode = layer.spec.value("mode").word; mode != "nearest") {
        const bool pixels = cornersOf(layer.spec) == fn::Corners::Pixels;
        how = {{"mode", std::string_view(mode == "bicubic" ? "cubic" : "linear")},
               {"coordinate_transformation_mode",
                std::string_view(pixels ? "align_corners" : "half_pixel")}};
    }
    return layer.node("Resize", {x, "", layer.graph.constant({in.rank()}, scales)}, how);
}

/// Returns the widths before all axes and then those behind them, as ONNX wants them.
std::vector<int64_t> borderWidths(const OnnxLayer& layer, const fn::Border& border) {
    if (layer.in.shape.rank() == 4)
        return {0, 0, border.top, border.left, 0, 0, border.bottom, border.right};
    return {0, 0, border.left, 0, 0, border.right};
}

/// Writes a border of zeros or of another value.
std::string emitPad(const OnnxLayer& layer, const std::string& x) {
    const auto pads = borderWidths(layer, borderOf(layer.spec, layer.in.shape));
    const std::string_view name = layer.spec.info->name;
    const double value = name.starts_with("Zero") ? 0 : layer.spec.real("value");
    return layer.node("Pad", {x, layer.graph.integers(pads), layer.graph.scalar(value)});
}

/// Writes a border of the values at the other end, which Pad has from opset 19 on.
std::string circularBorder(const OnnxLayer& layer, const std::string& x, const fn::Border& border) {
    const int last = layer.in.shape.rank() - 1;
    const auto widened = [&](const std::string& y, int axis, int64_t front, int64_t back) {
        const int64_t extent = layer.in.shape[axis];
        const auto joined = [&](const std::string& a, const std::string& b) {
            return layer.node("Concat", {a, b}, {{"axis", int64_t{axis}}});
        };
        const std::string behind = back > 0 ? joined(y, onnxSlice(layer, y, axis, 0, back)) : y;
        return front > 0 ? joined(onnxSlice(layer, y, axis, extent - front, extent), behind)
                         : behind;
    };
    const std::string wide = widened(x, last, border.left, border.right);
    return widened(wide, last - 1, border.top, border.bottom);
}

/// Writes ReflectionPad, ReplicationPad and CircularPad.
std::string emitFilledBorder(const OnnxLayer& layer, const std::string& x) {
    const std::string_view name = layer.spec.info->name;
    const std::string_view mode = name.starts_with("Reflection")    ? "reflect"
                                  : name.starts_with("Replication") ? "replicate"
                                                                    : "circular";
    return onnxBorder(layer, x, borderOf(layer.spec, layer.in.shape), mode);
}

/// Reshapes x to `apart`, which has as many samples, permutes its axes, and reshapes it to the
/// layer's result.
std::string regrouped(const OnnxLayer& layer, const std::string& x, const Shape& apart,
                      std::vector<int64_t> permutation) {
    Shape between;
    for (const int64_t axis : permutation)
        between.push(apart[static_cast<int>(axis)]);
    const std::string split = onnxReshape(layer.graph, x, layer.in.shape, apart);
    const std::string turned = layer.node("Transpose", {split}, {{"perm", std::move(permutation)}});
    return onnxReshape(layer.graph, turned, between, layer.out.shape);
}

std::string emitPixelShuffle(const OnnxLayer& layer, const std::string& x) {
    return layer.node(
        "DepthToSpace", {x},
        {{"blocksize", layer.spec.whole("upscale_factor")}, {"mode", std::string_view("CRD")}});
}
/// Not SpaceToDepth, which orders channels the other way.
std::string emitPixelUnshuffle(const OnnxLayer& layer, const std::string& x) {
    const Shape &in = layer.in.shape, &out = layer.out.shape;
    const int64_t factor = layer.spec.whole("downscale_factor");
    return regrouped(layer, x, {in[0], in[1], out[2], factor, out[3], factor}, {0, 1, 3, 5, 2, 4});
}
std::string emitChannelShuffle(const OnnxLayer& layer, const std::string& x) {
    const Shape& in = layer.in.shape;
    const int64_t groups = layer.spec.whole("groups");
    return regrouped(layer, x, {in[0], groups, in[1] / groups, in[2], in[3]}, {0, 2, 1, 3, 4});
}

constexpr OnnxRow kRows[] = {
    {"MaxPool1d", emitMaxPool},
    {"MaxPool2d", emitMaxPool},
    {"AvgPool1d", emitAvgPool},
    {"AvgPool2d", emitAvgPool},
    {"AdaptiveAvgPool1d", emitAdaptiveAvgPool1d},
    {"AdaptiveAvgPool2d", emitAdaptiveAvgPool},
    {"AdaptiveMaxPool1d", emitAdaptiveMaxPool},
    {"AdaptiveMaxPool2d", emitAdaptiveMaxPool},
    {"Upsample", emitUpsample},
    {"UpsamplingNearest2d", emitUpsample},
    {"UpsamplingBilinear2d", emitUpsample},
    {"ZeroPad1d", emitPad},
    {"ZeroPad2d", emitPad},
    {"ConstantPad1d", emitPad},
    {"ConstantPad2d", emitPad},
    {"ReflectionPad1d", emitFilledBorder},
    {"ReflectionPad2d", emitFilledBorder},
    {"ReplicationPad1d", emitFilledBorder},
    {"ReplicationPad2d", emitFilledBorder},
    {"CircularPad1d", emitFilledBorder},
    {"CircularPad2d", emitFilledBorder},
    {"PixelShuffle", emitPixelShuffle},
    {"PixelUnshuffle", emitPixelUnshuffle},
    {"ChannelShuffle", emitChannelShuffle},
};

} // namespace

std::span<const OnnxRow> onnxPooling() { return kRows; }

std::string onnxBorder(const OnnxLayer& layer, const std::string& x, const fn::Border& border,
                       std::string_view mode) {
    if (mode == "circular") return circularBorder(layer, x, border);
    const std::string widths = layer.graph.integers(borderWidths(layer, border));
    return layer.node("Pad", {x, widths},
                      {{"mode", std::string_view(mode == "reflect" ? "reflect" : "edge")}});
}

} // namespace halfscope
