// The text of a step as machine code for the device at hand.
#pragma once

#include "engine/cuda/cache.h"
#include "engine/cuda/device.h"

#include <vector>

namespace halfscope::cuda {

/// What cuModuleLoadData takes: from the cache, or compiled by NVRTC (and kept). A device newer
/// than the compiler gets PTX, which its driver compiles. EngineError with the compiler's words.
/// Any number of threads may do this at the same time.
std::string compileText(const Device&, const FileCache&, const std::string& text);

/// Code, or why there is none.
struct Compiled {
    std::string code, error;
};
/// compileText() of each, several at the same time. Those that `mostSeconds` have passed before are
/// left out, but for the first.
std::vector<Compiled> compileTexts(const Device&, const FileCache&,
                                   const std::vector<std::string>& texts, double mostSeconds);

} // namespace halfscope::cuda
