// The ways to run a program that a device compared, as lines to read.
#pragma once

#include "engine/exec/executor.h"

#include <string>
#include <vector>

namespace halfscope {

/// A line each: "* " before the one that is taken, name, milliseconds a step, why it was left out.
std::string variantTable(const std::vector<VariantTime>&);

} // namespace halfscope
