// Functions on images (n, c, h, w): pooling, borders, regrouping, and reading at given places.
#pragma once

#include "engine/ops/builder.h"

#include <array>
#include <vector>

namespace halfscope::fn {

/// How far the last windows of a pool reach beyond its padded input, along height and width: what
/// PyTorch's ceil_mode adds.
using Beyond = std::array<int64_t, 2>;
/// `dilation` is the step between the values of a window.
NodeId maxPool2d(Builder&, NodeId x, const PoolAttrs& attrs, Beyond beyond = {0, 0},
                 std::array<int64_t, 2> dilation = {1, 1});
/// By what an average divides: the values of its window, with or without those that are padding, or
/// a given number.
struct Divisor {
    bool countsPadding = true;
    int64_t fixed = 0; ///< when it is above 0
};
NodeId avgPool2d(Builder&, NodeId x, const PoolAttrs& attrs, Beyond beyond = {0, 0},
                 const Divisor& divisor = {});
/// Returns, for each window along axis i (0 or 1) of an input of `extent`, the extent of the kernel
/// over that of what is averaged.
std::vector<double> windowShares(int64_t extent, const PoolAttrs&, size_t i, const Beyond&,
                                 const Divisor&);
NodeId adaptiveAvgPool2d(Builder&, NodeId x, std::array<int64_t, 2> size);
NodeId adaptiveMaxPool2d(Builder&, NodeId x, std::array<int64_t, 2> size);
/// The widths of a border around the last axis of (n, c, length), or around the last two of images.
struct Border {
    int64_t left = 0, right = 0, top = 0, bottom = 0;
};
NodeId constantPad(Builder&, NodeId x, const Border&, double value);
/// Fills the border as a mirror does that stands on the outermost values, which it does not repeat.
NodeId reflectionPad(Builder&, NodeId x, const Border&);
NodeId replicationPad(Builder&, NodeId x, const Border&); ///< repeats the outermost values
/// Fills the border with the values at the other end.
NodeId circularPad(Builder&, NodeId x, const Border&);
/// Turns factor^2 channels into one whose pixels are blocks of factor x factor; and back.
NodeId pixelShuffle(Builder&, NodeId x, int64_t factor);
NodeId pixelUnshuffle(Builder&, NodeId x, int64_t factor);
/// Takes one channel of each group in turn.
NodeId channelShuffle(Builder&, NodeId x, int64_t groups);
/// Reads x (n, c, h, w) at grid (n, oh, ow, 2), where x comes before y and -1 and 1 are the outer
/// edges: bilinear, zeros outside (align_corners off).
NodeId gridSample(Builder&, NodeId x, NodeId grid);

} // namespace halfscope::fn
