// Lays stored values into one arena: lifetimes by kernel, bytes shared between values that are
// never alive together, results in place of an input that dies, next values in place of their
// states.
#pragma once

#include "engine/graph/program.h"

namespace halfscope {

/// Plans the memory of kernels that fuse() made, and sets `pointOfNoReturn`, see Program. Values of
/// up to `apartBytes` keep bytes of their own for the whole step, for executors that run kernels
/// side by side: shared bytes would force an order on kernels that are independent of each other.
MemoryPlan planMemory(const Graph&, const std::vector<Kernel>&, size_t& pointOfNoReturn,
                      size_t apartBytes = 0);

/// For tests: throws std::logic_error if two values that are needed at the same time share bytes,
/// or if a loop reads what it does not load.
void checkPlan(const Graph&, const std::vector<Kernel>&, const MemoryPlan&);

} // namespace halfscope
