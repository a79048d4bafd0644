// The windows of a pooling layer over its input, the border that a layer adds, and where an
// upsampling has its corners. For the layers and their forms in ONNX.
#pragma once

#include "engine/models/layer.h"
#include "engine/ops/functions/resampling.h"
#include "engine/ops/functions/vision.h"

namespace halfscope {

/// Of images (n, c, h, w), and of sequences (n, c, length) as images of one row.
struct PoolShape {
    PoolAttrs attrs;
    std::array<int64_t, 2> dilation{1, 1};
    std::array<int64_t, 2> extents{}; ///< of the input
    std::array<int64_t, 2> windows{}; ///< along both axes
    fn::Beyond beyond{};
};
/// Refuses an input that has no room for a window.
PoolShape poolShape(const LayerSpec&, const Shape& in);
/// By what a layer with averages divides.
fn::Divisor divisorOf(const LayerSpec&);
/// Returns the border, given as one number, as (left, right) or as (left, right, top, bottom).
fn::Border borderOf(const LayerSpec&, const Shape& in);
/// Refuses a border that is too wide to reflect the input, or to repeat it.
void requireReflectable(const LayerSpec&, const Shape& in, const fn::Border&);
void requireRepeatable(const LayerSpec&, const Shape& in, const fn::Border&);
/// Whether a convolution's padding_mode fills its border with something else than zeros.
bool fillsBorder(const LayerSpec&);
/// Returns the whole border of such a convolution.
fn::Border borderOfConv(const LayerSpec&);
/// Returns what padding='same' of a convolution adds to height and width at their ends, beyond
/// `padding` on both sides: 1 where the kernel with its dilation takes an odd number of values.
std::array<int64_t, 2> evenEnds(const LayerSpec&);
/// Returns what an Upsample makes of an input; refuses one that would leave no pixel.
fn::NewSize newSizeOf(const LayerSpec&, const Shape& in);
fn::Corners cornersOf(const LayerSpec&); ///< of an Upsample that is not nearest

} // namespace halfscope
