// Arguments of a layer: read from the syntax tree by the layer's row, and written back as text.
#pragma once

#include "engine/models/layer.h"

namespace halfscope {

/// Fills layer.args from the call's arguments (those that are not layers), by position and by name,
/// and checks each. Throws InputError with line and column.
void readArguments(LayerSpec& layer, const std::vector<const lang::Argument*>& given);

/// Returns the arguments as PyTorch prints them: "in_features=10, out_features=20, bias=True".
std::string argumentsText(const LayerSpec&);
/// Returns the arguments as a programmer writes them, without those at their defaults: "10, 20,
/// bias=False".
std::string pythonArguments(const LayerSpec&);

} // namespace halfscope
