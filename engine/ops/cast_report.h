// The casts of a graph, counted by the reason that each is there for. Only reads what the nodes
// know; who put a cast there is up to engine/autocast/cast_policy and autodiff.
#pragma once

#include "engine/graph/graph.h"

#include <string>
#include <vector>

namespace halfscope {

/// Why a cast is there: the autocast rule, the gradient of one, or the part of the step that
/// computes in another dtype than it stores. Empty for a node that is no cast.
std::string castReason(const Graph&, NodeId);

struct CastCount {
    std::string reason;
    DType from = DType::F32, to = DType::F32;
    int count = 0;
    int64_t elements = 0; ///< in a step
};
/// In the order of the first cast of each kind.
std::vector<CastCount> castCounts(const Graph&);
/// "casts: 3\n" and a line for each kind.
std::string castText(const Graph&);

} // namespace halfscope
