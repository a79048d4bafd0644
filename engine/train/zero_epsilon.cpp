// The proof stands in the states: a weight that is not finite beside a zero under the root.
#include "engine/train/zero_epsilon.h"

#include "engine/core/dtype.h"
#include "engine/core/error.h"
#include "engine/step/step_parts.h"
#include "engine/train/step_runner.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace halfscope {

namespace {

/// Returns the ending of the state that an optimizer divides by, or by whose root; nullptr where it
/// is the root of a difference of states, or there is none.
const char* divisorOf(const OptimizerConfig& optimizer) {
    switch (optimizer.kind) {
    case OptimizerKind::Adam:
    case OptimizerKind::AdamW: return optimizer.amsgrad ? ".max_exp_avg_sq" : ".exp_avg_sq";
    case OptimizerKind::NAdam: return ".exp_avg_sq";
    case OptimizerKind::Adamax: return ".exp_inf";
    case OptimizerKind::Adagrad: return ".sum";
    case OptimizerKind::RmsProp: return optimizer.centered ? nullptr : ".square_avg";
    case OptimizerKind::Adadelta: return ".square_avg";
    case OptimizerKind::Sgd: return nullptr;
    }
    failInvariant("unknown optimizer");
}

/// The most weights that are looked at before a step: more would slow the lane down noticeably.
constexpr int64_t kMostWeights = int64_t{1} << 22;

/// Returns the arrays of weights in float16, the smallest first.
std::vector<const StateInfo*> weightsIn16Bits(const Graph& graph) {
    std::vector<const StateInfo*> found;
    for (const StateInfo& state : graph.states())
        if (state.role == StateRole::Parameter && graph[state.node].dtype == DType::F16)
            found.push_back(&state);
    std::stable_sort(found.begin(), found.end(), [&](const StateInfo* a, const StateInfo* b) {
        return graph[a->node].elements() < graph[b->node].elements();
    });
    return found;
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

std::string dividedByZero(const RunConfig& config, const LaneConfig& lane, const LaneStep& at,
                          int64_t step) {
    const int64_t every = config.gradients.accumulate;
    if (step == 0 || step % every != 0) return {};
    // such updates are computed in float32 and rounded once
    if (lane.rounding == WeightRounding::Stochastic) return {};
    const Graph& graph = at.graph();
    const std::vector<const StateInfo*> weights = weightsIn16Bits(graph);
    if (weights.empty()) return {};
    const StepParts parts = partsOf(config);
    int64_t looked = 0;
    for (const StateInfo* state : weights) {
        const OptimizerConfig& optimizer = parts.optimizers[parts.optimizerOf(state->name)].config;
        const char* ending = divisorOf(optimizer);
        if (!ending || roundTo(DType::F16, optimizer.eps) != 0) continue;
        looked += graph[state->node].elements();
        if (looked > kMostWeights && step > every) return {};
        const std::vector<size_t> lost = lostWeights(at, state->node);
        if (lost.empty()) continue;
        const std::vector<float> divisors = valuesOf(at, state->name + ending);
        for (const size_t i : lost)
            if (i < divisors.size() && divisors[i] == 0) return infoOf(optimizer.kind).torch.name;
    }
    return {};
}

} // namespace halfscope
