// The text of a step as machine code for the device at hand.
#pragma once

#include "engine/cuda/cache.h"
#include "engine/cuda/device.h"

namespace halfscope::cuda {

/// What cuModuleLoadData takes: from the cache, or compiled by NVRTC (and kept). A device newer
/// than the compiler gets PTX, which its driver compiles. EngineError with the compiler's words.
std::string compileText(const Device&, const FileCache&, const std::string& text);

} // namespace halfscope::cuda
