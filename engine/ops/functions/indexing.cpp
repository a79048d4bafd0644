// Functions that join and pick: concatenation, scatter and gather by index.
#include "engine/ops/functions/indexing.h"

#include "engine/core/error.h"
#include "engine/ops/functions/operands.h"

namespace halfscope::fn {

using namespace detail;

namespace {

/// Returns the inputs after autocast, in their common dtype.
std::vector<NodeId> sameDType(Builder& b, std::string_view name, std::span<const NodeId> given) {
    require(!given.empty(), std::string(name) + ": no operands");
    auto in = castInputs(b, name, given);
    DType type = b.dtypeOf(in[0]);
    for (const NodeId x : in)
        type = promoted({{}, type}, {{}, b.dtypeOf(x)});
    for (NodeId& x : in)
        x = b.cast(x, type);
    return in;
}

/// Spreads index (n) over a tensor of `shape`, with n along one axis.
NodeId spreadIndex(Builder& b, std::string_view name, NodeId index, int axis, const Shape& shape) {
    require(b.shapeOf(index).rank() == 1 && b.dtypeOf(index) == DType::I32,
            std::string(name) + ": an int32 index of rank 1 expected");
    Shape column = Shape::filled(shape.rank(), 1);
    column[axis] = b.shapeOf(index)[0];
    return b.expand(b.reshape(index, column), shape);
}

} // namespace

NodeId cat(Builder& b, std::span<const NodeId> given, int axis) {
    const auto in = sameDType(b, "cat", given);
    const AutocastScope off(b, nullptr);
    return b.concat(in, normalAxis(axis, b.shapeOf(in[0]).rank()));
}

NodeId stack(Builder& b, std::span<const NodeId> given, int axis) {
    auto in = sameDType(b, "stack", given);
    const AutocastScope off(b, nullptr);
    const int at = normalAxis(axis, b.shapeOf(in[0]).rank() + 1);
    for (NodeId& x : in) {
        const Shape from = b.shapeOf(x);
        Shape to;
        for (int i = 0; i <= from.rank(); ++i) {
            if (i == at) to.push(1);
            if (i < from.rank()) to.push(from[i]);
        }
        x = b.reshape(x, to);
    }
    return b.concat(in, at);
}

NodeId scatterAdd(Builder& b, NodeId x, int axis, NodeId index, NodeId src) {
    const Operands in(b, "scatter_add", std::array{x, src}, Mixing::Refuse);
    const Shape shape = b.shapeOf(in[0]);
    const int at = normalAxis(axis, shape.rank());
    const NodeId sums = b.emit(Op::ScatterAdd, {in[1], index}, AxisAttrs{at, shape[at]});
    return in.result(b, b.add(in[0], sums));
}

NodeId indexSelect(Builder& b, NodeId x, int axis, NodeId index) {
    x = castInputs(b, "index_select", std::array{x})[0];
    const AutocastScope off(b, nullptr);
    Shape shape = b.shapeOf(x);
    const int at = normalAxis(axis, shape.rank());
    shape[at] = b.shapeOf(index).elements();
    const NodeId spread = spreadIndex(b, "index_select", index, at, shape);
    return b.emit(Op::Gather, {x, spread}, AxisAttrs{at, 0});
}

NodeId embedding(Builder& b, NodeId weight, NodeId index, std::optional<int64_t> padding) {
    weight = castInputs(b, "embedding", std::array{weight})[0];
    const AutocastScope off(b, nullptr);
    Shape shape = b.shapeOf(index);
    const Shape rows{shape.elements(), b.shapeOf(weight)[1]};
    shape.push(rows[1]);
    const NodeId flat = b.reshape(index, {rows[0]});
    const NodeId spread = spreadIndex(b, "embedding", flat, 0, rows);
    NodeId picked = b.emit(Op::Gather, {weight, spread}, AxisAttrs{0, 0});
    if (padding) { // a select, not a product: non-finite gradients do not reach the row either
        const auto number = static_cast<double>(*padding);
        const NodeId isPadding = b.emit(Op::Equal, {spread, b.constantLike(number, spread)});
        picked = b.where(isPadding, b.unary(Op::StopGradient, picked), picked);
    }
    return b.reshape(picked, shape);
}

NodeId indexPut(Builder& b, NodeId x, NodeId index, NodeId values) {
    const auto in = castInputs(b, "index_put", std::array{x, values});
    const AutocastScope off(b, nullptr);
    requireOneDType(b, "index_put", in);
    const Shape shape = b.shapeOf(in[0]), rows = b.shapeOf(in[1]);
    const NodeId spread = spreadIndex(b, "index_put", index, 0, rows);
    const AxisAttrs how{0, shape[0]};
    const NodeId hits = b.emit(Op::ScatterAdd, {b.constant(1, rows, DType::F32), spread}, how);
    const NodeId placed = b.emit(Op::ScatterAdd, {in[1], spread}, how);
    return b.where(b.emit(Op::Less, {b.constantLike(0, hits), hits}), placed, in[0]);
}

} // namespace halfscope::fn
