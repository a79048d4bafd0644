// Copies graphs node by node, with a list that gives the new node for each old one.
#include "engine/passes/rewrite.h"

#include "engine/core/error.h"

namespace halfscope {

namespace {

std::vector<char> neededNodes(const Graph& graph) {
    std::vector<char> needed(static_cast<size_t>(graph.size()), 0);
    const auto need = [&](NodeId id) { needed[static_cast<size_t>(id)] = 1; };
    for (const StateInfo& state : graph.states()) {
        need(state.node);
        if (state.next != kNoNode) need(state.next);
    }
    for (const InputInfo& input : graph.inputs())
        need(input.node);
    for (const OutputInfo& output : graph.outputs())
        need(output.node);
    for (NodeId id = graph.size() - 1; id >= 0; --id)
        if (needed[static_cast<size_t>(id)])
            for (NodeId in : graph[id].in)
                need(in);
    return needed;
}

NodeId renamed(std::span<const NodeId> at, NodeId id) {
    return id == kNoNode ? kNoNode : at[static_cast<size_t>(id)];
}

NodeId copyNode(Graph& to, const Node& from, std::span<const NodeId> at) {
    Node node = from;
    for (NodeId& in : node.in)
        in = renamed(at, in);
    node.cause.forward = renamed(at, node.cause.forward);
    return to.add(std::move(node));
}

/// Copies states, inputs and outputs of `from` into a graph whose nodes have other numbers.
void copyLists(Graph& to, const Graph& from, std::span<const NodeId> at) {
    for (StateInfo state : from.states()) {
        state.node = renamed(at, state.node);
        state.next = renamed(at, state.next);
        to.addState(std::move(state));
    }
    for (InputInfo input : from.inputs()) {
        input.node = renamed(at, input.node);
        to.addInput(std::move(input));
    }
    for (const OutputInfo& output : from.outputs())
        to.addOutput(output.name, renamed(at, output.node));
}

} // namespace

Graph pruned(const Graph& graph) {
    const std::vector<char> needed = neededNodes(graph);
    Graph kept;
    std::vector<NodeId> at(static_cast<size_t>(graph.size()), kNoNode);
    for (NodeId id = 0; id < graph.size(); ++id)
        if (needed[static_cast<size_t>(id)])
            at[static_cast<size_t>(id)] = copyNode(kept, graph[id], at);
    copyLists(kept, graph, at);
    return kept;
}

Graph rewritten(const Graph& graph, const Replacement& replacement) {
    Graph result;
    Builder b(result);
    std::vector<NodeId> at(static_cast<size_t>(graph.size()), kNoNode);
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        b.setPhase(node.cause.phase);
        b.setLabel(node.cause.label);
        b.setForwardCause(renamed(at, node.cause.forward));
        const bool leaf = node.op == Op::State || node.op == Op::Input;
        NodeId now = leaf ? kNoNode : replacement(b, id, at);
        if (now == kNoNode) now = copyNode(result, node, at);
        require(result[now].shape == node.shape && result[now].dtype == node.dtype,
                "rewrite: a node's place is taken by one of another type");
        at[static_cast<size_t>(id)] = now;
    }
    copyLists(result, graph, at);
    return pruned(result);
}

} // namespace halfscope
