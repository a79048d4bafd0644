// How a chain is cut into tiles: what its blocks and threads hold at once. The text is written by
// chain_source.
#pragma once

#include "engine/cuda/codegen/chain.h"
#include "engine/cuda/codegen/chain_shape.h"

namespace halfscope::cuda {

/// How a chain is cut. It depends only on sizes and the device.
struct ChainTiles {
    int rows = 128, columns = 256, depth = 64;
    bool resident = false; ///< operand b stays in shared memory (Rows)
    int parts = 1;         ///< blocks that share the rows
    size_t sharedBytes = 0;
    bool warpgroups = false; ///< warpgroups multiply (kernels/warpgroup.cuh)
    int blocksEach = 1;      ///< blocks that share a multiprocessor

    int acrossOf(const ChainShape& shape) const {
        return static_cast<int>((shape.columns + columns - 1) / columns);
    }
};

/// Returns nothing when the device has too little shared memory, or lacks the arithmetic.
std::optional<ChainTiles> chainTiles(const Graph&, const ChainShape&, const DeviceTraits&);

/// Returns the number of columns that a thread computes side by side.
int groupOf(const ChainShape&, ElementForm);
/// Returns the inner extent of its product.
int64_t depthOf(const Graph&, const ChainShape&);

/// Whether writeChain() can write a kernel of this shape.
bool canWriteChain(const Graph&, const Kernel&, const ChainShape&, const DeviceTraits&);

} // namespace halfscope::cuda
