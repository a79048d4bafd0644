// The sums of a kernel of panel_gemm_kernel.h as vectors of AVX-512, and operands of floats, for
// the files that are compiled for it.
#pragma once

// GCC 12 warns of values that its own header leaves uninitialised on purpose (GCC bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include "engine/cpu/panel_gemm.h"

#include <cstdint>

namespace halfscope {
namespace {

struct Avx512Sums {
    using Type = __m512;
    static constexpr int64_t kLanes = 16;
    static constexpr int kRows = 12; ///< 24 of 32 registers hold sums

    static Type zero() { return _mm512_setzero_ps(); }
    static Type add(Type a, Type b) { return _mm512_add_ps(a, b); }
    static Type load(const float* from) { return _mm512_loadu_ps(from); }
    static void store(float* to, Type x) { _mm512_storeu_ps(to, x); }
    static __mmask16 first(int count) { return static_cast<__mmask16>((1U << count) - 1); }
    static Type loadPart(const float* from, __mmask16 part) {
        return _mm512_maskz_loadu_ps(part, from);
    }
    static void storePart(float* to, __mmask16 part, Type x) { _mm512_mask_storeu_ps(to, part, x); }
};

struct Avx512Floats : Avx512Sums {
    using Element = float;
    static constexpr int64_t kDepth = kPanelDepth;

    static Type broadcast(float x) { return _mm512_set1_ps(x); }
    static Type multiplyAdd(Type a, Type b, Type c) { return _mm512_fmadd_ps(a, b, c); }
    static Type loadPanel(const float* from) { return load(from); }
};

} // namespace
} // namespace halfscope
