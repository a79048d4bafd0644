// Whether the products by tiles can be used, and whose they are. No processor with them was at hand
// when they were written, so they are tried on a product whose sums are exact.
#include "engine/cpu/tile_gemm.h"

#include "engine/core/error.h"
#include "engine/core/vector_set.h"
#include "engine/cpu/pair_gemm.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace halfscope {

#if defined(HALFSCOPE_X86_GEMM)
namespace {

/// Returns small whole numbers that differ between neighbouring places.
int numberAt(int64_t row, int64_t column, int64_t factor) {
    return static_cast<int>((row * factor + column * 5) % 13) - 6;
}

std::vector<uint16_t> numbers(int64_t rows, int64_t columns, int64_t factor) {
    std::vector<uint16_t> words;
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c) {
            const auto value = static_cast<float>(numberAt(r, c, factor));
            words.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
        }
    return words;
}

/// Has edges of all kinds: rows, columns and pairs behind the last whole tile.
bool multipliesRight() {
    constexpr int64_t kM = 39, kN = 45, kK = 37;
    const std::vector<uint16_t> a = numbers(kM, kK, 3), b = numbers(kK, kN, 7);
    std::vector<uint32_t> pairs(static_cast<size_t>(kM * pairsOf(kK))),
        panels(panelFloats(pairsOf(kK), kN));
    packPairs(a.data(), kK, kM, kK, pairs.data());
    for (int64_t column = 0; column < kN; column += kPanelColumns)
        packPairPanel(b.data() + column, kN, false, kK, std::min(kPanelColumns, kN - column),
                      panels.data() + panelOffset(pairsOf(kK), kN, 0, column, kPairDepth));
    std::vector<float> c(static_cast<size_t>(kM * kN));
    multiplyTiles({.m = kM, .n = kN, .k = pairsOf(kK), .lda = pairsOf(kK), .ldc = kN}, pairs.data(),
                  panels.data(), c.data());
    for (int64_t i = 0; i < kM; ++i)
        for (int64_t j = 0; j < kN; ++j) {
            int sum = 0;
            for (int64_t k = 0; k < kK; ++k)
                sum += numberAt(i, k, 3) * numberAt(k, j, 7);
            if (c[static_cast<size_t>(i * kN + j)] != static_cast<float>(sum)) return false;
        }
    return true;
}

TileProducts& productsInUse() {
    static TileProducts products{multiplyTilesAmx, multiplyTermsAmx};
    return products;
}

} // namespace

bool hasTileGemm() {
    static const bool right = hasVectorSet(VectorSet::Amx) && multipliesRight();
    return right;
}

void useTileProducts(const TileProducts& products) {
    productsInUse() = products;
    assumeTiles();
}

const TileProducts& tileProducts() { return productsInUse(); }

#else

bool hasTileGemm() { return false; }
void useTileProducts(const TileProducts&) {}
const TileProducts& tileProducts() { failInvariant("tileProducts: not in this program"); }

#endif

void multiplyTiles(const PanelShape& s, const uint32_t* a, const uint32_t* panels, float* c) {
    tileProducts().pairs(s, a, panels, c);
}

} // namespace halfscope
