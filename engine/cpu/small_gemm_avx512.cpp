// The small matrix product for processors with AVX-512.
#include "engine/cpu/small_gemm_kernel.h"

#if defined(__AVX512F__)
// GCC 12 warns of the values that its own header leaves open on purpose (GCC bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

namespace halfscope {
namespace {

struct Avx512 {
    using Type = __m512;
    static constexpr int kLanes = 16;
    static constexpr int kRows[kPanelVectors] = {16, 8}; ///< of 32 registers 8 or 16 for the sums

    static Type zero() { return _mm512_setzero_ps(); }
    static Type broadcast(float x) { return _mm512_set1_ps(x); }
    static Type add(Type a, Type b) { return _mm512_add_ps(a, b); }
    static Type fusedMultiplyAdd(Type a, Type b, Type c) { return _mm512_fmadd_ps(a, b, c); }
    static Type load(const float* from) { return _mm512_loadu_ps(from); }
    static void store(float* to, Type x) { _mm512_storeu_ps(to, x); }
    static __mmask16 first(int count) { return static_cast<__mmask16>((1U << count) - 1); }
    static Type loadPart(const float* from, int count) {
        return _mm512_maskz_loadu_ps(first(count), from);
    }
    static void storePart(float* to, int count, Type x) {
        _mm512_mask_storeu_ps(to, first(count), x);
    }
};

} // namespace

void smallGemmAvx512(const GemmShape& s, const float* a, const float* b, float* c) {
    multiply<Avx512>(s, a, b, c);
}

} // namespace halfscope
#endif
