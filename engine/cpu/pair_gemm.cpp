// How pairs are laid out in memory, and the product for values that the instruction does not keep.
#include "engine/cpu/pair_gemm.h"

#include "engine/core/error.h"
#include "engine/core/vector_clones.h"
#include "engine/cpu/tile_gemm.h"
#include "engine/cpu/transpose_block.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace halfscope {

namespace {

/// Puts the first value into the upper half, whose product the instruction adds first.
uint32_t pairOf(uint16_t first, uint16_t second) {
    return static_cast<uint32_t>(first) << 16 | second;
}

constexpr int64_t kChunk = 4096; // words that are examined at once

HALFSCOPE_VECTOR void packRow(const uint16_t* from, int64_t pairs, uint32_t* to) {
    HALFSCOPE_INDEPENDENT
    for (int64_t i = 0; i < pairs; ++i) {
        uint32_t both = 0;
        std::memcpy(&both, from + 2 * i, sizeof both);
        to[i] = std::rotl(both, 16); // little-endian: the first value is the lower half
    }
}

/// Writes to[i * ldTo + j] = (a[2i][j], a[2i + 1][j]).
HALFSCOPE_VECTOR void interleave(const uint16_t* a, int64_t ld, int64_t pairs, int64_t columns,
                                 uint32_t* to, int64_t ldTo) {
    for (int64_t i = 0; i < pairs; ++i, a += 2 * ld, to += ldTo) {
        HALFSCOPE_INDEPENDENT
        for (int64_t j = 0; j < columns; ++j)
            to[j] = static_cast<uint32_t>(a[j]) << 16 | a[ld + j];
    }
}

/// Does the same, with a row of zeros behind the last one when the depth is odd.
void interleaveAll(const uint16_t* a, int64_t ld, int64_t depth, int64_t columns, uint32_t* to,
                   int64_t ldTo) {
    interleave(a, ld, depth / 2, columns, to, ldTo);
    if (depth % 2 != 0)
        for (int64_t j = 0; j < columns; ++j)
            to[depth / 2 * ldTo + j] = pairOf(a[(depth - 1) * ld + j], 0);
}

float firstOf(uint32_t pair) { return std::bit_cast<float>(pair & 0xFFFF0000U); }
float secondOf(uint32_t pair) { return std::bit_cast<float>(pair << 16); }

} // namespace

HALFSCOPE_VECTOR Exponents exponentsOf(const void* values, int64_t count) {
    uint32_t least = 0xFFFF, greatest = 0; // `least`: of magnitudes minus one, zero is the greatest
    uint16_t words[kChunk];
    for (int64_t first = 0; first < count; first += kChunk) {
        const int64_t part = std::min(kChunk, count - first);
        std::memcpy(words, static_cast<const std::byte*>(values) + 2 * first,
                    static_cast<size_t>(2 * part));
        uint16_t low = 0xFFFF, high = 0;
        for (int64_t i = 0; i < part; ++i) {
            const auto magnitude = static_cast<uint16_t>(words[i] & 0x7FFFU);
            const auto word = static_cast<uint16_t>(magnitude - 1U);
            low = word < low ? word : low;
            high = magnitude > high ? magnitude : high;
        }
        least = low < least ? low : least;
        greatest = high > greatest ? high : greatest;
    }
    return {static_cast<int>((least + 1) >> 7), static_cast<int>(greatest >> 7)};
}

int packPairs(const uint16_t* a, int64_t ld, int64_t rows, int64_t depth, uint32_t* to) {
    const int64_t pairs = pairsOf(depth);
    if (ld == depth && depth % 2 == 0) {
        packRow(a, rows * pairs, to);
    } else {
        for (int64_t r = 0; r < rows; ++r) {
            packRow(a + r * ld, depth / 2, to + r * pairs);
            if (depth % 2 != 0) to[r * pairs + depth / 2] = pairOf(a[r * ld + depth - 1], 0);
        }
    }
    return exponentsOf(to, 2 * rows * pairs).least;
}

