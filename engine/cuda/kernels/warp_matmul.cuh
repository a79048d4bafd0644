// Matrix products by tensor cores without shared tiles, for what is too small for chain.cuh and for
// a library: a warp reads its operands from memory straight into registers, 64 bytes of each row at
// a time, and several warps of a block share a long k. Nothing waits for a barrier before the end.
#pragma once

namespace hs {
namespace nodes {

/// A warp's tile of 16 rows and Plan::tileN columns. A lane 4 g + t has, of rows g and g + 8 and of
/// columns g, g + 8, ..., the 16 bytes of k that begin at t * kEach: which of them an instruction
/// takes for which k does not matter, as long as both operands agree.
template <class Plan, class Operands>
struct WarpTile {
    using In = typename Operands::In;
    using Index = typename Operands::Index;
    static constexpr bool kTf32 = sizeof(In) == 4;
    static constexpr int kEach = 16 / static_cast<int>(sizeof(In)); ///< k of a lane in a turn
    static constexpr int kTurn = 4 * kEach;                         ///< k of a warp in a turn
    static constexpr int kColumnTiles = Plan::tileN / 8;
    static constexpr int kAtOnce = Plan::turns < 4 ? Plan::turns : 4; ///< whose loads are under way
    using Words = u32[4];

    float sum[kColumnTiles][4];

    static HS_D u32 bitsAt(const In* at) {
        if constexpr (kTf32)
            return tf32Bits(load(at));
        else
            return at->bits;
    }

    /// Reads what a lane has of a row of the left operand, or of a column of the right one, from
    /// k = `at` on, and zeros from `end` on. AlongK: k runs along the lines in memory.
    template <bool AlongK, Index Rows>
    static HS_D void read(Words& words, const In* operand, Index row, Index at, Index end) {
        constexpr Index k = Operands::k;
        row = row < Rows ? row : Rows - 1; // what a row beyond the end gives is not stored
        if constexpr (AlongK && k % kEach == 0) {
            Pack<In, kEach> pack;
            if (at < end)
                pack.load(operand + row * k + at);
            else
                pack.units[0] = {};
            HS_UNROLL
            for (int i = 0; i < 4; ++i) {
                words[i] = wordOf(pack, i);
                if constexpr (kTf32) words[i] = tf32Bits(floatOf(words[i]));
            }
        } else {
            constexpr int kPerWord = kEach / 4;
            HS_UNROLL
            for (int i = 0; i < 4; ++i) {
                words[i] = 0;
                HS_UNROLL
                for (int j = 0; j < kPerWord; ++j) {
                    const Index p = at + i * kPerWord + j;
                    const In* from = operand + (AlongK ? row * k + p : p * Rows + row);
                    if (p < end) words[i] |= bitsAt(from) << (16 * j);
                }
            }
        }
    }

    struct Turn {
        Words a[2], b[kColumnTiles];
        HS_D void read(const In* left, const In* right, Index row, Index column, Index at,
                       Index end) {
            HS_UNROLL
            for (int i = 0; i < 2; ++i)
                WarpTile::read<Operands::aAlongK, Operands::m>(a[i], left, row + 8 * i, at, end);
            HS_UNROLL
            for (int i = 0; i < kColumnTiles; ++i)
                WarpTile::read<Operands::bAlongK, Operands::n>(b[i], right, column + 8 * i, at,
                                                               end);
        }
    };

    HS_D void add(const Turn& turn) {
        HS_UNROLL
        for (int half = 0; half < 4; half += 2) {
            const Words a = {turn.a[0][half], turn.a[1][half], turn.a[0][half + 1],
                             turn.a[1][half + 1]};
            HS_UNROLL
            for (int i = 0; i < kColumnTiles; ++i)
                if constexpr (kTf32)
                    multiplyTf32(sum[i], a, turn.b[i][half], turn.b[i][half + 1]);
                else
                    multiply<In>(sum[i], a, turn.b[i][half], turn.b[i][half + 1]);
        }
    }

