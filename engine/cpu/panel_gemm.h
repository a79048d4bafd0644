// The f32 product of a long matrix and a matrix that is packed once, for processors with AVX2 or
// AVX-512; both give the same bits.
// A library packs both operands in every call. Here the rows of `a` are read in place, so that a
// few rows at a time are as fast as many, and what they need stays in L2 (row_chain.h).
#pragma once

#include "engine/core/vector_set.h"

#include <cstddef>
#include <cstdint>

namespace halfscope {

/// Inner indices of one partial sum: a panel of them and the rows that meet it fill most of L1. An
/// element is computed as c = c + s over the blocks, where s = fma(a[k], b[k], s) from s = 0 in
/// ascending k.
inline constexpr int64_t kPanelDepth = 256;
inline constexpr int64_t kPanelColumns = 32; ///< a panel's width: two vectors of AVX-512

/// Returns the floats of b (k, n) when packed: the blocks of the inner axis, each a row of panels.
size_t panelFloats(int64_t k, int64_t n);
/// Returns where the panel begins for inner indices from `first` on, a multiple of the blocks'
/// depth, and for columns from `column` on, a multiple of kPanelColumns.
size_t panelOffset(int64_t k, int64_t n, int64_t first, int64_t column,
                   int64_t depth = kPanelDepth);
/// Packs one panel of the given depth and columns in the set's order; b[i][j] is at
/// b[i * rowStep + j * columnStep], and one of the steps is 1. Columns that one tile of the kernel
/// takes lie together: as a part of longer rows they would share half of AVX2's L1.
void packPanel(VectorSet, const float* b, int64_t rowStep, int64_t columnStep, int64_t depth,
               int64_t columns, float* panel);
inline constexpr int64_t kAvx2TileColumns = 16; ///< for other sets it is kPanelColumns

/// The product c (m, n) = op(a) (m, k) b + (accumulate ? c : 0), row-major, leading dimensions in
/// floats, on the calling thread; a is (k, m) when it is transposed. The panels are packed for the
/// set.
struct PanelShape {
    int64_t m = 0, n = 0, k = 0;
    int64_t lda = 0, ldc = 0;
    bool transposeA = false, accumulate = false;
};
void multiplyPanels(VectorSet, const PanelShape&, const float* a, const float* panels, float* c);
/// Whether multiplyPanels supports the set in this program on this processor; never for Portable.
bool hasPanelGemm(VectorSet);

// One for each compiled file.
void multiplyPanelsAvx2(const PanelShape&, const float* a, const float* panels, float* c);
void multiplyPanelsAvx512(const PanelShape&, const float* a, const float* panels, float* c);

} // namespace halfscope
