// The loss scaler's rule: one state in, the next one out. Holds no tensors; the update op and the
// devices call or mirror next().
#include "engine/train/grad_scaler.h"

#include <cmath>

namespace halfscope {

ScalerState next(ScalerState state, bool foundInf, const ScalerRules& rules) {
    if (rules.mode != ScalerMode::Dynamic) return state;
    if (foundInf) {
        state.scale = static_cast<float>(static_cast<double>(state.scale) * rules.backoffFactor);
        state.growthTracker = 0;
        return state;
    }
    const int64_t clean = int64_t{state.growthTracker} + 1;
    if (clean != rules.growthInterval) {
        state.growthTracker = static_cast<int32_t>(clean);
        return state;
    }
    const auto grown = static_cast<float>(static_cast<double>(state.scale) * rules.growthFactor);
    if (std::isfinite(grown)) state.scale = grown;
    // cleared even when the growth was refused: the next try comes a whole interval later
    state.growthTracker = 0;
    return state;
}

void nextSlots(std::span<const double> state, std::span<const double> rules, bool foundInf,
               std::span<double> out) {
    const ScalerState now{static_cast<float>(state[kScaleSlot]),
                          static_cast<int32_t>(state[kTrackerSlot])};
    const ScalerState after = next(now, foundInf,
                                   {rules[kGrowthFactorSlot], rules[kBackoffFactorSlot],
                                    static_cast<int64_t>(rules[kGrowthIntervalSlot]),
                                    static_cast<ScalerMode>(static_cast<int>(rules[kModeSlot]))});
    out[kScaleSlot] = static_cast<double>(after.scale);
    out[kTrackerSlot] = static_cast<double>(after.growthTracker);
}

} // namespace halfscope
