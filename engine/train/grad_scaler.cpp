// The loss scaler's rule: one state in, the next one out. Holds no tensors; the update op and the
// devices call or mirror next().
#include "engine/train/grad_scaler.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halfscope {

namespace {

/// Counts stay where they are at the largest int32, which no interval needs.
int32_t oneMore(int32_t count) {
    return count == std::numeric_limits<int32_t>::max() ? count : count + 1;
}

float product(float scale, double factor) {
    return static_cast<float>(static_cast<double>(scale) * factor);
}

/// `state` has counted the overflow already.
bool backsOff(const ScalerState& state, const ScalerRules& rules) {
    if (state.absorbed < rules.hysteresis) return false;
    const double share = static_cast<double>(state.overflowsSinceRescale) /
                         static_cast<double>(state.stepsSinceRescale);
    return share >= rules.tolerance;
}

ScalerState afterOverflow(ScalerState state, const ScalerRules& rules) {
    state.growthTracker = 0;
    state.delayed = 0;
    state.absorbed = static_cast<int32_t>(
        std::min<int64_t>(oneMore(state.absorbed), std::max<int64_t>(rules.hysteresis, 1)));
    state.overflowsSinceRescale = oneMore(state.overflowsSinceRescale);
    if (!backsOff(state, rules)) return state;
    const auto floor = static_cast<float>(rules.floor);
    if (rules.atFloor == FloorAction::Stop && state.scale <= floor) {
        state.stop = true;
        return state;
    }
    const float lowered = product(state.scale, rules.backoffFactor);
    // With a backoff factor below 0, which PyTorch takes, there is nothing to hold.
    state.scale = rules.floor > 0 ? std::max(lowered, std::min(floor, state.scale)) : lowered;
    state.stepsSinceRescale = 0;
    state.overflowsSinceRescale = 0;
    return state;
}

float grown(float scale, const ScalerRules& rules) {
    const float raised = product(scale, rules.growthFactor);
    if (rules.ceiling > 0) {
        const float capped = std::min(raised, static_cast<float>(rules.ceiling));
        return std::max(capped, scale);
    }
    const bool keeps = rules.clamp == GrowthClamp::Keep && !std::isfinite(raised);
    return keeps ? scale : raised;
}

ScalerState afterCleanStep(ScalerState state, const ScalerRules& rules) {
    if (rules.refill == HysteresisRefill::AtCleanStep) state.absorbed = 0;
    if (state.delayed < rules.growthDelay) {
        state.delayed = oneMore(state.delayed);
        return state;
    }
    const int64_t clean = int64_t{state.growthTracker} + 1;
    const bool grows = rules.growthTest == GrowthTest::Exact ? clean == rules.growthInterval
                                                             : clean >= rules.growthInterval;
    if (!grows) {
        state.growthTracker = oneMore(state.growthTracker);
        return state;
    }
    state.scale = grown(state.scale, rules);
    // Cleared even when the growth was refused: the next try comes a whole interval later.
    state.growthTracker = 0;
    state.absorbed = 0;
    state.stepsSinceRescale = 0;
    return state;
}

template <class Choice>
Choice choiceOf(double slot) {
    return static_cast<Choice>(static_cast<int>(slot));
}
template <class Choice>
double slotOf(Choice choice) {
    return static_cast<double>(static_cast<int>(choice));
}

} // namespace

ScalerState next(ScalerState state, bool foundInf, const ScalerRules& rules) {
    if (rules.mode != ScalerMode::Dynamic) return state;
    state.stop = false;
    state.stepsSinceRescale = oneMore(state.stepsSinceRescale);
    return foundInf ? afterOverflow(state, rules) : afterCleanStep(state, rules);
}

ScalerSlots slotsOf(const ScalerState& state) {
    ScalerSlots slots{};
    slots[kScaleSlot] = static_cast<double>(state.scale);
    slots[kTrackerSlot] = state.growthTracker;
    slots[kDelayedSlot] = state.delayed;
    slots[kAbsorbedSlot] = state.absorbed;
    slots[kStepsSlot] = state.stepsSinceRescale;
    slots[kOverflowsSlot] = state.overflowsSinceRescale;
    slots[kStopSlot] = state.stop ? 1 : 0;
    return slots;
}

