// The reductions: sum, mean, maximum, minimum and product over axes that stay as extent 1. The
// kernels decide the order of the sums, and accumulate 16-bit data in f32.
#include "engine/core/error.h"
#include "engine/ops/builder.h"
#include "engine/ops/families.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {

NodeType inferReduction(std::span<const NodeType> in, const Attrs& attrs) {
    require(in[0].dtype != DType::Bool, "cannot reduce bool: cast first");
    NodeType out = in[0];
    int64_t last = -1;
    for (const int64_t axis : attrsOf<AxesAttrs>(attrs).axes) {
        require(axis > last && axis < out.shape.rank(),
                "axes must be ascending and within the operand's rank");
        last = axis;
        out.shape[static_cast<int>(axis)] = 1;
    }
    return out;
}

NodeType inferMean(std::span<const NodeType> in, const Attrs& attrs) {
    require(isFloat(in[0].dtype), "wants a floating-point operand");
    return inferReduction(in, attrs);
}

NodeType inferExtremum(std::span<const NodeType> in, const Attrs& attrs) {
    const NodeType out = inferReduction(in, attrs);
    for (const int64_t axis : attrsOf<AxesAttrs>(attrs).axes)
        require(in[0].shape[static_cast<int>(axis)] > 0, "of nothing");
    return out;
}

/// Calls take(output index, input value) for each element of x, in order.
template <class Take>
void visitReduced(const RefTensor& x, const Shape& outShape, Take take) {
    const Shape strides = x.shape.strides(), outStrides = outShape.strides();
    for (int64_t i = 0; i < x.shape.elements(); ++i) {
        int64_t to = 0, rest = i;
        for (int axis = 0; axis < x.shape.rank(); ++axis) {
            const int64_t at = rest / strides[axis];
            rest %= strides[axis];
            if (outShape[axis] != 1) to += at * outStrides[axis];
        }
        take(static_cast<size_t>(to), x.values[static_cast<size_t>(i)]);
    }
}

void refSum(std::span<const RefTensor> in, const Attrs&, RefTensor& out) {
    out.values.assign(out.values.size(), 0.0);
    visitReduced(in[0], out.shape, [&](size_t to, double x) { out.values[to] += x; });
}

void refMean(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    refSum(in, attrs, out);
    const double count =
        static_cast<double>(in[0].values.size()) / static_cast<double>(out.values.size());
    for (double& value : out.values)
        value /= count;
}

void refProd(std::span<const RefTensor> in, const Attrs&, RefTensor& out) {
    out.values.assign(out.values.size(), 1.0);
    visitReduced(in[0], out.shape, [&](size_t to, double x) { out.values[to] *= x; });
}

/// NaN wins over every number, as in PyTorch's amax and amin.
template <bool (*Better)(double, double)>
void refExtremum(std::span<const RefTensor> in, const Attrs&, RefTensor& out) {
    std::vector<bool> seen(out.values.size(), false);
    visitReduced(in[0], out.shape, [&](size_t to, double x) {
        double& best = out.values[to];
        if (!seen[to] || std::isnan(x) || (!std::isnan(best) && Better(x, best))) best = x;
        seen[to] = true;
    });
}
bool greater(double a, double b) { return a > b; }
bool smaller(double a, double b) { return a < b; }

void vjpSum(const VjpArgs& v) { v.dIn[0] = v.b.expandLike(v.dy, v.in[0]); }

void vjpMean(const VjpArgs& v) {
    const double count = static_cast<double>(v.b.shapeOf(v.in[0]).elements()) /
                         static_cast<double>(v.b.shapeOf(v.y).elements());
    // Divided, because multiplying by a rounded 1/n would round twice.
    v.dIn[0] = v.b.expandLike(v.b.div(v.dy, v.b.constantLike(count, v.dy)), v.in[0]);
}

/// Elements that tie for the extremum share its gradient evenly. The gradient is multiplied by the
/// mask, not selected by it: as in PyTorch an infinite gradient, or a NaN in x (nobody wins: 0 /
/// 0), shows in all elements.
void vjpExtremum(const VjpArgs& v) {
    Builder& b = v.b;
    const NodeId x = v.in[0];
    const NodeId winners = b.cast(b.emit(Op::Equal, {x, b.expandLike(v.y, x)}), b.dtypeOf(v.dy));
    const NodeId count = b.sum(winners, attrsOf<AxesAttrs>(v.attrs).axes);
    v.dIn[0] = b.div(b.mul(b.expandLike(v.dy, x), winners), b.expandLike(count, x));
}

/// Multiplies all the other elements, by running products from both ends: zeros need no special
/// case.
void vjpProd(const VjpArgs& v) {
    Builder& b = v.b;
    const Shape shape = b.shapeOf(v.in[0]), axes = attrsOf<AxesAttrs>(v.attrs).axes;
    Shape order, inverse = Shape::filled(shape.rank(), 0); // with the reduced axes last
    int64_t reduced = 1;
    for (int i = 0; i < shape.rank(); ++i) {
        if (std::find(axes.begin(), axes.end(), int64_t{i}) == axes.end()) order.push(i);
    }
    for (const int64_t axis : axes) {
        order.push(axis);
        reduced *= shape[static_cast<int>(axis)];
    }
    for (int i = 0; i < shape.rank(); ++i)
        inverse[static_cast<int>(order[i])] = i;
    const NodeId moved = b.transpose(v.in[0], order);
    const Shape movedShape = b.shapeOf(moved);
    const int64_t lines = shape.elements() / std::max<int64_t>(reduced, 1);
    const NodeId x = b.reshape(moved, {lines, reduced});
    NodeId others = b.constantLike(1, x);
    if (reduced > 1) {
        const NodeId one = b.constant(1, {lines, 1}, b.dtypeOf(x));
        const NodeId before[] = {one, b.slice(x, 1, 0, reduced - 1)};
        const NodeId after[] = {b.slice(x, 1, 1, reduced), one};
        others = b.mul(b.emit(Op::Cumprod, {b.concat(before, 1)}, ScanAttrs{1, false}),
                       b.emit(Op::Cumprod, {b.concat(after, 1)}, ScanAttrs{1, true}));
    }
    const NodeId back = b.transpose(b.reshape(others, movedShape), inverse);
    v.dIn[0] = b.mul(b.expandLike(v.dy, back), back);
}

constexpr OpFlags kLinear = OpFlag::Reduction | OpFlag::StoredGradient;

constexpr OpInfo kRows[] = {
    // The shape stays the same for a sum of one element or over no axes.
    {Op::Sum, "sum", 1, kLinear, inferReduction, vjpSum, refSum, foldSameShape},
    // n may not be a 16-bit number: the division is done in f32.
    {Op::Mean, "mean", 1, OpFlag::Reduction, inferMean, vjpMean, refMean, foldSameShape},
    // Counts of ties may exceed 16 bits.
    {Op::ReduceMax, "amax", 1, OpFlag::Reduction, inferExtremum, vjpExtremum, refExtremum<greater>,
     foldSameShape},
    {Op::ReduceMin, "amin", 1, OpFlag::Reduction, inferExtremum, vjpExtremum, refExtremum<smaller>,
     foldSameShape},
    {Op::Prod, "prod", 1, OpFlag::Reduction, inferMean, vjpProd, refProd, foldSameShape},
};

} // namespace

std::span<const OpInfo> reduceOps() { return kRows; }

} // namespace halfscope
