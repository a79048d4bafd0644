// The block conversions: portable loops that compilers vectorise, F16C with AVX2, and AVX-512. All
// give the bits of the scalar conversions of dtype.h.
#include "engine/core/dtype_blocks.h"

#include <bit>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#define HALFSCOPE_X86 1
// GCC 12 warns about values that its own header leaves open on purpose (GCC bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#else
#define HALFSCOPE_X86 0
#endif

namespace halfscope {
namespace {

// One element without branches: the loops below become vector code for any instruction set, and are
// inlined into the functions that name one.
#define HALFSCOPE_INLINE [[gnu::always_inline]] inline

// Uses masks: compilers keep a branch around a float operation that only one side of ?: needs.
HALFSCOPE_INLINE uint32_t select(bool condition, uint32_t yes, uint32_t no) {
    const uint32_t mask = 0U - static_cast<uint32_t>(condition);
    return (yes & mask) | (no & ~mask);
}

HALFSCOPE_INLINE uint32_t halfBits(float x) {
    const auto bits = std::bit_cast<uint32_t>(x);
    const uint32_t sign = (bits >> 16) & 0x8000U;
    const uint32_t magnitude = bits & 0x7FFFFFFFU;
    // Nearest even at bit 13, with the exponent moved from bias 127 to 15 (112 << 23).
    const uint32_t normal = (magnitude + 0xFFFU + ((magnitude >> 13) & 1U) - 0x38000000U) >> 13;
    // Below 2^-14: floats in [0.5, 1) are 2^-24 apart, so the addition rounds to a subnormal half.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    const uint32_t subnormal = std::bit_cast<uint32_t>(shifted) - 0x3F000000U;
    const uint32_t nan = 0x7E00U | ((magnitude >> 13) & 0x3FFU);
    uint32_t result = select(magnitude < 0x38800000U, subnormal, normal);
    result = select(magnitude >= 0x477FF000U, 0x7C00U, result); // 65520 and above
    return sign | select(magnitude > 0x7F800000U, nan, result);
}

HALFSCOPE_INLINE float halfValue(uint32_t half) {
    const uint32_t sign = (half & 0x8000U) << 16;
    const uint32_t magnitude = half & 0x7FFFU;
    const uint32_t normal = (magnitude << 13) + 0x38000000U;
    const auto subnormal =
        std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24F);
    const uint32_t quiet = select(magnitude > 0x7C00U, 0x400000U, 0U);
    const uint32_t special = 0x7F800000U | (magnitude << 13) | quiet;
    const uint32_t result = select(magnitude < 0x400U, subnormal, normal);
    return std::bit_cast<float>(sign | select(magnitude >= 0x7C00U, special, result));
}

// Returns the bfloat16 bits in the upper half of the word; the lower half is not yet cleared.
HALFSCOPE_INLINE uint32_t bfloat16Word(float x) {
    const auto bits = std::bit_cast<uint32_t>(x);
    const uint32_t rounded = bits + 0x7FFFU + ((bits >> 16) & 1U);
    return select((bits & 0x7FFFFFFFU) > 0x7F800000U, bits | 0x400000U, rounded);
}

// memcpy, because storage need not be aligned. It costs nothing.
HALFSCOPE_INLINE uint16_t wordAt(const void* from, size_t i) {
    uint16_t word;
    std::memcpy(&word, static_cast<const std::byte*>(from) + 2 * i, sizeof word);
    return word;
}
HALFSCOPE_INLINE void putWord(void* to, size_t i, uint32_t value) {
    const auto word = static_cast<uint16_t>(value);
    std::memcpy(static_cast<std::byte*>(to) + 2 * i, &word, sizeof word);
}

HALFSCOPE_INLINE void loadHalfLoop(const void* from, float* to, size_t first, size_t n) {
    for (size_t i = first; i < n; ++i)
        to[i] = halfValue(wordAt(from, i));
}
HALFSCOPE_INLINE void storeHalfLoop(const float* from, void* to, size_t first, size_t n) {
    for (size_t i = first; i < n; ++i)
        putWord(to, i, halfBits(from[i]));
}
HALFSCOPE_INLINE void roundHalfLoop(float* values, size_t first, size_t n) {
    for (size_t i = first; i < n; ++i)
        values[i] = halfValue(halfBits(values[i]));
}
HALFSCOPE_INLINE void loadBfloat16Loop(const void* from, float* to, size_t n) {
    for (size_t i = 0; i < n; ++i)
        to[i] = std::bit_cast<float>(uint32_t{wordAt(from, i)} << 16);
}
HALFSCOPE_INLINE void storeBfloat16Loop(const float* from, void* to, size_t n) {
    for (size_t i = 0; i < n; ++i)
        putWord(to, i, bfloat16Word(from[i]) >> 16);
}
HALFSCOPE_INLINE void roundBfloat16Loop(float* values, size_t n) {
    for (size_t i = 0; i < n; ++i)
        values[i] = std::bit_cast<float>(bfloat16Word(values[i]) & 0xFFFF0000U);
}

constexpr BlockKernels kPortable{
    [](const void* from, float* to, size_t n) { loadHalfLoop(from, to, 0, n); },
    [](const float* from, void* to, size_t n) { storeHalfLoop(from, to, 0, n); },
    [](float* values, size_t n) { roundHalfLoop(values, 0, n); },
    [](const void* from, float* to, size_t n) { loadBfloat16Loop(from, to, n); },
    [](const float* from, void* to, size_t n) { storeBfloat16Loop(from, to, n); },
    [](float* values, size_t n) { roundBfloat16Loop(values, n); }};

#if HALFSCOPE_X86
constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

#define HALFSCOPE_F16C __attribute__((target("avx2,f16c")))

HALFSCOPE_F16C void loadHalfF16C(const void* from, float* to, size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const void* block = static_cast<const std::byte*>(from) + 2 * i;
        const __m128i halves = _mm_loadu_si128(static_cast<const __m128i*>(block));
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(halves));
    }
    loadHalfLoop(from, to, i, n);
}