    /// Computes the sums over k from `begin` to `end`, of which the first is a multiple of kTurn.
    HS_D void run(const Operands& x, Index batch, Index row, Index column, Index begin, Index end) {
        const int lane = static_cast<int>(threadIdx.x) % kWarp, g = lane / 4, t = lane % 4;
        const In* left = x.left + batch * Operands::m * Operands::k;
        const In* right = x.right + batch * Operands::k * Operands::n;
        HS_UNROLL
        for (int i = 0; i < kColumnTiles; ++i)
            for (int j = 0; j < 4; ++j)
                sum[i][j] = 0;
        for (Index at = begin; at < end; at += kAtOnce * kTurn) {
            Turn turns[kAtOnce];
            HS_UNROLL
            for (int i = 0; i < kAtOnce; ++i)
                turns[i].read(left, right, row + g, column + g, at + i * kTurn + t * kEach, end);
            HS_UNROLL
            for (int i = 0; i < kAtOnce; ++i)
                add(turns[i]);
        }
    }

    /// Calls take(row, column, sum) for each of the lane's sums; both count from the tile's first.
    template <class Take>
    HS_D void forEach(Take take) const {
        const int lane = static_cast<int>(threadIdx.x) % kWarp;
        HS_UNROLL
        for (int i = 0; i < kColumnTiles; ++i) {
            HS_UNROLL
            for (int j = 0; j < 4; ++j)
                take(TensorLayout::rowOf(j / 2, lane / 4),
                     8 * i + TensorLayout::columnOf(j % 2, lane % 4), sum[i][j]);
        }
    }
};

/// Plan: tileN, ways (warps that share a tile's k, in parts of whole turns), turns (the most of one
/// part), batch, blocks. The parts' sums are added in their order, by all threads of the warps that
/// share the tile.
template <class Plan, class Operands>
HS_D void multiplyByWarps(const Operands& x, char* shared, int block) {
    using OneTile = WarpTile<Plan, Operands>;
    using Index = typename Operands::Index;
    constexpr Index m = Operands::m, n = Operands::n, k = Operands::k;
    constexpr Index rowTiles = (m + 15) / 16, columnTiles = (n + Plan::tileN - 1) / Plan::tileN;
    constexpr Index tiles = Plan::batch * rowTiles * columnTiles;
    constexpr Index turns = (k + OneTile::kTurn - 1) / OneTile::kTurn;
    static_assert(Plan::turns >= (turns + Plan::ways - 1) / Plan::ways, "of the longest part");
    constexpr int kTogether = kThreads / kWarp / Plan::ways; ///< tiles of a block at once
    constexpr int kValues = 16 * Plan::tileN, kSharing = Plan::ways * kWarp;
    const int warp = static_cast<int>(threadIdx.x) / kWarp, part = warp % Plan::ways;
    const auto edge = [&](int to) {
        const Index at = turns * to / Plan::ways * OneTile::kTurn;
        return at < k ? at : k;
    };
    for (Index first = Index(block) * kTogether; first < tiles;
         first += Index(Plan::blocks) * kTogether) {
        const Index tile = first + warp / Plan::ways;
        const Index batch = tile / (rowTiles * columnTiles);
        const Index row = tile / columnTiles % rowTiles * 16;
        const Index column = tile % columnTiles * Plan::tileN;
        const auto put = [&](int r, int c, float value) {
            if (tile < tiles && row + r < m && column + c < n)
                x.put(batch, row + r, column + c, value);
        };
        OneTile mine;
        if (tile < tiles) mine.run(x, batch, row, column, edge(part), edge(part + 1));
        if constexpr (Plan::ways == 1) {
            if (tile < tiles) mine.forEach(put);
        } else {
            float* sums =
                reinterpret_cast<float*>(shared) + warp / Plan::ways * Plan::ways * kValues;
            if (first != Index(block) * kTogether) __syncthreads(); // the last tiles' are read
            if (tile < tiles)
                mine.forEach([&](int r, int c, float value) {
                    sums[part * kValues + r * Plan::tileN + c] = value;
                });
            __syncthreads();
            HS_UNROLL
            for (int e = static_cast<int>(threadIdx.x) % kSharing; e < kValues; e += kSharing) {
                float total = sums[e];
                HS_UNROLL
                for (int other = 1; other < Plan::ways; ++other)
                    total += sums[other * kValues + e];
                put(e / Plan::tileN, e % Plan::tileN, total);
            }
        }
    }
}

} // namespace nodes
} // namespace hs
