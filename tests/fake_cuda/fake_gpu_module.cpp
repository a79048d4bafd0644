// The CUDA module on the fake machine: a program that loads it (HALFSCOPE_CUDA_MODULE) finds a GPU
// whose kernels the emulator runs. What only a GPU machine is for, gpu tests and the profile, can
// so be played before there is one.
#include "engine/core/error.h"
#include "engine/cuda/cuda_executor.h"
#include "engine/cuda/module_api.h"
#include "tests/fake_cuda/cuda_fake.h"

#include <cstdio>
#include <cstdlib>

namespace halfscope::test {
namespace {

cuda::Platform& platform() {
    static cuda::Platform* const platform = new cuda::Platform(fakeCuda().api());
    return *platform;
}

/// A wrong use of the driver must not pass.
void tellComplaint() {
    if (fakeCuda().complaint.empty()) return;
    std::fprintf(stderr, "fake GPU: %s\n", fakeCuda().complaint.c_str());
    std::_Exit(9);
}

int deviceCount(Message*) { return platform().devices(); }
void deviceInfo(int index, DeviceInfo* info) { *info = platform().info(index); }
Executor* createExecutor(int index, const cuda::StepWriter* writer,
                         const cuda::SourceOptions* options) {
    [[maybe_unused]] static const int atExit = std::atexit(tellComplaint);
    return std::make_unique<cuda::CudaExecutor>(platform().open(index), *writer, *options,
                                                cuda::FileCache(cuda::FileCache::defaultFolder()))
        .release();
}

} // namespace
} // namespace halfscope::test

/// The machine, to be changed before the first look at it and asked afterwards.
extern "C" __attribute__((visibility("default"))) halfscope::test::FakeCuda* halfscopeFakeMachine();
extern "C" halfscope::test::FakeCuda* halfscopeFakeMachine() {
    return &halfscope::test::fakeCuda();
}

extern "C" __attribute__((visibility("default"))) void
halfscopeCudaModule(halfscope::CudaModuleApi* api);

void halfscopeCudaModule(halfscope::CudaModuleApi* api) {
    using namespace halfscope::test;
    *api = {halfscope::kCudaModuleAbi, deviceCount, deviceInfo, createExecutor};
}
