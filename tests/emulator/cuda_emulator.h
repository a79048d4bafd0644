// Runs generated CUDA C++ on the CPU: compiles the text with the host's compiler and a small set of
// CUDA's words, and runs the threads of a block as fibers that take turns at barriers. Finds wrong
// indices, missing barriers, wrong sums, misaligned packs and, where asked, races without a GPU;
// says nothing of speed.
#pragma once

#include "engine/cuda/codegen/step_source.h"

#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <string>

namespace halfscope::test {

/// What is worth more. Long work is compiled with optimization; short work, such as a few steps of
/// a small network, is done sooner than the compiler would be. In both, every access of the first
/// launch of an entry is looked at: two that nothing orders fail it (cuda_races.h).
enum class Effort : uint8_t {
    ShortRun,
    ShortBuild,
    Unsearched ///< a short build whose accesses nobody looks at
};

/// Sizes of a launch's areas in bytes, where they are known.
struct AreaSizes {
    size_t arena = 0, scratch = 0, tickets = 0;
};

/// What modules made from now on run: the PTX that NVRTC writes for that capability (ptx_module.h),
/// or with 0 what the host's compiler makes. At first HALFSCOPE_EMULATED_PTX of the environment:
/// any test of the emulator is one of PTX with it.
void emulatePtx(int capability);
int emulatedCapability();

class EmulatedModule {
public:
    /// Compiles and loads; throws std::runtime_error with the compiler's words.
    explicit EmulatedModule(const std::string& text, Effort = Effort::ShortRun);
    ~EmulatedModule();
    EmulatedModule(const EmulatedModule&) = delete;
    EmulatedModule& operator=(const EmulatedModule&) = delete;

    /// Runs one launch: all its blocks, one after the other (in `order`: 0 ascending, 1 descending,
    /// other values a permutation from that seed: results must not depend on it).
    void launch(const cuda::Launch&, std::byte* arena, std::byte* scratch, unsigned* tickets,
                int order = 0, AreaSizes = {}) const;
    /// What launches ask the memory for ahead, from now on: bytes from the arena's start. Not of
    /// PTX.
    void watchAhead(std::set<std::ptrdiff_t>* asked) const;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace halfscope::test
