// Fused chains: matrix products whose operands are computed tile by tile from what is in memory
// (prologue), and whose results go through further elementwise values and sums before they leave
// the chip (epilogue); and passes with only sums. The text of the chain (codegen/chain_source) has
// the sources and sinks, and the sizes that codegen/chain_tiles chose.
#pragma once

namespace hs {

// ---- a panel of rows: forward products and input gradients -------------------------------------

/// Computes out (kM, kN) = a (kM, kK) b (kK, kN). A block has a tile of columns and a run of row
/// tiles; with kResident its part of b stays in shared memory all the time. While one step is
/// multiplied, the next is computed from registers, and these are filled again for the step after
/// it. Half of the warps multiply first and the other half compute first, so that each scheduler
/// has both kinds of work. With kReversed it runs from the last row to the first: a chain that
/// starts where the one before it ended finds those rows in the second-level cache. With
/// kWarpgroups all threads compute while their products are multiplied.
/// A bias is added to the sums of the product before they are rounded.
/// More of C: Out (a sink, see Panel), kM, kN, kK, kParts (blocks that share the rows), kResident.
template <class C>
struct RowProduct {
    using T = ProductTiles<C>;
    using Sink = Panel<typename C::Out, C::kTileM / 2, C::kTileN, 2>;
    using Stored = typename C::Out::Product;
    static constexpr int kSteps = (C::kK + C::kTileK - 1) / C::kTileK;
    static constexpr int kAreasB = C::kResident ? kSteps : 2;
    static constexpr int kRowTiles = (C::kM + C::kTileM - 1) / C::kTileM;
    static constexpr int kColumnTiles = (C::kN + C::kTileN - 1) / C::kTileN;
    static constexpr int kOffsetB = 2 * T::AreaA::kBytes;
    static constexpr int kOffsetStaging = kOffsetB + kAreasB * T::AreaB::kBytes;
    static constexpr int kOffsetExchange = kOffsetStaging + Sink::kStagedBytes;
    static constexpr int kOffsetRunning = kOffsetExchange + Sink::kExchangeBytes;
    static constexpr int kOffsetKnown = kOffsetRunning + Sink::kRunningBytes;
    /// Whether what belongs to columns of a is in shared memory: where a streams through the
    /// first-level cache, it is not there when a step wants it.
    static constexpr bool kKnows = C::A::kStreams && kOffsetKnown % 16 == 0 &&
                                   T::LoaderA::kKnownBytes >= 4 * C::kK &&
                                   kOffsetKnown + T::LoaderA::kKnownBytes <= C::kSharedBytes;
    static constexpr int kSharedBytes = kOffsetKnown + (kKnows ? T::LoaderA::kKnownBytes : 0);

    static HS_D int firstTile(int part) {
        return static_cast<int>(static_cast<i64>(kRowTiles) * part / C::kParts);
    }

    static HS_D void run(char* arena, double* partials, char* shared, int block) {
        static_assert(kSharedBytes <= C::kSharedBytes, "the text asks for too little memory");
        const int part = block / kColumnTiles, column0 = block % kColumnTiles * C::kTileN;
        const int steps = (firstTile(part + 1) - firstTile(part)) * kSteps;
        const int warp = static_cast<int>(threadIdx.x) / kWarp;
        float sums[T::kTilesM][T::kTilesN][4] = {};
        typename T::LoaderA nextA;
        typename T::LoaderB nextB;
        nextA.keeps = column0 == 0;
        if constexpr (C::kLean) ask(arena, part, -1, steps, column0);
        Sink sink{shared + kOffsetExchange, reinterpret_cast<double*>(shared + kOffsetRunning)};
        sink.begin();
        if constexpr (kKnows) {
            T::LoaderA::know(arena, shared + kOffsetKnown);
            __syncthreads();
        }
        if (steps > 0) start(arena, shared, part, column0, nextA, nextB);
        if constexpr (C::kWarpgroups) showToGroups();
        __syncthreads();
        for (int step = 0; step < steps; ++step) {
            const int k = step % kSteps;
            if constexpr (C::kLean) ask(arena, part, step, steps, column0);
            if constexpr (C::kWarpgroups) {
                typename T::Multiply multiply;
                multiply.begin(areaA(shared, step), areaB(shared, C::kResident ? k : step), k > 0,
                               sums);
                prepare(arena, shared, part, step + 1, steps, column0, nextA, nextB);
                showToGroups();
                multiply.end(sums);
            } else {
                HS_UNROLL_BY(1)
                for (int turn = 0; turn < 2; ++turn) {
                    if ((turn == 0) == (warp < 4)) {
                        if (C::kLean && k == 0) clear(sums);
                        T::Multiply::add(areaA(shared, step),
                                         areaB(shared, C::kResident ? k : step),
                                         warp / T::kWarpsN * T::kWarpRows,
                                         warp % T::kWarpsN * T::kWarpColumns, sums);
                    } else {
                        prepare(arena, shared, part, step + 1, steps, column0, nextA, nextB);
                    }
                }
            }
            if (k == kSteps - 1) epilogue(arena, shared, rowOf(part, step), column0, sums, sink);
            __syncthreads();
        }
        leavePartials<typename C::Out, C::kTileN>(sink.running, partials, part, column0);
    }

private:
    static HS_D char* areaA(char* shared, int step) {
        return shared + (step & 1) * T::AreaA::kBytes;
    }
    static HS_D char* areaB(char* shared, int step) {
        return shared + kOffsetB + (C::kResident ? step : step & 1) * T::AreaB::kBytes;
    }

