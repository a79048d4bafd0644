// Launches of a few lines of CUDA C++ in the PTX interpreter, and what it says of them.
#pragma once

#include "tests/emulator/nvrtc.h"
#include "tests/emulator/ptx_module.h"

#include "engine/cuda/codegen/step_source.h"

#include <QtGlobal>

#include <stdexcept>
#include <string>
#include <vector>

namespace halfscope::test {

inline const Nvrtc& compiler() {
    static const Nvrtc nvrtc;
    return nvrtc;
}

/// What one launch of three blocks of that body says, which have 256 threads each.
inline std::string failureOf(const std::string& body, const std::string& prelude = cuda::prelude(),
                             size_t sharedBytes = 1024) {
    const std::string text =
        prelude +
        "extern \"C\" __global__ void entry(char* arena, char* scratch, unsigned* tickets) {\n"
        "HS_DYNAMIC_SHARED(shared);\nusing namespace hs;\n"
        "float* values = (float*)arena;\nfloat* own = (float*)shared;\n"
        "const int thread = threadIdx.x, block = blockIdx.x;\n" +
        body + "\n}\n";
    try {
        PtxModule module(text, 90);
        cuda::Launch launch;
        launch.entry = "entry";
        launch.blocks = 3;
        launch.sharedBytes = sharedBytes;
        std::vector<double> arena(512), scratch(64);
        unsigned ticket = 0;
        module.launch(launch, reinterpret_cast<std::byte*>(arena.data()),
                      reinterpret_cast<std::byte*>(scratch.data()), &ticket, {4096, 512, 4}, 0);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}
inline bool says(const std::string& body, const char* words) {
    const std::string what = failureOf(body);
    if (what.find(words) != std::string::npos) return true;
    qWarning("%s", what.c_str());
    return false;
}

} // namespace halfscope::test
