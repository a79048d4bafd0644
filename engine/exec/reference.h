// Evaluates a graph in double precision, node by node: the independent truth that kernels,
// gradients and fused loops are tested against. Slow and simple on purpose.
#pragma once

#include "engine/graph/graph.h"
#include "engine/ops/op_info.h"

#include <map>

namespace halfscope {

enum class RefRounding : uint8_t {
    None,    ///< every value in double: for finite differences
    Storage, ///< each node's value is rounded once to its dtype
    Random,  ///< as Storage, but float32 is rounded by RandomRounding
};

/// For RefRounding::Random: the error of float32 sums of some hundred terms, in last bits.
inline constexpr double kRandomLastBits = 4;

/// Returns the values of the wanted nodes, given those of the inputs and states that they need
/// (`leaves`, by node). `seed` is for RefRounding::Random.
std::map<NodeId, RefTensor> evaluate(const Graph&, const std::map<NodeId, RefTensor>& leaves,
                                     std::span<const NodeId> wanted,
                                     RefRounding rounding = RefRounding::Storage,
                                     uint64_t seed = 0);

} // namespace halfscope
