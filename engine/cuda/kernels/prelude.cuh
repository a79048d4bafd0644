// The words with which every generated text begins: storage types, their correctly rounded
// conversions, loads and stores of one element or of a pack. It is device code (NVRTC has no
// headers) and host code of the emulator and the tests; host code includes <math.h> and <string.h>
// before it.
#pragma once

#if defined(__CUDACC__)
#define HS_HD __host__ __device__
#define HS_D __device__ __forceinline__
#else
#define HS_HD
#define HS_D inline
#endif
// HS_UNROLL, HS_UNROLL_BY(n): before a loop, only for the device's compiler.
#if defined(__CUDACC__)
#define HS_PRAGMA(text) _Pragma(#text)
#define HS_UNROLL HS_PRAGMA(unroll)
#define HS_UNROLL_BY(n) HS_PRAGMA(unroll n)
#define HS_DYNAMIC_SHARED(name) extern __shared__ __align__(16) char name[]
#else
#define HS_UNROLL
#define HS_UNROLL_BY(n)
#endif
// HS_DEVICE: this pass makes device code, which may contain PTX.
#if defined(__CUDA_ARCH__)
#define HS_DEVICE 1
#else
#define HS_DEVICE 0
#endif

namespace hs {

using i64 = long long;
using u64 = unsigned long long;
using u32 = unsigned int;
using u16 = unsigned short;
using Bool = unsigned char; ///< 0 or 1

struct F16 {
    u16 bits;
};
struct BF16 {
    u16 bits;
};

constexpr int kThreads = 256; ///< of every block
constexpr int kWarp = 32;
constexpr u32 kAllLanes = 0xFFFFFFFFu;

#if HS_DEVICE
HS_D u32 bitsOf(float x) { return __float_as_uint(x); }
HS_D u64 bitsOf(double x) { return static_cast<u64>(__double_as_longlong(x)); }
HS_D float floatOf(u32 bits) { return __uint_as_float(bits); }
HS_D double doubleOf(u64 bits) { return __longlong_as_double(static_cast<i64>(bits)); }
#else
HS_HD inline u32 bitsOf(float x) { return __builtin_bit_cast(u32, x); }
HS_HD inline u64 bitsOf(double x) { return __builtin_bit_cast(u64, x); }
HS_HD inline float floatOf(u32 bits) { return __builtin_bit_cast(float, bits); }
HS_HD inline double doubleOf(u64 bits) { return __builtin_bit_cast(double, bits); }
#endif

// ---- 16-bit floats: nearest even, gradual underflow, inf when too large ------------------------

/// Rounds a double to the nearest value of a format with `SignificandBits` (hidden bit included),
/// without the double rounding of going through float. The integer steps are those of
/// core/dtype.cpp.
template <int SignificandBits>
HS_HD inline u16 narrowed(double x) {
    constexpr int kStoredBits = SignificandBits - 1;
    constexpr int kBias = (1 << (15 - kStoredBits - 1)) - 1;
    constexpr u64 kInfinity = ((u64{1} << (15 - kStoredBits)) - 1) << kStoredBits;
    const u64 bits = bitsOf(x);
    const u64 sign = (bits >> 63) << 15;
    const u64 fraction = bits & ((u64{1} << 52) - 1);
    const int exponent = static_cast<int>((bits >> 52) & 0x7FF) - 1023;
    if (exponent == 1024) {
        const u64 quiet = (fraction >> (52 - kStoredBits)) | (u64{1} << (kStoredBits - 1));
        return static_cast<u16>(sign | kInfinity | (fraction != 0 ? quiet : 0));
    }
    if (exponent > kBias) return static_cast<u16>(sign | kInfinity);
    const bool normal = exponent >= 1 - kBias;
    const int dropped = 53 - SignificandBits + (normal ? 0 : 1 - kBias - exponent);
    if (dropped > 53) return static_cast<u16>(sign);
    const u64 significand = fraction | (u64{1} << 52);
    const u64 rest = significand & ((u64{1} << dropped) - 1);
    const u64 half = u64{1} << (dropped - 1);
    u64 kept = significand >> dropped;
    kept += (rest > half || (rest == half && (kept & 1) != 0)) ? 1 : 0;
    const u64 field = normal ? static_cast<u64>(exponent + kBias - 1) << kStoredBits : 0;
    return static_cast<u16>(sign | (field + kept));
}

HS_HD inline float value(F16 x) {
#if HS_DEVICE
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
    return wide;
#else
    const u32 sign = (u32{x.bits} & 0x8000u) << 16;
    const u32 exponent = (u32{x.bits} >> 10) & 0x1Fu, fraction = u32{x.bits} & 0x3FFu;
    if (exponent == 0) return floatOf(bitsOf(static_cast<float>(fraction) * 0x1p-24f) | sign);
    if (exponent == 0x1F)
        return floatOf(sign | 0x7F800000u | (fraction != 0 ? 0x400000u : 0u) | (fraction << 13));
    return floatOf(sign | ((exponent + 112u) << 23) | (fraction << 13));
#endif
}
HS_HD inline F16 toF16(float x) {
#if HS_DEVICE
    F16 narrow;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(x));
    return narrow;
#else
    const u32 bits = bitsOf(x), sign = (bits >> 16) & 0x8000u, size = bits & 0x7FFFFFFFu;
    u32 half = (size + 0xFFFu + ((size >> 13) & 1u) - 0x38000000u) >> 13;
    // below 2^-14: floats in [0.5, 1) are 2^-24 apart, so the addition rounds
    if (size < 0x38800000u) half = bitsOf(floatOf(size) + 0.5f) - 0x3F000000u;
    if (size >= 0x477FF000u) half = 0x7C00u; // 65520 and above
    if (size > 0x7F800000u) half = 0x7E00u | ((size >> 13) & 0x3FFu);
    return {static_cast<u16>(sign | half)};
#endif
}
HS_HD inline F16 toF16(double x) { return {narrowed<11>(x)}; }

