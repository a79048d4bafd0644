// Puts nodes into a graph. emit() is strict: it checks shapes and dtypes by the op's rule, folds
// constants and exact identities, reuses an equal node, and records the cause. Nothing is implicit:
// the caller emits broadcasts and casts as nodes (engine/ops/functional.h does both, as PyTorch
// does).
#pragma once

#include "engine/graph/graph.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace halfscope {

struct CastPolicy;

class Builder {
public:
    explicit Builder(Graph& graph) : m_graph(graph) {}
    Graph& graph() { return m_graph; }
    const Graph& graph() const { return m_graph; }
    /// Throws std::logic_error for a node that does not exist, such as kNoNode.
    const Node& operator[](NodeId id) const;
    Shape shapeOf(NodeId id) const { return (*this)[id].shape; } ///< a copy: emitting moves nodes
    DType dtypeOf(NodeId id) const { return (*this)[id].dtype; }

    /// Returns the value of a constant node; nothing for other nodes.
    std::optional<double> constantValue(NodeId) const;

    // leaves
    NodeId input(std::string name, Shape shape, DType dtype);
    NodeId state(std::string name, Shape shape, DType dtype, StateRole role,
                 InitialValue start = {});
    NodeId constant(double value, Shape shape, DType dtype);
    NodeId constantLike(double value, NodeId like) {
        return constant(value, shapeOf(like), dtypeOf(like));
    }
    NodeId iota(Shape shape, int axis, DType dtype);

    /// Adds a node, or returns an existing one that is equal. Throws std::logic_error when the op's
    /// shape rule refuses.
    NodeId emit(Op op, std::span<const NodeId> in, Attrs attrs = {});
    NodeId emit(Op op, std::initializer_list<NodeId> in, Attrs attrs = {}) {
        return emit(op, std::span<const NodeId>(in.begin(), in.size()), attrs);
    }

    // strict shorthands: operands of one shape and dtype
    NodeId add(NodeId a, NodeId b) { return emit(Op::Add, {a, b}); }
    NodeId sub(NodeId a, NodeId b) { return emit(Op::Sub, {a, b}); }
    NodeId mul(NodeId a, NodeId b) { return emit(Op::Mul, {a, b}); }
    NodeId div(NodeId a, NodeId b) { return emit(Op::Div, {a, b}); }
    NodeId neg(NodeId a) { return emit(Op::Neg, {a}); }
    /// Returns x with every element multiplied by a constant; shift() adds it. What x's dtype
    /// cannot hold is taken in f32 and the result rounded, as PyTorch takes a Python number.
    NodeId scale(NodeId x, double factor) { return withNumber(Op::Mul, x, factor); }
    NodeId shift(NodeId x, double by) { return withNumber(Op::Add, x, by); }
    NodeId where(NodeId condition, NodeId a, NodeId b) {
        return emit(Op::Where, {condition, a, b});
    }
    NodeId unary(Op op, NodeId x) { return emit(op, {x}); }
    NodeId cast(NodeId x, DType dtype);
    /// Returns the cast of an operand that autocast asks for. PyTorch casts it once for each
    /// reader, except leaves, whose casts it keeps (autocast_mode.cpp: cached_cast). One node
    /// stands for all of them; isAutocast() tells those of which PyTorch makes several.
    NodeId autocast(NodeId x, DType dtype);
    bool isAutocast(NodeId id) const { return m_autocasts.contains(id); }
    /// kNoNode is no bias.
    NodeId matmul(NodeId a, NodeId b, MatmulAttrs attrs = {}, NodeId bias = kNoNode) {
        if (bias != kNoNode) return emit(Op::Matmul, {a, b, bias}, attrs);
        return emit(Op::Matmul, {a, b}, attrs);
    }
    /// Sums over `axes`, which stay with extent 1; mean() averages over them.
    NodeId sum(NodeId x, const Shape& axes) { return emit(Op::Sum, {x}, AxesAttrs{axes}); }
    NodeId mean(NodeId x, const Shape& axes) { return emit(Op::Mean, {x}, AxesAttrs{axes}); }
    NodeId sumAll(NodeId x); ///< rank 0
    NodeId reshape(NodeId x, Shape shape);
    NodeId transpose(NodeId x, Shape permutation) {
        return emit(Op::Transpose, {x}, AxesAttrs{permutation});
    }
    /// Repeats axes of extent 1, and adds leading axes when `shape` has more.
    NodeId expand(NodeId x, const Shape& shape);
    NodeId expandLike(NodeId x, NodeId like) { return expand(x, shapeOf(like)); }
    /// Sums over everything that expand() to x's shape would repeat from `shape`: the gradient of
    /// expand.
    NodeId sumTo(NodeId x, const Shape& shape);
    NodeId slice(NodeId x, int axis, int64_t begin, int64_t end, int64_t step = 1);
    NodeId concat(std::span<const NodeId> in, int axis) {
        return emit(Op::Concat, in, AxisAttrs{axis, 0});
    }

