// Runs a fused loop: blocks over threads, tiles inside a block. Blocks are cut by size alone and
// partial sums are added in block order, so results do not depend on the number of threads.
#include "engine/cpu/loop.h"

#include "engine/core/vector_clones.h"

#include <algorithm>
#include <cstring>

namespace halfscope {

namespace {

constexpr int64_t kTileElements = 2048; ///< 8 KiB a slot: a few slots stay in L1
/// Floats between slots: values at the same index must not lie a multiple of 4 KiB apart, where a
/// load seems to depend on the store before it.
constexpr size_t kSlotPadding = 48;
constexpr int64_t kBlockElements = 8192; ///< least work of a task, about 5 us
constexpr int64_t kMaxBlocks = 128; ///< enough for any desktop's threads; bounds the partial sums

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// 16 floats that the compiler keeps in as many registers as the machine's vectors need.
using Lanes = float __attribute__((vector_size(64)));
constexpr int64_t kLanes = 16;

/// Adds x[r][first + 16 i ..] over the rows of a tile, for N groups of 16 columns at once, in f32;
/// the caller adds tiles in double.
template <size_t N>
[[gnu::always_inline]] inline void addStrip(const float* x, int64_t rows, int64_t columns,
                                            double* sums) {
    Lanes strip[N] = {};
    for (int64_t r = 0; r < rows; ++r)
        for (size_t i = 0; i < N; ++i) {
            Lanes values;
            std::memcpy(&values, x + r * columns + static_cast<int64_t>(i) * kLanes, sizeof values);
            strip[i] += values;
        }
    for (size_t i = 0; i < N; ++i)
        for (size_t lane = 0; lane < kLanes; ++lane)
            sums[i * kLanes + lane] += static_cast<double>(strip[i][lane]);
}

/// sums[c] += x[r][c] over the rows of a tile.
HALFSCOPE_VECTOR void addRows(const float* x, int64_t rows, int64_t columns, double* sums) {
    int64_t c = 0;
    for (; c + 4 * kLanes <= columns; c += 4 * kLanes)
        addStrip<4>(x + c, rows, columns, sums + c);
    for (; c + kLanes <= columns; c += kLanes)
        addStrip<1>(x + c, rows, columns, sums + c);
    for (; c < columns; ++c) {
        float sum = 0;
        for (int64_t r = 0; r < rows; ++r)
            sum += x[r * columns + c];
        sums[c] += static_cast<double>(sum);
    }
}

/// The sum of n values: 16 lanes in f32 over runs of 256, then the lanes in double.
HALFSCOPE_VECTOR double addAll(const float* x, size_t n) {
    double sum = 0;
    constexpr size_t kRun = 256;
    for (size_t first = 0; first < n; first += kRun) {
        Lanes lanes = {};
        const size_t count = std::min(kRun, n - first), whole = count / kLanes * kLanes;
        for (size_t i = 0; i < whole; i += kLanes) {
            Lanes values;
            std::memcpy(&values, x + first + i, sizeof values);
            lanes += values;
        }
        for (size_t i = whole; i < count; ++i)
            lanes[i - whole] += x[first + i];
        for (size_t lane = 0; lane < kLanes; ++lane)
            sum += static_cast<double>(lanes[lane]);
    }
    return sum;
}

} // namespace

void CpuLoop::setGeometry(const Kernel& kernel, bool hasColumnSums) {
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
    const int64_t block = std::max(kBlockElements, ceilDiv(total, kMaxBlocks));
    m_blockRows = std::max<int64_t>(1, ceilDiv(block, std::max<int64_t>(m_columns, 1)));
    m_blockRows = ceilDiv(m_blockRows, m_tileRows) * m_tileRows;
    m_rowBlocks = ceilDiv(m_rows, m_blockRows);
    m_blockColumns = std::max<int64_t>(m_columns, 1);
    if (!hasColumnSums && m_columns > block)
        m_blockColumns = ceilDiv(block, kTileElements) * kTileElements;
    m_columnBlocks = ceilDiv(m_columns, m_blockColumns);
    m_tileElements = static_cast<size_t>(m_tileRows * m_tileColumns + 15) / 16 * 16 + kSlotPadding;
}

void CpuLoop::run(std::byte* arena, ThreadPool& pool, float* scratch, size_t stride,
                  double* partials, const std::atomic<bool>& stop) const {
    if (m_rows * m_columns == 0) {
        std::fill_n(partials, m_partialDoubles, 0.0);
    } else {
        std::vector<char> started(static_cast<size_t>(pool.threads()), 0);
        pool.run(m_rowBlocks * m_columnBlocks, [&](int64_t block, int thread) {
            if (stop.load(std::memory_order_relaxed)) return;
            char& begun = started[static_cast<size_t>(thread)];
            runBlock(arena, scratch + static_cast<size_t>(thread) * stride, partials, block,
                     begun == 0);
            begun = 1;
        });
    }
    for (const Reduction& reduction : m_reductions)
        finish(arena, partials, reduction);
}

void CpuLoop::runBlock(std::byte* arena, float* scratch, double* partials, int64_t block,
                       bool fresh) const {
    Tile tile;
    tile.rowBlock = block / m_columnBlocks;
    tile.columnBlock = block % m_columnBlocks;
    if (fresh) {
        Tile whole;
        whole.rows = m_tileRows;
        whole.columns = m_tileColumns;
        for (size_t index : m_steadyLoads)
            load(arena, scratch, m_loads[index], whole);
    }
    const int64_t rowBegin = tile.rowBlock * m_blockRows,
                  rowEnd = std::min(m_rows, rowBegin + m_blockRows);
    const int64_t columnBegin = tile.columnBlock * m_blockColumns;
    const int64_t columnEnd = std::min(m_columns, columnBegin + m_blockColumns);
    for (const Reduction& reduction : m_reductions) {
        double* sums = partials + reduction.partial;
        if (reduction.kind == ReduceKind::Rows)
            std::fill(sums + tile.rowBlock * m_columns + columnBegin,
                      sums + tile.rowBlock * m_columns + columnEnd, 0.0);
        else if (reduction.kind == ReduceKind::All)
            sums[block] = 0;
        else
            std::fill(sums + rowBegin, sums + rowEnd, 0.0);
    }
    for (tile.row = rowBegin; tile.row < rowEnd; tile.row += m_tileRows) {
        tile.rows = std::min(m_tileRows, rowEnd - tile.row);
        for (tile.column = columnBegin; tile.column < columnEnd; tile.column += m_tileColumns) {
            tile.columns = std::min(m_tileColumns, columnEnd - tile.column);
            prefetch(arena, tile);
            runTile(arena, scratch, partials, tile);
        }
    }
}

/// Asks for the next tile's values while this one is computed: the operations of a tile are short
/// bursts over a few streams, too short for the hardware to run ahead.
void CpuLoop::prefetch(const std::byte* arena, const Tile& tile) const {
    constexpr size_t kLine = 64;
    const auto first = static_cast<size_t>(tile.row * m_columns + tile.column) + tile.n();
    const size_t end = std::min(first + tile.n(), static_cast<size_t>(m_rows * m_columns));
    for (const auto& [offset, bytes] : m_streams)
        for (size_t at = offset + first * bytes; at < offset + end * bytes; at += kLine)
            __builtin_prefetch(arena + at, 0, 2);
}

void CpuLoop::runTile(std::byte* arena, float* scratch, double* partials, const Tile& tile) const {
    for (const Section& section : m_sections) {
        if (section.vector && runVector(arena, scratch, partials, section, tile)) continue;
        for (size_t i = section.begin; i < section.end; ++i)
            interpret(arena, scratch, partials, m_program[i], tile);
    }
}

/// False for a tile whose extent does not fit whole vectors.
bool CpuLoop::runVector(std::byte* arena, float* scratch, double* partials, const Section& section,
                        const Tile& tile) const {
    const int64_t first = tile.row * m_columns + tile.column;
    const int64_t rows = m_walksColumns ? tile.rows : 1, columns = tile.rows * tile.columns / rows;
    if (columns % VectorLoop::kLanes != 0) return false;
    for (const auto& [reduction, at] : section.sums)
        std::fill_n(scratch + at, columns, 0.0f);
    section.vector->run(arena, scratch, first, rows, columns);
    for (const auto& [reduction, at] : section.sums)
        addRows(scratch + at, 1, columns,
                partials + m_reductions[reduction].partial + tile.rowBlock * m_columns +
                    tile.column);
    return true;
}

void CpuLoop::interpret(std::byte* arena, float* scratch, double* partials, const Instruction& step,
                        const Tile& tile) const {
    const int64_t first = tile.row * m_columns + tile.column;
    const size_t n = tile.n();
    const auto pointer = [&](const Place& place) {
        return place.slot >= 0 ? slot(scratch, place.slot)
                               : reinterpret_cast<float*>(arena + place.offset) + first;
    };
    switch (step.kind) {
    case Instruction::Kind::Load: load(arena, scratch, m_loads[step.index], tile); break;
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
                       arena + step.out.offset + static_cast<size_t>(first) * bytesOf(step.dtype),
                       n);
        break;
    case Instruction::Kind::Reduce:
        reduce(arena, pointer(step.in[0]), partials, m_reductions[step.index], tile);
        break;
    }
}

