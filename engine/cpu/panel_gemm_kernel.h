// The kernel of panel_gemm.h and pair_gemm.h, for the files that compile it for a set of
// instructions. `V` stands for the set. It has the type of a lane of the operands (`Element`, of
// four bytes), the number of them along the inner axis that make a block (`kDepth`), the vector of
// floats, multiply-add, parts of a vector, and how many rows by two vectors of the result fit into
// registers. Each step of the inner axis takes two vectors of the panel and an element of `a` for
// each of those rows. The kernel calls no inline function from outside: compiled here, that would
// carry the set into other files.
#pragma once

#include "engine/core/vector_clones.h"
#include "engine/cpu/panel_gemm.h"

namespace halfscope {
namespace {

/// Rows that go through all panels together: one tile of the widest set.
constexpr int kGroupRows = 12;

int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/// One block of the inner axis of some columns of a panel.
template <class Element>
struct Panel {
    const Element* b;
    int64_t depth, columns; ///< columns: those that exist from b on, more or fewer than a tile's
    bool accumulate;
};

/// Uses a masked store only where it must: such a store is slow (Zen 5), even with a full mask.
template <class V>
[[gnu::always_inline]] inline void addOrStore(float* to, int64_t columns, bool accumulate,
                                              typename V::Type sum) {
    if (columns >= V::kLanes) {
        V::store(to, accumulate ? V::add(V::load(to), sum) : sum);
    } else if (columns > 0) {
        const auto part = V::first(static_cast<int>(columns));
        V::storePart(to, part, accumulate ? V::add(V::loadPart(to, part), sum) : sum);
    }
}

/// Where element (row, k) of some rows of `a` is.
struct InPlace {
    int64_t ld;
    int64_t operator()(int64_t row, int64_t k) const { return row * ld + k; }
};
struct Packed {
    int64_t operator()(int64_t row, int64_t k) const { return k * kGroupRows + row; }
};

/// Row indices as a parameter pack. It keeps the sums in registers for certain; of an array in a
/// loop, GCC keeps a copy in memory, which costs 3 % of a product.
template <int... Row>
struct Tile {};

template <class V, class Order, int... Row>
void multiplyTile(Tile<Row...>, const typename V::Element* a, Order order,
                  const Panel<typename V::Element>& panel, float* c, int64_t ldc) {
    using Type = typename V::Type;
    Type left[] = {((void)Row, V::zero())...};
    Type right[] = {((void)Row, V::zero())...};
    const auto* b = panel.b;
    HALFSCOPE_UNROLL
    for (int64_t k = 0; k < panel.depth; ++k, b += 2 * V::kLanes) {
        const auto first = V::loadPanel(b), second = V::loadPanel(b + V::kLanes);
        const auto add = [&](typename V::Element value, Type& l, Type& r) {
            const auto x = V::broadcast(value);
            l = V::multiplyAdd(x, first, l);
            r = V::multiplyAdd(x, second, r);
        };
        (add(a[order(Row, k)], left[Row], right[Row]), ...);
    }
    const auto put = [&](float* to, Type l, Type r) {
        addOrStore<V>(to, panel.columns, panel.accumulate, l);
        addOrStore<V>(to + V::kLanes, panel.columns - V::kLanes, panel.accumulate, r);
    };
    (put(c + Row * ldc, left[Row], right[Row]), ...);
}

template <class V, class Order>
void multiplyTile(int rows, const typename V::Element* a, Order order,
                  const Panel<typename V::Element>& panel, float* c, int64_t ldc) {
    if constexpr (V::kRows >= 12)
        if (rows == 12)
            return multiplyTile<V>(Tile<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11>{}, a, order, panel, c,
                                   ldc);
    if constexpr (V::kRows >= 8)
        if (rows == 8)
            return multiplyTile<V>(Tile<0, 1, 2, 3, 4, 5, 6, 7>{}, a, order, panel, c, ldc);
    switch (rows) {
    case 6: return multiplyTile<V>(Tile<0, 1, 2, 3, 4, 5>{}, a, order, panel, c, ldc);
    case 4: return multiplyTile<V>(Tile<0, 1, 2, 3>{}, a, order, panel, c, ldc);
    case 2: return multiplyTile<V>(Tile<0, 1>{}, a, order, panel, c, ldc);
    default: return multiplyTile<V>(Tile<0>{}, a, order, panel, c, ldc);
    }
}

/// Returns how many of `left` rows the next tile takes.
template <class V>
int tileRows(int64_t left) {
    constexpr int kTiles[] = {12, 8, 6, 4, 2};
    for (const int rows : kTiles)
        if (rows <= V::kRows && left >= rows) return rows;
    return 1;
}

/// Multiplies some rows by all columns of a panel.
template <class V, class Order>
void multiplyGroup(int64_t rows, const typename V::Element* a, Order order,
                   const Panel<typename V::Element>& whole, float* c, int64_t ldc) {
    constexpr int64_t kColumns = 2 * V::kLanes;
    static_assert(kPanelColumns % kColumns == 0);
    Panel<typename V::Element> part = whole;
    for (int64_t column = 0; column < least(whole.columns, kPanelColumns); column += kColumns) {
        part.b = whole.b + column * whole.depth; // the columns of a tile lie together
        part.columns = whole.columns - column;
        for (int64_t row = 0; row < rows;) {
            const int count = tileRows<V>(rows - row);
            multiplyTile<V>(count, a + order(row, 0), order, part, c + row * ldc + column, ldc);
            row += count;
        }
    }
}

/// Prefetches the lines of a panel's width from `column` on in each of some rows. A tile takes rows
/// too slowly, and too many side by side, for the hardware to prefetch them: this saves 7 % of a
/// product that streams.
template <class Element>
void prefetchRows(const Element* x, int64_t ld, int64_t rows, int64_t column, int64_t columns) {
    constexpr int64_t kLine = 64 / sizeof(Element);
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = column; i < least(column + kPanelColumns, columns); i += kLine)
            __builtin_prefetch(x + r * ld + i);
}

/// Packs a group of rows of a transposed `a` side by side. As columns their elements would be a
/// whole row apart, often a power of two, and evict each other from L1.
template <class Element>
void packRows(const Element* a, int64_t lda, int64_t rows, int64_t depth, Element* packed) {
    for (int64_t k = 0; k < depth; ++k, a += lda, packed += kGroupRows) {
        if (rows == kGroupRows)
            __builtin_memcpy(packed, a, kGroupRows * sizeof(Element));
        else
            for (int64_t row = 0; row < rows; ++row)
                packed[row] = a[row];
    }
}

/// Multiplies one group of rows by all panels, for one block of the inner axis from `first` on.
template <class V>
void multiplyRows(const PanelShape& s, const typename V::Element* a,
                  const typename V::Element* panels, float* c, int64_t first, int64_t row) {
    using Element = typename V::Element;
    // below this depth, writing the result takes most of the time; this makes it 3 times as fast
    constexpr int64_t kStoreBound = V::kDepth / 8;
    const int64_t rows = least(kGroupRows, s.m - row), ahead = least(kGroupRows, s.m - row - rows);
    Panel<Element> panel{nullptr, least(V::kDepth, s.k - first), 0, s.accumulate || first > 0};
    Element packed[kGroupRows * V::kDepth];
    const Element* at = s.transposeA ? packed : a + row * s.lda + first;
    if (s.transposeA) packRows(a + first * s.lda + row, s.lda, rows, panel.depth, packed);
    for (int64_t column = 0; column < s.n; column += kPanelColumns) {
        panel.b = panels + panelOffset(s.k, s.n, first, column, V::kDepth);
        panel.columns = s.n - column;
        float* to = c + row * s.ldc + column;
        if (s.k <= kStoreBound) prefetchRows(c + (row + rows) * s.ldc, s.ldc, ahead, column, s.n);
        if (s.transposeA) {
            multiplyGroup<V>(rows, at, Packed{}, panel, to, s.ldc);
        } else {
            prefetchRows(at + rows * s.lda, s.lda, ahead, column, panel.depth);
            multiplyGroup<V>(rows, at, InPlace{s.lda}, panel, to, s.ldc);
        }
    }
}

template <class V>
void multiply(const PanelShape& s, const typename V::Element* a, const typename V::Element* panels,
              float* c) {
    for (int64_t first = 0; first < s.k; first += V::kDepth)
        for (int64_t row = 0; row < s.m; row += kGroupRows)
            multiplyRows<V>(s, a, panels, c, first, row);
}

} // namespace
} // namespace halfscope
