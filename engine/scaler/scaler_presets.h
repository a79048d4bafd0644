// The loss scalers of other systems as combinations of rules, with those systems' defaults. They
// fill the fields of a lane's scaler; nothing else knows them.
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

/// pytorch, apex, keras, deepspeed, megatron, jmp, fairseq, static, apex-static.
std::span<const ScalerPreset> scalerPresets();
/// nullptr when there is none.
const ScalerPreset* findScalerPreset(std::string_view name);

inline constexpr const char* kCustomScaler = "custom";
/// The preset whose every value this is, or kCustomScaler. A static scale's value is free, and a
/// scaler that is off has no mode to compare.
const char* presetOf(const ScalerConfig&);
/// Takes all values of the preset; a scaler that is off stays off. A name without a preset, such as
/// kCustomScaler, changes nothing.
void applyScalerPreset(ScalerConfig&, std::string_view name);

} // namespace halfscope
