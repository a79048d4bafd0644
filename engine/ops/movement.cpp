// The leaves and the movement ops: shape rule, gradient and double reference of each. Movement ops
// are closed under differentiation: slice and pad, expand and sum, gather and scatter_add.
#include "engine/core/error.h"
#include "engine/ops/builder.h"
#include "engine/ops/families.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace halfscope {

namespace {

// ---- leaves ------------------------------------------------------------------------------------

NodeType inferLeaf(std::span<const NodeType>, const Attrs&) {
    failInvariant("a leaf is made by the builder's input, state, constant or iota");
}

void refConstant(std::span<const RefTensor>, const Attrs& attrs, RefTensor& out) {
    out.values.assign(out.values.size(), attrsOf<ConstantAttrs>(attrs).value);
}

void refIota(std::span<const RefTensor>, const Attrs& attrs, RefTensor& out) {
    const int axis = attrsOf<AxisAttrs>(attrs).axis;
    const auto stride = static_cast<size_t>(out.shape.strides()[axis]);
    const auto extent = static_cast<size_t>(out.shape[axis]);
    for (size_t i = 0; i < out.values.size(); ++i)
        out.values[i] = static_cast<double>(i / stride % extent);
}

// ---- shape rules -------------------------------------------------------------------------------

NodeType inferReshape(std::span<const NodeType> in, const Attrs& attrs) {
    const Shape& to = attrsOf<ShapeAttrs>(attrs).shape;
    require(to.elements() == in[0].shape.elements(),
            "cannot reshape to " + to.text() + ": another number of elements");
    return {to, in[0].dtype};
}

NodeType inferExpand(std::span<const NodeType> in, const Attrs& attrs) {
    const Shape& to = attrsOf<ShapeAttrs>(attrs).shape;
    const auto common = broadcastShape(in[0].shape, to);
    require(common && *common == to, "cannot expand to " + to.text());
    return {to, in[0].dtype};
}

NodeType inferTranspose(std::span<const NodeType> in, const Attrs& attrs) {
    const Shape& axes = attrsOf<AxesAttrs>(attrs).axes;
    const int rank = in[0].shape.rank();
    require(axes.rank() == rank, "the permutation must name every axis once");
    std::array<bool, kMaxRank> seen{};
    Shape out;
    for (const int64_t axis : axes) {
        require(axis >= 0 && axis < rank && !seen[static_cast<size_t>(axis)],
                "the permutation must name every axis once");
        seen[static_cast<size_t>(axis)] = true;
        out.push(in[0].shape[static_cast<int>(axis)]);
    }
    return {out, in[0].dtype};
}

NodeType inferSlice(std::span<const NodeType> in, const Attrs& attrs) {
    const auto& cut = attrsOf<SliceAttrs>(attrs);
    const Shape& from = in[0].shape;
    const int rank = from.rank();
    require(cut.begin.rank() == rank && cut.end.rank() == rank && cut.step.rank() == rank,
            "begin, end and step must name every axis");
    Shape out;
    for (int i = 0; i < rank; ++i) {
        require(cut.step[i] >= 1, "steps must be 1 or more");
        if (from[i] == 0 && cut.begin[i] == 0 && cut.end[i] == 0) { // the whole of an empty axis
            out.push(0);
            continue;
        }
        require(cut.begin[i] >= 0 && cut.begin[i] < cut.end[i] && cut.end[i] <= from[i],
                "slice " + std::to_string(cut.begin[i]) + " to " + std::to_string(cut.end[i]) +
                    " of axis " + std::to_string(i) + " is empty or out of range");
        out.push((cut.end[i] - cut.begin[i] - 1) / cut.step[i] + 1);
    }
    return {out, in[0].dtype};
}

NodeType inferPad(std::span<const NodeType> in, const Attrs& attrs) {
    const auto& pad = attrsOf<PadAttrs>(attrs);
    const Shape& from = in[0].shape;
    const int rank = from.rank();
    require(pad.before.rank() == rank && pad.after.rank() == rank && pad.between.rank() == rank,
            "before, after and between must name every axis");
    Shape out;
    for (int i = 0; i < rank; ++i) {
        require(pad.before[i] >= 0 && pad.after[i] >= 0 && pad.between[i] >= 0,
                "padding must not be negative");
        const int64_t added[] = {pad.before[i], pad.between[i], pad.after[i]};
        const bool none = std::all_of(std::begin(added), std::end(added),
                                      [](int64_t elements) { return elements == 0; });
        require(from[i] >= 1 || none, "cannot pad an empty axis");
        int64_t extent = 0; // (from - 1) between + before + from + after
        const bool fits =
            !__builtin_mul_overflow(std::max<int64_t>(from[i] - 1, 0), pad.between[i], &extent) &&
            !__builtin_add_overflow(extent, pad.before[i], &extent) &&
            !__builtin_add_overflow(extent, from[i], &extent) &&
            !__builtin_add_overflow(extent, pad.after[i], &extent);
        require(fits, "an axis of 2^63 elements or more");
        out.push(extent);
    }
    return {out, in[0].dtype};
}

NodeType inferConcat(std::span<const NodeType> in, const Attrs& attrs) {
    const int axis = attrsOf<AxisAttrs>(attrs).axis;
    NodeType out = in[0];
    require(axis >= 0 && axis < out.shape.rank(), "axis out of range");
    for (const NodeType& part : in.subspan(1)) {
        require(part.dtype == out.dtype, "operands must have one dtype: cast first");
        require(part.shape.rank() == out.shape.rank(), "operands must have one rank");
        for (int i = 0; i < out.shape.rank(); ++i)
            require(i == axis || part.shape[i] == out.shape[i],
                    "operands may differ along the concat axis only");
        require(!__builtin_add_overflow(out.shape[axis], part.shape[axis], &out.shape[axis]),
                "an axis of 2^63 elements or more");
    }
    return out;
}

/// Requires that index and value tensors agree in all axes but one.
void requireIndex(const Shape& values, const NodeType& index, int axis) {
    require(index.dtype == DType::I32, "the index must be int32");
    require(axis >= 0 && axis < values.rank(), "axis out of range");
    require(index.shape.rank() == values.rank(), "index and operand must have one rank");
    for (int i = 0; i < values.rank(); ++i)
        require(i == axis || index.shape[i] == values[i],
                "index and operand may differ along the axis only");
}

NodeType inferGather(std::span<const NodeType> in, const Attrs& attrs) {
    requireIndex(in[0].shape, in[1], attrsOf<AxisAttrs>(attrs).axis);
    return {in[1].shape, in[0].dtype};
}

NodeType inferScatterAdd(std::span<const NodeType> in, const Attrs& attrs) {
    const auto& how = attrsOf<AxisAttrs>(attrs);
    require(in[0].dtype != DType::Bool, "cannot add bool: cast first");
    requireIndex(in[0].shape, in[1], how.axis);
    require(in[1].shape == in[0].shape, "index and operand must have one shape");
    require(how.extent >= 1, "the result's extent must be 1 or more");
    NodeType out = in[0];
    out.shape[how.axis] = how.extent;
    require(out.shape.elements() > 0, "the result must not be empty");
    return out;
}

// ---- references --------------------------------------------------------------------------------

/// Calls visit(flat, at) for each element of a shape in row-major order; `at` is its index.
template <class Visit>
void forEachElement(const Shape& shape, Visit visit) {
    Shape at = Shape::filled(shape.rank(), 0);
    const int64_t count = shape.elements();
    for (int64_t flat = 0; flat < count; ++flat) {
        visit(static_cast<size_t>(flat), static_cast<const Shape&>(at));
        for (int axis = shape.rank() - 1; axis >= 0 && ++at[axis] == shape[axis]; --axis)
            at[axis] = 0;
    }
}

/// Returns the row-major place of an index.
size_t placeOf(const Shape& strides, const Shape& at) {
    int64_t place = 0;
    for (int i = 0; i < at.rank(); ++i)
        place += at[i] * strides[i];
    return static_cast<size_t>(place);
}

void refReshape(std::span<const RefTensor> in, const Attrs&, RefTensor& out) {
    out.values = in[0].values;
}

void refExpand(std::span<const RefTensor> in, const Attrs&, RefTensor& out) {
    const Shape& from = in[0].shape;
    const Shape strides = from.strides();
    const int extra = out.shape.rank() - from.rank();
    forEachElement(out.shape, [&](size_t flat, const Shape& at) {
        Shape source;
        for (int i = 0; i < from.rank(); ++i)
            source.push(from[i] == 1 ? 0 : at[i + extra]);
        out.values[flat] = in[0].values[placeOf(strides, source)];
    });
}

void refTranspose(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    const Shape& axes = attrsOf<AxesAttrs>(attrs).axes;
    const Shape strides = in[0].shape.strides();
    forEachElement(out.shape, [&](size_t flat, const Shape& at) {
        int64_t place = 0;
        for (int i = 0; i < axes.rank(); ++i)
            place += at[i] * strides[static_cast<int>(axes[i])];
        out.values[flat] = in[0].values[static_cast<size_t>(place)];
    });
}

void refSlice(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    const auto& cut = attrsOf<SliceAttrs>(attrs);
    const Shape strides = in[0].shape.strides();
    forEachElement(out.shape, [&](size_t flat, Shape at) {
        for (int i = 0; i < at.rank(); ++i)
            at[i] = cut.begin[i] + at[i] * cut.step[i];
        out.values[flat] = in[0].values[placeOf(strides, at)];
    });
}

void refPad(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    const auto& pad = attrsOf<PadAttrs>(attrs);
    const Shape strides = out.shape.strides();
    out.values.assign(out.values.size(), pad.value);
    forEachElement(in[0].shape, [&](size_t flat, Shape at) {
        for (int i = 0; i < at.rank(); ++i)
            at[i] = pad.before[i] + at[i] * (pad.between[i] + 1);
        out.values[placeOf(strides, at)] = in[0].values[flat];
    });
}

void refConcat(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    const int axis = attrsOf<AxisAttrs>(attrs).axis;
    const Shape strides = out.shape.strides();
    int64_t begin = 0;
    for (const RefTensor& part : in) {
        forEachElement(part.shape, [&](size_t flat, Shape at) {
            at[axis] += begin;
            out.values[placeOf(strides, at)] = part.values[flat];
        });
        begin += part.shape[axis];
    }
}

int64_t checkedIndex(double value, int64_t extent) {
    require(value >= 0 && value < static_cast<double>(extent) && value == std::floor(value),
            "index " + std::to_string(value) + " out of range");
    return static_cast<int64_t>(value);
}

void refGather(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    const int axis = attrsOf<AxisAttrs>(attrs).axis;
    const Shape strides = in[0].shape.strides();
    forEachElement(out.shape, [&](size_t flat, Shape at) {
        at[axis] = checkedIndex(in[1].values[flat], in[0].shape[axis]);
        out.values[flat] = in[0].values[placeOf(strides, at)];
    });
}

void refScatterAdd(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    const auto& how = attrsOf<AxisAttrs>(attrs);
    const Shape strides = out.shape.strides();
    out.values.assign(out.values.size(), 0.0);
    forEachElement(in[0].shape, [&](size_t flat, Shape at) {
        at[how.axis] = checkedIndex(in[1].values[flat], how.extent);
        out.values[placeOf(strides, at)] += in[0].values[flat];
    });
}

// ---- gradients ---------------------------------------------------------------------------------

void vjpReshape(const VjpArgs& v) { v.dIn[0] = v.b.reshape(v.dy, v.b.shapeOf(v.in[0])); }

void vjpExpand(const VjpArgs& v) { v.dIn[0] = v.b.sumTo(v.dy, v.b.shapeOf(v.in[0])); }

void vjpTranspose(const VjpArgs& v) {
    const Shape& axes = attrsOf<AxesAttrs>(v.attrs).axes;
    Shape inverse = Shape::filled(axes.rank(), 0);
    for (int i = 0; i < axes.rank(); ++i)
        inverse[static_cast<int>(axes[i])] = i;
    v.dIn[0] = v.b.transpose(v.dy, inverse);
}

void vjpSlice(const VjpArgs& v) {
    const auto& cut = attrsOf<SliceAttrs>(v.attrs);
    const Shape from = v.b.shapeOf(v.in[0]), to = v.b.shapeOf(v.y);
    PadAttrs pad{cut.begin, from, cut.step, 0.0};
    for (int i = 0; i < from.rank(); ++i) {
        pad.between[i] = from[i] == 0 ? 0 : cut.step[i] - 1;
        pad.after[i] = from[i] == 0 ? 0 : from[i] - (cut.begin[i] + (to[i] - 1) * cut.step[i] + 1);
    }
    v.dIn[0] = v.b.emit(Op::Pad, {v.dy}, pad);
}

void vjpPad(const VjpArgs& v) {
    const auto& pad = attrsOf<PadAttrs>(v.attrs);
    const Shape from = v.b.shapeOf(v.in[0]);
    SliceAttrs cut{pad.before, from, pad.between};
    for (int i = 0; i < from.rank(); ++i) {
        cut.step[i] = pad.between[i] + 1;
        cut.end[i] = pad.before[i] + (from[i] - 1) * cut.step[i] + 1;
    }
    v.dIn[0] = v.b.emit(Op::Slice, {v.dy}, cut);
}

void vjpConcat(const VjpArgs& v) {
    const int axis = attrsOf<AxisAttrs>(v.attrs).axis;
    int64_t begin = 0;
    for (size_t i = 0; i < v.in.size(); ++i) {
        const int64_t end = begin + v.b.shapeOf(v.in[i])[axis];
        if (v.needed[i])
            v.dIn[i] = begin == end ? v.b.constantLike(0, v.in[i]) // for a part without elements
                                    : v.b.slice(v.dy, axis, begin, end);
        begin = end;
    }
}

void vjpGather(const VjpArgs& v) {
    const int axis = attrsOf<AxisAttrs>(v.attrs).axis;
    const int64_t extent = v.b.shapeOf(v.in[0])[axis];
    v.dIn[0] = v.b.emit(Op::ScatterAdd, {v.dy, v.in[1]}, AxisAttrs{axis, extent});
}

void vjpScatterAdd(const VjpArgs& v) {
    const int axis = attrsOf<AxisAttrs>(v.attrs).axis;
    v.dIn[0] = v.b.emit(Op::Gather, {v.dy, v.in[1]}, AxisAttrs{axis, 0});
}

// ---- folds -------------------------------------------------------------------------------------

std::optional<NodeId> foldConstant(const FoldArgs& a) {
    const auto value = a.b.constantValue(a.in[0]);
    if (!value) return std::nullopt;
    return a.b.constant(*value, a.type.shape, a.type.dtype);
}

std::optional<NodeId> foldSlice(const FoldArgs& a) {
    if (a.b.shapeOf(a.in[0]) == a.type.shape) return a.in[0];
    return foldConstant(a);
}

/// Folds two Reshapes, or two Expands, in a row into one.
std::optional<NodeId> foldShaped(const FoldArgs& a) {
    if (const auto folded = foldSlice(a)) return folded;
    const Node& x = a.b[a.in[0]];
    if (x.op != a.op) return std::nullopt;
    return a.b.emit(a.op, {x.in[0]}, a.attrs);
}

std::optional<NodeId> foldTranspose(const FoldArgs& a) {
    if (const auto folded = foldConstant(a)) return folded;
    const Shape& axes = std::get<AxesAttrs>(a.attrs).axes;
    bool identity = true;
    for (int i = 0; i < axes.rank(); ++i)
        identity = identity && axes[i] == i;
    if (identity) return a.in[0];
    const Node& x = a.b[a.in[0]];
    if (x.op != Op::Transpose) return std::nullopt;
    const Shape inner = std::get<AxesAttrs>(x.attrs).axes;
    Shape joined;
    for (const int64_t axis : axes)
        joined.push(inner[static_cast<int>(axis)]);
    return a.b.transpose(x.in[0], joined);
}

bool allZero(const Shape& s) {
    return std::all_of(s.begin(), s.end(), [](int64_t v) { return v == 0; });
}

std::optional<NodeId> foldPad(const FoldArgs& a) {
    const auto& pad = std::get<PadAttrs>(a.attrs);
    if (!allZero(pad.before) || !allZero(pad.after)) return std::nullopt;
    return foldSameShape(a);
}

std::optional<NodeId> foldConcat(const FoldArgs& a) {
    if (a.in.size() == 1) return a.in[0];
    return std::nullopt;
}

// ---- rows --------------------------------------------------------------------------------------

constexpr OpInfo kLeafRows[] = {
    {Op::Input, "input", 0, OpFlag::Leaf, inferLeaf},
    {Op::State, "state", 0, OpFlag::Leaf, inferLeaf},
    {Op::Constant, "constant", 0, OpFlag::Leaf | OpFlag::Cheap, inferLeaf, nullptr, refConstant},
    {Op::Iota, "iota", 0, OpFlag::Leaf | OpFlag::NoGradient, inferLeaf, nullptr, refIota},
};

constexpr OpFlags kLinear = OpFlag::StoredGradient | OpFlag::ByAxes;
constexpr OpFlags kStrided = OpFlag::StridedRead | OpFlag::StoredGradient;

constexpr OpInfo kRows[] = {
    {Op::Reshape, "reshape", 1, OpFlag::View | kLinear, inferReshape, vjpReshape, refReshape,
     foldShaped},
    {Op::Transpose, "transpose", 1, kStrided, inferTranspose, vjpTranspose, refTranspose,
     foldTranspose},
    {Op::Slice, "slice", 1, kLinear, inferSlice, vjpSlice, refSlice, foldSlice},
    {Op::Pad, "pad", 1, kLinear, inferPad, vjpPad, refPad, foldPad},
    {Op::Concat, "concat", -1, kLinear, inferConcat, vjpConcat, refConcat, foldConcat},
    {Op::Expand, "expand", 1, kStrided | OpFlag::ByAxes, inferExpand, vjpExpand, refExpand,
     foldShaped},
    {Op::Gather, "gather", 2, kLinear, inferGather, vjpGather, refGather},
    {Op::ScatterAdd, "scatter_add", 2, kLinear, inferScatterAdd, vjpScatterAdd, refScatterAdd},
};

} // namespace

std::span<const OpInfo> leafOps() { return kLeafRows; }
std::span<const OpInfo> movementOps() { return kRows; }

} // namespace halfscope
