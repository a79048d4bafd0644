// Matrix products of any shape and dtype, and what convolution makes of them: a tile in shared
// memory, or a few lanes for each result when the product is small. Sums run over k in ascending
// order, in parts that depend only on the sizes. What tensor cores multiply belongs to
// warp_matmul.cuh, unless k is long and the result small, and when it is large to chain.cuh.
#pragma once

namespace hs {
namespace nodes {

HS_D float multiplyAdd(float a, float b, float sum) { return fmaf(a, b, sum); }
/// Rounds twice, as the reference evaluator does.
HS_D double multiplyAdd(double a, double b, double sum) { return sum + a * b; }

/// Returns f32 with 11 significant bits, ties to even, as the CPU rounds the operands of a TF32
/// product.
HS_D float roundedToTf32(float x) {
    const u32 bits = bitsOf(x);
    if ((bits & 0x7f800000u) == 0x7f800000u) return x;
    return floatOf((bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu);
}

/// Returns an operand in the form that the arithmetic takes.
template <bool Tf32, class T>
HS_D auto operandOf(const T* at) {
    if constexpr (Tf32)
        return roundedToTf32(load(at));
    else
        return load(at);
}

/// op(a) (batch, m, k) times op(b) (batch, k, n). Sizes: In, Out, Acc, Index (int when every place
/// fits, because divisions by 64 bits are slow), transposeA, transposeB, tf32, bias (whether there
/// is one), batch, m, n, k.
template <class S>
struct MatmulOperands {
    using In = typename S::In;
    using Acc = typename S::Acc;
    using Index = typename S::Index;
    static constexpr Index m = S::m, n = S::n, k = S::k;
    static constexpr bool aAlongK = !S::transposeA, bAlongK = S::transposeB;
    const typename S::In *left, *right, *more;
    typename S::Out* out;

    HS_D Acc a(Index batch, Index row, Index at) const {
        return operandOf<S::tf32>(left + batch * m * k +
                                  (S::transposeA ? at * m + row : row * k + at));
    }
    HS_D Acc b(Index batch, Index at, Index column) const {
        return operandOf<S::tf32>(right + batch * k * n +
                                  (S::transposeB ? column * k + at : at * n + column));
    }
    HS_D Acc withBias(Acc sum, Index column) const {
        static_cast<void>(column);
        if constexpr (S::bias) sum += load(more + column);
        return sum;
    }
    HS_D void put(Index batch, Index row, Index column, Acc sum) const {
        store(out + (batch * m + row) * n + column, withBias(sum, column));
    }
};

/// One tile of results over k in [begin, end). 16 x 16 threads each have every 16th row and column
/// of the tile, so that shared memory is read without bank conflicts and results are written in
/// runs.
template <class Plan, class Operands>
struct Tile {
    using Acc = typename Operands::Acc;
    using Index = typename Operands::Index;
    static constexpr int kRows = Plan::tileM / 16, kColumns = Plan::tileN / 16;
    static constexpr int kDepth = Plan::depth; ///< of k, staged at once
    static constexpr int kPitchA = Plan::tileM + 1, kPitchB = Plan::tileN + 1;
    static constexpr int kSharedValues = kDepth * (kPitchA + kPitchB);
    static constexpr int kEachA = kDepth * Plan::tileM / kThreads; ///< staged by one thread
    static constexpr int kEachB = kDepth * Plan::tileN / kThreads;
    static_assert(kEachA * kThreads == kDepth * Plan::tileM &&
                      kEachB * kThreads == kDepth * Plan::tileN,
                  "threads share evenly");
    Acc sum[kRows][kColumns];

    HS_D static int depthA(int e) { return Operands::aAlongK ? e % kDepth : e / Plan::tileM; }
    HS_D static int rowA(int e) { return Operands::aAlongK ? e / kDepth : e % Plan::tileM; }
    HS_D static int depthB(int e) { return Operands::bAlongK ? e % kDepth : e / Plan::tileN; }
    HS_D static int columnB(int e) { return Operands::bAlongK ? e / kDepth : e % Plan::tileN; }

    /// What a thread reads of a stage: all of it is on its way before the first value is used.
    struct Staged {
        Acc a[kEachA], b[kEachB];
        HS_D void fetch(const Operands& x, Index batch, Index row, Index column, Index at,
                        Index end) {
            HS_UNROLL
            for (int i = 0; i < kEachA; ++i) {
                const int e = static_cast<int>(threadIdx.x) + i * kThreads;
                const bool inside = row + rowA(e) < Operands::m && at + depthA(e) < end;
                a[i] = inside ? x.a(batch, row + rowA(e), at + depthA(e)) : Acc(0);
            }
            HS_UNROLL
            for (int i = 0; i < kEachB; ++i) {
                const int e = static_cast<int>(threadIdx.x) + i * kThreads;
                const bool inside = column + columnB(e) < Operands::n && at + depthB(e) < end;
                b[i] = inside ? x.b(batch, at + depthB(e), column + columnB(e)) : Acc(0);
            }
        }
        HS_D void put(Acc* toA, Acc* toB) const {
            HS_UNROLL
            for (int i = 0; i < kEachA; ++i) {
                const int e = static_cast<int>(threadIdx.x) + i * kThreads;
                toA[depthA(e) * kPitchA + rowA(e)] = a[i];
            }
            HS_UNROLL
            for (int i = 0; i < kEachB; ++i) {
                const int e = static_cast<int>(threadIdx.x) + i * kThreads;
                toB[depthB(e) * kPitchB + columnB(e)] = b[i];
            }
        }
    };

    HS_D void run(const Operands& x, Acc* staged, Index batch, Index row, Index column, Index begin,
                  Index end) {
        Acc *a = staged, *b = staged + kDepth * kPitchA;
        const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
        for (int i = 0; i < kRows; ++i)
            for (int j = 0; j < kColumns; ++j)
                sum[i][j] = Acc(0);
        Staged next;
        next.fetch(x, batch, row, column, begin, end);
        for (Index at = begin; at < end; at += kDepth) {
            __syncthreads(); // all threads are done with what the stage held
            next.put(a, b);
            __syncthreads();
            next.fetch(x, batch, row, column, at + kDepth, end);
            HS_UNROLL_BY(16)
            for (int depth = 0; depth < kDepth; ++depth) {
                Acc left[kRows], right[kColumns];
                for (int i = 0; i < kRows; ++i)
                    left[i] = a[depth * kPitchA + ty + 16 * i];
                for (int j = 0; j < kColumns; ++j)
                    right[j] = b[depth * kPitchB + tx + 16 * j];
                for (int i = 0; i < kRows; ++i)
                    for (int j = 0; j < kColumns; ++j)
                        sum[i][j] = multiplyAdd(left[i], right[j], sum[i][j]);
            }
        }
    }
    HS_D void add(const Tile& more) {
        for (int i = 0; i < kRows; ++i)
            for (int j = 0; j < kColumns; ++j)
                sum[i][j] += more.sum[i][j];
    }
    HS_D void put(const Operands& x, Index batch, Index row, Index column) const {
        const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
        for (int i = 0; i < kRows; ++i)
            for (int j = 0; j < kColumns; ++j)
                if (row + ty + 16 * i < Operands::m && column + tx + 16 * j < Operands::n)
                    x.put(batch, row + ty + 16 * i, column + tx + 16 * j, sum[i][j]);
    }
    /// Copies to and from this tile's place among the partial sums, one value per thread at a time.
    HS_D void save(Acc* to) const {
        for (int e = 0; e < kRows * kColumns; ++e)
            to[e * kThreads + threadIdx.x] = sum[e / kColumns][e % kColumns];
    }
    HS_D void take(const Acc* from) {
        for (int e = 0; e < kRows * kColumns; ++e)
            sum[e / kColumns][e % kColumns] =
                const_cast<const volatile Acc*>(from)[e * kThreads + threadIdx.x];
    }
};

/// Plan: tileM, tileN, depth, parts (of k), alone (one block does all, without scratch), batch,
/// blocks.
template <class Plan, class Operands>
HS_D void multiplyTiles(const Operands& x, char* scratch, unsigned* tickets, char* shared,
                        int block) {
    using OneTile = Tile<Plan, Operands>;
    using Acc = typename Operands::Acc;
    using Index = typename Operands::Index;
    constexpr Index m = Operands::m, n = Operands::n, k = Operands::k;
    constexpr Index rowTiles = (m + Plan::tileM - 1) / Plan::tileM;
    constexpr Index columnTiles = (n + Plan::tileN - 1) / Plan::tileN;
    constexpr Index tiles = Plan::batch * rowTiles * columnTiles;
    constexpr Index partsHere = Plan::alone ? 1 : Plan::parts;
    constexpr int kDepth = Plan::depth;
    constexpr Index chunks = (k + kDepth - 1) / kDepth;
    constexpr int kTileValues = OneTile::kRows * OneTile::kColumns * kThreads;
    Acc* staged = reinterpret_cast<Acc*>(shared);
    char* flag = reinterpret_cast<char*>(staged + OneTile::kSharedValues);
    for (Index item = block; item < tiles * partsHere; item += Plan::blocks) {
        const Index tile = item / partsHere;
        const Index batch = tile / (rowTiles * columnTiles);
        const Index row = tile / columnTiles % rowTiles * Plan::tileM;
        const Index column = tile % columnTiles * Plan::tileN;
        const auto edge = [&](Index part) {
            const Index at =
                static_cast<Index>(static_cast<i64>(chunks) * part / Plan::parts * kDepth);
            return at < k ? at : k;
        };
        OneTile total;
        if constexpr (Plan::alone || Plan::parts == 1) {
            total.run(x, staged, batch, row, column, 0, edge(1));
            for (int part = 1; part < Plan::parts; ++part) {
                OneTile more;
                more.run(x, staged, batch, row, column, edge(part), edge(part + 1));
                total.add(more);
            }
            total.put(x, batch, row, column);
        } else {
            const Index part = item % partsHere;
            Acc* partials = reinterpret_cast<Acc*>(scratch) + tile * Plan::parts * kTileValues;
            total.run(x, staged, batch, row, column, edge(part), edge(part + 1));
            total.save(partials + part * kTileValues);
            if (!isLastBlock(tickets + tile, Plan::parts, flag)) continue;
            total.take(partials);
            for (int p = 1; p < Plan::parts; ++p) {
                OneTile more;
                more.take(partials + p * kTileValues);
                total.add(more);
            }
            total.put(x, batch, row, column);
        }
    }
}

/// Plan::lanes neighbouring threads share one result: lane i takes k = i, i + lanes, ...; their
/// sums are joined in a tree. Uses no barrier and no shared memory.
template <class Plan, class Operands>
HS_D void multiplySmall(const Operands& x, int block) {
    using Acc = typename Operands::Acc;
    using Index = typename Operands::Index;
    constexpr Index m = Operands::m, n = Operands::n, k = Operands::k;
    constexpr Index results = Plan::batch * m * n;
    constexpr int together = kThreads / Plan::lanes; // results of a block at once
    const int lane = threadIdx.x % Plan::lanes;
    for (Index first = Index(block) * together; first < results;
         first += Index(Plan::blocks) * together) {
        const Index at = first + threadIdx.x / Plan::lanes;
        const bool inside = at < results;
        const Index batch = at / (m * n), row = at / n % m, column = at % n;
        Acc sum = Acc(0);
        if (inside) {
            HS_UNROLL_BY(4)
            for (Index p = lane; p < k; p += Plan::lanes)
                sum = multiplyAdd(x.a(batch, row, p), x.b(batch, p, column), sum);
        }
        // all lanes of a warp come here, also those beyond the end
        for (int half = Plan::lanes / 2; half > 0; half /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, half);
        if (inside && lane == 0) x.put(batch, row, column, sum);
    }
}

} // namespace nodes
} // namespace hs
