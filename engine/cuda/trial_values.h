// What a trial of a variant computes with and what comes of it: numbers that make every kernel
// work, the step's results, and how far those of two variants may be apart.
#pragma once

#include "engine/cuda/step_version.h"

#include <string>
#include <vector>

namespace halfscope::cuda {

/// Results of one kind after a step.
struct TrialResult {
    std::string name; ///< "output prediction", "states of m"
    std::vector<float> values;
};
using TrialResults = std::vector<TrialResult>;

/// Inputs are numbers in (-1, 1) and weights as large as at a training's start, moments stay zero,
/// what counts is one, rates are a half: no kernel has only zeros to work on. The loss scale is one
/// that keeps gradients of a large picture above float16's subnormals. Waits for the copies.
void fillForTrial(const Device&, const StepVersion&);

/// Outputs, and the states that gradients and statistics go to: those whose names end alike
/// together, since a bias before a norm has a gradient of roundings alone.
TrialResults resultsOfTrial(const Device&, const StepVersion&);

/// All outputs and states as they lie in memory. Waits for the copies.
std::vector<std::byte> bitsOfTrial(const Device&, const StepVersion&);

/// The first value that is too far from the wanted one, or nothing: farther than 2^-10 (with short
/// operands 2^-4) of the largest value of its kind, or of its own size where an output has few
/// values, of which each means something else. inf and nan may stand for each other, not for a
/// number.
std::string differenceOf(const Graph&, const TrialResults& wanted, const TrialResults& got);

} // namespace halfscope::cuda
