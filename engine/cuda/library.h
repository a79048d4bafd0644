// Finds shared libraries at run time where distributions, NVIDIA's packages, tarballs and Python
// wheels put them. What is in them is the business of api.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace halfscope::cuda {

/// Folders that may hold CUDA's libraries, in the order of the search, apart from the loader's own
/// (which comes after those of HALFSCOPE_CUDA_LIBRARIES): those of the environment, the module's,
/// Python's (nvidia/*/lib of a virtual environment), the toolkit's.
std::vector<std::string> libraryFolders();

/// An open library. It stays open until the program ends: CUDA's libraries do not like to go.
struct Library {
    void* handle = nullptr;
    std::string path;   ///< the name or file that was opened
    std::string reason; ///< why there is none
    void* find(const char* function) const;
};

/// Opens the first of `names` that is found, in `folders` or by the loader.
Library openLibrary(const std::vector<std::string>& names, const std::vector<std::string>& folders,
                    std::string_view howToGet);

} // namespace halfscope::cuda
