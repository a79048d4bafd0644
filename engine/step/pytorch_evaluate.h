// The part of a program for PyTorch that judges a network on samples that it was not trained on.
#pragma once

#include <string>

namespace halfscope {

/// Returns the function evaluate(lane, model, x, target) without its last lines, which return the
/// variable text. `moved` is x on the device, `with` the line that begins autocast. `named` lets
/// the function take the name of the samples, and `classes` adds the accuracy.
std::string pythonEvaluate(const std::string& moved, const std::string& with, bool named,
                           bool classes);

} // namespace halfscope
