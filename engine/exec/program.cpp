// Compiles a graph: keeps what outputs and next values need, checks it, groups it into kernels and
// lays out its memory.
#include "engine/exec/program.h"

#include "engine/core/error.h"
#include "engine/graph/inspect.h"
#include "engine/passes/fuse.h"
#include "engine/passes/plan.h"

namespace halfscope {

namespace {

/// The graph without nodes that nothing needs. States and inputs stay.
Graph prune(const Graph& graph) {
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

    Graph kept;
    std::vector<NodeId> renamed(static_cast<size_t>(graph.size()), kNoNode);
    const auto at = [&](NodeId id) {
        return id == kNoNode ? kNoNode : renamed[static_cast<size_t>(id)];
    };
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (!needed[static_cast<size_t>(id)]) continue;
        Node node = graph[id];
        for (NodeId& in : node.in)
            in = at(in);
        node.cause.forward = at(node.cause.forward);
        renamed[static_cast<size_t>(id)] = kept.add(std::move(node));
    }
    for (StateInfo state : graph.states()) {
        state.node = at(state.node);
        state.next = at(state.next);
        kept.addState(std::move(state));
    }
    for (InputInfo input : graph.inputs()) {
        input.node = at(input.node);
        kept.addInput(std::move(input));
    }
    for (const OutputInfo& output : graph.outputs())
        kept.addOutput(output.name, at(output.node));
    return kept;
}

} // namespace

Program compile(const Graph& graph, const CompileOptions& options) {
    Program program;
    program.graph = prune(graph);
    validate(program.graph);
    program.kernels = fuse(program.graph, options.fuse);
    program.memory = planMemory(program.graph, program.kernels, program.pointOfNoReturn);
    return program;
}

} // namespace halfscope
