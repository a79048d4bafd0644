// Counts the casts of a graph by their reasons. Only reads what the nodes record: the casts
// themselves come from engine/autocast/cast_policy and autodiff.
#pragma once

#include "engine/graph/graph.h"

#include <string>
#include <vector>

namespace halfscope {

/// Returns why a cast is there: the autocast rule, the gradient that it serves, the function that
/// computes in float32, or the part of the step that computes in another dtype than it stores.
/// Empty for a node that is not a cast.
std::string castReason(const Graph&, NodeId);

/// Returns the function that a rule or a decision of a node's cause is about: "batch_norm" for
/// "batch_norm: follows its inputs (torch cuda float16)".
std::string functionIn(const std::string& decision);

struct CastCount {
    std::string reason;
    DType from = DType::F32, to = DType::F32;
    int count = 0;
    int64_t elements = 0; ///< how many elements are cast in a step
};
/// Returns one entry for each kind of cast, in the order of their first casts.
std::vector<CastCount> castCounts(const Graph&);
/// Returns "casts: 3\n" and a line for each kind.
std::string castText(const Graph&);

} // namespace halfscope
