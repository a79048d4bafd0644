// Finds the CUDA module, asks it for its devices, and says in one sentence why there are none. The
// executors themselves are elsewhere.
#include "engine/devices/device_list.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/cuda/codegen/step_writer.h"
#include "engine/cuda/module_api.h"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

namespace halfscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModuleName = "libhalfscope_cuda.so";
constexpr const char* kModuleVariable = "HALFSCOPE_CUDA_MODULE"; ///< a file or its folder

/// The module's functions, or why there are none.
struct Module {
    CudaModuleApi api;
    int devices = 0;
    Message unavailable; ///< empty when `devices` is at least 1
};

Module unavailable(Message why) {
    Module module;
    module.unavailable = std::move(why);
    return module;
}

fs::path programFolder() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path() : program.parent_path();
}

/// Whether everybody who can change the file could also change the program: its owner and the
/// administrator. Returns an empty message, or why not.
Message distrust(const fs::path& file) {
    struct stat program {
    }, module{}, folder{};
    if (::stat("/proc/self/exe", &program) != 0 || ::stat(file.c_str(), &module) != 0 ||
        ::stat(file.parent_path().c_str(), &folder) != 0)
        return phrase("Devices", "its owner cannot be found out");
    for (const struct stat& each : {module, folder}) {
        const bool known =
            each.st_uid == 0 || each.st_uid == program.st_uid || each.st_uid == ::geteuid();
        if (!known) return phrase("Devices", "it belongs to another user");
        if ((each.st_mode & S_IWOTH) != 0) return phrase("Devices", "everyone may write there");
    }
    return {};
}

/// Returns the path of the module when the user has named none; empty when there is no module.
fs::path installedModule() {
    std::error_code ignored;
    const fs::path here = programFolder();
    std::vector<fs::path> folders{here};
    if (here.filename() == "bin") // elsewhere, lib belongs to somebody else
        for (const char* lib : {"lib", "lib/halfscope"})
            folders.push_back(here.parent_path() / lib);
    for (const fs::path& folder : folders)
        if (fs::exists(folder / kModuleName, ignored)) return folder / kModuleName;
    return {};
}

/// Returns the file that the user has named, or the module in the folder that the user has named.
fs::path namedModule(const fs::path& given) {
    std::error_code ignored;
    return fs::is_directory(given, ignored) ? given / kModuleName : given;
}

Message notFound(const std::string& modulePath) {
    if (!modulePath.empty())
        return {phrase("Devices", "CUDA module not installed: %1 was not found"), modulePath};
    return {phrase("Devices", "CUDA module not installed: %1 was not found next to the program"),
            kModuleName};
}

Module checked(void* handle, const std::string& file) {
    const auto entry = reinterpret_cast<CudaModuleEntry>(::dlsym(handle, kCudaModuleEntry));
    if (entry == nullptr)
        return unavailable({phrase("Devices", "%1 is not a CUDA module of Halfscope"), file});
    Module module;
    entry(&module.api);
    if (module.api.abi != kCudaModuleAbi)
        return unavailable(
            {phrase("Devices", "%1 is for another version of Halfscope (module %2, program %3)"),
             file, module.api.abi, kCudaModuleAbi});
    Message reason;
    module.devices = module.api.deviceCount(&reason);
    if (module.devices > 0) return module;
    if (reason.empty()) reason = phrase("Devices", "the CUDA module found no device");
    return unavailable(std::move(reason));
}

