// Files for debugging a fault, or a slow kernel, away from the machine that shows it. With
// HALFSCOPE_CUDA_DEBUG=FOLDER every launch is waited for, kernels are compiled with line numbers,
// and that folder gets:
//   step.cu, step.txt      the text of the step that was loaded last, and its launches
//   code-HASH.cu           each text that was compiled; .cubin is its machine code, .ptx its PTX
//   ways.txt               which way to run the step has which text
//   launch.txt             the launch that is running
//   failed.cu, failed.log  a text that does not compile, and the compiler's log
//   no_algorithm.txt       what the libraries refused
//   not_shown.txt          why the values of a step cannot be shown
// This is slow: for debugging only.
#pragma once

#include <string>

namespace halfscope::cuda {

/// Whether the variable names a folder.
bool debugging();
/// Returns "code-HASH": the name, without an ending, of a text's files in the folder.
std::string debugNameOf(const std::string& text);
/// Returns the full name of a file in the folder, or just `file` when there is no folder.
std::string debugFile(const std::string& file);
/// Adds a line to a file in the folder; does nothing without a folder. Failures are ignored.
void noteForDebugging(const std::string& file, const std::string& line);
/// Replaces a file in the folder at once; does nothing without a folder. Failures are ignored.
void keepForDebugging(const std::string& file, const std::string& text);

} // namespace halfscope::cuda
