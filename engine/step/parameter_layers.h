// Which layer computes with which parameter, read from the graph of a step.
#pragma once

#include "engine/graph/graph.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// What follows a parameter's name in the label of the check of its gradient: "0.weight gradient".
inline constexpr std::string_view kGradientLabel = " gradient";

/// Returns, by the name of a parameter, the first layer that computes with it, as the graph labels
/// it: "layer 1", "Linear 2". A parameter that nothing computes with is left out.
std::map<std::string, std::string> layersOfParameters(const Graph&);

/// Returns the labels of the forward pass in their order, each once.
std::vector<std::string> forwardLabels(const Graph&);

} // namespace halfscope
