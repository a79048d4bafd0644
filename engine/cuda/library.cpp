// Searches for CUDA's libraries, and fills the tables of api.h from them.
#include "engine/cuda/library.h"

#include "engine/cuda/api.h"
#include "engine/io/open_folder.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <dlfcn.h>

namespace halfscope::cuda {
namespace {

namespace fs = std::filesystem;

constexpr int kMajor = CUDA_VERSION / 1000, kMinor = CUDA_VERSION % 1000 / 10;
constexpr const char* kFoldersVariable = "HALFSCOPE_CUDA_LIBRARIES";
/// Where containers of Kubernetes, WSL and NixOS have the driver, which the loader may not know.
const std::vector<std::string> kDriverFolders{"/usr/local/nvidia/lib64", "/usr/lib/wsl/lib",
                                              "/run/opengl-driver/lib"};
constexpr Phrase kWhere =
    phrase("Devices", "install it or name its folder in HALFSCOPE_CUDA_LIBRARIES");

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

/// Returns the subfolders of `folder`, sorted, so that every search takes the same path.
std::vector<fs::path> subfolders(const fs::path& folder) {
    std::vector<fs::path> found;
    for (const std::string& name : namesIn(folder.string(), Entries::Folders))
        found.push_back(folder / name);
    std::sort(found.begin(), found.end());
    return found;
}

void addIfThere(const fs::path& folder, std::vector<std::string>& to) {
    std::error_code ignored;
    if (!folder.empty() && fs::is_directory(folder, ignored)) to.push_back(folder.string());
}

/// Adds nvidia/*/lib, where NVIDIA's Python wheels put libraries.
void addWheels(const fs::path& nvidia, std::vector<std::string>& to) {
    for (const fs::path& part : subfolders(nvidia))
        addIfThere(part / "lib", to);
}

/// Adds a folder that the user has named: itself, a toolkit's root, or the folder of the wheels.
void addGiven(const fs::path& folder, std::vector<std::string>& to) {
    if (folder.empty()) return;
    addIfThere(folder, to);
    addIfThere(folder / "lib64", to);
    addIfThere(folder / "lib", to);
    addWheels(folder, to);
    addWheels(folder / "nvidia", to);
}

std::vector<std::string> givenFolders() {
    std::vector<std::string> folders;
    const std::string list = environment(kFoldersVariable);
    for (size_t begin = 0; begin <= list.size();) {
        const size_t end = std::min(list.find(':', begin), list.size());
        addGiven(list.substr(begin, end - begin), folders);
        begin = end + 1;
    }
    return folders;
}

/// Returns the folder of this code: that of the module, or of a test's program.
fs::path ownFolder() {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<const void*>(&libraryFolders), &info) == 0 ||
        info.dli_fname == nullptr)
        return {};
    std::error_code ignored;
    const fs::path file = fs::absolute(info.dli_fname, ignored);
    return file.parent_path();
}

/// Adds NVIDIA's packages for the Pythons of an installation or a virtual environment.
void addPythons(const fs::path& root, std::vector<std::string>& to) {
    if (root.empty()) return;
    for (const fs::path& python : subfolders(root / "lib"))
        for (const char* packages : {"site-packages", "dist-packages"})
            if (python.filename().string().starts_with("python3"))
                addWheels(python / packages / "nvidia", to);
}

/// Returns the environment or installation of the python3 that a shell would start.
fs::path rootOfPython() {
    const std::string path = environment("PATH");
    for (size_t begin = 0; begin < path.size();) {
        const size_t end = std::min(path.find(':', begin), path.size());
        fs::path file = fs::path(path.substr(begin, end - begin)) / "python3";
        begin = end + 1;
        std::error_code error;
        if (!fs::exists(file, error)) continue;
        // an environment's python3 is a link to another one, and so may be the one on the PATH
        for (int links = 0; links < 16; ++links) {
            const fs::path root = file.parent_path().parent_path();
            const bool isLink = fs::is_symlink(file, error);
            if (!isLink || fs::exists(root / "pyvenv.cfg", error)) return root;
            const fs::path next = fs::read_symlink(file, error);
            file = (next.is_absolute() ? next : file.parent_path() / next).lexically_normal();
        }
    }
    return {};
}

void addToolkits(std::vector<std::string>& to) {
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const fs::path root = environment(variable); !root.empty()) {
            addIfThere(root / "lib64", to);
            addIfThere(root / "lib", to);
        }
