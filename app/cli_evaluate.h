// halfscope-cli evaluate: judges weights on the samples that nothing trains on, or predicts samples
// without targets.
#pragma once

#include "app/cli_options.h"

#include <string>

namespace halfscope::cli {

struct EvaluateOptions {
    ExperimentOptions experiment;
    std::string out;     ///< folder of predictions and scores; empty: none
    std::string predict; ///< a file of inputs; empty: samples are judged
    bool test = false;   ///< the samples of the test are judged
    bool best = false;   ///< with the weights after each lane's best validation
    bool quiet = false;  ///< only errors
};

/// Returns the exit code. Throws the engine's errors.
int evaluate(const EvaluateOptions&);

} // namespace halfscope::cli
