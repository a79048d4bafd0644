// Runs a graph on an executor with given leaves and reads values back as doubles.
#pragma once

#include "engine/exec/executor.h"
#include "engine/ops/op_info.h"

#include <map>
#include <string>
#include <vector>

namespace halfscope::recorded {

/// Converts a tensor's values to storage form, each rounded once; fromBytes() converts back. There
/// are as many values as elements.
std::vector<std::byte> toBytes(const Node&, const std::vector<double>& values);
std::vector<double> fromBytes(const Node&, const std::vector<std::byte>& bytes);

/// Returns outputs and states by name after `steps` steps. `leaves` holds every input and state.
std::map<std::string, std::vector<double>> runGraph(Executor&, const Graph&,
                                                    const std::map<NodeId, RefTensor>& leaves,
                                                    const CompileOptions& = {}, int steps = 1);

} // namespace halfscope::recorded
