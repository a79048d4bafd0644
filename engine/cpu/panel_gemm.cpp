// How panels are laid out in memory, and the choice of the kernel.
#include "engine/cpu/panel_gemm.h"

#include "engine/core/error.h"

#include <algorithm>

namespace halfscope {

namespace {

int64_t wholePanels(int64_t n) { return (n + kPanelColumns - 1) / kPanelColumns * kPanelColumns; }

} // namespace

size_t panelFloats(int64_t k, int64_t n) { return static_cast<size_t>(k * wholePanels(n)); }

size_t panelOffset(int64_t k, int64_t n, int64_t first, int64_t column, int64_t depth) {
    return static_cast<size_t>(first * wholePanels(n) + column * std::min(depth, k - first));
}

void packPanel(const float* b, int64_t rowStep, int64_t columnStep, int64_t depth, int64_t columns,
               float* panel) {
    if (columnStep == 1 && columns == kPanelColumns) { // this case is several times as fast
        for (int64_t i = 0; i < depth; ++i)
            std::copy_n(b + i * rowStep, kPanelColumns, panel + i * kPanelColumns);
        return;
    }
    for (int64_t i = 0; i < depth; ++i)
        for (int64_t j = 0; j < kPanelColumns; ++j)
            panel[i * kPanelColumns + j] = j < columns ? b[i * rowStep + j * columnStep] : 0.0f;
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
