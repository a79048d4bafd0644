// The part of a program for PyTorch that judges a network on samples that it was not trained on.
#pragma once

#include "engine/settings/run_config.h"

#include <string>

namespace halfscope {

/// The function predict(model, x) of a network whose predictions depend on the batch: it makes the
/// batches that Halfscope judges such a network in.
extern const char* const kPythonPredict;

/// Returns the function evaluate(lane, model, x, target) without its last lines, which return the
/// variable text; with the accuracy, where the program has one. `predict` is the function that it
/// calls with model and x, `moved` is x on the device, `with` the line that begins autocast.
/// `named` lets the function take the name of the samples.
std::string pythonEvaluate(const RunConfig&, const std::string& predict, const std::string& moved,
                           const std::string& with, bool named);

} // namespace halfscope
