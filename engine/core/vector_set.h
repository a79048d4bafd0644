// The vector instructions that the CPU engine's hand-written code comes in, and which of them this
// process uses.
#pragma once

#include <cstdint>

namespace halfscope {

/// Each has what those before it have.
enum class VectorSet : uint8_t {
    Portable, ///< what the compiler makes of plain loops
    Avx2,   ///< with FMA and F16C, as all processors with AVX2 have them: 16 registers of 8 floats
    Avx512, ///< F, BW, DQ and VL (x86-64-v4): 32 registers of 16 floats
    Avx512Bf16, ///< with products of pairs of bfloat16 (VDPBF16PS): pair_gemm.h
    Amx,        ///< with products of tiles of them (TDPBF16PS), if the system allows: tile_gemm.h
};

inline constexpr VectorSet kVectorSets[] = {VectorSet::Portable, VectorSet::Avx2, VectorSet::Avx512,
                                            VectorSet::Avx512Bf16, VectorSet::Amx};
const char* nameOf(VectorSet); ///< "portable", "avx2", "avx512", "avx512bf16", "amx"

/// Names a narrower set than the machine's, as nameOf does.
inline constexpr const char* kVectorVariable = "HALFSCOPE_CPU_VECTORS";

/// Whether this machine has it.
bool hasVectorSet(VectorSet);
/// From now on tiles count as there: for tests that put a model in their place. Before the first
/// question for them.
void assumeTiles();
/// The widest that this machine has and kVectorVariable allows; the same for the whole process.
/// Loops that the compiler makes for several widths (vector_clones.h) do not ask: they give the
/// same bits at each.
VectorSet widestVectorSet();
/// Throws EngineError where kVectorVariable names no set; widestVectorSet takes that as no limit.
void checkVectorVariable();

} // namespace halfscope
