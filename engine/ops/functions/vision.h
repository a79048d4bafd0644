// Functions on images (n, c, h, w): pooling, growing and reading at given places.
#pragma once

#include "engine/ops/builder.h"

#include <array>

namespace halfscope::fn {

NodeId maxPool2d(Builder&, NodeId x, const PoolAttrs& attrs);
NodeId avgPool2d(Builder&, NodeId x, const PoolAttrs& attrs);
NodeId adaptiveAvgPool2d(Builder&, NodeId x, std::array<int64_t, 2> size);
NodeId adaptiveMaxPool2d(Builder&, NodeId x, std::array<int64_t, 2> size);
/// Turns each pixel into a block of equal pixels, with whole factors along height and width.
NodeId upsampleNearest2d(Builder&, NodeId x, std::array<int64_t, 2> factors);
/// Reads x (n, c, h, w) at grid (n, oh, ow, 2), where x comes before y and -1 and 1 are the outer
/// edges: bilinear, zeros outside (align_corners off).
NodeId gridSample(Builder&, NodeId x, NodeId grid);

} // namespace halfscope::fn
