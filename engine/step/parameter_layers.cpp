// Nodes of the forward pass carry the label of their layer.
#include "engine/step/parameter_layers.h"

#include <set>

namespace halfscope {
namespace {

bool isLayers(const Node& node) {
    return node.cause.phase == Phase::Forward && !node.cause.label.empty();
}

} // namespace

std::map<std::string, std::string> layersOfParameters(const Graph& graph) {
    std::map<NodeId, std::string> parameters;
    for (const StateInfo& state : graph.states())
        if (state.role == StateRole::Parameter) parameters.emplace(state.node, state.name);
    std::map<std::string, std::string> layers;
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (!isLayers(graph[id])) continue;
        for (const NodeId in : graph[id].in)
            if (const auto found = parameters.find(in); found != parameters.end())
                layers.try_emplace(found->second, graph[id].cause.label);
    }
    return layers;
}

std::vector<std::string> forwardLabels(const Graph& graph) {
    std::vector<std::string> labels;
    std::set<std::string_view> seen;
    for (NodeId id = 0; id < graph.size(); ++id)
        if (isLayers(graph[id]) && seen.insert(graph[id].cause.label).second)
            labels.push_back(graph[id].cause.label);
    return labels;
}

} // namespace halfscope
