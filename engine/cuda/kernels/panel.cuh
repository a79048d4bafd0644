// What chain kernels do with a panel of results (rows x up to 256 columns): further elementwise
// values, stores, sums over a row, and sums and variances over the rows. Partial sums are f32 over
// a thread's few rows, then double in a fixed order; variances are two-pass over those rows and
// merged by Chan's rule.
#pragma once

namespace hs {

/// The number of doubles that a column has: the sums, then for each statistic the mean and the
/// squares about it.
template <class Out>
constexpr int kPartials = Out::kSums + 2 * Out::kStats;

/// What Chan's rule merges: n values with a mean and a sum of squares about it.
struct Moments {
    double n = 0, mean = 0, squares = 0;
    HS_D void add(double otherN, double otherMean, double otherSquares) {
        if (otherN == 0) return;
        const double total = n + otherN, part = otherN / total, apart = otherMean - mean;
        mean += apart * part;
        squares += otherSquares + apart * apart * n * part;
        n = total;
    }
};

/// A panel of TileRows rows and Width columns (64, 128 or 256), done by the whole block with V
/// neighbouring columns per thread. Out is a source as Loader wants it, except for values(): that
/// also gets the product's elements, and returns for two columns, in this order, kSums terms of
/// column sums, kStats values whose mean and variance are wanted, and kDots (0 or 1) terms of a sum
/// over the row. The terms of kProducts (one bit each) must still be multiplied by their factors.
template <class Out, int TileRows, int Width, int V>
struct Panel {
    static constexpr int kGroups = Width / V;
    static constexpr int kLanes = kThreads / kGroups; ///< threads that share a column
    static constexpr int kEach = TileRows / kLanes;   ///< rows of a thread
    /// Whether it reads a batch of rows while it computes the one before. Not with statistics: they
    /// are of larger batches, and are there in forward chains, which read nothing here.
    static constexpr bool kReadsAhead = Out::kStats == 0 && kEach % (2 * (16 / V)) == 0;
    static constexpr int kLargest = (kReadsAhead ? 16 : 32) / V;
    static constexpr int kBatch =
        kEach < kLargest ? kEach : kLargest; ///< rows that it reads at once
    static constexpr int kBatches = kEach / kBatch;
    using Raw = typename Out::template Raw<V>[kBatch];
    struct First { ///< with kReadsAhead, the first batch of a tile
        Raw raw;
    };
    static_assert(TileRows % kLanes == 0 && kEach % kBatch == 0, "threads share the rows evenly");
    static constexpr int kTerms = Out::kSums + Out::kStats + Out::kDots;
    static constexpr int kFirstStat = Out::kSums, kDot = kFirstStat + Out::kStats;
    /// A thread leaves one sum, but a mean and squares for each batch.
    static constexpr int kSumLines = kLanes, kStatLines = kLanes * kBatches;
    static constexpr int kRow = kGroups + 32 / V; ///< floats: keeps reads in different banks
    static constexpr int kExchangeBytes = (Out::kSums * kSumLines + 2 * Out::kStats * kStatLines) *
                                          V * kRow * static_cast<int>(sizeof(float));
    static constexpr int kRunningBytes = kPartials<Out> * Width * static_cast<int>(sizeof(double));
    using Product = typename Out::Product;       ///< how the product's elements are stored
    static constexpr int kStagedRow = Width + 8; ///< elements: a step of 4 banks per row
    static constexpr int kStagedBytes = TileRows * kStagedRow * static_cast<int>(sizeof(Product));
    static constexpr bool kWholeRows = Out::kRows % TileRows == 0;
    static constexpr bool kWholeColumns = Out::kColumns % Width == 0;

    char* exchange;   ///< kExchangeBytes
    double* running;  ///< kRunningBytes: by partial, by column
    double count = 0; ///< rows merged so far

    HS_D void begin() {
        for (int i = static_cast<int>(threadIdx.x); i < kPartials<Out> * Width; i += kThreads)
            running[i] = 0;
    }

    /// Reads what add() begins with.
    HS_D void fetchFirst(const char* arena, int row0, int column0, First& first) const {
        if constexpr (kReadsAhead)
            if (row0 < Out::kRows) fetch(arena, row0, column0, 0, first.raw);
    }

