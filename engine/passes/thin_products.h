// Matrix products that are passes over one large matrix rather than products: those with a vector
// or two, as a network's first and last layer have them. Written element by element they fuse with
// the loops around them, and the large matrix is computed where it is read instead of stored.
#pragma once

#include "engine/graph/graph.h"

namespace halfscope {

/// Fewest elements of the largest matrix of such a product, operand or result: below it a pass over
/// memory costs less than what is computed twice, and results keep the bits of the product.
inline constexpr int64_t kThinProductElements = int64_t{1} << 19;

/// The graph with each product of rank 2 whose inner extent, rows or columns are at most two and
/// whose largest matrix has `fewest` elements or more written as elementwise products and sums.
/// They compute in f32 and round once to the product's storage, as the product does; TF32 ones
/// stay.
Graph thinProductsByElement(const Graph&, int64_t fewest = kThinProductElements);

} // namespace halfscope
