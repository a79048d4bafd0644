// Histories of a loss scaler for its tests: rules that take few steps, and the scales that they
// give.
#pragma once

#include "engine/scaler/scaler_presets.h"

#include <QString>

#include <vector>

namespace halfscope::test {

inline ScalerConfig scalerPresetNamed(const char* name) { return findScalerPreset(name)->config; }

/// Returns the scales after each step of a history: '.' is a clean step, 'o' an overflow.
inline std::vector<float> scalesOf(float start, const ScalerRules& rules, const QString& steps) {
    ScalerState state;
    state.scale = start;
    std::vector<float> scales;
    for (const QChar step : steps) {
        state = next(state, step == QChar('o'), rules);
        scales.push_back(state.scale);
    }
    return scales;
}

inline QByteArray text(const std::vector<float>& scales) {
    QByteArray line;
    for (const float scale : scales)
        line += QByteArray::number(static_cast<double>(scale)) + " ";
    return line.trimmed();
}

/// Returns a system's rules with start 64, interval 3, and hysteresis 2 if the system has it.
inline ScalerRules shortRules(const char* preset) {
    ScalerRules rules = scalerPresetNamed(preset).rules;
    rules.growthInterval = 3;
    return rules;
}
inline ScalerRules apexKernel() {
    ScalerRules rules = shortRules("apex");
    rules.hysteresis = 2;
    rules.refill = HysteresisRefill::AtCleanStep;
    return rules;
}
inline ScalerRules consecutiveDeepspeed() {
    ScalerRules rules = shortRules("deepspeed");
    rules.refill = HysteresisRefill::AtCleanStep;
    return rules;
}

} // namespace halfscope::test