    /// Returns the first row of a step's tile; the next function, its first inner index.
    static HS_D int rowOf(int part, int step) {
        const int tile = step / kSteps;
        return (C::kReversed ? firstTile(part + 1) - 1 - tile : firstTile(part) + tile) * C::kTileM;
    }
    static HS_D int innerOf(int step) { return step % kSteps * C::kTileK; }

    static HS_D void start(char* arena, char* shared, int part, int column0, typename T::LoaderA& a,
                           typename T::LoaderB& b) {
        T::fetchA(a, arena, rowOf(part, 0), 0);
        T::fetchB(b, arena, column0, 0);
        for (int i = 0; i < (C::kResident ? kSteps : 0); ++i)
            T::makeB(b, arena, column0, i * C::kTileK, areaB(shared, i),
                     (i + 1 < kSteps ? i + 1 : i) * C::kTileK);
        const int steps = (firstTile(part + 1) - firstTile(part)) * kSteps;
        prepare(arena, shared, part, 0, steps, column0, a, b);
    }
    /// Computes the operands of `step` from what was read, and reads ahead for the step after it.
    static HS_D void prepare(char* arena, char* shared, int part, int step, int steps, int column0,
                             typename T::LoaderA& a, typename T::LoaderB& b) {
        if (step >= steps) return;
        const int next = step + 1 < steps ? step + 1 : step; // the last tile is read twice
        T::template makeA<kKnows>(a, arena, rowOf(part, step), innerOf(step), areaA(shared, step),
                                  rowOf(part, next), innerOf(next), shared + kOffsetKnown);
        if (!C::kResident)
            T::makeB(b, arena, column0, innerOf(step), areaB(shared, step), innerOf(next));
        if constexpr (!C::kLean) {
            const int later = step + 1 + T::kAhead;
            if (later < steps) T::aheadA(arena, rowOf(part, later), innerOf(later));
            if (step % kSteps == 0) // the epilogue of that tile is kSteps away
                readAheadOf<typename C::Out, C::kTileM, C::kTileN, sizeof(Stored)>(
                    arena, rowOf(part, step), column0);
        }
    }
    /// For kLean: prefetches before the turns of `step`, or of -1 before all, what prepare()
    /// otherwise prefetches, and what the epilogue of the step's tile reads.
    static HS_D void ask(const char* arena, int part, int step, int steps, int column0) {
        const int later = step + 2 + T::kAhead;
        T::allAheadA(later < steps, arena, rowOf(part, later), innerOf(later));
        if (step >= 0 && step % kSteps == 0)
            readAllAhead<typename C::Out, C::kTileM, C::kTileN, sizeof(Stored)>(
                true, arena, rowOf(part, step), column0);
    }

