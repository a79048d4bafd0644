// The product of pairs of bfloat16 for processors with AVX-512 and its instruction for them.
#include "engine/cpu/pair_gemm.h"
#include "engine/cpu/panel_gemm_kernel.h"

#if defined(__AVX512BF16__)
#include "engine/cpu/panel_vectors_avx512.h"

namespace halfscope {
namespace {

struct Avx512Bf16 : Avx512Sums {
    using Element = uint32_t;
    static constexpr int64_t kDepth = kPairDepth;

    static __m512i broadcast(uint32_t pair) { return _mm512_set1_epi32(static_cast<int>(pair)); }
    static Type multiplyAdd(__m512i a, __m512i b, Type c) {
        return _mm512_dpbf16_ps(c, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
    }
    static __m512i loadPanel(const uint32_t* from) { return _mm512_loadu_si512(from); }
};

} // namespace

void multiplyPairsAvx512(const PanelShape& s, const uint32_t* a, const uint32_t* panels, float* c) {
    multiply<Avx512Bf16>(s, a, panels, c);
}

} // namespace halfscope
#endif
