// The matrix product of a node, as a whole or row by row: a chain of kernels (row_chain.h) computes
// some rows with one kernel after the other while they are in cache.
#pragma once

#include "engine/cpu/cpu_kernels.h"
#include "engine/cpu/term_gemm.h"

#include <optional>

namespace halfscope {

/// How a node's product is cut. It depends only on its shapes and types, so that results do not
/// depend on the number of threads.
struct MatmulPlan {
    int64_t batch = 1, m = 0, n = 0, k = 0;
    bool transposeA = false, transposeB = false;
    bool bias = false; ///< whether one is added to each row before it is stored
    bool tf32 = false; ///< f32 operands are rounded when they are read
    DType in = DType::F32, out = DType::F32;
    int64_t parts = 1;                      ///< partial sums over the inner axis, added in order
    static constexpr int64_t kDepth = 1024; ///< inner extent taken at once for 16-bit operands
    static constexpr int64_t kSplitDepth = 512; ///< inner extent of one partial product

    MatmulPlan(const Node&, const Shape& a, DType in);

    /// Whether operands go through scratch, to be widened or rounded.
    bool low() const { return in != DType::F32 || tf32; }
    bool split() const { return parts > 1; }
    bool large = false;    ///< too large for the small product in a fixed order (small_gemm.h)
    bool byMatrix = false; ///< of many small matrices, each is one task, which widens what it needs
    /// By panels (panel_gemm.h): b is packed once, or piece by piece when the product is split.
    bool panels = false;
    bool pairs = false;         ///< panels of pairs of bfloat16 (pair_gemm.h)
    std::optional<Terms> terms; ///< panels of the terms whose sum a value is (term_gemm.h)
    int64_t tileRows = 1, tileColumns = 1, rowTiles = 1, columnTiles = 1;
    /// Whether b is rewritten before the tiles: widened or packed.
    bool packsB() const { return !split() && !byMatrix && (low() || panels); }
    int64_t lda() const { return transposeA ? m : k; }
    int64_t ldb() const { return transposeB ? k : n; }
    int64_t blockPanels() const;
    int64_t chunks() const; ///< when split: pieces of the inner axis per partial product

    /// The number of tasks for the pool at a time.
    int64_t tasks() const;

    // Floats of scratch: the packed b, then the bias, then the partial sums, then one area for each
    // thread.
    size_t packedFloats() const;
    size_t biasFloats() const;  ///< 0 when it is read where it is
    size_t exponentsAt() const; ///< in the packed b: two for each panel of each block
    size_t wideFloats() const;  ///< at the start of a thread's area: its part of the operands
    size_t threadFloats() const;
    size_t partialFloats() const;
    size_t scratchFloats(int threads) const {
        return packedFloats() + biasFloats() + partialFloats() +
               static_cast<size_t>(threads) * threadFloats();
    }

private:
    void choosePanels();
    void cutTile();
    void cutColumns();
    int64_t planesOfB() const { return terms ? halfscope::planesOfB(*terms) : 1; }
};

class Matmul {
public:
    /// The call must outlive it.
    Matmul(const CpuCall& call, const MatmulPlan&);

    /// Runs all of it.
    void run() const;

    /// Whether it can run in the three stages below: its rows are those of a and of the result or,
    /// for a split product, those of a and b, over which it sums.
    static bool runsByRows(const MatmulPlan&);
    static int64_t rowsOf(const MatmulPlan& plan) { return plan.split() ? plan.k : plan.m; }
    /// A range of rows starts at a multiple of the step. A unit of rows, which is a multiple of the
    /// step, is taken by one thread in order.
    static int64_t rowStep(const MatmulPlan&);
    static int64_t rowUnit(const MatmulPlan&);
    void prepare() const; ///< before the first rows: widens the bias and packs b, if need be
    void rows(int64_t begin, int64_t end, int thread) const;
    void finish() const; ///< after the last rows: writes what belongs to no row

private:
    bool stopped() const;
    float* threadArea(int thread) const;
    float* partial(int64_t part) const;
    void packB(int64_t batch) const;
    void packPanels(int64_t batch) const;
    void packPairPanels(int64_t batch) const;
    void packTermPanels(int64_t batch) const;
    /// The exponents of each panel of the packed b, block by block.
    template <class Exponents>
    Exponents* exponentsOfB() const;
    void tile(int64_t batch, int64_t tile, int thread) const;
    void product(const GemmShape&, const float* a, const float* b, float* c) const;
    void tileF32(int64_t batch, int64_t row, int64_t column, int thread) const;
    void tileLow(int64_t batch, int64_t row, int64_t column, int thread) const;
    void tilePairs(int64_t batch, int64_t row, int64_t column, int thread) const;
    void tileTerms(int64_t batch, int64_t row, int64_t column, int thread) const;
    const float* bias() const;
    void widenBias() const;
    void storeBias() const;
    /// Adds the bias of the columns from `column` on to a block of sums.
    void addBias(float* c, int64_t rows, int64_t columns, int64_t ldc, int64_t column) const;
    void narrow(float* c, int64_t rows, int64_t columns, int64_t first) const;
    void splitChunk(int64_t k, bool accumulate, int thread, float* c) const;
    void splitChunkPairs(int64_t k, bool accumulate, int thread, float* c) const;
    void splitChunkTerms(int64_t k, bool accumulate, int thread, float* c) const;

    struct Block;
    void multiplyByPanels(const Block&, const float* a, int64_t lda, float* c, int64_t ldc) const;
    FloatExponents splitA(const Block&, uint32_t* lanes) const;
    void widePanel(const Block&, int64_t column, float* panel) const;
    uint32_t* termPanelsAt(int64_t first, int64_t column) const;
    FloatExponents termPanel(const Block&, int64_t column, uint32_t* lanes) const;
    void multiplyTermBlock(const Block&, const uint32_t* panels, const FloatExponents& ofB,
                           int thread, float* c, int64_t ldc, bool accumulate) const;
    void multiplyWideBlock(const Block&, float* a, float* c, int64_t ldc, bool accumulate) const;

    const CpuCall& m_call;
    MatmulPlan m_plan;
    float* m_scratch;
};

} // namespace halfscope
