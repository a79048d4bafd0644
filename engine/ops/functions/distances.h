// Distances between vectors, and vectors scaled by their norm.
#pragma once

#include "engine/ops/builder.h"

namespace halfscope::fn {

/// Divides x by its norm along the axis, or by eps if that is larger.
NodeId normalize(Builder&, NodeId x, int axis, double eps = 1e-12);
NodeId cosineSimilarity(Builder&, NodeId a, NodeId c, int axis, double eps = 1e-8);
NodeId dist(Builder&, NodeId a, NodeId c);  ///< norm of the difference
NodeId cdist(Builder&, NodeId a, NodeId c); ///< (m, d), (n, d) to (m, n)
NodeId pdist(Builder&, NodeId x);           ///< (n, d) to the n (n - 1) / 2 pairs; PyTorch has no
                                            ///< 16-bit kernel
/// Scales slices along the axis down to the limit when their norm is above it.
NodeId renorm(Builder&, NodeId x, int axis, double limit);

} // namespace halfscope::fn
