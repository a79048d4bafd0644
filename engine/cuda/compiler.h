// Compiles the text of a step to machine code for the current device.
#pragma once

#include "engine/core/message.h"
#include "engine/cuda/cache.h"
#include "engine/cuda/device.h"

#include <functional>
#include <vector>

namespace halfscope::cuda {

/// Returns what cuModuleLoadData takes: from the cache, or compiled by NVRTC and then cached. A
/// device newer than the compiler gets PTX, which its driver compiles. Throws EngineError with the
/// compiler's words. Any number of threads may call it at the same time.
std::string compileText(const Device&, const FileCache&, const std::string& text);
/// Calls compileText() for each part of a text, several at the same time.
std::vector<std::string> compileParts(const Device&, const FileCache&,
                                      const std::vector<std::string>& parts);

/// Code, or why there is none.
struct Compiled {
    std::vector<std::string> parts;
    Message error;
    bool isLeftOut = false; ///< it was not asked for
};
/// Calls compileText() for each part of each text, several at the same time. `leftOut` returns why
/// a text is left out that is not the first and of which a part's compilation has not begun; an
/// empty message if it is not. It may be called by any thread.
std::vector<Compiled> compileTexts(const Device&, const FileCache&,
                                   const std::vector<std::vector<std::string>>& texts,
                                   const std::function<Message(size_t text)>& leftOut);

} // namespace halfscope::cuda
