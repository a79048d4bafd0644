// Follows a sum's operand through additions, negations and products down to its terms, and joins
// equal terms. A sum is taken apart only when its terms then wait for fewer other sums, or when a
// single term is left.
#include "engine/passes/linear_sums.h"

#include "engine/ops/op_info.h"
#include "engine/passes/rewrite.h"

#include <algorithm>
#include <optional>

namespace halfscope {

namespace {

constexpr size_t kMaxTerms = 4;
constexpr int kMaxDepth = 12;

/// factor * sum(of), `factor` of the sum's shape.
struct Term {
    NodeId factor, of;
};

class Pass {
public:
    Pass(const Graph& graph, int64_t fewest)
        : m_graph(graph), m_fewest(fewest), m_uses(graph.useCounts()) {}

    Graph run() {
        return rewritten(m_graph, [&](Builder& b, NodeId id, std::span<const NodeId> at) {
            const Node& node = m_graph[id];
            if (node.op != Op::Sum || node.dtype != DType::F32 ||
                m_graph[node.in[0]].elements() < m_fewest)
                return kNoNode;
            const NodeId operand = at[static_cast<size_t>(node.in[0])];
            const Shape& axes = std::get<AxesAttrs>(node.attrs).axes;
            if (m_uses[static_cast<size_t>(node.in[0])] == 1)
                if (const NodeId total = apart(b, operand, axes, node.shape); total != kNoNode)
                    return total;
            return b.sum(operand, axes); // emitted now, so that it is found when a term is the same
                                         // sum
        });
    }

private:
    /// Returns how many sums over large operands must run one after the other before a node's value
    /// is ready.
    int depth(const Graph& graph, NodeId id) {
        for (auto i = static_cast<NodeId>(m_depth.size()); i <= id; ++i) {
            int most = 0;
            for (NodeId in : graph[i].in)
                most = std::max(most, m_depth[static_cast<size_t>(in)]);
            const bool large = infoOf(graph[i].op).flags.has(OpFlag::Reduction) &&
                               graph[graph[i].in[0]].elements() >= m_fewest;
            m_depth.push_back(most + (large ? 1 : 0));
        }
        return m_depth[static_cast<size_t>(id)];
    }

    NodeId apart(Builder& b, NodeId operand, const Shape& axes, const Shape& shape) {
        m_axes = axes;
        m_shape = shape;
        m_terms.clear();
        if (!addTerms(b, operand, b.constant(1, shape, DType::F32), 0)) return kNoNode;
        const int before = depth(b.graph(), operand);
        const bool sooner = std::all_of(m_terms.begin(), m_terms.end(), [&](const Term& term) {
            return depth(b.graph(), term.of) < before;
        });
        const bool shorter = m_terms.size() == 1 && m_terms[0].of != operand;
        if (!sooner && !shorter) return kNoNode;
        NodeId total = kNoNode;
        for (const Term& term : m_terms) {
            const NodeId part = b.mul(term.factor, b.sum(term.of, axes));
            total = total == kNoNode ? part : b.add(total, part);
        }
        return total;
    }

    /// Adds the terms of factor * x; returns false when there are too many.
    bool addTerms(Builder& b, NodeId x, NodeId factor, int level) {
        const Node node = b[x]; // a copy: emitting moves the nodes
        if (level == kMaxDepth) return addTerm(b, {factor, x});
        if (node.op == Op::Neg) return addTerms(b, node.in[0], b.neg(factor), level + 1);
        if (node.op == Op::Add)
            return addTerms(b, node.in[0], factor, level + 1) &&
                   addTerms(b, node.in[1], factor, level + 1);
        if (node.op == Op::Mul) return addProduct(b, x, factor, level);
        return addTerm(b, {factor, x});
    }

    /// Adds a product: whatever is constant along the summed axes goes to the factor.
    bool addProduct(Builder& b, NodeId x, NodeId factor, int level) {
        std::vector<NodeId> moving;
        bool found = false;
        std::vector<NodeId> open{x};
        while (!open.empty()) {
            const NodeId id = open.back();
            open.pop_back();
            if (b[id].op == Op::Mul) {
                open.push_back(b[id].in[1]);
                open.push_back(b[id].in[0]);
            } else if (const auto steady = steadyValue(b, id)) {
                factor = b.mul(factor, *steady);
                found = true;
            } else {
                moving.push_back(id);
            }
        }
        if (!found || moving.empty()) return addTerm(b, {factor, x});
        NodeId product = moving[0];
        for (size_t i = 1; i < moving.size(); ++i)
            product = b.mul(product, moving[i]);
        if (moving.size() == 1) return addTerms(b, product, factor, level + 1);
        return addTerm(b, {factor, product});
    }

    /// Returns the value, of the sum's shape, that x repeats along the summed axes.
    std::optional<NodeId> steadyValue(Builder& b, NodeId x) const {
        const Node node = b[x];
        if (node.op == Op::Constant)
            return b.constant(std::get<ConstantAttrs>(node.attrs).value, m_shape, node.dtype);
        if (node.op != Op::Expand) return std::nullopt;
        const Shape from = b.shapeOf(node.in[0]);
        const int lead = node.shape.rank() - from.rank();
        for (const int64_t axis : m_axes)
            if (axis >= lead && from[static_cast<int>(axis) - lead] != 1) return std::nullopt;
        return b.expand(node.in[0], m_shape);
    }

    bool addTerm(Builder& b, const Term& term) {
        for (Term& other : m_terms)
            if (other.of == term.of) {
                other.factor = b.add(other.factor, term.factor);
                return true;
            }
        m_terms.push_back(term);
        return m_terms.size() <= kMaxTerms;
    }

    const Graph& m_graph;
    int64_t m_fewest;
    std::vector<int> m_uses, m_depth; ///< m_depth: for the new graph
    Shape m_axes, m_shape;            ///< of the present sum
    std::vector<Term> m_terms;
};

} // namespace

Graph linearSumsApart(const Graph& graph, int64_t fewest) { return Pass(graph, fewest).run(); }

} // namespace halfscope