void CpuLoop::load(const std::byte* arena, float* scratch, const Load& load,
                   const Tile& tile) const {
    float* to = slot(scratch, load.slot);
    if (load.isConstant) {
        std::fill_n(to, tile.n(), load.constant);
        return;
    }
    const size_t bytes = bytesOf(load.dtype);
    const auto at = [&](int64_t element) {
        return arena + load.offset + static_cast<size_t>(element) * bytes;
    };
    const auto columns = static_cast<size_t>(tile.columns);
    switch (load.kind) {
    case LoadKind::Full:
        loadAsFloat(load.dtype, at(tile.row * m_columns + tile.column), to, tile.n());
        break;
    case LoadKind::Row:
        loadAsFloat(load.dtype, at(tile.column), to, columns);
        for (int64_t row = 1; row < tile.rows; ++row)
            std::copy_n(to, columns, to + row * tile.columns);
        break;
    case LoadKind::Column:
        for (int64_t row = 0; row < tile.rows; ++row) {
            float value = 0;
            loadAsFloat(load.dtype, at(tile.row + row), &value, 1);
            std::fill_n(to + row * tile.columns, columns, value);
        }
        break;
    case LoadKind::Scalar: {
        float value = 0;
        loadAsFloat(load.dtype, at(0), &value, 1);
        std::fill_n(to, tile.n(), value);
        break;
    }
    case LoadKind::Strided: gatherStrided(arena, to, load, tile); break;
    }
}

