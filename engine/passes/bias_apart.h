// Takes the bias out of products that are stored in more than 16 bits, for a device whose loops add
// it for nothing. The values are the same, bit for bit; in 16 bits they would be rounded twice.
#pragma once

#include "engine/graph/graph.h"

namespace halfscope {

/// Returns the graph with a sum behind every such product.
Graph biasApart(const Graph&);

} // namespace halfscope
