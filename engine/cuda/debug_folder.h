// Files for mending a fault, or a slow kernel, away from the machine that shows it. With
// HALFSCOPE_CUDA_DEBUG=FOLDER every launch is waited for, kernels are compiled with line numbers,
// and that folder gets:
//   step.cu, step.txt      the text of the step that was loaded last, and its launches
//   code-HASH.cu           each text that was compiled; .cubin its machine code, .ptx its PTX
//   ways.txt               which way to run the step has which text
//   launch.txt             the launch that is running
//   failed.cu, failed.log  a text that does not compile, and the compiler's log
//   no_algorithm.txt       what the libraries refused
// Slow: for debugging alone.
#pragma once

#include <string>

namespace halfscope::cuda {

/// Whether the variable names a folder.
bool debugging();
/// "code-HASH": the name, without an ending, of a text's files in the folder.
std::string debugNameOf(const std::string& text);
/// The full name of a file of the folder; just `file` where there is no folder.
std::string debugFile(const std::string& file);
/// Adds a line to a file of the folder; nothing without a folder. A failure is ignored.
void noteForDebugging(const std::string& file, const std::string& line);
/// Writes a file of the folder anew, at once; nothing without a folder. A failure is ignored.
void keepForDebugging(const std::string& file, const std::string& text);

} // namespace halfscope::cuda
