// The one function that the module exports: devices and executors for the program that loads it.
#include "engine/core/error.h"
#include "engine/cuda/cuda_executor.h"
#include "engine/cuda/module_api.h"

namespace halfscope::cuda {
namespace {

/// Made when it is first asked for; the libraries stay open until the program ends.
Platform& platform() {
    static Platform* const platform = new Platform(loadApi());
    return *platform;
}

int deviceCount(Message* reason) {
    if (platform().devices() == 0) *reason = platform().reason();
    return platform().devices();
}

void deviceInfo(int index, DeviceInfo* info) { *info = platform().info(index); }

Executor* createExecutor(int index, const StepWriter* writer, const SourceOptions* options) {
    return std::make_unique<CudaExecutor>(platform().open(index), *writer, *options,
                                          FileCache(FileCache::defaultFolder()))
        .release();
}

} // namespace
} // namespace halfscope::cuda

extern "C" __attribute__((visibility("default"))) void
halfscopeCudaModule(halfscope::CudaModuleApi* api);

void halfscopeCudaModule(halfscope::CudaModuleApi* api) {
    using namespace halfscope::cuda;
    *api = {halfscope::kCudaModuleAbi, deviceCount, deviceInfo, createExecutor};
}
