// Runs a fused loop: blocks over threads, tiles inside a block. Blocks are cut by size only, and
// partial sums are added in block order, so results do not depend on the number of threads.
#include "engine/cpu/loop.h"

#include "engine/core/vector_clones.h"
#include "engine/cpu/loop_sums.h"
#include "engine/cpu/op_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <numeric>

namespace halfscope {

namespace {

constexpr int64_t kTileElements = kMostTileElements; ///< 8 KiB a slot: a few slots stay in L1
/// Floats between slots: values at the same index must not be a multiple of 4 KiB apart, because a
/// load would then seem to depend on the store before it.
constexpr size_t kSlotPadding = 48;
constexpr int64_t kBlockElements = 8192; ///< the least work of a task, about 5 us
constexpr int64_t kMaxBlocks = 128; ///< enough for any desktop's threads; limits the partial sums

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// A sum over rows runs in f32 over every n-th row of a tile, in n strands side by side, and then
/// in double. In narrow tensors the strands together have so many columns that each is at most 4
/// rows long: in f32 over all 128 rows of 16 columns, a mean would be off by several times its own
/// rounding, and with it every value that batch norm centres. From kWideColumns on, where a tile
/// has 8 rows or fewer, there is one strand.
constexpr int64_t kStrandColumns = 512, kWideColumns = 256;

/// Copies every stride-th element.
template <class Stored>
void gather(const std::byte* from, int64_t stride, Stored* to, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
        std::memcpy(to + i, from + static_cast<size_t>(i * stride) * sizeof(Stored),
                    sizeof(Stored));
}

/// Writes whole vectors, so up to 15 floats beyond the end: short runs take no longer than long
/// ones.
HALFSCOPE_VECTOR void fill(float* to, int64_t count, float value) {
    using Lanes = float __attribute__((vector_size(VectorLoop::kLanes * sizeof(float))));
    const Lanes all = value - Lanes{};
    for (int64_t i = 0; i < count; i += VectorLoop::kLanes)
        std::memcpy(to + i, &all, sizeof all);
}

/// May write what fill() writes beyond the end.
void loadRun(DType dtype, const std::byte* from, int64_t stride, float* to, int64_t count) {
    if (stride == 1) {
        loadAsFloat(dtype, from, to, static_cast<size_t>(count));
    } else if (stride == 0) {
        float value = 0;
        if (dtype == DType::F32)
            std::memcpy(&value, from, sizeof value);
        else
            loadAsFloat(dtype, from, &value, 1);
        fill(to, count, value);
    } else if (dtype == DType::F32) {
        gather(from, stride, to, count);
    } else if (bytesOf(dtype) == sizeof(uint16_t)) {
        constexpr int64_t kBlock = 256;
        std::array<uint16_t, kBlock> stored;
        for (int64_t at = 0; at < count; at += kBlock) {
            const int64_t n = std::min(kBlock, count - at);
            gather(from + static_cast<size_t>(at * stride) * sizeof(uint16_t), stride,
                   stored.data(), n);
            loadAsFloat(dtype, stored.data(), to + at, static_cast<size_t>(n));
        }
    } else {
        for (int64_t i = 0; i < count; ++i)
            loadAsFloat(dtype, from + static_cast<size_t>(i * stride) * bytesOf(dtype), to + i, 1);
    }
}

} // namespace

void CpuLoop::setGeometry(const Kernel& kernel, bool sumsWholeRows) {
    m_space = kernel.space;
    m_split = kernel.split;
    for (int axis = 0; axis < m_space.rank(); ++axis)
        (axis < m_split ? m_rows : m_columns) *= m_space[axis];
    const int64_t total = m_rows * m_columns;
    m_tileColumns = std::min(std::max<int64_t>(m_columns, 1), kTileElements);
    m_tileRows = m_columns <= kTileElements
                     ? std::max<int64_t>(1, kTileElements / std::max<int64_t>(m_columns, 1))
                     : 1;
    m_tileRows = std::min(m_tileRows, std::max<int64_t>(m_rows, 1));
    if (m_tileColumns < kWideColumns) { // whole vectors wide, as far as there are rows
        const int64_t vectors = VectorLoop::kLanes / std::gcd(m_tileColumns, VectorLoop::kLanes);
        const auto wide = std::bit_ceil(static_cast<uint64_t>(kStrandColumns / m_tileColumns));
        m_strands = std::min(std::max(vectors, static_cast<int64_t>(wide)), m_tileRows);
        m_tileRows -= m_tileRows % m_strands;
    }
    if (sumsWholeRows) { // whole vectors, if a tile need not be much larger for them
        const int64_t vectors = VectorLoop::kLanes / std::gcd(m_tileColumns, VectorLoop::kLanes);
        if (m_tileRows < vectors && vectors * m_tileColumns <= 2 * kTileElements)
            m_tileRows = std::min(vectors, std::max<int64_t>(m_rows, 1));
        else if (m_tileRows >= vectors && m_strands == 1)
            m_tileRows -= m_tileRows % vectors;
    }
    const int64_t block = std::max(kBlockElements, ceilDiv(total, kMaxBlocks));
    m_blockRows = std::max<int64_t>(1, ceilDiv(block, std::max<int64_t>(m_columns, 1)));
    m_blockRows = ceilDiv(m_blockRows, m_tileRows) * m_tileRows;
    m_rowBlocks = ceilDiv(m_rows, m_blockRows);
    m_blockColumns = std::max<int64_t>(m_columns, 1);
    if (!sumsWholeRows && m_columns > block)
        m_blockColumns = ceilDiv(block, kTileElements) * kTileElements;
    m_columnBlocks = ceilDiv(m_columns, m_blockColumns);
    m_tileElements = static_cast<size_t>(m_tileRows * m_tileColumns + 15) / 16 * 16 + kSlotPadding;
}

void CpuLoop::run(const Arena& arena, ThreadPool& pool, float* scratch, size_t stride,
                  double* partials, const std::atomic<bool>& stop, TaskOrder sweep) const {
    if (m_rows * m_columns == 0) {
        std::fill_n(partials, m_partialDoubles, 0.0);
    } else {
        // Not a vector: its allocation would count in the steps of small networks, which take
        // microseconds.
        std::array<char, kMaxBlocks> started{};
        const auto runOne = [&](int64_t block, int thread) {
            if (stop.load(std::memory_order_relaxed)) return;
            const auto at = static_cast<size_t>(thread);
            float* own = scratch + at * stride;
            if (at >= started.size() || started[at] == 0) fillSteady(arena, own);
            if (at < started.size()) started[at] = 1;
            const int64_t begin = block / m_columnBlocks * m_blockRows;
            startBlock(own, partials, block);
            runBlock(arena, own, partials, block, begin, std::min(m_rows, begin + m_blockRows));
            endBlock(own, partials, block);
        };
        pool.run(blocks(), runOne, sweep);
    }
    finish(arena, partials);
}

void CpuLoop::fillSteady(const Arena& arena, float* scratch) const {
    Tile whole;
    whole.rows = m_tileRows;
    whole.columns = m_tileColumns;
    for (size_t index : m_steadyLoads)
        load(arena, scratch, m_loads[index], whole);
}

void CpuLoop::runRows(const Arena& arena, float* scratch, double* partials, int64_t begin,
                      int64_t end) const {
    while (begin < end) {
        const int64_t block = begin / m_blockRows;
        const int64_t blockEnd = std::min(end, (block + 1) * m_blockRows);
        if (begin % m_blockRows == 0) startBlock(scratch, partials, block);
        runBlock(arena, scratch, partials, block, begin, blockEnd);
        if (blockEnd % m_blockRows == 0 || blockEnd == m_rows) endBlock(scratch, partials, block);
        begin = blockEnd;
    }
}

/// Clears the sums of the block.
void CpuLoop::startBlock(float* scratch, double* partials, int64_t block) const {
    const int64_t rowBlock = block / m_columnBlocks, rowBegin = rowBlock * m_blockRows,
                  rowEnd = std::min(m_rows, rowBegin + m_blockRows);
    for (const Reduction& reduction : m_reductions) {
        double* sums = partials + reduction.partial;
        if (reduction.kind == ReduceKind::Rows)
            std::fill_n(reinterpret_cast<double*>(scratch + reduction.blockSums), m_blockColumns,
                        0.0);
        else if (reduction.kind == ReduceKind::All)
            sums[block] = 0;
        else
            std::fill(sums + rowBegin, sums + rowEnd, 0.0);
    }
    for (const Section& section : m_sections)
        for (const auto& [reduction, at] : section.sums)
            std::fill_n(scratch + at, m_strands * m_tileColumns, 0.0F);
}

/// Hands the block's sums over rows to the partial sums.
void CpuLoop::endBlock(const float* scratch, double* partials, int64_t block) const {
    const int64_t columnBegin = block % m_columnBlocks * m_blockColumns;
    for (const Reduction& reduction : m_reductions)
        if (reduction.kind == ReduceKind::Rows)
            std::copy_n(reinterpret_cast<const double*>(scratch + reduction.blockSums),
                        std::min(m_blockColumns, m_columns - columnBegin),
                        partials + reduction.partial + block / m_columnBlocks * m_columns +
                            columnBegin);
}

double* CpuLoop::blockSums(float* scratch, const Reduction& reduction, const Tile& tile) const {
    return reinterpret_cast<double*>(scratch + reduction.blockSums) + tile.column -
           tile.columnBlock * m_blockColumns;
}

/// Runs rows [begin, end) of a block.
void CpuLoop::runBlock(const Arena& arena, float* scratch, double* partials, int64_t block,
                       int64_t begin, int64_t end) const {
    Tile tile;
    tile.rowBlock = block / m_columnBlocks;
    tile.columnBlock = block % m_columnBlocks;
    const int64_t columnBegin = tile.columnBlock * m_blockColumns;
    const int64_t columnEnd = std::min(m_columns, columnBegin + m_blockColumns);
    for (tile.row = begin; tile.row < end; tile.row += m_tileRows) {
        tile.rows = std::min(m_tileRows, end - tile.row);
        for (tile.column = columnBegin; tile.column < columnEnd; tile.column += m_tileColumns) {
            tile.columns = std::min(m_tileColumns, columnEnd - tile.column);
            prefetch(arena, tile);
            runTile(arena, scratch, partials, tile);
        }
    }
}

/// Prefetches the next tile's values while this one is computed: a tile's operations are short
/// bursts over a few streams, too short for the hardware to prefetch.
void CpuLoop::prefetch(const Arena& arena, const Tile& tile) const {
    constexpr size_t kLine = 64;
    const auto first = static_cast<size_t>(tile.row * m_columns + tile.column) + tile.n();
    const size_t end = std::min(first + tile.n(), static_cast<size_t>(m_rows * m_columns));
    for (const auto& [offset, bytes] : m_streams) {
        const std::byte* const values = arena.at(offset);
        for (size_t at = first * bytes; at < end * bytes; at += kLine)
            __builtin_prefetch(values + at, 0, 2);
    }
}

void CpuLoop::runTile(const Arena& arena, float* scratch, double* partials,
                      const Tile& tile) const {
    for (const Section& section : m_sections) {
        if (section.vector && runVector(arena, scratch, section, tile)) continue;
        for (size_t i = section.begin; i < section.end; ++i)
            interpret(arena, scratch, partials, m_program[i], tile);
    }
}

/// Runs a section as machine code. Returns false for a tile whose columns are not whole vectors, or
/// whose rows do not divide into the strands.
bool CpuLoop::runVector(const Arena& arena, float* scratch, const Section& section,
                        const Tile& tile) const {
    const int64_t first = tile.row * m_columns + tile.column;
    // Neighbouring rows of a narrow tile make one wide row, each with its own values by column.
    const bool strands = tile.rows % m_strands == 0;
    if (!strands && !section.sums.empty()) return false;
    const int64_t rows = !m_walksColumns ? 1 : strands ? tile.rows / m_strands : tile.rows;
    const int64_t columns = tile.rows * tile.columns / rows;
    if (columns % VectorLoop::kLanes != 0) return false;
    section.vector->run(arena, scratch, first, rows, columns);
    for (const auto& [reduction, at] : section.sums)
        moveStrands(scratch + at, strandsOf(tile),
                    blockSums(scratch, m_reductions[reduction], tile));
    return true;
}

void CpuLoop::interpret(const Arena& arena, float* scratch, double* partials,
                        const Instruction& step, const Tile& tile) const {
    const int64_t first = tile.row * m_columns + tile.column;
    const size_t n = tile.n();
    const auto pointer = [&](const Place& place) {
        return place.slot >= 0 ? slot(scratch, place.slot)
                               : reinterpret_cast<float*>(arena.at(place.offset)) + first;
    };
    switch (step.kind) {
    case Instruction::Kind::Load: load(arena, scratch, m_loads[step.index], tile); break;
    case Instruction::Kind::Spread: {
        const float* const values = pointer(step.in[0]) + m_tileRows - tile.rows;
        for (int64_t row = 0; row < tile.rows; ++row) // its end is overwritten by the next row
            fill(pointer(step.out) + row * tile.columns, tile.columns, values[row]);
        break;
    }
    case Instruction::Kind::Compute:
    case Instruction::Kind::Round: {
        LoopArgs args;
        for (int i = 0; i < step.inputs; ++i)
            args.in[static_cast<size_t>(i)] = pointer(step.in[i]);
        args.out = pointer(step.out);
        args.n = n;
        args.attrs = step.attrs;
        step.function(args);
        if (step.rounds) roundInPlace(step.dtype, args.out, n);
        break;
    }
    case Instruction::Kind::Store:
        storeFromFloat(step.dtype, pointer(step.in[0]),
                       arena.at(step.out.offset) + static_cast<size_t>(first) * bytesOf(step.dtype),
                       n);
        break;
    case Instruction::Kind::Reduce:
        reduce(pointer(step.in[0]), scratch, partials, m_reductions[step.index], tile);
        break;
    }
}

void CpuLoop::load(const Arena& arena, float* scratch, const Load& load, const Tile& tile) const {
    float* to = slot(scratch, load.slot);
    if (load.isConstant) {
        std::fill_n(to, tile.n(), load.constant);
        return;
    }
    if (load.byRow) {
        gatherStrided(arena, to + m_tileRows - tile.rows, load, tile.row, tile.rows);
        return;
    }
    const size_t bytes = bytesOf(load.dtype);
    const int64_t first = tile.row * m_columns + tile.column;
    const std::byte* const values = arena.at(load.offset);
    const auto at = [&](int64_t element) { return values + static_cast<size_t>(element) * bytes; };
    const auto columns = static_cast<size_t>(tile.columns);
    switch (load.kind) {
    case LoadKind::Full: loadAsFloat(load.dtype, at(first), to, tile.n()); break;
    case LoadKind::Row:
        loadAsFloat(load.dtype, at(tile.column), to, columns);
        for (int64_t row = 1; row < tile.rows; row *= 2) // repeats the rows that are there
            std::copy_n(to, std::min(row, tile.rows - row) * tile.columns, to + row * tile.columns);
        break;
    case LoadKind::Scalar: {
        float value = 0;
        loadAsFloat(load.dtype, at(0), &value, 1);
        std::fill_n(to, tile.n(), value);
        break;
    }
    default: gatherStrided(arena, to, load, first, static_cast<int64_t>(tile.n()));
    }
}

/// Loads elements [first, first + count) in the order of the load's axes: a run along the last axis
/// at a time. Walks the others without a division for each run:
/// divisions would take longer than filling the short runs of small images.
void CpuLoop::gatherStrided(const Arena& arena, float* to, const Load& load, int64_t first,
                            int64_t count) const {
    static_assert(kSlotPadding >= VectorLoop::kLanes, "a run may be written beyond its end");
    const int last = load.extents.rank() - 1;
    const std::byte* const values = arena.at(load.offset);
    const size_t bytes = bytesOf(load.dtype);
    const int64_t lastExtent = load.extents[last], lastStride = load.strides[last];
    int64_t index = first;
    const int64_t end = first + count;
    int64_t inner = index % lastExtent, rest = index / lastExtent, element = 0;
    std::array<int64_t, kMaxRank> at{};
    for (int axis = last - 1; axis >= 0; --axis) {
        at[static_cast<size_t>(axis)] = rest % load.extents[axis];
        element += rest % load.extents[axis] * load.strides[axis];
        rest /= load.extents[axis];
    }
    for (; index < end; inner = 0) {
        const int64_t run = std::min(lastExtent - inner, end - index);
        const std::byte* from = values + static_cast<size_t>(element + inner * lastStride) * bytes;
        loadRun(load.dtype, from, lastStride, to, run);
        to += run;
        index += run;
        for (int axis = last - 1; axis >= 0; --axis) {
            int64_t& now = at[static_cast<size_t>(axis)];
            element += load.strides[axis];
            if (++now < load.extents[axis]) break;
            element -= now * load.strides[axis];
            now = 0;
        }
    }
}

void CpuLoop::reduce(const float* values, float* scratch, double* partials,
                     const Reduction& reduction, const Tile& tile) const {
    double* sums = partials + reduction.partial;
    switch (reduction.kind) {
    case ReduceKind::Rows:
        addRows(values, static_cast<size_t>(tile.rows), strandsOf(tile),
                blockSums(scratch, reduction, tile));
        break;
    case ReduceKind::All:
        sums[tile.rowBlock * m_columnBlocks + tile.columnBlock] += addAll(values, tile.n());
        break;
    default:
        for (int64_t row = 0; row < tile.rows; ++row)
            sums[tile.row + row] +=
                addAll(values + row * tile.columns, static_cast<size_t>(tile.columns));
    }
}

void CpuLoop::finish(const Arena& arena, double* partials) const {
    for (const Reduction& reduction : m_reductions)
        finish(arena, partials, reduction);
}

/// Adds partial sums in block order into those of the first block, and stores the rounded results.
void CpuLoop::finish(const Arena& arena, double* partials, const Reduction& reduction) const {
    double* sums = partials + reduction.partial;
    const int64_t count = reduction.count;
    int64_t blocks = 1; // of partial sums
    switch (reduction.kind) {
    case ReduceKind::Rows: blocks = m_rows > 0 ? m_rowBlocks : 0; break;
    case ReduceKind::All: blocks = m_rows > 0 ? m_rowBlocks * m_columnBlocks : 0; break;
    default: blocks = count > 0 ? m_rows / count : 0; // of Channels, one a sample
    }
    for (int64_t block = 1; block < blocks; ++block)
        addSums(sums + block * count, static_cast<size_t>(count), sums);
    std::array<float, 64> results;
    for (int64_t first = 0; first < count; first += std::ssize(results)) {
        const int64_t n = std::min(count - first, std::ssize(results));
        for (int64_t i = 0; i < n; ++i) {
            const double sum = blocks > 0 ? sums[first + i] : 0.0; // 0 when there are no rows
            results[static_cast<size_t>(i)] = static_cast<float>(sum * reduction.factor);
        }
        storeFromFloat(reduction.dtype, results.data(),
                       arena.at(reduction.offset) +
                           static_cast<size_t>(first) * bytesOf(reduction.dtype),
                       static_cast<size_t>(n));
    }
}

} // namespace halfscope
