// The proof stands in the states: a weight that is not finite beside a zero under the root.
#include "engine/train/zero_epsilon.h"

#include "engine/core/dtype.h"
#include "engine/step/step_parts.h"
#include "engine/train/step_runner.h"

#include <algorithm>
#include <cmath>
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
    for (const StateInfo& state : graph.states()) {
        const DType stored = graph[state.node].dtype;
        if (state.role != StateRole::Parameter || stored != DType::F16) continue;
        const StepParts parts = partsOf(config);
        const OptimizerConfig& optimizer = parts.optimizers[parts.optimizerOf(state.name)].config;
        const char* ending = squaresOf(optimizer);
        if (!ending || roundTo(stored, optimizer.eps) != 0) continue;
        const std::vector<float> weights = downloadFloats(at.executor(), graph, state.node);
        const auto isLost = [](float weight) { return !std::isfinite(weight); };
        if (std::none_of(weights.begin(), weights.end(), isLost)) continue;
        const std::vector<float> squares = valuesOf(at, state.name + ending);
        for (size_t i = 0; i < squares.size(); ++i)
            if (isLost(weights[i]) && squares[i] == 0) return infoOf(optimizer.kind).torchName;
    }
    return {};
}

} // namespace halfscope
