// How panels are laid out in memory, and the choice of the kernel.
#include "engine/cpu/panel_gemm.h"

#include "engine/core/error.h"
#include "engine/cpu/transpose_block.h"

#include <algorithm>

namespace halfscope {

namespace {

int64_t wholePanels(int64_t n) { return (n + kPanelColumns - 1) / kPanelColumns * kPanelColumns; }

/// Packs the columns of a tile, with zeros behind them.
template <int64_t Width>
void packTile(const float* b, int64_t rowStep, int64_t columnStep, int64_t depth, int64_t columns,
              float* to) {
    if (columnStep == 1 && columns == Width) { // this case is several times as fast
        for (int64_t i = 0; i < depth; ++i)
            std::copy_n(b + i * rowStep, Width, to + i * Width);
        return;
    }
    if (columns < Width) std::fill_n(to, depth * Width, 0.0F);
    if (rowStep == 1)
        transpose(b, columnStep, depth, columns, to, Width);
    else
        for (int64_t i = 0; i < depth; ++i)
            std::copy_n(b + i * rowStep, columns, to + i * Width);
}

} // namespace

size_t panelFloats(int64_t k, int64_t n) { return static_cast<size_t>(k * wholePanels(n)); }

size_t panelOffset(int64_t k, int64_t n, int64_t first, int64_t column, int64_t depth) {
    return static_cast<size_t>(first * wholePanels(n) + column * std::min(depth, k - first));
}

void packPanel(VectorSet set, const float* b, int64_t rowStep, int64_t columnStep, int64_t depth,
               int64_t columns, float* panel) {
    if (set != VectorSet::Avx2) {
        packTile<kPanelColumns>(b, rowStep, columnStep, depth, columns, panel);
        return;
    }
    for (int64_t column = 0; column < kPanelColumns; column += kAvx2TileColumns)
        packTile<kAvx2TileColumns>(b + column * columnStep, rowStep, columnStep, depth,
                                   std::clamp<int64_t>(columns - column, 0, kAvx2TileColumns),
                                   panel + column * depth);
}

bool hasPanelGemm(VectorSet set) {
#if defined(HALFSCOPE_X86_GEMM)
    return set != VectorSet::Portable && hasVectorSet(set);
#else
    static_cast<void>(set);
    return false;
#endif
}

void multiplyPanels(VectorSet set, const PanelShape& s, const float* a, const float* panels,
                    float* c) {
    switch (set) {
#if defined(HALFSCOPE_X86_GEMM)
    case VectorSet::Avx2: return multiplyPanelsAvx2(s, a, panels, c);
    case VectorSet::Avx512:
    case VectorSet::Avx512Bf16:
    case VectorSet::Amx: return multiplyPanelsAvx512(s, a, panels, c);
#endif
    default: failInvariant("multiplyPanels: this set is not in the program");
    }
}

} // namespace halfscope
