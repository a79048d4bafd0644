// Moves that need more than an index: a transpose through shared memory, and scatter_add, which
// adds in ascending order of the index axis as the CPU does, without atomics. The text generator
// writes out moves that are only an index (slice, pad, concat, expand, gather).
#pragma once

namespace hs {
namespace nodes {

constexpr int kTileSide = 32;

/// How: Index; T (an integer of the storage's size); rows (the axis along which the input is
/// contiguous, at outStride in the output), columns (the output's innermost axis, at inStride in
/// the input), planes with from(p) and to(p), their first elements; blocks. `shared` is 32 x 33
/// elements.
template <class How>
HS_D void transpose(const typename How::T* x, typename How::T* out, char* shared, int block) {
    using T = typename How::T;
    using Index = typename How::Index;
    constexpr int kPitch = kTileSide + 1; // no two elements of a column are in one bank
    constexpr Index rowTiles = (How::rows + kTileSide - 1) / kTileSide;
    constexpr Index columnTiles = (How::columns + kTileSide - 1) / kTileSide;
    T* tile = reinterpret_cast<T*>(shared);
    const int across = threadIdx.x % kTileSide, down = threadIdx.x / kTileSide;
    for (Index item = block; item < How::planes * rowTiles * columnTiles; item += How::blocks) {
        const Index plane = item / (rowTiles * columnTiles);
        const Index row = item / columnTiles % rowTiles * kTileSide;
        const Index column = item % columnTiles * kTileSide;
        const T* from = x + How::from(plane);
        T* to = out + How::to(plane);
        for (int c = down; c < kTileSide; c += kThreads / kTileSide)
            if (row + across < How::rows && column + c < How::columns)
                tile[c * kPitch + across] = from[row + across + (column + c) * How::inStride];
        __syncthreads();
        for (int r = down; r < kTileSide; r += kThreads / kTileSide)
            if (row + r < How::rows && column + across < How::columns)
                to[(row + r) * How::outStride + column + across] = tile[across * kPitch + r];
        __syncthreads();
    }
}

/// Returns what replaces an element that an index outside its axis asked for: NaN if the type has
/// one.
HS_D float missing(float) { return floatOf(0x7fc00000u); }
HS_D double missing(double) { return double(floatOf(0x7fc00000u)); }
HS_D int missing(int) { return -2147483647 - 1; }

HS_D int termOf(int x) { return x; } // whole numbers are added as they are
template <class T>
HS_D auto termOf(T x) {
    return value(x);
}
HS_D void storeSum(int* to, int sum) { *to = sum; }
template <class T, class Acc>
HS_D void storeSum(T* to, Acc sum) {
    store(to, sum);
}

/// How: T, Acc, Index; outer, count (indices per line), inner, extent (targets per line), blocks.
/// One thread for each target looks at all indices of its line: for short lines.
template <class How>
HS_D void scatterByTarget(const typename How::T* x, const int* index, typename How::T* out,
                          int block) {
    using Index = typename How::Index;
    constexpr Index targets = How::outer * How::extent * How::inner;
    for (Index at = Index(block) * kThreads + threadIdx.x; at < targets;
         at += Index(How::blocks) * kThreads) {
        const Index outer = at / (How::extent * How::inner), inner = at % How::inner;
        const Index target = at / How::inner % How::extent;
        typename How::Acc sum(0);
        HS_UNROLL_BY(4)
        for (Index i = 0; i < How::count; ++i) {
            const Index from = (outer * How::count + i) * How::inner + inner;
            const Index wanted = index[from];
            if (wanted < 0 || wanted >= How::extent) sum = missing(sum);
            if (wanted == target) sum += termOf(x[from]);
        }
        storeSum(out + at, sum);
    }
}

/// A block takes How::width neighbouring targets of one line (inner is 1) into shared memory and
/// goes through the line's indices; each target has one thread that adds to it, so that the order
/// is the CPU's. `shared` is width sums, then kThreads sums, then kThreads ints.
template <class How>
HS_D void scatterByLine(const typename How::T* x, const int* index, typename How::T* out,
                        char* shared, int block) {
    using Acc = typename How::Acc;
    using Index = typename How::Index;
    constexpr Index pieces = (How::extent + How::width - 1) / How::width;
    Acc* sums = reinterpret_cast<Acc*>(shared);
    Acc* values = sums + How::width;
    int* places = reinterpret_cast<int*>(values + kThreads);
    const int thread = static_cast<int>(threadIdx.x);
    for (Index item = block; item < How::outer * pieces; item += How::blocks) {
        const Index line = item / pieces, low = item % pieces * How::width;
        const Index rest = How::extent - low, width = rest < How::width ? rest : How::width;
        bool outside = false;
        for (Index at = thread; at < width; at += kThreads)
            sums[at] = Acc(0);
        for (Index first = 0; first < How::count; first += kThreads) {
            const Index left = How::count - first, here = left < kThreads ? left : kThreads;
            __syncthreads(); // all threads are done with the last indices
            if (thread < here) {
                const Index from = line * How::count + first + thread;
                places[thread] = index[from];
                values[thread] = termOf(x[from]);
            }
            __syncthreads();
            for (int i = 0; i < here; ++i) {
                const Index place = places[i] - low;
                outside = outside || places[i] < 0 || places[i] >= How::extent;
                if (place >= 0 && place < width && place % kThreads == thread)
                    sums[place] += values[i];
            }
        }
        for (Index at = thread; at < width; at += kThreads)
            storeSum(out + line * How::extent + low + at, outside ? missing(Acc(0)) : sums[at]);
    }
}

} // namespace nodes
} // namespace hs
