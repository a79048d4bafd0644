// Chooses the instruction set of the small matrix product, and has the plain form that runs on any
// processor.
#include "engine/cpu/small_gemm.h"

#include "engine/core/error.h"
#include "engine/cpu/small_gemm_kernel.h"

namespace halfscope {
namespace {

/// Four numbers, which compilers put into whatever vectors the target has.
struct Plain {
    struct Type {
        double lane[4];
    };
    static constexpr int kLanes = 4;
    static constexpr int kRows[kPanelVectors] = {4, 2, 1, 1};

    static Type zero() { return {}; }
    static Type broadcast(float x) {
        const double wide = static_cast<double>(x);
        return {{wide, wide, wide, wide}};
    }
    static Type multiplyAdd(const Type& a, const Type& b, Type c) {
        for (int i = 0; i < kLanes; ++i)
            c.lane[i] += a.lane[i] * b.lane[i];
        return c;
    }
    static Type load(const double* from) { return {{from[0], from[1], from[2], from[3]}}; }
    static void store(double* to, const Type& x) {
        for (int i = 0; i < kLanes; ++i)
            to[i] = x.lane[i];
    }
    static Type widen(const float* from) {
        Type x{};
        for (int i = 0; i < kLanes; ++i)
            x.lane[i] = static_cast<double>(from[i]);
        return x;
    }
    static void copyPart(const float* from, int count, float* to) {
        for (int i = 0; i < kLanes; ++i)
            to[i] = i < count ? from[i] : 0;
    }
    static void round(float* to, const Type& x) { roundPart(to, kLanes, x); }
    static void roundPart(float* to, int count, const Type& x) {
        for (int i = 0; i < count; ++i)
            to[i] = static_cast<float>(x.lane[i]);
    }
};

} // namespace

void smallGemmPortable(const GemmShape& s, const float* a, const float* b, float* c) {
    multiply<Plain>(s, a, b, c);
}

void smallGemm(VectorSet set, const GemmShape& s, const float* a, const float* b, float* c) {
    switch (set) {
#if defined(HALFSCOPE_X86_GEMM)
    case VectorSet::Avx2: return smallGemmAvx2(s, a, b, c);
    case VectorSet::Avx512:
    case VectorSet::Avx512Bf16:
    case VectorSet::Amx: return smallGemmAvx512(s, a, b, c);
#endif
    default: return smallGemmPortable(s, a, b, c);
    }
}

} // namespace halfscope
