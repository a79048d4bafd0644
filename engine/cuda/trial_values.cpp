// The values of trials. variant_search decides which variants are tried and what follows.
#include "engine/cuda/trial_values.h"

#include "engine/core/dtype.h"
#include "engine/core/error.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace halfscope::cuda {
namespace {

constexpr float kScale = 1024;

/// Returns numbers in (-limit, limit).
std::vector<float> numbers(size_t count, double limit) {
    std::vector<float> values(count);
    uint32_t state = 2024;
    for (float& value : values) {
        state = state * 1664525u + 1013904223u;
        value = static_cast<float>(static_cast<int32_t>(state) * 0x1p-31 * limit);
    }
    return values;
}

/// Returns the limit up to which uniform weights make products about as large as what they
/// multiply.
double limitOf(const Shape& weight) {
    if (weight.rank() < 2 || weight.elements() == 0) return 1;
    return std::sqrt(3.0 * static_cast<double>(weight[0]) / static_cast<double>(weight.elements()));
}

std::vector<float> valuesOf(const Device& device, const StepVersion& version, NodeId id) {
    const Node& node = version.program().graph[id];
    std::vector<std::byte> bytes(node.bytes());
    device.check(device.driver().cuMemcpyDtoHAsync(bytes.data(), version.at(id), bytes.size(),
                                                   device.stream()),
                 phrase("Devices", "results of a trial"));
    device.check(device.driver().cuStreamSynchronize(device.stream()),
                 phrase("Devices", "the first run of the step"));
    std::vector<float> values(static_cast<size_t>(node.elements()));
    loadAsFloat(node.dtype, bytes.data(), values.data(), values.size());
    return values;
}

bool isCompared(StateRole role) {
    return role == StateRole::Moment || role == StateRole::Gradient ||
           role == StateRole::RunningStatistic;
}

} // namespace

void fillForTrial(const Device& device, const StepVersion& version) {
    const Graph& graph = version.program().graph;
    const auto upload = [&](NodeId id, const std::vector<float>& values) {
        if (!version.isStored(id) || graph[id].bytes() == 0) return;
        std::vector<std::byte> bytes(graph[id].bytes());
        storeFromFloat(graph[id].dtype, values.data(), bytes.data(), values.size());
        device.check(device.driver().cuMemcpyHtoDAsync(version.at(id), bytes.data(), bytes.size(),
                                                       device.stream()),
                     phrase("Devices", "numbers for a trial"));
        // `bytes` must outlive the copy
        device.check(device.driver().cuStreamSynchronize(device.stream()),
                     phrase("Devices", "numbers for a trial"));
    };
    const auto count = [&](NodeId id) { return static_cast<size_t>(graph[id].elements()); };
    const auto same = [&](NodeId id, float value) { return std::vector<float>(count(id), value); };
    for (const InputInfo& input : graph.inputs())
        if (isFloat(graph[input.node].dtype)) // labels and the like stay zero
            upload(input.node, numbers(count(input.node), 1));
    for (const StateInfo& state : graph.states()) {
        switch (state.role) {
        case StateRole::Parameter:
            upload(state.node, numbers(count(state.node), limitOf(graph[state.node].shape)));
            break;
        case StateRole::Moment:
        case StateRole::Gradient: break;
        // rates: a decay of one would divide by zero
        case StateRole::Setting: upload(state.node, same(state.node, 0.5f)); break;
        case StateRole::Scaler: upload(state.node, same(state.node, kScale)); break;
        case StateRole::RunningStatistic:
        case StateRole::Counter: upload(state.node, same(state.node, 1)); break;
        }
    }
}

std::vector<StepResult> resultsOfTrial(const Device& device, const StepVersion& version) {
    constexpr int64_t kFew = 64; // the metrics, each of which has a size of its own
    const Graph& graph = version.program().graph;
    std::vector<StepResult> results;
    const auto add = [&](NodeId id, const std::string& name, const std::string& kind) {
        if (version.isStored(id) && graph[id].bytes() > 0)
            results.push_back({name, kind, valuesOf(device, version, id)});
    };
    for (const OutputInfo& output : graph.outputs()) {
        const std::string name = "output " + output.name;
        add(output.node, name, graph[output.node].elements() > kFew ? name : "");
    }
    for (const StateInfo& state : graph.states())
        if (isCompared(state.role))
            add(state.node, state.name, state.name.substr(state.name.rfind('.') + 1));
    return results;
}

} // namespace halfscope::cuda