#ifdef HALFSCOPE_CUDA_ROOT
    for (const char* folder : {"lib64", "lib"})
        addIfThere(fs::path(HALFSCOPE_CUDA_ROOT) / folder, to);
#endif
    const std::string major = std::to_string(kMajor),
                      version = major + "." + std::to_string(kMinor);
    std::vector<fs::path> roots{"/usr/local/cuda-" + version, "/usr/local/cuda-" + major,
                                "/usr/local/cuda", "/opt/cuda"};
    std::vector<fs::path> others = subfolders("/usr/local");
    std::reverse(others.begin(), others.end()); // newer ones first
    for (const fs::path& other : others)
        if (other.filename().string().starts_with("cuda-")) roots.push_back(other);
    for (const fs::path& root : roots)
        addIfThere(root / "lib64", to);
}

/// Fills one member; returns false and sets the reason when the library has no such function.
template <class Function>
bool take(const Library& library, const char* name, Function& to, Message& reason) {
    to = reinterpret_cast<Function>(library.find(name));
    if (to != nullptr) return true;
    reason = {phrase("Devices", "%1 has no function %2: it is of another version"), library.path,
              name};
    return false;
}

#define HALFSCOPE_TEXT(name) #name
#define HALFSCOPE_TAKE(name) &&take(library, HALFSCOPE_TEXT(name), table.name, reason)

} // namespace

void fill(const Library& library, DriverApi& table, Message& reason) {
    if (!library.handle) {
        reason = {phrase("Devices", "there is no NVIDIA driver: %1"), library.reason};
        return;
    }
    (void)(true HALFSCOPE_DRIVER_FUNCTIONS(HALFSCOPE_TAKE));
    // Only the driver gets new functions while its name stays the same.
    if (!reason.empty()) reason = {phrase("Devices", "the NVIDIA driver is too old: %1"), reason};
}

