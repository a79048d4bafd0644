// A whole step as launches and their CUDA C++ text. The text is compiled for the device at hand
// when a run is loaded (NVRTC); shapes, offsets and dtypes are constants in it.
#pragma once

#include "engine/cuda/codegen/kernel_text.h"

#include <map>
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
    std::vector<size_t> kernels; ///< of StepSource::program; none where it only copies states
    NodeId node = kNoNode;       ///< Matmul, Convolution
    /// Generated: extern "C" __global__ void entry(char* arena, char* scratch, unsigned* tickets)
    std::string entry;
    int blocks = 1, threads = kThreads;
    size_t sharedBytes = 0; ///< dynamic shared memory
};

enum class Merge : uint8_t {
    Full,     ///< independent kernels side by side, chains of small ones in one block
    OneByOne, ///< one launch a kernel: the truth that merged launches are tested against
};
enum class Chains : uint8_t {
    Fused,   ///< matrix products with the loops around them, and sums over rows
    Sums,    ///< without products: loops and the sums over their rows
    Unfused, ///< every node as the program has it
};
enum class Libraries : uint8_t {
    Used,  ///< large matrix products and all convolutions by cuBLASLt and cuDNN
    Unused ///< everything generated: no library needed, slower
};

struct SourceOptions {
    Merge merge = Merge::Full;
    Chains chains = Chains::Fused;
    Libraries libraries = Libraries::Used;
    Libraries convolutions = Libraries::Used; ///< Unused: without cuDNN, whatever `libraries` says
    std::set<NodeId> refused{}; ///< products and convolutions that the libraries cannot do
    /// Results of fewer elements stay out of chains: their loops are small launches that merge.
    int64_t chainElements = int64_t{1} << 20;
    /// Whether a chain stores what is dear to compute for those that need it again.
    bool keepOperands = true;
    TileLimits tiles{};
    std::map<size_t, TileLimits> tilesOf{}; ///< instead of those, by kernel of StepSource::program
    /// What an executor may spend on compiling other ways than these, and on trying them, to take
    /// the fastest; 0: nothing.
    double searchSeconds = 15;
};

struct StepSource {
    /// The program as launched: chains fused, memory planned for kernels that run side by side.
    /// Its graph is the given one; its memory plan is the one to allocate and to transfer by.
    Program program;
    std::string text;
    std::vector<Launch> launches;
    size_t scratchBytes = 0; ///< of the scratch area; its content does not matter
    int tickets = 0;         ///< counters, zero at the start
    /// The first launch that writes over a state: before it a step can be given up and run again.
    size_t pointOfNoReturn = 0;
    std::string plan; ///< the launches in words, with the time that the planner expects
};

/// The launches in order: every value is there before it is read, and no bytes that the memory plan
/// shares are written while something in the same launch still reads or writes them. States whose
/// next value lies elsewhere are copied as soon as nothing reads their old value any more. The same
/// program, traits and options give the same text, byte for byte.
StepSource writeStep(const Program&, const DeviceTraits&, const SourceOptions& = {});

/// The device headers (kernels/*.cuh) that every text begins with.
std::string prelude();

} // namespace halfscope::cuda
