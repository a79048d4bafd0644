// Groups the nodes of a step into kernels. Runs after all differentiation: a group lists its
// members and nothing needs the gradient of a group.
#pragma once

#include "engine/passes/compile.h"

namespace halfscope {

/// How a loop over (rows, columns) reads a value.
enum class LoadKind : uint8_t {
    Full,   ///< element (r, c) lies at r * columns + c
    Row,    ///< one value for each column, the same in every row
    Column, ///< one value for each row, the same in every column
    Scalar,
    Strided, ///< anything else: gathered by index
};

/// Which part of the loop's space a reduction sums.
enum class ReduceKind : uint8_t {
    Rows,     ///< over all rows: a sum for each column
    Columns,  ///< over all columns: a sum for each row
    Channels, ///< over all columns and every n-th row, as for the channels of a batch of pictures
    All,
    Other
};

/// Returns the strides, in elements of its input, with which node `id` of a loop (an Expand or
/// Transpose, or any value of the loop's shape) reads memory.
Shape loadStrides(const Graph&, NodeId id);
LoadKind loadKind(const Shape& space, int split, const Shape& strides);
/// Whether a value is the same in all columns of a row, of which there are several.
bool isOfRows(const Shape& space, int split, const Shape& strides);
ReduceKind reduceKind(const Shape& space, int split, const Shape& axes);

/// Returns the value whose bytes a node uses: itself, or the input of a chain of views (Reshape).
NodeId storageOf(const Graph&, NodeId id);

/// Returns kernels in an order in which they can run; those that write states come last when
/// nothing else needs them. With FuseOptions::None every node that computes is stored by a kernel
/// of its own. Loops have sums of ReduceKind::Channels only if `channelSums` allows them.
std::vector<Kernel> fuse(const Graph&, FuseOptions, bool channelSums = false);

} // namespace halfscope
