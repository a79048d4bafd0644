// What a fused loop does, and how its elements are distributed over blocks and threads; only shapes
// and dtypes decide. The text is written by loop_source.
#pragma once

#include "engine/cuda/codegen/kernel_text.h"
#include "engine/passes/fuse.h"

#include <map>

namespace halfscope::cuda {

/// What a value of a loop depends on, and so how far out of the loop it can be computed.
enum class Level : uint8_t {
    Scalar, ///< nothing: once per thread
    Row,    ///< the column: one value per column, the same in every row
    Column, ///< the row: one value per row
    Full,
};

struct LoopLoad {
    NodeId value = kNoNode; ///< the member or stored value that it provides
    DType dtype = DType::F32;
    size_t offset = 0;
    LoadKind kind = LoadKind::Full;
    Shape strides; ///< Strided: by axis of the space, in elements
};
struct LoopStore {
    NodeId value = kNoNode;
    size_t offset = 0;
};
struct LoopReduction {
    NodeId node = kNoNode, input = kNoNode;
    ReduceKind kind = ReduceKind::All; ///< Rows, Columns or All
    size_t offset = 0;
    double factor = 1; ///< 1/n for a mean
};

/// A loop kernel taken apart.
struct LoopFacts {
    const Graph* graph = nullptr;
    Shape space;
    int64_t rows = 1, columns = 1;
    std::vector<LoopLoad> loads;
    std::vector<NodeId> given;    ///< of a product loop: the product, and a view of it
    std::vector<NodeId> computed; ///< constants and elementwise members, in order
    std::vector<LoopStore> stores;
    std::vector<LoopReduction> reductions;
    std::map<NodeId, Level> levels;

    const Node& node(NodeId id) const { return (*graph)[id]; }
    int64_t elements() const { return rows * columns; }
    bool reduces(ReduceKind) const;
    int reductionsOf(ReduceKind) const;
    template <class Do>
    void forEachReduction(ReduceKind kind, Do act) const {
        for (const LoopReduction& reduction : reductions)
            if (reduction.kind == kind) act(reduction);
    }
    Level level(NodeId id) const { return levels.at(id); }
    bool has(Level) const;
};

/// Returns the facts of a kernel with Kernel::loop.
LoopFacts factsOf(const Program&, const Kernel&);

/// Where elements go. When flat, blocks walk over the elements in batches of kThreads packs, and
/// rows and columns are found by division. Otherwise `lanes` x `rowsAtOnce` threads walk over a
/// tile: a lane owns `vector` neighbouring columns, and blocks are rowBlocks x columnBlocks.
struct LoopLayout {
    bool flat = true;
    int vector = 1; ///< elements of a pack: 1, 2, 4 or 8, a divisor of what is contiguous
    int unroll = 1; ///< packs of each stream that a thread has in flight
    int lanes = 1, rowsAtOnce = 1;
    int64_t blocks = 1;
    int64_t rowBlocks = 1, columnBlocks = 1;
    int64_t rowsPerBlock = 1;
    int64_t columnsPerTile = 1; ///< lanes * vector * columnSteps
    int64_t columnSteps = 1;    ///< packs of a row that a thread reads one after the other
    int64_t tiles = 1;          ///< of columns; a block does tiles columnBlock, + columnBlocks, ...
    bool wideIndex = false;     ///< elements do not fit into 31 bits

    /// Whether columns stay the same over a thread's rows, so that Row values can be kept in
    /// registers.
    bool ownsColumns() const { return !flat && columnSteps == 1; }
    /// Returns the type of elements, rows and columns in device code.
    const char* indexType() const { return wideIndex ? "u64" : "u32"; }
};

/// Lays a loop out in at most `maxBlocks` blocks: 1 when it is one of several kernels of a block.
LoopLayout layOut(const LoopFacts&, int maxBlocks, const DeviceTraits&);

} // namespace halfscope::cuda
