// Reductions and running sums and products. An empty list of axes means all; axes may be negative.
#pragma once

#include "engine/ops/builder.h"

namespace halfscope::fn {

enum class KeepAxes : uint8_t { No, Yes };
NodeId sum(Builder&, NodeId x, Shape axes, KeepAxes keep = KeepAxes::No);
NodeId mean(Builder&, NodeId x, Shape axes, KeepAxes keep = KeepAxes::No);
NodeId amax(Builder&, NodeId x, Shape axes, KeepAxes keep = KeepAxes::No);
NodeId amin(Builder&, NodeId x, Shape axes, KeepAxes keep = KeepAxes::No);
NodeId prod(Builder&, NodeId x, Shape axes, KeepAxes keep = KeepAxes::No);
NodeId cumsum(Builder&, NodeId x, int axis);
NodeId cumprod(Builder&, NodeId x, int axis);
/// Returns the root of the sum of squares; its slope at 0 is 0.
NodeId norm(Builder&, NodeId x, Shape axes, KeepAxes keep = KeepAxes::No);
/// Two-pass; divided by n - 1. Throws InputError for fewer than 2 values, where PyTorch warns and
/// gives NaN.
NodeId var(Builder&, NodeId x, Shape axes, KeepAxes keep = KeepAxes::No);
NodeId stddev(Builder&, NodeId x, Shape axes, KeepAxes keep = KeepAxes::No);

} // namespace halfscope::fn
