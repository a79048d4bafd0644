// Runs the PTX that NVRTC makes of a generated text, on the CPU: what the device's compiler really
// wrote, not what the text says to the host's. Finds misaligned and stray accesses, values that
// nobody wrote, warp-wide instructions that not all lanes reach, wrong operands of inline PTX, and
// races. Says nothing of ptxas, which makes machine code of it, nor of speed.
// Frozen: no further instruction is modelled here or in the other ptx_ files; a GPU decides.
#pragma once

#include "tests/emulator/cuda_emulator.h"

#include <cstddef>
#include <memory>
#include <string>

namespace halfscope::test {

class PtxModule {
public:
    /// Compiles with the module's own options for a device of that capability. Throws
    /// std::runtime_error with the compiler's words, or with what of the PTX is not known.
    PtxModule(const std::string& text, int capability);
    ~PtxModule();
    PtxModule(const PtxModule&) = delete;
    PtxModule& operator=(const PtxModule&) = delete;

    /// As EmulatedModule::launch; areas of unknown size have no end. What was written to the
    /// scratch area is known from one launch to the next, as long as its address stays.
    void launch(const cuda::Launch&, std::byte* arena, std::byte* scratch, unsigned* tickets,
                AreaSizes, int order);

    const std::string& ptx() const { return m_ptx; }

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
    std::string m_ptx;
};

} // namespace halfscope::test
