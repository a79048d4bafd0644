// The kernel of small_gemm.h, for the files that compile it for an instruction set. `V` stands for
// the set: its vector of doubles, loads that widen and stores that round, multiply-add, and how
// many rows its registers hold. The kernel calls nothing outside: an inline function compiled here
// would carry the set into other files.
#pragma once

#include "engine/cpu/small_gemm.h"
#include "engine/cpu/transpose_block.h"

namespace halfscope {
namespace {

constexpr int kPanelVectors = 4;     ///< a tile's columns, in vectors
constexpr int64_t kBlockDepth = 128; ///< inner indices taken at once, so that the panel stays in L1
constexpr int64_t kBlockRows = 64;   ///< rows whose sums wait for the next block, if there is one

/// Element (i, j) of c; columnStep is 1 unless the product is computed transposed.
struct Destination {
    float* c;
    int64_t rowStep, columnStep;
    bool accumulate;
};

/// Some rows of c by the columns of one panel, over one block of the inner extent.
struct Block {
    const float* b; ///< rows of `step` floats with the columns of the panel
    int64_t step, depth;
    int tail;             ///< columns in the last vector; the rest of its lanes are also loaded
    double* sums;         ///< from earlier blocks and for later ones: dense rows
    bool isFirst, isLast; ///< in the inner extent
};

template <class V>
[[gnu::always_inline]] inline void storeRow(const typename V::Type* sums, int vectors, int tail,
                                            const Destination& to) {
    for (int v = 0; v < vectors; ++v) {
        const int count = v + 1 < vectors ? V::kLanes : tail;
        float* c = to.c + v * V::kLanes * to.columnStep;
        if (to.columnStep == 1 && !to.accumulate) {
            if (count == V::kLanes)
                V::round(c, sums[v]);
            else
                V::roundPart(c, count, sums[v]);
            continue;
        }
        double values[V::kLanes];
        V::store(values, sums[v]);
        for (int i = 0; i < count; ++i) {
            float& element = c[i * to.columnStep];
            const double before = to.accumulate ? static_cast<double>(element) : 0.0;
            element = static_cast<float>(before + values[i]);
        }
    }
}

/// Computes Rows x Vectors of c over one block.
template <class V, int Rows, int Vectors, bool TransposedA>
void multiplyTile(const float* a, int64_t lda, const Block& block, const Destination& to) {
    using Type = typename V::Type;
    const int64_t rowStep = TransposedA ? 1 : lda, depthStep = TransposedA ? lda : 1;
    Type sums[size_t{Rows}][size_t{Vectors}];
    for (int r = 0; r < Rows; ++r)
        for (int v = 0; v < Vectors; ++v)
            sums[r][v] =
                block.isFirst ? V::zero() : V::load(block.sums + (r * Vectors + v) * V::kLanes);
    const float* b = block.b;
    for (int64_t k = 0; k < block.depth; ++k, b += block.step, a += depthStep) {
        Type row[size_t{Vectors}];
        for (int v = 0; v < Vectors; ++v)
            row[v] = V::widen(b + v * V::kLanes);
        for (int r = 0; r < Rows; ++r) {
            const Type x = V::broadcast(a[r * rowStep]);
            for (int v = 0; v < Vectors; ++v)
                sums[r][v] = V::multiplyAdd(x, row[v], sums[r][v]);
        }
    }
    for (int r = 0; r < Rows; ++r) {
        if (block.isLast) {
            Destination row = to;
            row.c += r * to.rowStep;
            storeRow<V>(sums[r], Vectors, block.tail, row);
        } else {
            for (int v = 0; v < Vectors; ++v)
                V::store(block.sums + (r * Vectors + v) * V::kLanes, sums[r][v]);
        }
    }
}

/// Multiplies all rows: first tiles of Rows, then halves of that for the rest.
template <class V, int Rows, int Vectors, bool TransposedA>
void multiplyRows(const float* a, int64_t lda, int64_t rows, Block block, Destination to) {
    const int64_t rowStep = TransposedA ? 1 : lda;
    while (rows >= Rows) {
        multiplyTile<V, Rows, Vectors, TransposedA>(a, lda, block, to);
        a += Rows * rowStep;
        block.sums += Rows * Vectors * V::kLanes;
        to.c += Rows * to.rowStep;
        rows -= Rows;
    }
    if constexpr (Rows > 1)
        multiplyRows<V, Rows / 2, Vectors, TransposedA>(a, lda, rows, block, to);
}

/// Writes to[k][i] = from[i][k]. Columns of `to` from `count` to `width` are 0.
inline void transposePanel(const float* from, int64_t ld, int64_t count, int64_t depth, float* to,
                           int64_t width) {
    transpose(from, ld, depth, count, to, width);
    for (int64_t k = 0; k < depth; ++k)
        for (int64_t j = count; j < width; ++j)
            to[k * width + j] = 0;
}

/// Writes to[k][i] = from[k][i] for `count` columns, which must reach into the last vector, then
/// zeros.
template <class V>
void copyPanel(const float* from, int64_t ld, int64_t count, int64_t depth, float* to,
               int64_t width) {
    const int64_t last = width - V::kLanes;
    for (int64_t k = 0; k < depth; ++k, from += ld, to += width) {
        for (int64_t i = 0; i < last; i += V::kLanes)
            __builtin_memcpy(to + i, from + i, sizeof(float) * V::kLanes);
        V::copyPart(from + last, static_cast<int>(count - last), to + last);
    }
}

/// Computes `count` columns of c from `column` on; they must reach into the last of Vectors
/// vectors.
template <class V, int Vectors>
void multiplyPanel(const GemmShape& s, const float* a, const float* b, int64_t column,
                   int64_t count, Destination to) {
    constexpr int64_t kWidth = Vectors * V::kLanes;
    alignas(64) float panel[size_t{kBlockDepth * kWidth}];
    alignas(64) double sums[size_t{kBlockRows * kWidth}];
    const bool oneBlock = s.k <= kBlockDepth, packs = s.transposeB || count != kWidth;
    Block block{};
    block.tail = static_cast<int>(count - (Vectors - 1) * V::kLanes);
    block.sums = sums;
    const int64_t together = oneBlock ? s.m : kBlockRows;
    for (int64_t row = 0; row < s.m; row += together) {
        const int64_t rows = s.m - row < together ? s.m - row : together;
        int64_t k = 0;
        do { // at least once, because a product over nothing is 0
            block.depth = s.k - k < kBlockDepth ? s.k - k : kBlockDepth;
            block.isFirst = k == 0;
            block.isLast = k + block.depth == s.k;
            block.b = packs ? panel : b + k * s.ldb + column;
            block.step = packs ? kWidth : s.ldb;
            if (s.transposeB)
                transposePanel(b + column * s.ldb + k, s.ldb, count, block.depth, panel, kWidth);
            else if (packs)
                copyPanel<V>(b + k * s.ldb + column, s.ldb, count, block.depth, panel, kWidth);
            constexpr int kRows = V::kRows[Vectors - 1];
            if (s.transposeA)
                multiplyRows<V, kRows, Vectors, true>(a + k * s.lda + row, s.lda, rows, block, to);
            else
                multiplyRows<V, kRows, Vectors, false>(a + row * s.lda + k, s.lda, rows, block, to);
            k += kBlockDepth;
        } while (k < s.k);
        to.c += rows * to.rowStep;
    }
}

template <class V>
void multiply(GemmShape s, const float* a, const float* b, float* c) {
    Destination to{c, s.ldc, 1, s.accumulate};
    // A narrow result fills few lanes; transposed, it fills them.
    if (s.n < s.m && (s.n == 1 || (s.transposeA && s.n * 2 <= V::kLanes))) {
        const float* swapped = a;
        a = b;
        b = swapped;
        s = {s.n, s.m, s.k, !s.transposeB, !s.transposeA, s.ldb, s.lda, s.ldc, s.accumulate};
        to.rowStep = 1;
        to.columnStep = s.ldc;
    }
    constexpr int64_t kColumns = kPanelVectors * V::kLanes;
    for (int64_t column = 0; column < s.n; column += kColumns) {
        const int64_t count = s.n - column < kColumns ? s.n - column : kColumns;
        switch ((count + V::kLanes - 1) / V::kLanes) {
        case 1: multiplyPanel<V, 1>(s, a, b, column, count, to); break;
        case 2: multiplyPanel<V, 2>(s, a, b, column, count, to); break;
        case 3: multiplyPanel<V, 3>(s, a, b, column, count, to); break;
        default: multiplyPanel<V, 4>(s, a, b, column, count, to); break;
        }
        to.c += kColumns * to.columnStep;
    }
}

} // namespace
} // namespace halfscope
