// The files that run --onnx writes.
#pragma once

#include "app/cli_overwriting.h"
#include "app/cli_run.h"

#include "engine/train/experiment.h"

#include <string>
#include <vector>

namespace halfscope::cli {

struct OnnxTarget {
    int lane = 0;
    bool critic = false;
    std::string file;
};

/// Returns the files that --onnx writes. Their names contain the lane when there are several lanes;
/// a critic gets a file beside that of its generator.
std::vector<OnnxTarget> onnxTargets(const std::string& path, const Experiment&);

/// Throws InputError or RunError when the ONNX files cannot be written, or would overwrite one of
/// the run's: before the training, not after hours of it. They may lie in the folder of the run,
/// which is made after this.
void checkOnnxTargets(const RunOptions&, const Experiment&, const CommandFiles&);

} // namespace halfscope::cli
