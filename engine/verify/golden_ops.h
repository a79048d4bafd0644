// A recorded op as a graph: value, gradients, and gradients of sum(gradient * vector).
#pragma once

#include "engine/ops/op_info.h"
#include "engine/verify/suites.h"

#include <map>

namespace halfscope::recorded {

/// The graph in one dtype with the values of its leaves, and PyTorch's results in float64.
struct OpCase {
    struct Wanted {
        std::string name;
        NodeId node = kNoNode; ///< kNoNode for a gradient that is absent, which means zero
        std::vector<double> values;
    };
    Graph graph;
    std::map<NodeId, RefTensor> leaves;
    std::vector<Wanted> wanted;
};
/// Builds the case of a row. Throws InputError for an op that the engine does not have and for
/// values that do not fit together.
OpCase opCase(const Golden& row, DType);
std::string opCaseName(const Golden& row, size_t index); ///< "2 conv2d"

/// Compares the graph evaluated in double: within 1e-12 of the largest value, which is some hundred
/// roundings of two double computations of one formula in different orders.
CaseResult compareReference(const Golden& row);
/// Compares on a device in float32. The bound is a fraction of the largest intermediate value. It
/// is derived from the unit roundoff, the number of roundings on the way to a value, and how far
/// rounding the inputs to float32 alone moves the value.
CaseResult compareOnDevice(const Golden& row, Executor&, const CompileOptions&);

} // namespace halfscope::recorded
