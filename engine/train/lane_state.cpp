// Moves states between a device and the host.
#include "engine/train/lane_state.h"

#include "engine/core/error.h"
#include "engine/scaler/grad_scaler.h"
#include "engine/train/initial_weights.h"

#include <algorithm>
#include <cstring>

namespace halfscope {

namespace {

NodeId stateNamed(const Graph& graph, const std::string& name) {
    const auto& states = graph.states();
    const auto found = std::find_if(states.begin(), states.end(),
                                    [&](const StateInfo& state) { return state.name == name; });
    if (found == states.end())
        throw InputError(phrase("Training", "the step has no state %1"), name);
    return found->node;
}

void check(const Node& node, const std::string& name, const TypedBytes& values) {
    if (values.shape != node.shape)
        throw InputError(phrase("Training", "%1 has the shape %2, the step wants %3"), name,
                         values.shape.text(), node.shape.text());
    const size_t wanted = static_cast<size_t>(node.elements()) * bytesOf(values.dtype);
    if (values.bytes.size() != wanted)
        throw InputError(phrase("Training", "%1 has %2 bytes, %3 are expected"), name,
                         values.bytes.size(), wanted);
}

} // namespace

void setPrediction(LaneState& state, std::span<const float> values) {
    const auto bytes = std::as_bytes(values);
    state.prediction = {DType::F32,
                        {static_cast<int64_t>(values.size())},
                        std::vector<std::byte>(bytes.begin(), bytes.end())};
}

std::optional<std::vector<float>> predictionOf(const LaneState& state) {
    if (!state.prediction) return std::nullopt;
    const std::vector<std::byte> bytes = storedAs(DType::F32, *state.prediction);
    std::vector<float> values(bytes.size() / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

ScalerFigures scalerFiguresOf(const LaneState& state) {
    const auto found = state.states.find("scaler");
    ScalerSlots slots{};
    if (found == state.states.end() || found->second.bytes.size() != sizeof(slots))
        return {.skipped = state.skipped};
    std::memcpy(slots.data(), found->second.bytes.data(), sizeof(slots));
    return {static_cast<float>(slots[kScaleSlot]), static_cast<int64_t>(slots[kTrackerSlot]),
            state.skipped};
}

StateValues downloadStates(Executor& executor, const Graph& graph, WhichStates which) {
    StateValues states;
    for (const StateInfo& state : graph.states()) {
        if (which == WhichStates::Written && state.next == kNoNode) continue;
        if (which == WhichStates::WeightsOnly && !isWeight(state)) continue;
        const Node& node = graph[state.node];
        TypedBytes& values = states[state.name];
        values = {node.dtype, node.shape, std::vector<std::byte>(node.bytes())};
        executor.download(state.node, values.bytes);
    }
    return states;
}

void uploadStates(Executor& executor, const Graph& graph, const StateValues& states) {
    std::vector<NodeId> nodes;
    for (const auto& [name, values] : states) {
        nodes.push_back(stateNamed(graph, name));
        check(graph[nodes.back()], name, values);
    }
    size_t at = 0;
    for (const auto& [name, values] : states) {
        const NodeId node = nodes[at++];
        executor.upload(node, storedAs(graph[node].dtype, values));
    }
}

StateValues sharedStates(StateValues values, const Graph& graph) {
    std::erase_if(values, [&](const auto& value) {
        const auto& states = graph.states();
        return std::none_of(states.begin(), states.end(),
                            [&](const StateInfo& each) { return each.name == value.first; });
    });
    return values;
}

void StateCopy::run(Executor& from, const Graph& fromGraph, Executor& to, const Graph& toGraph) {
    const auto &states = fromGraph.states(), &others = toGraph.states();
    require(states.size() == others.size(), "steps of one lane have the same states");
    for (size_t i = 0; i < states.size(); ++i) {
        const Node &node = fromGraph[states[i].node], &other = toGraph[others[i].node];
        require(states[i].name == others[i].name && node.dtype == other.dtype &&
                    node.shape == other.shape,
                "steps of one lane have the same states");
        if (m_bytes.size() < node.bytes()) m_bytes.resize(node.bytes());
        const std::span bytes = std::span(m_bytes).first(node.bytes());
        from.download(states[i].node, bytes);
        to.upload(others[i].node, bytes);
    }
}

} // namespace halfscope
