// Running sums and products along an axis, forwards or backwards. A running sum's gradient is the
// running sum from the other end; a running product's is made of running products, so that zeros
// need no special case.
#include "engine/core/error.h"
#include "engine/ops/builder.h"
#include "engine/ops/families.h"

namespace halfscope {
namespace {

NodeType inferScan(std::span<const NodeType> in, const Attrs& attrs) {
    require(isFloat(in[0].dtype), "wants a floating-point operand");
    const int axis = attrsOf<ScanAttrs>(attrs).axis;
    require(axis >= 0 && axis < in[0].shape.rank(), "axis out of range");
    return in[0];
}

/// Calls run(first element, stride, extent) for every line along the axis.
template <class Run>
void forEachLine(const Shape& shape, const ScanAttrs& how, const Run& run) {
    const int64_t extent = shape[how.axis], stride = shape.strides()[how.axis];
    const int64_t lines = extent == 0 ? 0 : shape.elements() / extent;
    for (int64_t line = 0; line < lines; ++line) {
        const int64_t first = line / stride * stride * extent + line % stride;
        if (how.reverse)
            run(first + (extent - 1) * stride, -stride, extent);
        else
            run(first, stride, extent);
    }
}

void refCumsum(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    forEachLine(out.shape, attrsOf<ScanAttrs>(attrs), [&](int64_t at, int64_t by, int64_t n) {
        double sum = 0;
        for (; n > 0; --n, at += by)
            out.values[static_cast<size_t>(at)] = sum += in[0].values[static_cast<size_t>(at)];
    });
}

void refCumprod(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    forEachLine(out.shape, attrsOf<ScanAttrs>(attrs), [&](int64_t at, int64_t by, int64_t n) {
        double product = 1;
        for (; n > 0; --n, at += by)
            out.values[static_cast<size_t>(at)] = product *= in[0].values[static_cast<size_t>(at)];
    });
}

void vjpCumsum(const VjpArgs& v) {
    ScanAttrs how = attrsOf<ScanAttrs>(v.attrs);
    how.reverse = !how.reverse;
    v.dIn[0] = v.b.emit(Op::Cumsum, {v.dy}, how);
}

/// Returns, for each element, the product of all elements before it along the axis, without itself.
NodeId productsBefore(Builder& b, NodeId x, const ScanAttrs& how) {
    const Shape shape = b.shapeOf(x);
    const int64_t extent = shape[how.axis];
    if (extent <= 1) return b.constant(1, shape, b.dtypeOf(x));
    Shape front = shape;
    front[how.axis] = 1;
    const NodeId one = b.constant(1, front, b.dtypeOf(x));
    const NodeId rest =
        how.reverse ? b.slice(x, how.axis, 1, extent) : b.slice(x, how.axis, 0, extent - 1);
    const NodeId parts[] = {how.reverse ? rest : one, how.reverse ? one : rest};
    return b.emit(Op::Cumprod, {b.concat(parts, how.axis)}, how);
}

/// dx[i] = before[i] * the sum over k >= i of dy[k] * (the product of x after i up to and including
/// k). It takes a table of extent x extent products for each line; PyTorch needs one as large when
/// there are zeros.
void vjpCumprod(const VjpArgs& v) {
    Builder& b = v.b;
    const ScanAttrs how = attrsOf<ScanAttrs>(v.attrs);
    const NodeId x = v.in[0];
    const Shape shape = b.shapeOf(x);
    const int64_t extent = shape[how.axis], inner = shape.strides()[how.axis];
    const int64_t outer = extent * inner == 0 ? 0 : shape.elements() / (extent * inner);
    const Shape flat{outer, 1, extent, inner}, table{outer, extent, extent, inner};
    const NodeId i = b.iota(table, 1, DType::I32), k = b.iota(table, 2, DType::I32);
    const NodeId later = how.reverse ? b.emit(Op::Less, {k, i}) : b.emit(Op::Less, {i, k});
    const NodeId notBefore = b.emit(Op::LogicalOr, {later, b.emit(Op::Equal, {i, k})});
    const NodeId factors = b.expand(b.reshape(x, flat), table);
    const NodeId between =
        b.emit(Op::Cumprod, {b.where(later, factors, b.constantLike(1, factors))},
               ScanAttrs{2, how.reverse});
    const NodeId dy = b.expand(b.reshape(v.dy, flat), table);
    const NodeId terms = b.where(notBefore, b.mul(dy, between), b.constantLike(0, dy));
    const NodeId sums = b.reshape(b.sum(terms, {2}), shape);
    v.dIn[0] = b.mul(productsBefore(b, x, how), sums);
}

const OpInfo kRows[] = {
    {Op::Cumsum, "cumsum", 1, OpFlags(OpFlag::StoredGradient), inferScan, vjpCumsum, refCumsum},
    {Op::Cumprod, "cumprod", 1, {}, inferScan, vjpCumprod, refCumprod},
};

} // namespace

std::span<const OpInfo> scanOps() { return kRows; }

} // namespace halfscope
