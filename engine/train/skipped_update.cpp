// Runs the batches of an update again: as they were, value by value, or at other scales.
#include "engine/train/skipped_update.h"

#include "engine/core/error.h"
#include "engine/train/step_runner.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

namespace halfscope {

namespace {

constexpr int64_t kMostBatches = 16; // each one takes a whole step

/// Turns back the counters of random layers, such as dropout, so that a step draws the same numbers
/// again.
void rewindRandom(const Graph& graph, StateValues& values, int64_t steps) {
    std::set<NodeId> counters;
    for (NodeId id = 0; id < graph.size(); ++id)
        if (graph[id].op == Op::Random) counters.insert(graph[id].in[0]);
    for (const StateInfo& state : graph.states()) {
        const auto found = values.find(state.name);
        if (!counters.contains(state.node) || found == values.end()) continue;
        require(found->second.dtype == DType::F32, state.name + " counts in float32");
        float count = 0;
        std::memcpy(&count, found->second.bytes.data(), sizeof count);
        count -= static_cast<float>(steps);
        std::memcpy(found->second.bytes.data(), &count, sizeof count);
    }
}

/// Returns the states that a step changes.
StateValues statesOf(const LaneStep& at) {
    return downloadStates(at.executor(), at.graph(), WhichStates::Written);
}

void putBack(const LaneStep& at, const StateValues& values) {
    uploadStates(at.executor(), at.graph(), values);
}

} // namespace

SkippedUpdate::SkippedUpdate(Use use, int64_t step, int64_t batches)
    : m_use(std::move(use)), m_step(step), m_batches(std::min(batches, step)) {}

std::optional<Culprit> SkippedUpdate::culprit(float scale) const {
    const StateValues saved = statesOf(m_use(m_step));
    std::optional<Culprit> found;
    for (int64_t back = 0; back < std::min(m_batches, kMostBatches); ++back) {
        const LaneStep& at = m_use(m_step - back);
        StateValues before = saved;
        rewindRandom(at.graph(), before, back + 1);
        putBack(at, before);
        found = at.finder().find(at.executor(), at.graph(), scale);
        if (!found || !found->tensor.empty()) break;
    }
    putBack(m_use(m_step), saved);
    return found;
}

std::optional<FittingScale> SkippedUpdate::fitting(float scale, const FittingScale& guess) const {
    if (m_batches > kMostBatches) return FittingScale{};
    const LaneStep& last = m_use(m_step);
    const StateValues saved = statesOf(last);
    StateValues before = saved;
    rewindRandom(last.graph(), before, m_batches);
    auto found = fittingScale(scale, guess, [&](float tried) { return overflows(before, tried); });
    putBack(m_use(m_step), saved);
    return found;
}

std::optional<bool> SkippedUpdate::overflows(const StateValues& before, float scale) const {
    ScalerSlots scaler{};
    scaler[kScaleSlot] = static_cast<double>(scale);
    for (int64_t back = m_batches; back-- > 0;) {
        const LaneStep& at = m_use(m_step - back);
        if (back == m_batches - 1) {
            putBack(at, before);
            at.executor().upload(at.graph().state("scaler"), std::as_bytes(std::span(scaler)));
        }
        if (at.executor().run(RunMode::Captured) == RunResult::Stopped) return std::nullopt;
    }
    MetricsRow row{};
    const LaneStep& last = m_use(m_step);
    last.readMetrics(std::as_writable_bytes(std::span(row)));
    last.executor().lastStepSeconds(); // waits for the end of the step: trials must not pile up
    return row[kFoundInfMetric] != 0;
}

} // namespace halfscope
