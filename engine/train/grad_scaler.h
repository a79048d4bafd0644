// The loss scaler as pure rules: the CPU truth that the update op on every device must equal.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace halfscope {

enum class ScalerMode : uint8_t { Dynamic, Static, Off };

/// Rules of torch.amp.GradScaler with its defaults.
struct ScalerRules {
    double growthFactor = 2.0;
    double backoffFactor = 0.5;
    int64_t growthInterval = 2000;
    ScalerMode mode = ScalerMode::Dynamic;
};

/// What the scaler remembers. The scale is a float32 value.
struct ScalerState {
    float scale = 65536.0f;
    int32_t growthTracker = 0; ///< clean steps since the last growth or backoff
    bool operator==(const ScalerState&) const = default;
};

/// The state after a step. An overflow multiplies the scale by backoffFactor and clears the
/// tracker; the growthInterval-th clean step in a row multiplies it by growthFactor, unless that is
/// not finite (then it stays), and clears the tracker. The product is taken in double and rounded
/// to float32. Static and Off never change. Source: torch._amp_update_scale_ (research: equality
/// with the interval, not >=, so an interval below the tracker stops growth until the next
/// overflow).
ScalerState next(ScalerState, bool foundInf, const ScalerRules&);

/// The layout of the scaler's state and rules as F64 tensors, shared by graph, trainer and devices.
enum ScalerSlot : int { kScaleSlot, kTrackerSlot, kScalerSlots };
enum RuleSlot : int {
    kGrowthFactorSlot,
    kBackoffFactorSlot,
    kGrowthIntervalSlot,
    kModeSlot,
    kRuleSlots
};
/// next() on that layout; the modes stand as their number.
void nextSlots(std::span<const double> state, std::span<const double> rules, bool foundInf,
               std::span<double> out);

} // namespace halfscope
