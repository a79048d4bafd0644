// One device: opening, memory, events, library handles, and sentences for every failure.
#include "engine/cuda/device.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/cuda/platform_info.h"

#include <algorithm>

namespace halfscope::cuda {
namespace {

/// Whether every further call in the process fails after this result, because the context is lost.
/// Numbers stand for results that the headers of CUDA 12.0 do not name.
bool losesDevice(CUresult result) {
    switch (static_cast<int>(result)) {
    case 226: // CUDA_ERROR_CONTAINED
    case 721: // CUDA_ERROR_TENSOR_MEMORY_LEAK
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case CUDA_ERROR_UNKNOWN: return true;
    default: return false;
    }
}

} // namespace

Device::Device(const Api& api, int ordinal, std::string id, std::shared_ptr<DeviceHealth> health)
    : m_api(api), m_id(std::move(id)), m_health(std::move(health)) {
    {
        const std::lock_guard lock(m_health->mutex);
        if (!m_health->failure.empty()) throw EngineError(m_health->failure);
    }
    m_info = deviceInfo(api, ordinal);
    m_traits = deviceTraits(api, ordinal);
    check(driver().cuDeviceGet(&m_device, ordinal), m_id);
    const CUresult result = driver().cuDevicePrimaryCtxRetain(&m_context, m_device);
    if (result == CUDA_ERROR_DEVICE_UNAVAILABLE)
        throw EngineError(
            phrase("Devices",
                   "%1 (%2) is busy: another program uses it alone (compute mode exclusive)"),
            m_id, m_info.name);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        throw EngineError(
            phrase("Devices", "%1 (%2) is busy: other programs left no memory to begin with"), m_id,
            m_info.name);
    check(result, Message(phrase("Devices", "%1 (%2) cannot be opened"), m_id, m_info.name));
    try {
        activate();
        m_stream = makeStream();
    } catch (...) {
        (void)driver().cuDevicePrimaryCtxRelease(m_device);
        throw;
    }
}

Device::~Device() {
    activateQuietly();
#ifdef HALFSCOPE_CUDNN
    m_dnn.reset();
#endif
    m_blas.reset();
    m_stream.reset();
    (void)driver().cuDevicePrimaryCtxRelease(m_device);
}

void Device::activate() const {
    {
        const std::lock_guard lock(m_health->mutex);
        if (!m_health->failure.empty()) throw EngineError(m_health->failure);
    }
    check(driver().cuCtxSetCurrent(m_context), m_id);
}

bool Device::isLost() const {
    const std::lock_guard lock(m_health->mutex);
    return !m_health->failure.empty();
}

void Device::activateQuietly() const noexcept { (void)driver().cuCtxSetCurrent(m_context); }

void Device::fail(CUresult result, const Message& what) const {
    const Message reason(phrase("Devices", "%1: %2"), what, resultText(m_api, result));
    if (result == CUDA_ERROR_OUT_OF_MEMORY) throw OutOfMemory(reason);
    if (!losesDevice(result)) throw EngineError(reason);
    const std::lock_guard lock(m_health->mutex);
    if (m_health->failure.empty())
        m_health->failure = {
            phrase("Devices", "%1 (%2) failed: %3. It is given up until the program starts again. "
                              "A new run on the device auto or cpu goes on with the CPU."),
            m_id, m_info.name, reason};
    throw EngineError(m_health->failure);
}

void Device::checkStream(const Message& what) const {
    const CUresult state = driver().cuStreamQuery(m_stream.get());
    if (state != CUDA_ERROR_NOT_READY) check(state, what);
}

void Device::fail(cublasStatus_t status, const Message& what) const {
    // A lost device shows first in the libraries; its own words tell more.
    checkStream(what);
    const Message reason(phrase("Devices", "%1: %2 (cuBLASLt)"), what,
                         m_api.blas.cublasLtGetStatusString(status));
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ARCH_MISMATCH)
        throw NoAlgorithm(reason);
    throw EngineError(reason);
}

