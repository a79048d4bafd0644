// Activations that are not ops of their own, the softmax family, random numbers and dropout. The
// softmax family is put together from primitives with autocast off inside.
#include "engine/ops/functions/activations.h"

#include "engine/core/error.h"
#include "engine/ops/functions/arithmetic.h"
#include "engine/ops/functions/operands.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace halfscope::fn {

using namespace detail;

namespace {

NodeId isAbove(Builder& b, NodeId x, double bound) {
    return b.emit(Op::Less, {b.constantLike(bound, x), x});
}

/// Returns a stream number for a random node: one more than any in the graph.
uint64_t freeStream(const Graph& graph) {
    uint64_t last = 0;
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (graph[id].op == Op::Random)
            last = std::max(last, std::get<RandomAttrs>(graph[id].attrs).stream);
    }
    return last + 1;
}

void checkShare(double p) {
    if (!(p >= 0 && p <= 1))
        throw InputError(phrase("Operations", "dropout: p is %1; allowed are 0 to 1"),
                         std::to_string(p));
}

/// Returns which of the elements are dropped.
NodeId droppedOf(Builder& b, const Shape& shape, double p, NodeId counter, uint64_t seed) {
    const NodeId u = uniform(b, shape, counter, seed);
    return b.emit(Op::Less, {u, b.constantLike(p, u)});
}

/// Returns the shape of one number for each channel of x (n, c, ..).
Shape channelsOf(const Builder& b, NodeId x) {
    Shape channels = b.shapeOf(x);
    require(channels.rank() >= 2, "a dropout of channels: (n, c, ..) expected");
    for (int axis = 2; axis < channels.rank(); ++axis)
        channels[axis] = 1;
    return channels;
}

/// Drops as SELU wants it, with one number drawn for each element of `drawn`.
NodeId alphaDropped(Builder& b, NodeId x, const Shape& drawn, double p, NodeId counter,
                    uint64_t seed) {
    checkShare(p);
    const NodeId zero = b.constant(0, drawn, b.dtypeOf(x));
    if (p == 1) return b.mul(x, b.expandLike(zero, x));
    const NodeId dropped = droppedOf(b, drawn, p, counter, seed);
    constexpr double kEnd = 1.7580993408473766; // where SELU ends, without its sign
    const double factor = 1 / std::sqrt((kEnd * kEnd * p + 1) * (1 - p));
    // PyTorch's order of roundings, in the dtype of x: mask - 1, times, plus
    const NodeId below = b.where(dropped, b.constantLike(-1, zero), zero);
    const NodeId shift = b.shift(b.scale(below, kEnd * factor), kEnd * factor * p);
    const NodeId scale = b.where(dropped, zero, b.constantLike(factor, zero));
    return b.add(b.mul(x, b.expandLike(scale, x)), b.expandLike(shift, x));
}

/// Returns the maximum along the axis. The softmax family is shifted by it and does not depend on
/// the shift, so no gradient flows through it, and ties need no rule.
NodeId maximumAlong(Builder& b, NodeId x, int axis) {
    return b.unary(Op::StopGradient, b.emit(Op::ReduceMax, {x}, AxesAttrs{Shape{axis}}));
}
/// What the ELUs differ in: scale x above 0, and scale alpha (e^(inner x) - 1) up to it.
struct EluShape {
    double alpha, scale, inner;
};
NodeId bentElu(Builder& b, std::string_view name, NodeId x, const EluShape& shape) {
    const Operands in(b, name, std::array{x});
    const NodeId zero = b.constantLike(0, in[0]);
    const NodeId bent = b.emit(Op::LessEqual, {in[0], zero}); // false for NaN, whose slope is 1
    // 0 where the branch is not taken: exp of a large x would be inf, and its slope times 0 NaN.
    const NodeId below = b.scale(b.where(bent, in[0], zero), shape.inner);
    const NodeId curve = b.scale(b.unary(Op::Expm1, below), shape.alpha * shape.scale);
    return in.result(b, b.where(bent, curve, b.scale(in[0], shape.scale)));
}

