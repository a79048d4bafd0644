// The fake driver: devices, and memory with guard bands. What is enqueued is in
// cuda_fake_streams.cpp, kernels are in cuda_fake_kernels.cpp.
#include "tests/fake_cuda/cuda_fake.h"

#include "tests/fake_cuda/cuda_fake_parts.h"

#include <algorithm>
#include <cstring>

namespace halfscope::test {
namespace {

constexpr size_t kGuard = 256;
constexpr int kGuardByte = 0xA7;

struct Allocation {
    std::vector<std::byte> bytes; ///< with guards around
    size_t size = 0;
    bool pinned = false;
};
/// By the address that kernels see.
std::map<CUdeviceptr, std::unique_ptr<Allocation>> memory;

// ---- devices -----------------------------------------------------------------------------------

CUresult init(unsigned) { return fake::entered("cuInit"); }
CUresult driverVersion(int* version) {
    FAKE_ENTER("cuDriverGetVersion");
    *version = fakeCuda().driverVersion;
    return CUDA_SUCCESS;
}
CUresult errorName(CUresult error, const char** name) {
    *name = error == CUDA_ERROR_OUT_OF_MEMORY     ? "CUDA_ERROR_OUT_OF_MEMORY"
            : error == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : error == CUDA_ERROR_LAUNCH_FAILED   ? "CUDA_ERROR_LAUNCH_FAILED"
            : error == CUDA_ERROR_INVALID_VALUE   ? "CUDA_ERROR_INVALID_VALUE"
            : error == CUDA_ERROR_NOT_INITIALIZED ? "CUDA_ERROR_NOT_INITIALIZED"
                                                  : nullptr;
    return *name != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult errorString(CUresult error, const char** text) {
    *text = error == CUDA_ERROR_OUT_OF_MEMORY     ? "out of memory"
            : error == CUDA_ERROR_ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
                                                  : "a fake error";
    return CUDA_SUCCESS;
}
CUresult deviceCount(int* count) {
    FAKE_ENTER("cuDeviceGetCount");
    *count = static_cast<int>(fakeCuda().gpus.size());
    return CUDA_SUCCESS;
}
const FakeGpu& gpu(CUdevice device) { return fakeCuda().gpus.at(static_cast<size_t>(device)); }
CUresult deviceGet(CUdevice* device, int ordinal) {
    FAKE_ENTER("cuDeviceGet");
    *device = ordinal;
    return CUDA_SUCCESS;
}
CUresult deviceName(char* name, int bytes, CUdevice device) {
    FAKE_ENTER("cuDeviceGetName");
    std::strncpy(name, gpu(device).name.c_str(), static_cast<size_t>(bytes));
    return CUDA_SUCCESS;
}
CUresult attribute(int* value, CUdevice_attribute which, CUdevice device) {
    FAKE_ENTER("cuDeviceGetAttribute");
    switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = gpu(device).major; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = gpu(device).minor; break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = gpu(device).multiprocessors; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *value = gpu(device).sharedBytes;
        break;
    default: fake::complain("an attribute that the fake does not know"); *value = 0;
    }
    return CUDA_SUCCESS;
}
CUresult totalMemory(size_t* bytes, CUdevice device) {
    FAKE_ENTER("cuDeviceTotalMem");
    *bytes = gpu(device).bytes;
    return CUDA_SUCCESS;
}
/// How often a device's primary context is held. One that nobody holds any more is gone, and the
/// next one is another.
std::map<CUdevice, int> held;
std::map<CUcontext, CUdevice> contexts;
intptr_t lastContext = 0;
thread_local CUcontext current = nullptr;

CUresult retain(CUcontext* context, CUdevice device) {
    FAKE_ENTER("cuDevicePrimaryCtxRetain");
    if (held[device]++ == 0) contexts[reinterpret_cast<CUcontext>(++lastContext)] = device;
    for (const auto& [existing, of] : contexts)
        if (of == device) *context = existing;
    ++fakeCuda().live;
    return CUDA_SUCCESS;
}
CUresult release(CUdevice device) {
    --fakeCuda().live;
    if (--held[device] == 0)
        std::erase_if(contexts, [&](const auto& entry) { return entry.second == device; });
    return fake::entered("cuDevicePrimaryCtxRelease");
}
CUresult setCurrent(CUcontext context) {
    FAKE_ENTER("cuCtxSetCurrent");
    current = context;
    return CUDA_SUCCESS;
}

// ---- memory ------------------------------------------------------------------------------------

CUdeviceptr allocate(size_t bytes, bool pinned) {
    auto allocation = std::make_unique<Allocation>();
    allocation->bytes.assign(bytes + 3 * kGuard, static_cast<std::byte>(kGuardByte));
    allocation->size = bytes;
    allocation->pinned = pinned;
    const auto base = reinterpret_cast<CUdeviceptr>(allocation->bytes.data());
    const CUdeviceptr at = (base + 2 * kGuard - 1) / kGuard * kGuard;
    memory.emplace(at, std::move(allocation));
    ++fakeCuda().live;
    return at;
}
void deallocate(CUdeviceptr at) {
    fake::drainAll();
    const auto found = memory.find(at);
    if (found == memory.end()) return fake::complain("memory given back that is none");
    const Allocation& allocation = *found->second;
    const std::byte *first = reinterpret_cast<std::byte*>(at), *last = first + allocation.size;
    const std::byte *begin = allocation.bytes.data(), *end = begin + allocation.bytes.size();
    for (const std::byte* p = begin; p < end; ++p)
        if ((p < first || p >= last) && *p != static_cast<std::byte>(kGuardByte)) {
            fake::complain("a kernel or copy wrote outside its memory");
            break;
        }
    if (!allocation.pinned) fakeCuda().used -= allocation.size;
    memory.erase(found);
    --fakeCuda().live;
}

CUresult memoryInfo(size_t* free, size_t* total) {
    FAKE_ENTER("cuMemGetInfo");
    *total = gpu(0).bytes;
    *free = *total - fakeCuda().used;
    return CUDA_SUCCESS;
}
CUresult memoryAllocate(CUdeviceptr* at, size_t bytes) {
    FAKE_ENTER("cuMemAlloc");
    if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    if (bytes > gpu(0).bytes - fakeCuda().used) return CUDA_ERROR_OUT_OF_MEMORY;
    fakeCuda().used += bytes;
    *at = allocate(bytes, false);
    return CUDA_SUCCESS;
}
CUresult memoryFree(CUdeviceptr at) {
    deallocate(at);
    return fake::entered("cuMemFree");
}
CUresult hostAllocate(void** at, size_t bytes, unsigned flags) {
    FAKE_ENTER("cuMemHostAlloc");
    if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    if ((flags & CU_MEMHOSTALLOC_WRITECOMBINED) != 0)
        fake::complain("pinned memory that the processor reads at a crawl");
    *at = reinterpret_cast<void*>(allocate(bytes, true));
    return CUDA_SUCCESS;
}
CUresult hostFree(void* at) {
    deallocate(reinterpret_cast<CUdeviceptr>(at));
    return fake::entered("cuMemFreeHost");
}
CUresult devicePointer(CUdeviceptr* device, void* host, unsigned) {
    FAKE_ENTER("cuMemHostGetDevicePointer");
    *device = reinterpret_cast<CUdeviceptr>(host);
    return CUDA_SUCCESS;
}
/// What the driver makes of copies and fills of nothing is nowhere written.
void refuseNothing(const char* function, size_t bytes) {
    if (bytes == 0) fake::complain(std::string(function) + " of no bytes");
}
CUresult copyToDevice(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
    FAKE_ENTER("cuMemcpyHtoDAsync");
    refuseNothing("cuMemcpyHtoDAsync", bytes);
    // read late: the bytes must still be there
    fake::enqueue(stream, [=] { std::memcpy(fake::memoryAt(to, bytes, "upload"), from, bytes); });
    return CUDA_SUCCESS;
}
CUresult copyToHost(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
    FAKE_ENTER("cuMemcpyDtoHAsync");
    refuseNothing("cuMemcpyDtoHAsync", bytes);
    fake::enqueue(stream, [=] { std::memcpy(to, fake::memoryAt(from, bytes, "download"), bytes); });
    return CUDA_SUCCESS;
}
CUresult copyOnDevice(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    FAKE_ENTER("cuMemcpyDtoDAsync");
    refuseNothing("cuMemcpyDtoDAsync", bytes);
    if (to < from + bytes && from < to + bytes && bytes > 0)
        fake::complain("a copy between places that overlap");
    fake::enqueue(stream, [=] {
        std::memmove(fake::memoryAt(to, bytes, "copy"), fake::memoryAt(from, bytes, "copy"), bytes);
    });
    return CUDA_SUCCESS;
}
CUresult fillMemory(CUdeviceptr at, unsigned char value, size_t bytes, CUstream stream) {
    FAKE_ENTER("cuMemsetD8Async");
    refuseNothing("cuMemsetD8Async", bytes);
    fake::enqueue(stream, [=] { std::memset(fake::memoryAt(at, bytes, "fill"), value, bytes); });
    return CUDA_SUCCESS;
}

} // namespace

namespace fake {

std::recursive_mutex& machineMutex() {
    static std::recursive_mutex mutex;
    return mutex;
}

int enter(const char* function) {
    const std::lock_guard lock(machineMutex());
    FakeCuda& machine = fakeCuda();
    const int call = ++machine.calls[function];
    if (machine.watch) machine.watch(function);
    const FakeFault& fault = machine.fault;
    if (fault.function != function) return 0;
    return call == fault.call || (fault.stays && call > fault.call) ? fault.result : 0;
}

bool hasContext() { return contexts.contains(current); }

void complain(const std::string& what) {
    if (fakeCuda().complaint.empty()) fakeCuda().complaint = what;
}

std::byte* memoryAt(CUdeviceptr at, size_t bytes, const char* who) {
    auto found = memory.upper_bound(at);
    static std::vector<std::byte> nowhere;
    if (found != memory.begin()) {
        --found;
        if (at + bytes <= found->first + found->second->size)
            return reinterpret_cast<std::byte*>(at);
    }
    complain(std::string(who) + " outside of all memory");
    nowhere.resize(bytes);
    return nowhere.data();
}

void fillDriver(cuda::DriverApi& api) {
    api.cuInit = init;
    api.cuDriverGetVersion = driverVersion;
    api.cuGetErrorName = errorName;
    api.cuGetErrorString = errorString;
    api.cuDeviceGetCount = deviceCount;
    api.cuDeviceGet = deviceGet;
    api.cuDeviceGetName = deviceName;
    api.cuDeviceGetAttribute = attribute;
    api.cuDeviceTotalMem = totalMemory;
    api.cuDevicePrimaryCtxRetain = retain;
    api.cuDevicePrimaryCtxRelease = release;
    api.cuCtxSetCurrent = setCurrent;
    api.cuMemGetInfo = memoryInfo;
    api.cuMemAlloc = memoryAllocate;
    api.cuMemFree = memoryFree;
    api.cuMemHostAlloc = hostAllocate;
    api.cuMemFreeHost = hostFree;
    api.cuMemHostGetDevicePointer = devicePointer;
    api.cuMemcpyHtoDAsync = copyToDevice;
    api.cuMemcpyDtoHAsync = copyToHost;
    api.cuMemcpyDtoDAsync = copyOnDevice;
    api.cuMemsetD8Async = fillMemory;
    fillStreams(api);
    fillKernels(api);
}

void resetDriver() {
    resetStreams(); // what is enqueued there may point to memory
    resetKernels();
    memory.clear();
    contexts.clear();
    held.clear();
    current = nullptr;
}

} // namespace fake

FakeCuda& fakeCuda() {
    static FakeCuda machine;
    return machine;
}

void resetFakeCuda() {
    fakeCuda() = {};
    fake::resetDriver();
}

cuda::Api FakeCuda::api() const {
    cuda::Api api;
    const auto has = [this](const char* library) {
        return std::find(missing.begin(), missing.end(), library) == missing.end();
    };
    has("driver") ? fake::fillDriver(api.driver)
                  : void(api.noDriver = Message::data("there is no NVIDIA driver"));
    has("compiler") ? fake::fillCompiler(api.compiler)
                    : void(api.noCompiler = Message::data("NVRTC is missing"));
    has("blas") ? fake::fillBlas(api.blas)
                : void(api.noBlas = Message::data("cuBLASLt is missing"));
    const bool dnn = kHasDnn && has("dnn");
    dnn ? fake::fillDnn(api.dnn) : void(api.noDnn = Message::data("cuDNN is missing"));
    return api;
}

} // namespace halfscope::test
