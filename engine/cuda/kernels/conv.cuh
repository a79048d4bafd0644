// Convolution and its two gradients as matrix products whose operands are read in place (implicit
// GEMM), for any stride and padding. The products themselves are in matmul.cuh; cuDNN does large
// convolutions.
#pragma once

namespace hs {
namespace nodes {

/// The sizes of one convolution: image (n, c, h, w), weight (o, c, kh, kw), output (n, o, oh, ow),
/// strides sy, sx, padding py, px; In, Out, Acc, Index, tf32. Operands a and b of the product are
/// called left and right.
template <class S>
struct ConvBase {
    using Acc = typename S::Acc;
    using Index = typename S::Index;
    const typename S::In *image, *weight, *dy; ///< two of them are set
    typename S::Out* out;

    /// Returns the pixel under tap (c, i, j) of output place (n, y, x); 0 in the padding.
    HS_D Acc pixel(Index n, Index c, Index y, Index x, Index i, Index j) const {
        const Index row = y * S::sy - S::py + i, column = x * S::sx - S::px + j;
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
    static constexpr Index m = S::o, n = S::n * places, k = S::c * S::kh * S::kw;
    static constexpr bool aAlongK = true, bAlongK = false;

    HS_D Acc a(Index, Index row, Index at) const {
        return operandOf<S::tf32>(this->weight + row * k + at);
    }
    HS_D Acc b(Index, Index at, Index column) const {
        return this->pixel(column / places, at / (S::kh * S::kw), column / S::ow % S::oh,
                           column % S::ow, at / S::kw % S::kh, at % S::kw);
    }
    HS_D void put(Index, Index row, Index column, Acc value) const {
        store(this->out + (column / places * m + row) * places + column % places, value);
    }
};

/// Computes image (c, pixels of all images) = weight (c, taps of dy) x dy columns: a pixel gathers
/// the output places to which it contributed.
template <class S>
struct ConvInputGrad : ConvBase<S> {
    using Acc = typename S::Acc;
    using Index = typename S::Index;
    static constexpr Index pixels = S::h * S::w;
    static constexpr Index m = S::c, n = S::n * pixels, k = S::o * S::kh * S::kw;
    static constexpr bool aAlongK = true, bAlongK = false;

    HS_D Acc a(Index, Index row, Index at) const {
        const Index o = at / (S::kh * S::kw), tap = at % (S::kh * S::kw);
        return operandOf<S::tf32>(this->weight + (o * S::c + row) * (S::kh * S::kw) + tap);
    }
    HS_D Acc b(Index, Index at, Index column) const {
        const Index y = column / S::w % S::h + S::py - at / S::kw % S::kh;
        const Index x = column % S::w + S::px - at % S::kw;
        if (y < 0 || x < 0 || y % S::sy != 0 || x % S::sx != 0) return Acc(0);
        if (y / S::sy >= S::oh || x / S::sx >= S::ow) return Acc(0);
        const Index plane = column / pixels * S::o + at / (S::kh * S::kw);
        return operandOf<S::tf32>(this->dy + (plane * S::oh + y / S::sy) * S::ow + x / S::sx);
    }
    HS_D void put(Index, Index row, Index column, Acc value) const {
        store(this->out + (column / pixels * m + row) * pixels + column % pixels, value);
    }
};

/// Computes weight (o, taps) = dy (o, places of all images) x image columns (places, taps).
template <class S>
struct ConvWeightGrad : ConvBase<S> {
    using Acc = typename S::Acc;
    using Index = typename S::Index;
    static constexpr Index places = S::oh * S::ow;
    static constexpr Index m = S::o, n = S::c * S::kh * S::kw, k = S::n * places;
    static constexpr bool aAlongK = true, bAlongK = true;

    HS_D Acc a(Index, Index row, Index at) const {
        return operandOf<S::tf32>(this->dy + (at / places * m + row) * places + at % places);
    }
    HS_D Acc b(Index, Index at, Index column) const {
        return this->pixel(at / places, column / (S::kh * S::kw), at / S::ow % S::oh, at % S::ow,
                           column / S::kw % S::kh, column % S::kw);
    }
    HS_D void put(Index, Index row, Index column, Acc value) const {
        store(this->out + row * n + column, value);
    }
};

} // namespace nodes
} // namespace hs
