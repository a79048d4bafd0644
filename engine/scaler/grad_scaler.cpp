// The loss scaler on the host: applies its rule (scaler_rule.h, which devices compile too), lays
// the rules out as a tensor, and names the choices.
#include "engine/scaler/grad_scaler.h"

#include "engine/core/text.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {

template <class Choice>
double slotOf(Choice choice) {
    return static_cast<double>(static_cast<int>(choice));
}

} // namespace

ScalerState next(ScalerState state, bool foundInf, const ScalerRules& rules) {
    return scaler_rule::after(state, foundInf, rules);
}

ScalerSlots slotsOf(const ScalerState& state) {
    ScalerSlots slots{};
    scaler_rule::storeState(state, slots.data());
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

ScalerState stateOf(std::span<const double> slots) { return scaler_rule::stateOf(slots.data()); }

ScalerRules rulesOf(std::span<const double> slots) { return scaler_rule::rulesOf(slots.data()); }

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

const char* nameOf(OverflowAction action) {
    switch (action) {
    case OverflowAction::Skip: return "skip";
    case OverflowAction::Step: return "step";
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

Message scaleText(float scale) {
    int exponent = 0;
    if (!std::isfinite(scale) || std::frexp(scale, &exponent) != 0.5f)
        return Message::number(scale);
    const std::string power = "2^" + std::to_string(exponent - 1);
    constexpr float kSmall = 0x1p-10f; // 1.4551915e-11 says nothing that 2^-36 does not
    return Message::number(scale < kSmall ? power : numberText(scale) + " (" + power + ")");
}

} // namespace halfscope
