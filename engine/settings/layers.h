// The layers of a network by their labels in precision.layers and in policy files, and the text of
// that setting as dtypes.
#pragma once

#include "engine/core/dtype.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

struct LaneConfig;
struct RunConfig;

using LayerTypes = std::map<std::string, DType, std::less<>>;

/// Reads "layer 1=float32, output layer=bfloat16" into dtypes by label; returns nothing when the
/// text does not have that form.
std::optional<LayerTypes> forcedLayers(std::string_view text);

/// Whether all layers of a lane compute in float32, by their precision and without types of their
/// own. A policy file is not looked at.
bool computesInFloat32(const LaneConfig&);

/// Returns the type in which the layer with that label computes in the forward pass; bfloat16 may
/// leave some functions in float32. Returns nothing where each function of the layer may run in
/// float16 or float32, by autocast's rules, or where a policy file tells it.
std::optional<DType> typeOfLayer(const LaneConfig&, std::string_view label);

/// Returns the labels that precision.layers can name, in the order of the forward pass.
std::vector<std::string> layersOf(const RunConfig&);

} // namespace halfscope
