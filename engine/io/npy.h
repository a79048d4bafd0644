// Reads .npy, NumPy's file of one array: versions 1 to 3, numbers and bool in this machine's byte
// order, in C order.
#pragma once

#include "engine/io/array.h"

namespace halfscope {

/// Of its header. InputError in one sentence, with the path and what would help, for whatever is no
/// such file, and for a shape that is not that of the file's size.
ArrayInfo npyInfo(const std::string& path);
/// The values too. Cancellable.
Array readNpy(const std::string& path);

} // namespace halfscope
