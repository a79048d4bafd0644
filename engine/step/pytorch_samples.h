// The parts of a program for PyTorch that bring its samples: drawn there, or from a file of those
// that Halfscope took.
#pragma once

#include "engine/data/dataset.h"
#include "engine/settings/run_config.h"

#include <string>

namespace halfscope {

/// Names of the tensors in such a file, see writeStepSamples(): the program reads them.
namespace step_samples {
inline constexpr const char* kX = "x";           ///< (samples of all batches, ...)
inline constexpr const char* kTarget = "target"; ///< likewise
inline constexpr const char* kRows = "rows";     ///< by batch: how many of them it has
inline constexpr const char* kBatch = "batch";   ///< by step: its batch, from 0
inline constexpr const char* kEpoch = "epoch";   ///< the steps of an epoch, one number
inline constexpr const char* kShare =
    "share"; ///< (steps, samples, 1): see gradients.critic_penalty
inline constexpr const char* kClassWeights = "class_weights"; ///< by class; as loss_of() takes them
/// Before the names of x and target: the samples to validate on, and those of the test.
inline constexpr const char* kValidation = "val_";
inline constexpr const char* kTest = "test_";
/// What differences between standardised targets are multiplied by, in the shape of a target.
inline constexpr const char* kDeviation = "deviation";
} // namespace step_samples

/// Whether the program judges its lanes on samples that they are not trained on.
bool judgesLanes(const RunConfig&);
/// Whether it keeps a share of these for a test.
bool keepsTestShare(const RunConfig&);

/// Returns the functions batches(x, target), which forms batches of samples, and
/// batches_of(feed), which returns those in the tensors of a file. `varies` tells that varied()
/// changes a batch.
std::string pythonBatches(const RunConfig&, bool varies);

/// Returns the functions loaded(number, path), which reads the file that an argument names, and
/// fed(number), which does so for a file of samples, and ends the program where that is not one of
/// this experiment.
std::string pythonFiles(const RunConfig&, const BatchShape&);

/// Returns the lines of main() that set `data`, `validation` and `test`, as far as they are needed:
/// from `feed` if there is one, so that nothing is drawn or looked for, else from samples().
std::string pythonParts(const RunConfig&, const PythonData&);

} // namespace halfscope
