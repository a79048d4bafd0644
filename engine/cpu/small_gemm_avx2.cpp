// The small matrix product for processors with AVX2 and FMA.
#include "engine/cpu/small_gemm_kernel.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

namespace halfscope {
namespace {

struct Avx2 {
    using Type = __m256;
    static constexpr int kLanes = 8;
    static constexpr int kRows[kPanelVectors] = {8, 6}; ///< of 16 registers 8 or 12 for the sums

    static Type zero() { return _mm256_setzero_ps(); }
    static Type broadcast(float x) { return _mm256_set1_ps(x); }
    static Type add(Type a, Type b) { return _mm256_add_ps(a, b); }
    static Type fusedMultiplyAdd(Type a, Type b, Type c) { return _mm256_fmadd_ps(a, b, c); }
    static Type load(const float* from) { return _mm256_loadu_ps(from); }
    static void store(float* to, Type x) { _mm256_storeu_ps(to, x); }
    static __m256i first(int count) {
        return _mm256_cmpgt_epi32(_mm256_set1_epi32(count),
                                  _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    }
    static Type loadPart(const float* from, int count) {
        return _mm256_maskload_ps(from, first(count));
    }
    static void storePart(float* to, int count, Type x) {
        _mm256_maskstore_ps(to, first(count), x);
    }
};

} // namespace

void smallGemmAvx2(const GemmShape& s, const float* a, const float* b, float* c) {
    multiply<Avx2>(s, a, b, c);
}

} // namespace halfscope
#endif
