// The vector instruction sets for which the CPU engine has hand-written code, and which of them
// this process uses.
#pragma once

#include <cstdint>
#include <optional>

namespace halfscope {

/// Each set includes those before it.
enum class VectorSet : uint8_t {
    Portable, ///< what the compiler makes of plain loops
    Avx2,     ///< with FMA and F16C, which all processors with AVX2 have: 16 registers of 8 floats
    Avx512,   ///< F, BW, DQ and VL (x86-64-v4): 32 registers of 16 floats
    Avx512Bf16, ///< with products of pairs of bfloat16 (VDPBF16PS): pair_gemm.h
    Amx,        ///< with products of bfloat16 tiles (TDPBF16PS), if the system allows them:
                ///< tile_gemm.h
};

inline constexpr VectorSet kVectorSets[] = {VectorSet::Portable, VectorSet::Avx2, VectorSet::Avx512,
                                            VectorSet::Avx512Bf16, VectorSet::Amx};
const char* nameOf(VectorSet); ///< "portable", "avx2", "avx512", "avx512bf16", "amx"

/// The environment variable that names a narrower set than the machine's, as nameOf does.
inline constexpr const char* kVectorVariable = "HALFSCOPE_CPU_VECTORS";

/// Returns whether this machine has the set.
bool hasVectorSet(VectorSet);
/// Treats tiles as available from now on, for tests that put a model in their place. Must be called
/// before the first question about tiles.
void assumeTiles();
/// Whether pairs of bfloat16 take longer than the same products as floats. Intel's processors with
/// AVX512-FP16 start four multiply-adds of floats for each VDPBF16PS (measured on model 207: 5.2e9
/// and 1.3e9 a second), so that pairs have half the rate; they have tiles for bfloat16, which not
/// every virtual machine hands on. On Zen 4, pairs have up to twice the rate.
bool pairsAreSlow();
/// Whether products and quotients with subnormal floats take many times as long as others: Intel's
/// processors interrupt themselves for each such vector (measured on model 207: 52 ns instead of
/// 0.6), but not for sums, comparisons and conversions to and from double.
bool subnormalsAreSlow();
/// Returns the set to use of those that a machine has: the widest that kVectorVariable allows.
/// Where it names none, slow pairs are not worth it, unless tiles take their place.
VectorSet chooseVectorSet(VectorSet widest, bool slowPairs, std::optional<VectorSet> wanted);
/// Returns the set that is chosen on this machine; it is the same for the whole process. Loops that
/// the compiler makes for several widths (vector_clones.h) do not ask: they give the same bits at
/// each width.
VectorSet usedVectorSet();
/// Throws EngineError when kVectorVariable names no set; usedVectorSet treats that as no limit.
void checkVectorVariable();

} // namespace halfscope