/// Returns clamp(x + 3, 0, 6). As in PyTorch's kernels, and unlike in clamp, the slope is 0 at the
/// bounds themselves, and at NaN.
NodeId gateOf(Builder& b, NodeId x) {
    const NodeId inside = b.emit(Op::LogicalAnd, {b.emit(Op::Less, {b.constantLike(-3, x), x}),
                                                  b.emit(Op::Less, {x, b.constantLike(3, x)})});
    const NodeId bounded = b.unary(Op::StopGradient, b.emit(Op::Clamp, {x}, RangeAttrs{-3, 3}));
    return b.shift(b.where(inside, x, bounded), 3);
}

/// Returns whether -bound <= x <= bound, compared in x's dtype as in PyTorch's kernels.
NodeId isWithin(Builder& b, NodeId x, double bound) {
    return b.emit(Op::LogicalAnd, {b.emit(Op::LessEqual, {b.constantLike(-bound, x), x}),
                                   b.emit(Op::LessEqual, {x, b.constantLike(bound, x)})});
}

NodeId shiftedByMax(Builder& b, NodeId x, int axis) {
    return b.sub(x, b.expandLike(maximumAlong(b, x, axis), x));
}

} // namespace

NodeId leakyRelu(Builder& b, NodeId x, double slope) {
    const Operands in(b, "leaky_relu", std::array{x});
    return in.result(b, b.where(isAbove(b, in[0], 0), in[0], b.scale(in[0], slope)));
}

NodeId elu(Builder& b, NodeId x, double alpha) { return bentElu(b, "elu", x, {alpha, 1, 1}); }

NodeId selu(Builder& b, NodeId x) {
    // Klambauer and others, 2017; with PyTorch's digits
    constexpr double kAlpha = 1.6732632423543772848170429916717;
    constexpr double kScale = 1.0507009873554804934193349852946;
    return bentElu(b, "selu", x, {kAlpha, kScale, 1});
}

NodeId celu(Builder& b, NodeId x, double alpha) {
    return bentElu(b, "celu", x, {alpha, 1, 1 / alpha});
}

NodeId softplus(Builder& b, NodeId x, double beta, double threshold) {
    if (beta == 1 && threshold == 20) return unary(b, Op::Softplus, x);
    const Operands in(b, "softplus", std::array{x});
    const NodeId steep = b.scale(in[0], beta);
    const NodeId straight = isAbove(b, steep, threshold);
    // 0 where the branch is not taken, so that no slope there is inf.
    const NodeId bent = b.unary(Op::Softplus, b.where(straight, b.constantLike(0, steep), steep));
    return in.result(b, b.where(straight, in[0], b.div(bent, b.constantLike(beta, bent))));
}

NodeId mish(Builder& b, NodeId x) {
    const Operands in(b, "mish", std::array{x});
    return in.result(b, b.mul(in[0], b.unary(Op::Tanh, b.unary(Op::Softplus, in[0]))));
}

NodeId hardtanh(Builder& b, NodeId x, double low, double high) {
    const Operands in(b, "hardtanh", std::array{x});
    // Unlike clamp's, PyTorch's slope is 0 at the bounds themselves, and 1 at NaN.
    const NodeId outside =
        b.emit(Op::LogicalOr, {b.emit(Op::LessEqual, {in[0], b.constantLike(low, in[0])}),
                               b.emit(Op::LessEqual, {b.constantLike(high, in[0]), in[0]})});
    const NodeId bounded =
        b.unary(Op::StopGradient, b.emit(Op::Clamp, {in[0]}, RangeAttrs{low, high}));
    return in.result(b, b.where(outside, bounded, in[0]));
}

NodeId hardswish(Builder& b, NodeId x) {
    const Operands in(b, "hardswish", std::array{x});
    const NodeId gate = gateOf(b, in[0]);
    return in.result(b, b.div(b.mul(in[0], gate), b.constantLike(6, gate)));
}

