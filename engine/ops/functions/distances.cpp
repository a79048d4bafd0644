// Distances between vectors, and vectors scaled by their norm.
#include "engine/ops/functions/distances.h"

#include "engine/core/error.h"
#include "engine/ops/functions/arithmetic.h"
#include "engine/ops/functions/operands.h"
#include "engine/ops/functions/reductions.h"

#include <limits>

namespace halfscope::fn {

using namespace detail;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// Drops one axis of y, of extent 1.
NodeId withoutAxis(Builder& b, NodeId y, int axis) {
    return b.reshape(y, keptShape(b.shapeOf(y), Shape{axis}));
}

/// Returns the lengths of the differences along one axis, which stays; no gradient at 0.
NodeId lengthsOf(Builder& b, NodeId differences, int axis) {
    return rootOf(b, b.sum(b.mul(differences, differences), Shape{axis}));
}

} // namespace

NodeId normalize(Builder& b, NodeId x, int axis, double eps) {
    // No list names normalize: its norm and its division ask for themselves.
    const NodeId size = clamp(b, norm(b, x, {axis}, KeepAxes::Yes), eps, kInf);
    return div(b, x, size);
}

NodeId cosineSimilarity(Builder& b, NodeId a, NodeId c, int axis, double eps) {
    const Operands in(b, "cosine_similarity", std::array{a, c});
    const Shape shape = commonShape(b, "cosine_similarity", in[0], in[1]);
    const int at = normalAxis(axis, shape.rank());
    const auto unit = [&](NodeId given) {
        const NodeId x = b.expand(given, shape);
        const NodeId size = b.emit(Op::Clamp, {normOver(b, x, {at})}, RangeAttrs{eps, kInf});
        return b.div(x, b.expandLike(size, x));
    };
    const NodeId y = b.sum(b.mul(unit(in[0]), unit(in[1])), {at});
    return in.result(b, withoutAxis(b, y, at));
}

NodeId dist(Builder& b, NodeId a, NodeId c) {
    const Operands in(b, "dist", std::array{a, c});
    const Shape shape = commonShape(b, "dist", in[0], in[1]);
    const NodeId difference = b.sub(b.expand(in[0], shape), b.expand(in[1], shape));
    return in.result(b, b.reshape(normOver(b, difference, allAxes(shape.rank())), {}));
}

NodeId cdist(Builder& b, NodeId a, NodeId c) {
    const Operands in(b, "cdist", std::array{a, c});
    const Shape left = b.shapeOf(in[0]), right = b.shapeOf(in[1]);
    require(left.rank() == 2 && right.rank() == 2 && left[1] == right[1],
            "cdist of " + left.text() + " and " + right.text() + ": (m, d) and (n, d) expected");
    const Shape all{left[0], right[0], left[1]};
    const NodeId difference = b.sub(b.expand(b.reshape(in[0], {left[0], 1, left[1]}), all),
                                    b.expand(b.reshape(in[1], {1, right[0], left[1]}), all));
    const NodeId distances = lengthsOf(b, difference, 2);
    return in.result(b, b.reshape(distances, {left[0], right[0]}));
}

NodeId pdist(Builder& b, NodeId x) {
    const Operands in(b, "pdist", std::array{x});
    if (isLow(in.dtype())) {
        throw InputError(
            phrase("Operations", "pdist: no kernel for %1, as in PyTorch; cast to float32 first"),
            nameOf(in.dtype()));
    }
    const Shape shape = b.shapeOf(in[0]);
    require(shape.rank() == 2 && shape[0] >= 2, "pdist: (n, d) with n of at least 2 expected");
    std::vector<NodeId> rows; // entry i holds row i minus each later row
    for (int64_t i = 0; i + 1 < shape[0]; ++i) {
        const NodeId later = b.slice(in[0], 0, i + 1, shape[0]);
        rows.push_back(b.sub(b.expandLike(b.slice(in[0], 0, i, i + 1), later), later));
    }
    const NodeId pairs = b.concat(rows, 0);
    const NodeId distances = lengthsOf(b, pairs, 1);
    return in.result(b, withoutAxis(b, distances, 1));
}

NodeId renorm(Builder& b, NodeId x, int axis, double limit) {
    const Operands in(b, "renorm", std::array{x});
    const Shape shape = b.shapeOf(in[0]);
    const int at = normalAxis(axis, shape.rank());
    const NodeId size = normOver(b, in[0], keptShape(allAxes(shape.rank()), Shape{at}));
    const NodeId bound = b.constantLike(limit, size), one = b.constantLike(1, size);
    // PyTorch adds 1e-7 to the denominator, so that a rounded result does not exceed the limit
    // again.
    const NodeId factor = b.div(bound, b.shift(size, 1e-7));
    const NodeId scale = b.where(b.emit(Op::Less, {bound, size}), factor, one);
    return in.result(b, b.mul(in[0], b.expandLike(scale, in[0])));
}

} // namespace halfscope::fn
