// Fused chains: a matrix product together with the loops that would have stored its operands and
// those that sum its result over the rows, or only sums over the rows, as one kernel of a Program.
// Activations that are cheap to recompute are then no longer stored.
#pragma once

#include "engine/cuda/codegen/kernel_text.h"

#include <vector>

namespace halfscope::cuda {

struct ChainOptions {
    /// Results with fewer elements stay unfused: their loops are small launches that merge.
    int64_t leastElements = int64_t{1} << 20;
    /// Whether matrix products are fused, too, and not only sums. Also in strict f32: by estimate
    /// they are as fast as cuBLASLt's, whose operands and results would be additional passes over
    /// memory.
    bool products = true;
    /// Whether an operand that is expensive to compute is stored for the weight gradient by the
    /// chain that computes it first. Dropped when the step would then need more memory than without
    /// chains.
    bool keepOperands = true;
    /// The most nodes for which a value may be recomputed. Twice as many are also tried, for steps
    /// of second order, and used when less memory is moved.
    size_t mostMembers = 48;
};

/// Returns the Program with chains in place of the kernels that they replace, on the same graph,
/// with its memory planned anew. Unchanged when nothing fits, or when both traffic and memory would
/// grow.
Program fuseChains(const Program&, const DeviceTraits&, const ChainOptions& = {});

/// Whether a kernel is a chain: several members, and not a loop.
inline bool isChain(const Kernel& kernel) { return !kernel.loop && kernel.members.size() > 1; }

/// Writes one or two phases; the second adds up partial sums and must be launched after the first
/// has ended. Both use the scratch from the site's offset on: scratchBytes of the first covers
/// both. The function of the second is named NAME_merge.
std::vector<KernelText> writeChain(const KernelSite&, const DeviceTraits&);
int chainPhases(const Program&, size_t kernel, const DeviceTraits&);

/// The least that a kernel must move and compute, for estimates.
struct Traffic {
    double readBytes = 0, writtenBytes = 0;
    double flops = 0; ///< in matrix products
};
Traffic trafficOf(const Program&, size_t kernel);

} // namespace halfscope::cuda
