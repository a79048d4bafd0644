// Which devices this machine has, and, for those it has not, why. Loads the CUDA module at run time
// through its one exported C function.
#pragma once

#include "engine/core/message.h"
#include "engine/exec/executor.h"

#include <optional>
#include <vector>

namespace halfscope {

namespace cuda {
struct SourceOptions; // engine/cuda/codegen
} // namespace cuda

/// A device that can be asked for: "cpu", "cuda:0".
struct DeviceEntry {
    std::string id;
    DeviceInfo info;
};
struct DeviceList {
    std::vector<DeviceEntry> devices; ///< the CPU first
    Message cudaUnavailable;          ///< one sentence; empty when CUDA can be used
};

/// Looks once. `modulePath`: where the CUDA module lies; empty searches beside the program, in
/// ../lib from there, then in the library path.
DeviceList listDevices(const std::string& modulePath = {});

/// "auto", "cpu", "cuda" or "cuda:<index>" to an executor. InputError for an unknown name,
/// EngineError with the reason for a device that is not there. `threads` is for the CPU.
std::unique_ptr<Executor> makeExecutor(const std::string& device, int threads = 0,
                                       const std::string& modulePath = {});

/// As makeExecutor("cuda:<index>"), with steps written in another way than the usual one, for tests
/// that compare both.
std::unique_ptr<Executor> makeCudaExecutor(int index, const cuda::SourceOptions&,
                                           const std::string& modulePath = {});

/// An executor, and why it is not one for CUDA where the name left that open.
struct DeviceChoice {
    std::unique_ptr<Executor> executor;
    Message cudaUnavailable; ///< one sentence; empty when CUDA is used or was not to be
};
/// As makeExecutor(); "auto" takes the CPU when CUDA's first device cannot be opened, too.
DeviceChoice chooseDevice(const std::string& device, int threads = 0,
                          const std::string& modulePath = {});

} // namespace halfscope
