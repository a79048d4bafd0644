// Products that are too small for a chain, together with the loop that follows them: a bias and an
// activation, the mask of a gradient, a cast. A kernel, a barrier and a pass over memory less each.
#pragma once

#include "engine/graph/program.h"

#include <functional>

namespace halfscope::cuda {

/// Whether a loop takes elements from a product as they are computed. Its first member is then the
/// product, which writeNode() writes with the loop behind it.
bool isProductLoop(const Graph&, const Kernel&);

/// Joins products with loops over their results, in the products' places. A loop joins if it needs
/// nothing else that is computed later, and writes no next value of a state, which has to wait for
/// all that reads the state. Its sums stay behind as a loop of their own, so that what needs only
/// its elements is a kernel sooner. A product's results are stored as they were before, so that a
/// visitor of values sees them. `ours` tells which kernels may be joined. The memory is not
/// planned.
void joinProducts(Program&, const std::function<bool(const Kernel&)>& ours);

} // namespace halfscope::cuda
