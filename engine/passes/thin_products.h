// Rewrites matrix products that amount to passes over one large matrix: products with one or two
// vectors, as in a network's first and last layer. Written element by element they fuse with the
// loops around them, and the large matrix is computed where it is read instead of stored.
#pragma once

#include "engine/graph/graph.h"

namespace halfscope {

/// The fewest elements of the largest matrix of such a product, operand or result. Below this a
/// pass over memory costs less than computing values twice, and results keep the bits of the
/// product.
inline constexpr int64_t kThinProductElements = int64_t{1} << 19;

/// Returns the graph with some products of rank 2 written as elementwise products and sums: those
/// whose inner extent, rows or columns are at most two and whose largest matrix has `fewest`
/// elements or more. They compute in f32 and round once to the product's storage, as the product
/// does; TF32 products stay.
Graph thinProductsByElement(const Graph&, int64_t fewest = kThinProductElements);

} // namespace halfscope
