// NVRTC: architecture, options, errors. What the text says is known to codegen.
#include "engine/cuda/compiler.h"

#include "engine/core/error.h"
#include "engine/cuda/debug_folder.h"
#include "engine/cuda/platform_info.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace halfscope::cuda {
namespace {

/// The architecture to compile for, and whether the result is machine code or PTX.
struct Target {
    std::string name; ///< "sm_90a", "compute_120"
    bool machineCode = true;
};

void check(const Api& api, nvrtcResult result) {
    if (result == NVRTC_SUCCESS) return;
    throw EngineError(phrase("Devices", "compiling the step: %1 (NVRTC)"),
                      api.compiler.nvrtcGetErrorString(result));
}

/// Destroys the program whatever happens.
class Source {
public:
    /// `file` is the name of the text in messages and line numbers.
    Source(const Api& api, const std::string& text, const std::string& file) : m_api(api) {
        check(api, api.compiler.nvrtcCreateProgram(&m_program, text.c_str(), file.c_str(), 0,
                                                   nullptr, nullptr));
    }
    ~Source() { (void)m_api.compiler.nvrtcDestroyProgram(&m_program); }
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    nvrtcProgram get() const { return m_program; }

private:
    const Api& m_api;
    nvrtcProgram m_program = nullptr;
};

Target targetOf(const Device& device) {
    const CompilerApi& compiler = device.api().compiler;
    int count = 0;
    check(device.api(), compiler.nvrtcGetNumSupportedArchs(&count));
    std::vector<int> known(static_cast<size_t>(std::max(count, 0)));
    check(device.api(), compiler.nvrtcGetSupportedArchs(known.data()));
    const int capability = device.traits().capability;
    // The suffix enables what only this exact architecture has; there is none before 9.0.
    if (std::find(known.begin(), known.end(), capability) != known.end())
        return {"sm_" + std::to_string(capability) + (capability >= 90 ? "a" : ""), true};
    int best = 0;
    for (const int arch : known)
        if (arch < capability) best = std::max(best, arch);
    if (best == 0)
        throw EngineError(
            phrase("Devices", "compiling the step: this NVRTC does not know any architecture that "
                              "%1 (compute capability %2.%3) can run"),
            device.info().name, capability / 10, capability % 10);
    return {"compute_" + std::to_string(best), false};
}

/// Returns what the compiler says, which may be nothing.
std::string logOf(const Device& device, const Source& source) {
    const CompilerApi& compiler = device.api().compiler;
    size_t bytes = 0;
    if (compiler.nvrtcGetProgramLogSize(source.get(), &bytes) != NVRTC_SUCCESS || bytes < 2)
        return {};
    std::string log(bytes, '\0');
    if (compiler.nvrtcGetProgramLog(source.get(), log.data()) != NVRTC_SUCCESS) return {};
    log.resize(log.find('\0') == std::string::npos ? log.size() : log.find('\0'));
    return log;
}

/// Returns the first line of the log that is about an error.
std::string errorIn(const std::string& log) {
    if (log.empty()) return "no reason given";
    const size_t error = log.find("error");
    const size_t from = error == std::string::npos ? 0 : log.rfind('\n', error) + 1;
    return log.substr(from, std::min(log.find('\n', from), log.size()) - from);
}

std::string ptxOf(const Device& device, const Source& source) {
    const CompilerApi& compiler = device.api().compiler;
    size_t bytes = 0;
    check(device.api(), compiler.nvrtcGetPTXSize(source.get(), &bytes));
    std::string code(bytes, '\0');
    check(device.api(), compiler.nvrtcGetPTX(source.get(), code.data()));
    return code;
}

std::string codeOf(const Device& device, const Source& source, const Target& target) {
    if (!target.machineCode) return ptxOf(device, source);
    const CompilerApi& compiler = device.api().compiler;
    size_t bytes = 0;
    check(device.api(), compiler.nvrtcGetCUBINSize(source.get(), &bytes));
    std::string code(bytes, '\0');
    check(device.api(), compiler.nvrtcGetCUBIN(source.get(), code.data()));
    return code;
}

/// Keeps what a profiler or a disassembler needs besides the text.
void keepCode(const std::string& text, const std::string& code, const std::string& ptx,
              const Target& target) {
    const std::string name = debugNameOf(text);
    keepForDebugging(name + ".cu", text);
    if (target.machineCode) keepForDebugging(name + ".cubin", code);
    keepForDebugging(name + ".ptx", ptx);
}

} // namespace

