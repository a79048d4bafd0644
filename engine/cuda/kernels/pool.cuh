// Pooling over NCHW images, one thread for each result: the place of a window's maximum, the
// average, and its gradient, which gathers the windows over a pixel in ascending order. Averages
// run in f32, those of f64 in double.
#pragma once

namespace hs {
namespace nodes {

/// S: In, Out, Acc, Index; planes, h, w (image), oh, ow (windows), kernel ky, kx, strides sy, sx,
/// padding py, px; blocks.
template <class S>
struct PoolWindow {
    using Index = typename S::Index;
    Index top, bottom, left, right; ///< rows [top, bottom), columns [left, right) in the image
    HS_D explicit PoolWindow(Index at) {
        const Index y = at / S::ow % S::oh * S::sy - S::py, x = at % S::ow * S::sx - S::px;
        top = y < 0 ? 0 : y;
        left = x < 0 ? 0 : x;
        bottom = y + S::ky < S::h ? y + S::ky : S::h;
        right = x + S::kx < S::w ? x + S::kx : S::w;
    }
};

template <class S>
HS_D void maxPoolIndex(const typename S::In* x, int* out, int block) {
    using Index = typename S::Index;
    for (Index at = Index(block) * kThreads + threadIdx.x; at < S::planes * S::oh * S::ow;
         at += Index(S::blocks) * kThreads) {
        const PoolWindow<S> window(at);
        const typename S::In* plane = x + at / (S::oh * S::ow) * (S::h * S::w);
        Index best = window.top * S::w + window.left;
        auto most = load(plane + best);
        for (Index i = window.top; i < window.bottom; ++i) {
            for (Index j = window.left; j < window.right; ++j) {
                const auto here = load(plane + i * S::w + j);
                // the first of equal ones; NaN before every number, and the first of several
                if (here > most || (here != here && most == most)) {
                    best = i * S::w + j;
                    most = here;
                }
            }
        }
        out[at] = static_cast<int>(best);
    }
}

template <class S>
HS_D void averagePool(const typename S::In* x, typename S::Out* out, int block) {
    using Index = typename S::Index;
    for (Index at = Index(block) * kThreads + threadIdx.x; at < S::planes * S::oh * S::ow;
         at += Index(S::blocks) * kThreads) {
        const PoolWindow<S> window(at);
        const typename S::In* plane = x + at / (S::oh * S::ow) * (S::h * S::w);
        typename S::Acc sum(0);
        for (Index i = window.top; i < window.bottom; ++i)
            for (Index j = window.left; j < window.right; ++j)
                sum += load(plane + i * S::w + j);
        store(out + at, sum / typename S::Acc(S::ky * S::kx));
    }
}

/// The windows along one axis that contain a pixel: [first, last).
template <class Index>
HS_D Index firstWindow(Index pixel, Index padding, Index kernel, Index stride) {
    const Index from = pixel + padding - kernel + 1;
    return from <= 0 ? 0 : (from + stride - 1) / stride;
}
template <class Index>
HS_D Index lastWindow(Index pixel, Index padding, Index stride, Index windows) {
    const Index last = (pixel + padding) / stride + 1;
    return last < windows ? last : windows;
}

template <class S>
HS_D void averagePoolGrad(const typename S::In* dy, typename S::Out* out, int block) {
    using Index = typename S::Index;
    for (Index at = Index(block) * kThreads + threadIdx.x; at < S::planes * S::h * S::w;
         at += Index(S::blocks) * kThreads) {
        const Index y = at / S::w % S::h, x = at % S::w;
        const typename S::In* plane = dy + at / (S::h * S::w) * (S::oh * S::ow);
        const Index bottom = lastWindow(y, S::py, S::sy, S::oh);
        const Index left = firstWindow(x, S::px, S::kx, S::sx);
        const Index right = lastWindow(x, S::px, S::sx, S::ow);
        typename S::Acc sum(0);
        for (Index i = firstWindow(y, S::py, S::ky, S::sy); i < bottom; ++i)
            for (Index j = left; j < right; ++j)
                sum += load(plane + i * S::ow + j);
        store(out + at, sum / typename S::Acc(S::ky * S::kx));
    }
}

} // namespace nodes
} // namespace hs