/// Walks the tile's indices; the last axis runs in the inner loop.
void CpuLoop::gatherStrided(const std::byte* arena, float* to, const Load& load,
                            const Tile& tile) const {
    const int rank = m_space.rank();
    const size_t bytes = bytesOf(load.dtype);
    const int64_t lastExtent = m_space[rank - 1], lastStride = load.strides[rank - 1];
    int64_t index = tile.row * m_columns + tile.column;
    const int64_t end = index + static_cast<int64_t>(tile.n());
    while (index < end) {
        int64_t rest = index / lastExtent;
        const int64_t inner = index % lastExtent;
        int64_t element = inner * lastStride;
        for (int axis = rank - 2; axis >= 0; --axis) {
            element += rest % m_space[axis] * load.strides[axis];
            rest /= m_space[axis];
        }
        const int64_t run = std::min(lastExtent - inner, end - index);
        const std::byte* from = arena + load.offset + static_cast<size_t>(element) * bytes;
        if (lastStride == 1) {
            loadAsFloat(load.dtype, from, to, static_cast<size_t>(run));
        } else {
            for (int64_t i = 0; i < run; ++i)
                loadAsFloat(load.dtype, from + static_cast<size_t>(i * lastStride) * bytes, to + i,
                            1);
        }
        to += run;
        index += run;
    }
}

void CpuLoop::reduce(std::byte*, const float* values, double* partials, const Reduction& reduction,
                     const Tile& tile) const {
    double* sums = partials + reduction.partial;
    switch (reduction.kind) {
    case ReduceKind::Rows:
        addRows(values, tile.rows, tile.columns, sums + tile.rowBlock * m_columns + tile.column);
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

/// Adds partial sums in block order and stores the rounded results.
void CpuLoop::finish(std::byte* arena, const double* partials, const Reduction& reduction) const {
    const double* sums = partials + reduction.partial;
    std::vector<double> totals;
    if (reduction.kind == ReduceKind::Rows) {
        totals.assign(static_cast<size_t>(m_columns), 0.0);
        for (int64_t block = 0; block < (m_rows ? m_rowBlocks : 0); ++block)
            for (int64_t c = 0; c < m_columns; ++c)
                totals[static_cast<size_t>(c)] += sums[block * m_columns + c];
    } else if (reduction.kind == ReduceKind::All) {
        totals.assign(1, 0.0);
        for (int64_t block = 0; block < m_rowBlocks * m_columnBlocks; ++block)
            totals[0] += sums[block];
    } else {
        totals.assign(sums, sums + m_rows);
    }
    std::vector<float> results(totals.size());
    for (size_t i = 0; i < totals.size(); ++i)
        results[i] = static_cast<float>(totals[i] * reduction.factor);
    storeFromFloat(reduction.dtype, results.data(), arena + reduction.offset, results.size());
}

} // namespace halfscope
