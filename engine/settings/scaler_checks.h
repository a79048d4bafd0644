// Checks the settings of a loss scaler against each other.
#pragma once

#include "engine/scaler/grad_scaler.h"

#include <cstddef>

namespace halfscope {

/// Checks the initial scale: one outside the guards could never be reached again. Throws
/// InputError.
void checkFirstScale(const ScalerConfig&, size_t lane);
/// Checks the guards: no scale lies between a ceiling and a floor above it. Throws InputError.
void checkGuards(const ScalerConfig&, size_t lane);

} // namespace halfscope
