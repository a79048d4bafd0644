// Reads and writes .npy, NumPy's file of one array: versions 1 to 3, numbers and bool in either
// byte order, rows first (C order) or columns first (Fortran order). Arrays that were read are in
// this machine's byte order, rows first.
#pragma once

#include "engine/io/array.h"

#include <functional>

namespace halfscope {

/// Reads the header. Throws InputError in one sentence, with the path and what would help, for
/// whatever is not such a file, and for a shape that does not match the file's size.
ArrayInfo npyInfo(const std::string& path);
/// Also reads the values. Can be cancelled.
Array readNpy(const std::string& path);

/// The bytes of an .npy file that is stored inside another file.
struct NpySource {
    std::string name; ///< for error messages
    int64_t bytes = 0;
    std::function<size_t(std::span<char>)> read; ///< returns 0 only at the end
};
ArrayInfo npyInfo(const NpySource&);
Array readNpy(const NpySource&);

/// A file of float32 or float64, version 1; as many values as the shape wants.
std::string npyBytes(std::span<const int64_t> shape, std::span<const float> values);
std::string npyBytes(std::span<const int64_t> shape, std::span<const double> values);

} // namespace halfscope
