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
    Random,  ///< so too, float32 by RandomRounding
};

/// Of RefRounding::Random: float32 sums of some hundred terms are off by as much.
inline constexpr double kRandomLastBits = 4;

/// The values of the wanted nodes, given those of the inputs and states that they need (keys).
/// `seed` is of RefRounding::Random.
std::map<NodeId, RefTensor> evaluate(const Graph&, const std::map<NodeId, RefTensor>& leaves,
                                     std::span<const NodeId> wanted,
                                     RefRounding rounding = RefRounding::Storage,
                                     uint64_t seed = 0);

} // namespace halfscope
