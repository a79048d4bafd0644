// Compiles generated text with NVRTC for devices that are not there, and says what it costs.
// Declares the few functions itself, so that no toolkit is needed to build the tests.
#pragma once

#include <map>
#include <memory>
#include <string>

namespace halfscope::test {

/// What ptxas says of one kernel.
struct KernelCost {
    int registers = 0, spillBytes = 0, stackBytes = 0, sharedBytes = 0;
    bool isSerialized = false; ///< some kernel of the text waits for each product of a warpgroup
};

class Nvrtc {
public:
    Nvrtc();
    ~Nvrtc();
    Nvrtc(const Nvrtc&) = delete;
    Nvrtc& operator=(const Nvrtc&) = delete;

    /// Empty: it can compile. Else why not, for a skip.
    const std::string& unavailable() const { return m_unavailable; }
    bool supports(int capability) const;
    /// Costs by kernel. Throws std::runtime_error with the compiler's words.
    std::map<std::string, KernelCost> compile(const std::string& text, int capability) const;
    /// The PTX that machine code would be made of, with the options that the module has.
    std::string ptx(const std::string& text, int capability) const;

private:
    class Program;
    struct Functions;
    std::unique_ptr<Functions> m_functions;
    std::string m_unavailable;
};

} // namespace halfscope::test
