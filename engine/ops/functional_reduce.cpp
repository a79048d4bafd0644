// Reductions, norms and distances: products and running sums, deviations, norms over groups.
#include "engine/core/error.h"
#include "engine/ops/functional_detail.h"
#include "engine/ops/functional_more.h"

#include <limits>
#include <optional>

namespace halfscope::fn {

using namespace detail;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

NodeId keptOrNot(Builder& b, NodeId y, const Shape& axes, KeepAxes keep) {
    return keep == KeepAxes::Yes ? y : b.reshape(y, keptShape(Shape(b.shapeOf(y)), axes));
}

/// The sum of squares of wide x over ascending axes, which stay, and its root.
NodeId squaresOf(Builder& b, NodeId x, const Shape& axes) { return b.sum(b.mul(x, x), axes); }
NodeId wideNorm(Builder& b, NodeId x, const Shape& axes) {
    return normOf(b, squaresOf(b, x, axes));
}

/// The sum of squared differences from the mean over n - 1, axes kept.
NodeId wideVariance(Builder& b, std::string_view name, NodeId x, const Shape& axes) {
    double count = 1;
    for (const int64_t axis : axes)
        count *= static_cast<double>(b.shapeOf(x)[static_cast<int>(axis)]);
    if (count < 2) {
        throw InputError(std::string(name) + ": needs at least 2 values, and " +
                         b.shapeOf(x).text() + " over " + axes.text() + " has fewer");
    }
    return b.scale(centredOver(b, x, axes).variance, count / (count - 1));
}

/// A vector (c) along axis 1 of x, other extents 1, expanded.
NodeId alongChannels(Builder& b, NodeId vector, NodeId x) {
    Shape shape = Shape::filled(b.shapeOf(x).rank(), 1);
    shape[1] = b.shapeOf(vector).elements();
    return b.expandLike(b.reshape(vector, shape), x);
}

/// Each of `groups` groups of channels of one image to mean 0 and variance 1, then scaled.
NodeId groupedNorm(Builder& b, std::string_view name, const Operands& in, int64_t groups,
                   double eps) {
    const Shape shape = b.shapeOf(in[0]);
    if (shape.rank() < 2 || groups < 1 || shape[1] % groups != 0) {
        throw InputError(std::string(name) + ": " + std::to_string(groups) + " groups of " +
                         shape.text() + "; the channels (axis 1) must divide into them");
    }
    int64_t each = shape[1] / groups; // elements of a group; not by division: n may be 0
    for (int axis = 2; axis < shape.rank(); ++axis)
        each *= shape[axis];
    const NodeId x = b.reshape(in[0], {shape[0] * groups, each});
    const Centred c = centredOver(b, x, {1});
    const NodeId factor = b.unary(Op::Rsqrt, b.shift(c.variance, eps));
    NodeId y = b.reshape(b.mul(c.centred, b.expandLike(factor, c.centred)), shape);
    if (in[1] != kNoNode) y = b.mul(y, alongChannels(b, in[1], y));
    if (in[2] != kNoNode) y = b.add(y, alongChannels(b, in[2], y));
    return in.result(b, y);
}

/// The dtype of the layer that is emitted now, if the policy goes by layers there.
std::optional<DType> layerDType(const Builder& b) {
    if (b.policy() == nullptr) return std::nullopt;
    return b.policy()->layerDType(b.label(), b.phase());
}

} // namespace

NodeId prod(Builder& b, NodeId x, Shape wanted, KeepAxes keep) {
    x = asFloat(b, castInputs(b, "prod", std::array{x})[0]);
    const AutocastScope off(b, nullptr);
    const Shape axes = sortedAxes("prod", wanted, b.shapeOf(x).rank());
    return axes.empty() ? x : keptOrNot(b, b.emit(Op::Prod, {x}, AxesAttrs{axes}), axes, keep);
}

NodeId cumsum(Builder& b, NodeId x, int axis) {
    x = asFloat(b, castInputs(b, "cumsum", std::array{x})[0]);
    const AutocastScope off(b, nullptr);
    return b.emit(Op::Cumsum, {x}, ScanAttrs{normalAxis(axis, b.shapeOf(x).rank()), false});
}

NodeId cumprod(Builder& b, NodeId x, int axis) {
    x = asFloat(b, castInputs(b, "cumprod", std::array{x})[0]);
    const AutocastScope off(b, nullptr);
    return b.emit(Op::Cumprod, {x}, ScanAttrs{normalAxis(axis, b.shapeOf(x).rank()), false});
}

NodeId norm(Builder& b, NodeId x, Shape wanted, KeepAxes keep) {
    const Operands in(b, "norm", std::array{x});
    const Shape axes = sortedAxes("norm", wanted, b.shapeOf(in[0]).rank());
    return in.result(b, keptOrNot(b, wideNorm(b, in[0], axes), axes, keep));
}

NodeId var(Builder& b, NodeId x, Shape wanted, KeepAxes keep) {
    const Operands in(b, "var", std::array{x});
    const Shape axes = sortedAxes("var", wanted, b.shapeOf(in[0]).rank());
    return in.result(b, keptOrNot(b, wideVariance(b, "var", in[0], axes), axes, keep));
}

