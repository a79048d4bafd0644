// The files of the debug folder, which are complete after each call, whatever comes next.
#include "engine/cuda/debug_folder.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>

namespace halfscope::cuda {
namespace {

std::string folder() {
    const char* named = std::getenv("HALFSCOPE_CUDA_DEBUG");
    return named != nullptr ? named : "";
}

void write(const std::string& file, const std::string& text, std::ios::openmode mode) {
    if (!debugging()) return;
    try {
        std::filesystem::create_directories(folder());
        std::ofstream(debugFile(file), std::ios::binary | mode) << text;
    } catch (const std::exception&) {
        return; // the fault itself is what the user must see
    }
}

} // namespace

bool debugging() { return !folder().empty(); }

std::string debugNameOf(const std::string& text) {
    uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    char name[32];
    std::snprintf(name, sizeof name, "code-%016llx", static_cast<unsigned long long>(hash));
    return name;
}

std::string debugFile(const std::string& file) {
    return debugging() ? (std::filesystem::path(folder()) / file).string() : file;
}

void keepForDebugging(const std::string& file, const std::string& text) {
    write(file, text, std::ios::trunc);
}

void noteForDebugging(const std::string& file, const std::string& line) {
    write(file, line + "\n", std::ios::app);
}

} // namespace halfscope::cuda
