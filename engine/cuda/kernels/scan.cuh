// Running sums and products along an axis, accumulated in double whatever the storage. One thread
// walks a line, as on the CPU; a block shares the running sum of a long line.
#pragma once

namespace hs {
namespace nodes {

struct RunningSum {
    static constexpr double start = 0.0;
    HS_D static double join(double total, double x) { return total + x; }
};
struct RunningProduct {
    static constexpr double start = 1.0;
    HS_D static double join(double total, double x) { return total * x; }
};

/// Stores a total: through float, as on the CPU, except for F64.
HS_D void storeTotal(double* to, double total) { *to = total; }
template <class T>
HS_D void storeTotal(T* to, double total) {
    store(to, static_cast<float>(total));
}

/// How: T, Index, Step; lines, extent, stride (of the axis), reverse, blocks.
template <class How>
HS_D typename How::Index placeInLine(typename How::Index line, typename How::Index i) {
    using Index = typename How::Index;
    const Index first = line / How::stride * How::stride * How::extent + line % How::stride;
    return first + (How::reverse ? How::extent - 1 - i : i) * How::stride;
}

template <class How>
HS_D void scanByThread(const typename How::T* x, typename How::T* out, int block) {
    using Index = typename How::Index;
    for (Index line = Index(block) * kThreads + threadIdx.x; line < How::lines;
         line += Index(How::blocks) * kThreads) {
        double total = How::Step::start;
        HS_UNROLL_BY(4)
        for (Index i = 0; i < How::extent; ++i) {
            const Index at = placeInLine<How>(line, i);
            total = How::Step::join(total, wide(x[at]));
            storeTotal(out + at, total);
        }
    }
}

/// Scans a line with a block: each thread joins kEach neighbours, then the threads' totals are
/// scanned. `shared` is 2 * kThreads doubles.
template <class How>
HS_D void scanByBlock(const typename How::T* x, typename How::T* out, char* shared, int block) {
    using Index = typename How::Index;
    constexpr int kEach = 4;
    double* totals = reinterpret_cast<double*>(shared);
    const int thread = static_cast<int>(threadIdx.x);
    for (Index line = block; line < How::lines; line += How::blocks) {
        double before = How::Step::start;
        for (Index first = 0; first < How::extent; first += kThreads * kEach) {
            double running[kEach];
            double total = How::Step::start;
            for (int e = 0; e < kEach; ++e) {
                const Index i = first + thread * kEach + e;
                if (i < How::extent)
                    total = How::Step::join(total, wide(x[placeInLine<How>(line, i)]));
                running[e] = total;
            }
            // two halves take turns, so that one barrier per round is enough
            int half = 0;
            __syncthreads();
            totals[thread] = total;
            for (int reach = 1; reach < kThreads; reach *= 2) {
                __syncthreads();
                const double mine = totals[half * kThreads + thread];
                const double joined =
                    thread < reach
                        ? mine
                        : How::Step::join(totals[half * kThreads + thread - reach], mine);
                half = 1 - half;
                totals[half * kThreads + thread] = joined;
            }
            __syncthreads();
            const double* scanned = totals + half * kThreads;
            const double offset =
                thread == 0 ? before : How::Step::join(before, scanned[thread - 1]);
            for (int e = 0; e < kEach; ++e) {
                const Index i = first + thread * kEach + e;
                if (i < How::extent)
                    storeTotal(out + placeInLine<How>(line, i),
                               How::Step::join(offset, running[e]));
            }
            before = How::Step::join(before, scanned[kThreads - 1]);
        }
    }
}

} // namespace nodes
} // namespace hs