NodeId stddev(Builder& b, NodeId x, Shape wanted, KeepAxes keep) {
    const Operands in(b, "std", std::array{x});
    const Shape axes = sortedAxes("std", wanted, b.shapeOf(in[0]).rank());
    const NodeId root = rootOf(b, wideVariance(b, "std", in[0], axes));
    return in.result(b, keptOrNot(b, root, axes, keep));
}

NodeId softmin(Builder& b, NodeId x, int axis) { return softmax(b, b.neg(asFloat(b, x)), axis); }

NodeId groupNorm(Builder& b, NodeId x, int64_t groups, NodeId weight, NodeId bias, double eps) {
    const std::optional<DType> layer = layerDType(b);
    const Operands in(b, "group_norm", std::array{x, weight, bias});
    const NodeId y = groupedNorm(b, "group_norm", in, groups, eps);
    return layer ? b.cast(y, *layer) : y; // its weight and bias kept their dtype
}

NodeId instanceNorm(Builder& b, NodeId x, NodeId weight, NodeId bias, double eps) {
    const DType stored = layerDType(b).value_or(b.dtypeOf(x));
    const Operands in(b, "instance_norm", std::array{x, weight, bias});
    const int64_t channels = b.shapeOf(x).rank() < 2 ? 0 : b.shapeOf(x)[1];
    // as batch_norm: the result has x's dtype, whatever weight and bias have
    return b.cast(groupedNorm(b, "instance_norm", in, channels, eps), stored);
}

NodeId normalize(Builder& b, NodeId x, int axis, double eps) {
    // no list names it: its norm and its division ask for themselves
    const NodeId size = clamp(b, norm(b, x, {axis}, KeepAxes::Yes), eps, kInf);
    return div(b, x, size);
}

NodeId cosineSimilarity(Builder& b, NodeId a, NodeId c, int axis, double eps) {
    const Operands in(b, "cosine_similarity", std::array{a, c});
    const Shape shape = commonShape(b, "cosine_similarity", in[0], in[1]);
    const int at = normalAxis(axis, shape.rank());
    const auto unit = [&](NodeId given) {
        const NodeId x = b.expand(given, shape);
        const NodeId size = b.emit(Op::Clamp, {wideNorm(b, x, {at})}, RangeAttrs{eps, kInf});
        return b.div(x, b.expandLike(size, x));
    };
    const NodeId y = b.sum(b.mul(unit(in[0]), unit(in[1])), {at});
    return in.result(b, keptOrNot(b, y, {at}, KeepAxes::No));
}

NodeId dist(Builder& b, NodeId a, NodeId c) {
    const Operands in(b, "dist", std::array{a, c});
    const Shape shape = commonShape(b, "dist", in[0], in[1]);
    const NodeId difference = b.sub(b.expand(in[0], shape), b.expand(in[1], shape));
    return in.result(b, b.reshape(wideNorm(b, difference, allAxes(shape.rank())), {}));
}

NodeId cdist(Builder& b, NodeId a, NodeId c) {
    const Operands in(b, "cdist", std::array{a, c});
    const Shape left = b.shapeOf(in[0]), right = b.shapeOf(in[1]);
    require(left.rank() == 2 && right.rank() == 2 && left[1] == right[1],
            "cdist of " + left.text() + " and " + right.text() + ": (m, d) and (n, d) wanted");
    const Shape all{left[0], right[0], left[1]};
    const NodeId difference = b.sub(b.expand(b.reshape(in[0], {left[0], 1, left[1]}), all),
                                    b.expand(b.reshape(in[1], {1, right[0], left[1]}), all));
    const NodeId distances = rootOf(b, squaresOf(b, difference, {2}));
    return in.result(b, b.reshape(distances, {left[0], right[0]}));
}

NodeId pdist(Builder& b, NodeId x) {
    const Operands in(b, "pdist", std::array{x});
    if (isLow(in.dtype())) {
        throw InputError("pdist: no kernel for " + std::string(nameOf(in.dtype())) +
                         ", as in PyTorch; cast to float32 first");
    }
    const Shape shape = b.shapeOf(in[0]);
    require(shape.rank() == 2 && shape[0] >= 2, "pdist: (n, d) with n of at least 2 wanted");
    std::vector<NodeId> rows; // row i less each later one
    for (int64_t i = 0; i + 1 < shape[0]; ++i) {
        const NodeId later = b.slice(in[0], 0, i + 1, shape[0]);
        rows.push_back(b.sub(b.expandLike(b.slice(in[0], 0, i, i + 1), later), later));
    }
    const NodeId pairs = b.concat(rows, 0);
    const NodeId distances = rootOf(b, squaresOf(b, pairs, {1}));
    return in.result(b, keptOrNot(b, distances, {1}, KeepAxes::No));
}

NodeId renorm(Builder& b, NodeId x, int axis, double limit) {
    const Operands in(b, "renorm", std::array{x});
    const Shape shape = b.shapeOf(in[0]);
    const int at = normalAxis(axis, shape.rank());
    const NodeId size = wideNorm(b, in[0], keptShape(allAxes(shape.rank()), Shape{at}));
    const NodeId bound = b.constantLike(limit, size), one = b.constantLike(1, size);
    // PyTorch adds 1e-7 below the line, so that a rounded result does not pass the limit again
    const NodeId factor = b.div(bound, b.shift(size, 1e-7));
    const NodeId scale = b.where(b.emit(Op::Less, {bound, size}), factor, one);
    return in.result(b, b.mul(in[0], b.expandLike(scale, in[0])));
}

} // namespace halfscope::fn
