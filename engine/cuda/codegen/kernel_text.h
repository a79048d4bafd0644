// One kernel of a Program as CUDA C++ text: a device function that any number of launches can call.
// Uses no CUDA library, so that texts are made and tested on every machine.
#pragma once

#include "engine/graph/program.h"

#include <string>

namespace halfscope::cuda {

/// Threads in every generated block. Kernels rely on it.
inline constexpr int kThreads = 256;
/// Bytes of shared memory that a block costs a multiprocessor besides what it asks for. One block
/// may ask for all of a multiprocessor's shared memory except these.
inline constexpr size_t kReservedShared = 1 << 10;
/// The only capability whose devices have products by warpgroups.
inline constexpr int kWarpgroupCapability = 90;

/// How f32 elements of fused chains are computed.
enum class ElementForm : uint8_t {
    AsWritten, ///< operation after operation, each rounded
    Collected  ///< factors of a column multiplied once, sums of products with fmaf: less work
};

/// How fused chains are written. The fastest way is found by measuring on the device.
struct ChainWay {
    ElementForm form = ElementForm::AsWritten;
    /// Fewer instructions per step of a product around its elements: straight code prefetches
    /// memory, and values of a row are widened where they are used.
    bool lean = false;
    /// Products in 16 bits by warpgroups (kernels/warpgroup.cuh), if the device has capability 9.0.
    bool warpgroups = false;
};

/// The properties of a device that decide the text.
struct DeviceTraits {
    int capability = 90; ///< 10 * major + minor
    int multiprocessors = 132;
    size_t sharedBytes = 49152; ///< the most that a block may ask for
    /// Element operations per microsecond of one block: the launch plan compares them with the cost
    /// of a launch. Tests lower it to see small kernels spread over many blocks.
    double blockWork = 40e3;
    ChainWay chainWay{}; ///< see SourceOptions::chainWay
};

/// Where a kernel's text gets its memory: offsets that are known when the text is written.
struct KernelSite {
    const Program& program;
    size_t kernel = 0;        ///< index in Program::kernels
    std::string name;         ///< of the device function
    int maxBlocks = 1;        ///< 1 when one block runs it, in a chain with other kernels
    size_t scratchOffset = 0; ///< first free byte of the scratch area, a multiple of 256
    int firstTicket = 0;      ///< first free counter of the ticket area
};

/// The function has the form
///     __device__ void NAME(char* arena, char* scratch, unsigned* tickets, char* shared, int block)
/// and is called by all kThreads threads of blocks 0 to blocks - 1 (in any order, at the same
/// time). Tickets are 0 before and after: the block that draws the last ticket of a sum over blocks
/// adds up the partial sums in their fixed order. The function may leave without a barrier; a
/// caller that runs another kernel in the same block puts __syncthreads() between.
struct KernelText {
    std::string function;
    int blocks = 1;
    size_t sharedBytes = 0;  ///< of the shared area, which is 16-byte aligned
    size_t scratchBytes = 0; ///< from scratchOffset on
    int tickets = 0;         ///< from firstTicket on
    bool warpgroups = false; ///< they multiply: the shared area begins at a multiple of 1024
    /// The number of blocks that share a multiprocessor, and so its registers.
    int blocksEach = 2;
    /// What it costs the compiler besides its own length, since templates of the prelude do the
    /// work, in bytes of plain text.
    size_t compiling = 0;
};

KernelText writeLoop(const KernelSite&, const DeviceTraits&); ///< a fused loop (Kernel::loop)
KernelText writeNode(const KernelSite&, const DeviceTraits&); ///< a kernel of one node, any op

/// Returns roughly how many element operations a kernel does, for the launch plan.
double workOf(const Program&, size_t kernel);

} // namespace halfscope::cuda
