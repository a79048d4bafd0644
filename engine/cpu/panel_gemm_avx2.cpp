// The product by packed panels for processors with AVX2 and FMA.
#include "engine/cpu/panel_gemm_kernel.h"

#if defined(__AVX2__) && defined(__FMA__)
#include "engine/cpu/panel_vectors_avx2.h"

namespace halfscope {

void multiplyPanelsAvx2(const PanelShape& s, const float* a, const float* panels, float* c) {
    multiply<Avx2Floats>(s, a, panels, c);
}

} // namespace halfscope
#endif
