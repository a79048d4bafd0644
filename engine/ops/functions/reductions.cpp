// Reductions, running sums and products, and what is made of a reduction of squares: norm, variance
// and standard deviation.
#include "engine/ops/functions/reductions.h"

#include "engine/core/error.h"
#include "engine/ops/functions/operands.h"

namespace halfscope::fn {

using namespace detail;

namespace {

/// Returns y as PyTorch does: without the reduced axes, unless they are to stay as extent 1.
NodeId keptOrNot(Builder& b, NodeId y, const Shape& axes, KeepAxes keep) {
    return keep == KeepAxes::Yes ? y : b.reshape(y, keptShape(b.shapeOf(y), axes));
}

NodeId reduce(Builder& b, std::string_view name, Op op, NodeId x, const Shape& wanted,
              KeepAxes keep) {
    x = castInputs(b, name, std::array{x})[0];
    const AutocastScope off(b, nullptr);
    x = asFloat(b, x);
    const Shape shape = b.shapeOf(x);
    if (shape.empty()) return x;
    const Shape axes = sortedAxes(name, wanted, shape.rank());
    const NodeId y = b.emit(op, {x}, AxesAttrs{axes});
    return keptOrNot(b, y, axes, keep);
}

/// Returns the sum of squared differences from the mean, divided by n - 1, axes kept.
NodeId wideVariance(Builder& b, std::string_view name, NodeId x, const Shape& axes) {
    double count = 1;
    for (const int64_t axis : axes)
        count *= static_cast<double>(b.shapeOf(x)[static_cast<int>(axis)]);
    if (count < 2) {
        throw InputError(
            phrase("Operations", "%1: needs at least 2 values, and %2 over %3 has fewer"), name,
            b.shapeOf(x).text(), axes.text());
    }
    return b.scale(centredOver(b, x, axes).variance, count / (count - 1));
}

} // namespace

NodeId sum(Builder& b, NodeId x, Shape axes, KeepAxes keep) {
    return reduce(b, "sum", Op::Sum, x, axes, keep);
}
NodeId mean(Builder& b, NodeId x, Shape axes, KeepAxes keep) {
    return reduce(b, "mean", Op::Mean, x, axes, keep);
}
NodeId amax(Builder& b, NodeId x, Shape axes, KeepAxes keep) {
    return reduce(b, "amax", Op::ReduceMax, x, axes, keep);
}
NodeId amin(Builder& b, NodeId x, Shape axes, KeepAxes keep) {
    return reduce(b, "amin", Op::ReduceMin, x, axes, keep);
}
NodeId prod(Builder& b, NodeId x, Shape axes, KeepAxes keep) {
    return reduce(b, "prod", Op::Prod, x, axes, keep);
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
    return in.result(b, keptOrNot(b, normOver(b, in[0], axes), axes, keep));
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

} // namespace halfscope::fn
