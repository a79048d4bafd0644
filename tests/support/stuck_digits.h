// A run of digits that never gets better than at its first validation.
#pragma once

#include "engine/settings/fields.h"

#include <cmath>

namespace halfscope::test {

/// Returns a run that is validated after every tenth step. Its last lane scales its loss so far
/// that all its steps are skipped; further lanes before it may learn.
inline RunConfig stuckDigits(int64_t steps, int64_t patience,
                             const std::string& lanes = "amp-fp16") {
    RunConfig config = presetNamed("mnist-mlp").config;
    config.lanes = parseLanes(lanes);
    config.device = "cpu";
    config.model.width = 16;
    config.epochs = 0;
    config.steps = steps;
    config.patience = patience;
    config.validation = {0, 10};
    config.lanes.back().scaler.initScale = std::exp2(60);
    config.lanes.back().scaler.rules.mode = ScalerMode::Static;
    return config;
}

} // namespace halfscope::test
