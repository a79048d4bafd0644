// One row for each system. Sources: torch.amp.GradScaler; apex.amp.scaler.LossScaler; Keras 3
// LossScaleOptimizer; DeepSpeed's DynamicLossScaler with its fp16 configuration; Megatron-LM
// DynamicGradScaler; jmp.DynamicLossScale; fairseq's DynamicLossScaler on one GPU.
#include "engine/scaler/scaler_presets.h"

#include <algorithm>
#include <vector>

namespace halfscope {

namespace {

ScalerPreset pytorch() {
    return {"pytorch",
            phrase("Settings",
                   "torch.amp.GradScaler: no floor, no ceiling, backs off at every overflow."),
            ScalerConfig{}};
}

ScalerPreset apex() {
    ScalerConfig config;
    config.rules.ceiling = 0x1p24;
    return {"apex", phrase("Settings", "NVIDIA Apex amp: like PyTorch, with a ceiling of 2^24."),
            config};
}

/// Keras's schedules read the count of applied steps, which skips do not advance.
ScalerPreset keras() {
    ScalerConfig config;
    config.initScale = 0x1p15;
    config.rules.clamp = GrowthClamp::None;
    config.holdSchedule = true;
    return {
        "keras",
        phrase("Settings", "Keras 3 LossScaleOptimizer: starts at 2^15 and may grow to infinity."),
        config};
}

/// DeepSpeed's ZeRO scaler. The first growth after a start or an overflow takes one step longer.
ScalerPreset deepspeed() {
    ScalerConfig config;
    config.rules.growthInterval = 1000;
    config.rules.growthDelay = 1;
    config.rules.clamp = GrowthClamp::None;
    config.rules.floor = 1;
    config.rules.atFloor = FloorAction::Stop;
    config.rules.hysteresis = 2;
    config.holdSchedule = true;
    return {
        "deepspeed",
        phrase("Settings",
               "DeepSpeed ZeRO: forgives one overflow between growths and stops at a scale of 1."),
        config};
}

ScalerPreset megatron() {
    ScalerConfig config;
    config.initScale = 0x1p32;
    config.rules.growthInterval = 1000;
    config.rules.clamp = GrowthClamp::None;
    config.rules.floor = 1;
    config.rules.hysteresis = 2;
    config.holdSchedule = true;
    return {"megatron",
            phrase("Settings",
                   "Megatron-LM: starts at 2^32, forgives one overflow between growths, floor 1."),
            config};
}

ScalerPreset jmp() {
    ScalerConfig config;
    config.initScale = 0x1p15;
    config.rules.floor = 1;
    return {"jmp", phrase("Settings", "JAX jmp DynamicLossScale: starts at 2^15, floor 1."),
            config};
}

/// fairseq ends the training once the scale would fall to 1e-4 or below: halving from 2^7, that is
/// at 2^-13. Its schedules count updates, and skips are not counted.
ScalerPreset fairseq() {
    ScalerConfig config;
    config.initScale = 0x1p7;
    config.rules.growthInterval = 1 << 14; // per GPU and accumulated batch
    config.rules.clamp = GrowthClamp::None;
    config.rules.floor = 0x1p-13;
    config.rules.atFloor = FloorAction::Stop;
    config.holdSchedule = true;
    return {"fairseq",
            phrase("Settings",
                   "fairseq: starts at 2^7, grows after 2^14 clean steps, stops near 1e-4."),
            config};
}

ScalerPreset fixed() {
    ScalerConfig config;
    config.rules.mode = ScalerMode::Static;
    return {"static",
            phrase("Settings",
                   "The first scale for the whole run; steps that overflow are still skipped."),
            config};
}

/// Apex's LossScaler skips only when it is dynamic. 1 is the scale of the levels O0 and O3.
ScalerPreset apexStatic() {
    ScalerConfig config = apex().config;
    config.initScale = 1;
    config.rules.mode = ScalerMode::Static;
    config.onOverflow = OverflowAction::Step;
    return {
        "apex-static",
        phrase("Settings",
               "NVIDIA Apex amp with a fixed loss_scale: steps are taken even when they overflow."),
        config};
}

} // namespace

std::span<const ScalerPreset> scalerPresets() {
    static const std::vector<ScalerPreset> all{pytorch(),   apex(),     keras(),
                                               deepspeed(), megatron(), jmp(),
                                               fairseq(),   fixed(),    apexStatic()};
    return all;
}

const ScalerPreset* findScalerPreset(std::string_view name) {
    const auto all = scalerPresets();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [name](const ScalerPreset& each) { return each.name == name; });
    return found == all.end() ? nullptr : &*found;
}

const char* presetOf(const ScalerConfig& config) {
    for (const ScalerPreset& preset : scalerPresets()) {
        ScalerConfig wanted = preset.config;
        if (config.rules.mode == ScalerMode::Off) wanted.rules.mode = ScalerMode::Off;
        if (config.rules.mode == ScalerMode::Static) wanted.initScale = config.initScale;
        if (wanted == config) return preset.name;
    }
    return kCustomScaler;
}

void applyScalerPreset(ScalerConfig& config, std::string_view name) {
    const ScalerPreset* preset = findScalerPreset(name);
    if (!preset) return;
    const bool off = config.rules.mode == ScalerMode::Off;
    config = preset->config;
    if (off) config.rules.mode = ScalerMode::Off;
}

} // namespace halfscope
