// The kernel of tile_gemm.h, for a `T` that has the tiles: T(rows, more) gives those below rows and
// forgets what they held; load<N>, store<N> (address, bytes from row to row), zero<N> and
// multiply<C, A, B>. Sums are in tiles 0 to 3, rows of `a` in 4 and 5, columns of a panel in 6 and
// 7: two by two, so that each is used twice.
#pragma once

#include "engine/cpu/pair_gemm.h"

#include <algorithm>

namespace halfscope {
namespace {

constexpr int64_t kTileRows = 16, kTilePairs = 16, kTileColumns = 16;
constexpr int64_t kTileGroup = 2 * kTileRows; ///< rows that go through all panels together
static_assert(kPanelColumns == 2 * kTileColumns);

/// Some rows of `a` and one panel, of `pairs` pairs each.
struct TileOperands {
    const uint32_t *a, *panel;
    int64_t lda, pairs, rows;
};

template <class T>
void addStep(T& tiles, const uint32_t* a, int64_t lda, const uint32_t* panel, bool both) {
    constexpr int64_t kPair = sizeof(uint32_t);
    tiles.template load<4>(a, lda * kPair);
    if (both) tiles.template load<5>(a + kTileRows * lda, lda * kPair);
    tiles.template load<6>(panel, kPanelColumns * kPair);
    tiles.template load<7>(panel + kTileColumns, kPanelColumns * kPair);
    tiles.template multiply<0, 4, 6>();
    tiles.template multiply<1, 4, 7>();
    if (!both) return;
    tiles.template multiply<2, 5, 6>();
    tiles.template multiply<3, 5, 7>();
}

/// The pairs behind the last whole step, filled up with zeros.
template <class T>
void addRest(T& tiles, const TileOperands& x, bool both) {
    const int64_t first = x.pairs / kTilePairs * kTilePairs, rest = x.pairs - first;
    if (rest == 0) return;
    uint32_t a[kTileGroup * kTilePairs] = {}, panel[kTilePairs * kPanelColumns] = {};
    for (int64_t r = 0; r < x.rows; ++r)
        std::copy_n(x.a + r * x.lda + first, rest, a + r * kTilePairs);
    std::copy_n(x.panel + first * kPanelColumns, rest * kPanelColumns, panel);
    addStep(tiles, a, kTilePairs, panel, both);
}

/// All columns of the panel, `c` having as many.
template <class T>
void multiplyTile(T& tiles, const TileOperands& x, float* c, int64_t ldc, bool accumulate) {
    const int64_t stride = ldc * static_cast<int64_t>(sizeof(float));
    const bool both = x.rows > kTileRows;
    float* lower = c + kTileRows * ldc;
    if (accumulate) {
        tiles.template load<0>(c, stride);
        tiles.template load<1>(c + kTileColumns, stride);
        if (both) tiles.template load<2>(lower, stride);
        if (both) tiles.template load<3>(lower + kTileColumns, stride);
    } else {
        tiles.template zero<0>();
        tiles.template zero<1>();
        if (both) tiles.template zero<2>();
        if (both) tiles.template zero<3>();
    }
    for (int64_t first = 0; first + kTilePairs <= x.pairs; first += kTilePairs)
        addStep(tiles, x.a + first, x.lda, x.panel + first * kPanelColumns, both);
    addRest(tiles, x, both);
    tiles.template store<0>(c, stride);
    tiles.template store<1>(c + kTileColumns, stride);
    if (both) tiles.template store<2>(lower, stride);
    if (both) tiles.template store<3>(lower + kTileColumns, stride);
}

/// A group of rows, one block of pairs from `first` on, all panels.
template <class T>
void multiplyGroup(T& tiles, const PanelShape& s, TileOperands x, const uint32_t* panels, float* c,
                   int64_t first) {
    const bool accumulate = s.accumulate || first > 0;
    for (int64_t column = 0; column < s.n; column += kPanelColumns) {
        x.panel = panels + panelOffset(s.k, s.n, first, column, kPairDepth);
        const int64_t columns = std::min(kPanelColumns, s.n - column);
        if (columns == kPanelColumns) {
            multiplyTile(tiles, x, c + column, s.ldc, accumulate);
            continue;
        }
        float edge[kTileGroup * kPanelColumns] = {};
        for (int64_t r = 0; accumulate && r < x.rows; ++r)
            std::copy_n(c + r * s.ldc + column, columns, edge + r * kPanelColumns);
        multiplyTile(tiles, x, edge, kPanelColumns, accumulate);
        for (int64_t r = 0; r < x.rows; ++r)
            std::copy_n(edge + r * kPanelColumns, columns, c + r * s.ldc + column);
    }
}

/// Rows [begin, end) in groups of the same size.
template <class T>
void multiplyGroups(const PanelShape& s, const uint32_t* a, const uint32_t* panels, float* c,
                    int64_t first, int64_t begin, int64_t end) {
    if (begin == end) return;
    const int64_t rows = std::min(kTileGroup, end - begin),
                  pairs = std::min(kPairDepth, s.k - first);
    T tiles(std::min(kTileRows, rows), std::max<int64_t>(0, rows - kTileRows));
    uint32_t turned[kTileGroup * kPairDepth];
    for (int64_t row = begin; row < end; row += rows) {
        TileOperands x{a + row * s.lda + first, nullptr, s.lda, pairs, rows};
        if (s.transposeA) {
            transposePairs(a + first * s.lda + row, s.lda, rows, pairs, turned, pairs);
            x.a = turned;
            x.lda = pairs;
        }
        multiplyGroup(tiles, s, x, panels, c + row * s.ldc, first);
    }
}

template <class T>
void multiplyByTiles(const PanelShape& s, const uint32_t* a, const uint32_t* panels, float* c) {
    const int64_t whole = s.m / kTileGroup * kTileGroup;
    for (int64_t first = 0; first < s.k; first += kPairDepth) {
        multiplyGroups<T>(s, a, panels, c, first, 0, whole);
        multiplyGroups<T>(s, a, panels, c, first, whole, s.m);
    }
}

} // namespace
} // namespace halfscope
