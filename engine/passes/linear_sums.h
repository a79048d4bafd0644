// Sums of linear combinations as linear combinations of sums: sum(s t + u v) with factors s and u
// that do not change along the summed axes is s sum(t) + u sum(v). In the gradient of a norm one
// sum reads what other sums over the same elements give; apart, all of them are there after one
// pass over memory rather than two.
#pragma once

#include "engine/graph/graph.h"

namespace halfscope {

/// Fewest elements of a sum's operand: below, a pass costs less than what it saves, and results
/// keep their bits.
inline constexpr int64_t kLinearSumElements = int64_t{1} << 19;

/// The graph with such f32 sums taken apart whose operand has `fewest` elements or more and is for
/// the sum alone: where no term needs another sum any more, or a factor stands before the one term.
/// Factors and sums are f32, as the operand's elements were. A difference is a term as it stands
/// (x - mean is not sum(x) - n mean), so nothing cancels that did not before.
Graph linearSumsApart(const Graph&, int64_t fewest = kLinearSumElements);

} // namespace halfscope
