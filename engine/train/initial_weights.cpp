// Draws each parameter from a stream of its own, so that the size of one changes no other.
#include "engine/train/initial_weights.h"

#include "engine/core/error.h"
#include "engine/core/philox.h"

#include <algorithm>

namespace halfscope {

namespace {

/// The generator's streams from this one on belong to parameters, one each; data uses lower
/// numbers.
constexpr uint64_t kWeightStreams = uint64_t{1} << 32;

void draw(std::vector<float>& values, const InitialValue& start, const Philox& random) {
    const auto size = static_cast<float>(start.value);
    if (start.kind == InitialValue::Kind::Uniform) {
        random.fillUniform(values, -size, size);
        return;
    }
    random.fillNormal(values);
    for (float& value : values)
        value *= size;
}

/// Sets a row of a matrix (rows, columns) to zero.
void clearRow(std::vector<float>& values, int64_t row, int64_t columns) {
    const auto begin = values.begin() + row * columns;
    std::fill(begin, begin + columns, 0.0f);
}

} // namespace

void throwIfStopped(const std::stop_token& stop) {
    if (stop.stop_requested())
        throw RunError(phrase("Training", "stopped before the networks were built"));
}

bool isWeight(const StateInfo& state) {
    return state.role == StateRole::Parameter || state.role == StateRole::RunningStatistic;
}

Weights initialWeights(const Graph& graph, uint64_t seed, const std::stop_token& stop) {
    Weights weights;
    uint64_t drawn = 0; // how many states were drawn, each from a stream of its own
    for (const StateInfo& state : graph.states()) {
        if (!isWeight(state)) continue;
        throwIfStopped(stop);
        const auto start = static_cast<float>(state.start.value);
        std::vector<float> values(static_cast<size_t>(graph[state.node].elements()), start);
        if (state.start.kind != InitialValue::Kind::Constant)
            draw(values, state.start, Philox(seed, kWeightStreams + drawn++));
        if (state.start.zeroRow >= 0)
            clearRow(values, state.start.zeroRow, graph[state.node].shape.back());
        weights.emplace(state.name, std::move(values));
    }
    return weights;
}

} // namespace halfscope
