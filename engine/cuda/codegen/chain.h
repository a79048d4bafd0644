// Fused chains: a matrix product together with the loops that would have stored its operands and
// those that sum its result over the rows, or sums over the rows alone, as one kernel of a Program.
// Activations that are cheap to compute again are no longer stored.
#pragma once

#include "engine/cuda/codegen/kernel_text.h"

#include <vector>

namespace halfscope::cuda {

struct ChainOptions {
    /// Smaller results than this stay unfused: their loops are small launches that merge.
    int64_t leastElements = int64_t{1} << 20;
    /// Matrix products too, not only sums. In strict f32 as well: by estimate they keep up with
    /// cuBLASLt's, whose operands and results would be passes over memory on top.
    bool products = true;
    /// An operand that costs much to compute is stored by the chain that computes it first, for the
    /// weight gradient. Dropped where the step would then need more memory than without chains.
    bool keepOperands = true;
    /// Nodes that a value may cost to be computed again. Twice as many are tried too, for steps of
    /// second order, and taken where less is moved.
    size_t mostMembers = 48;
};

/// The Program with chains in place of the kernels they stand for, on the same graph, and its
/// memory planned anew. Unchanged where nothing fits, or where traffic and memory both would grow.
Program fuseChains(const Program&, const DeviceTraits&, const ChainOptions& = {});

/// Whether a kernel is a chain: several members, not a loop.
inline bool isChain(const Kernel& kernel) { return !kernel.loop && kernel.members.size() > 1; }

/// One or two phases; the second adds up partial sums and must be launched after the first has
/// ended. Both use the scratch from the site's offset on: scratchBytes of the first covers both.
/// The second's function is named NAME_merge.
std::vector<KernelText> writeChain(const KernelSite&, const DeviceTraits&);
int chainPhases(const Program&, size_t kernel, const DeviceTraits&);

/// What a kernel must move and compute at least, for estimates.
struct Traffic {
    double readBytes = 0, writtenBytes = 0;
    double flops = 0; ///< of matrix products
};
Traffic trafficOf(const Program&, size_t kernel);

} // namespace halfscope::cuda
