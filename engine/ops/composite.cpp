// Norms and softmax put together from primitives, with autocast off inside; and StopGradient, the
// identity that they need for a shift whose gradient is zero by mathematics. Losses lie beside.
#include "engine/core/error.h"
#include "engine/ops/families.h"
#include "engine/ops/functional.h"
#include "engine/ops/functional_detail.h"

#include <string>

namespace halfscope {
namespace {

NodeType inferStop(std::span<const NodeType> in, const Attrs&) { return in[0]; }
void refStop(std::span<const RefTensor> in, const Attrs&, RefTensor& out) {
    out.values = in[0].values;
}

const OpInfo kRows[] = {
    {Op::StopGradient, "detach", 1,
     OpFlag::Elementwise | OpFlag::NoGradient | OpFlag::KeepsPrecision, inferStop, nullptr,
     refStop},
};

} // namespace

std::span<const OpInfo> compositeOps() { return kRows; }

namespace fn {

using namespace detail;

namespace {

/// A vector (c) along `axis` of x, other extents 1, in x's dtype; no vector stays none.
NodeId along(Builder& b, NodeId vector, int axis, NodeId x) {
    if (vector == kNoNode) return vector;
    Shape shape = Shape::filled(b.shapeOf(x).rank(), 1);
    shape[axis] = b.shapeOf(vector).elements();
    return b.reshape(b.cast(vector, b.dtypeOf(x)), shape);
}

/// centred * rsqrt(variance + eps) * weight + bias, in PyTorch's order of roundings. variance,
/// weight and bias broadcast to centred.
NodeId scaled(Builder& b, NodeId centred, NodeId variance, NodeId weight, NodeId bias, double eps) {
    const NodeId inverse = b.unary(Op::Rsqrt, b.shift(variance, eps));
    NodeId y = b.mul(centred, b.expandLike(inverse, centred));
    if (weight != kNoNode) y = b.mul(y, b.expandLike(weight, centred));
    return bias == kNoNode ? y : b.add(y, b.expandLike(bias, centred));
}

/// The maximum along the axis. Softmax and its kin are shifted by it and do not depend on the
/// shift, so no gradient flows through it, and ties need no rule.
NodeId maximumAlong(Builder& b, NodeId x, int axis) {
    return b.unary(Op::StopGradient, b.emit(Op::ReduceMax, {x}, AxesAttrs{Shape{axis}}));
}
NodeId shiftedByMax(Builder& b, NodeId x, int axis) {
    return b.sub(x, b.expandLike(maximumAlong(b, x, axis), x));
}

} // namespace

BatchNormResult batchNorm(Builder& b, NodeId x, NodeId weight, NodeId bias, int channelAxis,
                          double eps) {
    const auto in = castInputs(b, "batch_norm", std::array{x, weight, bias});
    const AutocastScope off(b, nullptr);
    const Shape shape = b.shapeOf(in[0]);
    const int rank = shape.rank(), axis = normalAxis(channelAxis, rank);
    const int64_t channels = shape[axis], count = shape.elements() / std::max<int64_t>(channels, 1);
    if (count < 2) {
        throw InputError("batch_norm: training needs at least 2 values for each channel, and " +
                         shape.text() + " has " + std::to_string(count));
    }
    Shape axes;
    for (int i = 0; i < rank; ++i) {
        if (i != axis) axes.push(i);
    }
    const NodeId wide = widened(b, in[0]);
    const Centred c = centredOver(b, wide, axes);
    const NodeId y = scaled(b, c.centred, c.variance, along(b, in[1], axis, wide),
                            along(b, in[2], axis, wide), eps);
    const double unbias = static_cast<double>(count) / static_cast<double>(count - 1);
    return {b.cast(y, b.dtypeOf(in[0])), b.reshape(c.mean, Shape{channels}),
            b.reshape(b.scale(c.variance, unbias), Shape{channels})};
}

NodeId batchNormWith(Builder& b, NodeId x, NodeId weight, NodeId bias, NodeId mean, NodeId variance,
                     int channelAxis, double eps) {
    const auto in = castInputs(b, "batch_norm", std::array{x, weight, bias, mean, variance});
    const AutocastScope off(b, nullptr);
    const NodeId wide = widened(b, in[0]);
    const int axis = normalAxis(channelAxis, b.shapeOf(wide).rank());
    const NodeId centred = b.sub(wide, b.expandLike(along(b, in[3], axis, wide), wide));
    const NodeId y = scaled(b, centred, along(b, in[4], axis, wide), along(b, in[1], axis, wide),
                            along(b, in[2], axis, wide), eps);
    return b.cast(y, b.dtypeOf(in[0]));
}

NodeId layerNorm(Builder& b, NodeId x, NodeId weight, NodeId bias, double eps) {
    const auto in = castInputs(b, "layer_norm", std::array{x, weight, bias});
    const AutocastScope off(b, nullptr);
    const NodeId wide = widened(b, in[0]);
    const int last = b.shapeOf(wide).rank() - 1;
    const Centred c = centredOver(b, wide, Shape{last});
    // one factor a row, then one a column: both vectors stay small
    NodeId y = scaled(b, c.centred, c.variance, kNoNode, kNoNode, eps);
    if (in[1] != kNoNode) y = b.mul(y, b.expandLike(along(b, in[1], last, y), y));
    if (in[2] != kNoNode) y = b.add(y, b.expandLike(along(b, in[2], last, y), y));
    return b.cast(y, b.dtypeOf(in[0]));
}

NodeId softmax(Builder& b, NodeId x, int axis) {
    const NodeId in = castInputs(b, "softmax", std::array{x})[0];
    const AutocastScope off(b, nullptr);
    axis = normalAxis(axis, b.shapeOf(in).rank());
    const NodeId e = b.unary(Op::Exp, shiftedByMax(b, widened(b, in), axis));
    const NodeId y = b.div(e, b.expandLike(b.sum(e, Shape{axis}), e));
    return b.cast(y, b.dtypeOf(in));
}

NodeId logSoftmax(Builder& b, NodeId x, int axis) {
    const NodeId in = castInputs(b, "log_softmax", std::array{x})[0];
    const AutocastScope off(b, nullptr);
    axis = normalAxis(axis, b.shapeOf(in).rank());
    const NodeId s = shiftedByMax(b, widened(b, in), axis);
    const NodeId logSum = b.unary(Op::Log, b.sum(b.unary(Op::Exp, s), Shape{axis}));
    return b.cast(b.sub(s, b.expandLike(logSum, s)), b.dtypeOf(in));
}

NodeId logsumexp(Builder& b, NodeId x, int axis) {
    const NodeId in = castInputs(b, "logsumexp", std::array{x})[0];
    const AutocastScope off(b, nullptr);
    const Shape shape = b.shapeOf(in);
    axis = normalAxis(axis, shape.rank());
    const NodeId wide = widened(b, in), most = maximumAlong(b, wide, axis);
    // no shift by an infinite maximum: inf - inf is NaN, and the result is the maximum itself
    const NodeId shift = b.where(b.unary(Op::IsFinite, most), most, b.constantLike(0, most));
    const NodeId powers = b.unary(Op::Exp, b.sub(wide, b.expandLike(shift, wide)));
    const NodeId y = b.add(b.unary(Op::Log, b.sum(powers, Shape{axis})), shift);
    return b.cast(b.reshape(y, keptShape(shape, Shape{axis})), b.dtypeOf(in));
}

} // namespace fn
} // namespace halfscope