    /// The two halves of the tile come one after the other: the warps that hold a half stage the
    /// rounded product, then all threads go over it in rows.
    static constexpr int kHalfWarps = kThreads / kWarp / 2;
    static HS_D void epilogue(char* arena, char* shared, int row0, int column0,
                              float (&sums)[T::kTilesM][T::kTilesN][4], Sink& sink) {
        const int thread = static_cast<int>(threadIdx.x), warp = thread / kWarp;
        char* staged = shared + kOffsetStaging;
        HS_UNROLL_BY(1)
        for (int half = 0; half < 2; ++half) {
            const int row = row0 + half * (C::kTileM / 2);
            typename Sink::First first;
            sink.fetchFirst(arena, row, column0, first);
            if (warp / kHalfWarps == half) stage(arena, column0, staged, warp % kHalfWarps, sums);
            __syncthreads();
            sink.template add<true>(arena, row, column0, staged, first);
            __syncthreads();
        }
    }
    static HS_D void stage(const char* arena, int column0, char* staged, int warp,
                           float (&sums)[T::kTilesM][T::kTilesN][4]) {
        const int lane = static_cast<int>(threadIdx.x) % kWarp, g = lane / 4, t = lane % 4;
        Stored* to = reinterpret_cast<Stored*>(staged) +
                     warp * (C::kWarpgroups ? T::kWarpRows * Sink::kStagedRow : T::kWarpColumns);
        if (!C::kWarpgroups) column0 += warp * T::kWarpColumns;
        HS_UNROLL
        for (int j = 0; j < T::kTilesN; ++j) {
            const int right = T::Multiply::columnOf(2 * j, t);
            [[maybe_unused]] float bias[2] = {};
            if constexpr (C::Out::kBias) C::Out::readBias(arena, column0 + right, bias);
            HS_UNROLL
            for (int i = 0; i < T::kTilesM; ++i)
                for (int half = 0; half < 2; ++half) {
                    float* const sum = &sums[i][j][2 * half];
                    if constexpr (C::Out::kBias) sum[0] += bias[0], sum[1] += bias[1];
                    Pack<Stored, 2> pair;
                    pair.set(0, sum[0]);
                    pair.set(1, sum[1]);
                    pair.store(to + T::Multiply::rowOf(2 * i + half, g) * Sink::kStagedRow + right);
                    if (!C::kLean && !C::kWarpgroups) sum[0] = sum[1] = 0;
                }
        }
    }
    /// For kLean: comes before the first products of a tile, whose instructions then take zeros for
    /// the sums.
    static HS_D void clear(float (&sums)[T::kTilesM][T::kTilesN][4]) {
        HS_UNROLL
        for (int i = 0; i < T::kTilesM; ++i)
            HS_UNROLL
        for (int j = 0; j < T::kTilesN; ++j)
            HS_UNROLL
        for (int e = 0; e < 4; ++e)
            sums[i][j][e] = 0;
    }
};

// ---- a long inner index: weight gradients ------------------------------------------------------

/// Computes out (kM, kN) = a b over kK rows, both computed from memory. The rows are cut into
/// kParts runs; each block leaves in scratch the f32 sums of one run and one tile of the result
/// and, with kColumnSums, also the sums of a's columns. The second launch adds up the runs in
/// order.
template <class C>
struct DeepProduct {
    using T = ProductTiles<C>;
    static constexpr int kSteps = (C::kK + C::kTileK - 1) / C::kTileK;
    static constexpr int kTilesAcross = (C::kN + C::kTileN - 1) / C::kTileN;
    static constexpr int kTilesDown = (C::kM + C::kTileM - 1) / C::kTileM;
    static constexpr int kSharedBytes = 2 * (T::AreaA::kBytes + T::AreaB::kBytes);

