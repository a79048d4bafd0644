// Convolution and its two gradients as matrix products whose operands are read in place (implicit
// GEMM), for any stride, padding and dilation. Groups are the batch of the product. The products
// themselves are in matmul.cuh; cuDNN does large convolutions.
#pragma once

namespace hs {
namespace nodes {

/// The sizes of one convolution: image (n, c, h, w), weight (o, c / batch, kh, kw), output (n, o,
/// oh, ow), strides sy, sx, padding py, px, dilationY, dilationX; batch (the groups); In, Out, Acc,
/// Index, tf32. Operands a and b of the product are called left and right.
template <class S>
struct ConvBase {
    using Acc = typename S::Acc;
    using Index = typename S::Index;
    static constexpr Index channels = S::c / S::batch, outputs = S::o / S::batch; ///< of a group
    const typename S::In *image, *weight, *dy; ///< two of them are set
    typename S::Out* out;

    /// Returns the pixel under tap (c, i, j) of output place (n, y, x); 0 in the padding.
    HS_D Acc pixel(Index n, Index c, Index y, Index x, Index i, Index j) const {
        const Index row = y * S::sy - S::py + i * S::dilationY;
        const Index column = x * S::sx - S::px + j * S::dilationX;
        if (row < 0 || row >= S::h || column < 0 || column >= S::w) return Acc(0);
        return operandOf<S::tf32>(image + ((n * S::c + c) * S::h + row) * S::w + column);
    }
};

/// Computes output (o, places of all images) = weight (o, taps) x image columns (taps, places).
template <class S>
struct ConvForward : ConvBase<S> {
    using Acc = typename S::Acc;
    using Index = typename S::Index;
    static constexpr Index places = S::oh * S::ow;
    using Base = ConvBase<S>;
    static constexpr Index m = Base::outputs, n = S::n * places;
    static constexpr Index k = Base::channels * S::kh * S::kw;
    static constexpr bool aAlongK = true, bAlongK = false;

    HS_D Acc a(Index group, Index row, Index at) const {
        return operandOf<S::tf32>(this->weight + (group * m + row) * k + at);
    }
    HS_D Acc b(Index group, Index at, Index column) const {
        return this->pixel(column / places, group * Base::channels + at / (S::kh * S::kw),
                           column / S::ow % S::oh, column % S::ow, at / S::kw % S::kh, at % S::kw);
    }
    HS_D void put(Index group, Index row, Index column, Acc value) const {
        const Index plane = column / places * S::o + group * m + row;
        store(this->out + plane * places + column % places, value);
    }
};

/// Computes image (c, pixels of all images) = weight (c, taps of dy) x dy columns: a pixel gathers
/// the output places to which it contributed.
template <class S>
struct ConvInputGrad : ConvBase<S> {
    using Acc = typename S::Acc;
    using Index = typename S::Index;
    static constexpr Index pixels = S::h * S::w;
    using Base = ConvBase<S>;
    static constexpr Index m = Base::channels, n = S::n * pixels;
    static constexpr Index k = Base::outputs * S::kh * S::kw;
    static constexpr bool aAlongK = true, bAlongK = false;

    HS_D Acc a(Index group, Index row, Index at) const {
        const Index o = group * Base::outputs + at / (S::kh * S::kw), tap = at % (S::kh * S::kw);
        return operandOf<S::tf32>(this->weight + (o * m + row) * (S::kh * S::kw) + tap);
    }
    HS_D Acc b(Index group, Index at, Index column) const {
        const Index y = column / S::w % S::h + S::py - at / S::kw % S::kh * S::dilationY;
        const Index x = column % S::w + S::px - at % S::kw * S::dilationX;
        if (y < 0 || x < 0 || y % S::sy != 0 || x % S::sx != 0) return Acc(0);
        if (y / S::sy >= S::oh || x / S::sx >= S::ow) return Acc(0);
        const Index o = group * Base::outputs + at / (S::kh * S::kw);
        const Index plane = column / pixels * S::o + o;
        return operandOf<S::tf32>(this->dy + (plane * S::oh + y / S::sy) * S::ow + x / S::sx);
    }
    HS_D void put(Index group, Index row, Index column, Acc value) const {
        const Index plane = column / pixels * S::c + group * m + row;
        store(this->out + plane * pixels + column % pixels, value);
    }
};

/// Computes weight (o, taps) = dy (o, places of all images) x image columns (places, taps).
template <class S>
struct ConvWeightGrad : ConvBase<S> {
    using Acc = typename S::Acc;
    using Index = typename S::Index;
    static constexpr Index places = S::oh * S::ow;
    using Base = ConvBase<S>;
    static constexpr Index m = Base::outputs, n = Base::channels * S::kh * S::kw;
    static constexpr Index k = S::n * places;
    static constexpr bool aAlongK = true, bAlongK = true;

    HS_D Acc a(Index group, Index row, Index at) const {
        const Index plane = at / places * S::o + group * m + row;
        return operandOf<S::tf32>(this->dy + plane * places + at % places);
    }
    HS_D Acc b(Index group, Index at, Index column) const {
        return this->pixel(at / places, group * Base::channels + column / (S::kh * S::kw),
                           at / S::ow % S::oh, at % S::ow, column / S::kw % S::kh, column % S::kw);
    }
    HS_D void put(Index group, Index row, Index column, Acc value) const {
        store(this->out + (group * m + row) * n + column, value);
    }
};

} // namespace nodes
} // namespace hs
