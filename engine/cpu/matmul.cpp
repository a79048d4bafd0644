// Matrix products of the graph on the CPU: tiles of rows over all threads; products with a long
// inner axis (weight gradients) are cut along it into a fixed number of partial sums, added in
// order. 16-bit operands are widened tile by tile: the product of two halves is exact in f32. TF32
// rounds f32 operands on the same way. Pairs of bfloat16 are packed instead where the processor
// multiplies them.
#include "engine/cpu/matmul.h"

#include "engine/cpu/pair_gemm.h"
#include "engine/cpu/panel_gemm.h"
#include "engine/cpu/small_gemm.h"
#include "engine/cpu/support.h"
#include "engine/cpu/tf32.h"

#include <algorithm>
#include <bit>

namespace halfscope {

namespace {

constexpr int64_t kTileRows = 512; ///< of a tile for the library: operand and result stay in L2
/// Of a tile by panels: as fast as many, and what a chain reads again is still in L2.
constexpr int64_t kPanelTileRows = 128;
constexpr int64_t kPairRows = 16; ///< the least that a product of pairs is for
constexpr int64_t kTileColumns = 1024;
constexpr int64_t kDepth = 1024;     ///< inner extent taken at once for 16-bit operands
constexpr int64_t kSplitDepth = 512; ///< inner extent of one partial product
constexpr int64_t kMaxParts = 16;    ///< partial sums of a split product

size_t areaFloats(int64_t floats) { return static_cast<size_t>(alignedFloats(floats)); }

/// Widens a block of `rows` x `columns` with leading dimension `ld` to a dense f32 block, as the
/// plan's arithmetic takes it.
void widen(const MatmulPlan& plan, const void* from, int64_t first, int64_t ld, int64_t rows,
           int64_t columns, float* to) {
    const DType type = plan.in;
    if (ld == columns) {
        loadAsFloat(type, elementAt(from, first, type), to, static_cast<size_t>(rows * columns));
    } else {
        for (int64_t row = 0; row < rows; ++row)
            loadAsFloat(type, elementAt(from, first + row * ld, type), to + row * columns,
                        static_cast<size_t>(columns));
    }
    if (plan.tf32) roundToTf32(to, static_cast<size_t>(rows * columns));
}

/// Scratch as pairs of bfloat16.
uint32_t* lanesOf(float* area) { return reinterpret_cast<uint32_t*>(area); }

/// One block of pairs, by f32 where a value or a sum may be subnormal.
void multiplyBlock(const PanelShape& shape, const uint32_t* a, int leastOfA, const uint32_t* panels,
                   int leastOfB, float* c) {
    if (staysNormal(leastOfA, leastOfB))
        multiplyPairs(widestVectorSet(), shape, a, panels, c);
    else
        multiplyPairsWidened(widestVectorSet(), shape, a, panels, c);
}

/// The extent of a piece where an extent is cut into `most` pieces or fewer, by powers of two, none
/// of them smaller than `least`.
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
    m = node.shape[node.shape.rank() - 2];
    n = node.shape.back();
    k = attrs.transposeA ? a[a.rank() - 2] : a.back();
    batch = node.elements() / std::max<int64_t>(m * n, 1);
    tf32 = node.math == MathMode::TF32;
    // A long inner axis over a small result has too few tiles to share among threads.
    if (batch == 1 && k >= 2 * kSplitDepth && m * n <= 1 << 20 && k > 2 * std::max(m, n))
        parts = std::min(kMaxParts, ceilDiv(k, kSplitDepth));
    // By the whole of it: many rows have small tiles, but a training with many rows is large, and
    // double sums of one or two products take three times as long as what they are for.
    large = !isSmallGemm({m, n, k, transposeA});
    // A few rows are not worth the packing. A split product packs its pieces of b as it goes: that
    // takes 0 to 8 % longer than the library's from 128 columns on, and gives bits that AVX2 and
    // AVX-512 share.
    const bool wide = large && n >= kPanelColumns;
    const bool splits = split() && transposeA && !transposeB && m >= kPanelColumns;
    // The library knows no pairs: worth the packing for fewer rows.
    pairs = wide && in == DType::BF16 && hasPairGemm(widestVectorSet()) &&
            (split() ? splits : m >= kPairRows);
    panels = pairs || (wide && hasPanelGemm(widestVectorSet()) &&
                       (split() ? splits : !transposeA && m >= kPanelTileRows));
    tileRows = panels ? kPanelTileRows : kTileRows;
    tileColumns = panels ? n : std::min(n, kTileColumns);
    const bool few = m <= kTileRows && n <= 2 * kTileColumns;
    rowTiles = ceilDiv(m, tileRows);
    if (!split() && few && m > 0 && pairs) cutPairs();
    if (!split() && few && m > 0 && !panels) cutTile();
    rowTiles = ceilDiv(m, tileRows);
    columnTiles = ceilDiv(n, std::max<int64_t>(tileColumns, 1));
}

/// Cuts what would be one or two tiles for more threads. The library's order of a sum hangs on the
/// rows of a product (AVX2) and on whether its columns are few (AVX-512), so that its products are
/// cut into pieces of many columns; our own small ones may be cut anywhere.
void MatmulPlan::cutTile() {
    constexpr int64_t kLeastColumns = 128, kLeastTerms = 1 << 19;
    constexpr int64_t kLeastRows = 16, kLeastSmallTerms = 1 << 16;
    if (large)
        tileColumns = pieceOf(n, kLeastColumns, m * n * k / kLeastTerms);
    else
        tileRows = pieceOf(m, kLeastRows, m * n * k / kLeastSmallTerms);
}

/// Columns of few rows for more threads: the bits are the same however they are cut.
void MatmulPlan::cutPairs() {
    constexpr int64_t kLeastColumns = 2 * kPanelColumns, kMostTiles = 16;
    const int64_t pieces =
        std::clamp<int64_t>(kMostTiles / rowTiles, 1, std::max<int64_t>(1, n / kLeastColumns));
    tileColumns = ceilDiv(ceilDiv(n, pieces), kPanelColumns) * kPanelColumns;
}

int64_t MatmulPlan::chunks() const { return ceilDiv(k, kSplitDepth); }

/// Blocks of the inner axis by panels.
int64_t MatmulPlan::blockPanels() const {
    return ceilDiv(k, kPanelDepth) * ceilDiv(n, kPanelColumns);
}

size_t MatmulPlan::packedFloats() const {
    if (!packsB()) return 0;
    if (pairs) // and their least exponents
        return areaFloats(static_cast<int64_t>(panelFloats(pairsOf(k), n))) +
               areaFloats(blockPanels());
    return areaFloats(
        static_cast<int64_t>(panels ? panelFloats(k, n) : static_cast<size_t>(k * n)));
}

size_t MatmulPlan::wideFloats() const {
    if (!low()) return 0;
    if (pairs) return areaFloats(split() ? kPairDepth * m : std::min(tileRows, m) * kPairDepth);
    if (split()) return areaFloats(kSplitDepth * m) + areaFloats(kSplitDepth * n);
    return areaFloats(std::min(tileRows, m) * std::min(k, kDepth));
}

size_t MatmulPlan::threadFloats() const {
    const bool direct = split() || (!low() && out == DType::F32);
    const size_t pieceOfB =
        split() && panels
            ? areaFloats(static_cast<int64_t>(panelFloats(pairs ? kPairDepth : kPanelDepth, n)))
            : 0;
    return wideFloats() + pieceOfB + (direct ? 0 : areaFloats(std::min(tileRows, m) * tileColumns));
}

int64_t MatmulPlan::tasks() const {
    return split() ? parts : rowTiles * columnTiles * (packsB() ? 1 : batch);
}

size_t MatmulPlan::partialFloats() const {
    return split() ? static_cast<size_t>(parts) * areaFloats(m * n) : 0;
}

Matmul::Matmul(const CpuCall& call, const MatmulPlan& plan)
    : m_call(call), m_plan(plan), m_scratch(scratchFloats(call)) {}

bool Matmul::stopped() const { return halfscope::stopped(m_call); }

float* Matmul::threadArea(int thread) const {
    return partial(m_plan.parts) + static_cast<size_t>(thread) * m_plan.threadFloats();
}

float* Matmul::partial(int64_t part) const {
    return m_scratch + m_plan.packedFloats() +
           (m_plan.split() ? static_cast<size_t>(part) * areaFloats(m_plan.m * m_plan.n) : 0);
}

void Matmul::run() const {
    const MatmulPlan& p = m_plan;
    if (p.k == 0) {
        std::fill_n(static_cast<std::byte*>(m_call.out), m_call.node.bytes(), std::byte{0});
        return;
    }
    if (p.split()) {
        m_call.pool.run(p.parts, [&](int64_t part, int thread) {
            const int64_t begin = p.chunks() * part / p.parts,
                          end = p.chunks() * (part + 1) / p.parts;
            for (int64_t chunk = begin; chunk < end && !stopped(); ++chunk)
                splitChunk(chunk * kSplitDepth, chunk > begin, thread, partial(part));
        });
        finish();
        return;
    }
    const int64_t perBatch = p.rowTiles * p.columnTiles;
    // The packed b of one batch is there at a time.
    const int64_t together = p.packsB() ? 1 : p.batch;
    for (int64_t batch = 0; batch < p.batch; batch += together) {
        if (p.packsB()) packB(batch);
        m_call.pool.run(p.tasks(), [&](int64_t task, int thread) {
            if (!stopped()) tile(batch + task / perBatch, task % perBatch, thread);
        });
    }
}

// ---- by rows -----------------------------------------------------------------------------------

bool Matmul::runsByRows(const MatmulPlan& p) {
    if (p.batch != 1 || p.k == 0) return false;
    if (!p.split()) return !p.transposeA;
    return p.transposeA && !p.transposeB && p.chunks() % p.parts == 0;
}

int64_t Matmul::rowStep(const MatmulPlan& p) { return p.split() ? kSplitDepth : p.tileRows; }

int64_t Matmul::rowUnit(const MatmulPlan& p) {
    return p.split() ? p.chunks() / p.parts * kSplitDepth : p.tileRows;
}

void Matmul::prepare() const {
    if (m_plan.packsB()) packB(0);
}

void Matmul::rows(int64_t begin, int64_t end, int thread) const {
    for (int64_t row = begin; row < end; row += rowStep(m_plan)) {
        if (m_plan.split()) {
            const int64_t unit = rowUnit(m_plan);
            splitChunk(row, row % unit != 0, thread, partial(row / unit));
        } else {
            for (int64_t column = 0; column < m_plan.columnTiles; ++column)
                tile(0, row / m_plan.tileRows * m_plan.columnTiles + column, thread);
        }
    }
}

/// Adds the partial sums of a split product.
void Matmul::finish() const {
    const MatmulPlan& p = m_plan;
    if (!p.split()) return;
    const int64_t elements = p.m * p.n, block = 4096;
    m_call.pool.run(ceilDiv(elements, block), [&](int64_t task, int) {
        const int64_t first = task * block, count = std::min(block, elements - first);
        float* sum = partial(0) + first;
        for (int64_t part = 1; part < p.parts; ++part) {
            const float* more = partial(part) + first;
            for (int64_t i = 0; i < count; ++i)
                sum[i] += more[i];
        }
        storeFromFloat(p.out, sum, elementAt(m_call.out, first, p.out), static_cast<size_t>(count));
    });
}

// ---- tiles -------------------------------------------------------------------------------------

void Matmul::packB(int64_t batch) const {
    const MatmulPlan& p = m_plan;
    if (p.panels) {
        p.pairs ? packPairPanels(batch) : packPanels(batch);
        return;
    }
    const int64_t rows = p.transposeB ? p.n : p.k, ld = p.ldb();
    const int64_t chunk = std::max<int64_t>(1, (1 << 16) / ld);
    m_call.pool.run(ceilDiv(rows, chunk), [&](int64_t task, int) {
        const int64_t row = task * chunk, count = std::min(chunk, rows - row);
        widen(p, m_call.in[1].data, (batch * rows + row) * ld, ld, count, ld, m_scratch + row * ld);
    });
}

void Matmul::packPanels(int64_t batch) const {
    const MatmulPlan& p = m_plan;
    const int64_t base = batch * p.k * p.n, panels = ceilDiv(p.n, kPanelColumns);
    m_call.pool.run(panels * ceilDiv(p.k, kPanelDepth), [&](int64_t task, int) {
        const int64_t first = task / panels * kPanelDepth, column = task % panels * kPanelColumns;
        const int64_t depth = std::min(kPanelDepth, p.k - first),
                      columns = std::min(kPanelColumns, p.n - column);
        float block[kPanelDepth * kPanelColumns];
        if (p.transposeB)
            widen(p, m_call.in[1].data, base + column * p.k + first, p.k, columns, depth, block);
        else
            widen(p, m_call.in[1].data, base + first * p.n + column, p.n, depth, columns, block);
        packPanel(block, p.transposeB ? 1 : columns, p.transposeB ? depth : 1, depth, columns,
                  m_scratch + panelOffset(p.k, p.n, first, column));
    });
}

/// Behind the packed panels: the least exponent of each, block by block.
int* Matmul::leastOfB() const {
    return reinterpret_cast<int*>(
        m_scratch + areaFloats(static_cast<int64_t>(panelFloats(pairsOf(m_plan.k), m_plan.n))));
}

void Matmul::packPairPanels(int64_t batch) const {
    const MatmulPlan& p = m_plan;
    const auto* b = static_cast<const uint16_t*>(m_call.in[1].data) + batch * p.k * p.n;
    const int64_t panels = ceilDiv(p.n, kPanelColumns);
    m_call.pool.run(p.blockPanels(), [&](int64_t task, int) {
        const int64_t first = task / panels * kPanelDepth, column = task % panels * kPanelColumns;
        leastOfB()[task] = packPairPanel(
            b + (p.transposeB ? column * p.k + first : first * p.n + column), p.ldb(), p.transposeB,
            std::min(kPanelDepth, p.k - first), std::min(kPanelColumns, p.n - column),
            lanesOf(m_scratch) + panelOffset(pairsOf(p.k), p.n, first / 2, column, kPairDepth));
    });
}

void Matmul::tile(int64_t batch, int64_t tile, int thread) const {
    const int64_t row = tile / m_plan.columnTiles * m_plan.tileRows,
                  column = tile % m_plan.columnTiles * m_plan.tileColumns;
    if (m_plan.pairs)
        tilePairs(batch, row, column, thread);
    else if (m_plan.low())
        tileLow(batch, row, column, thread);
    else
        tileF32(batch, row, column, thread);
}

void Matmul::product(const GemmShape& shape, const float* a, const float* b, float* c) const {
    if (m_plan.large)
        libraryGemm(shape, a, b, c);
    else
        gemm(shape, a, b, c);
}

void Matmul::tileF32(int64_t batch, int64_t row, int64_t column, int thread) const {
    const MatmulPlan& p = m_plan;
    const int64_t rows = std::min(p.tileRows, p.m - row),
                  columns = std::min(p.tileColumns, p.n - column);
    const float* a = static_cast<const float*>(m_call.in[0].data) + batch * p.m * p.k +
                     (p.transposeA ? row : row * p.k);
    const int64_t first = (batch * p.m + row) * p.n + column;
    const bool direct = p.out == DType::F32;
    float* c = direct ? static_cast<float*>(m_call.out) + first : threadArea(thread);
    const int64_t ldc = direct ? p.n : columns;
    if (p.panels) {
        multiplyPanels(widestVectorSet(), {rows, columns, p.k, p.k, ldc}, a, m_scratch, c);
    } else {
        const float* b = static_cast<const float*>(m_call.in[1].data) + batch * p.k * p.n +
                         (p.transposeB ? column * p.k : column);
        product({rows, columns, p.k, p.transposeA, p.transposeB, p.lda(), p.ldb(), ldc, false}, a,
                b, c);
    }
    if (!direct) narrow(c, rows, columns, first);
}

void Matmul::tileLow(int64_t batch, int64_t row, int64_t column, int thread) const {
    const MatmulPlan& p = m_plan;
    const int64_t rows = std::min(p.tileRows, p.m - row),
                  columns = std::min(p.tileColumns, p.n - column);
    float* wideA = threadArea(thread);
    float* c = wideA + p.wideFloats();
    for (int64_t k = 0; k < p.k; k += kDepth) {
        const int64_t depth = std::min(kDepth, p.k - k);
        const int64_t base = batch * p.m * p.k;
        if (p.transposeA)
            widen(p, m_call.in[0].data, base + k * p.m + row, p.m, depth, rows, wideA);
        else
            widen(p, m_call.in[0].data, base + row * p.k + k, p.k, rows, depth, wideA);
        if (p.panels) {
            multiplyPanels(widestVectorSet(), {rows, columns, depth, depth, columns, false, k > 0},
                           wideA, m_scratch + panelOffset(p.k, p.n, k, 0), c);
            continue;
        }
        const float* b = m_scratch + (p.transposeB ? column * p.k + k : k * p.n + column);
        product({rows, columns, depth, p.transposeA, p.transposeB, p.transposeA ? rows : depth,
                 p.ldb(), columns, k > 0},
                wideA, b, c);
    }
    narrow(c, rows, columns, (batch * p.m + row) * p.n + column);
}

void Matmul::tilePairs(int64_t batch, int64_t row, int64_t column, int thread) const {
    const MatmulPlan& p = m_plan;
    const int64_t rows = std::min(p.tileRows, p.m - row),
                  columns = std::min(p.tileColumns, p.n - column),
                  panels = ceilDiv(p.n, kPanelColumns);
    const auto* a = static_cast<const uint16_t*>(m_call.in[0].data) + batch * p.m * p.k;
    uint32_t* packed = lanesOf(threadArea(thread));
    float* c = threadArea(thread) + p.wideFloats();
    const int* least = leastOfB() + column / kPanelColumns;
    for (int64_t k = 0; k < p.k; k += kPanelDepth, least += panels) {
        const int64_t depth = std::min(kPanelDepth, p.k - k), pairs = pairsOf(depth);
        const int leastOfA = p.transposeA
                                 ? interleavePairs(a + k * p.m + row, p.m, depth, rows, packed)
                                 : packPairs(a + row * p.k + k, p.k, rows, depth, packed);
        const PanelShape shape{rows,    columns,      pairs, p.transposeA ? rows : pairs,
                               columns, p.transposeA, k > 0};
        const uint32_t* b =
            lanesOf(m_scratch) + panelOffset(pairsOf(p.k), p.n, k / 2, column, kPairDepth);
        multiplyBlock(shape, packed, leastOfA, b,
                      *std::min_element(least, least + ceilDiv(columns, kPanelColumns)), c);
    }
    narrow(c, rows, columns, (batch * p.m + row) * p.n + column);
}

void Matmul::narrow(const float* c, int64_t rows, int64_t columns, int64_t first) const {
    std::byte* out = elementAt(m_call.out, first, m_plan.out);
    if (columns == m_plan.n) {
        storeFromFloat(m_plan.out, c, out, static_cast<size_t>(rows * columns));
        return;
    }
    const int64_t stride = m_plan.n * static_cast<int64_t>(bytesOf(m_plan.out));
    for (int64_t row = 0; row < rows; ++row)
        storeFromFloat(m_plan.out, c + row * columns, out + row * stride,
                       static_cast<size_t>(columns));
}

/// Adds the product over inner indices [k, k + kSplitDepth) to c.
void Matmul::splitChunk(int64_t k, bool accumulate, int thread, float* c) const {
    const MatmulPlan& p = m_plan;
    if (p.pairs) {
        splitChunkPairs(k, accumulate, thread, c);
        return;
    }
    const int64_t depth = std::min(kSplitDepth, p.k - k);
    const float* a = static_cast<const float*>(m_call.in[0].data) + (p.transposeA ? k * p.m : k);
    const float* b = static_cast<const float*>(m_call.in[1].data) + (p.transposeB ? k : k * p.n);
    int64_t lda = p.lda(), ldb = p.ldb();
    if (p.low()) {
        float* wideA = threadArea(thread);
        float* wideB = wideA + areaFloats(kSplitDepth * p.m);
        if (p.transposeA)
            widen(p, m_call.in[0].data, k * p.m, p.m, depth, p.m, wideA);
        else
            widen(p, m_call.in[0].data, k, p.k, p.m, depth, wideA);
        if (p.transposeB)
            widen(p, m_call.in[1].data, k, p.k, p.n, depth, wideB);
        else
            widen(p, m_call.in[1].data, k * p.n, p.n, depth, p.n, wideB);
        lda = p.transposeA ? p.m : depth;
        ldb = p.transposeB ? depth : p.n;
        a = wideA;
        b = wideB;
    }
    if (!p.panels) {
        product({p.m, p.n, depth, p.transposeA, p.transposeB, lda, ldb, p.n, accumulate}, a, b, c);
        return;
    }
    float* panels = threadArea(thread) + p.wideFloats();
    for (int64_t first = 0; first < depth; first += kPanelDepth) {
        const int64_t rows = std::min(kPanelDepth, depth - first);
        for (int64_t column = 0; column < p.n; column += kPanelColumns)
            packPanel(b + first * ldb + column, ldb, 1, rows, std::min(kPanelColumns, p.n - column),
                      panels + panelOffset(rows, p.n, 0, column));
        multiplyPanels(widestVectorSet(), {p.m, p.n, rows, lda, p.n, true, accumulate || first > 0},
                       a + first * lda, panels, c);
    }
}

void Matmul::splitChunkPairs(int64_t k, bool accumulate, int thread, float* c) const {
    const MatmulPlan& p = m_plan;
    const auto* a = static_cast<const uint16_t*>(m_call.in[0].data);
    const auto* b = static_cast<const uint16_t*>(m_call.in[1].data);
    uint32_t* packed = lanesOf(threadArea(thread));
    uint32_t* panels = lanesOf(threadArea(thread) + p.wideFloats());
    const int64_t end = std::min(k + kSplitDepth, p.k);
    for (int64_t first = k; first < end; first += kPanelDepth) {
        const int64_t depth = std::min(kPanelDepth, end - first), pairs = pairsOf(depth);
        const int leastOfA = interleavePairs(a + first * p.m, p.m, depth, p.m, packed);
        int leastOfB = kNoExponent;
        for (int64_t column = 0; column < p.n; column += kPanelColumns)
            leastOfB = std::min(
                leastOfB, packPairPanel(b + first * p.n + column, p.n, false, depth,
                                        std::min(kPanelColumns, p.n - column),
                                        panels + panelOffset(pairs, p.n, 0, column, kPairDepth)));
        multiplyBlock({p.m, p.n, pairs, p.m, p.n, true, accumulate || first > k}, packed, leastOfA,
                      panels, leastOfB, c);
    }
}

size_t cpuMatmulScratchBytes(const Graph& graph, NodeId id, int threads) {
    const Node& node = graph[id];
    const Node& a = graph[node.in[0]];
    const MatmulPlan plan(node, a.shape, a.dtype);
    return sizeof(float) * plan.scratchFloats(threadsFor(plan.tasks(), threads));
}

void cpuMatmul(const CpuCall& call) {
    Matmul(call, MatmulPlan(call.node, *call.in[0].shape, call.in[0].dtype)).run();
}

} // namespace halfscope
