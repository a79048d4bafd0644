// The interface of the CUDA module, which the engine loads at run time (engine/devices).
#pragma once

#include "engine/core/message.h"
#include "engine/exec/executor.h"

namespace halfscope {

namespace cuda {
struct SourceOptions;
struct StepWriter;
} // namespace cuda

/// The version of the module's interface. The module's exported function, named kCudaModuleEntry,
/// fills a CudaModuleApi; its `abi` must equal kCudaModuleAbi. Messages are static strings or live
/// as long as the module.
inline constexpr int kCudaModuleAbi = 10;
inline constexpr const char* kCudaModuleEntry = "halfscopeCudaModule";
struct CudaModuleApi {
    int abi = 0;
    int (*deviceCount)(Message* reason) = nullptr; ///< 0 with a reason when there are none
    void (*deviceInfo)(int index, DeviceInfo* info) = nullptr;
    /// Makes an executor that the caller owns. Throws EngineError. The pointers are used only
    /// during the call.
    Executor* (*createExecutor)(int index, const cuda::StepWriter*,
                                const cuda::SourceOptions*) = nullptr;
};
using CudaModuleEntry = void (*)(CudaModuleApi*);

} // namespace halfscope
