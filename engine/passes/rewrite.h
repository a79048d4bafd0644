// Passes from graph to graph: node by node into a new one, each kept as it is or replaced.
#pragma once

#include "engine/ops/builder.h"

#include <functional>

namespace halfscope {

/// What stands for node `old` of the graph that is read; kNoNode: a copy of it. `at` are, by old
/// node, those of the new graph so far. Nodes that the builder emits get the cause of the old one.
using Replacement = std::function<NodeId(Builder&, NodeId old, std::span<const NodeId> at)>;

/// The graph with replacements, of the same shape and dtype each, and without the nodes that then
/// nothing needs. States and inputs stay and are never replaced.
Graph rewritten(const Graph&, const Replacement&);

/// The graph without nodes that nothing needs. States and inputs stay.
Graph pruned(const Graph&);

} // namespace halfscope
