// The samples that the steps of a run take, as a file that a program for PyTorch reads to train on
// the same ones (step/pytorch_samples.h).
#pragma once

#include "engine/data/task.h"
#include "engine/settings/run_config.h"

#include <string>

namespace halfscope {

inline constexpr int64_t kMostSampleBytes = int64_t{1} << 30; ///< of a file: 1 GiB

/// Returns how many of the run's first steps have samples that fit in such a file.
int64_t stepsWhoseSamplesFit(const RunConfig&, const Task&);

/// Writes, as safetensors, the batch that the task gives each step of the run: x and target with
/// their samples one after the other, numbers in float32 and indices and classes in int64. A batch
/// that many steps take is written once. Also writes what else a program would draw or count by
/// itself: the numbers of the critic's penalty, and the weights of classes. `program` is the
/// version that writes it. Requires that all steps fit. Throws RunError when samples cannot be read
/// or the file cannot be written, and InputError as setFromData() does.
void writeStepSamples(const std::string& path, RunConfig, const Task&, const std::string& program);

} // namespace halfscope