    static HS_D void run(char* arena, float* partials, double* columns, char* shared, int block) {
        static_assert(kSharedBytes <= C::kSharedBytes, "the text asks for too little memory");
        const int tile = block % (kTilesAcross * kTilesDown);
        const int part = block / (kTilesAcross * kTilesDown);
        const int m0 = tile / kTilesAcross * C::kTileM, n0 = tile % kTilesAcross * C::kTileN;
        const int first = firstStep(part), count = firstStep(part + 1) - first;
        const int warp = static_cast<int>(threadIdx.x) / kWarp;
        float sums[T::kTilesM][T::kTilesN][4] = {};
        typename T::LoaderA a;
        typename T::LoaderB b;
        // columns of a and b are the same for all rows
        a.hold(arena, m0);
        b.hold(arena, n0);
        if (count > 0) {
            T::fetchA(a, arena, m0, innerOf(first, count, 0));
            T::fetchB(b, arena, n0, innerOf(first, count, 0));
            prepare(arena, shared, first, count, 0, m0, n0, a, b);
        }
        if constexpr (C::kWarpgroups) showToGroups();
        __syncthreads();
        if constexpr (C::kLean) ask(arena, first, count, 1 + T::kAhead, m0, n0);
        int origin = first, at = C::kReversed ? first + count - 1 : first;
        for (int step = 0; step < count; ++step) {
            if constexpr (C::kLean) { // counts from a value for which no compiler repeats a
                                      // division
                origin = C::kReversed ? at - (count - 1 - step) : at - step;
                ask(arena, origin, count, step + 2 + T::kAhead, m0, n0);
                advance<C::kReversed ? -1 : 1>(at);
            }
            if constexpr (C::kWarpgroups) {
                typename T::Multiply multiply;
                multiply.begin(areaA(shared, step), areaB(shared, step), true, sums);
                prepare(arena, shared, origin, count, step + 1, m0, n0, a, b);
                showToGroups();
                multiply.end(sums);
            } else {
                HS_UNROLL_BY(1)
                for (int turn = 0; turn < 2; ++turn) {
                    if ((turn == 0) == (warp < 4))
                        T::Multiply::add(areaA(shared, step), areaB(shared, step),
                                         warp / T::kWarpsN * T::kWarpRows,
                                         warp % T::kWarpsN * T::kWarpColumns, sums);
                    else
                        prepare(arena, shared, origin, count, step + 1, m0, n0, a, b);
                }
            }
            __syncthreads();
        }
        leave(partials + static_cast<i64>(part) * C::kM * C::kN, m0, n0, warp, sums);
        if (C::kColumnSums && n0 == 0)
            leaveColumns(columns + static_cast<i64>(part) * C::kM,
                         reinterpret_cast<double*>(shared), m0, a);
    }

private:
    static HS_D char* areaA(char* shared, int step) {
        return shared + (step & 1) * T::AreaA::kBytes;
    }
    static HS_D char* areaB(char* shared, int step) {
        return shared + 2 * T::AreaA::kBytes + (step & 1) * T::AreaB::kBytes;
    }
    static HS_D int firstStep(int part) {
        return static_cast<int>(static_cast<i64>(kSteps) * part / C::kParts);
    }
    static HS_D int innerOf(int first, int count, int step) {
        return (C::kReversed ? first + count - 1 - step : first + step) * C::kTileK;
    }
    /// Does the same as in RowProduct.
    static HS_D void prepare(char* arena, char* shared, int first, int count, int step, int m0,
                             int n0, typename T::LoaderA& a, typename T::LoaderB& b) {
        if (step >= count) return;
        const int k = innerOf(first, count, step);
        const int next = innerOf(first, count, step + 1 < count ? step + 1 : step);
        T::makeA(a, arena, m0, k, areaA(shared, step), m0, next);
        T::makeB(b, arena, n0, k, areaB(shared, step), next);
        if constexpr (!C::kLean) {
            const int later = step + 1 + T::kAhead;
            if (later >= count) return;
            T::aheadA(arena, m0, innerOf(first, count, later));
            T::LoaderB::ahead(arena, innerOf(first, count, later), n0);
        }
    }
    /// Does the same as in RowProduct.
    static HS_D void ask(const char* arena, int first, int count, int later, int m0, int n0) {
        const bool wanted = later < count;
        T::allAheadA(wanted, arena, m0, innerOf(first, count, later));
        T::LoaderB::allAhead(wanted, arena, innerOf(first, count, later), n0);
    }
    /// Adds up the threads of a column, one after the other.
    static HS_D void leaveColumns(double* to, double* shared, int m0,
                                  const typename T::LoaderA& a) {
        using Loader_ = typename T::LoaderA;
        constexpr int kLines = kThreads / Loader_::kGroups;
        static_assert(kLines * C::kTileM * 8 <= kSharedBytes, "the sums fit where tiles were");
        const int thread = static_cast<int>(threadIdx.x);
        for (int i = 0; i < C::kGroup; ++i)
            shared[thread / Loader_::kGroups * C::kTileM + thread % Loader_::kGroups * C::kGroup +
                   i] = a.sums[C::kColumnSums ? i : 0];
        __syncthreads();
        double sum = 0;
        if (thread >= C::kTileM || m0 + thread >= C::kM) return;
        for (int line = 0; line < kLines; ++line)
            sum += shared[line * C::kTileM + thread];
        to[m0 + thread] = sum;
    }
    static HS_D void leave(float* to, int m0, int n0, int warp,
                           const float (&sums)[T::kTilesM][T::kTilesN][4]) {
        const int lane = static_cast<int>(threadIdx.x) % kWarp, g = lane / 4, t = lane % 4;
        const int row0 = m0 + warp / T::kWarpsN * T::kWarpRows;
        const int column0 = n0 + warp % T::kWarpsN * T::kWarpColumns;
        HS_UNROLL
        for (int i = 0; i < T::kTilesM; ++i)
            HS_UNROLL
        for (int j = 0; j < T::kTilesN; ++j)
            for (int e = 0; e < 4; ++e) {
                const int row = row0 + T::Multiply::rowOf(2 * i + e / 2, g);
                const int column = column0 + T::Multiply::columnOf(2 * j + e % 2, t);
                if (row < C::kM && column < C::kN)
                    to[static_cast<i64>(row) * C::kN + column] = sums[i][j][e];
            }
    }
};

/// The second launch: takes element after element, and adds its runs in order.
template <class C>
HS_D void mergeRuns(char* arena, const float* partials, const double* columns, int block) {
    const i64 thread = static_cast<i64>(block) * kThreads + static_cast<int>(threadIdx.x);
    constexpr i64 kElements = static_cast<i64>(C::kM) * C::kN;
    if (thread < kElements) {
        double sum = 0;
        HS_UNROLL_BY(8)
        for (int part = 0; part < C::kParts; ++part)
            sum += static_cast<double>(partials[part * kElements + thread]);
        C::put(arena, thread, static_cast<float>(sum));
    }
    if (C::kColumnSums && thread < C::kM) {
        double sum = 0;
        for (int part = 0; part < C::kParts; ++part)
            sum += columns[part * static_cast<i64>(C::kM) + thread];
        C::putColumn(arena, static_cast<int>(thread), sum);
    }
}

// ---- passes without a product ------------------------------------------------------------------

/// Has only the sink: rows are cut into kParts runs of tiles of kTileRows. C is as for RowProduct,
/// without operands.
template <class C>
struct RowPass {
    static constexpr int kTileRows = C::kTileRows;
    using Sink = Panel<typename C::Out, kTileRows, C::kTileN, C::kGroup>;
    static constexpr int kRowTiles = (C::kM + kTileRows - 1) / kTileRows;
    static constexpr int kColumnTiles = (C::kN + C::kTileN - 1) / C::kTileN;
    static constexpr int kSharedBytes = Sink::kExchangeBytes + Sink::kRunningBytes;

    static HS_D int firstTile(int part) {
        return static_cast<int>(static_cast<i64>(kRowTiles) * part / C::kParts);
    }

    static HS_D void run(char* arena, double* partials, char* shared, int block) {
        static_assert(kSharedBytes <= C::kSharedBytes, "the text asks for too little memory");
        const int part = block / kColumnTiles, column0 = block % kColumnTiles * C::kTileN;
        Sink sink{shared, reinterpret_cast<double*>(shared + Sink::kExchangeBytes)};
        sink.begin();
        __syncthreads();
        const int first = firstTile(part), end = firstTile(part + 1);
        for (int i = first; i < end; ++i) {
            const int tile = C::kReversed ? end - 1 - (i - first) : i;
            typename Sink::First read;
            sink.fetchFirst(arena, tile * kTileRows, column0, read);
            sink.template add<false>(arena, tile * kTileRows, column0, nullptr, read);
            __syncthreads();
        }
        leavePartials<typename C::Out, C::kTileN>(sink.running, partials, part, column0);
    }
};

} // namespace hs
