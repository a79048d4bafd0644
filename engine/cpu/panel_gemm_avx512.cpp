// The product by packed panels for processors with AVX-512.
#include "engine/cpu/panel_gemm_kernel.h"

#if defined(__AVX512F__)
// GCC 12 warns of the values that its own header leaves open on purpose (GCC bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

namespace halfscope {
namespace {

struct Avx512 {
    using Element = float;
    using Type = __m512;
    static constexpr int64_t kDepth = kPanelDepth;
    static constexpr int64_t kLanes = 16;
    static constexpr int kRows = 12; ///< 24 of 32 registers hold sums

    static Type zero() { return _mm512_setzero_ps(); }
    static Type broadcast(float x) { return _mm512_set1_ps(x); }
    static Type multiplyAdd(Type a, Type b, Type c) { return _mm512_fmadd_ps(a, b, c); }
    static Type add(Type a, Type b) { return _mm512_add_ps(a, b); }
    static Type loadPanel(const float* from) { return _mm512_loadu_ps(from); }
    static Type load(const float* from) { return _mm512_loadu_ps(from); }
    static void store(float* to, Type x) { _mm512_storeu_ps(to, x); }
    static __mmask16 first(int count) { return static_cast<__mmask16>((1U << count) - 1); }
    static Type loadPart(const float* from, __mmask16 part) {
        return _mm512_maskz_loadu_ps(part, from);
    }
    static void storePart(float* to, __mmask16 part, Type x) { _mm512_mask_storeu_ps(to, part, x); }
};

} // namespace

void multiplyPanelsAvx512(const PanelShape& s, const float* a, const float* panels, float* c) {
    multiply<Avx512>(s, a, panels, c);
}

} // namespace halfscope
#endif