Module loadModule(std::string modulePath) {
    const char* variable = std::getenv(kModuleVariable);
    if (modulePath.empty() && variable != nullptr) modulePath = variable;
    const bool named = !modulePath.empty();
    const fs::path place = named ? namedModule(modulePath) : installedModule();
    std::error_code ignored;
    if (named && !fs::exists(place, ignored)) return unavailable(notFound(modulePath));
    if (!named && !place.empty())
        if (const Message why = distrust(place); !why.empty())
            return unavailable({phrase("Devices", "CUDA module is not loaded from %1: %2"),
                                pathText(place.string()), why});
    const bool searched = place.empty(); // only the loader's own search is left
    const std::string file = searched ? kModuleName : place.string();
    // NODELETE: executors, the exceptions they throw and the module's messages need its code until
    // the program ends, and the CUDA libraries do not support being unloaded.
    void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle != nullptr) return checked(handle, file);
    const char* text = ::dlerror();
    const std::string reason = text != nullptr ? text : "unknown reason";
    // The loader first names what it did not find: the module itself, or a library that it needs.
    if (searched && reason.starts_with(kModuleName)) return unavailable(notFound(modulePath));
    return unavailable({phrase("Devices", "CUDA module cannot be loaded: %1"), reason});
}

std::string cudaId(int index) { return "cuda:" + std::to_string(index); }

std::unique_ptr<Executor> createExecutor(const Module& module, int index,
                                         const cuda::SourceOptions& options = {}) {
    if (index >= module.devices) {
        if (module.devices == 1)
            throw EngineError(phrase("Devices", "device %1 does not exist: this machine has %2"),
                              cudaId(index), cudaId(0));
        throw EngineError(phrase("Devices", "device %1 does not exist: this machine has %2 to %3"),
                          cudaId(index), cudaId(0), cudaId(module.devices - 1));
    }
    const cuda::StepWriter writer = cuda::stepWriter();
    std::unique_ptr<Executor> executor(module.api.createExecutor(index, &writer, &options));
    require(executor != nullptr, "the CUDA module did not create an executor");
    return executor;
}

/// Returns the index in "cuda" or "cuda:<index>", or nothing for any other text.
std::optional<int> cudaIndex(std::string_view device) {
    if (device == "cuda") return 0;
    constexpr std::string_view kPrefix = "cuda:";
    if (!device.starts_with(kPrefix)) return std::nullopt;
    const std::string_view digits = device.substr(kPrefix.size());
    int index = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error != std::errc() || end != digits.data() + digits.size() || index < 0)
        return std::nullopt;
    return index;
}

} // namespace

DeviceList listDevices(const std::string& modulePath) {
    DeviceList list;
    list.devices.push_back({"cpu", makeCpuExecutor()->device()});
    const Module module = loadModule(modulePath);
    list.cudaUnavailable = module.unavailable;
    for (int index = 0; index < module.devices; ++index) {
        DeviceEntry entry{cudaId(index), {}};
        module.api.deviceInfo(index, &entry.info);
        list.devices.push_back(std::move(entry));
    }
    return list;
}

DeviceChoice chooseDevice(const std::string& device, int threads, const std::string& modulePath) {
    if (device == "cpu") return {makeCpuExecutor(threads), {}};
    const std::optional<int> index = cudaIndex(device);
    const bool open = device == "auto";
    if (!open && !index)
        throw InputError(
            phrase("Devices",
                   "device: %1 is not known; allowed are auto, cpu, cuda and cuda:<index>"),
            quotedText(device));
    const Module module = loadModule(modulePath);
    if (module.devices == 0) {
        if (!open)
            throw EngineError(phrase("Devices", "device %1 is not there: %2"), device,
                              module.unavailable);
        return {makeCpuExecutor(threads), module.unavailable};
    }
    try {
        return {createExecutor(module, index.value_or(0)), {}};
    } catch (const EngineError& error) {
        if (!open) throw;
        return {makeCpuExecutor(threads), error.message()};
    }
}

std::unique_ptr<Executor> makeExecutor(const std::string& device, int threads,
                                       const std::string& modulePath) {
    return chooseDevice(device, threads, modulePath).executor;
}

std::unique_ptr<Executor> makeCudaExecutor(int index, const cuda::SourceOptions& options,
                                           const std::string& modulePath) {
    const Module module = loadModule(modulePath);
    if (module.devices > 0) return createExecutor(module, index, options);
    throw EngineError(phrase("Devices", "device %1 is not there: %2"), cudaId(index),
                      module.unavailable);
}

} // namespace halfscope
