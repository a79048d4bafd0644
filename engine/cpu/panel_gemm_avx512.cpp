// The product by packed panels for processors with AVX-512.
#include "engine/cpu/panel_gemm_kernel.h"

#if defined(__AVX512F__)
#include "engine/cpu/panel_vectors_avx512.h"

namespace halfscope {
namespace {

struct Avx512 : Avx512Sums {
    using Element = float;
    static constexpr int64_t kDepth = kPanelDepth;

    static Type broadcast(float x) { return _mm512_set1_ps(x); }
    static Type multiplyAdd(Type a, Type b, Type c) { return _mm512_fmadd_ps(a, b, c); }
    static Type loadPanel(const float* from) { return load(from); }
};

} // namespace

void multiplyPanelsAvx512(const PanelShape& s, const float* a, const float* panels, float* c) {
    multiply<Avx512>(s, a, panels, c);
}

} // namespace halfscope
#endif
