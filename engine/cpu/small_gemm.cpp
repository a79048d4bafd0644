// Chooses the instruction set of the small matrix product, and the plain form that any processor
// runs.
#include "engine/cpu/small_gemm.h"

#include "engine/core/error.h"
#include "engine/cpu/small_gemm_kernel.h"

#include <bit>
#include <cmath>

namespace halfscope {
namespace {

/// Four numbers; where the target has vectors and the instruction, compilers use them.
struct Plain {
    struct Type {
        float lane[4];
    };
    static constexpr int kLanes = 4;
    static constexpr int kRows[kPanelVectors] = {4, 4};

    static Type zero() { return {}; }
    static Type broadcast(float x) { return {{x, x, x, x}}; }
    static Type add(Type a, const Type& b) {
        for (int i = 0; i < kLanes; ++i)
            a.lane[i] += b.lane[i];
        return a;
    }
    static Type fusedMultiplyAdd(const Type& a, const Type& b, Type c) {
        for (int i = 0; i < kLanes; ++i) {
#if defined(__FP_FAST_FMAF)
            c.lane[i] = std::fma(a.lane[i], b.lane[i], c.lane[i]);
#else
            c.lane[i] = halfscope::fusedMultiplyAdd(a.lane[i], b.lane[i], c.lane[i]);
#endif
        }
        return c;
    }
    static Type load(const float* from) { return loadPart(from, kLanes); }
    static void store(float* to, const Type& x) { storePart(to, kLanes, x); }
    static Type loadPart(const float* from, int count) {
        Type x{};
        for (int i = 0; i < count; ++i)
            x.lane[i] = from[i];
        return x;
    }
    static void storePart(float* to, int count, const Type& x) {
        for (int i = 0; i < count; ++i)
            to[i] = x.lane[i];
    }
};

} // namespace

float fusedMultiplyAdd(float a, float b, float c) {
    // The product is exact in double. The sum is rounded to odd there: of the two doubles around
    // the exact sum the one with the odd last bit, which no later rounding mistakes for a tie.
    const double product = double{a} * b, addend = double{c};
    double sum = product + addend;
    const double back = sum - product;
    const double error = (product - (sum - back)) + (addend - back);
    const auto bits = std::bit_cast<uint64_t>(sum);
    if ((error > 0 || error < 0) && (bits & 1) == 0) // false for NaN, after an infinite sum
        sum = std::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
    return static_cast<float>(sum);
}

void smallGemmPortable(const GemmShape& s, const float* a, const float* b, float* c) {
    multiply<Plain>(s, a, b, c);
}

bool hasSmallGemmPath(SmallGemmPath path) {
    switch (path) {
    case SmallGemmPath::Portable: return true;
#if defined(HALFSCOPE_X86_GEMM)
    case SmallGemmPath::Avx2:
        return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    case SmallGemmPath::Avx512: return __builtin_cpu_supports("avx512f") != 0;
#endif
    default: return false;
    }
}

SmallGemmPath bestSmallGemmPath() {
    static const SmallGemmPath best = [] {
        for (const SmallGemmPath path : {SmallGemmPath::Avx512, SmallGemmPath::Avx2})
            if (hasSmallGemmPath(path)) return path;
        return SmallGemmPath::Portable;
    }();
    return best;
}

void smallGemm(SmallGemmPath path, const GemmShape& s, const float* a, const float* b, float* c) {
    switch (path) {
    case SmallGemmPath::Portable: return smallGemmPortable(s, a, b, c);
#if defined(HALFSCOPE_X86_GEMM)
    case SmallGemmPath::Avx2: return smallGemmAvx2(s, a, b, c);
    case SmallGemmPath::Avx512: return smallGemmAvx512(s, a, b, c);
#endif
    default: failInvariant("smallGemm: this path is not in the program");
    }
}

} // namespace halfscope
