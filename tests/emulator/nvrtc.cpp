// NVRTC by dlopen: its C interface has been the same since CUDA 11.1.
#include "tests/emulator/nvrtc.h"

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
    if (log.find("instructions are serialized") != std::string::npos)
        for (auto& [name, cost] : costs)
            cost.isSerialized = true;
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
    int (*ptxSize)(Handle, size_t*) = nullptr;
    int (*ptx)(Handle, char*) = nullptr;
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
               find(log, "nvrtcGetProgramLog") && find(ptxSize, "nvrtcGetPTXSize") &&
               find(ptx, "nvrtcGetPTX") && find(architectureCount, "nvrtcGetNumSupportedArchs") &&
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

/// A text that is compiled; throws with the compiler's words. Destroyed whatever happens.
class Nvrtc::Program {
public:
    Program(const Functions& functions, const std::string& text, const std::string& architecture,
            const char* more)
        : m_functions(functions) {
        if (m_functions.create(&m_program, text.c_str(), "step.cu", 0, nullptr, nullptr) != 0)
            throw std::runtime_error("nvrtc: no program");
        const std::string target = "--gpu-architecture=" + architecture;
        const std::array<const char*, 5> options = {target.c_str(), "--fmad=false", "--std=c++20",
                                                    "--device-as-default-execution-space", more};
        const int count = static_cast<int>(options.size()) - (*more == '\0' ? 1 : 0);
        if (m_functions.compile(m_program, count, options.data()) == 0) return;
        const std::string words = log().substr(0, 4000);
        (void)m_functions.destroy(&m_program);
        throw std::runtime_error("nvrtc: " + architecture + ": the text does not compile:\n" +
                                 words);
    }
    ~Program() { (void)m_functions.destroy(&m_program); }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    std::string log() const { return read(m_functions.logSize, m_functions.log); }
    std::string ptx() const { return read(m_functions.ptxSize, m_functions.ptx); }

private:
    std::string read(int (*sizeOf)(Handle, size_t*), int (*get)(Handle, char*)) const {
        size_t size = 0;
        (void)sizeOf(m_program, &size);
        std::string text(std::max<size_t>(size, 1), ' ');
        (void)get(m_program, text.data());
        return text.substr(0, text.find('\0'));
    }

    const Functions& m_functions;
    Handle m_program = nullptr;
};

std::map<std::string, KernelCost> Nvrtc::compile(const std::string& text, int capability) const {
    const std::string suffix = capability >= 90 ? "a" : ""; // as the module asks for
    const Program program(*m_functions, text, "sm_" + std::to_string(capability) + suffix,
                          "--ptxas-options=-v");
    return costsIn(program.log());
}

std::string Nvrtc::ptx(const std::string& text, int capability) const {
    const std::string suffix = capability >= 90 ? "a" : "";
    return Program(*m_functions, text, "compute_" + std::to_string(capability) + suffix, "").ptx();
}

} // namespace halfscope::test
