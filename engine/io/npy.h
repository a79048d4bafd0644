// Reads and writes .npy, NumPy's file of one array: versions 1 to 3, numbers and bool in this
// machine's byte order, in C order.
#pragma once

#include "engine/io/array.h"

namespace halfscope {

/// Of its header. InputError in one sentence, with the path and what would help, for whatever is no
/// such file, and for a shape that is not that of the file's size.
ArrayInfo npyInfo(const std::string& path);
/// The values too. Cancellable.
Array readNpy(const std::string& path);

/// A file of float32, version 1; as many values as the shape wants.
std::string npyBytes(std::span<const int64_t> shape, std::span<const float> values);

} // namespace halfscope
