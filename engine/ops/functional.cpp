// PyTorch's functions on nodes: autocast, promotion and broadcasting become explicit nodes here.
// Holds elementwise ops, contractions, reductions and pooling; norms, softmax and losses lie
// beside.
#include "engine/ops/functional.h"

#include "engine/core/error.h"
#include "engine/ops/functional_detail.h"
#include "engine/ops/op_info.h"

namespace halfscope::fn {

using namespace detail;

namespace {

struct Pair {
    NodeId x, y;
};

/// Both operands in one shape and dtype. The cast comes first: it is cheaper on the smaller tensor.
Pair matched(Builder& b, std::string_view name, NodeId x, NodeId y) {
    const DType type = promoted(b[x].type(), b[y].type());
    const Shape shape = commonShape(b, name, x, y);
    return {b.expand(b.cast(x, type), shape), b.expand(b.cast(y, type), shape)};
}

/// A two-input arithmetic op: integers and masks count as F32 where no operand is a float.
NodeId arithmetic(Builder& b, std::string_view name, Op op, NodeId x, NodeId y) {
    const auto in = castInputs(b, name, std::array{x, y});
    const AutocastScope off(b, nullptr);
    const Pair p = matched(b, name, in[0], in[1]);
    return b.emit(op, {asFloat(b, p.x), asFloat(b, p.y)});
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
    return keep == KeepAxes::Yes ? y : b.reshape(y, keptShape(shape, axes));
}

/// a (.., m, k) by a matrix (k, n): the leading axes become rows of one product.
NodeId foldedMatmul(Builder& b, NodeId a, NodeId matrix, MatmulAttrs how) {
    Shape shape = b.shapeOf(a);
    require(!shape.empty(), "a product of matrices with a scalar operand");
    const int64_t inner = shape.back();
    int64_t rows = 1;
    for (int i = 0; i + 1 < shape.rank(); ++i)
        rows *= shape[i];
    const NodeId y = b.matmul(b.reshape(a, Shape{rows, inner}), matrix, how);
    shape[shape.rank() - 1] = b.shapeOf(y)[1];
    return b.reshape(y, shape);
}

/// x with its batch axes (all but the last two) expanded to `batch`.
NodeId withBatch(Builder& b, NodeId x, Shape batch) {
    const Shape& shape = b.shapeOf(x);
    batch.push(shape[shape.rank() - 2]);
    batch.push(shape.back());
    return b.expand(x, batch);
}

Shape batchOf(const Shape& shape) {
    return Shape(std::span<const int64_t>(shape.begin(), static_cast<size_t>(shape.rank() - 2)));
}

} // namespace

NodeId add(Builder& b, NodeId x, NodeId y) { return arithmetic(b, "add", Op::Add, x, y); }
NodeId sub(Builder& b, NodeId x, NodeId y) { return arithmetic(b, "sub", Op::Sub, x, y); }
NodeId mul(Builder& b, NodeId x, NodeId y) { return arithmetic(b, "mul", Op::Mul, x, y); }
NodeId div(Builder& b, NodeId x, NodeId y) { return arithmetic(b, "div", Op::Div, x, y); }
NodeId maximum(Builder& b, NodeId x, NodeId y) {
    return arithmetic(b, "maximum", Op::Maximum, x, y);
}
NodeId minimum(Builder& b, NodeId x, NodeId y) {
    return arithmetic(b, "minimum", Op::Minimum, x, y);
}
NodeId pow(Builder& b, NodeId x, NodeId y) { return arithmetic(b, "pow", Op::Pow, x, y); }

NodeId powScalar(Builder& b, NodeId x, double exponent) {
    x = asFloat(b, castInputs(b, "pow", std::array{x})[0]);
    const AutocastScope off(b, nullptr);
    // as in PyTorch, and each is one rounding, or two: pow itself has other values at -0 and -inf
    if (exponent == 2) return b.mul(x, x);
    if (exponent == 0.5) return b.unary(Op::Sqrt, x);
    if (exponent == -0.5) return b.unary(Op::Rsqrt, x);
    if (exponent == -1) return b.unary(Op::Reciprocal, x);
    return b.emit(Op::Pow, {x, b.constantLike(exponent, x)});
}

NodeId where(Builder& b, NodeId condition, NodeId x, NodeId y) {
    const auto in = castInputs(b, "where", std::array{x, y});
    const AutocastScope off(b, nullptr);
    Pair p = matched(b, "where", in[0], in[1]);
    const Shape shape = commonShape(b, "where", condition, p.x);
    return b.where(b.expand(condition, shape), b.expand(p.x, shape), b.expand(p.y, shape));
}

NodeId compare(Builder& b, Comparison comparison, NodeId x, NodeId y) {
    const Pair p = matched(b, "compare", x, y);
    switch (comparison) {
    case Comparison::Less: return b.emit(Op::Less, {p.x, p.y});
    case Comparison::LessEqual: return b.emit(Op::LessEqual, {p.x, p.y});
    case Comparison::Greater: return b.emit(Op::Less, {p.y, p.x});
    case Comparison::GreaterEqual: return b.emit(Op::LessEqual, {p.y, p.x});
    case Comparison::Equal: return b.emit(Op::Equal, {p.x, p.y});
    case Comparison::NotEqual: return b.emit(Op::NotEqual, {p.x, p.y});
    }
    failInvariant("compare: unknown comparison");
}

NodeId unary(Builder& b, Op op, NodeId x) {
    x = castInputs(b, nameOf(op), std::array{x})[0];
    const NodeId y = b.unary(op, op == Op::LogicalNot ? x : asFloat(b, x));
    b.setDecision({});
    return y;
}

NodeId clamp(Builder& b, NodeId x, double low, double high) {
    x = castInputs(b, "clamp", std::array{x})[0];
    const AutocastScope off(b, nullptr);
    return b.emit(Op::Clamp, {asFloat(b, x)}, RangeAttrs{low, high});
}

NodeId matmul(Builder& b, NodeId x, NodeId y) {
    const auto in = castInputs(b, "matmul", std::array{x, y});
    const AutocastScope off(b, nullptr);
    const DType type = promoted(b[in[0]].type(), b[in[1]].type());
    x = b.cast(in[0], type);
    y = b.cast(in[1], type);
    const bool vectorX = b.shapeOf(x).rank() == 1, vectorY = b.shapeOf(y).rank() == 1;
    require(!b.shapeOf(x).empty() && !b.shapeOf(y).empty(), "matmul: a scalar operand");
    if (vectorX) x = b.reshape(x, Shape{1, b.shapeOf(x)[0]});
    if (vectorY) y = b.reshape(y, Shape{b.shapeOf(y)[0], 1});
    NodeId out = kNoNode;
    if (b.shapeOf(y).rank() == 2) {
        out = foldedMatmul(b, x, y, {});
    } else {
        const auto batch = broadcastShape(batchOf(b.shapeOf(x)), batchOf(b.shapeOf(y)));
        require(batch.has_value(), "matmul: batch axes of " + b.shapeOf(x).text() + " and " +
                                       b.shapeOf(y).text() + " do not broadcast");
        out = b.matmul(withBatch(b, x, *batch), withBatch(b, y, *batch));
    }
    if (!vectorX && !vectorY) return out;
    const Shape full = b.shapeOf(out);
    Shape shape = batchOf(full);
    if (!vectorX) shape.push(full[full.rank() - 2]);
    if (!vectorY) shape.push(full.back());
    return b.reshape(out, shape);
}

NodeId linear(Builder& b, NodeId x, NodeId weight, NodeId bias) {
    const auto in = castInputs(b, "linear", std::array{x, weight, bias});
    const AutocastScope off(b, nullptr);
    const DType type = promoted(b[in[0]].type(), b[in[1]].type());
    const NodeId y = foldedMatmul(b, b.cast(in[0], type), b.cast(in[1], type), {false, true});
    return withBias(b, y, in[2], b.shapeOf(y).rank() - 1);
}

NodeId conv2d(Builder& b, NodeId x, NodeId weight, NodeId bias, const ConvAttrs& attrs) {
    const auto in = castInputs(b, "conv2d", std::array{x, weight, bias});
    const AutocastScope off(b, nullptr);
    const DType type = promoted(b[in[0]].type(), b[in[1]].type());
    const NodeId y = b.emit(Op::Conv2d, {b.cast(in[0], type), b.cast(in[1], type)}, attrs);
    return withBias(b, y, in[2], 1);
}

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

NodeId maxPool2d(Builder& b, NodeId x, const PoolAttrs& attrs) {
    x = castInputs(b, "max_pool2d", std::array{x})[0];
    const AutocastScope off(b, nullptr);
    const NodeId index = b.emit(Op::MaxPool2dIndex, {x}, attrs);
    const Shape image = b.shapeOf(x), pooled = b.shapeOf(index);
    const Shape flatImage{image[0], image[1], image[2] * image[3]};
    const Shape flatPooled{pooled[0], pooled[1], pooled[2] * pooled[3]};
    const NodeId flat = b.emit(Op::Gather, {b.reshape(x, flatImage), b.reshape(index, flatPooled)},
                               AxisAttrs{2, 0});
    return b.reshape(flat, pooled);
}

NodeId avgPool2d(Builder& b, NodeId x, const PoolAttrs& attrs) {
    x = castInputs(b, "avg_pool2d", std::array{x})[0];
    const AutocastScope off(b, nullptr);
    return b.emit(Op::AvgPool2d, {x}, attrs);
}

} // namespace halfscope::fn
