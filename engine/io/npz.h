// Reads .npz, NumPy's archive of named arrays: a zip archive of .npy files, as numpy.savez and
// numpy.savez_compressed write it.
#pragma once

#include "engine/io/array.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// Of the arrays, without ".npy", in their order. InputError, see ZipFile.
std::vector<std::string> npzNames(const std::string& path);
/// Of an array's header; its name is set. InputError where there is none of this name or it is
/// damaged, see npyInfo().
ArrayInfo npzInfo(const std::string& path, std::string_view name);
/// Its values too. Cancellable.
Array readNpz(const std::string& path, std::string_view name);

} // namespace halfscope
