// Matrix product and convolution: two families closed under differentiation, with their shape
// rules, gradients and double-precision loops. The fast loops are in engine/cpu and the CUDA
// module.
#include "engine/core/error.h"
#include "engine/ops/builder.h"
#include "engine/ops/families.h"

#include <algorithm>
#include <string>
#include <utility>

namespace halfscope {
namespace {

/// Requires one dtype for the operands of a contraction, because it decides the arithmetic: f32, or
/// f32 from 16 bits. F64 is for the reference evaluator.
void requireOneType(std::string_view op, std::span<const NodeType> in) {
    const DType type = in[0].dtype;
    require(isFloat(type),
            std::string(op) + ": operands must be floats, not " + std::string(nameOf(type)));
    for (const NodeType& other : in.subspan(1))
        require(other.dtype == type, std::string(op) + ": operands of one dtype, not " +
                                         std::string(nameOf(type)) + " and " +
                                         std::string(nameOf(other.dtype)));
}

DType resultOf(DType operands, bool wide) {
    return wide && isLow(operands) ? DType::F32 : operands;
}

NodeType inferMatmul(std::span<const NodeType> in, const Attrs& attrs) {
    require(in.size() == 2 || in.size() == 3, "matmul: two operands, and perhaps a bias, expected");
    requireOneType("matmul", in);
    const auto& how = attrsOf<MatmulAttrs>(attrs);
    const Shape &a = in[0].shape, &b = in[1].shape;
    const std::string both = "matmul of " + a.text() + " and " + b.text() + ": ";
    require(a.rank() >= 2 && a.rank() == b.rank(), both + "equal ranks of at least 2 expected");
    const int last = a.rank() - 1;
    Shape out = a;
    for (int i = 0; i < last - 1; ++i)
        require(a[i] == b[i], both + "batch axes differ");
    const int64_t inner = how.transposeA ? a[last - 1] : a[last];
    require(inner == (how.transposeB ? b[last] : b[last - 1]), both + "inner extents differ");
    out[last - 1] = how.transposeA ? a[last] : a[last - 1];
    out[last] = how.transposeB ? b[last - 1] : b[last];
    if (in.size() == 3)
        require(in[2].shape == Shape{out[last]},
                both + "a bias of " + in[2].shape.text() + " where one per column is expected");
    return {out, resultOf(in[0].dtype, how.wide)};
}

/// Returns the gradient of a result in the dtype of the operands: that of a wide one is in f32.
NodeId roundedGradient(const VjpArgs& v, std::string_view op) {
    const std::string rule = v.b.setRule("gradient of " + std::string(op) + ": rounds its operand");
    const NodeId dy = v.b.cast(v.dy, v.b.dtypeOf(v.in[0]));
    v.b.setRule(rule);
    return dy;
}

void vjpMatmul(const VjpArgs& v) {
    const auto& how = attrsOf<MatmulAttrs>(v.attrs);
    const NodeId a = v.in[0], b = v.in[1], dy = roundedGradient(v, "matmul");
    if (v.needed[0]) {
        v.dIn[0] = how.transposeA ? v.b.matmul(b, dy, {how.transposeB, true})
                                  : v.b.matmul(dy, b, {false, !how.transposeB});
    }
    if (v.needed[1]) {
        v.dIn[1] = how.transposeB ? v.b.matmul(dy, a, {true, how.transposeA})
                                  : v.b.matmul(a, dy, {!how.transposeA, false});
    }
    if (v.in.size() == 3 && v.needed[2]) v.dIn[2] = v.b.sumTo(dy, v.b.shapeOf(v.in[2]));
}

void refMatmul(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    const auto& how = attrsOf<MatmulAttrs>(attrs);
    const Shape& a = in[0].shape;
    const int last = out.shape.rank() - 1;
    const int64_t m = out.shape[last - 1], n = out.shape[last];
    const int64_t k = how.transposeA ? a[last - 1] : a[last];
    const int64_t batches = m * n == 0 ? 0 : out.shape.elements() / (m * n);
    for (int64_t t = 0; t < batches; ++t) {
        const double* left = in[0].values.data() + t * m * k;
        const double* right = in[1].values.data() + t * k * n;
        for (int64_t i = 0; i < m; ++i) {
            for (int64_t j = 0; j < n; ++j) {
                double sum = 0;
                for (int64_t p = 0; p < k; ++p) {
                    sum += left[how.transposeA ? p * m + i : i * k + p] *
                           right[how.transposeB ? j * k + p : p * n + j];
                }
                if (in.size() == 3) sum += in[2].values[static_cast<size_t>(j)];
                out.values[static_cast<size_t>((t * m + i) * n + j)] = sum;
            }
        }
    }
}

void requireSteps(std::string_view op, const ConvAttrs& how) {
    constexpr int64_t kMost = int64_t{1} << 31; // far beyond any image, far below an overflow
    for (size_t axis = 0; axis < 2; ++axis) {
        require(how.stride[axis] >= 1 && how.stride[axis] <= kMost,
                std::string(op) + ": a stride must be 1 to 2^31");
        require(how.padding[axis] >= 0 && how.padding[axis] <= kMost,
                std::string(op) + ": a padding must be 0 to 2^31");
        require(how.dilation[axis] >= 1 && how.dilation[axis] <= kMost,
                std::string(op) + ": a dilation must be 1 to 2^31");
    }
    require(how.groups >= 1 && how.groups <= kMost,
            std::string(op) + ": the groups must be 1 to 2^31");
}

int64_t convExtent(int64_t image, int64_t kernel, const ConvAttrs& how, size_t axis) {
    const int64_t room = image + 2 * how.padding[axis] - 1; // beside the first tap
    if (room < 0 || kernel - 1 > room / how.dilation[axis]) return 0;
    return (room - how.dilation[axis] * (kernel - 1)) / how.stride[axis] + 1;
}

/// The extents of one convolution, whichever of its three tensors is the result. An output sees
/// `seen` of the image's channels.
struct ConvExtents {
    int64_t n, c, h, w, o, seen, kh, kw, oh, ow;
};

/// Checks that image, weight and out (n, o, oh, ow) fit one convolution.
void requireConv(std::string_view op, const Shape& image, const Shape& weight, const Shape& out,
                 const ConvAttrs& how) {
    const std::string what = std::string(op) + " with image " + image.text() + ", weight " +
                             weight.text() + ", output " + out.text() + ": ";
    require(image.rank() == 4 && weight.rank() == 4 && out.rank() == 4, what + "rank 4 expected");
    const auto isThere = [](int64_t extent) { return extent >= 1; };
    require(std::all_of(image.begin(), image.end(), isThere) &&
                std::all_of(weight.begin(), weight.end(), isThere),
            what + "an operand is empty");
    require(weight[0] % how.groups == 0, what + "the groups do not divide the output channels");
    require(image[1] == weight[1] * how.groups,
            what + "channels of image and weight differ" +
                (how.groups == 1 ? "" : " with " + std::to_string(how.groups) + " groups"));
    require(out[0] == image[0] && out[1] == weight[0],
            what + "output has other images or channels");
    for (size_t axis = 0; axis < 2; ++axis) {
        const int at = 2 + static_cast<int>(axis);
        require(weight[at] >= 1 && out[at] >= 1 &&
                    out[at] == convExtent(image[at], weight[at], how, axis),
                what + "spatial extents do not fit kernel, stride, padding and dilation");
    }
}

void requireTarget(std::string_view op, const ConvAttrs& how, int rank) {
    require(how.target.rank() == rank,
            std::string(op) + ": target must have rank " + std::to_string(rank));
}

/// Returns the shape of an image, or of an output, as planes, and a shape of planes as it is
/// stored.
Shape planesOf(const Shape& stored, bool last) { return last ? channelsFirst(stored) : stored; }
Shape storedAs(const Shape& planes, bool last) { return last ? channelsLast(planes) : planes; }

NodeType inferConv2d(std::span<const NodeType> in, const Attrs& attrs) {
    requireOneType("conv2d", in);
    const auto& how = attrsOf<ConvAttrs>(attrs);
    const Shape image = planesOf(in[0].shape, how.imageLast), &weight = in[1].shape;
    require(image.rank() == 4 && weight.rank() == 4,
            "conv2d of " + image.text() + " and " + weight.text() + ": rank 4 expected");
    requireTarget("conv2d", how, 0);
    requireSteps("conv2d", how);
    const Shape out{image[0], weight[0], convExtent(image[2], weight[2], how, 0),
                    convExtent(image[3], weight[3], how, 1)};
    requireConv("conv2d", image, weight, out, how);
    return {storedAs(out, how.outputLast), resultOf(in[0].dtype, how.wide)};
}

// in: dy (n, o, oh, ow), weight (o, c / groups, kh, kw); out: the image (n, c, target)
NodeType inferInputGrad(std::span<const NodeType> in, const Attrs& attrs) {
    requireOneType("conv2d_input_grad", in);
    const auto& how = attrsOf<ConvAttrs>(attrs);
    requireTarget("conv2d_input_grad", how, 2);
    requireSteps("conv2d_input_grad", how);
    require(in[0].shape.rank() == 4 && in[1].shape.rank() == 4,
            "conv2d_input_grad: rank 4 expected");
    const Shape dy = planesOf(in[0].shape, how.outputLast);
    const Shape image{dy[0], in[1].shape[1] * how.groups, how.target[0], how.target[1]};
    requireConv("conv2d_input_grad", image, in[1].shape, dy, how);
    return {storedAs(image, how.imageLast), resultOf(in[0].dtype, how.wide)};
}

// in: image (n, c, h, w), dy (n, o, oh, ow); out: the weight (o, c / groups, target)
NodeType inferWeightGrad(std::span<const NodeType> in, const Attrs& attrs) {
    requireOneType("conv2d_weight_grad", in);
    const auto& how = attrsOf<ConvAttrs>(attrs);
    requireTarget("conv2d_weight_grad", how, 2);
    requireSteps("conv2d_weight_grad", how);
    require(in[0].shape.rank() == 4 && in[1].shape.rank() == 4,
            "conv2d_weight_grad: rank 4 expected");
    const Shape image = planesOf(in[0].shape, how.imageLast),
                dy = planesOf(in[1].shape, how.outputLast);
    const Shape weight{dy[1], image[1] / how.groups, how.target[0], how.target[1]};
    requireConv("conv2d_weight_grad", image, weight, dy, how);
    return {weight, resultOf(in[0].dtype, how.wide)};
}

/// Returns the attributes of a gradient, which is never wide.
ConvAttrs withTarget(ConvAttrs attrs, Shape target) {
    attrs.target = target;
    attrs.wide = false;
    return attrs;
}
Shape spatial(const Shape& shape) { return Shape{shape[2], shape[3]}; }

NodeId conv(Builder& b, NodeId image, NodeId weight, const ConvAttrs& how) {
    return b.emit(Op::Conv2d, {image, weight}, withTarget(how, {}));
}
NodeId inputGrad(Builder& b, NodeId dy, NodeId weight, NodeId image, const ConvAttrs& how) {
    return b.emit(Op::Conv2dInputGrad, {dy, weight},
                  withTarget(how, spatial(planesOf(b.shapeOf(image), how.imageLast))));
}
NodeId weightGrad(Builder& b, NodeId image, NodeId dy, NodeId weight, const ConvAttrs& how) {
    return b.emit(Op::Conv2dWeightGrad, {image, dy}, withTarget(how, spatial(b.shapeOf(weight))));
}

void vjpConv2d(const VjpArgs& v) {
    const auto& how = attrsOf<ConvAttrs>(v.attrs);
    const NodeId image = v.in[0], weight = v.in[1], dy = roundedGradient(v, "conv2d");
    if (v.needed[0]) v.dIn[0] = inputGrad(v.b, dy, weight, image, how);
    if (v.needed[1]) v.dIn[1] = weightGrad(v.b, image, dy, weight, how);
}

void vjpInputGrad(const VjpArgs& v) { // here dy is an image
    const auto& how = attrsOf<ConvAttrs>(v.attrs);
    const NodeId out = v.in[0], weight = v.in[1], dy = roundedGradient(v, "conv2d_input_grad");
    if (v.needed[0]) v.dIn[0] = conv(v.b, dy, weight, how);
    if (v.needed[1]) v.dIn[1] = weightGrad(v.b, dy, out, weight, how);
}

void vjpWeightGrad(const VjpArgs& v) { // here dy is a weight
    const auto& how = attrsOf<ConvAttrs>(v.attrs);
    const NodeId image = v.in[0], out = v.in[1], dy = roundedGradient(v, "conv2d_weight_grad");
    if (v.needed[0]) v.dIn[0] = inputGrad(v.b, out, dy, image, how);
    if (v.needed[1]) v.dIn[1] = conv(v.b, image, dy, how);
}

/// The taps of a kernel that lie in the image along one axis, whose first is at `start`.
std::pair<int64_t, int64_t> tapsInside(int64_t start, int64_t kernel, int64_t dilation,
                                       int64_t image) {
    const int64_t first = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
    const int64_t end = image <= start ? 0 : (image - start + dilation - 1) / dilation;
    return {std::min(first, kernel), std::min(end, kernel)};
}

ConvExtents extentsOf(const Shape& storedImage, const Shape& weight, const Shape& storedOutput,
                      const ConvAttrs& how) {
    const Shape image = planesOf(storedImage, how.imageLast),
                out = planesOf(storedOutput, how.outputLast);
    return {image[0],  image[1],  image[2],  image[3], weight[0],
            weight[1], weight[2], weight[3], out[2],   out[3]};
}

/// Calls visit(image index, weight index, output index) for every product of the convolution.
template <class Visit>
void forEachProduct(const ConvExtents& e, const ConvAttrs& how, const Visit& visit) {
    const int64_t outputs = e.o / how.groups; // that see the same channels
    // index of a channel's place in an image of `channels` planes of `places`
    const auto index = [](bool last, int64_t channel, int64_t channels, int64_t at,
                          int64_t places) {
        const int64_t n = channel / channels;
        return static_cast<size_t>(last ? (n * places + at) * channels + channel % channels
                                        : channel * places + at);
    };
    for (int64_t no = 0; no < e.n * e.o; ++no) {
        const int64_t o = no % e.o, plane = no / e.o * e.c + o / outputs * e.seen;
        for (int64_t at = 0; at < e.oh * e.ow; ++at) {
            const int64_t y = at / e.ow * how.stride[0] - how.padding[0];
            const int64_t x = at % e.ow * how.stride[1] - how.padding[1];
            const auto [i0, i1] = tapsInside(y, e.kh, how.dilation[0], e.h);
            const auto [j0, j1] = tapsInside(x, e.kw, how.dilation[1], e.w);
            for (int64_t c = 0; c < e.seen; ++c) {
                for (int64_t i = i0; i < i1; ++i) {
                    const int64_t row = (y + i * how.dilation[0]) * e.w;
                    for (int64_t j = j0; j < j1; ++j) {
                        visit(index(how.imageLast, plane + c, e.c, row + x + j * how.dilation[1],
                                    e.h * e.w),
                              static_cast<size_t>(((o * e.seen + c) * e.kh + i) * e.kw + j),
                              index(how.outputLast, no, e.o, at, e.oh * e.ow));
                    }
                }
            }
        }
    }
}

void refConv2d(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    const auto& how = attrsOf<ConvAttrs>(attrs);
    std::fill(out.values.begin(), out.values.end(), 0.0);
    forEachProduct(extentsOf(in[0].shape, in[1].shape, out.shape, how), how,
                   [&](size_t image, size_t weight, size_t y) {
                       out.values[y] += in[0].values[image] * in[1].values[weight];
                   });
}

void refInputGrad(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    const auto& how = attrsOf<ConvAttrs>(attrs);
    std::fill(out.values.begin(), out.values.end(), 0.0);
    forEachProduct(extentsOf(out.shape, in[1].shape, in[0].shape, how), how,
                   [&](size_t image, size_t weight, size_t y) {
                       out.values[image] += in[0].values[y] * in[1].values[weight];
                   });
}

void refWeightGrad(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    const auto& how = attrsOf<ConvAttrs>(attrs);
    std::fill(out.values.begin(), out.values.end(), 0.0);
    forEachProduct(extentsOf(in[0].shape, out.shape, in[1].shape, how), how,
                   [&](size_t image, size_t weight, size_t y) {
                       out.values[weight] += in[0].values[image] * in[1].values[y];
                   });
}

// StoredGradient: the gradients are contractions too, of the same dtypes, summed in f32 and rounded
// once, so they need no detour through f32 operands.
constexpr OpFlags kFlags = OpFlag::StoredGradient | OpFlag::Product;

const OpInfo kRows[] = {
    {Op::Matmul, "matmul", -1, kFlags, inferMatmul, vjpMatmul, refMatmul},
    {Op::Conv2d, "conv2d", 2, kFlags, inferConv2d, vjpConv2d, refConv2d},
    {Op::Conv2dInputGrad, "conv2d_input_grad", 2, kFlags, inferInputGrad, vjpInputGrad,
     refInputGrad},
    {Op::Conv2dWeightGrad, "conv2d_weight_grad", 2, kFlags, inferWeightGrad, vjpWeightGrad,
     refWeightGrad},
};

} // namespace

std::span<const OpInfo> contractionOps() { return kRows; }

} // namespace halfscope
