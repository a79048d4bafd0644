// Files of the debug folder: whole after each call, whatever comes next.
#include "engine/cuda/debug_folder.h"

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

} // namespace

bool debugging() { return !folder().empty(); }

void keepForDebugging(const std::string& file, const std::string& text) {
    if (!debugging()) return;
    try {
        std::filesystem::create_directories(folder());
        std::ofstream(std::filesystem::path(folder()) / file, std::ios::binary) << text;
    } catch (const std::exception&) {
        return; // the fault itself is what the user must see
    }
}

} // namespace halfscope::cuda