RuleSlots slotsOf(const ScalerRules& rules) {
    RuleSlots slots{};
    slots[kGrowthFactorSlot] = rules.growthFactor;
    slots[kBackoffFactorSlot] = rules.backoffFactor;
    slots[kGrowthIntervalSlot] = static_cast<double>(rules.growthInterval);
    slots[kModeSlot] = slotOf(rules.mode);
    slots[kGrowthTestSlot] = slotOf(rules.growthTest);
    slots[kGrowthDelaySlot] = static_cast<double>(rules.growthDelay);
    slots[kClampSlot] = slotOf(rules.clamp);
    slots[kFloorSlot] = rules.floor;
    slots[kAtFloorSlot] = slotOf(rules.atFloor);
    slots[kCeilingSlot] = rules.ceiling;
    slots[kHysteresisSlot] = static_cast<double>(rules.hysteresis);
    slots[kRefillSlot] = slotOf(rules.refill);
    slots[kToleranceSlot] = rules.tolerance;
    return slots;
}

ScalerState stateOf(std::span<const double> slots) {
    ScalerState state;
    state.scale = static_cast<float>(slots[kScaleSlot]);
    state.growthTracker = static_cast<int32_t>(slots[kTrackerSlot]);
    state.delayed = static_cast<int32_t>(slots[kDelayedSlot]);
    state.absorbed = static_cast<int32_t>(slots[kAbsorbedSlot]);
    state.stepsSinceRescale = static_cast<int32_t>(slots[kStepsSlot]);
    state.overflowsSinceRescale = static_cast<int32_t>(slots[kOverflowsSlot]);
    state.stop = slots[kStopSlot] != 0;
    return state;
}

ScalerRules rulesOf(std::span<const double> slots) {
    ScalerRules rules;
    rules.growthFactor = slots[kGrowthFactorSlot];
    rules.backoffFactor = slots[kBackoffFactorSlot];
    rules.growthInterval = static_cast<int64_t>(slots[kGrowthIntervalSlot]);
    rules.mode = choiceOf<ScalerMode>(slots[kModeSlot]);
    rules.growthTest = choiceOf<GrowthTest>(slots[kGrowthTestSlot]);
    rules.growthDelay = static_cast<int64_t>(slots[kGrowthDelaySlot]);
    rules.clamp = choiceOf<GrowthClamp>(slots[kClampSlot]);
    rules.floor = slots[kFloorSlot];
    rules.atFloor = choiceOf<FloorAction>(slots[kAtFloorSlot]);
    rules.ceiling = slots[kCeilingSlot];
    rules.hysteresis = static_cast<int64_t>(slots[kHysteresisSlot]);
    rules.refill = choiceOf<HysteresisRefill>(slots[kRefillSlot]);
    rules.tolerance = slots[kToleranceSlot];
    return rules;
}

void nextSlots(std::span<const double> state, std::span<const double> rules, bool foundInf,
               std::span<double> out) {
    const ScalerSlots after = slotsOf(next(stateOf(state), foundInf, rulesOf(rules)));
    std::copy(after.begin(), after.end(), out.begin());
}

const char* nameOf(GrowthTest test) {
    switch (test) {
    case GrowthTest::Exact: return "exact";
    case GrowthTest::AtLeast: return "at-least";
    }
    return "";
}

const char* nameOf(GrowthClamp clamp) {
    switch (clamp) {
    case GrowthClamp::Keep: return "keep";
    case GrowthClamp::None: return "none";
    }
    return "";
}

const char* nameOf(FloorAction action) {
    switch (action) {
    case FloorAction::Continue: return "continue";
    case FloorAction::Stop: return "stop";
    }
    return "";
}

const char* nameOf(HysteresisRefill refill) {
    switch (refill) {
    case HysteresisRefill::AtGrowth: return "growth";
    case HysteresisRefill::AtCleanStep: return "clean-step";
    }
    return "";
}

} // namespace halfscope
