// Normalisation layers, put together from primitives with autocast off inside.
#include "engine/ops/functions/norms.h"

#include "engine/core/error.h"
#include "engine/ops/functions/arithmetic.h"
#include "engine/ops/functions/operands.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

namespace halfscope::fn {

using namespace detail;

namespace {

/// Lays a vector (c) along `axis` of x, with extents of 1 elsewhere, in x's dtype; kNoNode stays
/// kNoNode.
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

/// Normalises each of `groups` groups of channels of one image to mean 0 and variance 1, then
/// scales it.
NodeId groupedNorm(Builder& b, std::string_view name, const Operands& in, int64_t groups,
                   double eps, DType stored) {
    const Shape shape = b.shapeOf(in[0]);
    if (shape.rank() < 2 || groups < 1 || shape[1] % groups != 0) {
        throw InputError(phrase("Operations",
                                "%1: %2 groups of %3; the channels (axis 1) must divide into them"),
                         name, groups, shape.text());
    }
    int64_t each = shape[1] / groups; // elements of a group; not found by division, because n may
                                      // be 0
    for (int axis = 2; axis < shape.rank(); ++axis)
        each *= shape[axis];
    const NodeId x = b.reshape(in[0], {shape[0] * groups, each});
    const Centred c = centredOver(b, x, {1});
    const NodeId factor = b.unary(Op::Rsqrt, b.shift(c.variance, eps));
    NodeId y = b.reshape(b.mul(c.centred, b.expandLike(factor, c.centred)), shape);
    if (in[1] != kNoNode) y = b.mul(y, b.expandLike(along(b, in[1], 1, y), y));
    if (in[2] != kNoNode) y = b.add(y, b.expandLike(along(b, in[2], 1, y), y));
    return in.result(b, y, stored);
}

/// Returns the dtype of the layer that is being emitted, if the policy decides by layers there.
std::optional<DType> layerDType(const Builder& b) {
    if (b.policy() == nullptr) return std::nullopt;
    return b.policy()->layerDType(b.label(), b.phase());
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
        throw InputError(
            phrase("Operations",
                   "batch_norm: training needs at least 2 values for each channel, and %1 has %2"),
            shape.text(), count);
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
    // One factor for each row, then one for each column: both vectors stay small.
    NodeId y = scaled(b, c.centred, c.variance, kNoNode, kNoNode, eps);
    if (in[1] != kNoNode) y = b.mul(y, b.expandLike(along(b, in[1], last, y), y));
    if (in[2] != kNoNode) y = b.add(y, b.expandLike(along(b, in[2], last, y), y));
    return b.cast(y, b.dtypeOf(in[0]));
}

NodeId rmsNorm(Builder& b, NodeId x, NodeId weight, std::optional<double> eps) {
    const auto in = castInputs(b, "rms_norm", std::array{x, weight});
    const AutocastScope off(b, nullptr);
    const NodeId wide = widened(b, in[0]);
    const int last = b.shapeOf(wide).rank() - 1;
    const double machine = b.dtypeOf(wide) == DType::F64 ? std::numeric_limits<double>::epsilon()
                                                         : std::numeric_limits<float>::epsilon();
    const NodeId square = b.mean(b.mul(wide, wide), Shape{last});
    NodeId y = scaled(b, wide, square, kNoNode, kNoNode, eps.value_or(machine));
    if (in[1] != kNoNode) y = b.mul(y, b.expandLike(along(b, in[1], last, y), y));
    return b.cast(y, b.dtypeOf(in[0]));
}

NodeId localResponseNorm(Builder& b, NodeId x, const ResponseShape& how) {
    const Shape shape = b.shapeOf(x);
    require(shape.rank() >= 3 && how.size >= 1, "local_response_norm: (n, c, ..) expected");
    x = castInputs(b, "local_response_norm", std::array{x})[0];
    const NodeId squares = mul(b, x, x);
    // PyTorch takes the means of sequences by avg_pool2d, and those of images by avg_pool3d.
    const Operands pool(b, shape.rank() == 3 ? "avg_pool2d" : "avg_pool3d", std::array{squares});
    const int64_t rest = shape.elements() / shape[0] / shape[1];
    PadAttrs pad{Shape::filled(4, 0), Shape::filled(4, 0), Shape::filled(4, 0), 0};
    pad.before[2] = how.size / 2;
    pad.after[2] = (how.size - 1) / 2;
    const NodeId channels = b.reshape(pool[0], {shape[0], 1, shape[1], rest});
    const PoolAttrs windows{{how.size, 1}, {1, 1}, {0, 0}, {}};
    const NodeId means = b.emit(Op::AvgPool2d, {b.emit(Op::Pad, {channels}, pad)}, windows);
    const NodeId mean = pool.result(b, b.reshape(means, shape));
    const Operands factor(b, "mul", std::array{mean});
    const NodeId product = factor.result(b, b.scale(factor[0], how.alpha));
    const Operands term(b, "add", std::array{product});
    const NodeId sum = term.result(b, b.shift(term[0], how.k));
    return div(b, x, powScalar(b, sum, how.beta));
}

NodeId groupNorm(Builder& b, NodeId x, int64_t groups, NodeId weight, NodeId bias, double eps) {
    const std::optional<DType> layer = layerDType(b);
    const auto cast = castInputs(b, "group_norm", std::array{x, weight, bias});
    const AutocastScope off(b, nullptr);
    const Operands in(b, "group_norm", cast);
    // The result has x's dtype, although weight and bias may be wider, as under the CPU's lists.
    return groupedNorm(b, "group_norm", in, groups, eps, layer.value_or(b.dtypeOf(cast[0])));
}

NodeId instanceNorm(Builder& b, NodeId x, NodeId weight, NodeId bias, double eps) {
    const DType stored = layerDType(b).value_or(b.dtypeOf(x));
    const Operands in(b, "instance_norm", std::array{x, weight, bias});
    const int64_t channels = b.shapeOf(x).rank() < 2 ? 0 : b.shapeOf(x)[1];
    // As in batch_norm, the result has x's dtype, whatever weight and bias have.
    return groupedNorm(b, "instance_norm", in, channels, eps, stored);
}

InstanceStatistics instanceStatistics(Builder& b, NodeId x) {
    const AutocastScope off(b, nullptr);
    const Shape shape = b.shapeOf(x), each{shape[0], shape[1]};
    const int64_t count = shape.elements() / std::max<int64_t>(each.elements(), 1);
    require(count >= 2, "instance_norm: a variance of fewer than two values");
    const Centred c = centredOver(b, b.reshape(widened(b, x), {each.elements(), count}), {1});
    const double unbias = static_cast<double>(count) / static_cast<double>(count - 1);
    const auto averaged = [&](NodeId ofEach) {
        return b.reshape(b.mean(b.reshape(ofEach, each), Shape{0}), Shape{shape[1]});
    };
    return {averaged(c.mean), b.scale(averaged(c.variance), unbias)};
}

} // namespace halfscope::fn