std::string compileText(const Device& device, const FileCache& cache, const std::string& text) {
    const Api& api = device.api();
    const Target target = targetOf(device);
    const std::string architecture = "--gpu-architecture=" + target.name;
    // --fmad=false: a * b + c rounds twice, as on the CPU. Division, square root and subnormals are
    // exact by default.
    std::vector<const char*> options = {architecture.c_str(), "--fmad=false", "--std=c++20",
                                        "--device-as-default-execution-space"};
    // Takes no time and does not change the instructions, but makes machine code three times as
    // large.
    if (debugging()) options.push_back("-lineinfo");
    int major = 0, minor = 0;
    check(api, api.compiler.nvrtcVersion(&major, &minor));
    std::string key = "code NVRTC " + versionText(1000 * major + 10 * minor);
    for (const char* option : options)
        key += std::string(" ") + option;
    key += "\n" + text;
    const std::optional<std::string> ptx = debugging() ? cache.get("PTX of " + key) : std::nullopt;
    if (std::optional<std::string> kept = cache.get(key); kept && (ptx || !debugging())) {
        if (debugging()) keepCode(text, *kept, *ptx, target);
        return *std::move(kept);
    }

    const Source source(
        api, text, debugging() ? debugFile(debugNameOf(text) + ".cu") : std::string("step.cu"));
    const nvrtcResult result = api.compiler.nvrtcCompileProgram(
        source.get(), static_cast<int>(options.size()), options.data());
    if (result != NVRTC_SUCCESS) {
        const std::string log = logOf(device, source);
        keepForDebugging("failed.cu", text);
        keepForDebugging("failed.log", log);
        throw EngineError(phrase("Devices", "the step's kernels do not compile for %1 (%2): %3"),
                          target.name, api.compiler.nvrtcGetErrorString(result), errorIn(log));
    }
    std::string code = codeOf(device, source, target);
    cache.put(key, code);
    if (debugging()) {
        const std::string assembly = ptxOf(device, source);
        cache.put("PTX of " + key, assembly);
        keepCode(text, code, assembly, target);
    }
    return code;
}

std::vector<std::string> compileParts(const Device& device, const FileCache& cache,
                                      const std::vector<std::string>& parts) {
    Compiled all = compileTexts(device, cache, {parts}, [](size_t) { return Message(); }).front();
    if (!all.error.empty()) throw EngineError(all.error);
    return std::move(all.parts);
}

std::vector<Compiled> compileTexts(const Device& device, const FileCache& cache,
                                   const std::vector<std::vector<std::string>>& texts,
                                   const std::function<Message(size_t text)>& leftOut) {
    struct Work {
        size_t text, part;
        std::exception_ptr failure; ///< there may be no memory for a sentence
        Message why;
    };
    std::vector<Compiled> results(texts.size());
    std::vector<Work> all;
    for (size_t text = 0; text < texts.size(); ++text) {
        results[text].parts.resize(texts[text].size());
        for (size_t part = 0; part < texts[text].size(); ++part)
            all.push_back({text, part, nullptr, {}});
    }
    // The longest first, so that none is left over at the end for one thread.
    std::stable_sort(all.begin(), all.end(), [&](const Work& a, const Work& b) {
        return texts[a.text][a.part].size() > texts[b.text][b.part].size();
    });
    std::atomic<size_t> next = 0;
    const auto work = [&] {
        for (size_t i; (i = next++) < all.size();) {
            auto& [text, part, failure, why] = all[i];
            try {
                if (text > 0) why = leftOut(text);
                if (why.empty())
                    results[text].parts[part] = compileText(device, cache, texts[text][part]);
            } catch (const std::exception&) {
                failure = std::current_exception();
            }
        }
    };
    std::vector<std::jthread> helpers;
    const size_t threads = std::max(1u, std::thread::hardware_concurrency());
    try {
        while (helpers.size() + 1 < std::min(threads, all.size()))
            helpers.emplace_back(work);
    } catch (const std::system_error&) {
        // the system has no more threads to give, so fewer do the work
    }
    work();
    helpers.clear(); // joins
    for (const Work& done : all) {
        Compiled& result = results[done.text];
        if (!result.error.empty()) continue;
        if (done.failure) result.error = messageOf(done.failure);
        if (done.why.empty()) continue;
        result.error = {phrase("Devices", "not compiled: %1"), done.why};
        result.isLeftOut = true;
    }
    return results;
}

} // namespace halfscope::cuda
