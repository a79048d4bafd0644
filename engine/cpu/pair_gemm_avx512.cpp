// The product of pairs of bfloat16 for processors with AVX-512 and its instruction for them.
#include "engine/cpu/pair_gemm.h"
#include "engine/cpu/panel_gemm_kernel.h"

#if defined(__AVX512BF16__)
// GCC 12 warns of the values that its own header leaves open on purpose (GCC bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

namespace halfscope {
namespace {

struct Avx512Bf16 {
    using Element = uint32_t;
    using Type = __m512;
    static constexpr int64_t kDepth = kPairDepth;
    static constexpr int64_t kLanes = 16;
    static constexpr int kRows = 12; ///< 24 of 32 registers hold sums

    static Type zero() { return _mm512_setzero_ps(); }
    static __m512i broadcast(uint32_t pair) { return _mm512_set1_epi32(static_cast<int>(pair)); }
    static Type multiplyAdd(__m512i a, __m512i b, Type c) {
        return _mm512_dpbf16_ps(c, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
    }
    static Type add(Type a, Type b) { return _mm512_add_ps(a, b); }
    static __m512i loadPanel(const uint32_t* from) { return _mm512_loadu_si512(from); }
    static Type load(const float* from) { return _mm512_loadu_ps(from); }
    static void store(float* to, Type x) { _mm512_storeu_ps(to, x); }
    static __mmask16 first(int count) { return static_cast<__mmask16>((1U << count) - 1); }
    static Type loadPart(const float* from, __mmask16 part) {
        return _mm512_maskz_loadu_ps(part, from);
    }
    static void storePart(float* to, __mmask16 part, Type x) { _mm512_mask_storeu_ps(to, part, x); }
};

} // namespace

void multiplyPairsAvx512(const PanelShape& s, const uint32_t* a, const uint32_t* panels, float* c) {
    multiply<Avx512Bf16>(s, a, panels, c);
}

} // namespace halfscope
#endif
