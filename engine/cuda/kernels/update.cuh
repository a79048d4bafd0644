// The end of a step: the number of non-finite values, taken from their bits, and the loss scaler,
// whose rule is scaler/scaler_rule.h itself.
#pragma once

namespace hs {
namespace nodes {

/// How: Word (an integer of the storage's size), mask (its exponent bits); elements, parts, alone,
/// blocks, packed (the input is at a multiple of 16 bytes). `shared` is kThreads + 1 u32.
template <class How>
struct NonFinite {
    using Word = typename How::Word;
    static constexpr int kPack = 16 / static_cast<int>(sizeof(Word));

    HS_D static u32 isOne(Word x) { return (x & How::mask) == How::mask ? 1u : 0u; }
    /// Counts this thread's share of elements [begin, end); begin is a multiple of kPack.
    HS_D static u32 countOf(const Word* x, i64 begin, i64 end) {
        u32 count = 0;
        i64 rest = begin;
        if constexpr (How::packed) {
            rest = begin + (end - begin) / kPack * kPack;
            HS_UNROLL_BY(4)
            for (i64 at = begin + i64(threadIdx.x) * kPack; at < rest; at += kThreads * kPack) {
                Pack<Word, kPack> pack;
                pack.load(x + at);
                for (int i = 0; i < kPack; ++i)
                    count += isOne(pack.elements[i]);
            }
        }
        for (i64 at = rest + threadIdx.x; at < end; at += kThreads)
            count += isOne(x[at]);
        return count;
    }
    /// Returns the block's sum in thread 0.
    HS_D static u32 joined(u32 mine, u32* area) {
        for (int offset = kWarp / 2; offset > 0; offset /= 2)
            mine += __shfl_xor_sync(kAllLanes, mine, offset);
        __syncthreads(); // all threads are done with what the area held
        if (threadIdx.x % kWarp == 0) area[threadIdx.x / kWarp] = mine;
        __syncthreads();
        u32 sum = 0;
        for (int warp = 0; warp < kThreads / kWarp; ++warp)
            sum += area[warp];
        return sum;
    }
};

template <class How>
HS_D void countNonFinite(const typename How::Word* x, float* out, char* scratch, unsigned* tickets,
                         char* shared, int block) {
    using Count = NonFinite<How>;
    u32* area = reinterpret_cast<u32*>(shared);
    const auto edge = [](i64 part) {
        const i64 at = How::elements * part / How::parts / Count::kPack * Count::kPack;
        return part == How::parts ? How::elements : at;
    };
    if constexpr (How::alone || How::parts == 1) {
        const u32 count = Count::joined(Count::countOf(x, 0, How::elements), area);
        if (threadIdx.x == 0) *out = static_cast<float>(count);
    } else {
        u32* partials = reinterpret_cast<u32*>(scratch);
        for (int part = block; part < How::parts; part += How::blocks) {
            const u32 count = Count::joined(Count::countOf(x, edge(part), edge(part + 1)), area);
            if (threadIdx.x == 0) partials[part] = count;
            if (!isLastBlock(tickets, How::parts, reinterpret_cast<char*>(area + kThreads)))
                continue;
            const volatile u32* counts = partials; // written by other blocks
            static_assert(How::parts <= kThreads, "a part for each thread");
            const u32 mine = threadIdx.x < How::parts ? counts[threadIdx.x] : 0u;
            const u32 sum = Count::joined(mine, area);
            if (threadIdx.x == 0) *out = static_cast<float>(sum);
        }
    }
}

/// Computes the scaler's next state with one thread.
HS_D void updateScaler(const double* state, const double* rules, const float* found, double* out,
                       int block) {
    if (block != 0 || threadIdx.x != 0) return;
    using namespace halfscope;
    scaler_rule::storeState(scaler_rule::after(scaler_rule::stateOf(state), *found != 0.0f,
                                               scaler_rule::rulesOf(rules)),
                            out);
}

} // namespace nodes
} // namespace hs
