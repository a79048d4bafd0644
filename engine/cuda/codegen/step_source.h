// A whole step as launches and their CUDA C++ text. The text is compiled for the current device
// when a run is loaded (NVRTC); shapes, offsets and dtypes are constants in it.
#pragma once

#include "engine/cuda/codegen/kernel_text.h"

#include <set>
#include <vector>

namespace halfscope::cuda {

enum class LaunchKind : uint8_t {
    Generated,  ///< the kernel `entry` of the text
    Matmul,     ///< cuBLASLt does the node
    Convolution ///< cuDNN does the node
};

/// What is launched at once. The launches of a step run one after the other.
struct Launch {
    LaunchKind kind = LaunchKind::Generated;
    std::vector<size_t> kernels; ///< of StepSource::program; empty when it only copies states
    NodeId node = kNoNode;       ///< Matmul, Convolution
    /// Generated: extern "C" __global__ void entry(char* arena, char* scratch, unsigned* tickets)
    std::string entry;
    int blocks = 1, threads = kThreads;
    size_t sharedBytes = 0; ///< dynamic shared memory
    size_t part = 0;        ///< Generated: of StepSource::parts
};

enum class Merge : uint8_t {
    Full,     ///< independent kernels side by side, chains of small ones in one block
    OneByOne, ///< one launch per kernel: the reference for tests of merged launches
};
enum class Chains : uint8_t {
    Fused,   ///< matrix products with the loops around them, and sums over rows
    Sums,    ///< no products: loops and the sums over their rows
    Unfused, ///< every node as the program has it
};
enum class Libraries : uint8_t {
    Used,  ///< large matrix products and all convolutions by cuBLASLt and cuDNN
    Unused ///< everything is generated: needs no library, but is slower
};

struct SourceOptions {
    Merge merge = Merge::Full;
    Chains chains = Chains::Fused;
    Libraries libraries = Libraries::Used;
    Libraries convolutions = Libraries::Used; ///< Unused: without cuDNN, whatever `libraries` is
    std::set<NodeId> refused{}; ///< products and convolutions that the libraries cannot do
    /// Results of fewer elements stay out of chains: their loops are small launches that merge.
    int64_t chainElements = int64_t{1} << 20;
    /// Whether a chain stores what is expensive to compute for those that need it again.
    bool keepOperands = true;
    ChainWay chainWay{};
    /// What each of the text's parts may cost the compiler, in bytes of plain text, of which NVRTC
    /// takes about 120 in a millisecond: half a second. The prelude takes 50 milliseconds more.
    size_t partBytes = 60 << 10;
    /// The seconds that an executor may spend on compiling and trying other ways than these, to use
    /// the fastest; 0 for none.
    double searchSeconds = 15;
};

struct StepSource {
    /// The program as launched: chains are fused, and memory is planned for kernels that run side
    /// by side. Its graph is the given one; its memory plan is the one for allocations and
    /// transfers.
    Program program;
    std::string text;               ///< all of it
    std::vector<std::string> parts; ///< the same, cut for compilers that work side by side
    std::vector<Launch> launches;
    size_t scratchBytes = 0; ///< of the scratch area, whose content does not matter
    int tickets = 0;         ///< counters, zero at the start
    /// The first launch that overwrites a state; before it a step can be given up and run again.
    size_t pointOfNoReturn = 0;
    std::string plan; ///< the launches in words, with the times that the planner expects
};

/// Writes the launches in order: every value exists before it is read, and no bytes that the memory
/// plan shares are written while something in the same launch still reads or writes them. States
/// whose next value is elsewhere are copied as soon as nothing reads their old value any more. The
/// same program, traits and options give the same text, byte for byte.
StepSource writeStep(const Program&, const DeviceTraits&, const SourceOptions& = {});

/// Returns the device headers (kernels/*.cuh) with which every text begins.
std::string prelude();

} // namespace halfscope::cuda
