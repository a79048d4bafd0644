// What a fault of a step is mended by, away from the machine that shows it: with
// HALFSCOPE_CUDA_DEBUG=FOLDER a step leaves its text, the compiler's log, its launches, the launch
// that it is at, and why a library is done without, in that folder, and every launch is waited for.
// Slow, for this alone.
#pragma once

#include <string>

namespace halfscope::cuda {

/// Whether the variable names a folder.
bool debugging();
/// Writes a file of the folder anew, at once; nothing without a folder. A failure is ignored.
void keepForDebugging(const std::string& file, const std::string& text);

} // namespace halfscope::cuda
