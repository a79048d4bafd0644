// The messages name the lane's settings as an experiment file does.
#include "engine/settings/scaler_checks.h"

#include "engine/core/error.h"

namespace halfscope {

void checkFirstScale(const ScalerConfig& scaler, size_t lane) {
    const ScalerRules& rules = scaler.rules;
    if (rules.mode != ScalerMode::Dynamic) return;
    const auto refuseBeyond = [&](const char* key, double limit, Phrase allowed) {
        throw InputError(allowed, lane, scaler.initScale, key, limit);
    };
    if (scaler.initScale < rules.floor)
        refuseBeyond(
            "scaler.floor", rules.floor,
            phrase("Settings", "lanes.%1.scaler.init_scale: %2 is not allowed: at least %3, %4"));
    if (rules.ceiling > 0 && scaler.initScale > rules.ceiling)
        refuseBeyond(
            "scaler.ceiling", rules.ceiling,
            phrase("Settings", "lanes.%1.scaler.init_scale: %2 is not allowed: at most %3, %4"));
}

void checkGuards(const ScalerConfig& scaler, size_t lane) {
    const ScalerRules& rules = scaler.rules;
    if (rules.mode != ScalerMode::Dynamic || rules.ceiling <= 0 || rules.floor <= rules.ceiling)
        return;
    throw InputError(
        phrase("Settings", "lanes.%1.scaler.floor: %2 is not allowed: at most %3, scaler.ceiling"),
        lane, rules.floor, rules.ceiling);
}

} // namespace halfscope