HS_HD inline float value(BF16 x) { return floatOf(u32{x.bits} << 16); }
HS_HD inline BF16 toBF16(float x) {
#if HS_DEVICE && __CUDA_ARCH__ >= 800
    BF16 narrow;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(x));
    return narrow;
#else
    const u32 bits = bitsOf(x), rounded = bits + 0x7FFFu + ((bits >> 16) & 1u);
    const bool nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
    return {static_cast<u16>((nan ? bits | 0x400000u : rounded) >> 16)};
#endif
}
HS_HD inline BF16 toBF16(double x) { return {narrowed<8>(x)}; }

// ---- between storage and arithmetic ------------------------------------------------------------

// value() is a stored element as arithmetic sees it: double for F64, else float. Masks are 0 and 1.
HS_HD inline float value(float x) { return x; }
HS_HD inline double value(double x) { return x; }
HS_HD inline float value(int x) { return static_cast<float>(x); }
HS_HD inline float value(Bool x) { return x != 0 ? 1.0f : 0.0f; }

/// Converts towards zero, saturating, with NaN as 0.
template <class Real>
HS_HD inline int toInt(Real x) {
    if (x != x) return 0;
    if (x >= Real(2147483647.0)) return 2147483647; // as a float this bound is 2^31
    if (x <= Real(-2147483648.0)) return -2147483647 - 1;
    return static_cast<int>(x);
}

template <class A, class B>
constexpr bool kSame = false;
template <class A>
constexpr bool kSame<A, A> = true;

/// Returns x rounded once to storage.
template <class T, class Real>
HS_HD inline T stored(Real x) {
    if constexpr (kSame<T, F16>)
        return toF16(x);
    else if constexpr (kSame<T, BF16>)
        return toBF16(x);
    else if constexpr (kSame<T, int>)
        return toInt(x);
    else if constexpr (kSame<T, Bool>)
        return x != Real(0) ? 1 : 0;
    else
        return static_cast<T>(x); // float, double
}
/// Returns x after one store to T and load from it; a double stays a double.
template <class T, class Real>
HS_HD inline Real rounded(Real x) {
    return static_cast<Real>(value(stored<T>(x)));
}
/// An F64 result of an int is computed in double, which holds every int.
HS_HD inline double wide(int x) { return static_cast<double>(x); }
template <class T>
HS_HD inline double wide(T x) {
    return static_cast<double>(value(x));
}

template <class T>
HS_HD inline auto load(const T* from) {
    return value(*from);
}
template <class T, class Real>
HS_HD inline void store(T* to, Real x) {
    *to = stored<T>(x);
}

// ---- packs: V neighbours at once, in accesses of up to 16 bytes --------------------------------

template <int Bytes>
struct Unit;
template <>
struct Unit<1> {
    using Type = Bool;
};
template <>
struct Unit<2> {
    using Type = u16;
};
template <>
struct Unit<4> {
    using Type = u32;
};
struct alignas(8) Words2 {
    u32 x, y;
};
struct alignas(16) Words4 {
    u32 x, y, z, w;
};
template <>
struct Unit<8> {
    using Type = Words2;
};
template <>
struct Unit<16> {
    using Type = Words4;
};

/// V elements of storage type T as they are in memory; V is 1, 2, 4 or 8.
template <class T, int V>
struct Pack {
    static constexpr int kBytes = V * static_cast<int>(sizeof(T));
    static constexpr int kUnitBytes = kBytes < 16 ? kBytes : 16;
    static constexpr int kUnits = kBytes / kUnitBytes;
    using UnitType = typename Unit<kUnitBytes>::Type;
    union {
        UnitType units[kUnits];
        T elements[V];
    };
    /// `from` must be a multiple of kUnitBytes.
    HS_D void load(const T* from) {
        const UnitType* source = reinterpret_cast<const UnitType*>(from);
        HS_UNROLL
        for (int i = 0; i < kUnits; ++i)
            units[i] = source[i];
    }
    HS_D void store(T* to) const {
        UnitType* target = reinterpret_cast<UnitType*>(to);
        HS_UNROLL
        for (int i = 0; i < kUnits; ++i)
            target[i] = units[i];
    }
    HS_D auto operator[](int i) const { return value(elements[i]); }
    template <class Real>
    HS_D void set(int i, Real x) {
        elements[i] = stored<T>(x);
    }
};

} // namespace hs
