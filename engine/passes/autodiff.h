// Reverse-mode differentiation, graph to graph: the gradients are nodes of the same graph, so they
// can be differentiated again.
#pragma once

#include "engine/ops/builder.h"

namespace halfscope {

/// Returns d y / d wrt[i], with y of rank 0 (dy = 1) or with a given cotangent dy of y's shape and
/// dtype; nullopt when y does not depend on wrt[i] through differentiable ops. Every result has the
/// shape and dtype of its wrt. Contributions are added in a fixed order.
std::vector<std::optional<NodeId>> gradients(Builder&, NodeId y, std::span<const NodeId> wrt,
                                             NodeId dy = kNoNode);

} // namespace halfscope
