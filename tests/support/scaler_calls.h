// The loss scaler's calls as a training makes them, for tests of engine/scaler/scaler_api.h.
#pragma once

#include "engine/scaler/scaler_api.h"

#include <limits>
#include <span>
#include <vector>

namespace halfscope::test {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

inline ScalerConfig configOf(double scale, double growth = 2, double backoff = 0.5,
                             int64_t interval = 2) {
    ScalerConfig config;
    config.initScale = scale;
    config.rules.growthFactor = growth;
    config.rules.backoffFactor = backoff;
    config.rules.growthInterval = interval;
    return config;
}

/// One parameter of one optimizer, and whether its step function ran.
struct Parameter {
    std::vector<float> gradient;
    int steps = 0;

    StepOutcome step(GradScaler& scaler, int optimizer) {
        const HostTensor tensor = hostTensor(std::span(gradient));
        return scaler.step(optimizer, std::span(&tensor, 1), [this] { ++steps; });
    }
    void unscale(GradScaler& scaler, int optimizer) {
        const HostTensor tensor = hostTensor(std::span(gradient));
        scaler.unscale(optimizer, std::span(&tensor, 1));
    }
};

/// Makes one iteration of one optimizer for each gradient value.
inline void iterate(GradScaler& scaler, const std::vector<float>& gradients) {
    for (const float gradient : gradients) {
        scaler.scale(1.0f);
        Parameter p{{gradient}};
        p.step(scaler, 0);
        scaler.update();
    }
}

} // namespace halfscope::test
