// Whether the lanes of one device fit into its memory together, and into what is free of it.
#pragma once

#include "engine/core/usable_memory.h"
#include "engine/exec/executor.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

namespace halfscope {

class Trainer;

/// Throws EngineError when lanes that need so many bytes each do not fit into the device together.
/// An executor looks at its own lane only, and a system that runs out of memory ends programs
/// without a word.
void checkLanesFit(std::span<const size_t> bytes, const DeviceInfo&);

/// Throws EngineError when lanes of the CPU need more memory together than is free: until they have
/// filled it, it looks free to each of them.
void checkLanesFree(std::span<const size_t> bytes, std::optional<size_t> free = freeMemory());
/// Does so with what lanes of the CPU still have to fill.
void checkLanesFree(std::span<const std::unique_ptr<Trainer>>);

} // namespace halfscope