    /// Adds rows from row0 and columns from column0. With Staged, the product's elements are in
    /// `staged` (a barrier has followed their stores). A barrier must come before the next call.
    template <bool Staged>
    HS_D void add(char* arena, int row0, int column0, const char* staged, First& first) {
        if (row0 >= Out::kRows) return; // half a tile past the end
        const int column = column0 + V * group();
        typename Out::Column columns[V];
        float sums[Out::kSums > 0 ? Out::kSums : 1][V] = {};
        if (hasColumn(column)) Out::columns(arena, column, columns);
        if constexpr (kReadsAhead) {
            First second;
            HS_UNROLL_BY(1)
            for (int batch = 0; batch < kBatches; batch += 2) {
                fetch(arena, row0, column0, batch + 1, second.raw);
                rows<Staged>(arena, row0, column, batch, staged, columns, first.raw, sums);
                if (batch + 2 < kBatches) fetch(arena, row0, column0, batch + 2, first.raw);
                rows<Staged>(arena, row0, column, batch + 1, staged, columns, second.raw, sums);
            }
        } else {
            HS_UNROLL_BY(1)
            for (int batch = 0; batch < kBatches; ++batch) {
                fetch(arena, row0, column0, batch, first.raw);
                rows<Staged>(arena, row0, column, batch, staged, columns, first.raw, sums);
            }
        }
        if (kPartials<Out> == 0) return;
        HS_UNROLL
        for (int s = 0; s < Out::kSums; ++s)
            HS_UNROLL
        for (int j = 0; j < V; ++j)
            *slot(s, line(), j, group()) = sums[s][j];
        __syncthreads();
        merge(row0);
    }

private:
    static HS_D int group() { return static_cast<int>(threadIdx.x) % kGroups; }
    static HS_D int line() { return static_cast<int>(threadIdx.x) / kGroups; }
    static HS_D bool hasColumn(int column) { return kWholeColumns || column < Out::kColumns; }
    static HS_D bool hasRow(int row) { return kWholeRows || row < Out::kRows; }

    HS_D float* slot(int sum, int line, int j, int group) const {
        return reinterpret_cast<float*>(exchange) + ((sum * kSumLines + line) * V + j) * kRow +
               group;
    }
    /// Part 0 is the mean, part 1 the squares about it.
    HS_D float* statSlot(int stat, int part, int line, int j, int group) const {
        return slot(Out::kSums, 0, 0, 0) +
               (((2 * stat + part) * kStatLines + line) * V + j) * kRow + group;
    }

    /// Returns the first row of a thread's batch, of the tile's rows.
    static HS_D int firstOf(int batch) { return batch * kBatch * kLanes + line(); }
    static HS_D void fetch(const char* arena, int row0, int column0, int batch, Raw& raw) {
        const int column = column0 + V * group(), row = row0 + firstOf(batch);
        HS_UNROLL
        for (int i = 0; i < kBatch; ++i)
            if (hasColumn(column) && hasRow(row + i * kLanes))
                Out::fetch(arena, row + i * kLanes, column, raw[i]);
    }
    template <bool Staged>
    HS_D void rows(char* arena, int row0, int column, int batch, const char* staged,
                   const typename Out::Column (&columns)[V], const Raw& raw,
                   float (&sums)[Out::kSums > 0 ? Out::kSums : 1][V]) {
        const int first = firstOf(batch);
        Pack<Product, V> product[kBatch];
        HS_UNROLL
        for (int i = 0; i < kBatch; ++i) {
            const int at = first + i * kLanes;
            if (Staged)
                product[i].load(reinterpret_cast<const Product*>(staged) + at * kStagedRow +
                                V * group());
            if (Staged && Out::kStoresProduct && hasColumn(column) && hasRow(row0 + at))
                Out::putProduct(arena, row0 + at, column, product[i]);
        }
        elements(arena, row0 + first, column, batch, columns, raw, product, sums);
    }

    HS_D void elements(char* arena, int row, int column, int batch,
                       const typename Out::Column (&columns)[V], const Raw& raw,
                       const Pack<Product, V> (&product)[kBatch],
                       float (&sums)[Out::kSums > 0 ? Out::kSums : 1][V]) {
        float dots[kBatch] = {};
        int rows = kWholeRows ? kBatch : 0;
        if (!kWholeRows)
            for (int i = 0; i < kBatch; ++i)
                rows += hasRow(row + i * kLanes) ? 1 : 0;
        HS_UNROLL
        for (int j = 0; j < V; j += 2) {
            const bool there[2] = {kWholeColumns || column + j < Out::kColumns,
                                   kWholeColumns || column + j + 1 < Out::kColumns};
            float x[2][Out::kStats > 0 ? Out::kStats : 1][kBatch];
            HS_UNROLL
            for (int i = 0; i < kBatch; ++i) {
                float terms[2][kTerms > 0 ? kTerms : 1] = {};
                float factors[2][kTerms > 0 ? kTerms : 1] = {};
                if (there[0] && hasRow(row + i * kLanes))
                    Out::values(columns[j], columns[j + 1], raw[i], j, product[i], terms, factors);
                HS_UNROLL
                for (int lane = 0; lane < 2; ++lane) {
                    for (int s = 0; s < Out::kSums; ++s)
                        if (there[lane])
                            addTerm(sums[s][j + lane], s, terms[lane][s], factors[lane][s]);
                    for (int s = 0; s < Out::kStats; ++s)
                        x[lane][s][i] = terms[lane][kFirstStat + s];
                    if (Out::kDots > 0 && there[lane])
                        addTerm(dots[i], kDot, terms[lane][kDot < kTerms ? kDot : 0],
                                factors[lane][kDot < kTerms ? kDot : 0]);
                }
            }
            for (int lane = 0; lane < 2; ++lane)
                for (int s = 0; s < Out::kStats; ++s)
                    stat(s, batch * kLanes + line(), j + lane, x[lane][s], rows);
        }
        if (Out::kDots > 0) storeDots(arena, row, dots);
    }

