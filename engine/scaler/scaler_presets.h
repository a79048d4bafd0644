// The loss scalers of other systems as combinations of rules, with those systems' defaults. Presets
// only fill in the fields of a lane's scaler; no other code knows them.
#pragma once

#include "engine/core/message.h"
#include "engine/scaler/grad_scaler.h"

#include <span>
#include <string_view>

namespace halfscope {

struct ScalerPreset {
    const char* name; ///< "pytorch"
    Phrase about;     ///< one sentence
    ScalerConfig config;
};

/// Returns pytorch, apex, keras, deepspeed, megatron, jmp, fairseq, static and apex-static.
std::span<const ScalerPreset> scalerPresets();
/// Returns nullptr when there is no such preset.
const ScalerPreset* findScalerPreset(std::string_view name);

inline constexpr const char* kCustomScaler = "custom";
/// Returns the preset that has exactly these values, or kCustomScaler. The value of a static scale
/// is not compared, nor is the mode of a scaler that is off.
const char* presetOf(const ScalerConfig&);
/// Takes all values of the preset; a scaler that is off stays off. A name without a preset, such as
/// kCustomScaler, changes nothing.
void applyScalerPreset(ScalerConfig&, std::string_view name);

} // namespace halfscope
