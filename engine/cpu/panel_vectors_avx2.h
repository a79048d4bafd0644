// Floats in vectors of AVX2 and FMA, for the files that are compiled for it.
#pragma once

#include "engine/cpu/panel_gemm.h"

#include <immintrin.h>

namespace halfscope {
namespace {

struct Avx2Floats {
    using Element = float;
    using Type = __m256;
    static constexpr int64_t kDepth = kPanelDepth;
    static constexpr int64_t kLanes = 8;
    static constexpr int kRows = 6; ///< 12 of 16 registers hold sums
    static_assert(2 * kLanes == kAvx2TileColumns);

    static Type zero() { return _mm256_setzero_ps(); }
    static Type broadcast(float x) { return _mm256_set1_ps(x); }
    static Type multiplyAdd(Type a, Type b, Type c) { return _mm256_fmadd_ps(a, b, c); }
    static Type add(Type a, Type b) { return _mm256_add_ps(a, b); }
    static Type loadPanel(const float* from) { return _mm256_loadu_ps(from); }
    static Type load(const float* from) { return _mm256_loadu_ps(from); }
    static void store(float* to, Type x) { _mm256_storeu_ps(to, x); }
    static __m256i first(int count) {
        return _mm256_cmpgt_epi32(_mm256_set1_epi32(count),
                                  _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    }
    static Type loadPart(const float* from, __m256i part) { return _mm256_maskload_ps(from, part); }
    static void storePart(float* to, __m256i part, Type x) { _mm256_maskstore_ps(to, part, x); }
};

} // namespace
} // namespace halfscope
