// Compiles in a temporary folder, keeps the library under a name made of all that it depends on.
#include "tests/emulator/compiled_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <dlfcn.h>

namespace halfscope::test {
namespace {

namespace fs = std::filesystem;

/// A run of all tests makes some 400 of about 100 KiB; older ones beyond this go.
constexpr size_t kMostKept = 1000;

/// A folder of its own in the system's place for such, gone with the object.
class TemporaryFolder {
public:
    TemporaryFolder() {
        const std::string wild(6, 'X'); // mkdtemp's
        std::string name = (fs::temp_directory_path() / ("halfscope-emulated-" + wild)).string();
        if (::mkdtemp(name.data()) == nullptr)
            throw std::runtime_error("emulator: no temporary folder " + name);
        m_path = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(m_path, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const fs::path& path() const { return m_path; }

private:
    fs::path m_path;
};

void execute(const std::string& command, const fs::path& folder) {
    const fs::path log = folder / "log";
    const std::string line =
        "cd '" + folder.string() + "' && " + command + " >'" + log.string() + "' 2>&1";
    if (std::system(line.c_str()) != 0)
        throw std::runtime_error("emulator: the text does not compile:\n" +
                                 readFile(log.string()).substr(0, 4000));
}

/// 128 bits: FNV-1a from two starts, the second over the bytes in reverse. No protection from
/// an enemy, but two texts of one test run do not meet by chance.
std::string nameOf(const std::vector<std::string>& parts) {
    constexpr uint64_t kPrime = 0x100000001B3u;
    std::array<uint64_t, 2> hash{0xCBF29CE484222325u, 0x9AE16A3B2F90404Fu};
    const auto take = [&](uint64_t& h, char c) { h = (h ^ static_cast<uint8_t>(c)) * kPrime; };
    for (const std::string& part : parts) {
        for (char c : std::to_string(part.size()) + ":" + part)
            take(hash[0], c);
        std::for_each(part.rbegin(), part.rend(), [&](char c) { take(hash[1], c); });
        take(hash[1], '\0');
    }
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%016llx%016llx.so",
                  static_cast<unsigned long long>(hash[0]),
                  static_cast<unsigned long long>(hash[1]));
    return text.data();
}

/// Keeping is a help, not a need: a full disk or a folder that cannot be written is no fault.
void keep(const fs::path& library, const fs::path& folder, const std::string& name) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    // another test may write the same one: nobody reads half a file
    const fs::path part = folder / (library.parent_path().filename().string() + ".part");
    fs::copy_file(library, part, failed);
    if (!failed) fs::rename(part, folder / name, failed);
    if (failed) return;
    std::vector<std::pair<fs::file_time_type, fs::path>> kept;
    for (const fs::directory_entry& each : fs::directory_iterator(folder, failed))
        if (each.path().extension() == ".so")
            kept.emplace_back(each.last_write_time(failed), each.path());
    if (kept.size() <= kMostKept) return;
    std::sort(kept.begin(), kept.end());
    kept.resize(kept.size() - kMostKept);
    for (const auto& [time, path] : kept)
        fs::remove(path, failed);
}

} // namespace

std::string readFile(const std::string& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

CompiledText::CompiledText(const std::string& text, const std::string& included,
                           const std::string& options) {
    const fs::path kept = HALFSCOPE_EMULATOR_KEPT;
    const std::string name =
        nameOf({text, included, options, HALFSCOPE_EMULATOR_LINKER, __VERSION__});
    const TemporaryFolder folder;
    const fs::path library = folder.path() / "text.so";
    std::error_code missing;
    fs::copy_file(kept / name, library, missing);
    if (missing) {
        std::ofstream(folder.path() / "text.cpp") << text;
        execute(HALFSCOPE_EMULATOR_COMPILER " " + options + " -c text.cpp -o text.o",
                folder.path());
        execute(HALFSCOPE_EMULATOR_LINKER " -shared text.o -o text.so -lm", folder.path());
        keep(library, kept, name);
    } else {
        fs::last_write_time(kept / name, fs::file_time_type::clock::now(), missing);
    }
    // From a file of its own: one file's statics would be shared by all that load it.
    m_library = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (m_library == nullptr) throw std::runtime_error(std::string("emulator: ") + ::dlerror());
}

CompiledText::~CompiledText() { ::dlclose(m_library); }

void* CompiledText::symbol(const std::string& name) const {
    return ::dlsym(m_library, name.c_str());
}

} // namespace halfscope::test
