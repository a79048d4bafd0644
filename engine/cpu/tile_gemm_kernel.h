// The kernel of tile_gemm.h for a `T` that has the tiles. T(rows, more) configures the tiles used
// below and clears them; the others are load<N> and store<N> (address, bytes from row to row),
// zero<N> and multiply<C, A, B>. Sums are in tiles 0 to 3, rows of `a` in 4 and 5, and columns of a
// panel in 6 and 7: two by two, so that each is used twice.
#pragma once

#include "engine/cpu/pair_gemm.h"
#include "engine/cpu/transpose_block.h"

#include <algorithm>

namespace halfscope {
namespace {

constexpr int64_t kTileRows = 16, kTileLanes = 16, kTileColumns = 16;
constexpr int64_t kTileGroup = 2 * kTileRows; ///< rows that go through all panels together
static_assert(kPanelColumns == 2 * kTileColumns);

/// The lanes of `a` and of the panel that go together in a product: step i multiplies plane kOfA[i]
/// of `a` by plane i of the panel, and planes follow each other in memory. A value of bfloat16 is
/// half a lane; one with more significant bits is a sum of several (term_gemm.h).
struct Pairs {
    static constexpr int kOfA[] = {0};
    static constexpr int64_t kPlanesOfA = 1, kPlanes = 1, kDepth = kPairDepth;
};
struct TwoTerms {
    static constexpr int kOfA[] = {0, 0};
    static constexpr int64_t kPlanesOfA = 1, kPlanes = 2, kDepth = kPanelDepth;
};
struct ThreeTerms {
    static constexpr int kOfA[] = {0, 0, 1};
    static constexpr int64_t kPlanesOfA = 2, kPlanes = 3, kDepth = kPanelDepth;
};

/// Some rows of `a` and one panel, both of this many lanes.
struct TileOperands {
    const uint32_t *a, *panel;
    int64_t lda, planeOfA, lanes, rows;
};

/// x.lanes may be more than the step takes: planes are as far apart as x has them.
template <class T, class Planes>
void addStep(T& tiles, const TileOperands& x, int64_t first, bool both) {
    constexpr int64_t kLane = sizeof(uint32_t);
    for (int i = 0; i < Planes::kPlanes; ++i) {
        if (i == 0 || Planes::kOfA[i] != Planes::kOfA[i - 1]) {
            const uint32_t* a = x.a + Planes::kOfA[i] * x.planeOfA + first;
            tiles.template load<4>(a, x.lda * kLane);
            if (both) tiles.template load<5>(a + kTileRows * x.lda, x.lda * kLane);
        }
        const uint32_t* panel = x.panel + (i * x.lanes + first) * kPanelColumns;
        tiles.template load<6>(panel, kPanelColumns * kLane);
        tiles.template load<7>(panel + kTileColumns, kPanelColumns * kLane);
        tiles.template multiply<0, 4, 6>();
        tiles.template multiply<1, 4, 7>();
        if (!both) continue;
        tiles.template multiply<2, 5, 6>();
        tiles.template multiply<3, 5, 7>();
    }
}

/// Multiplies the lanes behind the last whole step, padded with zeros.
template <class T, class Planes>
void addRest(T& tiles, const TileOperands& x, bool both) {
    const int64_t first = x.lanes / kTileLanes * kTileLanes, rest = x.lanes - first;
    if (rest == 0) return;
    uint32_t a[Planes::kPlanesOfA * kTileGroup * kTileLanes] = {},
                                                 panel[Planes::kPlanes * kTileLanes *
                                                       kPanelColumns] = {};
    for (int64_t plane = 0; plane < Planes::kPlanesOfA; ++plane)
        for (int64_t r = 0; r < x.rows; ++r)
            std::copy_n(x.a + plane * x.planeOfA + r * x.lda + first, rest,
                        a + (plane * kTileGroup + r) * kTileLanes);
    for (int64_t plane = 0; plane < Planes::kPlanes; ++plane)
        std::copy_n(x.panel + (plane * x.lanes + first) * kPanelColumns, rest * kPanelColumns,
                    panel + plane * kTileLanes * kPanelColumns);
    addStep<T, Planes>(tiles, {a, panel, kTileLanes, kTileGroup * kTileLanes, kTileLanes, x.rows},
                       0, both);
}

/// Multiplies by all columns of the panel; `c` has as many.
template <class T, class Planes>
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
    for (int64_t first = 0; first + kTileLanes <= x.lanes; first += kTileLanes)
        addStep<T, Planes>(tiles, x, first, both);
    addRest<T, Planes>(tiles, x, both);
    tiles.template store<0>(c, stride);
    tiles.template store<1>(c + kTileColumns, stride);
    if (both) tiles.template store<2>(lower, stride);
    if (both) tiles.template store<3>(lower + kTileColumns, stride);
}

/// Multiplies a group of rows by all panels, for one block of lanes from `first` on.
template <class T, class Planes>
void multiplyGroup(T& tiles, const PanelShape& s, TileOperands x, const uint32_t* panels, float* c,
                   int64_t first) {
    const bool accumulate = s.accumulate || first > 0;
    for (int64_t column = 0; column < s.n; column += kPanelColumns) {
        x.panel =
            panels + Planes::kPlanes *
                         static_cast<int64_t>(panelOffset(s.k, s.n, first, column, Planes::kDepth));
        const int64_t columns = std::min(kPanelColumns, s.n - column);
        if (columns == kPanelColumns) {
            multiplyTile<T, Planes>(tiles, x, c + column, s.ldc, accumulate);
            continue;
        }
        float edge[kTileGroup * kPanelColumns] = {};
        for (int64_t r = 0; accumulate && r < x.rows; ++r)
            std::copy_n(c + r * s.ldc + column, columns, edge + r * kPanelColumns);
        multiplyTile<T, Planes>(tiles, x, edge, kPanelColumns, accumulate);
        for (int64_t r = 0; r < x.rows; ++r)
            std::copy_n(edge + r * kPanelColumns, columns, c + r * s.ldc + column);
    }
}

/// Multiplies rows [begin, end) in groups of the same size.
template <class T, class Planes>
void multiplyGroups(const PanelShape& s, int64_t planeOfA, const uint32_t* a,
                    const uint32_t* panels, float* c, int64_t first, int64_t begin, int64_t end) {
    if (begin == end) return;
    constexpr int64_t kTurned = kTileGroup * Planes::kDepth;
    const int64_t rows = std::min(kTileGroup, end - begin),
                  lanes = std::min(Planes::kDepth, s.k - first);
    T tiles(std::min(kTileRows, rows), std::max<int64_t>(0, rows - kTileRows));
    uint32_t turned[Planes::kPlanesOfA * kTurned];
    for (int64_t row = begin; row < end; row += rows) {
        TileOperands x{a + row * s.lda + first, nullptr, s.lda, planeOfA, lanes, rows};
        if (s.transposeA) {
            for (int64_t plane = 0; plane < Planes::kPlanesOfA; ++plane)
                transpose(a + plane * planeOfA + first * s.lda + row, s.lda, rows, lanes,
                          turned + plane * kTurned, lanes);
            x.a = turned;
            x.lda = lanes;
            x.planeOfA = kTurned;
        }
        multiplyGroup<T, Planes>(tiles, s, x, panels, c + row * s.ldc, first);
    }
}

/// `planeOfA` is the number of lanes from one plane of `a` to the next; k and lda are in lanes.
template <class T, class Planes>
void multiplyByTiles(const PanelShape& s, int64_t planeOfA, const uint32_t* a,
                     const uint32_t* panels, float* c) {
    const int64_t whole = s.m / kTileGroup * kTileGroup;
    for (int64_t first = 0; first < s.k; first += Planes::kDepth) {
        multiplyGroups<T, Planes>(s, planeOfA, a, panels, c, first, 0, whole);
        multiplyGroups<T, Planes>(s, planeOfA, a, panels, c, first, whole, s.m);
    }
}

} // namespace
} // namespace halfscope
