// The loss scaler as pure rules: the CPU truth that the update op on every device must equal.
// With its defaults it is torch.amp.GradScaler; the other rules are those of the other systems and
// guards that PyTorch lacks. engine/train/scaler_presets.h names the combinations.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace halfscope {

enum class ScalerMode : uint8_t { Dynamic, Static, Off };
/// When the count of clean steps makes the scale grow: PyTorch asks for equality with the interval,
/// so an interval that is set below the count stops growth until the next overflow.
enum class GrowthTest : uint8_t { Exact, AtLeast };
/// A growth beyond float32: PyTorch keeps the old scale, Keras, DeepSpeed and Megatron go to inf.
enum class GrowthClamp : uint8_t { Keep, None };
/// An overflow that finds the scale at its floor: the run goes on there, or ends (DeepSpeed).
enum class FloorAction : uint8_t { Continue, Stop };
/// What forgives earlier overflows: a growth of the scale (Megatron, DeepSpeed), or any clean step
/// (DeepSpeed's consecutive_hysteresis, Apex's kernel).
enum class HysteresisRefill : uint8_t { AtGrowth, AtCleanStep };

/// Defaults: torch.amp.GradScaler.
struct ScalerRules {
    double growthFactor = 2.0;
    double backoffFactor = 0.5;
    int64_t growthInterval = 2000;
    ScalerMode mode = ScalerMode::Dynamic;
    GrowthTest growthTest = GrowthTest::Exact;
    int64_t growthDelay = 0; ///< clean steps after the start or an overflow that do not count
    GrowthClamp clamp = GrowthClamp::Keep;
    double floor = 0; ///< a backoff goes no lower; 0: no floor
    FloorAction atFloor = FloorAction::Continue;
    double ceiling = 0;     ///< a growth goes no higher; 0: no ceiling
    int64_t hysteresis = 1; ///< the overflow, counted from the last refill, that backs off
    HysteresisRefill refill = HysteresisRefill::AtGrowth;
    double tolerance = 0; ///< share of steps since the last rescale that must have overflowed
    bool operator==(const ScalerRules&) const = default;
};

/// What the scaler remembers. The scale is a float32 value; all counts start at 0.
struct ScalerState {
    float scale = 65536.0f;
    int32_t growthTracker = 0; ///< clean steps that count towards the next growth
    int32_t delayed = 0;       ///< clean steps that the growth delay has taken since it started
    int32_t absorbed = 0;      ///< overflows since the last refill, at most the hysteresis
    int32_t stepsSinceRescale = 0;
    int32_t overflowsSinceRescale = 0; ///< as in fairseq, a growth does not clear it
    bool stop = false; ///< the last step ended the run: overflow at the floor, see FloorAction
    bool operator==(const ScalerState&) const = default;
};

/// A lane's scaler. The last two act outside next(): in the step and in GradScaler.
struct ScalerConfig {
    double initScale = 65536;
    ScalerRules rules;
    /// Check the gradients after the multiplication by the inverse scale too: a scale below 2^-128,
    /// whose inverse is inf, then never writes nan into weights.
    bool checkUnscaled = false;
    bool holdSchedule = false; ///< a skipped step does not advance the learning rate schedule
    bool operator==(const ScalerConfig&) const = default;
};

/// The state after a step. By default an overflow multiplies the scale by backoffFactor and clears
/// the tracker; the growthInterval-th clean step in a row multiplies it by growthFactor, unless
/// that is not finite (then it stays), and clears the tracker. Products are taken in double and
/// rounded to float32. Static and Off never change. Source: torch._amp_update_scale_; the guards
/// follow DeepSpeed's, Megatron's, Apex's and fairseq's scalers. A backoff never raises the scale
/// and a growth never lowers it, however floor and ceiling were set in between.
ScalerState next(ScalerState, bool foundInf, const ScalerRules&);

/// The layout of the scaler's state and rules as F64 tensors, shared by graph, trainer and devices.
/// A state of zeros but for the scale is a fresh one.
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
using ScalerSlots = std::array<double, kScalerSlots>;
using RuleSlots = std::array<double, kRuleSlots>;
ScalerSlots slotsOf(const ScalerState&);
RuleSlots slotsOf(const ScalerRules&); ///< choices stand as their number
ScalerState stateOf(std::span<const double> values);
ScalerRules rulesOf(std::span<const double> values);
/// next() on that layout.
void nextSlots(std::span<const double> state, std::span<const double> rules, bool foundInf,
               std::span<double> out);

const char* nameOf(GrowthTest);       ///< "exact", "at-least"
const char* nameOf(GrowthClamp);      ///< "keep", "none"
const char* nameOf(FloorAction);      ///< "continue", "stop"
const char* nameOf(HysteresisRefill); ///< "growth", "clean-step"

} // namespace halfscope
