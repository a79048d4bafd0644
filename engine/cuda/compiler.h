// The text of a step as machine code for the device at hand.
#pragma once

#include "engine/core/message.h"
#include "engine/cuda/cache.h"
#include "engine/cuda/device.h"

#include <functional>
#include <vector>

namespace halfscope::cuda {

/// What cuModuleLoadData takes: from the cache, or compiled by NVRTC (and kept). A device newer
/// than the compiler gets PTX, which its driver compiles. EngineError with the compiler's words.
/// Any number of threads may do this at the same time.
std::string compileText(const Device&, const FileCache&, const std::string& text);

/// The compute capability (10 * major + minor) that the code is made for: the device's, or what the
/// compiler knows below it. EngineError where it knows none.
int capabilityOfCode(const Device&);

/// Code, or why there is none.
struct Compiled {
    std::string code;
    Message error;
    bool isLeftOut = false; ///< it was not asked for
};
/// compileText() of each, several at the same time. `enough` says why those that were not begun are
/// left out, the first excepted; nothing while they are not. Any thread may ask it.
std::vector<Compiled> compileTexts(const Device&, const FileCache&,
                                   const std::vector<std::string>& texts,
                                   const std::function<Message()>& enough);

} // namespace halfscope::cuda
