// The graph's own bookkeeping: adding nodes, next values, lookups by name, use counts. Leaves every
// rule about shapes and dtypes to the builder and to validate().
#include "engine/graph/graph.h"

#include "engine/core/error.h"

#include <algorithm>

namespace halfscope {

std::string_view nameOf(Phase phase) {
    switch (phase) {
    case Phase::Forward: return "forward";
    case Phase::Loss: return "loss";
    case Phase::Backward: return "backward";
    case Phase::Unscale: return "unscale";
    case Phase::Optimizer: return "optimizer";
    case Phase::Scaler: return "scaler";
    case Phase::Metrics: return "metrics";
    }
    failInvariant("unknown phase");
}

std::string_view nameOf(StateRole role) {
    switch (role) {
    case StateRole::Parameter: return "parameter";
    case StateRole::Moment: return "moment";
    case StateRole::RunningStatistic: return "running statistic";
    case StateRole::Scaler: return "scaler";
    case StateRole::Counter: return "counter";
    case StateRole::Setting: return "setting";
    case StateRole::Gradient: return "gradient";
    }
    failInvariant("unknown state role");
}

NodeId Graph::add(Node node) {
    // 2^47 elements are at most a thousand TiB of bytes; sums over some million tensors stay below
    // 2^64.
    constexpr int64_t kMostElements = int64_t{1} << 47;
    require(node.elements() <= kMostElements,
            "graph: a tensor of shape " + node.shape.text() + " has more than 2^47 elements");
    for (const NodeId in : node.in)
        require(in >= 0 && in < size(),
                "graph: a new node reads %" + std::to_string(in) + ", which does not exist yet");
    m_nodes.push_back(std::move(node));
    return size() - 1;
}

void Graph::setNext(NodeId state, NodeId next) {
    const auto found = std::find_if(m_states.begin(), m_states.end(),
                                    [&](const StateInfo& s) { return s.node == state; });
    require(found != m_states.end(), "graph: %" + std::to_string(state) + " is no state");
    require(next >= 0 && next < size(), "graph: next value of " + found->name + " does not exist");
    const Node& from = (*this)[state];
    const Node& to = (*this)[next];
    require(from.shape == to.shape && from.dtype == to.dtype,
            "graph: state " + found->name + " is " + std::string(nameOf(from.dtype)) + " " +
                from.shape.text() + ", its next value " + std::string(nameOf(to.dtype)) + " " +
                to.shape.text());
    found->next = next;
}

namespace {

template <class Info>
const Info* findNamed(const std::vector<Info>& list, std::string_view name) {
    for (const Info& info : list)
        if (info.name == name) return &info;
    return nullptr;
}

template <class Info>
NodeId nodeNamed(const std::vector<Info>& list, std::string_view name, const char* kind) {
    const Info* info = findNamed(list, name);
    require(info != nullptr, "graph: no " + std::string(kind) + " named " + std::string(name));
    return info->node;
}

} // namespace

NodeId Graph::output(std::string_view name) const { return nodeNamed(m_outputs, name, "output"); }
NodeId Graph::input(std::string_view name) const { return nodeNamed(m_inputs, name, "input"); }
NodeId Graph::state(std::string_view name) const { return nodeNamed(m_states, name, "state"); }

std::optional<NodeId> Graph::findOutput(std::string_view name) const {
    if (const OutputInfo* info = findNamed(m_outputs, name)) return info->node;
    return std::nullopt;
}

std::vector<int> Graph::useCounts() const {
    std::vector<int> counts(m_nodes.size(), 0);
    const auto count = [&](NodeId id) {
        if (id != kNoNode) ++counts[static_cast<size_t>(id)];
    };
    for (const Node& node : m_nodes)
        std::for_each(node.in.begin(), node.in.end(), count);
    for (const StateInfo& state : m_states)
        count(state.next);
    for (const OutputInfo& output : m_outputs)
        count(output.node);
    return counts;
}

} // namespace halfscope
