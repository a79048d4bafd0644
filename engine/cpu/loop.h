// A fused loop of the CPU engine: one pass over memory in tiles that stay in cache; every member is
// computed in f32 and rounded once where its storage is narrower.
#pragma once

#include "engine/core/thread_pool.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/loop_sums.h"
#include "engine/cpu/op_table.h"
#include "engine/cpu/vector_loop.h"
#include "engine/graph/program.h"
#include "engine/passes/fuse.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace halfscope {

class CpuLoop {
public:
    /// Makes the loop as machine code of the set where there is any (vector_loop.h); Portable is
    /// interpreted. The bits are the same.
    CpuLoop(const Graph&, const Kernel&, const MemoryPlan&, VectorSet = usedVectorSet());

    /// The floats of scratch that each thread needs, and the doubles of partial sums that all
    /// share.
    size_t scratchFloats() const {
        return static_cast<size_t>(m_slots) * m_tileElements + m_sumFloats;
    }
    size_t partialDoubles() const { return m_partialDoubles; }
    /// Returns the number of runs of instructions that are machine code.
    int vectorSections() const;

    /// Runs over the whole space. `scratch` holds scratchFloats() for each thread that gets a
    /// block, `stride` floats apart.
    void run(const Arena& arena, ThreadPool&, float* scratch, size_t stride, double* partials,
             const std::atomic<bool>& stop, TaskOrder sweep = TaskOrder::Up) const;

    /// The number of tasks that run() gives the pool.
    int64_t blocks() const { return m_rowBlocks * m_columnBlocks; }
    /// Whether it covers so much memory that its direction matters.
    bool isLong() const { return blocks() >= kLongBlocks; }

    /// Runs the loop by rows, for a chain of kernels (row_chain.h): first fillSteady() for each
    /// thread's scratch, then all rows, those of a unit in order and by one thread, then finish().
    bool runsByRows() const { return m_columnBlocks == 1 && m_rows * m_columns > 0; }
    int64_t rows() const { return m_rows; }
    int64_t rowUnit() const { return m_blockRows; }
    int64_t rowStep() const { return m_tileRows; } ///< a range of rows begins at a multiple of this
    void fillSteady(const Arena& arena, float* scratch) const;
    void runRows(const Arena& arena, float* scratch, double* partials, int64_t begin,
                 int64_t end) const;
    void finish(const Arena& arena, double* partials) const;

private:
    static constexpr int64_t kLongBlocks = 64; ///< at least 2 MiB of an f32 tensor

    /// Where a value is while a tile is computed: in a scratch slot, or in f32 memory at its full
    /// index.
    struct Place {
        int slot = -1;
        size_t offset = 0; ///< bytes in the arena, when slot < 0
    };
    struct Load {
        LoadKind kind = LoadKind::Full;
        DType dtype = DType::F32;
        size_t offset = 0;
        /// One value for each row of the tile: a number for each sample, or for each channel.
        bool byRow = false;
        /// For strided loads: the axes of the space, of its rows if `byRow`, with neighbours merged
        /// that can be walked as one, and the distances between elements along them.
        Shape extents, strides;
        int slot = 0;
        bool isConstant = false;
        float constant = 0;
    };
    struct Instruction {
        enum class Kind : uint8_t {
            Load,
            Spread,
            Compute,
            Round,
            Store,
            Reduce
        } kind = Kind::Compute;
        Op op = Op::Cast;
        LoopFn function = nullptr;
        const Attrs* attrs = nullptr;
        Place in[3];
        int inputs = 0;
        Place out;
        DType dtype = DType::F32; ///< Compute, Round: rounded to this; Store: stored as this
        bool rounds = false;
        size_t index = 0; ///< Load, Spread: in m_loads; Reduce: in m_reductions
    };
    struct Reduction {
        ReduceKind kind = ReduceKind::All;
        DType dtype = DType::F32;
        size_t offset = 0;  ///< of the result in the arena
        size_t partial = 0; ///< of its partial sums, in doubles
        int64_t count = 1;  ///< results
        /// For ReduceKind::Rows: where in a thread's scratch, in floats, the double sums of a block
        /// are while it is computed. Adding tiles straight to the partial sums takes 12 % longer in
        /// a loop of three sums, because those do not stay in L1.
        size_t blockSums = 0;
        double factor = 1; ///< 1/n for a mean
    };
    struct Tile {
        int64_t row = 0, rows = 0, column = 0, columns = 0;
        int64_t rowBlock = 0, columnBlock = 0;
        size_t n() const { return static_cast<size_t>(rows * columns); }
    };
    /// Instructions [begin, end), as machine code when `vector` is set.
    struct Section {
        size_t begin = 0, end = 0;
        std::unique_ptr<VectorLoop> vector;
        /// The sums over rows that it computes: the reduction, and where in scratch a tile's f32
        /// sums are.
        std::vector<std::pair<size_t, size_t>> sums;
    };
    class Lowering;
    class Vectorizer;

    void setGeometry(const Kernel&, bool sumsWholeRows);
    void startBlock(float* scratch, double* partials, int64_t block) const;
    void endBlock(const float* scratch, double* partials, int64_t block) const;
    void runBlock(const Arena& arena, float* scratch, double* partials, int64_t block,
                  int64_t begin, int64_t end) const;
    void runTile(const Arena& arena, float* scratch, double* partials, const Tile&) const;
    bool runVector(const Arena& arena, float* scratch, const Section&, const Tile&) const;
    Strands strandsOf(const Tile& tile) const {
        return {static_cast<size_t>(m_strands), static_cast<size_t>(tile.columns),
                m_space.rank() == 4 && m_split == 3};
    }
    double* blockSums(float* scratch, const Reduction&, const Tile&) const;
    void interpret(const Arena& arena, float* scratch, double* partials, const Instruction&,
                   const Tile&) const;
    void prefetch(const Arena& arena, const Tile&) const;
    void load(const Arena& arena, float* scratch, const Load&, const Tile&) const;
    void gatherStrided(const Arena& arena, float* to, const Load&, int64_t first,
                       int64_t count) const;
    void reduce(const float* values, float* scratch, double* partials, const Reduction&,
                const Tile&) const;
    void finish(const Arena& arena, double* partials, const Reduction&) const;
    float* slot(float* scratch, int index) const {
        return scratch + static_cast<size_t>(index) * m_tileElements;
    }

    Shape m_space;
    int m_split = 0;
    int64_t m_rows = 1, m_columns = 1;
    int64_t m_tileRows = 1, m_tileColumns = 1, m_blockRows = 1, m_blockColumns = 1;
    int64_t m_rowBlocks = 1, m_columnBlocks = 1;
    int64_t m_strands = 1; ///< strands of a tile's sums over rows, see kStrandColumns
    size_t m_tileElements = 1;
    int m_slots = 0;
    size_t m_sumFloats = 0; ///< floats of scratch after the slots
    size_t m_partialDoubles = 0;
    std::vector<Load> m_loads;
    std::vector<size_t> m_steadyLoads; ///< the same for every tile, so each thread fills them once
    std::vector<std::pair<size_t, size_t>> m_streams; ///< full loads: offset, and bytes per element
    std::vector<Instruction> m_program;
    std::vector<Reduction> m_reductions;
    std::vector<Section> m_sections; ///< those of m_program, in order
    bool m_walksColumns = false;     ///< whether a section reads values by column
};

} // namespace halfscope
