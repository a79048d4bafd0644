// The product of packed pairs of bfloat16 by tiles, for processors with AMX: an instruction
// multiplies 16 rows by 16 columns of 16 pairs each (TDPBF16PS). Within a tile it sums the upper
// and the lower halves of the pairs apart, and then both; so its sums run in another order than
// those of pair_gemm.h, by the same bound. It takes subnormals for zero as well: staysNormal must
// hold. Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, TDPBF16PS.
#pragma once

#include "engine/cpu/panel_gemm.h"
#include "engine/cpu/term_gemm.h"

#include <cstdint>

namespace halfscope {

/// As multiplyPairs.
void multiplyTiles(const PanelShape&, const uint32_t* a, const uint32_t* panels, float* c);
/// Whether this program has it and the processor's tiles multiply as they should: tried once.
bool hasTileGemm();

/// The products by tiles of pairs and of terms (term_gemm.h).
struct TileProducts {
    void (*pairs)(const PanelShape&, const uint32_t* a, const uint32_t* panels, float* c);
    void (*terms)(Terms, const PanelShape&, int64_t planeOfA, const uint32_t* a,
                  const uint32_t* panels, float* c);
};
/// Takes these for the processor's: for tests with a model of it, where products of f32 by AVX-512
/// are at hand. Before the first product.
void useTileProducts(const TileProducts&);
/// Those in use.
const TileProducts& tileProducts();

// one for each compiled file
void multiplyTilesAmx(const PanelShape&, const uint32_t* a, const uint32_t* panels, float* c);
void multiplyTermsAmx(Terms, const PanelShape&, int64_t planeOfA, const uint32_t* a,
                      const uint32_t* panels, float* c);

} // namespace halfscope