HALFSCOPE_F16C void storeHalfF16C(const float* from, void* to, size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        void* block = static_cast<std::byte*>(to) + 2 * i;
        const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), kNearest);
        _mm_storeu_si128(static_cast<__m128i*>(block), halves);
    }
    storeHalfLoop(from, to, i, n);
}

HALFSCOPE_F16C void roundHalfF16C(float* values, size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(values + i), kNearest);
        _mm256_storeu_ps(values + i, _mm256_cvtph_ps(halves));
    }
    roundHalfLoop(values, i, n);
}

HALFSCOPE_F16C void loadBfloat16Avx2(const void* from, float* to, size_t n) {
    loadBfloat16Loop(from, to, n);
}
HALFSCOPE_F16C void storeBfloat16Avx2(const float* from, void* to, size_t n) {
    storeBfloat16Loop(from, to, n);
}
HALFSCOPE_F16C void roundBfloat16Avx2(float* values, size_t n) { roundBfloat16Loop(values, n); }

constexpr BlockKernels kF16C{loadHalfF16C,     storeHalfF16C,     roundHalfF16C,
                             loadBfloat16Avx2, storeBfloat16Avx2, roundBfloat16Avx2};

// Tails run through the same instructions with a mask.
#define HALFSCOPE_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl")))

HALFSCOPE_AVX512 inline __mmask16 maskOf(size_t count) {
    return static_cast<__mmask16>(count >= 16 ? 0xFFFFU : (1U << count) - 1U);
}

HALFSCOPE_AVX512 inline __m256i halvesOf(__m512 x) {
    // A mask for all lanes: without one, GCC 12's macro trips over its own -Wsign-conversion.
    return _mm512_maskz_cvtps_ph(0xFFFF, x, kNearest);
}

// The machine also has an instruction for bfloat16, but it treats subnormal floats as zero.
HALFSCOPE_AVX512 inline __m512i bfloat16Words(__m512 x) {
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded =
        _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), odd);
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    return _mm512_mask_or_epi32(rounded, nan, bits, _mm512_set1_epi32(0x400000));
}

