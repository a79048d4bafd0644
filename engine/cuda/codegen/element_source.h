// One element of an elementwise node as C++ text: the arithmetic and rounding of the CPU's loops
// (cpu/loop_lowering.cpp), on values that are float, or double for F64.
#pragma once

#include "engine/graph/graph.h"

#include <span>
#include <string>

namespace halfscope::cuda {

std::string storageType(DType); ///< a type of the device headers: "float", "F16", "Bool"
std::string valueType(DType);   ///< "double" for F64, else "float"

std::string literal(float);  ///< exactly that float: "0x1.8p+1f"
std::string literal(double); ///< exactly that double

/// Whether storing a result can change what the op gives, so that the value must be rounded even
/// when it is not stored.
bool roundsResult(const Graph&, NodeId);

/// Returns the arithmetic alone, without the rounding.
std::string unroundedExpression(const Graph&, NodeId, std::span<const std::string> operands);

/// Returns the value of an elementwise node or constant (of valueType(dtype)) from its operands'
/// values, rounded once to its dtype: "rounded<F16>(addOf(v3, v7))". Names are of namespace hs.
std::string elementExpression(const Graph&, NodeId, std::span<const std::string> operands);

} // namespace halfscope::cuda
