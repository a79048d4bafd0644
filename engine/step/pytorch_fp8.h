// FP8 in the programs for PyTorch, which has its dtypes but no autocast to them.
#pragma once

namespace halfscope {

/// Returns the program's part that rounds the operands and gradients of layers to FP8: defines
/// fp8_of(lane), a context for the forward pass, and functions(PLAIN), one for a layer that has no
/// part in it. The program imports contextlib, torch and F.
const char* pythonFp8();

} // namespace halfscope
