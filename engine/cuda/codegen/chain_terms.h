// f32 elements of chains as sums of products, collected by what belongs to a column: the factors of
// a column are multiplied once for it, and each product is added in the rounding of one fmaf.
#pragma once

#include "engine/cuda/codegen/chain_shape.h"

namespace halfscope::cuda {

/// factor times the values of `columns` (Expands over the rows) times base times `times`.
struct ElementTerm {
    double factor = 1;
    std::vector<NodeId> columns; ///< ascending
    NodeId base = kNoNode;       ///< kNoNode: a value of columns alone
    NodeId times = kNoNode;      ///< a second element, not below base; or kNoNode
};

/// `value` as a sum of terms. Differences are never taken apart: x - mean is small where x is not.
/// Nor is what the kernel loads, nor its product. A value that is no sum of products is its own
/// base.
std::vector<ElementTerm> collectedTerms(const Graph&, const Kernel&, NodeId product, NodeId value);

/// The shape with every sum over rows that is a product of columns' values and another one's terms
/// computed from that other one's total.
void collectSums(const Graph&, const Kernel&, ChainShape&);

} // namespace halfscope::cuda
