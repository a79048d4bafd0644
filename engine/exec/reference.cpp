// The reference evaluator: marks what the wanted nodes need, then runs OpInfo::reference over those
// nodes in graph order. Leaves every op's meaning to its row.
#include "engine/exec/reference.h"

#include "engine/core/error.h"
#include "engine/core/random_rounding.h"
#include "engine/ops/op_info.h"

#include <algorithm>

namespace halfscope {

namespace {

std::vector<bool> markNeeded(const Graph& graph, const std::map<NodeId, RefTensor>& leaves,
                             std::span<const NodeId> wanted) {
    std::vector<bool> needed(static_cast<size_t>(graph.size()), false);
    for (const NodeId id : wanted)
        needed.at(static_cast<size_t>(id)) = true;
    for (NodeId id = graph.size() - 1; id >= 0; --id) {
        if (!needed[static_cast<size_t>(id)] || leaves.contains(id)) continue;
        for (const NodeId in : graph[id].in)
            needed[static_cast<size_t>(in)] = true;
    }
    return needed;
}

void roundToStorage(DType dtype, std::vector<double>& values) {
    if (dtype == DType::F32) {
        for (double& value : values)
            value = double{static_cast<float>(value)};
        return;
    }
    for (double& value : values)
        value = roundTo(dtype, value);
}

RefTensor givenValue(const Node& node, NodeId id, const RefTensor& given) {
    const std::string what = "reference: value given for %" + std::to_string(id);
    require(given.shape == node.shape,
            what + " has shape " + given.shape.text() + ", expected " + node.shape.text());
    require(given.values.size() == static_cast<size_t>(node.elements()),
            what + " has " + std::to_string(given.values.size()) + " values");
    return given;
}

RefTensor computedValue(const Node& node, NodeId id, const std::vector<RefTensor>& values) {
    const OpInfo& info = infoOf(node.op);
    require(info.reference != nullptr, "reference: no value given for " + std::string(info.name) +
                                           " %" + std::to_string(id) + " " + node.cause.label);
    std::vector<RefTensor> in;
    for (const NodeId operand : node.in)
        in.push_back(values[static_cast<size_t>(operand)]);
    RefTensor out{node.shape, std::vector<double>(static_cast<size_t>(node.elements()), 0.0)};
    info.reference(in, node.attrs, out);
    return out;
}

} // namespace

std::map<NodeId, RefTensor> evaluate(const Graph& graph, const std::map<NodeId, RefTensor>& leaves,
                                     std::span<const NodeId> wanted, RefRounding rounding,
                                     uint64_t seed) {
    const std::vector<bool> needed = markNeeded(graph, leaves, wanted);
    std::vector<RefTensor> values(needed.size());
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (!needed[static_cast<size_t>(id)]) continue;
        const Node& node = graph[id];
        const auto given = leaves.find(id);
        RefTensor& value = values[static_cast<size_t>(id)];
        value = given != leaves.end() ? givenValue(node, id, given->second)
                                      : computedValue(node, id, values);
        if (rounding == RefRounding::Random && node.dtype == DType::F32)
            std::transform(value.values.begin(), value.values.end(), value.values.begin(),
                           RandomRounding(seed, static_cast<uint64_t>(id), kRandomLastBits));
        else if (rounding != RefRounding::None)
            roundToStorage(node.dtype, value.values);
    }
    std::map<NodeId, RefTensor> result;
    for (const NodeId id : wanted)
        result[id] = values[static_cast<size_t>(id)];
    return result;
}

} // namespace halfscope
