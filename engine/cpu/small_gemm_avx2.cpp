// The small matrix product for processors with AVX2 and FMA.
#include "engine/cpu/small_gemm_kernel.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

namespace halfscope {
namespace {

struct Avx2 {
    using Type = __m256d;
    static constexpr int kLanes = 4;
    static constexpr int kRows[kPanelVectors] = {8, 6, 4, 2}; ///< of 16 registers up to 12 for sums

    static Type zero() { return _mm256_setzero_pd(); }
    static Type broadcast(float x) { return _mm256_cvtps_pd(_mm_set1_ps(x)); }
    static Type multiplyAdd(Type a, Type b, Type c) { return _mm256_fmadd_pd(a, b, c); }
    static Type load(const double* from) { return _mm256_loadu_pd(from); }
    static void store(double* to, Type x) { _mm256_storeu_pd(to, x); }
    static Type widen(const float* from) { return _mm256_cvtps_pd(_mm_loadu_ps(from)); }
    static __m128i first(int count) {
        return _mm_cmpgt_epi32(_mm_set1_epi32(count), _mm_setr_epi32(0, 1, 2, 3));
    }
    static void copyPart(const float* from, int count, float* to) {
        _mm_storeu_ps(to, _mm_maskload_ps(from, first(count)));
    }
    static void round(float* to, Type x) { _mm_storeu_ps(to, _mm256_cvtpd_ps(x)); }
    static void roundPart(float* to, int count, Type x) {
        _mm_maskstore_ps(to, first(count), _mm256_cvtpd_ps(x));
    }
};

} // namespace

void smallGemmAvx2(const GemmShape& s, const float* a, const float* b, float* c) {
    multiply<Avx2>(s, a, b, c);
}

} // namespace halfscope
#endif
