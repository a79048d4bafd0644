// Functions on images (n, c, h, w): pooling, growing, borders, regrouping, and reading at given
// places.
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
/// The widths of a border around the last axis of (n, c, length), or around the last two of images.
struct Border {
    int64_t left = 0, right = 0, top = 0, bottom = 0;
};
NodeId constantPad(Builder&, NodeId x, const Border&, double value);
/// Fills the border as a mirror does that stands on the outermost values, which it does not repeat.
NodeId reflectionPad(Builder&, NodeId x, const Border&);
NodeId replicationPad(Builder&, NodeId x, const Border&); ///< repeats the outermost values
/// Turns factor^2 channels into one whose pixels are blocks of factor x factor; and back.
NodeId pixelShuffle(Builder&, NodeId x, int64_t factor);
NodeId pixelUnshuffle(Builder&, NodeId x, int64_t factor);
/// Takes one channel of each group in turn.
NodeId channelShuffle(Builder&, NodeId x, int64_t groups);
/// Reads x (n, c, h, w) at grid (n, oh, ow, 2), where x comes before y and -1 and 1 are the outer
/// edges: bilinear, zeros outside (align_corners off).
NodeId gridSample(Builder&, NodeId x, NodeId grid);

} // namespace halfscope::fn
