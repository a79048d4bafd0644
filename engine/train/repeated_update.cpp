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

// Of a skipped update, which may be one of many; that gradients are lost is looked into once.
constexpr int64_t kMostBatches = 16;
// Where the search for lost gradients begins, near where most losses fit, and where it ends.
constexpr float kUsualScale = 0x1p15F, kMostScale = 0x1p24F;

float countIn(const std::string& name, const TypedBytes& state) {
    require(state.dtype == DType::F32, name + " counts in float32");
    float count = 0;
    std::memcpy(&count, state.bytes.data(), sizeof count);
    return count;
}

void setCount(TypedBytes& state, float count) {
    std::memcpy(state.bytes.data(), &count, sizeof count);
}

/// Turns back the counters of random layers, such as dropout, so that a step draws the same numbers
/// again.
void rewindRandom(const Graph& graph, StateValues& values, int64_t steps) {
    std::set<NodeId> counters;
    for (NodeId id = 0; id < graph.size(); ++id)
        if (graph[id].op == Op::Random) counters.insert(graph[id].in[0]);
    for (const StateInfo& state : graph.states()) {
        const auto found = values.find(state.name);
        if (!counters.contains(state.node) || found == values.end()) continue;
        const float count = countIn(state.name, found->second);
        setCount(found->second, count - static_cast<float>(steps));
    }
}

/// Turns back by one update the counters of optimizers that wait for their turn. They go round.
void rewindTurns(const std::vector<OptimizerPart>& optimizers, StateValues& values) {
    for (const OptimizerPart& optimizer : optimizers) {
        if (optimizer.every <= 1) continue;
        TypedBytes& state = values.at(optimizer.passed());
        const float count = countIn(optimizer.passed(), state);
        setCount(state, count > 0 ? count - 1 : static_cast<float>(optimizer.every - 1));
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

RepeatedUpdate::RepeatedUpdate(Use use, int64_t step, int64_t batches,
                               std::vector<OptimizerPart> optimizers)
    : m_use(std::move(use)), m_step(step), m_batches(std::min(batches, step)),
      m_optimizers(std::move(optimizers)) {}

/// Returns the states that an update started from, apart from the weights.
StateValues RepeatedUpdate::before(const LaneStep& at, const StateValues& after) const {
    StateValues values = after;
    rewindRandom(at.graph(), values, m_batches);
    rewindTurns(m_optimizers, values);
    return values;
}

std::optional<Culprit> RepeatedUpdate::culprit(float scale, const TurnOf& turnOf) const {
    const LaneStep& last = m_use(m_step);
    // a run that shows nothing is not worth moving the states there and back
    if (!last.executor().whyNotShown().empty()) return Culprit();
    const StateValues saved = statesOf(last);
    std::optional<Culprit> found;
    for (int64_t back = 0; back < std::min(m_batches, kMostBatches); ++back) {
        const LaneStep& at = m_use(m_step - back);
        StateValues before = saved;
        rewindRandom(at.graph(), before, back + 1);
        putBack(at, before);
        found = at.finder().find(at.executor(), at.graph(), scale, turnOf);
        if (!found || !found->tensor.empty()) break;
    }
    putBack(m_use(m_step), saved);
    return found;
}

std::optional<FittingScale> RepeatedUpdate::fitting(const Skip& skip,
                                                    const FittingScale& guess) const {
    if (m_batches > kMostBatches) return FittingScale{};
    const bool firstTook = skip.flags & kFirstStepped, secondTook = skip.flags & kSecondStepped;
    const double other = firstTook ? 1 : secondTook ? 2 : 0; // see kFoundInfMetric
    auto found = search(skip.scale, guess, [other](const MetricsRow& row) {
        return row[kFoundInfMetric] != 0 && row[kFoundInfMetric] != other;
    });
    if (!found || (!secondTook && (!firstTook || skip.firstSatOut))) return found;
    // with the weights of before, a scale may have fitted all the same
    if (found->known == FittingScale::Known::None) return FittingScale{};
    found->othersChanged = found->known == FittingScale::Known::Largest;
    return found;
}

std::optional<float> RepeatedUpdate::scaleWithGradients() const {
    double norm = 0; // of the largest scale that fits so far: the search only moves up from one
    const FittingScale usual{FittingScale::Known::Largest, kUsualScale};
    const auto found = search(2 * kMostScale, usual, [&norm](const MetricsRow& row) {
        if (row[kFoundInfMetric] != 0) return true;
        norm = row[kGradientNormMetric];
        return false;
    });
    if (!found) return std::nullopt;
    return norm > 0 ? found->largest : 0;
}

/// Searches below `scale`; asks `overflows` about the row of each trial.
std::optional<FittingScale> RepeatedUpdate::search(float scale, const FittingScale& guess,
                                                   const Overflows& overflows) const {
    const LaneStep& last = m_use(m_step);
    const StateValues saved = statesOf(last);
    const StateValues start = before(last, saved);
    auto found = fittingScale(scale, guess, [&](float tried) -> std::optional<bool> {
        const std::optional<MetricsRow> row = rowAt(start, tried);
        return row ? std::optional(overflows(*row)) : std::nullopt;
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
    const LaneStep& last = m_use(m_step);
    const MetricsRow row = last.metrics();
    last.executor().lastStepSeconds(); // waits for the end of the step: trials must not pile up
    return row;
}

} // namespace halfscope