#ifdef HALFSCOPE_CUDNN
void Device::fail(cudnnStatus_t status, const Message& what) const {
    checkStream(what);
    const Message reason(phrase("Devices", "%1: %2 (cuDNN)"), what,
                         m_api.dnn.cudnnGetErrorString(status));
    // A whole range of results: a shape, a dtype, a GPU that is too old for this cuDNN.
    if (CUDNN_STATUS_CATEGORY(static_cast<int>(status)) == CUDNN_STATUS_NOT_SUPPORTED)
        throw NoConvolution(reason);
    throw EngineError(reason);
}

cudnnHandle_t Device::dnn() {
    if (!m_dnn) {
        cudnnHandle_t handle = nullptr;
        if (const auto status = m_api.dnn.cudnnCreate(&handle); status != CUDNN_STATUS_SUCCESS) {
            checkStream(phrase("Devices", "cuDNN cannot start"));
            throw NoConvolution(phrase("Devices", "cuDNN cannot start: %1"),
                                m_api.dnn.cudnnGetErrorString(status));
        }
        m_dnn = DnnHandle(handle, m_api.dnn.cudnnDestroy);
    }
    return m_dnn.get();
}
#endif

DeviceMemory Device::allocate(size_t bytes, const Message& what) const {
    const size_t wanted = std::max<size_t>(bytes, 256);
    CUdeviceptr pointer = 0;
    const CUresult result = driver().cuMemAlloc(&pointer, wanted);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        size_t free = 0, total = 0;
        check(driver().cuMemGetInfo(&free, &total), what);
        throw OutOfMemory(phrase("Devices", "%1 (%2), %3: %4 needed, %5 free (out of memory; a "
                                            "smaller picture, batch or width needs less)"),
                          m_id, m_info.name, what, sizeText(wanted), sizeText(free));
    }
    check(result, Message(phrase("Devices", "%1: %2 needed"), what, sizeText(wanted)));
    DeviceMemory memory(pointer, driver().cuMemFree);
    check(driver().cuMemsetD8Async(pointer, 0, wanted, stream()),
          Message(phrase("Devices", "%1, zeroing"), what));
    return memory;
}

PinnedMemory Device::allocatePinned(size_t bytes, const Message& what) const {
    void* pointer = nullptr;
    check(driver().cuMemHostAlloc(&pointer, bytes, CU_MEMHOSTALLOC_DEVICEMAP),
          Message(phrase("Devices", "%1: %2 of pinned host memory needed"), what, sizeText(bytes)));
    return {pointer, driver().cuMemFreeHost};
}

StreamHandle Device::makeStream() const {
    CUstream stream = nullptr;
    check(driver().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING),
          Message(phrase("Devices", "%1, stream"), m_id));
    return {stream, driver().cuStreamDestroy};
}

EventHandle Device::makeEvent(unsigned flags) const {
    CUevent event = nullptr;
    check(driver().cuEventCreate(&event, flags), Message(phrase("Devices", "%1, event"), m_id));
    return {event, driver().cuEventDestroy};
}

float Device::millisecondsBetween(const EventHandle& start, const EventHandle& stop) const {
    check(driver().cuEventSynchronize(stop.get()), phrase("Devices", "waiting for the step"));
    float milliseconds = 0;
    check(driver().cuEventElapsedTime(&milliseconds, start.get(), stop.get()),
          phrase("Devices", "device time of the step"));
    return milliseconds;
}

cublasLtHandle_t Device::blas() {
    if (!m_blas) {
        cublasLtHandle_t handle = nullptr;
        if (const auto status = m_api.blas.cublasLtCreate(&handle);
            status != CUBLAS_STATUS_SUCCESS) {
            checkStream(phrase("Devices", "cuBLASLt cannot start"));
            throw NoAlgorithm(phrase("Devices", "cuBLASLt cannot start: %1"),
                              m_api.blas.cublasLtGetStatusString(status));
        }
        m_blas = BlasHandle(handle, m_api.blas.cublasLtDestroy);
    }
    return m_blas.get();
}

} // namespace halfscope::cuda
