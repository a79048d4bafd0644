// The fake driver's modules and kernels: texts that the emulator runs, launches within their
// limits.
#include "tests/emulator/cuda_emulator.h"
#include "tests/fake_cuda/cuda_fake_parts.h"

#include <exception>

namespace halfscope::test {
namespace {

constexpr size_t kMostCompiled = 24;             ///< texts that are kept
constexpr unsigned kPlainSharedBytes = 48 << 10; ///< that every function may have

struct Module {
    std::shared_ptr<EmulatedModule> code;
    std::string text;
};
struct Function {
    Module* module;
    std::string entry;
    unsigned sharedBytes = kPlainSharedBytes;
};

std::map<std::string, std::shared_ptr<EmulatedModule>> compiledTexts; ///< kept for speed
std::vector<std::unique_ptr<Function>> functions;

template <class T, class Handle>
T* as(Handle handle) {
    return reinterpret_cast<T*>(handle);
}

CUresult moduleLoad(CUmodule* module, const void* image) {
    FAKE_ENTER("cuModuleLoadData");
    if (reinterpret_cast<uintptr_t>(image) % 8 != 0)
        fake::complain("machine code, which is an ELF file of 64 bits, at an odd address");
    const std::string text = fake::textOfCode(image);
    // a module holds the stacks of a block's threads, and a process may map so many areas only
    if (!compiledTexts.contains(text) && compiledTexts.size() >= kMostCompiled)
        compiledTexts.clear();
    std::shared_ptr<EmulatedModule>& code = compiledTexts[text];
    if (!code) code = std::make_shared<EmulatedModule>(text);
    *module = reinterpret_cast<CUmodule>(new Module{code, text});
    ++fakeCuda().live;
    return CUDA_SUCCESS;
}
CUresult moduleUnload(CUmodule module) {
    fake::drainAll();
    delete as<Module>(module);
    --fakeCuda().live;
    return fake::entered("cuModuleUnload");
}
CUresult moduleFunction(CUfunction* function, CUmodule module, const char* entry) {
    FAKE_ENTER("cuModuleGetFunction");
    functions.push_back(std::make_unique<Function>(Function{as<Module>(module), entry}));
    *function = reinterpret_cast<CUfunction>(functions.back().get());
    return CUDA_SUCCESS;
}
CUresult functionCost(int* value, CUfunction_attribute which, CUfunction function) {
    FAKE_ENTER("cuFuncGetAttribute");
    if (as<Function>(function)->module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *value = which == CU_FUNC_ATTRIBUTE_NUM_REGS           ? 64
             : which == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES ? 16
                                                           : -1;
    return CUDA_SUCCESS;
}
CUresult functionAttribute(CUfunction function, CUfunction_attribute which, int value) {
    FAKE_ENTER("cuFuncSetAttribute");
    if (which != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        value > fakeCuda().gpus.at(0).sharedBytes)
        return CUDA_ERROR_INVALID_VALUE;
    as<Function>(function)->sharedBytes = static_cast<unsigned>(value);
    return CUDA_SUCCESS;
}
CUresult launch(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned threads,
                unsigned threadsY, unsigned threadsZ, unsigned shared, CUstream stream,
                void** arguments, void**) {
    FAKE_ENTER("cuLaunchKernel");
    if (y * z * threadsY * threadsZ != 1) fake::complain("a launch of more than one dimension");
    const Function& what = *as<Function>(function);
    if (shared > what.sharedBytes || threads > 1024 || x == 0) {
        fake::complain("a launch beyond what the function may have");
        return CUDA_ERROR_INVALID_VALUE;
    }
    cuda::Launch how;
    how.entry = what.entry;
    how.blocks = static_cast<int>(x);
    how.threads = static_cast<int>(threads);
    how.sharedBytes = shared;
    CUdeviceptr pointers[3];
    for (size_t i = 0; i < 3; ++i)
        pointers[i] = *static_cast<CUdeviceptr*>(arguments[i]);
    const std::shared_ptr<EmulatedModule> code = what.module->code;
    const auto& time = fakeCuda().millisecondsOf;
    const double own = time ? time(what.module->text, what.entry) : 0;
    fake::enqueue(stream, [=, first = pointers[0], second = pointers[1], third = pointers[2]] {
        fake::spend(own > 0 ? own : fakeCuda().launchMilliseconds);
        try {
            code->launch(how, reinterpret_cast<std::byte*>(first),
                         reinterpret_cast<std::byte*>(second), reinterpret_cast<unsigned*>(third),
                         fakeCuda().order);
        } catch (const std::exception& error) {
            fake::complain(error.what());
        }
    });
    return CUDA_SUCCESS;
}

} // namespace

namespace fake {

void fillKernels(cuda::DriverApi& api) {
    api.cuModuleLoadData = moduleLoad;
    api.cuModuleUnload = moduleUnload;
    api.cuModuleGetFunction = moduleFunction;
    api.cuFuncGetAttribute = functionCost;
    api.cuFuncSetAttribute = functionAttribute;
    api.cuLaunchKernel = launch;
}

void resetKernels() { functions.clear(); }

} // namespace fake

} // namespace halfscope::test
