// The windows of a pooling layer over its input, and where an upsampling has its corners. For
// layers_pooling.cpp and onnx_pooling.cpp.
#pragma once

#include "engine/models/layer.h"
#include "engine/ops/functions/vision.h"

namespace halfscope {

/// Of images (n, c, h, w), and of sequences (n, c, length) as images of one row.
struct PoolShape {
    PoolAttrs attrs;
    std::array<int64_t, 2> extents{}; ///< of the input
    std::array<int64_t, 2> windows{}; ///< along both axes
    fn::Beyond beyond{};
};
/// Refuses an input that has no room for a window.
PoolShape poolShape(const LayerSpec&, const Shape& in);
/// By what a layer with averages divides.
fn::Divisor divisorOf(const LayerSpec&);
fn::Corners cornersOf(const LayerSpec&); ///< of a bilinear Upsample

} // namespace halfscope
