// The loss scaler as pure rules: the CPU reference that the update op on every device must equal.
// With its defaults it is torch.amp.GradScaler; the other rules come from other systems, or are
// guards that PyTorch lacks. engine/scaler/scaler_presets.h names the combinations.
#pragma once

#include "engine/core/message.h"
#include "engine/scaler/scaler_rule.h"

#include <array>
#include <span>
#include <string>

namespace halfscope {

/// What happens to a step that overflows: the optimizer skips it, or takes it with the inf or nan
/// that the gradients hold, as Apex does at a static scale.
enum class OverflowAction : uint8_t { Skip, Step };

/// A lane's scaler. The last three fields act outside next(): in the step and in GradScaler.
struct ScalerConfig {
    double initScale = 65536;
    ScalerRules rules;
    OverflowAction onOverflow = OverflowAction::Skip;
    /// True to check the gradients again after the multiplication by the inverse scale: a scale
    /// below 2^-128, whose inverse is inf, then never writes nan into weights.
    bool checkUnscaled = false;
    bool holdSchedule = false; ///< a skipped step does not advance the learning rate schedule
    bool operator==(const ScalerConfig&) const = default;
};

/// Returns the state after a step. By default an overflow multiplies the scale by backoffFactor and
/// clears the tracker; the growthInterval-th clean step in a row multiplies it by growthFactor,
/// unless that is not finite (then it stays), and clears the tracker. Products are taken in double
/// and rounded to float32. Static and Off never change. Source: torch._amp_update_scale_; the
/// guards follow DeepSpeed's, Megatron's, Apex's and fairseq's scalers. A backoff never raises the
/// scale and a growth never lowers it, however floor and ceiling were set in between.
ScalerState next(ScalerState, bool foundInf, const ScalerRules&);

using ScalerSlots = std::array<double, kScalerSlots>;
using RuleSlots = std::array<double, kRuleSlots>;
ScalerSlots slotsOf(const ScalerState&);
RuleSlots slotsOf(const ScalerRules&); ///< choices are stored as their number
ScalerState stateOf(std::span<const double> values);
ScalerRules rulesOf(std::span<const double> values);
/// Applies next() to that layout.
void nextSlots(std::span<const double> state, std::span<const double> rules, bool foundInf,
               std::span<double> out);

const char* nameOf(GrowthTest);       ///< "exact", "at-least"
const char* nameOf(GrowthClamp);      ///< "keep", "none"
const char* nameOf(FloorAction);      ///< "continue", "stop"
const char* nameOf(OverflowAction);   ///< "skip", "step"
const char* nameOf(HysteresisRefill); ///< "growth", "clean-step"

/// Returns a loss scale in words: "65536 (2^16)", "1000", "2^-36".
Message scaleText(float scale);

} // namespace halfscope
