// The list of devices and why it is empty, device properties, versions, and errors in words.
#include "engine/cuda/platform_info.h"

#include "engine/core/error.h"
#include "engine/cuda/device.h"
#include "engine/cuda/library.h"

namespace halfscope::cuda {
namespace {

void checkQuery(const Api& api, CUresult result, const std::string& what) {
    if (result != CUDA_SUCCESS)
        throw EngineError(within(what, Message::data(resultText(api, result))));
}

int attribute(const Api& api, int ordinal, CUdevice_attribute which) {
    CUdevice device = 0;
    int value = 0;
    const std::string what = "cuda:" + std::to_string(ordinal);
    checkQuery(api, api.driver.cuDeviceGet(&device, ordinal), what);
    checkQuery(api, api.driver.cuDeviceGetAttribute(&value, which, device), what);
    return value;
}

/// Returns why cuInit() refused, for the reasons that people meet.
Message initReason(const Api& api, CUresult result) {
    switch (result) {
    case CUDA_ERROR_NO_DEVICE:
        return phrase("Devices", "there is no NVIDIA GPU that the driver can use");
    case CUDA_ERROR_STUB_LIBRARY:
        return phrase("Devices",
                      "there is no NVIDIA driver: libcuda.so.1 is the toolkit's stub for linking");
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        return phrase("Devices", "the NVIDIA driver was updated: its library does not fit the "
                                 "running kernel module (restart the machine)");
    case CUDA_ERROR_SYSTEM_NOT_READY:
        return phrase("Devices",
                      "the NVIDIA driver is not ready: a service that it needs is not running");
    default:
        return {phrase("Devices", "the NVIDIA driver does not start: %1"), resultText(api, result)};
    }
}

Message driverReason(const Api& api) {
    int version = 0;
    const CUresult result = api.driver.cuDriverGetVersion(&version);
    if (result != CUDA_SUCCESS) return initReason(api, result);
    // Within a major version, code for a newer minor version runs on an older driver, and libraries
    // are only searched for in a major version that the driver runs.
    if (version / 1000 < kOldestCuda)
        return {
            phrase(
                "Devices",
                "the NVIDIA driver is too old: it supports CUDA %1, at least CUDA %2.0 is needed"),
            versionText(version), kOldestCuda};
    return {};
}

} // namespace

std::string resultText(const Api& api, CUresult result) {
    const char *name = nullptr, *text = nullptr;
    (void)api.driver.cuGetErrorName(result, &name);
    (void)api.driver.cuGetErrorString(result, &text);
    return std::string(text != nullptr ? text : "unknown error") + " (" +
           (name != nullptr ? name : std::to_string(static_cast<int>(result)).c_str()) + ")";
}

std::string versionText(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string librariesText(const Api& api) {
    int driver = 0;
    (void)api.driver.cuDriverGetVersion(&driver);
    std::string text = "CUDA driver " + versionText(driver);
    if (api.noCompiler.empty()) {
        int major = 0, minor = 0;
        (void)api.compiler.nvrtcVersion(&major, &minor);
        text += ", NVRTC " + std::to_string(major) + "." + std::to_string(minor);
    }
    if (api.noBlas.empty()) {
        const size_t version = api.blas.cublasLtGetVersion(); // 130100 is 13.1.0
        text += ", cuBLASLt " + std::to_string(version / 10000) + "." +
                std::to_string(version / 100 % 100);
    } else {
        text += ", own matrix products (" + api.noBlas.english() + ")";
    }
#ifdef HALFSCOPE_CUDNN
    if (api.noDnn.empty()) {
        const size_t version = api.dnn.cudnnGetVersion(); // 91900 is 9.19.0
        return text + ", cuDNN " + std::to_string(version / 10000) + "." +
               std::to_string(version / 100 % 100);
    }
#endif
    return text + ", own convolutions (" + api.noDnn.english() + ")";
}

DeviceInfo deviceInfo(const Api& api, int ordinal) {
    CUdevice device = 0;
    char name[256] = {};
    size_t bytes = 0;
    const std::string what = "cuda:" + std::to_string(ordinal);
    checkQuery(api, api.driver.cuDeviceGet(&device, ordinal), what);
    checkQuery(api, api.driver.cuDeviceGetName(name, sizeof name - 1, device), what);
    checkQuery(api, api.driver.cuDeviceTotalMem(&bytes, device), what);
    return {name, "cuda", librariesText(api), bytes};
}

DeviceTraits deviceTraits(const Api& api, int ordinal) {
    const int major = attribute(api, ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    const int minor = attribute(api, ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    const int shared =
        attribute(api, ordinal, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    return {10 * major + minor, attribute(api, ordinal, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
            static_cast<size_t>(shared)};
}

Platform::Platform(Api api) : m_api(std::move(api)) {
    m_reason = m_api.noDriver;
    if (m_reason.empty()) m_reason = driverReason(m_api);
    if (m_reason.empty()) m_reason = m_api.noCompiler;
    if (m_reason.empty()) {
        const CUresult result = m_api.driver.cuInit(0);
        if (result != CUDA_SUCCESS) m_reason = initReason(m_api, result);
    }
    if (m_reason.empty()) findDevices();
}

void Platform::findDevices() {
    int count = 0;
    const CUresult result = m_api.driver.cuDeviceGetCount(&count);
    if (result != CUDA_SUCCESS || count == 0) {
        m_reason = initReason(m_api, result == CUDA_SUCCESS ? CUDA_ERROR_NO_DEVICE : result);
        return;
    }
    Message tooOld;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        try {
            const int capability = deviceTraits(m_api, ordinal).capability;
            if (capability >= kLowestCapability) {
                m_ordinals.push_back(ordinal);
                continue;
            }
            tooOld = {
                phrase(
                    "Devices",
                    "the GPU is too old: %1 has compute capability %2.%3, at least 7.5 is needed"),
                deviceInfo(m_api, ordinal).name, capability / 10, capability % 10};
        } catch (const EngineError& error) {
            tooOld = error.message();
        }
    }
    if (m_ordinals.empty()) m_reason = tooOld;
    m_open.resize(m_ordinals.size());
    for (size_t i = 0; i < m_ordinals.size(); ++i)
        m_health.push_back(std::make_shared<DeviceHealth>());
}

DeviceInfo Platform::info(int index) const {
    return deviceInfo(m_api, m_ordinals[static_cast<size_t>(index)]);
}

std::shared_ptr<Device> Platform::open(int index) {
    const std::lock_guard lock(m_mutex);
    const auto at = static_cast<size_t>(index);
    std::shared_ptr<Device>& device = m_open[at];
    if (device == nullptr)
        device = std::make_shared<Device>(m_api, m_ordinals[at], "cuda:" + std::to_string(index),
                                          m_health[at]);
    device->activate(); // it may have failed while others hold it
    return device;
}

} // namespace halfscope::cuda
