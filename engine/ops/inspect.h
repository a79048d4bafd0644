// Looks at a graph: the validator that runs after each pass, and the graph as text, DOT and JSON.
#pragma once

#include "engine/graph/graph.h"

#include <string>

namespace halfscope {

/// Checks every node against its op's rule, the order of the nodes, and the lists of inputs, states
/// and outputs. Throws std::logic_error with the offending node printed.
void validate(const Graph&);

/// Returns one node as one line: "%12 = tanh(%11) : float16 -> float16 [64, 32]  layer2 forward",
/// followed by the autocast rule that it comes from.
std::string nodeText(const Graph&, NodeId);
/// Returns one line for each node, then states with their next values, then outputs, then casts by
/// reason.
std::string graphText(const Graph&);
/// Returns the graph for Graphviz, coloured by dtype.
std::string graphDot(const Graph&);
/// Returns {"nodes": [..], "states": [..], "inputs": [..], "outputs": [..], "casts": [..]}.
std::string graphJson(const Graph&);

} // namespace halfscope
