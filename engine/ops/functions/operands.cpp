// Promotion, axes and operands of the functions. Holds no function of its own.
#include "engine/ops/functions/operands.h"

#include "engine/core/error.h"

#include <algorithm>

namespace halfscope::fn::detail {
namespace {

enum Category : int { BoolCategory, IntCategory, FloatCategory };

Category categoryOf(DType type) {
    if (type == DType::Bool) return BoolCategory;
    return type == DType::I32 ? IntCategory : FloatCategory;
}

} // namespace

DType promoted(const NodeType& a, const NodeType& b) {
    const Category left = categoryOf(a.dtype), right = categoryOf(b.dtype);
    if (left != right) return left > right ? a.dtype : b.dtype;
    if (a.dtype == b.dtype) return a.dtype;
    if (a.shape.empty() != b.shape.empty()) return a.shape.empty() ? b.dtype : a.dtype;
    if (a.dtype == DType::F64 || b.dtype == DType::F64) return DType::F64;
    return DType::F32;
}

Shape commonShape(const Builder& b, std::string_view name, NodeId x, NodeId y) {
    const auto shape = broadcastShape(b.shapeOf(x), b.shapeOf(y));
    require(shape.has_value(), std::string(name) + ": shapes " + b.shapeOf(x).text() + " and " +
                                   b.shapeOf(y).text() + " do not broadcast");
    return *shape;
}

NodeId asFloat(Builder& b, NodeId x) { return isFloat(b.dtypeOf(x)) ? x : b.cast(x, DType::F32); }

NodeId widened(Builder& b, NodeId x) {
    return b.dtypeOf(x) == DType::F64 ? x : b.cast(x, DType::F32);
}

Shape sortedAxes(std::string_view name, const Shape& axes, int rank) {
    if (axes.empty()) return allAxes(rank);
    Shape sorted;
    for (int i = 0; i < rank; ++i) {
        for (const int64_t axis : axes) {
            if (normalAxis(axis, rank) == i) sorted.push(i);
        }
        const int n = sorted.rank();
        require(n < 2 || sorted[n - 1] != sorted[n - 2], std::string(name) + ": an axis twice");
    }
    return sorted;
}

Shape keptShape(const Shape& shape, const Shape& axes) {
    Shape kept;
    for (int i = 0; i < shape.rank(); ++i) {
        if (std::find(axes.begin(), axes.end(), int64_t{i}) == axes.end()) kept.push(shape[i]);
    }
    return kept;
}

void requireOneDType(const Builder& b, std::string_view name, std::span<const NodeId> in) {
    for (const NodeId x : in) {
        if (x == kNoNode || b.dtypeOf(x) == b.dtypeOf(in[0])) continue;
        throw InputError(
            phrase("Operations",
                   "%1: inputs of %2 and %3; all must have one dtype: cast them first"),
            name, nameOf(b.dtypeOf(in[0])), nameOf(b.dtypeOf(x)));
    }
}

Operands::Operands(Builder& b, std::string_view name, std::span<const NodeId> in, Mixing mixing)
    : m_name(name), m_in(castInputs(b, name, in)) {
    if (mixing == Mixing::Refuse) requireOneDType(b, name, m_in);
    NodeType common = b[m_in[0]].type();
    for (const NodeId x : m_in) {
        if (x == kNoNode) continue;
        common.dtype = promoted(common, b[x].type());
        if (common.shape.empty()) common.shape = b.shapeOf(x);
    }
    m_dtype = isFloat(common.dtype) ? common.dtype : DType::F32;
    const std::string outer = b.setRule(m_name + ": computes in float32");
    for (NodeId& x : m_in) {
        if (x != kNoNode) x = b.cast(x, m_dtype == DType::F64 ? DType::F64 : DType::F32);
    }
    b.setRule(outer);
}

NodeId Operands::result(Builder& b, NodeId y, std::optional<DType> as) const {
    const std::string outer = b.setRule(m_name + ": rounds its result once");
    NodeId stored = b.cast(y, m_dtype);
    if (as) stored = b.cast(stored, *as);
    b.setRule(outer);
    // the function ends here, and one that it is a part of, with autocast off, goes on
    if (b.policy() != nullptr) b.setDecision({});
    return stored;
}

LayerOperands::LayerOperands(Builder& b, std::string_view name, NodeId x, NodeId weight,
                             NodeId bias)
    : m_name(name) {
    const CastPolicy* const policy = b.policy();
    const bool lowers = policy != nullptr && policy->ruleOf(name) == CastRule::Lower &&
                        !policy->layerDType(b.label(), b.phase());
    const auto rounds = [&](NodeId id) {
        return isLow(b.dtypeOf(id)) || b.dtypeOf(id) == DType::F32;
    };
    if (lowers && policy->fp8 && rounds(x) && rounds(weight)) {
        m_fp8 = policy->fp8;
        m_rule = std::string(name) + ": FP8 (" + policy->name + ")";
        b.setRule(m_rule);
        // before the cast, which then changes nothing: the weight is rounded once
        weight = fp8Rounded(b, weight, Fp8Format::E4M3, *m_fp8);
        b.setRule({});
    }
    const auto in = castInputs(b, name, std::array{x, weight, bias});
    m_x = in[0];
    m_weight = in[1];
    m_bias = in[2];
    m_addsBiasFirst =
        policy != nullptr && !m_fp8 && bias != kNoNode && policy->biasBeforeRounding.contains(name);
    if (!m_fp8) return;
    b.setRule(m_rule);
    m_x = fp8Rounded(b, m_x, Fp8Format::E4M3, *m_fp8);
    b.setRule({});
    b.setDecision(m_rule);
}

NodeId LayerOperands::product(Builder& b, NodeId y) const {
    if (!m_fp8) return y;
    b.setRule(m_rule);
    const NodeId marked = withFp8Gradient(b, y, Fp8Format::E5M2, *m_fp8);
    b.setRule({});
    return marked;
}

NodeId LayerOperands::biased(Builder& b, NodeId y, int axis, DType type) const {
    const NodeId sum = withBias(b, y, m_bias, axis);
    const std::string outer = b.setRule(m_name + ": rounds its result once");
    const NodeId stored = b.cast(sum, type);
    b.setRule(outer);
    return stored;
}

const CastPolicy* innerPolicy(const Builder& b, std::string_view name) {
    const CastPolicy* policy = b.policy();
    if (policy == nullptr || policy->layerDType(b.label(), b.phase())) return nullptr;
    return policy->ruleOf(name) != CastRule::Follow ? nullptr : policy;
}

Centred centredOver(Builder& b, NodeId x, const Shape& axes) {
    const NodeId mean = b.mean(x, axes);
    const NodeId centred = b.sub(x, b.expandLike(mean, x));
    return {mean, centred, b.mean(b.mul(centred, centred), axes)};
}

NodeId withBias(Builder& b, NodeId y, NodeId bias, int axis) {
    if (bias == kNoNode) return y;
    Shape shape = Shape::filled(b.shapeOf(y).rank(), 1);
    shape[axis] = b.shapeOf(bias).elements();
    const NodeId row = b.reshape(b.cast(bias, b.dtypeOf(y)), shape);
    return b.add(y, b.expandLike(row, y));
}

NodeId rootOf(Builder& b, NodeId squares) {
    const NodeId zero = b.constantLike(0, squares);
    const NodeId none = b.emit(Op::Equal, {squares, zero});
    // The branch that is not taken sees 1: an infinite slope times a zero gradient would be NaN.
    const NodeId root = b.unary(Op::Sqrt, b.where(none, b.constantLike(1, squares), squares));
    return b.where(none, zero, root);
}

NodeId normOver(Builder& b, NodeId x, const Shape& axes) {
    const NodeId squares = b.sum(b.mul(x, x), axes);
    const NodeId one = b.constantLike(1, squares), zero = b.constantLike(0, squares);
    const NodeId none = b.cast(b.emit(Op::Equal, {squares, zero}), b.dtypeOf(squares));
    return b.mul(b.unary(Op::Sqrt, b.add(squares, none)), b.sub(one, none));
}

} // namespace halfscope::fn::detail
