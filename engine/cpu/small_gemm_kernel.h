// The kernel of small_gemm.h, for the files that compile it for an instruction set. `V` names the
// set: its vector type, loads and stores, fused multiply-add, and how many rows its registers hold.
// Calls nothing outside: an inline function compiled here would carry the set into other files.
#pragma once

#include "engine/cpu/small_gemm.h"

namespace halfscope {
namespace {

constexpr int kPanelVectors = 2; ///< columns of a tile, in vectors

/// Element (i, j) of c; columnStep is 1 except where the product is computed transposed.
struct Destination {
    float* c;
    int64_t rowStep, columnStep;
    bool accumulate;
};

/// The inner extent of one block. b: rows of `step` floats, columns of one panel.
struct PanelBlock {
    const float* b;
    int64_t step, depth;
    int tail; ///< columns in the last vector; the rest of its lanes are loaded all the same
};

template <class V>
[[gnu::always_inline]] inline void storeRow(const typename V::Type* sums, int vectors, int tail,
                                            const Destination& to) {
    for (int v = 0; v < vectors; ++v) {
        const int count = v + 1 < vectors ? V::kLanes : tail;
        float* c = to.c + v * V::kLanes * to.columnStep;
        if (to.columnStep == 1 && count == V::kLanes) {
            V::store(c, to.accumulate ? V::add(V::load(c), sums[v]) : sums[v]);
        } else if (to.columnStep == 1) {
            V::storePart(c, count,
                         to.accumulate ? V::add(V::loadPart(c, count), sums[v]) : sums[v]);
        } else {
            float values[V::kLanes];
            V::store(values, sums[v]);
            for (int i = 0; i < count; ++i) {
                float& element = c[i * to.columnStep];
                element = to.accumulate ? element + values[i] : values[i];
            }
        }
    }
}

/// Rows x Vectors of c over one block.
template <class V, int Rows, int Vectors, bool TransposedA>
void multiplyTile(const float* a, int64_t lda, const PanelBlock& block, const Destination& to) {
    using Type = typename V::Type;
    const int64_t rowStep = TransposedA ? 1 : lda, depthStep = TransposedA ? lda : 1;
    Type sums[size_t{Rows}][size_t{Vectors}];
    for (int r = 0; r < Rows; ++r)
        for (int v = 0; v < Vectors; ++v)
            sums[r][v] = V::zero();
    const float* b = block.b;
    for (int64_t k = 0; k < block.depth; ++k, b += block.step, a += depthStep) {
        Type row[size_t{Vectors}];
        for (int v = 0; v < Vectors; ++v)
            row[v] = V::load(b + v * V::kLanes);
        for (int r = 0; r < Rows; ++r) {
            const Type x = V::broadcast(a[r * rowStep]);
            for (int v = 0; v < Vectors; ++v)
                sums[r][v] = V::fusedMultiplyAdd(x, row[v], sums[r][v]);
        }
    }
    for (int r = 0; r < Rows; ++r) {
        Destination row = to;
        row.c += r * to.rowStep;
        storeRow<V>(sums[r], Vectors, block.tail, row);
    }
}

/// All rows: tiles of Rows, what is left in halves.
template <class V, int Rows, int Vectors, bool TransposedA>
void multiplyRows(const float* a, int64_t lda, int64_t rows, const PanelBlock& block,
                  Destination to) {
    const int64_t rowStep = TransposedA ? 1 : lda;
    while (rows >= Rows) {
        multiplyTile<V, Rows, Vectors, TransposedA>(a, lda, block, to);
        a += Rows * rowStep;
        to.c += Rows * to.rowStep;
        rows -= Rows;
    }
    if constexpr (Rows > 1)
        multiplyRows<V, Rows / 2, Vectors, TransposedA>(a, lda, rows, block, to);
}

template <class V, int Vectors>
void multiplyPanel(const GemmShape& s, const float* a, const PanelBlock& block,
                   const Destination& to) {
    constexpr int kRows = V::kRows[Vectors - 1];
    if (s.transposeA)
        multiplyRows<V, kRows, Vectors, true>(a, s.lda, s.m, block, to);
    else
        multiplyRows<V, kRows, Vectors, false>(a, s.lda, s.m, block, to);
}

/// to[k][i] = from[i][k]: 4 x 4 blocks in registers. Columns of `to` from `count` to `width` are 0.
inline void transposePanel(const float* from, int64_t ld, int64_t count, int64_t depth, float* to,
                           int64_t width) {
    using Four = float __attribute__((vector_size(16)));
    const int64_t whole = count / 4 * 4, deep = depth / 4 * 4;
    for (int64_t i = 0; i < whole; i += 4) {
        for (int64_t k = 0; k < deep; k += 4) {
            Four r[4];
            for (int j = 0; j < 4; ++j)
                __builtin_memcpy(&r[j], from + (i + j) * ld + k, sizeof r[j]);
            const Four low01 = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5),
                       high01 = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7),
                       low23 = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5),
                       high23 = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
            r[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
            r[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
            r[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
            r[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
            for (int j = 0; j < 4; ++j)
                __builtin_memcpy(to + (k + j) * width + i, &r[j], sizeof r[j]);
        }
        for (int64_t k = deep; k < depth; ++k)
            for (int64_t j = i; j < i + 4; ++j)
                to[k * width + j] = from[j * ld + k];
    }
    for (int64_t k = 0; k < depth; ++k) {
        for (int64_t j = whole; j < count; ++j)
            to[k * width + j] = from[j * ld + k];
        for (int64_t j = count; j < width; ++j)
            to[k * width + j] = 0;
    }
}

/// to[k][i] = from[k][i] for `count` columns, more than all vectors but the last hold, then zeros.
template <class V>
void copyPanel(const float* from, int64_t ld, int64_t count, int64_t depth, float* to,
               int64_t width) {
    const int64_t last = width - V::kLanes;
    for (int64_t k = 0; k < depth; ++k, from += ld, to += width) {
        for (int64_t i = 0; i < last; i += V::kLanes)
            V::store(to + i, V::load(from + i));
        V::store(to + last, V::loadPart(from + last, static_cast<int>(count - last)));
    }
}

template <class V>
void multiplyBlock(const GemmShape& s, const float* a, const float* b, int64_t depth,
                   Destination to) {
    alignas(64) float panel[kSmallGemmDepth * kPanelVectors * V::kLanes];
    constexpr int64_t kColumns = kPanelVectors * V::kLanes;
    for (int64_t column = 0; column < s.n; column += kColumns) {
        const int64_t count = s.n - column < kColumns ? s.n - column : kColumns;
        const bool one = count <= V::kLanes;
        PanelBlock block{b + column, s.ldb, depth,
                         static_cast<int>(one ? count : count - V::kLanes)};
        if (s.transposeB || block.tail != V::kLanes) {
            block.b = panel;
            block.step = one ? V::kLanes : kColumns;
            if (s.transposeB)
                transposePanel(b + column * s.ldb, s.ldb, count, depth, panel, block.step);
            else
                copyPanel<V>(b + column, s.ldb, count, depth, panel, block.step);
        }
        if (one)
            multiplyPanel<V, 1>(s, a, block, to);
        else
            multiplyPanel<V, 2>(s, a, block, to);
        to.c += kColumns * to.columnStep;
    }
}

template <class V>
void multiply(GemmShape s, const float* a, const float* b, float* c) {
    Destination to{c, s.ldc, 1, s.accumulate};
    // A narrow result fills few lanes, transposed it fills them.
    if (s.n < s.m && (s.n == 1 || (s.transposeA && s.n * 2 <= V::kLanes))) {
        const float* swapped = a;
        a = b;
        b = swapped;
        s = {s.n, s.m, s.k, !s.transposeB, !s.transposeA, s.ldb, s.lda, s.ldc, s.accumulate};
        to.rowStep = 1;
        to.columnStep = s.ldc;
    }
    int64_t k = 0;
    do { // once at least: a product over nothing is 0
        const int64_t depth = s.k - k < kSmallGemmDepth ? s.k - k : kSmallGemmDepth;
        multiplyBlock<V>(s, a + (s.transposeA ? k * s.lda : k), b + (s.transposeB ? k : k * s.ldb),
                         depth, to);
        to.accumulate = true;
        k += kSmallGemmDepth;
    } while (k < s.k);
}

} // namespace
} // namespace halfscope
