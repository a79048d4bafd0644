// The classes of torchvision's residual networks as print() shows them: their forward() is known,
// so they are read as what they compute.
#pragma once

#include "engine/lang/syntax.h"

#include <optional>
#include <string>
#include <string_view>

namespace halfscope {

/// What a block becomes has its layers one level deeper, below this name, and its shortcut is not
/// called as torchvision calls it.
inline constexpr std::string_view kBlockName = "block";
inline constexpr std::string_view kDownsampleName = "downsample";

/// Returns a printed BasicBlock or Bottleneck as a Sequential of a Residual and the ReLU of the
/// sum, and a ResNet with the Flatten that its forward() applies by itself. Nothing for everything
/// else, and for classes of these names that have other layers.
std::optional<lang::Value> readAsTorchvision(const lang::Value&);

/// Returns the name that a weight of such a network has in torchvision's state dict.
std::string torchvisionName(std::string_view name);

} // namespace halfscope
