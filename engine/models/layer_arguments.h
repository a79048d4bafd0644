// Arguments of a layer: from the syntax tree by the layer's row, and back to text.
#pragma once

#include "engine/models/layer.h"

namespace halfscope {

/// Fills layer.args from the call's arguments (those that are no layers), by position and by name,
/// and checks each: InputError with line and column.
void readArguments(LayerSpec& layer, const std::vector<const lang::Argument*>& given);

/// "in_features=10, out_features=20, bias=True", as PyTorch prints them.
std::string argumentsText(const LayerSpec&);
/// "10, 20, bias=False", as a programmer writes them: what has its default is left out.
std::string pythonArguments(const LayerSpec&);

} // namespace halfscope
