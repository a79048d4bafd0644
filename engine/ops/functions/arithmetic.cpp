// Elementwise functions of PyTorch: each casts by the policy, promotes and broadcasts its operands,
// and emits the op.
#include "engine/ops/functions/arithmetic.h"

#include "engine/core/error.h"
#include "engine/ops/functions/operands.h"
#include "engine/ops/op_info.h"

#include <cmath>

namespace halfscope::fn {

using namespace detail;

namespace {

struct Pair {
    NodeId x, y;
};

/// Brings both operands to one shape and dtype. The cast comes first: it is cheaper on the smaller
/// tensor.
Pair matched(Builder& b, std::string_view name, NodeId x, NodeId y) {
    const DType type = promoted(b[x].type(), b[y].type());
    const Shape shape = commonShape(b, name, x, y);
    return {b.expand(b.cast(x, type), shape), b.expand(b.cast(y, type), shape)};
}

/// Emits an arithmetic op of two inputs. Integers and masks are cast to F32 when no operand is a
/// float.
NodeId arithmetic(Builder& b, std::string_view name, Op op, NodeId x, NodeId y) {
    const auto in = castInputs(b, name, std::array{x, y});
    const AutocastScope off(b, nullptr);
    const Pair p = matched(b, name, in[0], in[1]);
    return b.emit(op, {asFloat(b, p.x), asFloat(b, p.y)});
}

/// Brings all operands to one shape.
std::vector<NodeId> together(Builder& b, std::string_view name, const Operands& in, size_t count) {
    Shape shape = b.shapeOf(in[0]);
    for (size_t i = 1; i < count; ++i)
        shape = commonShape(b, name, b.constant(0, shape, DType::F32), in[i]);
    std::vector<NodeId> out;
    for (size_t i = 0; i < count; ++i)
        out.push_back(b.expand(in[i], shape));
    return out;
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
    // As in PyTorch. Each rounds once or twice; pow itself has other values at -0 and -inf.
    if (exponent == 2) return b.mul(x, x);
    if (exponent == 0.5) return b.unary(Op::Sqrt, x);
    if (exponent == -0.5) return b.unary(Op::Rsqrt, x);
    if (exponent == -1) return b.unary(Op::Reciprocal, x);
    // the exponent in x's dtype (PowKernel.cu: exp_scalar.to<scalar_t>)
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
    // From the nearer end, so that weight 1 gives the end exactly.
    const NodeId y = std::fabs(weight) < 0.5 ? b.add(p[0], b.scale(way, weight))
                                             : b.sub(p[1], b.scale(way, 1 - weight));
    return in.result(b, y);
}

} // namespace halfscope::fn
