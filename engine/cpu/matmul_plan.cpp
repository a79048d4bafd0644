// How the matrix product of a node is cut into tiles or partial sums, and how much memory it takes.
#include "engine/cpu/matmul.h"
#include "engine/cpu/pair_gemm.h"
#include "engine/cpu/panel_gemm.h"
#include "engine/cpu/small_gemm.h"
#include "engine/cpu/support.h"

#include <algorithm>
#include <bit>

namespace halfscope {

namespace {

constexpr int64_t kTileRows = 512; ///< for the library: a tile's operand and result stay in L2
/// For panels: as fast as more rows, and what a chain reads again is still in L2.
constexpr int64_t kPanelTileRows = 128;
constexpr int64_t kPairRows = 16; ///< the fewest rows for which a product of pairs is worth it
/// The same for terms, by counting instructions: splitting values of b costs as much as some 25
/// rows of their product in two terms, and as 40 rows in three.
constexpr int64_t kTwoTermRows = 32;
constexpr int64_t kTileColumns = 1024;
constexpr int64_t kMaxParts = 16;    ///< of a split product
constexpr int64_t kManyMatrices = 8; ///< enough for the threads to share them

/// Returns the extent of a piece when an extent is cut into at most `most` pieces by powers of two,
/// none of them smaller than `least`.
int64_t pieceOf(int64_t extent, int64_t least, int64_t most) {
    constexpr int64_t kStep = 16;
    const auto fitting =
        static_cast<uint64_t>(std::max<int64_t>(1, std::min(extent / least, most)));
    for (auto pieces = static_cast<int64_t>(std::bit_floor(fitting)); pieces > 1; pieces /= 2) {
        const int64_t piece = ceilDiv(ceilDiv(extent, pieces), kStep) * kStep;
        if (extent - (pieces - 1) * piece >= least) return piece;
    }
    return extent;
}

} // namespace

MatmulPlan::MatmulPlan(const Node& node, const Shape& a, DType type) : in(type), out(node.dtype) {
    const auto& attrs = std::get<MatmulAttrs>(node.attrs);
    transposeA = attrs.transposeA;
    transposeB = attrs.transposeB;
    bias = node.in.size() == 3;
    m = node.shape[node.shape.rank() - 2];
    n = node.shape.back();
    k = attrs.transposeA ? a[a.rank() - 2] : a.back();
    batch = node.elements() / std::max<int64_t>(m * n, 1);
    tf32 = node.math == MathMode::TF32;
    // A long inner axis over a small result has too few tiles to share among threads.
    if (batch == 1 && k >= 2 * kSplitDepth && m * n <= 1 << 20 && k > 2 * std::max(m, n))
        parts = std::min(kMaxParts, ceilDiv(k, kSplitDepth));
    // Decided by the whole product: many rows have small tiles and many matrices are small ones,
    // but a training with many of them is large, and double sums take three times as long as these
    // products need otherwise.
    large = !isSmallGemm({m * batch, n, k, transposeA});
    byMatrix = batch >= kManyMatrices && isSmallGemm({m, n, k, transposeA});
    if (!byMatrix) choosePanels();
    tileRows = byMatrix ? m : panels ? kPanelTileRows : kTileRows;
    tileColumns = panels || byMatrix ? n : std::min(n, kTileColumns);
    const bool few = !byMatrix && m <= kTileRows && n <= 2 * kTileColumns;
    rowTiles = ceilDiv(m, tileRows);
    if (!split() && few && m > 0) panels ? cutColumns() : cutTile();
    rowTiles = ceilDiv(m, tileRows);
    columnTiles = ceilDiv(n, std::max<int64_t>(tileColumns, 1));
}

/// Chooses panels; a few rows are not worth the packing. A split product packs its pieces of b as
/// it goes: that takes 0 to 8 % longer than the library from 128 columns on, and AVX2 and AVX-512
/// then give the same bits.
void MatmulPlan::choosePanels() {
    const VectorSet set = usedVectorSet();
    const bool splits = transposeA && !transposeB && m >= kPanelColumns;
    const auto worth = [&](int64_t rows) { return split() ? splits : m >= rows; };
    if (!large || n < kPanelColumns) return;
    // The library knows neither pairs nor terms, so packing is worth it for fewer rows.
    if (in == DType::BF16) {
        pairs = hasPairGemm(set) && worth(kPairRows);
    } else if (hasTermGemm(set)) {
        const bool two = low();
        if (worth(two ? kTwoTermRows : kPanelTileRows)) terms = two ? Terms::Two : Terms::Three;
    }
    panels =
        pairs || terms || (hasPanelGemm(set) && (split() || !transposeA) && worth(kPanelTileRows));
}

/// Cuts what would be one or two tiles for more threads. A product of rows by a weight is cut into
/// columns, and the weight's gradient into rows: both are then the same part of the weight, which a
/// thread finds in its own cache, where it has updated it. The library is as fast for 64 rows. Its
/// order of a sum may depend on the rows and columns of a piece, which depend on the shapes alone.
void MatmulPlan::cutTile() {
    constexpr int64_t kLeastColumns = 128, kLeastGradientRows = 64, kLeastTerms = 1 << 19;
    constexpr int64_t kLeastRows = 16, kLeastSmallColumns = 64, kLeastSmallTerms = 1 << 16;
    if (!large && m >= 2 * kLeastRows)
        tileRows = pieceOf(m, kLeastRows, m * n * k / kLeastSmallTerms);
    else if (!large)
        tileColumns = pieceOf(n, kLeastSmallColumns, m * n * k / kLeastSmallTerms);
    else if (transposeA && m >= 2 * kLeastGradientRows)
        tileRows = pieceOf(m, kLeastGradientRows, m * n * k / kLeastTerms);
    else
        tileColumns = pieceOf(n, kLeastColumns, m * n * k / kLeastTerms);
}

/// Cuts the columns of few rows for more threads: the bits are the same however they are cut.
void MatmulPlan::cutColumns() {
    constexpr int64_t kLeastColumns = 2 * kPanelColumns, kMostTiles = 16;
    const int64_t pieces =
        std::clamp<int64_t>(kMostTiles / rowTiles, 1, std::max<int64_t>(1, n / kLeastColumns));
    tileColumns = ceilDiv(ceilDiv(n, pieces), kPanelColumns) * kPanelColumns;
}

int64_t MatmulPlan::chunks() const { return ceilDiv(k, kSplitDepth); }

/// Returns the panels of all blocks of the inner axis.
int64_t MatmulPlan::blockPanels() const {
    return ceilDiv(k, kPanelDepth) * ceilDiv(n, kPanelColumns);
}

size_t MatmulPlan::packedFloats() const {
    if (!packsB()) return 0;
    return panels ? exponentsAt() + areaFloats(2 * blockPanels()) : areaFloats(k * n);
}

size_t MatmulPlan::biasFloats() const { return bias && in != DType::F32 ? areaFloats(n) : 0; }

size_t MatmulPlan::exponentsAt() const {
    return areaFloats(static_cast<int64_t>(panelFloats(pairs ? pairsOf(k) : k, n)) * planesOfB());
}

size_t MatmulPlan::wideFloats() const {
    if (terms)
        return areaFloats((split() ? m : std::min(tileRows, m)) * kPanelDepth * planesOfA(*terms));
    if (!low()) return 0;
    if (pairs) return areaFloats(split() ? kPairDepth * m : std::min(tileRows, m) * kPairDepth);
    if (split()) return areaFloats(kSplitDepth * m) + areaFloats(kSplitDepth * n);
    return areaFloats(std::min(tileRows, m) * std::min(k, kDepth)) +
           (byMatrix ? areaFloats(k * n) : 0);
}

size_t MatmulPlan::threadFloats() const {
    const bool direct = split() || (!low() && out == DType::F32);
    const size_t pieceOfB =
        split() && panels
            ? areaFloats(static_cast<int64_t>(panelFloats(pairs ? kPairDepth : kPanelDepth, n)) *
                         planesOfB())
            : 0;
    return wideFloats() + pieceOfB + (direct ? 0 : areaFloats(std::min(tileRows, m) * tileColumns));
}

int64_t MatmulPlan::tasks() const {
    return split() ? parts : rowTiles * columnTiles * (packsB() ? 1 : batch);
}

size_t MatmulPlan::partialFloats() const {
    return split() ? static_cast<size_t>(parts) * areaFloats(m * n) : 0;
}

} // namespace halfscope
