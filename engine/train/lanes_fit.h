// Whether the lanes of one device fit into its memory together.
#pragma once

#include "engine/exec/executor.h"

#include <cstddef>
#include <span>

namespace halfscope {

/// Throws EngineError when lanes that need so many bytes each do not fit into the device together.
/// An executor looks at its own lane only, and a system that runs out of memory ends programs
/// without a word.
void checkLanesFit(std::span<const size_t> bytes, const DeviceInfo&);

} // namespace halfscope
