// The loss scaler's rule as code that host and device compile alike: its settings, its state, their
// layout in tensors, and the step from one state to the next. It needs only integer names from the
// standard library, so that device code can begin with it; grad_scaler.h is its interface on the
// host.
#pragma once

#ifndef __CUDACC_RTC__
#include <cstdint>
#endif
#ifdef __CUDACC__
#define HALFSCOPE_HD __host__ __device__
#else
#define HALFSCOPE_HD
#endif

namespace halfscope {

#ifdef __CUDACC_RTC__
using uint8_t = unsigned char;
using int32_t = int;
using int64_t = long long;
#endif

enum class ScalerMode : uint8_t { Dynamic, Static, Off };
/// The test that makes the scale grow after a number of clean steps. PyTorch asks for equality with
/// the interval, so an interval that is set below the count stops growth until the next overflow.
enum class GrowthTest : uint8_t { Exact, AtLeast };
/// What a growth beyond float32 does: PyTorch keeps the old scale; Keras, DeepSpeed and Megatron go
/// to inf.
enum class GrowthClamp : uint8_t { Keep, None };
/// What an overflow does when the scale is at its floor: the run goes on there, or ends
/// (DeepSpeed).
enum class FloorAction : uint8_t { Continue, Stop };
/// What forgives earlier overflows: a growth of the scale (Megatron, DeepSpeed), or any clean step
/// (DeepSpeed's consecutive_hysteresis, Apex's kernel).
enum class HysteresisRefill : uint8_t { AtGrowth, AtCleanStep };

/// The rules; the defaults are those of torch.amp.GradScaler.
struct ScalerRules {
    double growthFactor = 2.0;
    double backoffFactor = 0.5;
    int64_t growthInterval = 2000;
    ScalerMode mode = ScalerMode::Dynamic;
    GrowthTest growthTest = GrowthTest::Exact;
    int64_t growthDelay = 0; ///< clean steps after the start or an overflow that do not count
    GrowthClamp clamp = GrowthClamp::Keep;
    double floor = 0; ///< a backoff goes no lower; 0 when there is no floor
    FloorAction atFloor = FloorAction::Continue;
    double ceiling = 0;     ///< a growth goes no higher; 0 when there is no ceiling
    int64_t hysteresis = 1; ///< which overflow since the last refill backs off
    HysteresisRefill refill = HysteresisRefill::AtGrowth;
    double tolerance = 0; ///< share of steps since the last rescale that must have overflowed
    bool operator==(const ScalerRules&) const = default;
};

/// The scaler's state. The scale is a float32 value; all counts start at 0.
struct ScalerState {
    float scale = 65536.0f;
    int32_t growthTracker = 0; ///< clean steps that count towards the next growth
    int32_t delayed = 0;       ///< clean steps that the growth delay has skipped since it started
    int32_t absorbed = 0;      ///< overflows since the last refill, at most the hysteresis
    int32_t stepsSinceRescale = 0;
    int32_t overflowsSinceRescale = 0; ///< as in fairseq, not cleared by a growth
    bool stop = false; ///< the last step ended the run: overflow at the floor, see FloorAction
    bool operator==(const ScalerState&) const = default;
};

/// The layout of the scaler's state and rules as F64 tensors, shared by graph, trainer and devices.
/// A state of zeros apart from the scale is a fresh one. Choices are stored as their number.
enum ScalerSlot : int {
    kScaleSlot,
    kTrackerSlot,
    kDelayedSlot,
    kAbsorbedSlot,
    kStepsSlot,
    kOverflowsSlot,
    kStopSlot,
    kScalerSlots
};
enum RuleSlot : int {
    kGrowthFactorSlot,
    kBackoffFactorSlot,
    kGrowthIntervalSlot,
    kModeSlot,
    kGrowthTestSlot,
    kGrowthDelaySlot,
    kClampSlot,
    kFloorSlot,
    kAtFloorSlot,
    kCeilingSlot,
    kHysteresisSlot,
    kRefillSlot,
    kToleranceSlot,
    kRuleSlots
};

namespace scaler_rule {

/// Adds one. Counts stop at the largest int32, which no interval needs.
HALFSCOPE_HD inline int32_t oneMore(int32_t count) {
    return count == 2147483647 ? count : count + 1;
}

template <class T>
HALFSCOPE_HD T larger(T a, T b) {
    return a < b ? b : a;
}
template <class T>
HALFSCOPE_HD T smaller(T a, T b) {
    return b < a ? b : a;
}

HALFSCOPE_HD inline bool isFinite(float x) { return x - x == 0.0f; }

HALFSCOPE_HD inline float product(float scale, double factor) {
    return static_cast<float>(static_cast<double>(scale) * factor);
}

/// Returns whether the overflow, already counted in `state`, lowers the scale.
HALFSCOPE_HD inline bool backsOff(const ScalerState& state, const ScalerRules& rules) {
    if (state.absorbed < rules.hysteresis) return false;
    const double share = static_cast<double>(state.overflowsSinceRescale) /
                         static_cast<double>(state.stepsSinceRescale);
    return share >= rules.tolerance;
}

HALFSCOPE_HD inline ScalerState afterOverflow(ScalerState state, const ScalerRules& rules) {
    state.growthTracker = 0;
    state.delayed = 0;
    state.absorbed = static_cast<int32_t>(
        smaller<int64_t>(oneMore(state.absorbed), larger<int64_t>(rules.hysteresis, 1)));
    state.overflowsSinceRescale = oneMore(state.overflowsSinceRescale);
    if (!backsOff(state, rules)) return state;
    const auto floor = static_cast<float>(rules.floor);
    if (rules.atFloor == FloorAction::Stop && state.scale <= floor) {
        state.stop = true;
        return state;
    }
    const float lowered = product(state.scale, rules.backoffFactor);
    // Without a floor nothing is held: PyTorch accepts a backoff factor below 0 too.
    state.scale = rules.floor > 0 ? larger(lowered, smaller(floor, state.scale)) : lowered;
    state.stepsSinceRescale = 0;
    state.overflowsSinceRescale = 0;
    return state;
}

HALFSCOPE_HD inline float grown(float scale, const ScalerRules& rules) {
    const float raised = product(scale, rules.growthFactor);
    if (rules.ceiling > 0) {
        const float capped = smaller(raised, static_cast<float>(rules.ceiling));
        return larger(capped, scale);
    }
    const bool keeps = rules.clamp == GrowthClamp::Keep && !isFinite(raised);
    return keeps ? scale : raised;
}

HALFSCOPE_HD inline ScalerState afterCleanStep(ScalerState state, const ScalerRules& rules) {
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

/// Returns the state after a step: next() of grad_scaler.h.
HALFSCOPE_HD inline ScalerState after(ScalerState state, bool foundInf, const ScalerRules& rules) {
    if (rules.mode != ScalerMode::Dynamic) return state;
    state.stop = false;
    state.stepsSinceRescale = oneMore(state.stepsSinceRescale);
    return foundInf ? afterOverflow(state, rules) : afterCleanStep(state, rules);
}

template <class Choice>
HALFSCOPE_HD Choice choiceOf(double slot) {
    return static_cast<Choice>(static_cast<int>(slot));
}

HALFSCOPE_HD inline ScalerState stateOf(const double* values) {
    ScalerState state;
    state.scale = static_cast<float>(values[kScaleSlot]);
    state.growthTracker = static_cast<int32_t>(values[kTrackerSlot]);
    state.delayed = static_cast<int32_t>(values[kDelayedSlot]);
    state.absorbed = static_cast<int32_t>(values[kAbsorbedSlot]);
    state.stepsSinceRescale = static_cast<int32_t>(values[kStepsSlot]);
    state.overflowsSinceRescale = static_cast<int32_t>(values[kOverflowsSlot]);
    state.stop = values[kStopSlot] != 0;
    return state;
}

HALFSCOPE_HD inline void storeState(const ScalerState& state, double* values) {
    values[kScaleSlot] = static_cast<double>(state.scale);
    values[kTrackerSlot] = state.growthTracker;
    values[kDelayedSlot] = state.delayed;
    values[kAbsorbedSlot] = state.absorbed;
    values[kStepsSlot] = state.stepsSinceRescale;
    values[kOverflowsSlot] = state.overflowsSinceRescale;
    values[kStopSlot] = state.stop ? 1 : 0;
}

HALFSCOPE_HD inline ScalerRules rulesOf(const double* values) {
    ScalerRules rules;
    rules.growthFactor = values[kGrowthFactorSlot];
    rules.backoffFactor = values[kBackoffFactorSlot];
    rules.growthInterval = static_cast<int64_t>(values[kGrowthIntervalSlot]);
    rules.mode = choiceOf<ScalerMode>(values[kModeSlot]);
    rules.growthTest = choiceOf<GrowthTest>(values[kGrowthTestSlot]);
    rules.growthDelay = static_cast<int64_t>(values[kGrowthDelaySlot]);
    rules.clamp = choiceOf<GrowthClamp>(values[kClampSlot]);
    rules.floor = values[kFloorSlot];
    rules.atFloor = choiceOf<FloorAction>(values[kAtFloorSlot]);
    rules.ceiling = values[kCeilingSlot];
    rules.hysteresis = static_cast<int64_t>(values[kHysteresisSlot]);
    rules.refill = choiceOf<HysteresisRefill>(values[kRefillSlot]);
    rules.tolerance = values[kToleranceSlot];
    return rules;
}

} // namespace scaler_rule
} // namespace halfscope
