// Finds shared libraries at run time where distributions, NVIDIA's packages, tarballs and Python
// wheels put them. What is in them is known to api.h.
#pragma once

#include "engine/core/message.h"

#include <string>
#include <string_view>
#include <vector>

namespace halfscope::cuda {

/// The oldest major version of CUDA whose driver and libraries can be used. Everything that api.h
/// names has the same names, arguments and numbers from that version on, so the headers of one
/// version do for all.
inline constexpr int kOldestCuda = 12;

/// Returns the file names of a library, newest first, in the major versions that a driver of
/// version `driverMajor` runs.
std::vector<std::string> cudaLibraryNames(const char* name, int driverMajor);

/// Returns the folders that may hold CUDA's libraries, in the order of the search: those of the
/// environment, the module's, the active virtual environment's (nvidia/*/lib of its packages), the
/// toolkits', and those of the python3 on the PATH and of the user's packages. The loader's own
/// folders are not among them; they come after those of HALFSCOPE_CUDA_LIBRARIES.
std::vector<std::string> libraryFolders();

/// An open library. It stays open until the program ends: CUDA's libraries do not support being
/// unloaded.
struct Library {
    void* handle = nullptr;
    std::string path; ///< the name or file that was opened
    Message reason;   ///< why there is none
    /// Finds a function by its name, or by the name that it had in older versions if it did the
    /// same then.
    void* find(const char* function) const;
};

/// Opens the first of `names` that is found, in `folders` or by the loader.
Library openLibrary(const std::vector<std::string>& names, const std::vector<std::string>& folders,
                    const Message& howToGet);

/// Returns why a cuDNN that was built with this major version of CUDA cannot be used; empty when it
/// can. At its first convolution cuDNN opens that version's cuBLASLt by its plain name, and ends
/// the program when there is none (NVIDIA's installation guide lists it as needed by the legacy
/// convolutions). So it is opened here, and found by its name from then on.
Message whatDnnLacks(int cudaMajor, const std::vector<std::string>& folders);

} // namespace halfscope::cuda