    static HS_D void addTerm(float& sum, int at, float term, float factor) {
        if ((Out::kProducts >> at & 1u) != 0)
            sum = fmaf(term, factor, sum);
        else
            sum += term;
    }

    /// Computes the mean and the squares about it of a batch, whose first `rows` rows exist.
    HS_D void stat(int s, int line, int j, const float (&x)[kBatch], int rows) const {
        float sum = 0, squares = 0;
        HS_UNROLL
        for (int i = 0; i < kBatch; ++i)
            sum += x[i]; // rows that do not exist are zeros
        const float mean =
            rows == kBatch ? sum * (1.0f / kBatch) : sum / static_cast<float>(rows > 0 ? rows : 1);
        HS_UNROLL
        for (int i = 0; i < kBatch; ++i) {
            const float apart = x[i] - mean;
            if (kWholeRows || i < rows) squares = fmaf(apart, apart, squares);
        }
        *statSlot(s, 0, line, j, group()) = mean;
        *statSlot(s, 1, line, j, group()) = squares;
    }

    /// dots: the terms of a thread.
    HS_D void storeDots(char* arena, int row, const float (&dots)[kBatch]) const {
        static_assert(Out::kDots == 0 || kGroups <= kWarp, "the threads of a row are in one warp");
        constexpr int kThreadsOfRow = kGroups <= kWarp ? kGroups : kWarp;
        for (int i = 0; i < kBatch; ++i) {
            const double sum = laneSum<kThreadsOfRow>(static_cast<double>(dots[i]));
            if (group() == 0 && hasRow(row + i * kLanes))
                Out::putDot(arena, row + i * kLanes, static_cast<float>(sum));
        }
    }

