// Runs the batches of an update again: as they were, value by value, or at other scales.
#include "engine/train/repeated_update.h"

#include "engine/core/error.h"
#include "engine/train/step_runner.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

namespace halfscope {

namespace {

constexpr int64_t kMostBatches = 16; // each one takes a whole step
// Where the search for lost gradients begins, near where most losses fit, and where it ends.
constexpr float kUsualScale = 0x1p15F, kMostScale = 0x1p24F;

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

RepeatedUpdate::RepeatedUpdate(Use use, int64_t step, int64_t batches)
    : m_use(std::move(use)), m_step(step), m_batches(std::min(batches, step)) {}

std::optional<Culprit> RepeatedUpdate::culprit(float scale) const {
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

std::optional<FittingScale> RepeatedUpdate::fitting(float scale, const FittingScale& guess) const {
    return search(scale, guess, [](const MetricsRow&) {});
}

std::optional<float> RepeatedUpdate::scaleWithGradients() const {
    double norm = 0; // of the largest scale that fits so far: the search only moves up from one
    const FittingScale usual{FittingScale::Known::Largest, kUsualScale};
    const auto found = search(2 * kMostScale, usual,
                              [&norm](const MetricsRow& row) { norm = row[kGradientNormMetric]; });
    if (!found) return std::nullopt;
    return norm > 0 ? found->largest : 0;
}

/// Searches below `scale`; calls `fits` with the row of each trial that does not overflow.
std::optional<FittingScale> RepeatedUpdate::search(float scale, const FittingScale& guess,
                                                   const Fits& fits) const {
    if (m_batches > kMostBatches) return FittingScale{};
    const LaneStep& last = m_use(m_step);
    const StateValues saved = statesOf(last);
    StateValues before = saved;
    rewindRandom(last.graph(), before, m_batches);
    auto found = fittingScale(scale, guess, [&](float tried) -> std::optional<bool> {
        const std::optional<MetricsRow> row = rowAt(before, tried);
        if (!row) return std::nullopt;
        const bool overflows = (*row)[kFoundInfMetric] != 0;
        if (!overflows) fits(*row);
        return overflows;
    });
    putBack(m_use(m_step), saved);
    return found;
}

/// Returns the metrics of the update at another scale; nothing when it was stopped midway.
std::optional<MetricsRow> RepeatedUpdate::rowAt(const StateValues& before, float scale) const {
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
    return row;
}

} // namespace halfscope
