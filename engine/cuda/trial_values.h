// What a trial of a variant computes with and what comes of it: numbers that make every kernel
// work, and the step's results. How far those of two variants may be apart: step_distance.h.
#pragma once

#include "engine/cuda/step_distance.h"
#include "engine/cuda/step_version.h"

#include <string>
#include <vector>

namespace halfscope::cuda {

/// Inputs are numbers in (-1, 1) and weights as large as at a training's start, moments stay zero,
/// what counts is one, rates are a half: no kernel has only zeros to work on. The loss scale is one
/// that keeps gradients of a large picture above float16's subnormals. Waits for the copies.
void fillForTrial(const Device&, const StepVersion&);

/// Outputs, and the states that gradients and statistics go to.
std::vector<StepResult> resultsOfTrial(const Device&, const StepVersion&);

/// All outputs and states as they lie in memory. Waits for the copies.
std::vector<std::byte> bitsOfTrial(const Device&, const StepVersion&);

} // namespace halfscope::cuda
