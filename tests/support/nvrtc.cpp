// NVRTC by dlopen: its C interface has been the same since CUDA 11.1.
#include "tests/support/nvrtc.h"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <dlfcn.h>

namespace halfscope::test {
namespace {

using Handle = void*;

std::map<std::string, KernelCost> costsIn(const std::string& log) {
    static const std::regex kEntry("Compiling entry function '(\\w+)'"),
        kFrame("(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads"),
        kUsed("Used (\\d+) registers"), kShared("(\\d+) bytes smem");
    std::map<std::string, KernelCost> costs;
    KernelCost* current = nullptr;
    std::istringstream lines(log);
    for (std::string line; std::getline(lines, line);) {
        std::smatch found;
        if (std::regex_search(line, found, kEntry)) current = &costs[found[1]];
        if (current == nullptr) continue;
        if (std::regex_search(line, found, kFrame)) {
            current->stackBytes = std::stoi(found[1]);
            current->spillBytes = std::max(std::stoi(found[2]), std::stoi(found[3]));
        }
        if (std::regex_search(line, found, kUsed)) current->registers = std::stoi(found[1]);
        if (std::regex_search(line, found, kShared)) current->sharedBytes = std::stoi(found[1]);
    }
    return costs;
}

} // namespace

struct Nvrtc::Functions {
    void* library = nullptr;
    int (*create)(Handle*, const char*, const char*, int, const char* const*,
                  const char* const*) = nullptr;
    int (*compile)(Handle, int, const char* const*) = nullptr;
    int (*destroy)(Handle*) = nullptr;
    int (*logSize)(Handle, size_t*) = nullptr;
    int (*log)(Handle, char*) = nullptr;
    int (*architectureCount)(int*) = nullptr;
    int (*architectures)(int*) = nullptr;

    template <class Function>
    bool find(Function& function, const char* name) {
        function = reinterpret_cast<Function>(::dlsym(library, name));
        return function != nullptr;
    }
    bool findAll() {
        return find(create, "nvrtcCreateProgram") && find(compile, "nvrtcCompileProgram") &&
               find(destroy, "nvrtcDestroyProgram") && find(logSize, "nvrtcGetProgramLogSize") &&
               find(log, "nvrtcGetProgramLog") &&
               find(architectureCount, "nvrtcGetNumSupportedArchs") &&
               find(architectures, "nvrtcGetSupportedArchs");
    }
};

Nvrtc::Nvrtc() : m_functions(std::make_unique<Functions>()) {
    static constexpr std::array<const char*, 5> kNames = {HALFSCOPE_NVRTC_FILE, "libnvrtc.so.13",
                                                          "libnvrtc.so.12", "libnvrtc.so",
                                                          "/usr/local/cuda/lib64/libnvrtc.so"};
    for (const char* name : kNames) {
        if (*name == '\0') continue;
        // It stays loaded: what it keeps for itself would count as leaked once it is gone.
        m_functions->library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (m_functions->library != nullptr) break;
    }
    if (m_functions->library == nullptr)
        m_unavailable = "NVRTC is not installed: libnvrtc.so was not found";
    else if (!m_functions->findAll())
        m_unavailable = "NVRTC is older than CUDA 11.2: a function is missing";
}

Nvrtc::~Nvrtc() {
    if (m_functions->library != nullptr) ::dlclose(m_functions->library);
}

bool Nvrtc::supports(int capability) const {
    int count = 0;
    if (m_functions->architectureCount(&count) != 0) return false;
    std::vector<int> known(static_cast<size_t>(count));
    if (m_functions->architectures(known.data()) != 0) return false;
    return std::find(known.begin(), known.end(), capability) != known.end();
}

std::map<std::string, KernelCost> Nvrtc::compile(const std::string& text, int capability) const {
    Handle program = nullptr;
    if (m_functions->create(&program, text.c_str(), "step.cu", 0, nullptr, nullptr) != 0)
        throw std::runtime_error("nvrtc: no program");
    const std::string architecture = "--gpu-architecture=sm_" + std::to_string(capability) +
                                     (capability >= 90 ? "a" : ""); // as the module asks for
    const std::array<const char*, 4> options = {architecture.c_str(), "--fmad=false", "--std=c++20",
                                                "--ptxas-options=-v"};
    const int result =
        m_functions->compile(program, static_cast<int>(options.size()), options.data());
    size_t size = 0;
    (void)m_functions->logSize(program, &size);
    std::string log(std::max<size_t>(size, 1), ' ');
    (void)m_functions->log(program, log.data());
    (void)m_functions->destroy(&program);
    if (result != 0)
        throw std::runtime_error("nvrtc: sm_" + std::to_string(capability) +
                                 ": the text does not compile:\n" + log.substr(0, 4000));
    return costsIn(log);
}

} // namespace halfscope::test
