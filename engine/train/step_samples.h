// The samples that a run is trained and judged on, as a file that a program for PyTorch reads to
// take the same ones (step/pytorch_samples.h).
#pragma once

#include "engine/data/task.h"
#include "engine/settings/run_config.h"

#include <string>

namespace halfscope {

inline constexpr int64_t kMostSampleBytes = int64_t{1} << 30; ///< of a file: 1 GiB

/// Returns how many samples the file has to validate on and for the test; 0 where the program
/// judges no lane.
int64_t judgedSamples(const RunConfig&, const Task&);
/// Whether those alone fit in such a file.
bool judgedSamplesFit(const RunConfig&, const Task&);
/// Returns how many of the run's first steps have samples that fit in such a file, beside those.
int64_t stepsWhoseSamplesFit(const RunConfig&, const Task&);

/// Writes, as safetensors, the batch that the task gives each step of the run: x and target with
/// their samples one after the other, numbers in float32 and indices and classes in int64. A batch
/// that many steps take is written once. Also writes the samples that lanes are judged on, without
/// those that cannot be read and are to be skipped, and what else a program would draw or count by
/// itself: the numbers of the critic's penalty, the weights of classes, and the deviations of
/// targets. `program` is the version that writes it. Requires that all steps fit. Throws RunError
/// when samples to train on cannot be read or the file cannot be written, and InputError when
/// others cannot be read and as setFromData() does.
void writeStepSamples(const std::string& path, RunConfig, const Task&, const std::string& program);

} // namespace halfscope
