// Which devices this machine has and, for those that it lacks, why. Loads the CUDA module at run
// time through its one exported C function.
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

/// Looks for devices once. `modulePath` is where the CUDA module is; when it is empty, the module
/// is searched beside the program, in ../lib from there, then in the library path.
DeviceList listDevices(const std::string& modulePath = {});

/// Makes the executor for "auto", "cpu", "cuda" or "cuda:<index>". Throws InputError for an unknown
/// name, and EngineError with the reason for a device that is not there. `threads` is for the CPU.
std::unique_ptr<Executor> makeExecutor(const std::string& device, int threads = 0,
                                       const std::string& modulePath = {});

/// Does the same as makeExecutor("cuda:<index>"), but its steps are written in another way than
/// usual, for tests that compare both.
std::unique_ptr<Executor> makeCudaExecutor(int index, const cuda::SourceOptions&,
                                           const std::string& modulePath = {});

/// An executor and, if the name left that open, the reason why it is not one for CUDA.
struct DeviceChoice {
    std::unique_ptr<Executor> executor;
    Message cudaUnavailable; ///< one sentence; empty when CUDA is used or was not asked for
};
/// Does the same as makeExecutor(), but "auto" also takes the CPU when CUDA's first device cannot
/// be opened.
DeviceChoice chooseDevice(const std::string& device, int threads = 0,
                          const std::string& modulePath = {});

} // namespace halfscope
