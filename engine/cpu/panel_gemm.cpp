// Calls nothing inline from outside: a function compiled here carries the instruction set along.
// The kernel keeps 12 x 32 elements of the result in registers; each step of the inner axis takes
// two vectors of the panel and 12 numbers of a.
#include "engine/cpu/panel_gemm.h"

#include "engine/core/error.h"

#if defined(__AVX512F__)
// GCC 12 warns of the values that its own header leaves open on purpose (GCC bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#endif

namespace halfscope {

namespace {

int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t wholePanels(int64_t n) { return (n + kPanelColumns - 1) / kPanelColumns * kPanelColumns; }

} // namespace

size_t panelFloats(int64_t k, int64_t n) { return static_cast<size_t>(k * wholePanels(n)); }

size_t panelOffset(int64_t k, int64_t n, int64_t first, int64_t column) {
    return static_cast<size_t>(first * wholePanels(n) + column * least(kPanelDepth, k - first));
}

void packPanel(const float* b, int64_t rowStep, int64_t columnStep, int64_t depth, int64_t columns,
               float* panel) {
    for (int64_t i = 0; i < depth; ++i)
        for (int64_t j = 0; j < kPanelColumns; ++j)
            panel[i * kPanelColumns + j] = j < columns ? b[i * rowStep + j * columnStep] : 0.0f;
}

#if defined(__AVX512F__)

namespace {

constexpr int64_t kLanes = 16;
constexpr int kRows = 12; ///< 24 of 32 registers hold sums

/// One block of the inner axis of one panel.
struct Panel {
    const float* b;
    int64_t depth;
    __mmask16 first, second; ///< columns that there are
    bool accumulate;
};

/// A store with a mask is slow (Zen 5), full or not.
inline void addOrStore(float* to, __mmask16 lanes, bool accumulate, __m512 sum) {
    constexpr __mmask16 kAll = 0xFFFF;
    if (accumulate) sum = _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, to), sum);
    if (lanes == kAll)
        _mm512_storeu_ps(to, sum);
    else
        _mm512_mask_storeu_ps(to, lanes, sum);
}

/// Row indices as a parameter pack. With it sums are in registers for certain; of an array in a
/// loop GCC keeps a copy in memory, which takes 3 % of a product.
template <int... Row>
struct Tile {};

template <int... Row>
void multiplyTile(Tile<Row...>, const float* a, int64_t lda, const Panel& panel, float* c,
                  int64_t ldc) {
    __m512 left[] = {((void)Row, _mm512_setzero_ps())...};
    __m512 right[] = {((void)Row, _mm512_setzero_ps())...};
    const float* b = panel.b;
    for (int64_t k = 0; k < panel.depth; ++k, b += kPanelColumns) {
        const __m512 first = _mm512_loadu_ps(b), second = _mm512_loadu_ps(b + kLanes);
        const auto add = [&](float value, __m512& l, __m512& r) {
            const __m512 x = _mm512_set1_ps(value);
            l = _mm512_fmadd_ps(x, first, l);
            r = _mm512_fmadd_ps(x, second, r);
        };
        (add(a[Row * lda + k], left[Row], right[Row]), ...);
    }
    const auto put = [&](float* to, __m512 l, __m512 r) {
        addOrStore(to, panel.first, panel.accumulate, l);
        addOrStore(to + kLanes, panel.second, panel.accumulate, r);
    };
    (put(c + Row * ldc, left[Row], right[Row]), ...);
}

void multiplyTile(int rows, const float* a, int64_t lda, const Panel& panel, float* c,
                  int64_t ldc) {
    static_assert(kRows == 12);
    switch (rows) {
    case kRows:
        return multiplyTile(Tile<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11>{}, a, lda, panel, c, ldc);
    case 8: return multiplyTile(Tile<0, 1, 2, 3, 4, 5, 6, 7>{}, a, lda, panel, c, ldc);
    case 4: return multiplyTile(Tile<0, 1, 2, 3>{}, a, lda, panel, c, ldc);
    case 2: return multiplyTile(Tile<0, 1>{}, a, lda, panel, c, ldc);
    default: return multiplyTile(Tile<0>{}, a, lda, panel, c, ldc);
    }
}

/// The next part of `left` rows that there is a tile for.
int tileRows(int64_t left) {
    for (const int rows : {kRows, 8, 4, 2})
        if (left >= rows) return rows;
    return 1;
}

__mmask16 firstLanes(int64_t count) {
    if (count <= 0) return 0;
    return static_cast<__mmask16>((1U << least(count, kLanes)) - 1);
}

/// Asks for the lines of a panel's width from `column` on in each of some rows. A tile takes rows
/// too slowly, and too many side by side, for the hardware to run ahead: 7 % of a product that
/// streams.
void prefetchRows(const float* x, int64_t ld, int64_t rows, int64_t column, int64_t columns) {
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = column; i < least(column + kPanelColumns, columns); i += kLanes)
            __builtin_prefetch(x + r * ld + i);
}

} // namespace

void multiplyPanels(const PanelShape& s, const float* a, const float* panels, float* c) {
    constexpr int64_t kStoreBound = 32; // the result is what takes the time: 3 times as fast
    for (int64_t first = 0; first < s.k; first += kPanelDepth) {
        Panel panel;
        panel.depth = least(kPanelDepth, s.k - first);
        panel.accumulate = s.accumulate || first > 0;
        for (int64_t row = 0, rows = 0; row < s.m; row += rows) {
            rows = tileRows(s.m - row);
            const int64_t ahead = least(kRows, s.m - row - rows);
            const float* at = a + row * s.lda + first;
            for (int64_t column = 0; column < s.n; column += kPanelColumns) {
                panel.b = panels + panelOffset(s.k, s.n, first, column);
                panel.first = firstLanes(s.n - column);
                panel.second = firstLanes(s.n - column - kLanes);
                prefetchRows(at + rows * s.lda, s.lda, ahead, column, panel.depth);
                if (s.k <= kStoreBound)
                    prefetchRows(c + (row + rows) * s.ldc, s.ldc, ahead, column, s.n);
                multiplyTile(static_cast<int>(rows), at, s.lda, panel, c + row * s.ldc + column,
                             s.ldc);
            }
        }
    }
}

#else

void multiplyPanels(const PanelShape&, const float*, const float*, float*) {
    failInvariant("multiplyPanels: not in this program");
}

#endif

} // namespace halfscope