namespace {

void fill(const Library& library, CompilerApi& table, Message& reason) {
    if (!library.handle)
        reason = {phrase("Devices", "NVRTC is missing: %1"), library.reason};
    else
        (void)(true HALFSCOPE_COMPILER_FUNCTIONS(HALFSCOPE_TAKE));
}
void fill(const Library& library, BlasApi& table, Message& reason) {
    if (!library.handle)
        reason = {phrase("Devices", "cuBLASLt is missing: %1"), library.reason};
    else
        (void)(true HALFSCOPE_BLAS_FUNCTIONS(HALFSCOPE_TAKE));
}
#ifdef HALFSCOPE_CUDNN
void fill(const Library& library, DnnApi& table, Message& reason) {
    if (!library.handle)
        reason = {phrase("Devices", "cuDNN is missing: %1"), library.reason};
    else
        (void)(true HALFSCOPE_DNN_FUNCTIONS(HALFSCOPE_TAKE));
}
#endif

#undef HALFSCOPE_TAKE
#undef HALFSCOPE_TEXT

std::string soname(const char* name, int major) {
    return std::string("lib") + name + ".so." + std::to_string(major);
}

/// Returns the major version, or 0 when it is not known.
int majorOf(const DriverApi& driver) {
    int version = 0;
    if (driver.cuDriverGetVersion == nullptr) return 0;
    return driver.cuDriverGetVersion(&version) == CUDA_SUCCESS ? version / 1000 : 0;
}

/// Opens NVRTC's builtins, which it opens by their plain name when it compiles: the loader finds
/// them if they are already open. They must have NVRTC's own version, which need not be that of the
/// headers, and are beside it.
void openBuiltins(const CompilerApi& compiler, const std::string& nvrtc,
                  std::vector<std::string> folders) {
    int major = 0, minor = 0;
    if (compiler.nvrtcVersion(&major, &minor) != NVRTC_SUCCESS) return;
    if (const fs::path beside = fs::path(nvrtc).parent_path(); !beside.empty())
        folders.insert(folders.begin(), beside.string());
    openLibrary({"libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor)},
                folders, {});
}

} // namespace

std::vector<std::string> cudaLibraryNames(const char* name, int driverMajor) {
    constexpr int kNewest = std::max(13, kMajor);
    const int newest = driverMajor == 0 ? kNewest : std::clamp(driverMajor, kOldestCuda, kNewest);
    std::vector<std::string> names;
    for (int major = newest; major >= kOldestCuda; --major)
        names.push_back(soname(name, major));
    return names;
}

std::vector<std::string> libraryFolders() {
    std::vector<std::string> folders = givenFolders();
    if (const fs::path own = ownFolder(); !own.empty()) {
        addIfThere(own, folders);
        addIfThere(own.parent_path() / "lib", folders);
    }
    addPythons(environment("VIRTUAL_ENV"), folders);
    if (const fs::path conda = environment("CONDA_PREFIX"); !conda.empty())
        addIfThere(conda / "lib", folders);
    addToolkits(folders);
    addPythons(rootOfPython(), folders);
    addPythons("/usr/local", folders);
    if (const fs::path home = environment("HOME"); !home.empty())
        addPythons(home / ".local", folders);
    return folders;
}

void* Library::find(const char* function) const {
    if (void* found = ::dlsym(handle, function)) return found;
    // for drivers before 12.8; the newer function distinguishes more kinds of wrong use
    if (std::string_view(function) == "cuEventElapsedTime_v2")
        return ::dlsym(handle, "cuEventElapsedTime");
    return nullptr;
}

Library openLibrary(const std::vector<std::string>& names, const std::vector<std::string>& folders,
                    const Message& howToGet) {
    const size_t given = givenFolders().size();
    Message broken; // a file that exists but cannot be opened says more than "not found"
    const auto tryOpen = [&](const std::string& file) {
        void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (handle == nullptr) {
            const char* text = ::dlerror();
            if (std::error_code ignored; fs::exists(file, ignored) && broken.empty())
                broken = text != nullptr ? Message::data(text)
                                         : Message(phrase("Devices", "%1 cannot be opened"), file);
        }
        return handle;
    };
    for (const std::string& name : names) {
        for (size_t i = 0; i <= folders.size(); ++i) {
            if (i == std::min(given, folders.size()))
                if (void* handle = tryOpen(name)) return {handle, name, {}};
            if (i == folders.size()) break;
            const std::string file = (fs::path(folders[i]) / name).string();
            if (std::error_code ignored; !fs::exists(file, ignored)) continue;
            if (void* handle = tryOpen(file)) return {handle, file, {}};
        }
    }
    if (!broken.empty()) return {nullptr, {}, broken};
    std::vector<Message> known;
    for (const std::string& name : names)
        known.push_back(Message::data(name));
    const Message any = listed(known, phrase("Devices", "%1 or %2"));
    if (howToGet.empty()) return {nullptr, {}, {phrase("Devices", "%1 was not found"), any}};
    return {nullptr, {}, {phrase("Devices", "%1 was not found (%2)"), any, howToGet}};
}

Message whatDnnLacks(int cudaMajor, const std::vector<std::string>& folders) {
    const Library blas = openLibrary({soname("cublasLt", cudaMajor)}, folders, kWhere);
    if (blas.handle != nullptr) return {};
    return {phrase("Devices", "cuDNN is of CUDA %1 and needs cuBLASLt: %2"), cudaMajor,
            blas.reason};
}

void loadCompiler(Api& api) {
    const std::vector<std::string> folders = libraryFolders();
    const Library nvrtc =
        openLibrary(cudaLibraryNames("nvrtc", majorOf(api.driver)), folders, kWhere);
    fill(nvrtc, api.compiler, api.noCompiler);
    if (api.noCompiler.empty()) openBuiltins(api.compiler, nvrtc.path, folders);
}

Api loadApi() {
    Api api;
    fill(
        openLibrary({"libcuda.so.1"}, kDriverFolders, phrase("Devices", "install NVIDIA's driver")),
        api.driver, api.noDriver);
    if (!api.noDriver.empty()) return api;
    loadCompiler(api);
    const std::vector<std::string> folders = libraryFolders();
    fill(openLibrary(cudaLibraryNames("cublasLt", majorOf(api.driver)), folders, kWhere), api.blas,
         api.noBlas);
#ifdef HALFSCOPE_CUDNN
    fill(openLibrary({soname("cudnn", CUDNN_MAJOR)}, folders, kWhere), api.dnn, api.noDnn);
    if (api.noDnn.empty())
        api.noDnn = whatDnnLacks(static_cast<int>(api.dnn.cudnnGetCudartVersion() / 1000), folders);
#else
    api.noDnn = phrase("Devices", "this build has no cuDNN");
#endif
    return api;
}

} // namespace halfscope::cuda
