// Pooling over NCHW images: the place of a window's maximum (the maximum itself is a gather), and
// the average with its gradient, which are each other's gradients.
#include "engine/core/error.h"
#include "engine/ops/builder.h"
#include "engine/ops/families.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace halfscope {
namespace {

int64_t pooledExtent(int64_t image, const PoolAttrs& how, size_t axis) {
    const int64_t room = image - how.kernel[axis] + 2 * how.padding[axis]; // padding is at most
                                                                           // half a kernel
    return room < 0 ? 0 : room / how.stride[axis] + 1;
}

/// Returns the result shape of pooling `image`; throws std::logic_error with the reason when it has
/// none.
Shape pooledShape(std::string_view op, const Shape& image, const PoolAttrs& how) {
    const std::string what = std::string(op) + " of " + image.text() + ": ";
    require(image.rank() == 4, what + "rank 4 (n, c, h, w) expected");
    Shape out = image;
    for (size_t axis = 0; axis < 2; ++axis) {
        constexpr int64_t kMost = int64_t{1} << 31; // far beyond any image, far below an overflow
        const auto fits = [](int64_t extent) { return extent >= 1 && extent <= kMost; };
        require(fits(how.kernel[axis]) && fits(how.stride[axis]),
                what + "kernel and stride must be 1 to 2^31");
        require(how.padding[axis] >= 0 && how.padding[axis] <= how.kernel[axis] / 2,
                what + "padding must be at most half the kernel");
        const int at = 2 + static_cast<int>(axis);
        out[at] = pooledExtent(image[at], how, axis);
        require(out[at] >= 1, what + "the window is larger than the image");
    }
    return out;
}

/// Returns the shape of an image or result as planes, and a shape of planes as it is stored.
Shape planesOf(const Shape& stored, const PoolAttrs& how) {
    return how.channelsLast ? channelsFirst(stored) : stored;
}
Shape storedAs(const Shape& planes, const PoolAttrs& how) {
    return how.channelsLast ? channelsLast(planes) : planes;
}

void requireFloat(std::string_view op, DType type) {
    require(isFloat(type), std::string(op) + ": a float image expected");
}

NodeType inferMaxIndex(std::span<const NodeType> in, const Attrs& attrs) {
    requireFloat("max_pool2d_index", in[0].dtype);
    const auto& how = attrsOf<PoolAttrs>(attrs);
    const Shape image = planesOf(in[0].shape, how);
    const Shape out = pooledShape("max_pool2d_index", image, how);
    require(image[2] * image[3] <= std::numeric_limits<int32_t>::max(),
            "max_pool2d_index: an image has more pixels than an int32 counts");
    return {storedAs(out, how), DType::I32};
}

NodeType inferAvg(std::span<const NodeType> in, const Attrs& attrs) {
    requireFloat("avg_pool2d", in[0].dtype);
    const auto& how = attrsOf<PoolAttrs>(attrs);
    require(how.target.empty(), "avg_pool2d: target must be empty");
    return {storedAs(pooledShape("avg_pool2d", planesOf(in[0].shape, how), how), how), in[0].dtype};
}

NodeType inferAvgGrad(std::span<const NodeType> in, const Attrs& attrs) {
    requireFloat("avg_pool2d_grad", in[0].dtype);
    const auto& how = attrsOf<PoolAttrs>(attrs);
    const Shape dy = planesOf(in[0].shape, how);
    require(dy.rank() == 4 && how.target.rank() == 2,
            "avg_pool2d_grad: rank 4 and a target (h, w) expected");
    const Shape image{dy[0], dy[1], how.target[0], how.target[1]};
    require(pooledShape("avg_pool2d_grad", image, how) == dy,
            "avg_pool2d_grad: " + dy.text() + " is not the pooled shape of " + image.text());
    return {storedAs(image, how), in[0].dtype};
}

void vjpAvg(const VjpArgs& v) {
    PoolAttrs how = attrsOf<PoolAttrs>(v.attrs);
    const Shape image = planesOf(v.b.shapeOf(v.in[0]), how);
    how.target = Shape{image[2], image[3]};
    v.dIn[0] = v.b.emit(Op::AvgPool2dGrad, {v.dy}, how);
}

void vjpAvgGrad(const VjpArgs& v) {
    PoolAttrs how = attrsOf<PoolAttrs>(v.attrs);
    how.target = {};
    v.dIn[0] = v.b.emit(Op::AvgPool2d, {v.dy}, how);
}

/// Calls visit(image index, window index, pixel of the plane) for every pixel of every window,
/// windows and pixels in ascending order; padding is left out.
template <class Visit>
void forEachPixel(const Shape& storedImage, const Shape& storedPooled, const PoolAttrs& how,
                  const Visit& visit) {
    const Shape image = planesOf(storedImage, how), pooled = planesOf(storedPooled, how);
    const int64_t h = image[2], w = image[3], windows = pooled[2] * pooled[3];
    const auto index = [&](int64_t plane, int64_t at, int64_t places) {
        const int64_t c = image[1];
        return static_cast<size_t>(how.channelsLast ? (plane / c * places + at) * c + plane % c
                                                    : plane * places + at);
    };
    for (int64_t plane = 0; plane < image[0] * image[1]; ++plane) {
        for (int64_t at = 0; at < windows; ++at) {
            const int64_t y = at / pooled[3] * how.stride[0] - how.padding[0];
            const int64_t x = at % pooled[3] * how.stride[1] - how.padding[1];
            for (int64_t i = std::max<int64_t>(y, 0); i < std::min(y + how.kernel[0], h); ++i) {
                for (int64_t j = std::max<int64_t>(x, 0); j < std::min(x + how.kernel[1], w); ++j) {
                    visit(index(plane, i * w + j, h * w), index(plane, at, windows), i * w + j);
                }
            }
        }
    }
}

void refMaxIndex(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    std::vector<double> best(out.values.size());
    std::fill(out.values.begin(), out.values.end(), -1.0);
    forEachPixel(in[0].shape, out.shape, attrsOf<PoolAttrs>(attrs),
                 [&](size_t pixel, size_t at, int64_t place) {
                     const double value = in[0].values[pixel];
                     const bool first = out.values[at] < 0;
                     // NaN wins, the first of several (in PyTorch the gradient goes to the last
                     // one's place).
                     if (first || value > best[at] ||
                         (std::isnan(value) && !std::isnan(best[at]))) {
                         best[at] = value;
                         out.values[at] = static_cast<double>(place);
                     }
                 });
}

void refAvg(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    const auto& how = attrsOf<PoolAttrs>(attrs);
    std::fill(out.values.begin(), out.values.end(), 0.0);
    forEachPixel(in[0].shape, out.shape, how,
                 [&](size_t pixel, size_t at, int64_t) { out.values[at] += in[0].values[pixel]; });
    for (double& y : out.values)
        y /= static_cast<double>(how.kernel[0] * how.kernel[1]);
}

void refAvgGrad(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    const auto& how = attrsOf<PoolAttrs>(attrs);
    std::fill(out.values.begin(), out.values.end(), 0.0);
    forEachPixel(out.shape, in[0].shape, how,
                 [&](size_t pixel, size_t at, int64_t) { out.values[pixel] += in[0].values[at]; });
    for (double& y : out.values)
        y /= static_cast<double>(how.kernel[0] * how.kernel[1]);
}

// StoredGradient: an average's gradient is one sum in f32, rounded once, whatever its storage
// dtype.
const OpInfo kRows[] = {
    {Op::MaxPool2dIndex, "max_pool2d_index", 1, OpFlag::NoGradient | OpFlag::ByAxes, inferMaxIndex,
     nullptr, refMaxIndex},
    {Op::AvgPool2d, "avg_pool2d", 1, OpFlag::StoredGradient | OpFlag::ByAxes, inferAvg, vjpAvg,
     refAvg},
    {Op::AvgPool2dGrad, "avg_pool2d_grad", 1, OpFlag::StoredGradient | OpFlag::ByAxes, inferAvgGrad,
     vjpAvgGrad, refAvgGrad},
};

} // namespace

std::span<const OpInfo> poolOps() { return kRows; }

} // namespace halfscope
