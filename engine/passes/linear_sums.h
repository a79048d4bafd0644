// Rewrites sums of linear combinations as linear combinations of sums: sum(s t + u v) with factors
// s and u that do not change along the summed axes is s sum(t) + u sum(v). In the gradient of a
// norm, one sum reads the results of other sums over the same elements; taken apart, all of them
// are ready after one pass over memory rather than two.
#pragma once

#include "engine/graph/graph.h"

namespace halfscope {

/// The fewest elements of a sum's operand. Below this a pass costs less than the rewriting saves,
/// and results keep their bits.
inline constexpr int64_t kLinearSumElements = int64_t{1} << 19;

/// Returns the graph with f32 sums taken apart when their operand has `fewest` elements or more,
/// serves only that sum, and either every term then waits for fewer other sums than the operand
/// did, or only one term is left, with a factor before it. Factors and sums are f32, as the
/// operand's elements were. A difference stays one term (x - mean does not become sum(x) - n mean),
/// so no new cancellation arises.
Graph linearSumsApart(const Graph&, int64_t fewest = kLinearSumElements);

} // namespace halfscope
