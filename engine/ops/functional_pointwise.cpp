// Pointwise functions beyond the plain ops: activations with a slope, fused products, dropout.
#include "engine/core/error.h"
#include "engine/ops/functional_detail.h"
#include "engine/ops/functional_more.h"

#include <algorithm>
#include <cmath>

namespace halfscope::fn {

using namespace detail;

namespace {

/// All operands of one shape.
std::vector<NodeId> together(Builder& b, std::string_view name, const Operands& in, size_t count) {
    Shape shape = b.shapeOf(in[0]);
    for (size_t i = 1; i < count; ++i)
        shape = commonShape(b, name, b.constant(0, shape, DType::F32), in[i]);
    std::vector<NodeId> out;
    for (size_t i = 0; i < count; ++i)
        out.push_back(b.expand(in[i], shape));
    return out;
}

NodeId isAbove(Builder& b, NodeId x, double bound) {
    return b.emit(Op::Less, {b.constantLike(bound, x), x});
}

/// A number for a random node: one more than any in the graph.
uint64_t freeStream(const Graph& graph) {
    uint64_t last = 0;
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (graph[id].op == Op::Random)
            last = std::max(last, std::get<RandomAttrs>(graph[id].attrs).stream);
    }
    return last + 1;
}

} // namespace

NodeId square(Builder& b, NodeId x) { return powScalar(b, x, 2); }

NodeId rpow(Builder& b, double base, NodeId exponent) {
    const Operands in(b, "pow", std::array{exponent});
    return in.result(b, b.emit(Op::Pow, {b.constantLike(base, in[0]), in[0]}));
}

NodeId frac(Builder& b, NodeId x) {
    x = asFloat(b, castInputs(b, "frac", std::array{x})[0]);
    const AutocastScope off(b, nullptr);
    return b.sub(x, b.unary(Op::Trunc, x));
}

NodeId atan2(Builder& b, NodeId y, NodeId x) {
    const Operands in(b, "atan2", std::array{y, x});
    const auto p = together(b, "atan2", in, 2);
    return in.result(b, b.emit(Op::Atan2, {p[0], p[1]}));
}

NodeId leakyRelu(Builder& b, NodeId x, double slope) {
    const Operands in(b, "leaky_relu", std::array{x});
    return in.result(b, b.where(isAbove(b, in[0], 0), in[0], b.scale(in[0], slope)));
}

NodeId elu(Builder& b, NodeId x, double alpha) {
    const Operands in(b, "elu", std::array{x});
    const NodeId zero = b.constantLike(0, in[0]);
    const NodeId bent = b.emit(Op::LessEqual, {in[0], zero}); // not NaN, whose slope is 1
    // 0 where the branch is not taken: exp of a large x would be inf, and its slope times 0 NaN
    const NodeId below = b.where(bent, in[0], zero);
    return in.result(b, b.where(bent, b.scale(b.unary(Op::Expm1, below), alpha), in[0]));
}

NodeId hardtanh(Builder& b, NodeId x, double low, double high) {
    const Operands in(b, "hardtanh", std::array{x});
    // unlike clamp's, PyTorch's slope is 0 at the bounds themselves, and 1 at NaN
    const NodeId outside =
        b.emit(Op::LogicalOr, {b.emit(Op::LessEqual, {in[0], b.constantLike(low, in[0])}),
                               b.emit(Op::LessEqual, {b.constantLike(high, in[0]), in[0]})});
    const NodeId bounded =
        b.unary(Op::StopGradient, b.emit(Op::Clamp, {in[0]}, RangeAttrs{low, high}));
    return in.result(b, b.where(outside, bounded, in[0]));
}

NodeId prelu(Builder& b, NodeId x, NodeId weight) {
    const Operands in(b, "prelu", std::array{x, weight});
    const Shape shape = b.shapeOf(in[0]);
    NodeId slope = in[1];
    const int64_t slopes = b.shapeOf(slope).elements();
    Shape along = Shape::filled(shape.rank(), 1);
    if (slopes != 1) {
        if (shape.rank() < 2 || shape[1] != slopes) {
            throw InputError("prelu: " + std::to_string(slopes) + " slopes for " + shape.text() +
                             "; allowed are 1 and the extent of axis 1");
        }
        along[1] = slopes;
    }
    slope = b.expand(b.reshape(slope, along), shape);
    const NodeId above = isAbove(b, in[0], 0);
    // 0 where the branch is not taken: an infinite x times a zero gradient would be a NaN slope
    const NodeId below = b.where(above, b.constantLike(0, in[0]), in[0]);
    return in.result(b, b.where(above, in[0], b.mul(below, slope)));
}

NodeId addcmul(Builder& b, NodeId x, NodeId a, NodeId c, double value) {
    const Operands in(b, "addcmul", std::array{x, a, c});
    const auto p = together(b, "addcmul", in, 3);
    return in.result(b, b.add(p[0], b.mul(b.scale(p[1], value), p[2])));
}

NodeId addcdiv(Builder& b, NodeId x, NodeId a, NodeId c, double value) {
    const Operands in(b, "addcdiv", std::array{x, a, c});
    const auto p = together(b, "addcdiv", in, 3);
    return in.result(b, b.add(p[0], b.div(b.scale(p[1], value), p[2])));
}

NodeId lerp(Builder& b, NodeId start, NodeId end, double weight) {
    const Operands in(b, "lerp", std::array{start, end}, Mixing::Refuse);
    const auto p = together(b, "lerp", in, 2);
    const NodeId way = b.sub(p[1], p[0]);
    // from the nearer end, so that weight 1 gives the end exactly
    const NodeId y = std::fabs(weight) < 0.5 ? b.add(p[0], b.scale(way, weight))
                                             : b.sub(p[1], b.scale(way, 1 - weight));
    return in.result(b, y);
}

NodeId dropout(Builder& b, NodeId x, double p, NodeId counter, uint64_t seed) {
    if (!(p >= 0 && p <= 1))
        throw InputError("dropout: p is " + std::to_string(p) + "; allowed are 0 to 1");
    const Operands in(b, "dropout", std::array{x});
    const Shape shape = b.shapeOf(in[0]);
    const NodeId u = b.emit(Op::Random, {counter}, RandomAttrs{shape, seed, freeStream(b.graph())});
    const NodeId dropped = b.emit(Op::Less, {u, b.constantLike(p, u)});
    // A factor, not a choice: what is inf or NaN stays visible where it is dropped, as in PyTorch.
    const NodeId kept = b.constantLike(p < 1 ? 1 / (1 - p) : 0, in[0]);
    return in.result(b, b.mul(in[0], b.where(dropped, b.constantLike(0, in[0]), kept)));
}

} // namespace halfscope::fn