int interleavePairs(const uint16_t* a, int64_t ld, int64_t depth, int64_t columns, uint32_t* to) {
    interleaveAll(a, ld, depth, columns, to, columns);
    return exponentsOf(to, 2 * pairsOf(depth) * columns).least;
}

int packPairPanel(const uint16_t* b, int64_t ld, bool transposed, int64_t depth, int64_t columns,
                  uint32_t* panel) {
    const int64_t pairs = pairsOf(depth);
    if (columns < kPanelColumns) std::fill_n(panel, pairs * kPanelColumns, 0U);
    if (transposed) {
        uint32_t rows[kPanelColumns * kPairDepth];
        const int least = packPairs(b, ld, columns, depth, rows);
        transpose(rows, pairs, pairs, columns, panel, kPanelColumns);
        return least;
    }
    interleaveAll(b, ld, depth, columns, panel, kPanelColumns);
    return exponentsOf(panel, 2 * pairs * kPanelColumns).least;
}

void multiplyPairsWidened(VectorSet set, const PanelShape& s, const uint32_t* a,
                          const uint32_t* panels, float* c) {
    constexpr int64_t kRows = 12; // what a kernel takes together
    require(s.k <= kPairDepth, "multiplyPairsWidened: more than a block");
    float wide[kPanelDepth * kPanelColumns], panel[kPanelDepth * kPanelColumns],
        rows[kRows * kPanelDepth];
    const int64_t depth = 2 * s.k;
    for (int64_t column = 0; column < s.n; column += kPanelColumns) {
        const uint32_t* pairs = panels + panelOffset(s.k, s.n, 0, column, kPairDepth);
        for (int64_t i = 0; i < s.k; ++i)
            for (int64_t j = 0; j < kPanelColumns; ++j) {
                wide[2 * i * kPanelColumns + j] = firstOf(pairs[i * kPanelColumns + j]);
                wide[(2 * i + 1) * kPanelColumns + j] = secondOf(pairs[i * kPanelColumns + j]);
            }
        packPanel(set, wide, kPanelColumns, 1, depth, kPanelColumns, panel);
        for (int64_t row = 0; row < s.m; row += kRows) {
            const int64_t count = std::min(kRows, s.m - row);
            for (int64_t r = 0; r < count; ++r)
                for (int64_t i = 0; i < s.k; ++i) {
                    const uint32_t pair =
                        s.transposeA ? a[i * s.lda + row + r] : a[(row + r) * s.lda + i];
                    rows[r * depth + 2 * i] = firstOf(pair);
                    rows[r * depth + 2 * i + 1] = secondOf(pair);
                }
            multiplyPanels(set,
                           {.m = count,
                            .n = std::min(kPanelColumns, s.n - column),
                            .k = depth,
                            .lda = depth,
                            .ldc = s.ldc,
                            .accumulate = s.accumulate},
                           rows, panel, c + row * s.ldc + column);
        }
    }
}

void multiplyPairBlock(const PanelShape& shape, const uint32_t* a, int leastOfA,
                       const uint32_t* panels, int leastOfPanels, float* c) {
    if (staysNormal(leastOfA, leastOfPanels))
        multiplyPairs(usedVectorSet(), shape, a, panels, c);
    else
        multiplyPairsWidened(usedVectorSet(), shape, a, panels, c);
}

bool hasPairGemm(VectorSet set) {
#if defined(HALFSCOPE_X86_GEMM)
    return set >= VectorSet::Avx512Bf16 && hasVectorSet(set);
#else
    static_cast<void>(set);
    return false;
#endif
}

void multiplyPairs(VectorSet set, const PanelShape& s, const uint32_t* a, const uint32_t* panels,
                   float* c) {
#if defined(HALFSCOPE_X86_GEMM)
    if (set >= VectorSet::Amx && hasTileGemm())
        multiplyTiles(s, a, panels, c);
    else
        multiplyPairsAvx512(s, a, panels, c);
#else
    static_cast<void>(set);
    failInvariant("multiplyPairs: not in this program");
#endif
}

} // namespace halfscope
