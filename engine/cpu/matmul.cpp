// Matrix products of the graph on the CPU: tiles of rows over all threads. Products with a long
// inner axis (weight gradients) are cut along it into a fixed number of partial sums, which are
// added in order. 16-bit operands are widened tile by tile: the product of two halves is exact in
// f32. TF32 rounds f32 operands in the same way. Pairs of bfloat16 are packed instead where the
// processor multiplies them; where it does so by tiles, so are the terms whose sums the values of
// other types are.
#include "engine/cpu/matmul.h"

#include "engine/cpu/pair_gemm.h"
#include "engine/cpu/panel_gemm.h"
#include "engine/cpu/small_gemm.h"
#include "engine/cpu/support.h"
#include "engine/cpu/tf32.h"

#include <algorithm>

namespace halfscope {

namespace {

/// Widens a block of `rows` x `columns` with leading dimension `ld` to a dense f32 block, in the
/// form that the plan's arithmetic takes.
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

/// Returns scratch as pairs of bfloat16.
uint32_t* lanesOf(float* area) { return reinterpret_cast<uint32_t*>(area); }

} // namespace

Matmul::Matmul(const CpuCall& call, const MatmulPlan& plan)
    : m_call(call), m_plan(plan), m_scratch(scratchFloats(call)) {}

bool Matmul::stopped() const { return halfscope::stopped(m_call); }

float* Matmul::threadArea(int thread) const {
    return partial(m_plan.parts) + static_cast<size_t>(thread) * m_plan.threadFloats();
}

float* Matmul::partial(int64_t part) const {
    return m_scratch + m_plan.packedFloats() + m_plan.biasFloats() +
           (m_plan.split() ? static_cast<size_t>(part) * areaFloats(m_plan.m * m_plan.n) : 0);
}

void Matmul::run() const {
    const MatmulPlan& p = m_plan;
    widenBias();
    if (p.k == 0) {
        storeBias();
        return;
    }
    if (p.split()) {
        m_call.pool.run(p.parts, [&](int64_t part, int thread) {
            const int64_t begin = p.chunks() * part / p.parts,
                          end = p.chunks() * (part + 1) / p.parts;
            for (int64_t chunk = begin; chunk < end && !stopped(); ++chunk)
                splitChunk(chunk * MatmulPlan::kSplitDepth, chunk > begin, thread, partial(part));
        });
        finish();
        return;
    }
    const int64_t perBatch = p.rowTiles * p.columnTiles;
    // Only the packed b of one batch exists at a time.
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

int64_t Matmul::rowStep(const MatmulPlan& p) {
    return p.split() ? MatmulPlan::kSplitDepth : p.tileRows;
}

int64_t Matmul::rowUnit(const MatmulPlan& p) {
    return p.split() ? p.chunks() / p.parts * MatmulPlan::kSplitDepth : p.tileRows;
}

void Matmul::prepare() const {
    widenBias();
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
        for (int64_t i = 0; p.bias && i < count;) {
            const int64_t column = (first + i) % p.n, columns = std::min(p.n - column, count - i);
            addBias(sum + i, 1, columns, p.n, column);
            i += columns;
        }
        storeFromFloat(p.out, sum, elementAt(m_call.out, first, p.out), static_cast<size_t>(count));
    });
}

// ---- bias --------------------------------------------------------------------------------------

const float* Matmul::bias() const {
    return m_plan.biasFloats() > 0 ? m_scratch + m_plan.packedFloats()
                                   : static_cast<const float*>(m_call.in[2].data);
}

void Matmul::widenBias() const {
    if (m_plan.biasFloats() > 0)
        loadAsFloat(m_plan.in, m_call.in[2].data, m_scratch + m_plan.packedFloats(),
                    static_cast<size_t>(m_plan.n));
}

/// Stores the result of a product without terms.
void Matmul::storeBias() const {
    const MatmulPlan& p = m_plan;
    std::fill_n(static_cast<std::byte*>(m_call.out), m_call.node.bytes(), std::byte{0});
    for (int64_t row = 0; p.bias && row < p.batch * p.m; ++row)
        storeFromFloat(p.out, bias(), elementAt(m_call.out, row * p.n, p.out),
                       static_cast<size_t>(p.n));
}

