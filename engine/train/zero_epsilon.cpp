// The proof stands in the states: a weight that is not finite beside a zero under the root.
#include "engine/train/zero_epsilon.h"

#include "engine/core/dtype.h"
#include "engine/step/step_parts.h"
#include "engine/train/step_runner.h"

#include <cstdint>
#include <span>
#include <vector>

namespace halfscope {

namespace {

/// Returns the ending of the state whose root an optimizer divides by; nullptr where the root is of
/// a difference of states, or there is none.
const char* squaresOf(const OptimizerConfig& optimizer) {
    const OptimizerSettings& has = infoOf(optimizer.kind).has;
    if (has.betas) return optimizer.amsgrad ? ".max_exp_avg_sq" : ".exp_avg_sq";
    if (has.alpha && !optimizer.centered) return ".square_avg";
    return nullptr;
}

/// The most weights that are looked at before a step: more would slow the lane down noticeably.
constexpr int64_t kMostWeights = int64_t{1} << 22;

int64_t weightsIn16Bits(const Graph& graph) {
    int64_t weights = 0;
    for (const StateInfo& state : graph.states())
        if (state.role == StateRole::Parameter && graph[state.node].dtype == DType::F16)
            weights += graph[state.node].elements();
    return weights;
}

/// Returns the places of weights that are inf or nan: all bits of their exponent are set.
std::vector<size_t> lostWeights(const LaneStep& at, NodeId node) {
    constexpr uint16_t kExponent = 0x7C00;
    std::vector<uint16_t> words(static_cast<size_t>(at.graph()[node].elements()));
    at.executor().download(node, std::as_writable_bytes(std::span(words)));
    std::vector<size_t> lost;
    for (size_t i = 0; i < words.size(); ++i)
        if ((words[i] & kExponent) == kExponent) lost.push_back(i);
    return lost;
}

/// Returns the values of a state; empty where there is none of this name.
std::vector<float> valuesOf(const LaneStep& at, const std::string& name) {
    for (const StateInfo& state : at.graph().states())
        if (state.name == name) return downloadFloats(at.executor(), at.graph(), state.node);
    return {};
}

} // namespace

std::string dividedByZero(const RunConfig& config, const LaneConfig& lane, const LaneStep& at) {
    // such updates are computed in float32 and rounded once
    if (lane.rounding == WeightRounding::Stochastic) return {};
    const Graph& graph = at.graph();
    const int64_t weights = weightsIn16Bits(graph);
    if (weights == 0 || weights > kMostWeights) return {};
    const StepParts parts = partsOf(config);
    for (const StateInfo& state : graph.states()) {
        if (state.role != StateRole::Parameter || graph[state.node].dtype != DType::F16) continue;
        const OptimizerConfig& optimizer = parts.optimizers[parts.optimizerOf(state.name)].config;
        const char* ending = squaresOf(optimizer);
        if (!ending || roundTo(DType::F16, optimizer.eps) != 0) continue;
        const std::vector<size_t> lost = lostWeights(at, state.node);
        if (lost.empty()) continue;
        const std::vector<float> squares = valuesOf(at, state.name + ending);
        for (const size_t i : lost)
            if (i < squares.size() && squares[i] == 0) return infoOf(optimizer.kind).torchName;
    }
    return {};
}

} // namespace halfscope