NodeId hardsigmoid(Builder& b, NodeId x) {
    const Operands in(b, "hardsigmoid", std::array{x});
    return in.result(b, b.scale(gateOf(b, in[0]), 1.0 / 6));
}

NodeId hardshrink(Builder& b, NodeId x, double bound) {
    x = asFloat(b, castInputs(b, "hardshrink", std::array{x})[0]);
    const AutocastScope off(b, nullptr);
    return b.where(isWithin(b, x, bound), b.constantLike(0, x), x);
}

NodeId softshrink(Builder& b, NodeId x, double bound) {
    x = asFloat(b, castInputs(b, "softshrink", std::array{x})[0]);
    const AutocastScope off(b, nullptr);
    const NodeId zero = b.constantLike(0, x), by = b.constantLike(bound, x);
    const NodeId moved = b.where(b.emit(Op::Less, {x, zero}), b.add(x, by), b.sub(x, by));
    return b.where(isWithin(b, x, bound), zero, moved);
}

NodeId threshold(Builder& b, NodeId x, double bound, double value) {
    x = asFloat(b, castInputs(b, "threshold", std::array{x})[0]);
    const AutocastScope off(b, nullptr);
    const NodeId below = b.emit(Op::LessEqual, {x, b.constantLike(bound, x)});
    return b.where(below, b.constantLike(value, x), x);
}

NodeId logSigmoid(Builder& b, NodeId x) {
    const Operands in(b, "log_sigmoid", std::array{x});
    // e^-|x| is at most 1, so that no x overflows.
    const NodeId least = b.emit(Op::Minimum, {in[0], b.constantLike(0, in[0])});
    const NodeId power = b.unary(Op::Exp, b.neg(b.unary(Op::Abs, in[0])));
    return in.result(b, b.sub(least, b.unary(Op::Log1p, power)));
}

NodeId tanhshrink(Builder& b, NodeId x) { return sub(b, x, unary(b, Op::Tanh, x)); }

NodeId softsign(Builder& b, NodeId x) {
    const NodeId size = unary(b, Op::Abs, x);
    return div(b, x, add(b, size, b.constant(1, {}, b.dtypeOf(size))));
}

NodeId glu(Builder& b, NodeId x, int axis) {
    const Operands in(b, "glu", std::array{x});
    const Shape shape = b.shapeOf(in[0]);
    axis = normalAxis(axis, shape.rank());
    const int64_t half = shape[axis] / 2;
    require(shape[axis] % 2 == 0, "glu: an axis of even extent expected");
    const NodeId gate = b.unary(Op::Sigmoid, b.slice(in[0], axis, half, 2 * half));
    return in.result(b, b.mul(b.slice(in[0], axis, 0, half), gate));
}

NodeId geluTanh(Builder& b, NodeId x) {
    const Operands in(b, "gelu", std::array{x});
    // (1 + tanh(u)) / 2 is sigmoid(2 u)
    const NodeId slope = b.shift(b.scale(b.mul(in[0], in[0]), 0.044715), 1);
    const double twice = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    const NodeId gate = b.unary(Op::Sigmoid, b.scale(b.mul(in[0], slope), twice));
    return in.result(b, b.mul(in[0], gate));
}

NodeId prelu(Builder& b, NodeId x, NodeId weight) {
    const Operands in(b, "prelu", std::array{x, weight});
    const Shape shape = b.shapeOf(in[0]);
    NodeId slope = in[1];
    const int64_t slopes = b.shapeOf(slope).elements();
    Shape along = Shape::filled(shape.rank(), 1);
    if (slopes != 1) {
        if (shape.rank() < 2 || shape[1] != slopes) {
            throw InputError(
                phrase("Operations",
                       "prelu: %1 slopes for %2; allowed are 1 and the extent of axis 1"),
                slopes, shape.text());
        }
        along[1] = slopes;
    }
    slope = b.expand(b.reshape(slope, along), shape);
    const NodeId above = isAbove(b, in[0], 0);
    // 0 where the branch is not taken: an infinite x times a zero gradient would be a NaN slope.
    const NodeId below = b.where(above, b.constantLike(0, in[0]), in[0]);
    return in.result(b, b.where(above, in[0], b.mul(below, slope)));
}