void Matmul::addBias(float* c, int64_t rows, int64_t columns, int64_t ldc, int64_t column) const {
    if (!m_plan.bias) return;
    const float* more = bias() + column;
    for (int64_t row = 0; row < rows; ++row, c += ldc)
        for (int64_t i = 0; i < columns; ++i)
            c[i] += more[i];
}

// ---- tiles -------------------------------------------------------------------------------------

void Matmul::packB(int64_t batch) const {
    const MatmulPlan& p = m_plan;
    if (p.panels) {
        p.pairs ? packPairPanels(batch) : p.terms ? packTermPanels(batch) : packPanels(batch);
        return;
    }
    const int64_t rows = p.transposeB ? p.n : p.k, ld = p.ldb();
    const int64_t chunk = std::max<int64_t>(1, (1 << 16) / ld);
    m_call.pool.run(ceilDiv(rows, chunk), [&](int64_t task, int) {
        const int64_t row = task * chunk, count = std::min(chunk, rows - row);
        widen(p, m_call.in[1].data, (batch * rows + row) * ld, ld, count, ld, m_scratch + row * ld);
    });
}

/// Some rows and columns of the result, and one block of the inner axis.
struct Matmul::Block {
    int64_t batch, k, depth, row, rows, column, columns;
};

/// Packs the block's panel of b at a column of the result, in the form that the plan's arithmetic
/// takes.
void Matmul::widePanel(const Block& block, int64_t column, float* panel) const {
    const MatmulPlan& p = m_plan;
    const int64_t base = block.batch * p.k * p.n, depth = block.depth,
                  columns = std::min(kPanelColumns, block.column + block.columns - column);
    float wide[kPanelDepth * kPanelColumns];
    if (p.transposeB)
        widen(p, m_call.in[1].data, base + column * p.k + block.k, p.k, columns, depth, wide);
    else
        widen(p, m_call.in[1].data, base + block.k * p.n + column, p.n, depth, columns, wide);
    packPanel(usedVectorSet(), wide, p.transposeB ? 1 : columns, p.transposeB ? depth : 1, depth,
              columns, panel);
}

void Matmul::packPanels(int64_t batch) const {
    const MatmulPlan& p = m_plan;
    const int64_t panels = ceilDiv(p.n, kPanelColumns);
    m_call.pool.run(p.blockPanels(), [&](int64_t task, int) {
        const int64_t first = task / panels * kPanelDepth, column = task % panels * kPanelColumns;
        widePanel({batch, first, std::min(kPanelDepth, p.k - first), 0, 0, 0, p.n}, column,
                  m_scratch + panelOffset(p.k, p.n, first, column));
    });
}

template <class Exponents>
Exponents* Matmul::exponentsOfB() const {
    static_assert(sizeof(Exponents) <= 2 * sizeof(float));
    return reinterpret_cast<Exponents*>(m_scratch + m_plan.exponentsAt());
}

