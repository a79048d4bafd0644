// Whether the lanes of one device fit into its memory together, and into what is free of it.
#pragma once

#include "engine/core/usable_memory.h"
#include "engine/exec/executor.h"

#include <cstddef>
#include <optional>
#include <span>

namespace halfscope {

/// Throws EngineError when lanes that need so many bytes each do not fit into the device together.
/// An executor looks at its own lane only, and a system that runs out of memory ends programs
/// without a word.
void checkLanesFit(std::span<const size_t> bytes, const DeviceInfo&);

/// Throws EngineError when lanes of the CPU need more memory together than is free. It is called
/// before they have filled any of it; then each looks free to the next.
void checkLanesFree(std::span<const size_t> bytes, std::optional<size_t> free = freeMemory());

} // namespace halfscope
