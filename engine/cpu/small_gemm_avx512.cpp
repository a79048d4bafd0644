// The small matrix product for processors with AVX-512.
#include "engine/cpu/small_gemm_kernel.h"

#if defined(__AVX512F__)
// GCC 12 warns of values that its own header leaves uninitialised on purpose (GCC bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

namespace halfscope {
namespace {

struct Avx512 {
    using Type = __m512d;
    static constexpr int kLanes = 8;
    static constexpr int kRows[kPanelVectors] = {16, 8, 8,
                                                 6}; ///< of 32 registers up to 24 for sums

    static Type zero() { return _mm512_setzero_pd(); }
    static Type broadcast(float x) { return _mm512_cvtps_pd(_mm256_set1_ps(x)); }
    static Type multiplyAdd(Type a, Type b, Type c) { return _mm512_fmadd_pd(a, b, c); }
    static Type load(const double* from) { return _mm512_loadu_pd(from); }
    static void store(double* to, Type x) { _mm512_storeu_pd(to, x); }
    static Type widen(const float* from) { return _mm512_cvtps_pd(_mm256_loadu_ps(from)); }
    static __mmask16 first(int count) { return static_cast<__mmask16>((1U << count) - 1); }
    static void copyPart(const float* from, int count, float* to) {
        const __m512 floats = _mm512_maskz_loadu_ps(first(count), from);
        _mm256_storeu_ps(to, _mm512_castps512_ps256(floats));
    }
    static void round(float* to, Type x) { _mm256_storeu_ps(to, _mm512_cvtpd_ps(x)); }
    static void roundPart(float* to, int count, Type x) {
        _mm512_mask_storeu_ps(to, first(count), _mm512_castps256_ps512(_mm512_cvtpd_ps(x)));
    }
};

} // namespace

void smallGemmAvx512(const GemmShape& s, const float* a, const float* b, float* c) {
    multiply<Avx512>(s, a, b, c);
}

} // namespace halfscope
#endif