    // why: recorded in every node emitted while the scope lives
    Phase phase() const { return m_phase; }
    void setPhase(Phase phase) {
        m_phase = phase;
        m_decision.clear();
    }
    const std::string& label() const { return m_label; }
    void setLabel(std::string label) {
        m_label = std::move(label);
        m_decision.clear();
    }
    NodeId forwardCause() const { return m_forward; }
    void setForwardCause(NodeId node) { m_forward = node; }
    /// Returns the rule before this one.
    std::string setRule(std::string rule) { return std::exchange(m_rule, std::move(rule)); }
    /// Records what autocast decided for the function whose nodes are being emitted; cleared at the
    /// next change of phase or label, and when a policy is set again.
    void setDecision(std::string decision) { m_decision = std::move(decision); }

    // autocast: read by engine/ops/functional.h; nullptr when it is off
    const CastPolicy* policy() const { return m_policy; }
    void setPolicy(const CastPolicy* policy) {
        m_policy = policy;
        if (policy != nullptr) m_decision.clear(); // with nullptr the inside of a function follows
    }
    /// Sets the arithmetic of f32 contractions (TF32 or not); 16-bit ones are always F32FromHalf.
    void setMathMode(MathMode mode) { m_math = mode; }

private:
    NodeId addUnique(Node node);
    NodeId withNumber(Op op, NodeId x, double number);

    Graph& m_graph;
    std::unordered_multimap<size_t, NodeId> m_byHash;
    Phase m_phase = Phase::Forward;
    std::unordered_set<NodeId> m_autocasts;
    std::string m_label, m_rule, m_decision;
    NodeId m_forward = kNoNode;
    const CastPolicy* m_policy = nullptr;
    MathMode m_math = MathMode::F32;
};

/// Sets the label for a scope and puts the old one back. The next two classes do the same for the
/// phase and the autocast policy.
class LabelScope {
public:
    LabelScope(Builder& b, std::string label) : m_b(b), m_old(b.label()) {
        b.setLabel(std::move(label));
    }
    ~LabelScope() { m_b.setLabel(std::move(m_old)); }
    LabelScope(const LabelScope&) = delete;
    LabelScope& operator=(const LabelScope&) = delete;

private:
    Builder& m_b;
    std::string m_old;
};
class PhaseScope {
public:
    PhaseScope(Builder& b, Phase phase) : m_b(b), m_old(b.phase()) { b.setPhase(phase); }
    ~PhaseScope() { m_b.setPhase(m_old); }
    PhaseScope(const PhaseScope&) = delete;
    PhaseScope& operator=(const PhaseScope&) = delete;

private:
    Builder& m_b;
    Phase m_old;
};
/// Sets an autocast policy for a scope; nullptr switches autocast off in it. Scopes nest.
class AutocastScope {
public:
    AutocastScope(Builder& b, const CastPolicy* policy) : m_b(b), m_old(b.policy()) {
        b.setPolicy(policy);
    }
    ~AutocastScope() { m_b.setPolicy(m_old); }
    AutocastScope(const AutocastScope&) = delete;
    AutocastScope& operator=(const AutocastScope&) = delete;

private:
    Builder& m_b;
    const CastPolicy* m_old;
};

} // namespace halfscope
