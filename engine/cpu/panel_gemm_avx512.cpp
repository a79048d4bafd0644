// The product by packed panels for processors with AVX-512.
#include "engine/cpu/panel_gemm_kernel.h"

#if defined(__AVX512F__)
#include "engine/cpu/panel_vectors_avx512.h"

namespace halfscope {

void multiplyPanelsAvx512(const PanelShape& s, const float* a, const float* panels, float* c) {
    multiply<Avx512Floats>(s, a, panels, c);
}

} // namespace halfscope
#endif
