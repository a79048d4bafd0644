// The parts of a program for PyTorch that bring the samples of a step: drawn there, or from a file
// of those that Halfscope took.
#pragma once

#include "engine/settings/run_config.h"

#include <string>

namespace halfscope {

/// Names of the tensors in such a file, see writeStepSamples(): the program reads them.
namespace step_samples {
inline constexpr const char* kX = "x";           ///< (samples of all batches, ...)
inline constexpr const char* kTarget = "target"; ///< likewise
inline constexpr const char* kRows = "rows";     ///< by batch: how many of them it has
inline constexpr const char* kBatch = "batch";   ///< by step: its batch, from 0
inline constexpr const char* kShare =
    "share"; ///< (steps, samples, 1): see gradients.critic_penalty
inline constexpr const char* kClassWeights = "class_weights"; ///< by class; as loss_of() takes them
} // namespace step_samples

/// Returns the functions batches(x, target), which forms batches of samples, and
/// batches_of(feed), which returns those in the tensors of a file. `varies` tells that varied()
/// changes a batch.
std::string pythonBatches(const RunConfig&, bool varies);

/// The function loaded(number, path), which reads the file that an argument names.
extern const char* const kPythonLoaded;

} // namespace halfscope
