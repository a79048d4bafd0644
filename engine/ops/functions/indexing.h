// Functions that join tensors, and functions that read and write them by index.
#pragma once

#include "engine/ops/builder.h"

#include <optional>
#include <span>

namespace halfscope::fn {

NodeId cat(Builder&, std::span<const NodeId> in, int axis);
NodeId stack(Builder&, std::span<const NodeId> in, int axis); ///< a new axis
/// Adds the values of src to x at the places that index (shape of src, I32) names along the axis.
NodeId scatterAdd(Builder&, NodeId x, int axis, NodeId index, NodeId src);
NodeId indexSelect(Builder&, NodeId x, int axis, NodeId index); ///< index (n), I32
/// Returns rows of weight (n, d) by an index of any shape (..), I32; the result is (.., d). Row
/// `padding`, counted from 0, is read like the others, but has a gradient of zero.
NodeId embedding(Builder&, NodeId weight, NodeId index, std::optional<int64_t> padding = {});
/// Replaces the rows index (n) of x, I32, each at most once, by those of values (n, ..).
NodeId indexPut(Builder&, NodeId x, NodeId index, NodeId values);

} // namespace halfscope::fn
