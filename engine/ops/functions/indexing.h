// Functions that join tensors, and that read and write them by index.
#pragma once

#include "engine/ops/builder.h"

#include <optional>
#include <span>

namespace halfscope::fn {

NodeId cat(Builder&, std::span<const NodeId> in, int axis);
NodeId stack(Builder&, std::span<const NodeId> in, int axis); ///< a new axis
/// x plus the values of src at the places that index (shape of src, I32) names along the axis.
NodeId scatterAdd(Builder&, NodeId x, int axis, NodeId index, NodeId src);
NodeId indexSelect(Builder&, NodeId x, int axis, NodeId index); ///< index (n), I32
/// Rows of weight (n, d) by an index of any shape (..), I32: (.., d). Row `padding`, from 0 on, is
/// read like the others, but has a gradient of zero.
NodeId embedding(Builder&, NodeId weight, NodeId index, std::optional<int64_t> padding = {});
/// x with rows index (n), I32, each at most once, replaced by those of values (n, ..).
NodeId indexPut(Builder&, NodeId x, NodeId index, NodeId values);

} // namespace halfscope::fn
