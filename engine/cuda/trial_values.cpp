// Values of trials. Which variants are tried and what follows is variant_search's business.
#include "engine/cuda/trial_values.h"

#include "engine/core/dtype.h"
#include "engine/core/error.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace halfscope::cuda {
namespace {

constexpr float kScale = 1024;

/// Numbers in (-limit, limit).
std::vector<float> numbers(size_t count, double limit) {
    std::vector<float> values(count);
    uint32_t state = 2024;
    for (float& value : values) {
        state = state * 1664525u + 1013904223u;
        value = static_cast<float>(static_cast<int32_t>(state) * 0x1p-31 * limit);
    }
    return values;
}

/// Products with uniform weights up to this are about as large as what they multiply.
double limitOf(const Shape& weight) {
    if (weight.rank() < 2 || weight.elements() == 0) return 1;
    return std::sqrt(3.0 * static_cast<double>(weight[0]) / static_cast<double>(weight.elements()));
}

/// How far results of two variants may be apart, relative to the largest: sums in another order,
/// and with short operands the roundings that they tip, through all layers.
double toleranceOf(const Graph& graph) {
    for (NodeId id = 0; id < graph.size(); ++id)
        if (graph[id].dtype == DType::F16 || graph[id].dtype == DType::BF16 ||
            graph[id].math == MathMode::TF32)
            return 0x1p-4;
    return 0x1p-10;
}

std::vector<std::byte> bytesOf(const Device& device, const StepVersion& version, NodeId id) {
    std::vector<std::byte> bytes(version.program().graph[id].bytes());
    device.check(device.driver().cuMemcpyDtoHAsync(bytes.data(), version.at(id), bytes.size(),
                                                   device.stream()),
                 "results of a trial");
    device.check(device.driver().cuStreamSynchronize(device.stream()), "the first run of the step");
    return bytes;
}

std::vector<float> valuesOf(const Device& device, const StepVersion& version, NodeId id) {
    const Node& node = version.program().graph[id];
    const std::vector<std::byte> bytes = bytesOf(device, version, id);
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
                     "numbers for a trial");
        // `bytes` must outlive the copy
        device.check(device.driver().cuStreamSynchronize(device.stream()), "numbers for a trial");
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

TrialResults resultsOfTrial(const Device& device, const StepVersion& version) {
    const Graph& graph = version.program().graph;
    const auto isThere = [&](NodeId id) { return version.isStored(id) && graph[id].bytes() > 0; };
    TrialResults results;
    for (const OutputInfo& output : graph.outputs())
        if (isThere(output.node))
            results.push_back({"output " + output.name, valuesOf(device, version, output.node)});
    const size_t outputs = results.size();
    for (const StateInfo& state : graph.states()) {
        if (!isCompared(state.role) || !isThere(state.node)) continue;
        const std::string name = "states of " + state.name.substr(state.name.rfind('.') + 1);
        auto kind =
            std::find_if(results.begin() + static_cast<std::ptrdiff_t>(outputs), results.end(),
                         [&](const TrialResult& known) { return known.name == name; });
        if (kind == results.end()) kind = results.insert(results.end(), {name, {}});
        const std::vector<float> values = valuesOf(device, version, state.node);
        kind->values.insert(kind->values.end(), values.begin(), values.end());
    }
    return results;
}

std::vector<std::byte> bitsOfTrial(const Device& device, const StepVersion& version) {
    const Graph& graph = version.program().graph;
    std::vector<std::byte> bits;
    const auto add = [&](NodeId id) {
        if (!version.isStored(id) || graph[id].bytes() == 0) return;
        const std::vector<std::byte> bytes = bytesOf(device, version, id);
        bits.insert(bits.end(), bytes.begin(), bytes.end());
    };
    for (const OutputInfo& output : graph.outputs())
        add(output.node);
    for (const StateInfo& state : graph.states())
        add(state.node);
    return bits;
}

std::string differenceOf(const Graph& graph, const TrialResults& wanted, const TrialResults& got) {
    constexpr size_t kFew = 64; // the metrics, of which each has a size of its own
    const double bound = toleranceOf(graph);
    for (size_t at = 0; at < got.size(); ++at) {
        const std::vector<float>&want = wanted[at].values, &is = got[at].values;
        double largest = 0x1p-10;
        const bool alike = want.size() > kFew || wanted[at].name.starts_with("states");
        for (const float value : want)
            if (std::isfinite(value) && alike)
                largest = std::max(largest, std::fabs(static_cast<double>(value)));
        for (size_t i = 0; i < want.size(); ++i) {
            const double x = static_cast<double>(want[i]), y = static_cast<double>(is[i]);
            if (!std::isfinite(x) || !std::isfinite(y)) {
                if (std::isfinite(x) == std::isfinite(y)) continue;
            } else if (std::fabs(y - x) <= bound * std::max(largest, std::fabs(x))) {
                continue;
            }
            char text[128];
            std::snprintf(text, sizeof text, "element %zu of %s is %.6g instead of %.6g", i,
                          wanted[at].name.c_str(), y, x);
            return text;
        }
    }
    return {};
}

} // namespace halfscope::cuda
