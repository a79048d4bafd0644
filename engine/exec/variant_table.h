// Formats the ways to run a program that a device compared as lines of text.
#pragma once

#include "engine/exec/executor.h"

#include <string>
#include <vector>

namespace halfscope {

/// Returns one line for each way: "* " before the chosen one, name, milliseconds a step, why it was
/// left out.
std::string variantTable(const std::vector<VariantTime>&);

} // namespace halfscope
