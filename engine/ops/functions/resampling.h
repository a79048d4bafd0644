// Brings images (n, c, h, w) to another size.
#pragma once

#include "engine/ops/builder.h"

#include <array>

namespace halfscope::fn {

/// Turns each pixel into a block of equal pixels, with whole factors along height and width.
NodeId upsampleNearest2d(Builder&, NodeId x, std::array<int64_t, 2> factors);

/// Whether the outermost pixels keep their places (PyTorch's align_corners), or their outer edges.
enum class Corners : uint8_t { Edges, Pixels };
/// Interpolates between neighbours along both axes, with whole factors.
NodeId upsampleBilinear2d(Builder&, NodeId x, std::array<int64_t, 2> factors, Corners corners);

enum class Resampling : uint8_t { Nearest, Bilinear, Bicubic };
/// The new height and width, and how many pixels of the image one of the result is wide.
struct NewSize {
    std::array<int64_t, 2> size{};
    std::array<double, 2> step{};
};
/// Does the same for any size, and with splines (a = -0.75). Where corners keep their places, the
/// sizes alone decide.
NodeId resampled2d(Builder&, NodeId x, const NewSize& to, Resampling how, Corners corners);

} // namespace halfscope::fn
