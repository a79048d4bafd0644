// Reductions over any axes: sum, mean, product, maximum, minimum. Sums of f32 and 16-bit data run
// in f32 for kRun values, then in double, and are rounded once. Tiles, lanes and parts depend only
// on the sizes, so that any number of blocks gives the same bits.
#pragma once

namespace hs {
namespace nodes {

constexpr int kRun = 32; ///< values that a thread joins in the fine type before the wide one

struct AddStep {
    template <class T>
    HS_D static T start() {
        return T(0);
    }
    template <class T>
    HS_D static T join(T a, T b) {
        return a + b;
    }
};
struct TimesStep {
    template <class T>
    HS_D static T start() {
        return T(1);
    }
    template <class T>
    HS_D static T join(T a, T b) {
        return a * b;
    }
};
/// Takes the larger (SmallerStep: the smaller) value; NaN wins over every number.
struct LargerStep {
    template <class T>
    HS_D static T start() {
        return lowest(T());
    }
    template <class T>
    HS_D static T join(T a, T b) {
        return b > a || b != b ? b : a;
    }
    HS_D static float lowest(float) { return -floatOf(0x7f800000u); }
    HS_D static double lowest(double) { return -double(floatOf(0x7f800000u)); }
    HS_D static i64 lowest(i64) { return -2147483648LL; }
};
struct SmallerStep {
    template <class T>
    HS_D static T start() {
        return highest(T());
    }
    template <class T>
    HS_D static T join(T a, T b) {
        return b < a || b != b ? b : a;
    }
    HS_D static float highest(float) { return floatOf(0x7f800000u); }
    HS_D static double highest(double) { return double(floatOf(0x7f800000u)); }
    HS_D static i64 highest(i64) { return 2147483647LL; }
};

/// How: In, Out, Fine, Acc, Index, Step; outputs, reduced; lanes (threads of one output, a power of
/// two); runs (the innermost axis is reduced: neighbouring threads are lanes of one output, else
/// neighbouring outputs); parts, alone, blocks; kept(o) and across(r), the places of an output's
/// first element and of a reduced one from there; value(In) and finish(Acc).
template <class How>
struct Reduction {
    using Acc = typename How::Acc;
    using Fine = typename How::Fine;
    using Index = typename How::Index;
    using Step = typename How::Step;
    static constexpr int kOutputs = kThreads / How::lanes; ///< of a tile
    const typename How::In* x;
    typename How::Out* out;

    HS_D static int laneOf(int thread) {
        return How::runs ? thread % How::lanes : thread / kOutputs;
    }
    HS_D static int outputOf(int thread) {
        return How::runs ? thread / How::lanes : thread % kOutputs;
    }

    /// Returns the lane's share of reduced indices [begin, end).
    HS_D Acc partOf(Index output, Index begin, Index end) const {
        const typename How::In* from = x + How::kept(output);
        Acc total = Step::template start<Acc>();
        Index r = begin + laneOf(threadIdx.x);
        for (; r + (kRun - 1) * How::lanes < end; r += kRun * How::lanes) {
            Fine run = Step::template start<Fine>();
            HS_UNROLL_BY(8)
            for (int i = 0; i < kRun; ++i)
                run = Step::join(run, Fine(How::value(from + How::across(r + i * How::lanes))));
            total = Step::join(total, Acc(run));
        }
        Fine rest = Step::template start<Fine>();
        for (; r < end; r += How::lanes)
            rest = Step::join(rest, Fine(How::value(from + How::across(r))));
        return Step::join(total, Acc(rest));
    }

    /// Joins the lanes' values of each output; lane 0 gets the result. `area` holds one value per
    /// thread.
    HS_D static Acc joinLanes(Acc mine, Acc* area) {
        if constexpr (How::lanes == 1) return mine;
        const int at = laneOf(threadIdx.x) * kOutputs + outputOf(threadIdx.x);
        area[at] = mine; // no other thread still reads this from the last turn
        __syncthreads();
        for (int half = How::lanes / 2; half > 0; half /= 2) {
            if (laneOf(threadIdx.x) < half)
                area[at] = Step::join(area[at], area[at + half * kOutputs]);
            __syncthreads();
        }
        return area[at];
    }
};

template <class How>
HS_D void reduce(const typename How::In* x, typename How::Out* out, char* scratch,
                 unsigned* tickets, char* shared, int block) {
    using Acc = typename How::Acc;
    using Index = typename How::Index;
    using Step = typename How::Step;
    const Reduction<How> reduction{x, out};
    constexpr int kOutputs = Reduction<How>::kOutputs;
    constexpr Index tiles = (How::outputs + kOutputs - 1) / kOutputs;
    constexpr Index partsHere = How::alone ? 1 : How::parts;
    Acc* area = reinterpret_cast<Acc*>(shared);
    char* flag = reinterpret_cast<char*>(area + kThreads);
    const bool first = Reduction<How>::laneOf(threadIdx.x) == 0;
    for (Index item = block; item < tiles * partsHere; item += How::blocks) {
        const Index output = item / partsHere * kOutputs + Reduction<How>::outputOf(threadIdx.x);
        const bool inside = output < How::outputs;
        const auto edge = [](i64 part) {
            return static_cast<Index>(How::reduced * part / How::parts);
        };
        const auto joined = [&](Index part) {
            Acc mine = Step::template start<Acc>();
            if (inside) mine = reduction.partOf(output, edge(part), edge(part + 1));
            return Reduction<How>::joinLanes(mine, area);
        };
        Acc total;
        if constexpr (How::alone || How::parts == 1) {
            total = joined(0);
            for (int part = 1; part < How::parts; ++part)
                total = Step::join(total, joined(part));
        } else {
            Acc* partials = reinterpret_cast<Acc*>(scratch);
            const Acc mine = joined(item % partsHere);
            if (inside && first) partials[item % partsHere * How::outputs + output] = mine;
            if (!isLastBlock(tickets + item / partsHere, How::parts, flag)) continue;
            if (!inside || !first) continue;
            const volatile Acc* sums = partials + output; // written by other blocks
            total = sums[0];
            HS_UNROLL_BY(8)
            for (int part = 1; part < How::parts; ++part)
                total = Step::join(total, Acc(sums[part * How::outputs]));
        }
        if (inside && first) store(out + output, How::finish(total));
    }
}

} // namespace nodes
} // namespace hs
