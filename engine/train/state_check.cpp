// The limits are those of the rules by which a step writes the states, see scaler_rule.h and
// schedule_nodes.h, and of the fields that settings may have.
#include "engine/train/state_check.h"

#include "engine/core/error.h"
#include "engine/data/pictures.h"
#include "engine/data/shards.h"
#include "engine/scaler/grad_scaler.h"
#include "engine/train/data_record.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

namespace halfscope {

namespace {

constexpr double kMostCounted = 1 << 24; ///< a counter in float32 stays there
constexpr double kFloatMax = std::numeric_limits<float>::max();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// What a value may be.
struct Allowed {
    double least = 0, most = 0;
    bool whole = false;
};

[[noreturn]] void refuse(const std::string& name, size_t index, double value,
                         const Message& allowed) {
    throw InputError(phrase("Training", "%1, value %2: %3 is not allowed: %4"), name, index + 1,
                     value, allowed);
}

void check(const std::string& name, size_t index, double value, const Allowed& allowed) {
    const bool inside = value >= allowed.least && value <= allowed.most; // nan is not
    if (inside && (!allowed.whole || value == std::floor(value))) return;
    if (allowed.whole)
        refuse(name, index, value,
               {phrase("Training", "a whole number from %1 to %2"),
                static_cast<int64_t>(allowed.least), static_cast<int64_t>(allowed.most)});
    refuse(name, index, value,
           {phrase("Training", "a number from %1 to %2"), allowed.least, allowed.most});
}

/// Returns the values of a state; empty when they are not as many as the step has: then they cannot
/// be restored anyway.
std::vector<double> valuesOf(const TypedBytes& stored, const Shape& shape) {
    const auto count = static_cast<size_t>(shape.elements());
    if (stored.shape != shape || stored.bytes.size() != count * bytesOf(stored.dtype)) return {};
    const std::vector<std::byte> bytes = storedAs(DType::F64, stored);
    std::vector<double> values(count);
    if (count > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

void checkScaler(const std::string& name, std::span<const double> values, int64_t step) {
    const Allowed count{0, static_cast<double>(step), true};
    for (size_t slot = 0; slot < values.size(); ++slot) {
        const bool isScale = slot == kScaleSlot;
        // inf where a growth beyond float32 is taken, 0 after many overflows
        check(name, slot, values[slot],
              isScale             ? Allowed{0, kInf}
              : slot == kStopSlot ? Allowed{0, 1, true}
                                  : count);
        if (isScale && std::isfinite(values[slot])) check(name, slot, values[slot], {0, kFloatMax});
    }
}

void checkRules(const std::string& name, std::span<const double> values) {
    const auto choice = [](auto last) { return Allowed{0, static_cast<double>(last), true}; };
    constexpr double kMostSteps = 1e9;
    const auto allowed = [&](size_t slot) -> Allowed {
        switch (slot) {
        case kGrowthFactorSlot: return {1, kFloatMax};
        case kBackoffFactorSlot:
        case kToleranceSlot: return {0, 1};
        case kGrowthIntervalSlot:
        case kGrowthDelaySlot:
        case kHysteresisSlot: return {0, kMostSteps, true};
        case kModeSlot: return choice(ScalerMode::Off);
        case kGrowthTestSlot: return choice(GrowthTest::AtLeast);
        case kClampSlot: return choice(GrowthClamp::None);
        case kAtFloorSlot: return choice(FloorAction::Stop);
        case kRefillSlot: return choice(HysteresisRefill::AtCleanStep);
        default: return {0, kFloatMax}; // floor and ceiling
        }
    };
    for (size_t slot = 0; slot < values.size(); ++slot)
        check(name, slot, values[slot], allowed(slot));
}

/// Returns whether every step has moved the schedule on, as far as it can be counted. A cosine goes
/// round, and what an edit has changed is not known here.
bool movesAlways(const RunConfig& config) {
    const auto holds = [](const LaneConfig& lane) { return lane.scaler.holdSchedule; };
    return config.edits.empty() && config.schedule.kind != ScheduleKind::Cosine &&
           config.gradients.accumulate <= 1 &&
           std::none_of(config.lanes.begin(), config.lanes.end(), holds) &&
           std::none_of(config.forks.begin(), config.forks.end(),
                        [&](const LaneFork& fork) { return holds(fork.lane); });
}

void checkTick(const std::string& name, std::span<const double> values, int64_t step,
               const RunConfig& config) {
    const double most = std::min(static_cast<double>(step), kMostCounted);
    for (size_t i = 0; i < values.size(); ++i) {
        check(name, i, values[i], {0, most, true});
        if (movesAlways(config) && values[i] != most)
            refuse(name, i, values[i],
                   {phrase("Training", "%1 after step %2"), static_cast<int64_t>(most), step});
    }
}

} // namespace

void checkState(const LaneState& state, const Graph& step, const RunConfig& config) {
    for (const StateInfo& each : step.states()) {
        const auto found = state.states.find(each.name);
        if (found == state.states.end())
            throw InputError(phrase("Training", "%1 is missing"), each.name);
        const bool isRate = each.name.starts_with("schedule.");
        const bool plain = each.role != StateRole::Scaler && each.role != StateRole::Counter;
        if (plain && !isRate && each.name != "scaler.rules") continue;
        const std::vector<double> values = valuesOf(found->second, step[each.node].shape);
        if (each.role == StateRole::Scaler) {
            checkScaler(each.name, values, state.step);
        } else if (each.name == "scaler.rules") {
            checkRules(each.name, values);
        } else if (each.name == "schedule.tick") {
            checkTick(each.name, values, state.step, config);
        } else {
            for (size_t i = 0; i < values.size(); ++i)
                check(each.name, i, values[i],
                      isRate ? Allowed{0, kFloatMax} : Allowed{0, kMostCounted, true});
        }
    }
}

void checkOutputs(const LaneState& state, int64_t values) {
    const int64_t has = state.prediction ? state.prediction->shape.elements() : 0;
    if (has != values)
        throw InputError(phrase("Training", "the outputs of its last step are %1 numbers; %2 are "
                                            "expected"),
                         has, values);
}

void checkSamples(const EpochPlan& now, const EpochPlan& then, const Dataset& data) {
    if (now.samples == then.samples && now.batch == then.batch) return;
    const Message refusal(phrase("Training",
                                 "the data set has %1 samples in batches of %2 now; when the "
                                 "checkpoint was written it had %3 in batches of %4, and a run "
                                 "goes on only with as many, in the same order"),
                          now.samples, now.batch, then.samples, then.batch);
    const std::vector<Message> notes = data.notes();
    if (std::ranges::any_of(notes, tellsJudgedShards))
        throw InputError(phrase("Training", "%1. Shards called val or test are judged, but were "
                                            "trained on in earlier versions: to go on with a run "
                                            "of these, rename them"),
                         refusal);
    if (std::ranges::none_of(notes, tellsNested)) throw InputError(refusal);
    throw InputError(phrase("Training", "%1. Pictures in folders below that of their class count "
                                        "as samples, but did not in earlier versions: to go on "
                                        "with a run of these, move such pictures elsewhere"),
                     refusal);
}

void checkClasses(std::span<const std::string> now, std::span<const std::string> then,
                  const TaskConfig& task) {
    if (const Message other = otherClasses(then, now, task); !other.empty())
        throw InputError(phrase("Training", "%1, and a run goes on only with the same classes, in "
                                            "the same order"),
                         other);
}

} // namespace halfscope
