// The reverse walk: marks the nodes between wrt and y, visits them backwards, and adds
// contributions in that order. Leaves each op's gradient to the rule in its row.
#include "engine/passes/autodiff.h"

#include "engine/core/error.h"
#include "engine/ops/op_info.h"

#include <algorithm>
#include <map>
#include <memory>

namespace halfscope {

namespace {

/// Takes over the builder's phase, label and forward cause for the walk and puts the old ones back.
class CauseScope {
public:
    explicit CauseScope(Builder& b)
        : m_b(b), m_phase(b.phase()), m_label(b.label()), m_forward(b.forwardCause()) {
        if (m_phase == Phase::Forward || m_phase == Phase::Loss) b.setPhase(Phase::Backward);
    }
    ~CauseScope() {
        m_b.setPhase(m_phase);
        m_b.setLabel(std::move(m_label));
        m_b.setForwardCause(m_forward);
    }
    CauseScope(const CauseScope&) = delete;
    CauseScope& operator=(const CauseScope&) = delete;

private:
    Builder& m_b;
    Phase m_phase;
    std::string m_label;
    NodeId m_forward;
};

class ReverseWalk {
public:
    ReverseWalk(Builder& b, NodeId y, std::span<const NodeId> wrt)
        : m_b(b), m_size(static_cast<size_t>(y) + 1), m_wrt(wrt.begin(), wrt.end()),
          m_depends(m_size, false), m_reached(m_size, false), m_gradient(m_size, kNoNode) {
        markBetween(y, wrt);
    }

    void run(NodeId y, NodeId dy) {
        if (!m_reached[static_cast<size_t>(y)]) return;
        accumulate(y, dy);
        for (NodeId id = y; id >= 0; --id)
            if (m_reached[static_cast<size_t>(id)] && gradientOf(id)) visit(id);
    }

    std::optional<NodeId> gradientOf(NodeId id) const {
        const auto at = static_cast<size_t>(id);
        if (at >= m_size || m_gradient[at] == kNoNode) return std::nullopt;
        return m_gradient[at];
    }

private:
    /// Depends: reads a wrt through ops that have gradients. Reached: depends on a wrt, and y reads
    /// it through such ops.
    void markBetween(NodeId y, std::span<const NodeId> wrt) {
        for (const NodeId id : wrt)
            if (static_cast<size_t>(id) < m_size && isFloat(m_b.dtypeOf(id)))
                m_depends[static_cast<size_t>(id)] = true;
        for (NodeId id = 0; id <= y; ++id) {
            if (!isDifferentiable(id)) continue;
            const auto& in = m_b[id].in;
            if (std::any_of(in.begin(), in.end(), [&](NodeId i) { return depends(i); }))
                m_depends[static_cast<size_t>(id)] = true;
        }
        m_reached[static_cast<size_t>(y)] = depends(y);
        for (NodeId id = y; id >= 0; --id) {
            if (!m_reached[static_cast<size_t>(id)] || !isDifferentiable(id)) continue;
            for (const NodeId in : m_b[id].in)
                if (depends(in)) m_reached[static_cast<size_t>(in)] = true;
        }
    }

    bool depends(NodeId id) const { return m_depends[static_cast<size_t>(id)]; }

    bool isDifferentiable(NodeId id) const {
        const Node& node = m_b[id];
        return infoOf(node.op).vjp != nullptr && isFloat(node.dtype);
    }

    void accumulate(NodeId id, NodeId contribution) {
        const Node &primal = m_b[id], &cotangent = m_b[contribution];
        const bool fits = primal.shape == cotangent.shape && primal.dtype == cotangent.dtype;
        if (!fits)
            failInvariant(
                "gradient of %" + std::to_string(id) + " " + std::string(nameOf(primal.op)) +
                " is " + std::string(nameOf(cotangent.dtype)) + " " + cotangent.shape.text() +
                ", its value " + std::string(nameOf(primal.dtype)) + " " + primal.shape.text());
        NodeId& sum = m_gradient[static_cast<size_t>(id)];
        if (sum != kNoNode && standsForSeveral(id))
            m_apart[id].push_back(contribution);
        else
            sum = sum == kNoNode ? contribution : m_b.add(sum, contribution);
    }

    /// Whether it is a cast for each of its readers, or that in another shape or in FP8: their
    /// gradients are added in f32, behind the cast.
    bool standsForSeveral(NodeId id) const {
        if (!isLow(m_b.dtypeOf(id))) return false;
        for (;;) {
            if (std::find(m_wrt.begin(), m_wrt.end(), id) != m_wrt.end()) return false;
            if (m_b.isAutocast(id)) return true;
            const Node& node = m_b[id];
            const OpFlags flags = infoOf(node.op).flags;
            const bool same = flags.has(OpFlag::View) || flags.has(OpFlag::StridedRead) ||
                              node.op == Op::QuantizeFp8;
            if (!same) return false;
            id = node.in[0];
        }
    }

    NodeId widened(NodeId id) const {
        return isLow(m_b.dtypeOf(id)) ? m_b.cast(id, DType::F32) : id;
    }

    void visit(NodeId id) {
        if (!isDifferentiable(id)) return;
        handOn(id, *gradientOf(id));
        for (const NodeId more : m_apart[id])
            handOn(id, more);
    }

    /// Runs the rule of one node on a gradient and hands the results to its inputs.
    void handOn(NodeId id, NodeId gradient) {
        const Node node = m_b[id]; // a copy: emitting moves the nodes
        const OpInfo& info = infoOf(node.op);
        const size_t count = node.in.size();
        const auto needed = std::make_unique<bool[]>(count);
        bool any = false;
        for (size_t i = 0; i < count; ++i)
            any |= needed[i] = depends(node.in[i]);
        if (!any) return;

        m_b.setLabel(node.cause.label);
        m_b.setForwardCause(id);
        std::vector<NodeId> in = node.in;
        NodeId y = id, dy = gradient;
        if (!info.flags.has(OpFlag::StoredGradient)) {
            for (NodeId& operand : in)
                operand = widened(operand);
            y = widened(y);
            dy = widened(dy);
        }
        std::vector<NodeId> dIn(count, kNoNode);
        info.vjp({m_b, y, dy, in, node.attrs, std::span<const bool>(needed.get(), count), dIn});
        for (size_t i = 0; i < count; ++i) {
            if (!needed[i] || dIn[i] == kNoNode) continue;
            const bool wasWidened = in[i] != node.in[i];
            accumulate(node.in[i], wasWidened ? m_b.cast(dIn[i], m_b.dtypeOf(node.in[i])) : dIn[i]);
        }
    }

    Builder& m_b;
    size_t m_size;
    std::vector<NodeId> m_wrt;
    std::map<NodeId, std::vector<NodeId>> m_apart; ///< gradients besides the first, not added up
    std::vector<bool> m_depends, m_reached;
    std::vector<NodeId> m_gradient;
};

} // namespace

std::vector<std::optional<NodeId>> gradients(Builder& b, NodeId y, std::span<const NodeId> wrt,
                                             NodeId dy) {
    const Node& result = b[y];
    require(isFloat(result.dtype), "gradients: y must be floating-point");
    require(dy != kNoNode || result.shape.empty(),
            "gradients: y of shape " + result.shape.text() + " needs a cotangent");
    const CauseScope scope(b);
    ReverseWalk walk(b, y, wrt);
    walk.run(y, dy != kNoNode ? dy : b.constantLike(1, y));
    std::vector<std::optional<NodeId>> found;
    for (const NodeId id : wrt)
        found.push_back(walk.gradientOf(id));
    return found;
}

} // namespace halfscope