void Matmul::packPairPanels(int64_t batch) const {
    const MatmulPlan& p = m_plan;
    const auto* b = static_cast<const uint16_t*>(m_call.in[1].data) + batch * p.k * p.n;
    const int64_t panels = ceilDiv(p.n, kPanelColumns);
    m_call.pool.run(p.blockPanels(), [&](int64_t task, int) {
        const int64_t first = task / panels * kPanelDepth, column = task % panels * kPanelColumns;
        exponentsOfB<int>()[task] = packPairPanel(
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
    else if (m_plan.terms)
        tileTerms(batch, row, column, thread);
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

/// Multiplies a block of `a` by the packed b.
void Matmul::multiplyByPanels(const Block& x, const float* a, int64_t lda, float* c,
                              int64_t ldc) const {
    const MatmulPlan& p = m_plan;
    for (int64_t k = 0; k < x.depth; k += kPanelDepth)
        multiplyPanels(
            usedVectorSet(),
            {x.rows, x.columns, std::min(kPanelDepth, x.depth - k), lda, ldc, false, x.k + k > 0},
            a + k, m_scratch + panelOffset(p.k, p.n, x.k + k, x.column), c);
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
        multiplyByPanels({batch, 0, p.k, row, rows, column, columns}, a, p.k, c, ldc);
    } else {
        const float* b = static_cast<const float*>(m_call.in[1].data) + batch * p.k * p.n +
                         (p.transposeB ? column * p.k : column);
        product({rows, columns, p.k, p.transposeA, p.transposeB, p.lda(), p.ldb(), ldc, false}, a,
                b, c);
    }
    if (direct)
        addBias(c, rows, columns, ldc, column);
    else
        narrow(c, rows, columns, first);
}

void Matmul::tileLow(int64_t batch, int64_t row, int64_t column, int thread) const {
    const MatmulPlan& p = m_plan;
    const int64_t rows = std::min(p.tileRows, p.m - row),
                  columns = std::min(p.tileColumns, p.n - column);
    float* wideA = threadArea(thread);
    float* c = wideA + p.wideFloats();
    float* wideB = m_scratch;
    if (p.byMatrix) {
        wideB = c - areaFloats(p.k * p.n);
        widen(p, m_call.in[1].data, batch * p.k * p.n, p.ldb(), p.transposeB ? p.n : p.k, p.ldb(),
              wideB);
    }
    for (int64_t k = 0; k < p.k; k += MatmulPlan::kDepth) {
        const int64_t depth = std::min(MatmulPlan::kDepth, p.k - k);
        const int64_t base = batch * p.m * p.k;
        if (p.transposeA)
            widen(p, m_call.in[0].data, base + k * p.m + row, p.m, depth, rows, wideA);
        else
            widen(p, m_call.in[0].data, base + row * p.k + k, p.k, rows, depth, wideA);
        if (p.panels) {
            multiplyByPanels({batch, k, depth, row, rows, column, columns}, wideA, depth, c,
                             columns);
            continue;
        }
        const float* b = wideB + (p.transposeB ? column * p.k + k : k * p.n + column);
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
    const int* least = exponentsOfB<int>() + column / kPanelColumns;
    for (int64_t k = 0; k < p.k; k += kPanelDepth, least += panels) {
        const int64_t depth = std::min(kPanelDepth, p.k - k), pairs = pairsOf(depth);
        const int leastOfA = p.transposeA
                                 ? interleavePairs(a + k * p.m + row, p.m, depth, rows, packed)
                                 : packPairs(a + row * p.k + k, p.k, rows, depth, packed);
        const PanelShape shape{rows,    columns,      pairs, p.transposeA ? rows : pairs,
                               columns, p.transposeA, k > 0};
        const uint32_t* b =
            lanesOf(m_scratch) + panelOffset(pairsOf(p.k), p.n, k / 2, column, kPairDepth);
        multiplyPairBlock(shape, packed, leastOfA, b,
                          *std::min_element(least, least + ceilDiv(columns, kPanelColumns)), c);
    }
    narrow(c, rows, columns, (batch * p.m + row) * p.n + column);
}

void Matmul::narrow(float* c, int64_t rows, int64_t columns, int64_t first) const {
    std::byte* out = elementAt(m_call.out, first, m_plan.out);
    if (columns == m_plan.n && !m_plan.bias) {
        storeFromFloat(m_plan.out, c, out, static_cast<size_t>(rows * columns));
        return;
    }
    const int64_t stride = m_plan.n * static_cast<int64_t>(bytesOf(m_plan.out));
    for (int64_t row = 0; row < rows; ++row, c += columns, out += stride) {
        addBias(c, 1, columns, columns, first % m_plan.n);
        storeFromFloat(m_plan.out, c, out, static_cast<size_t>(columns));
    }
}

/// Adds the product over inner indices [k, k + MatmulPlan::kSplitDepth) to c.
void Matmul::splitChunk(int64_t k, bool accumulate, int thread, float* c) const {
    const MatmulPlan& p = m_plan;
    if (p.pairs) {
        splitChunkPairs(k, accumulate, thread, c);
        return;
    }
    if (p.terms) {
        splitChunkTerms(k, accumulate, thread, c);
        return;
    }
    const int64_t depth = std::min(MatmulPlan::kSplitDepth, p.k - k);
    const float* a = static_cast<const float*>(m_call.in[0].data) + (p.transposeA ? k * p.m : k);
    const float* b = static_cast<const float*>(m_call.in[1].data) + (p.transposeB ? k : k * p.n);
    int64_t lda = p.lda(), ldb = p.ldb();
    if (p.low()) {
        float* wideA = threadArea(thread);
        float* wideB = wideA + areaFloats(MatmulPlan::kSplitDepth * p.m);
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
            packPanel(usedVectorSet(), b + first * ldb + column, ldb, 1, rows,
                      std::min(kPanelColumns, p.n - column),
                      panels + panelOffset(rows, p.n, 0, column));
        multiplyPanels(usedVectorSet(), {p.m, p.n, rows, lda, p.n, true, accumulate || first > 0},
                       a + first * lda, panels, c);
    }
}

void Matmul::splitChunkPairs(int64_t k, bool accumulate, int thread, float* c) const {
    const MatmulPlan& p = m_plan;
    const auto* a = static_cast<const uint16_t*>(m_call.in[0].data);
    const auto* b = static_cast<const uint16_t*>(m_call.in[1].data);
    uint32_t* packed = lanesOf(threadArea(thread));
    uint32_t* panels = lanesOf(threadArea(thread) + p.wideFloats());
    const int64_t end = std::min(k + MatmulPlan::kSplitDepth, p.k);
    for (int64_t first = k; first < end; first += kPanelDepth) {
        const int64_t depth = std::min(kPanelDepth, end - first), pairs = pairsOf(depth);
        const int leastOfA = interleavePairs(a + first * p.m, p.m, depth, p.m, packed);
        int leastOfB = kNoExponent;
        for (int64_t column = 0; column < p.n; column += kPanelColumns)
            leastOfB = std::min(
                leastOfB, packPairPanel(b + first * p.n + column, p.n, false, depth,
                                        std::min(kPanelColumns, p.n - column),
                                        panels + panelOffset(pairs, p.n, 0, column, kPairDepth)));
        multiplyPairBlock({p.m, p.n, pairs, p.m, p.n, true, accumulate || first > k}, packed,
                          leastOfA, panels, leastOfB, c);
    }
}

// ---- terms -------------------------------------------------------------------------------------

FloatExponents Matmul::splitA(const Block& x, uint32_t* lanes) const {
    const MatmulPlan& p = m_plan;
    const int64_t lines = p.transposeA ? x.depth : x.rows, line = p.transposeA ? x.rows : x.depth;
    FloatExponents all;
    float wide[kPanelDepth];
    for (int64_t i = 0; i < lines; ++i)
        for (int64_t j = 0; j < line; j += kPanelDepth) {
            const int64_t first =
                              x.batch * p.m * p.k + (p.transposeA ? (x.k + i) * p.m + x.row + j
                                                                  : (x.row + i) * p.k + x.k + j),
                          count = std::min(kPanelDepth, line - j);
            widen(p, m_call.in[0].data, first, count, 1, count, wide);
            all.add(splitRow(*p.terms, wide, count, lanes + i * line + j, lines * line));
        }
    return all;
}

FloatExponents Matmul::termPanel(const Block& block, int64_t column, uint32_t* lanes) const {
    float panel[kPanelDepth * kPanelColumns];
    widePanel(block, column, panel);
    return splitPanel(*m_plan.terms, panel, block.depth, lanes);
}

void Matmul::packTermPanels(int64_t batch) const {
    const MatmulPlan& p = m_plan;
    const int64_t panels = ceilDiv(p.n, kPanelColumns);
    m_call.pool.run(p.blockPanels(), [&](int64_t task, int) {
        const int64_t first = task / panels * kPanelDepth, column = task % panels * kPanelColumns;
        exponentsOfB<FloatExponents>()[task] =
            termPanel({batch, first, std::min(kPanelDepth, p.k - first), 0, 0, 0, p.n}, column,
                      termPanelsAt(first, column));
    });
}

/// Returns where the packed b is for inner indices from `first` on.
uint32_t* Matmul::termPanelsAt(int64_t first, int64_t column) const {
    const MatmulPlan& p = m_plan;
    return lanesOf(m_scratch) +
           panelOffset(p.k, p.n, first, column) * static_cast<size_t>(planesOfB(*p.terms));
}

/// Multiplies by products of f32 what the tiles do not keep, from the operands themselves: it is
/// rare.
void Matmul::multiplyWideBlock(const Block& x, float* a, float* c, int64_t ldc,
                               bool accumulate) const {
    const MatmulPlan& p = m_plan;
    const int64_t lda = p.transposeA ? x.rows : x.depth, base = x.batch * p.m * p.k;
    if (p.transposeA)
        widen(p, m_call.in[0].data, base + x.k * p.m + x.row, p.m, x.depth, x.rows, a);
    else
        widen(p, m_call.in[0].data, base + x.row * p.k + x.k, p.k, x.rows, x.depth, a);
    float panel[kPanelDepth * kPanelColumns];
    for (int64_t column = 0; column < x.columns; column += kPanelColumns) {
        widePanel(x, x.column + column, panel);
        multiplyPanels(usedVectorSet(),
                       {x.rows, std::min(kPanelColumns, x.columns - column), x.depth, lda, ldc,
                        p.transposeA, accumulate},
                       a, panel, c + column);
    }
}

void Matmul::multiplyTermBlock(const Block& x, const uint32_t* panels, const FloatExponents& ofB,
                               int thread, float* c, int64_t ldc, bool accumulate) const {
    const MatmulPlan& p = m_plan;
    const FloatExponents ofA = splitA(x, lanesOf(threadArea(thread)));
    if (!tilesKeep(*p.terms, ofA, ofB)) {
        multiplyWideBlock(x, threadArea(thread), c, ldc, accumulate);
        return;
    }
    const PanelShape shape{x.rows, x.columns,    x.depth,   p.transposeA ? x.rows : x.depth,
                           ldc,    p.transposeA, accumulate};
    multiplyTerms(*p.terms, shape, x.rows * x.depth, lanesOf(threadArea(thread)), panels, c);
}

void Matmul::tileTerms(int64_t batch, int64_t row, int64_t column, int thread) const {
    const MatmulPlan& p = m_plan;
    Block x{.batch = batch,
            .k = 0,
            .depth = 0,
            .row = row,
            .rows = std::min(p.tileRows, p.m - row),
            .column = column,
            .columns = std::min(p.tileColumns, p.n - column)};
    const int64_t first = (batch * p.m + row) * p.n + column;
    const bool direct = p.in == DType::F32 && p.out == DType::F32 && !p.tf32;
    float* c =
        direct ? static_cast<float*>(m_call.out) + first : threadArea(thread) + p.wideFloats();
    const int64_t ldc = direct ? p.n : x.columns, panels = ceilDiv(p.n, kPanelColumns);
    const FloatExponents* exponents = exponentsOfB<FloatExponents>() + column / kPanelColumns;
    for (; x.k < p.k; x.k += kPanelDepth, exponents += panels) {
        x.depth = std::min(kPanelDepth, p.k - x.k);
        FloatExponents ofB;
        for (int64_t i = 0; i < ceilDiv(x.columns, kPanelColumns); ++i)
            ofB.add(exponents[i]);
        multiplyTermBlock(x, termPanelsAt(x.k, column), ofB, thread, c, ldc, x.k > 0);
    }
    if (direct)
        addBias(c, x.rows, x.columns, ldc, column);
    else
        narrow(c, x.rows, x.columns, first);
}

void Matmul::splitChunkTerms(int64_t k, bool accumulate, int thread, float* c) const {
    const MatmulPlan& p = m_plan;
    uint32_t* panels = lanesOf(threadArea(thread) + p.wideFloats());
    const int64_t end = std::min(k + MatmulPlan::kSplitDepth, p.k);
    for (int64_t first = k; first < end; first += kPanelDepth) {
        const Block x{0, first, std::min(kPanelDepth, end - first), 0, p.m, 0, p.n};
        FloatExponents ofB;
        for (int64_t column = 0; column < p.n; column += kPanelColumns)
            ofB.add(termPanel(x, column,
                              panels + panelOffset(x.depth, p.n, 0, column) *
                                           static_cast<size_t>(planesOfB(*p.terms))));
        multiplyTermBlock(x, panels, ofB, thread, c, p.n, accumulate || first > k);
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
