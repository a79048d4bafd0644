// The product of packed pairs of bfloat16 by tiles, for processors with AMX: an instruction
// multiplies 16 rows by 16 columns of 16 pairs each (TDPBF16PS). Within a tile it sums the upper
// and the lower halves of the pairs separately, and then adds both; so its sums run in another
// order than those of pair_gemm.h, within the same bound. It, too, takes subnormals for zero:
// staysNormal must hold. Source: Intel 64 and IA-32 Architectures Software Developer's Manual,
// volume 2, TDPBF16PS.
#pragma once

#include "engine/cpu/panel_gemm.h"
#include "engine/cpu/term_gemm.h"

#include <cstdint>

namespace halfscope {

/// Does the same as multiplyPairs.
void multiplyTiles(const PanelShape&, const uint32_t* a, const uint32_t* panels, float* c);
/// Whether this program has it and the processor's tiles multiply as they should, which is tried
/// once.
bool hasTileGemm();

/// The products by tiles of pairs and of terms (term_gemm.h).
struct TileProducts {
    void (*pairs)(const PanelShape&, const uint32_t* a, const uint32_t* panels, float* c);
    void (*terms)(Terms, const PanelShape&, int64_t planeOfA, const uint32_t* a,
                  const uint32_t* panels, float* c);
};
/// Uses these products instead of the processor's. For tests with a model of the tiles, on
/// processors that have products of f32 by AVX-512. Must be called before the first product.
void useTileProducts(const TileProducts&);
/// Returns the products in use.
const TileProducts& tileProducts();

// One for each compiled file.
void multiplyTilesAmx(const PanelShape&, const uint32_t* a, const uint32_t* panels, float* c);
void multiplyTermsAmx(Terms, const PanelShape&, int64_t planeOfA, const uint32_t* a,
                      const uint32_t* panels, float* c);

} // namespace halfscope