    /// Adds what the threads left in the exchange to the running sums: thread t has column t.
    HS_D void merge(int row0) {
        const int thread = static_cast<int>(threadIdx.x), j = thread % V, at = thread / V;
        const i64 left = Out::kRows - row0;
        const int valid = kWholeRows || left > TileRows ? TileRows : static_cast<int>(left);
        if (thread < Width) {
            for (int s = 0; s < Out::kSums; ++s) {
                double sum = 0;
                HS_UNROLL
                for (int line = 0; line < kSumLines; ++line)
                    sum += static_cast<double>(*slot(s, line, j, at));
                running[s * Width + thread] += sum;
            }
            for (int s = 0; s < Out::kStats; ++s)
                mergeStat(s, j, at, valid);
        }
        count += valid;
    }
    HS_D void mergeStat(int s, int j, int at, int valid) const {
        double sum = 0, squares = 0;
        HS_UNROLL
        for (int line = 0; line < kStatLines; ++line)
            sum += rowsOf(valid, line) * static_cast<double>(*statSlot(s, 0, line, j, at));
        const double mean = valid == TileRows ? sum * (1.0 / TileRows) : sum / valid;
        HS_UNROLL
        for (int line = 0; line < kStatLines; ++line) {
            const double apart = static_cast<double>(*statSlot(s, 0, line, j, at)) - mean;
            squares += static_cast<double>(*statSlot(s, 1, line, j, at)) +
                       rowsOf(valid, line) * apart * apart;
        }
        double* mine = running + (Out::kSums + 2 * s) * Width + static_cast<int>(threadIdx.x);
        Moments moments{count, mine[0], mine[Width]};
        moments.add(valid, mean, squares);
        mine[0] = moments.mean;
        mine[Width] = moments.squares;
    }
    /// Returns how many of a tile's first `valid` rows are in a line's batch.
    static HS_D double rowsOf(int valid, int statLine) {
        if (valid == TileRows) return kBatch;
        const int first = statLine / kLanes * kBatch * kLanes + statLine % kLanes;
        const int rows = valid <= first ? 0 : (valid - first + kLanes - 1) / kLanes;
        return rows < kBatch ? rows : kBatch;
    }
};

/// Leaves the running sums of a block in scratch: by part, by partial, by column of the whole.
template <class Out, int Width>
HS_D void leavePartials(const double* running, double* partials, int part, int column0) {
    const int thread = static_cast<int>(threadIdx.x);
    if (thread >= Width || column0 + thread >= Out::kColumns) return;
    for (int s = 0; s < kPartials<Out>; ++s)
        partials[(static_cast<i64>(part) * kPartials<Out> + s) * Out::kColumns + column0 + thread] =
            running[s * Width + thread];
}

/// Returns the mean and the squares about it of several groups at once, with two passes over them
/// and one division. The callables give n, mean and squares of group i.
template <class N, class Mean, class Squares>
HS_D Moments momentsOf(int first, int last, N n, Mean mean, Squares squares) {
    Moments all;
    HS_UNROLL_BY(4)
    for (int i = first; i < last; ++i) {
        all.n += n(i);
        all.mean += n(i) * mean(i);
    }
    if (all.n == 0) return all;
    all.mean /= all.n;
    HS_UNROLL_BY(4)
    for (int i = first; i < last; ++i) {
        const double apart = mean(i) - all.mean;
        all.squares += n(i) > 0 ? squares(i) + n(i) * apart * apart : 0;
    }
    return all;
}

constexpr int kMergeLanes = 8, kMergeSlices = kThreads / kMergeLanes;

/// Adds the slices of mergePartials in order: slice number s of the threads does sum s; the
/// statistics' slices follow.
template <class Out>
HS_D void joinSlices(const double* sliced, const double* counts, double* totals, int slice,
                     int lane) {
    static_assert(Out::kSums + Out::kStats <= kMergeSlices, "a slice of threads for each sum");
    const auto slot = [&](int of, int s) {
        return sliced[(of * kPartials<Out> + s) * kMergeLanes + lane];
    };
    if (slice < Out::kSums) {
        double sum = 0;
        for (int other = 0; other < kMergeSlices; ++other)
            sum += slot(other, slice);
        totals[slice * kMergeLanes + lane] = sum;
    } else if (slice < Out::kSums + Out::kStats) {
        const int s = Out::kSums + 2 * (slice - Out::kSums);
        const Moments all = momentsOf(
            0, kMergeSlices, [&](int other) { return counts[other]; },
            [&](int other) { return slot(other, s); },
            [&](int other) { return slot(other, s + 1); });
        totals[s * kMergeLanes + lane] = all.mean;
        totals[(s + 1) * kMergeLanes + lane] = all.squares / all.n;
    }
}

/// The second launch: 8 columns per block and 32 slices of the parts, each in order, then the
/// slices in order. C has Out, kParts and rowsOf(part), the number of rows of a part. Out::finish
/// gets the sums, then (mean, variance) of each statistic. `shared` is (32 + 1) * 8 doubles per
/// partial, and 32.
template <class C>
HS_D void mergePartials(char* arena, const double* partials, char* shared, int block) {
    using Out = typename C::Out;
    constexpr int kCount = kPartials<Out>, kLanes = kMergeLanes, kSlices = kMergeSlices;
    double* sliced = reinterpret_cast<double*>(shared);  // (slice, partial, lane)
    double* counts = sliced + kSlices * kCount * kLanes; // rows of a slice
    double* totals = counts + kSlices;                   // (partial, lane)
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    const int slice = static_cast<int>(threadIdx.x) / kLanes;
    const int column = kLanes * block + lane;
    const auto firstOf = [](int of) { return C::kParts * of / kSlices; };
    const auto left = [&](int part, int s) {
        return partials[(static_cast<i64>(part) * kCount + s) * Out::kColumns + column];
    };
    const auto slot = [&](int of, int s) -> double& {
        return sliced[(of * kCount + s) * kLanes + lane];
    };
    if (column < Out::kColumns) {
        double sums[kCount] = {};
        HS_UNROLL_BY(4)
        for (int part = firstOf(slice); part < firstOf(slice + 1); ++part)
            HS_UNROLL
        for (int s = 0; s < Out::kSums; ++s)
            sums[s] += left(part, s);
        for (int s = Out::kSums; s < kCount; s += 2) {
            const Moments all = momentsOf(
                firstOf(slice), firstOf(slice + 1),
                [](int part) { return static_cast<double>(C::rowsOf(part)); },
                [&](int part) { return left(part, s); },
                [&](int part) { return left(part, s + 1); });
            sums[s] = all.mean;
            sums[s + 1] = all.squares;
            if (lane == 0) counts[slice] = all.n;
        }
        for (int s = 0; s < kCount; ++s)
            slot(slice, s) = sums[s];
    }
    __syncthreads();
    if (column < Out::kColumns) joinSlices<Out>(sliced, counts, totals, slice, lane);
    __syncthreads();
    if (slice != 0 || column >= Out::kColumns) return;
    double mine[kCount];
    for (int s = 0; s < kCount; ++s)
        mine[s] = totals[s * kLanes + lane];
    Out::finish(arena, column, mine);
}

} // namespace hs
