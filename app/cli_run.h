// halfscope-cli run: trains all lanes of an experiment and writes the results.
#pragma once

#include "app/cli_options.h"

#include <string>

namespace halfscope::cli {

struct RunOptions {
    ExperimentOptions experiment;
    std::string out;          ///< empty: no files are written
    bool quiet = false;       ///< only errors
    int countGradients = 0;   ///< count every so many steps; 0: never, or as the run that goes on
    std::string resume;       ///< a checkpoint, or the folder of a run that has one; empty: none
    int checkpointEvery = -1; ///< steps; 0: no checkpoints; -1: one at the end, or as before
    bool keepBest = false;    ///< write the weights after each lane's best validation
    bool overwrite = false;   ///< see keepCheckpoint()
    std::string tensorboard;  ///< folder of event files; empty: none
    std::string onnx;         ///< file of the trained networks; empty: none
};

/// Returns the exit code: 0 when done, 1 when done but for the last checkpoint or the files for
/// TensorBoard, 130 when interrupted. Throws the engine's errors.
int run(const RunOptions&);

} // namespace halfscope::cli
