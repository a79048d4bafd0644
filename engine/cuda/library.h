// Finds shared libraries at run time where distributions, NVIDIA's packages, tarballs and Python
// wheels put them. What is in them is the business of api.h.
#pragma once

#include "engine/core/message.h"

#include <string>
#include <string_view>
#include <vector>

namespace halfscope::cuda {

/// The oldest major version of CUDA whose driver and libraries can be used. All that api.h names
/// has the same names, arguments and numbers from there on, so that headers of one version do for
/// all.
inline constexpr int kOldestCuda = 12;

/// File names of a library, newest first, in the major versions that a driver of this one runs.
std::vector<std::string> cudaLibraryNames(const char* name, int driverMajor);

/// Folders that may hold CUDA's libraries, in the order of the search, apart from the loader's own
/// (which comes after those of HALFSCOPE_CUDA_LIBRARIES): those of the environment, the module's,
/// the active virtual environment's (nvidia/*/lib of its packages), the toolkits', those of the
/// python3 on the PATH and of the user's packages.
std::vector<std::string> libraryFolders();

/// An open library. It stays open until the program ends: CUDA's libraries do not like to go.
struct Library {
    void* handle = nullptr;
    std::string path; ///< the name or file that was opened
    Message reason;   ///< why there is none
    /// By the name that it had in older versions, too, where it did the same then.
    void* find(const char* function) const;
};

/// Opens the first of `names` that is found, in `folders` or by the loader.
Library openLibrary(const std::vector<std::string>& names, const std::vector<std::string>& folders,
                    const Message& howToGet);

/// Why a cuDNN that was built with this major version of CUDA cannot be used; empty where it can.
/// When it first convolves it opens that version's cuBLASLt by its plain name, and ends the program
/// where there is none (NVIDIA's installation guide names it a need of the legacy convolutions): so
/// it is opened here, and found by its name from then on.
Message whatDnnLacks(int cudaMajor, const std::vector<std::string>& folders);

} // namespace halfscope::cuda