NodeId uniform(Builder& b, const Shape& shape, NodeId counter, uint64_t seed) {
    return b.emit(Op::Random, {counter}, RandomAttrs{shape, seed, freeStream(b.graph())});
}

NodeId dropout(Builder& b, NodeId x, double p, NodeId counter, uint64_t seed) {
    checkShare(p);
    const Operands in(b, "dropout", std::array{x});
    const Shape shape = b.shapeOf(in[0]);
    const NodeId dropped = droppedOf(b, shape, p, counter, seed);
    // A factor, not a select: inf and NaN stay visible when they are dropped, as in PyTorch.
    const NodeId kept = b.constantLike(p < 1 ? 1 / (1 - p) : 0, in[0]);
    return in.result(b, b.mul(in[0], b.where(dropped, b.constantLike(0, in[0]), kept)));
}

NodeId channelDropout(Builder& b, NodeId x, double p, NodeId counter, uint64_t seed) {
    checkShare(p);
    x = asFloat(b, castInputs(b, "feature_dropout", std::array{x})[0]);
    const AutocastScope off(b, nullptr);
    const Shape channels = channelsOf(b, x);
    const NodeId dropped = droppedOf(b, channels, p, counter, seed);
    // Unlike dropout's, PyTorch's factor has the dtype of x.
    const NodeId kept = b.constant(p < 1 ? 1 / (1 - p) : 0, channels, b.dtypeOf(x));
    return b.mul(x, b.expandLike(b.where(dropped, b.constantLike(0, kept), kept), x));
}

NodeId alphaDropout(Builder& b, NodeId x, double p, NodeId counter, uint64_t seed) {
    x = asFloat(b, castInputs(b, "alpha_dropout", std::array{x})[0]);
    const AutocastScope off(b, nullptr);
    return alphaDropped(b, x, b.shapeOf(x), p, counter, seed);
}

NodeId featureAlphaDropout(Builder& b, NodeId x, double p, NodeId counter, uint64_t seed) {
    x = asFloat(b, castInputs(b, "feature_alpha_dropout", std::array{x})[0]);
    const AutocastScope off(b, nullptr);
    return alphaDropped(b, x, channelsOf(b, x), p, counter, seed);
}

NodeId rrelu(Builder& b, NodeId x, double low, double high, NodeId counter, uint64_t seed) {
    x = asFloat(b, castInputs(b, "rrelu_with_noise", std::array{x})[0]);
    const AutocastScope off(b, nullptr);
    const NodeId u = uniform(b, b.shapeOf(x), counter, seed);
    // PyTorch's slopes have the dtype of x
    const NodeId slope = b.cast(b.shift(b.scale(u, high - low), low), b.dtypeOf(x));
    const NodeId bent = b.emit(Op::LessEqual, {x, b.constantLike(0, x)});
    return b.where(bent, b.mul(x, slope), x);
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

NodeId softmin(Builder& b, NodeId x, int axis) { return softmax(b, b.neg(asFloat(b, x)), axis); }

NodeId logsumexp(Builder& b, NodeId x, int axis) {
    const NodeId in = castInputs(b, "logsumexp", std::array{x})[0];
    const AutocastScope off(b, nullptr);
    const Shape shape = b.shapeOf(in);
    axis = normalAxis(axis, shape.rank());
    const NodeId wide = widened(b, in), most = maximumAlong(b, wide, axis);
    // No shift by an infinite maximum: inf - inf is NaN, and the result is the maximum itself.
    const NodeId shift = b.where(b.unary(Op::IsFinite, most), most, b.constantLike(0, most));
    const NodeId powers = b.unary(Op::Exp, b.sub(wide, b.expandLike(shift, wide)));
    const NodeId y = b.add(b.unary(Op::Log, b.sum(powers, Shape{axis})), shift);
    return b.cast(b.reshape(y, keptShape(shape, Shape{axis})), b.dtypeOf(in));
}

} // namespace halfscope::fn
