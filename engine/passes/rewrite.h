// Passes from graph to graph that copy node by node into a new graph and keep or replace each node.
#pragma once

#include "engine/ops/builder.h"

#include <functional>

namespace halfscope {

/// Returns the new node for node `old` of the graph that is read, or kNoNode to copy it. `at`
/// holds, by old node, the nodes of the new graph so far. Nodes that the builder emits get the
/// cause of the old one.
using Replacement = std::function<NodeId(Builder&, NodeId old, std::span<const NodeId> at)>;

/// Returns the graph with replacements, each of the same shape and dtype as the old node, and
/// without the nodes that are no longer needed. States and inputs stay and are never replaced.
Graph rewritten(const Graph&, const Replacement&);

/// Returns the graph without nodes that nothing needs. States and inputs stay.
Graph pruned(const Graph&);

} // namespace halfscope
