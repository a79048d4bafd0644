// Distances between vectors, and vectors scaled by their norm.
#pragma once

#include "engine/ops/builder.h"

namespace halfscope::fn {

/// x over the larger of its norm along the axis and eps.
NodeId normalize(Builder&, NodeId x, int axis, double eps = 1e-12);
NodeId cosineSimilarity(Builder&, NodeId a, NodeId c, int axis, double eps = 1e-8);
NodeId dist(Builder&, NodeId a, NodeId c);  ///< norm of the difference
NodeId cdist(Builder&, NodeId a, NodeId c); ///< (m, d), (n, d) to (m, n)
NodeId pdist(Builder&, NodeId x);           ///< (n, d) to the n (n - 1) / 2 pairs; no 16-bit kernel
/// Slices along the axis with a norm above the limit are scaled down to it.
NodeId renorm(Builder&, NodeId x, int axis, double limit);

} // namespace halfscope::fn
