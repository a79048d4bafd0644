// Which devices this machine has, and, for those it has not, why. Loads the CUDA module at run time
// through its one exported C function.
#pragma once

#include "engine/exec/executor.h"

#include <optional>
#include <vector>

namespace halfscope {

/// A device that can be asked for: "cpu", "cuda:0".
struct DeviceEntry {
    std::string id;
    DeviceInfo info;
};
struct DeviceList {
    std::vector<DeviceEntry> devices; ///< the CPU first
    std::string cudaUnavailable;      ///< one sentence; empty when CUDA can be used
};

/// Looks once. `modulePath`: where the CUDA module lies; empty searches beside the program, then in
/// the library path.
DeviceList listDevices(const std::string& modulePath = {});

/// "auto", "cpu", "cuda" or "cuda:<index>" to an executor. InputError for an unknown name,
/// EngineError with the reason for a device that is not there. `threads` is for the CPU.
std::unique_ptr<Executor> makeExecutor(const std::string& device, int threads = 0,
                                       const std::string& modulePath = {});

/// The interface of the module: its exported function, named kCudaModuleEntry, fills this. `abi`
/// must equal kCudaModuleAbi. Messages are static strings or live as long as the module.
inline constexpr int kCudaModuleAbi = 1;
inline constexpr const char* kCudaModuleEntry = "halfscopeCudaModule";
struct CudaModuleApi {
    int abi = 0;
    int (*deviceCount)(const char** reason) = nullptr; ///< 0 with a reason when none
    void (*deviceInfo)(int index, DeviceInfo* info) = nullptr;
    Executor* (*createExecutor)(int index) = nullptr; ///< owned by the caller; throws EngineError
};
using CudaModuleEntry = void (*)(CudaModuleApi*);

} // namespace halfscope
