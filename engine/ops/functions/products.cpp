// Products of matrices under their many names and convolutions, all put together from matmul and
// conv2d; attention and recurrent cells, which are made of them.
#include "engine/ops/functions/products.h"

#include "engine/core/error.h"
#include "engine/ops/functions/activations.h"
#include "engine/ops/functions/arithmetic.h"
#include "engine/ops/functions/operands.h"
#include "engine/ops/functions/reductions.h"

#include <cmath>
#include <limits>

namespace halfscope::fn {

using namespace detail;

namespace {

/// Multiplies a (.., m, k) by a matrix (k, n): the leading axes become rows of one product.
NodeId foldedMatmul(Builder& b, NodeId a, NodeId matrix, MatmulAttrs how, NodeId bias = kNoNode) {
    Shape shape = b.shapeOf(a);
    require(!shape.empty(), "a product of matrices with a scalar operand");
    const int64_t inner = shape.back();
    int64_t rows = 1;
    for (int i = 0; i + 1 < shape.rank(); ++i)
        rows *= shape[i];
    const NodeId y = b.matmul(b.reshape(a, Shape{rows, inner}), matrix, how, bias);
    shape[shape.rank() - 1] = b.shapeOf(y)[1];
    return b.reshape(y, shape);
}

/// Multiplies the rows of a layer's input by its weight (outputs, inputs); kNoNode adds no bias.
NodeId rowProduct(Builder& b, const LayerOperands& in, NodeId bias = kNoNode) {
    const DType type = promoted(b[in.x()].type(), b[in.weight()].type());
    if (bias != kNoNode) bias = b.cast(bias, type);
    return foldedMatmul(b, b.cast(in.x(), type), b.cast(in.weight(), type), {.transposeB = true},
                        bias);
}

/// Expands the batch axes of x (all but the last two) to `batch`.
NodeId withBatch(Builder& b, NodeId x, Shape batch) {
    const Shape& shape = b.shapeOf(x);
    batch.push(shape[shape.rank() - 2]);
    batch.push(shape.back());
    return b.expand(x, batch);
}

Shape batchOf(const Shape& shape) {
    return Shape(std::span<const int64_t>(shape.begin(), static_cast<size_t>(shape.rank() - 2)));
}

void requireRank(const Builder& b, std::string_view name, NodeId x, int rank) {
    require(b.shapeOf(x).rank() == rank, std::string(name) + ": " + b.shapeOf(x).text() +
                                             " where rank " + std::to_string(rank) +
                                             " is expected");
}

/// Multiplies operands that autocast or the caller has brought to one dtype.
NodeId product(Builder& b, std::string_view name, NodeId a, NodeId c, int rankA, int rankC) {
    requireRank(b, name, a, rankA);
    requireRank(b, name, c, rankC);
    const auto in = castInputs(b, name, std::array{a, c});
    requireOneDType(b, name, in);
    const AutocastScope off(b, nullptr);
    return matmul(b, in[0], in[1]);
}

/// Multiplies operands of one dtype as torch.matmul does.
NodeId rankedProduct(Builder& b, NodeId x, NodeId y, MatmulAttrs how) {
    const bool vectorX = b.shapeOf(x).rank() == 1, vectorY = b.shapeOf(y).rank() == 1;
    require(!b.shapeOf(x).empty() && !b.shapeOf(y).empty(), "matmul: a scalar operand");
    if (vectorX) x = b.reshape(x, Shape{1, b.shapeOf(x)[0]});
    if (vectorY) y = b.reshape(y, Shape{b.shapeOf(y)[0], 1});
    NodeId out = kNoNode;
    if (b.shapeOf(y).rank() == 2) {
        out = foldedMatmul(b, x, y, how);
    } else {
        const auto batch = broadcastShape(batchOf(b.shapeOf(x)), batchOf(b.shapeOf(y)));
        require(batch.has_value(), "matmul: batch axes of " + b.shapeOf(x).text() + " and " +
                                       b.shapeOf(y).text() + " do not broadcast");
        out = b.matmul(withBatch(b, x, *batch), withBatch(b, y, *batch), how);
    }
    if (!vectorX && !vectorY) return out;
    const Shape full = b.shapeOf(out);
    Shape shape = batchOf(full);
    if (!vectorX) shape.push(full[full.rank() - 2]);
    if (!vectorY) shape.push(full.back());
    return b.reshape(out, shape);
}

/// Returns x + a c, rounded once, to the wider of their dtypes.
NodeId addedOnce(Builder& b, std::string_view name, NodeId x, NodeId a, NodeId c) {
    const NodeId sums = rankedProduct(b, a, c, {.wide = true});
    const std::string outer = b.setRule(std::string(name) + ": rounds its result once");
    const DType type = promoted(b[x].type(), {b.shapeOf(sums), b.dtypeOf(a)});
    const NodeId y = b.cast(add(b, b.cast(x, b.dtypeOf(sums)), sums), type);
    b.setRule(outer);
    return y;
}

NodeId addedProduct(Builder& b, std::string_view name, NodeId x, NodeId a, NodeId c) {
    const auto in = castInputs(b, name, std::array{x, a, c});
    requireOneDType(b, name, std::array{in[1], in[2]});
    const AutocastScope off(b, nullptr);
    return addedOnce(b, name, in[0], in[1], in[2]);
}

} // namespace

NodeId matmul(Builder& b, NodeId x, NodeId y) {
    const auto in = castInputs(b, "matmul", std::array{x, y});
    const AutocastScope off(b, nullptr);
    const DType type = promoted(b[in[0]].type(), b[in[1]].type());
    return rankedProduct(b, b.cast(in[0], type), b.cast(in[1], type), {});
}

NodeId linear(Builder& b, NodeId x, NodeId weight, NodeId bias, BiasRounding rounding) {
    const LayerOperands in(b, "linear", x, weight, bias);
    const AutocastScope off(b, nullptr);
    if (!in.roundsToFp8() && rounding == BiasRounding::Once) return rowProduct(b, in, in.bias());
    const NodeId y = in.product(b, rowProduct(b, in));
    return withBias(b, y, in.bias(), b.shapeOf(y).rank() - 1);
}

NodeId mm(Builder& b, NodeId a, NodeId c) { return product(b, "mm", a, c, 2, 2); }
NodeId bmm(Builder& b, NodeId a, NodeId c) { return product(b, "bmm", a, c, 3, 3); }
NodeId mv(Builder& b, NodeId matrix, NodeId x) { return product(b, "mv", matrix, x, 2, 1); }
NodeId dot(Builder& b, NodeId a, NodeId c) { return product(b, "dot", a, c, 1, 1); }

NodeId addmm(Builder& b, NodeId x, NodeId a, NodeId c) { return addedProduct(b, "addmm", x, a, c); }
NodeId addmv(Builder& b, NodeId x, NodeId a, NodeId c) { return addedProduct(b, "addmv", x, a, c); }
NodeId baddbmm(Builder& b, NodeId x, NodeId a, NodeId c) {
    return addedProduct(b, "baddbmm", x, a, c);
}

NodeId addbmm(Builder& b, NodeId x, NodeId a, NodeId c) {
    constexpr std::string_view kName = "addbmm";
    requireRank(b, kName, a, 3);
    requireRank(b, kName, c, 3);
    const auto in = castInputs(b, kName, std::array{x, a, c});
    requireOneDType(b, kName, std::array{in[1], in[2]});
    const AutocastScope off(b, nullptr);
    const auto matrix = [&](NodeId all, int64_t t) {
        const Shape& shape = b.shapeOf(all);
        return b.reshape(b.slice(all, 0, t, t + 1), Shape{shape[1], shape[2]});
    };
    NodeId y = in[0];
    for (int64_t t = 0; t < b.shapeOf(in[1])[0]; ++t)
        y = addedOnce(b, kName, y, matrix(in[1], t), matrix(in[2], t));
    return y;
}

NodeId chainMatmul(Builder& b, std::span<const NodeId> given) {
    constexpr std::string_view kName = "chain_matmul";
    require(!given.empty(), "chain_matmul: no operands");
    const auto in = castInputs(b, kName, given);
    requireOneDType(b, kName, in);
    const AutocastScope inner(b, innerPolicy(b, kName));
    NodeId y = in[0];
    for (size_t i = 1; i < in.size(); ++i)
        y = mm(b, y, in[i]);
    return y;
}

NodeId tensordot(Builder& b, NodeId a, NodeId c, int axes) {
    constexpr std::string_view kName = "tensordot";
    const auto in = castInputs(b, kName, std::array{a, c});
    requireOneDType(b, kName, in);
    const AutocastScope inner(b, innerPolicy(b, kName));
    const Shape left = b.shapeOf(in[0]), right = b.shapeOf(in[1]);
    require(axes >= 1 && axes <= left.rank() && axes <= right.rank(),
            "tensordot: a count of axes that an operand does not have");
    const int kept = left.rank() - axes;
    Shape out;
    int64_t rows = 1, shared = 1, columns = 1; // not found by division, because an extent may be 0
    for (int i = 0; i < kept; ++i) {
        out.push(left[i]);
        rows *= left[i];
    }
    for (int i = 0; i < axes; ++i) {
        require(left[kept + i] == right[i], "tensordot of " + left.text() + " and " + right.text() +
                                                ": extents of summed axes differ");
        shared *= right[i];
    }
    for (int i = axes; i < right.rank(); ++i) {
        out.push(right[i]);
        columns *= right[i];
    }
    const NodeId y = mm(b, b.reshape(in[0], {rows, shared}), b.reshape(in[1], {shared, columns}));
    return b.reshape(y, out);
}

namespace {

/// The labels of an einsum by their roles: batch labels are in both operands and the result, summed
/// ones in both operands only.
struct EinsumPlan {
    std::string left, right, out;             ///< as written
    std::string batch, rows, columns, summed; ///< rows: in left and out; columns: in right and out
};

EinsumPlan einsumPlan(std::string_view equation) {
    const auto refuse = [&](Phrase format) { throw InputError(format, equation); };
    const size_t comma = equation.find(','), arrow = equation.find("->");
    if (comma == equation.npos || arrow == equation.npos || comma > arrow)
        refuse(phrase("Operations", "einsum: \"%1\" is not of the form a,b->c with two operands"));
    EinsumPlan p;
    p.left = equation.substr(0, comma);
    p.right = equation.substr(comma + 1, arrow - comma - 1);
    p.out = equation.substr(arrow + 2);
    const auto has = [](const std::string& text, char label) {
        return text.find(label) != text.npos;
    };
    for (const std::string& labels : {p.left, p.right, p.out}) {
        for (size_t i = 0; i < labels.size(); ++i) {
            if (labels[i] < 'a' || labels[i] > 'z')
                refuse(phrase("Operations", "einsum: \"%1\" has a label that is not a to z"));
            if (has(labels.substr(i + 1), labels[i]))
                refuse(phrase("Operations", "einsum: \"%1\" repeats a label in one operand"));
        }
    }
    for (const char label : p.left) {
        if (has(p.right, label))
            (has(p.out, label) ? p.batch : p.summed) += label;
        else if (has(p.out, label))
            p.rows += label;
        else
            refuse(phrase("Operations",
                          "einsum: \"%1\" sums a label of one operand alone: sum it before"));
    }
    for (const char label : p.right) {
        if (has(p.left, label)) continue;
        if (!has(p.out, label))
            refuse(phrase("Operations",
                          "einsum: \"%1\" sums a label of one operand alone: sum it before"));
        p.columns += label;
    }
    if (p.out.size() != p.batch.size() + p.rows.size() + p.columns.size())
        refuse(
            phrase("Operations", "einsum: \"%1\" has a label in the result that no operand has"));
    return p;
}

/// Returns x, whose axes are labelled `from`, with its axes in the order of `to`.
NodeId ordered(Builder& b, NodeId x, const std::string& from, const std::string& to) {
    Shape axes;
    for (const char label : to)
        axes.push(static_cast<int64_t>(from.find(label)));
    return b.transpose(x, axes);
}

} // namespace

NodeId einsum(Builder& b, std::string_view equation, NodeId a, NodeId c) {
    constexpr std::string_view kName = "einsum";
    const EinsumPlan p = einsumPlan(equation);
    const auto in = castInputs(b, kName, std::array{a, c});
    const AutocastScope inner(b, innerPolicy(b, kName));
    requireRank(b, kName, in[0], static_cast<int>(p.left.size()));
    requireRank(b, kName, in[1], static_cast<int>(p.right.size()));
    const Shape left = b.shapeOf(in[0]), right = b.shapeOf(in[1]);
    const auto extent = [&](char label) {
        const size_t at = p.left.find(label);
        return at != p.left.npos ? left[static_cast<int>(at)]
                                 : right[static_cast<int>(p.right.find(label))];
    };
    for (const char label : p.batch + p.summed)
        require(extent(label) == right[static_cast<int>(p.right.find(label))],
                "einsum: label " + std::string(1, label) + " has two extents in " + left.text() +
                    " and " + right.text());
    const auto count = [&](const std::string& labels) {
        int64_t n = 1;
        for (const char label : labels)
            n *= extent(label);
        return n;
    };
    const int64_t batch = count(p.batch), rows = count(p.rows), columns = count(p.columns);
    const NodeId x = ordered(b, in[0], p.left, p.batch + p.rows + p.summed);
    const NodeId y = ordered(b, in[1], p.right, p.batch + p.summed + p.columns);
    const NodeId z = bmm(b, b.reshape(x, {batch, rows, count(p.summed)}),
                         b.reshape(y, {batch, count(p.summed), columns}));
    Shape shape;
    const std::string labels = p.batch + p.rows + p.columns;
    for (const char label : labels)
        shape.push(extent(label));
    return ordered(b, b.reshape(z, shape), labels, p.out);
}

NodeId bilinear(Builder& b, NodeId a, NodeId c, NodeId weight, NodeId bias) {
    const Operands in(b, "bilinear", std::array{a, c, weight, bias}, Mixing::Refuse);
    const AutocastScope off(b, nullptr);
    const Shape shape = b.shapeOf(in[2]);
    requireRank(b, "bilinear", in[2], 3);
    const int64_t outputs = shape[0], left = shape[1], right = shape[2];
    // (n, i) (i, o j) gives (n, o, j), then each row is multiplied by its own c.
    const NodeId matrix = b.reshape(b.transpose(in[2], {1, 0, 2}), {left, outputs * right});
    const NodeId rows = mm(b, in[0], matrix);
    const int64_t n = b.shapeOf(rows)[0];
    const NodeId half = b.reshape(rows, {n, outputs, right});
    const NodeId other = b.expandLike(b.reshape(in[1], {n, 1, right}), half);
    const NodeId y = sum(b, b.mul(half, other), {2});
    return in.result(b, in[3] == kNoNode ? y : add(b, y, in[3]));
}

NodeId cross(Builder& b, NodeId a, NodeId c, int axis) {
    // torch.cross is torch.linalg.cross, which no autocast list names.
    const Operands in(b, "linalg_cross", std::array{a, c}, Mixing::Refuse);
    const int at = normalAxis(axis, b.shapeOf(in[0]).rank());
    require(b.shapeOf(in[0]) == b.shapeOf(in[1]) && b.shapeOf(in[0])[at] == 3,
            "cross: two vectors of 3 in operands of one shape expected");
    const auto part = [&](size_t operand, int i) {
        return b.slice(in[operand], at, i % 3, i % 3 + 1);
    };
    std::vector<NodeId> parts;
    for (int i = 0; i < 3; ++i)
        parts.push_back(
            b.sub(b.mul(part(0, i + 1), part(1, i + 2)), b.mul(part(0, i + 2), part(1, i + 1))));
    return in.result(b, b.concat(parts, at));
}

NodeId conv2d(Builder& b, NodeId x, NodeId weight, NodeId bias, const ConvAttrs& attrs) {
    const LayerOperands in(b, "conv2d", x, weight, bias);
    const AutocastScope off(b, nullptr);
    const DType type = promoted(b[in.x()].type(), b[in.weight()].type());
    ConvAttrs how = attrs;
    how.wide |= in.addsBiasFirst();
    const NodeId y = b.emit(Op::Conv2d, {b.cast(in.x(), type), b.cast(in.weight(), type)}, how);
    return in.biased(b, in.product(b, y), 1, attrs.wide ? b.dtypeOf(y) : type);
}

NodeId pointwiseConv2d(Builder& b, NodeId x, NodeId weight, NodeId bias) {
    const Shape kernel = b.shapeOf(weight);
    // Before the cast, so that the cast input has the same shape as in linear().
    const NodeId matrix = b.reshape(weight, {kernel[0], kernel[1]});
    const LayerOperands in(b, "conv2d", x, matrix, bias);
    const AutocastScope off(b, nullptr);
    if (in.addsBiasFirst()) return rowProduct(b, in, in.bias());
    return withBias(b, in.product(b, rowProduct(b, in)), in.bias(), 1);
}

namespace {

/// Returns a sequence (n, c, l), or a kernel for such, as an image of one row; and back.
NodeId asImage(Builder& b, NodeId x) {
    const Shape s = b.shapeOf(x);
    return b.reshape(x, {s[0], s[1], 1, s[2]});
}
NodeId asSequence(Builder& b, NodeId x) {
    const Shape s = b.shapeOf(x);
    return b.reshape(x, {s[0], s[1], s[3]});
}
/// `wide` keeps the result of the products in F32.
ConvAttrs alongRow(const Conv1dAttrs& how, bool wide) {
    return {.stride = {1, how.stride},
            .padding = {0, how.padding},
            .dilation = {1, how.dilation},
            .groups = how.groups,
            .wide = wide};
}

} // namespace

NodeId conv1d(Builder& b, NodeId x, NodeId weight, NodeId bias, const Conv1dAttrs& how) {
    requireRank(b, "conv1d", x, 3);
    requireRank(b, "conv1d", weight, 3);
    const LayerOperands in(b, "conv1d", x, weight, bias);
    requireOneDType(b, "conv1d", std::array{in.x(), in.weight()});
    const AutocastScope off(b, nullptr);
    const NodeId y = in.product(b, conv2d(b, asImage(b, in.x()), asImage(b, in.weight()), kNoNode,
                                          alongRow(how, in.addsBiasFirst())));
    return in.biased(b, asSequence(b, y), 1, b.dtypeOf(in.x()));
}

NodeId conv3d(Builder& b, NodeId x, NodeId weight, NodeId bias) {
    requireRank(b, "conv3d", x, 5);
    requireRank(b, "conv3d", weight, 5);
    const auto in = castInputs(b, "conv3d", std::array{x, weight, bias});
    requireOneDType(b, "conv3d", std::array{in[0], in[1]});
    const AutocastScope off(b, nullptr);
    const Shape image = b.shapeOf(in[0]), kernel = b.shapeOf(in[1]);
    const int64_t depth = image[2] - kernel[2] + 1;
    require(depth >= 1, "conv3d: the kernel is deeper than the image");
    // The taps in depth become channels of a flat convolution, so that all products of an output
    // are summed in f32 and rounded once; the depths become images.
    std::vector<NodeId> taps;
    for (int64_t i = 0; i < kernel[2]; ++i)
        taps.push_back(b.transpose(b.slice(in[0], 2, i, i + depth), {0, 2, 1, 3, 4}));
    const int64_t channels = image[1] * kernel[2];
    const NodeId flat =
        b.reshape(b.concat(taps, 2), {image[0] * depth, channels, image[3], image[4]});
    const NodeId flatKernel =
        b.reshape(b.transpose(in[1], {0, 2, 1, 3, 4}), {kernel[0], channels, kernel[3], kernel[4]});
    const NodeId y = b.emit(Op::Conv2d, {flat, flatKernel}, ConvAttrs{});
    const Shape s = b.shapeOf(y);
    const NodeId deep = b.reshape(y, {image[0], depth, s[1], s[2], s[3]});
    return withBias(b, b.transpose(deep, {0, 2, 1, 3, 4}), in[2], 1);
}

namespace {

/// Adds zeros at the ends of height and width: a transposed convolution whose result goes a whole
/// stride or more beyond the last value needs something there to be the gradient of.
NodeId withZerosAfter(Builder& b, NodeId image, std::array<int64_t, 2> count) {
    if (count[0] == 0 && count[1] == 0) return image;
    const Shape none = Shape::filled(4, 0);
    PadAttrs pad{none, none, none, 0};
    pad.after[2] = count[0];
    pad.after[3] = count[1];
    return b.emit(Op::Pad, {image}, pad);
}

} // namespace

NodeId convTranspose2d(Builder& b, NodeId x, NodeId weight, NodeId bias, const ConvAttrs& given,
                       std::array<int64_t, 2> more) {
    requireRank(b, "conv_transpose2d", x, 4);
    requireRank(b, "conv_transpose2d", weight, 4);
    const LayerOperands in(b, "conv_transpose2d", x, weight, bias);
    requireOneDType(b, "conv_transpose2d", std::array{in.x(), in.weight()});
    const AutocastScope off(b, nullptr);
    ConvAttrs attrs = given;
    attrs.target = {};
    attrs.wide |= in.addsBiasFirst();
    for (size_t i = 0; i < 2; ++i) {
        const int axis = 2 + static_cast<int>(i);
        constexpr int64_t kMost = int64_t{1} << 31;
        require(attrs.stride[i] <= kMost && attrs.padding[i] <= kMost && attrs.dilation[i] <= kMost,
                "conv_transpose2d: a stride, padding or dilation above 2^31");
        require(attrs.stride[i] >= 1 && more[i] >= 0 &&
                    more[i] < std::max(attrs.stride[i], attrs.dilation[i]),
                "conv_transpose2d: more rows or columns than stride and dilation leave open");
        attrs.target.push((b.shapeOf(in.x())[axis] - 1) * attrs.stride[i] - 2 * attrs.padding[i] +
                          (b.shapeOf(in.weight())[axis] - 1) * attrs.dilation[i] + 1 + more[i]);
    }
    // A transposed convolution is the gradient of a convolution with respect to its image, with the
    // weights as they are.
    const NodeId from =
        withZerosAfter(b, in.x(), {more[0] / attrs.stride[0], more[1] / attrs.stride[1]});
    const NodeId y = b.emit(Op::Conv2dInputGrad, {from, in.weight()}, attrs);
    return in.biased(b, in.product(b, y), 1, given.wide ? b.dtypeOf(y) : b.dtypeOf(in.x()));
}

NodeId convTranspose1d(Builder& b, NodeId x, NodeId weight, NodeId bias, const Conv1dAttrs& how,
                       int64_t more) {
    requireRank(b, "conv_transpose1d", x, 3);
    requireRank(b, "conv_transpose1d", weight, 3);
    const LayerOperands in(b, "conv_transpose1d", x, weight, bias);
    requireOneDType(b, "conv_transpose1d", std::array{in.x(), in.weight()});
    const AutocastScope off(b, nullptr);
    const NodeId y =
        in.product(b, convTranspose2d(b, asImage(b, in.x()), asImage(b, in.weight()), kNoNode,
                                      alongRow(how, in.addsBiasFirst()), {0, more}));
    return in.biased(b, asSequence(b, y), 1, b.dtypeOf(in.x()));
}

NodeId scaledDotProductAttention(Builder& b, NodeId query, NodeId key, NodeId value) {
    return scaledDotProductAttention(b, query, key, value, {});
}

namespace {

/// Sets scores (.., queries, keys) to -inf where the key comes after the query: its weight is
/// exactly 0. A select, not a sum: a score that overflowed to inf must not become NaN where it is
/// masked.
NodeId causallyMasked(Builder& b, NodeId scores) {
    const Shape shape = b.shapeOf(scores);
    const int rank = shape.rank();
    // One table serves all samples and heads.
    Shape table = Shape::filled(rank, 1), column = table, row = table;
    table[rank - 2] = column[rank - 2] = shape[rank - 2];
    table[rank - 1] = row[rank - 1] = shape[rank - 1];
    const NodeId query = b.expand(b.iota(column, rank - 2, DType::I32), table);
    const NodeId key = b.expand(b.iota(row, rank - 1, DType::I32), table);
    const NodeId seen = b.expand(b.emit(Op::LessEqual, {key, query}), shape);
    const NodeId hidden = b.constantLike(-std::numeric_limits<double>::infinity(), scores);
    return b.where(seen, scores, hidden);
}

/// Spreads `hidden` (samples, keys) over scores (samples, .., keys).
NodeId spreadOverScores(Builder& b, NodeId hidden, const Shape& scores) {
    Shape row = Shape::filled(scores.rank(), 1);
    row[0] = b.shapeOf(hidden)[0];
    row[scores.rank() - 1] = b.shapeOf(hidden)[1];
    return b.expand(b.reshape(hidden, row), scores);
}

/// Replaces the values where `hidden` is true. A select, not a product: what is hidden may be inf.
NodeId filled(Builder& b, NodeId x, NodeId hidden, double value) {
    return hidden == kNoNode ? x : b.where(hidden, b.constantLike(value, x), x);
}

} // namespace

NodeId scaledDotProductAttention(Builder& b, NodeId query, NodeId key, NodeId value,
                                 const AttentionDropout& drop, AttentionMask mask, NodeId hidden) {
    constexpr std::string_view kName = "scaled_dot_product_attention";
    const auto in = castInputs(b, kName, std::array{query, key, value});
    requireOneDType(b, kName, in);
    const AutocastScope off(b, nullptr);
    const int rank = b.shapeOf(in[1]).rank();
    require(rank >= 2, "scaled_dot_product_attention: rank of at least 2 expected");
    Shape axes = allAxes(rank);
    std::swap(axes[rank - 1], axes[rank - 2]);
    const double root = std::sqrt(static_cast<double>(b.shapeOf(in[1]).back()));
    const NodeId scores =
        rankedProduct(b, in[0], b.transpose(in[1], axes), {.wide = isLow(b.dtypeOf(in[0]))});
    b.setRule(std::string(kName) + ": softmax in float32");
    NodeId wide = b.scale(widened(b, scores), 1 / root);
    if (mask == AttentionMask::Causal) wide = causallyMasked(b, wide);
    if (hidden != kNoNode) hidden = spreadOverScores(b, hidden, b.shapeOf(wide));
    // Not -inf, with which a row that is all hidden would be NaN.
    wide = filled(b, wide, hidden, double{std::numeric_limits<float>::lowest()});
    NodeId share = filled(b, softmax(b, wide, -1), hidden, 0);
    if (drop.p > 0) share = dropout(b, share, drop.p, drop.counter, drop.seed);
    const NodeId stored = b.cast(share, b.dtypeOf(in[2]));
    b.setRule({});
    return matmul(b, stored, in[2]);
}

// ---- recurrent cells ---------------------------------------------------------------------------

namespace {

struct Cell {
    std::vector<NodeId> in; ///< x, h, c, then the weights
    CellWeights weights;
};

Cell cellInputs(Builder& b, std::string_view name, NodeId x, LstmState state,
                const CellWeights& w) {
    Cell cell;
    cell.in = castInputs(
        b, name, std::array{x, state.h, state.c, w.input, w.hidden, w.inputBias, w.hiddenBias});
    cell.weights = {cell.in[3], cell.in[4], cell.in[5], cell.in[6]};
    return cell;
}

/// Returns gate i of (n, gates h).
NodeId gate(Builder& b, NodeId gates, int i, int64_t width) {
    return b.slice(gates, 1, i * width, (i + 1) * width);
}

} // namespace

NodeId gruCell(Builder& b, NodeId x, NodeId h, const CellWeights& given) {
    constexpr std::string_view kName = "gru_cell";
    const Cell cell = cellInputs(b, kName, x, {h, kNoNode}, given);
    const AutocastScope inner(b, innerPolicy(b, kName));
    const CellWeights& w = cell.weights;
    const NodeId fromInput = linear(b, cell.in[0], w.input, w.inputBias);
    const NodeId fromHidden = linear(b, cell.in[1], w.hidden, w.hiddenBias);
    const int64_t width = b.shapeOf(cell.in[1])[1];
    const auto sigmoidGate = [&](int i) {
        return unary(b, Op::Sigmoid,
                     add(b, gate(b, fromInput, i, width), gate(b, fromHidden, i, width)));
    };
    const NodeId reset = sigmoidGate(0), update = sigmoidGate(1);
    const NodeId candidate =
        unary(b, Op::Tanh,
              add(b, gate(b, fromInput, 2, width), mul(b, reset, gate(b, fromHidden, 2, width))));
    return add(b, candidate, mul(b, update, sub(b, cell.in[1], candidate)));
}

LstmState lstmCell(Builder& b, NodeId x, LstmState state, const CellWeights& given) {
    constexpr std::string_view kName = "lstm_cell";
    const Cell cell = cellInputs(b, kName, x, state, given);
    const AutocastScope inner(b, innerPolicy(b, kName));
    const CellWeights& w = cell.weights;
    const NodeId gates = add(b, linear(b, cell.in[0], w.input, w.inputBias),
                             linear(b, cell.in[1], w.hidden, w.hiddenBias));
    const int64_t width = b.shapeOf(cell.in[1])[1];
    const auto gateOf = [&](int i, Op op) { return unary(b, op, gate(b, gates, i, width)); };
    const NodeId c = add(b, mul(b, gateOf(1, Op::Sigmoid), cell.in[2]),
                         mul(b, gateOf(0, Op::Sigmoid), gateOf(2, Op::Tanh)));
    return {mul(b, gateOf(3, Op::Sigmoid), unary(b, Op::Tanh, c)), c};
}

} // namespace halfscope::fn
