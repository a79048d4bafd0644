// Reads .npz, NumPy's archive of named arrays: a zip archive of .npy files, as numpy.savez and
// numpy.savez_compressed write it.
#pragma once

#include "engine/io/array.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// Returns the names of the arrays, without ".npy", in the order of the archive. Throws InputError
/// as ZipFile does.
std::vector<std::string> npzNames(const std::string& path);
/// Returns what an array's header says; its name is set. Throws InputError when no array has this
/// name or it is damaged, see npyInfo().
ArrayInfo npzInfo(const std::string& path, std::string_view name);
/// Also reads the array's values. Cancellable.
Array readNpz(const std::string& path, std::string_view name);

} // namespace halfscope
