// The values with which variants are tried, and the results: numbers that give every kernel
// something to do, and the step's results. How far those of two variants may be apart is in
// step_distance.h.
#pragma once

#include "engine/cuda/step_distance.h"
#include "engine/cuda/step_version.h"

#include <string>
#include <vector>

namespace halfscope::cuda {

/// Fills the values of a step for a trial. Inputs are numbers in (-1, 1), weights are as large as
/// at the start of a training, moments stay zero, counts are one and rates are a half: no kernel
/// has only zeros to work on. The loss scale keeps the gradients of a large picture above float16's
/// subnormals. Waits for the copies.
void fillForTrial(const Device&, const StepVersion&);

/// Returns the outputs, and the states that gradients and statistics go to.
std::vector<StepResult> resultsOfTrial(const Device&, const StepVersion&);

} // namespace halfscope::cuda
