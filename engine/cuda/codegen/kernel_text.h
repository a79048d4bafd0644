// One kernel of a Program as CUDA C++ text: a device function that any number of launches can call.
// Knows no CUDA library, so that texts are made and tested on every machine.
#pragma once

#include "engine/graph/program.h"

#include <string>

namespace halfscope::cuda {

/// Threads of every generated block. Kernels count on it.
inline constexpr int kThreads = 256;
/// Bytes of shared memory that a block costs a multiprocessor beside what it asks for. What one
/// block may ask for is all of a multiprocessor's but these.
inline constexpr size_t kReservedShared = 1 << 10;
/// The only capability whose devices have products of warpgroups.
inline constexpr int kWarpgroupCapability = 90;

/// How f32 elements of fused chains are computed.
enum class ElementForm : uint8_t {
    AsWritten, ///< operation after operation, each rounded
    Collected, ///< factors of a column multiplied once, sums of products with fmaf: less to do
    OnePass    ///< collected, and sums that need a row's dot product are in the pass that makes it
};

/// Upper limits of the tiles of fused chains: rows, columns and inner extent that a block has at
/// once; 0: what suits the device by rule. Which are fastest is for the device to measure.
struct TileLimits {
    int rows = 0, columns = 0, depth = 0;
    int blocks = 0; ///< that share a multiprocessor's registers and shared memory; 0: one has all
    ElementForm form = ElementForm::AsWritten;
    /// Fewer instructions a step of a product around its elements: memory is asked ahead by
    /// straight code, values of a row are widened where they are used.
    bool lean = false;
    /// Products in 16 bits by warpgroups (kernels/warpgroup.cuh), in tiles of 128 rows, where the
    /// device has capability 9.0.
    bool warpgroups = false;
};

/// What of a device decides the text.
struct DeviceTraits {
    int capability = 90; ///< 10 * major + minor
    int multiprocessors = 132;
    size_t sharedBytes = 49152; ///< that a block may ask for
    /// Element operations a microsecond of one block: what the launch plan holds against the cost
    /// of a launch. Tests lower it to see small kernels spread over many blocks.
    double blockWork = 40e3;
    TileLimits tiles{}; ///< as SourceOptions::tiles
};

/// Where a kernel's text gets its memory: offsets known when the text is written.
struct KernelSite {
    const Program& program;
    size_t kernel = 0;        ///< in Program::kernels
    std::string name;         ///< of the device function
    int maxBlocks = 1;        ///< 1: one block runs it, in a chain with other kernels
    size_t scratchOffset = 0; ///< first free byte of the scratch area, a multiple of 256
    int firstTicket = 0;      ///< first free counter of the ticket area
};

/// The function has the form
///     __device__ void NAME(char* arena, char* scratch, unsigned* tickets, char* shared, int block)
/// and is called by all kThreads threads of blocks 0 to blocks - 1 (in any order, at the same
/// time). Tickets are 0 before and after: the block that draws the last one of a sum over blocks
/// adds the partial sums up in their fixed order. It may leave without a barrier; a caller that
/// runs another kernel in the same block puts __syncthreads() between.
struct KernelText {
    std::string function;
    int blocks = 1;
    size_t sharedBytes = 0;  ///< of the shared area, 16-byte aligned
    size_t scratchBytes = 0; ///< from scratchOffset on
    int tickets = 0;         ///< from firstTicket on
    bool warpgroups = false; ///< multiply: the shared area begins at a multiple of 1024 bytes
    /// Blocks that share a multiprocessor, and so its registers.
    int blocksEach = 2;
};

KernelText writeLoop(const KernelSite&, const DeviceTraits&); ///< a fused loop (Kernel::loop)
KernelText writeNode(const KernelSite&, const DeviceTraits&); ///< a kernel of one node, any op

/// Roughly how many element operations a kernel does: what the launch plan weighs.
double workOf(const Program&, size_t kernel);

} // namespace halfscope::cuda
