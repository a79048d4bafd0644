// f32 elements of chains as sums of products, collected by what belongs to a column: the factors of
// a column are multiplied once for it, and each product is added with the rounding of one fmaf.
#pragma once

#include "engine/cuda/codegen/chain_shape.h"

namespace halfscope::cuda {

/// The product of factor, the values of `columns` (Expands over the rows), base and `times`.
struct ElementTerm {
    double factor = 1;
    std::vector<NodeId> columns; ///< ascending
    NodeId base = kNoNode;       ///< kNoNode when there are only values of columns
    NodeId times = kNoNode;      ///< a second element, not below base; or kNoNode
};

/// Returns `value` as a sum of terms. Differences are never taken apart, because x - mean is small
/// where x is not; neither is what the kernel loads, nor its product. A value that is not a sum of
/// products is its own base.
std::vector<ElementTerm> collectedTerms(const Graph&, const Kernel&, NodeId product, NodeId value);

/// Changes the shape so that every sum over rows that is a product of columns' values and another
/// sum's terms is computed from that other sum's total.
void collectSums(const Graph&, const Kernel&, ChainShape&);

} // namespace halfscope::cuda
