// Sums over a warp, a block and several blocks, each in an order that only the text decides: the
// bits are the same in every run, whichever block ends first. Device and emulator code.
#pragma once

namespace hs {

/// Returns in every lane the sum over its group of `Lanes` neighbouring lanes (a power of two up to
/// 32).
template <int Lanes>
HS_D double laneSum(double x) {
    HS_UNROLL
    for (int offset = Lanes / 2; offset > 0; offset /= 2)
        x += __shfl_xor_sync(kAllLanes, x, offset);
    return x;
}

/// Returns in every thread the sum over its group of `Lanes` neighbouring threads (a power of two
/// up to kThreads, which is the block): warps by exchange, then the warps in order. When Lanes >
/// 32, it is called by all threads of the block; `shared` is kThreads / kWarp doubles, free again
/// when it returns.
template <int Lanes>
HS_D double lanesSum(double x, double* shared) {
    if constexpr (Lanes <= kWarp) {
        return laneSum<Lanes>(x);
    } else {
        constexpr int kWarps = Lanes / kWarp;
        const int thread = static_cast<int>(threadIdx.x);
        x = laneSum<kWarp>(x);
        if (thread % kWarp == 0) shared[thread / kWarp] = x;
        __syncthreads();
        const int first = thread / Lanes * kWarps;
        double sum = 0;
        HS_UNROLL
        for (int warp = 0; warp < kWarps; ++warp)
            sum += shared[first + warp];
        __syncthreads();
        return sum;
    }
}

/// Orders what this thread knows of, and with it what its block did before the last barrier, with
/// respect to what other blocks see. This is the device's weaker fence: nothing here needs one
/// order of all fences.
HS_D void fenceBlocks() {
#if HS_DEVICE
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
#else
    __threadfence();
#endif
}

/// Called by all threads of `count` blocks that wrote something before. Returns true in the block
/// that comes last, which then sees what all of them wrote and has set the counter back to 0.
/// `shared` is 4 bytes, free again when it returns.
HS_D bool isLastBlock(unsigned* ticket, unsigned count, char* shared) {
    unsigned* last = reinterpret_cast<unsigned*>(shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        fenceBlocks(); // the block's writes, which the barrier has ordered before this, come first
        const bool isLast = atomicAdd(ticket, 1u) == count - 1;
        if (isLast) {
            *ticket = 0;
            fenceBlocks(); // and the reads that follow, of all threads, come after the others'
                           // writes
        }
        *last = isLast ? 1u : 0u;
    }
    __syncthreads();
    const bool result = *last != 0;
    __syncthreads();
    return result;
}

/// Reads past the first-level cache, because partial sums are read only once.
HS_D double fresh(const double* from) { return __ldcg(from); }

/// Computes sums[i] for i < items, the sum over p < parts of partials[p * stride + i], with all
/// threads of the block. Up to 256 items are done side by side; the parts are cut into as many
/// slices as there are threads left, each slice is added in order, and then the slices in order.
/// `shared` is kThreads doubles. `take(i, sum)` is called by one thread for each item.
template <class Take>
HS_D void mergeParts(const double* partials, int parts, int items, i64 stride, double* shared,
                     Take take) {
    const int thread = static_cast<int>(threadIdx.x);
    int width = 1; // items side by side: a power of two
    while (width < items && width < kThreads)
        width *= 2;
    const int slices = kThreads / width, slice = thread / width, lane = thread % width;
    for (int first = 0; first < items; first += width) {
        const int item = first + lane;
        double sum = 0;
        if (item < items) {
            constexpr int kAtOnce = 8; // loads in flight: a merge mostly waits for memory
            for (int part = slice; part < parts; part += kAtOnce * slices) {
                double values[kAtOnce];
                HS_UNROLL
                for (int i = 0; i < kAtOnce; ++i) {
                    const int at = part + i * slices;
                    values[i] = at < parts ? fresh(partials + at * stride + item) : 0.0;
                }
                HS_UNROLL
                for (int i = 0; i < kAtOnce; ++i)
                    sum += values[i];
            }
        }
        shared[thread] = sum;
        __syncthreads();
        if (slice == 0 && item < items) {
            double total = 0;
            for (int other = 0; other < slices; ++other)
                total += shared[other * width + lane];
            take(item, total);
        }
        __syncthreads();
    }
}

/// Does mergeParts over Parts blocks, of which this is `part`, with take(i, sum) in the last of
/// them. Many parts are first merged in groups, by the last block of each group, so that the last
/// block of all reads few. `parts` is Parts * Items doubles, into which each block has written its
/// own, and as many again for the groups. There is one ticket, and one for each group.
template <int Parts, int Group, int Items, class Take>
HS_D void mergeBlocks(double* parts, int part, unsigned* tickets, double* shared, Take take) {
    constexpr int kGroups = (Parts + Group - 1) / Group;
    char* flag = reinterpret_cast<char*>(shared);
    if constexpr (kGroups == 1) {
        if (isLastBlock(tickets, Parts, flag)) mergeParts(parts, Parts, Items, Items, shared, take);
    } else {
        double* groups = parts + static_cast<i64>(Parts) * Items;
        const int group = part / Group, first = group * Group;
        const int count = Parts - first < Group ? Parts - first : Group;
        if (!isLastBlock(tickets + 1 + group, static_cast<unsigned>(count), flag)) return;
        mergeParts(
            parts + static_cast<i64>(first) * Items, count, Items, Items, shared,
            [&](int item, double sum) { groups[static_cast<i64>(group) * Items + item] = sum; });
        if (isLastBlock(tickets, kGroups, flag))
            mergeParts(groups, kGroups, Items, Items, shared, take);
    }
}

/// Computes the column sums of a tile. Thread (y, x) of kThreads / Lanes by Lanes threads holds
/// those of its V columns x * V + k over its own rows. take(column, sum) is called once for each
/// column. `shared` is V * kThreads doubles, free again when it returns.
template <int Lanes, int V, class Take>
HS_D void columnSums(const double (&mine)[V], double* shared, Take take) {
    constexpr int kRows = kThreads / Lanes;
    const int thread = static_cast<int>(threadIdx.x);
    if constexpr (kRows == 1) {
        HS_UNROLL
        for (int k = 0; k < V; ++k)
            take(thread * V + k, mine[k]);
    } else {
        HS_UNROLL
        for (int k = 0; k < V; ++k)
            shared[k * kThreads + thread] = mine[k];
        __syncthreads();
        for (int item = thread; item < Lanes * V; item += kThreads) {
            const int k = item / Lanes, lane = item % Lanes;
            double sum = 0;
            HS_UNROLL_BY(8)
            for (int row = 0; row < kRows; ++row)
                sum += shared[k * kThreads + row * Lanes + lane];
            take(lane * V + k, sum);
        }
        __syncthreads();
    }
}

} // namespace hs
