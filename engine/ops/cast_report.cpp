// Puts the reasons into words, and counts.
#include "engine/ops/cast_report.h"

#include "engine/ops/op_info.h"

#include <algorithm>

namespace halfscope {

namespace {

std::string gradientReason(const Node& forward) {
    const Cause& cause = forward.cause;
    if (forward.op == Op::Cast && !cause.rule.empty())
        return "gradient of the cast by " + cause.rule;
    return "gradient of " + std::string(nameOf(forward.op)) + ": computes in float32, rounds once";
}

} // namespace

std::string functionIn(const std::string& decision) {
    return decision.substr(0, decision.find(':'));
}

std::string castReason(const Graph& graph, NodeId id) {
    const Node& node = graph[id];
    if (node.op != Op::Cast) return {};
    const Cause& cause = node.cause;
    if (!cause.rule.empty()) return cause.rule;
    if (cause.forward != kNoNode) return gradientReason(graph[cause.forward]);
    if (!cause.decision.empty())
        return functionIn(cause.decision) + ": computes in float32, rounds once";
    return std::string(nameOf(cause.phase)) + ": stores and computes in different dtypes";
}

std::vector<CastCount> castCounts(const Graph& graph) {
    std::vector<CastCount> counts;
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        if (node.op != Op::Cast) continue;
        const CastCount kind{castReason(graph, id), graph[node.in[0]].dtype, node.dtype};
        auto found = std::find_if(counts.begin(), counts.end(), [&](const CastCount& each) {
            return each.reason == kind.reason && each.from == kind.from && each.to == kind.to;
        });
        if (found == counts.end()) found = counts.insert(counts.end(), kind);
        ++found->count;
        found->elements += node.elements();
    }
    return counts;
}

std::string castText(const Graph& graph) {
    std::string text;
    int total = 0;
    for (const CastCount& kind : castCounts(graph)) {
        total += kind.count;
        text += "  " + std::to_string(kind.count) + " x " + std::string(nameOf(kind.from)) +
                " -> " + std::string(nameOf(kind.to)) + ", " + std::to_string(kind.elements) +
                " elements  [" + kind.reason + "]\n";
    }
    return "casts: " + std::to_string(total) + "\n" + text;
}

} // namespace halfscope