HALFSCOPE_AVX512 void loadHalfAvx512(const void* from, float* to, size_t n) {
    for (size_t i = 0; i < n; i += 16) {
        const __mmask16 mask = maskOf(n - i);
        const void* block = static_cast<const std::byte*>(from) + 2 * i;
        const __m512 values = _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, block));
        _mm512_mask_storeu_ps(to + i, mask, values);
    }
}

HALFSCOPE_AVX512 void storeHalfAvx512(const float* from, void* to, size_t n) {
    for (size_t i = 0; i < n; i += 16) {
        const __mmask16 mask = maskOf(n - i);
        const __m256i halves = halvesOf(_mm512_maskz_loadu_ps(mask, from + i));
        _mm256_mask_storeu_epi16(static_cast<std::byte*>(to) + 2 * i, mask, halves);
    }
}

HALFSCOPE_AVX512 inline __m512 throughHalf(__m512 x) { return _mm512_cvtph_ps(halvesOf(x)); }

HALFSCOPE_AVX512 void roundHalfAvx512(float* values, size_t n) {
    size_t i = 0;
    // Two conversions in flight: each takes longer than the store before it.
    for (; i + 32 <= n; i += 32) {
        const __m512 first = throughHalf(_mm512_loadu_ps(values + i));
        const __m512 second = throughHalf(_mm512_loadu_ps(values + i + 16));
        _mm512_storeu_ps(values + i, first);
        _mm512_storeu_ps(values + i + 16, second);
    }
    for (; i < n; i += 16) {
        const __mmask16 mask = maskOf(n - i);
        const __m512 rounded = throughHalf(_mm512_maskz_loadu_ps(mask, values + i));
        _mm512_mask_storeu_ps(values + i, mask, rounded);
    }
}

HALFSCOPE_AVX512 void loadBfloat16Avx512(const void* from, float* to, size_t n) {
    for (size_t i = 0; i < n; i += 16) {
        const __mmask16 mask = maskOf(n - i);
        const void* block = static_cast<const std::byte*>(from) + 2 * i;
        const __m512i words = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, block));
        _mm512_mask_storeu_epi32(to + i, mask, _mm512_slli_epi32(words, 16));
    }
}

HALFSCOPE_AVX512 void storeBfloat16Avx512(const float* from, void* to, size_t n) {
    for (size_t i = 0; i < n; i += 16) {
        const __mmask16 mask = maskOf(n - i);
        const __m512i words = bfloat16Words(_mm512_maskz_loadu_ps(mask, from + i));
        const __m256i upper = _mm512_cvtepi32_epi16(_mm512_srli_epi32(words, 16));
        _mm256_mask_storeu_epi16(static_cast<std::byte*>(to) + 2 * i, mask, upper);
    }
}

HALFSCOPE_AVX512 void roundBfloat16Avx512(float* values, size_t n) {
    const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xFFFF0000U));
    for (size_t i = 0; i < n; i += 16) {
        const __mmask16 mask = maskOf(n - i);
        const __m512i words = bfloat16Words(_mm512_maskz_loadu_ps(mask, values + i));
        _mm512_mask_storeu_epi32(values + i, mask, _mm512_and_si512(words, upper));
    }
}

constexpr BlockKernels kAvx512{loadHalfAvx512,     storeHalfAvx512,     roundHalfAvx512,
                               loadBfloat16Avx512, storeBfloat16Avx512, roundBfloat16Avx512};

#endif

const BlockKernels& fastest() {
    const BlockKernels* kernels = blockKernels(usedVectorSet());
    return kernels != nullptr ? *kernels : kPortable;
}

} // namespace

const BlockKernels* blockKernels(VectorSet set) {
    if (!hasVectorSet(set)) return nullptr;
#if HALFSCOPE_X86
    if (set == VectorSet::Avx2) return &kF16C;
    if (set >= VectorSet::Avx512) return &kAvx512;
#endif
    return set == VectorSet::Portable ? &kPortable : nullptr;
}

const BlockKernels& blockKernels() {
    static const BlockKernels& kernels = fastest();
    return kernels;
}

} // namespace halfscope
