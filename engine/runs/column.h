// One metric of one lane over the steps: one value per step, or sparse (step, value). A Column is a
// view that any thread may read while its writer appends. It can be asked for the exact values in a
// range of steps, or for extremes at a resolution.
//
// Layout. Values are stored in chunks of kChunkValues, each in the smallest coding that keeps them
// exactly:
//   runs: 16 bytes for each stretch of equal values, or of values that rise by 1 (flags, counters,
//   a constant loss scale or learning rate)
//   bytes, floats, doubles: 1, 4 or 8 bytes per value
// Above bytes, floats and doubles there is a pyramid: for every 16 and every 256 values, it holds
// the places of the lowest and the highest and how many are finite, in 6 bytes, and for every 256
// their sum: 0.4 bytes per value. Steps at equal distances take no bytes; others take 8 per value.
// A full chunk never changes. The chunk that is being filled takes at most twice the memory of its
// values; if its coding no longer fits, it is replaced. A full chunk whose values are in a store
// keeps 72 bytes per 256 values in memory, see column_chunk.h; sixteen of these become one span
// that keeps 112 bytes per 4096 values, sixteen such spans one that keeps as much per 65,536, and
// so on, see column_node.h.
#pragma once

#include "engine/runs/chunk_values.h"
#include "engine/runs/column_span.h"
#include "engine/runs/growing_list.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace halfscope {

class Column {
public:
    static constexpr size_t kChunkValues = ColumnSpan::kChunkValues;

    bool empty() const { return size() == 0; }
    int64_t size() const;                           ///< how many values there are
    int64_t firstStep() const;                      ///< 0 when empty
    int64_t lastStep() const { return m_lastStep; } ///< 0 when empty
    double lastValue() const;                       ///< nan when empty

    /// Returns the value of exactly this step.
    std::optional<double> at(int64_t step) const;
    /// Returns the newest value at or before this step.
    std::optional<Point> upTo(int64_t step) const;
    /// Reads the first values of the steps from..to, both included, in order, as many as `out`
    /// holds, and returns how many it read. To go on, ask from the step after the last one.
    size_t read(int64_t from, int64_t to, std::span<Point> out) const;
    /// Calls visitor(step, value) for the steps from..to, both included.
    template <class Visitor>
    void values(int64_t from, int64_t to, Visitor&& visitor) const {
        std::array<Point, 256> block;
        for (;;) {
            const size_t count = read(from, to, block);
            for (size_t i = 0; i < count; ++i)
                visitor(block[i].step, block[i].value);
            if (count < block.size()) return;
            // a store that answers only now and then must not lead back
            from = std::max(from, block.back().step) + 1;
        }
    }

    /// Returns the extremes of all values at the steps from..to, both included.
    Extremes extremes(int64_t from, int64_t to) const;
    /// Returns the extremes of each bucket in order, without empty buckets. The width of a bucket
    /// is a power of two of steps, the smallest with which at most `buckets` cover the range;
    /// buckets begin at steps 1 + k * width, so that they stay the same while a view follows the
    /// newest step. Values that follow the end of a bucket by less than half its width may be in it
    /// instead of in the next one: then few of them have to be read from a store. Replaces what
    /// `out` held.
    void extremes(int64_t from, int64_t to, size_t buckets, std::vector<Extremes>& out) const;
    /// Calls visitor(step) for the steps from..to whose value is inf or nan.
    template <class Visitor>
    void notFinite(int64_t from, int64_t to, Visitor&& visitor) const {
        for (std::optional<int64_t> step = firstNotFinite(from, to); step;
             step = firstNotFinite(*step + 1, to))
            visitor(*step);
    }
    /// Returns the first of those steps.
    std::optional<int64_t> firstNotFinite(int64_t from, int64_t to) const;

    /// Returns the heap bytes that the column holds; memory that lanes share counts for each of
    /// them.
    size_t bytes() const;

    /// For a store: the spans that will not change any more, and the values behind them as bytes.
    const GrowingList<ColumnSpanPtr>::View& spans() const { return m_full; }
    size_t fullValues() const { return m_fullValues; } ///< in the spans
    std::vector<std::byte> packedTail() const {
        return m_open && m_count > 0 ? m_open->packed(m_count, m_runs) : std::vector<std::byte>();
    }

private:
    friend class ColumnWriter;
    struct Part;
    size_t parts() const { return m_full.size() + (m_count > 0 ? 1 : 0); }
    Part part(size_t i) const;
    /// Returns the index of the first part that has a step at or after this one.
    size_t partAt(int64_t step) const;
    void gather(size_t& part, Extremes&, int64_t slackFrom, int64_t slackTo) const;

    GrowingList<ColumnSpanPtr>::View m_full;
    size_t m_fullValues = 0; ///< in the spans
    std::shared_ptr<const ChunkValues> m_open;
    size_t m_count = 0, m_runs = 0; ///< of the open chunk
    int64_t m_lastStep = 0;
};

/// Fills a column; only one thread may use it.
class ColumnWriter {
public:
    ColumnWriter() = default;
    ColumnWriter(ColumnWriter&&) noexcept = default;
    ColumnWriter& operator=(ColumnWriter&&) noexcept = default;

    /// Allocates the memory that append() of the same value needs, and changes nothing that a
    /// reader can see. Throws std::logic_error when the steps do not rise.
    void makeRoom(int64_t step, double value);
    /// Appends a value, which reads back bit for bit unless it is a nan. When there is no memory,
    /// nothing is appended.
    void append(int64_t step, double value);
    /// Begins as a copy of another column up to and including this step; full chunks are shared,
    /// not copied.
    void share(const Column&, int64_t upTo);
    /// Replaces spans that a store has by larger ones, which take less memory, and returns whether
    /// there were any. append() does it now and then.
    bool mergeSpans();
    const Column& column() const { return m_column; }

private:
    void closeChunk();
    void shareSpan(const ColumnSpanPtr&, int64_t upTo);

    GrowingList<ColumnSpanPtr> m_full;
    size_t m_closed = 0; ///< chunks since spans were merged last
    std::shared_ptr<ChunkValues> m_open;
    Column m_column;
};

/// Returns the median of the last `count` values at or before a step; for an even number it is the
/// mean of the two in the middle. A nan counts as larger than all other values, inf included.
/// Returns nan when there are no values.
double trailingMedian(const Column&, int64_t upTo, size_t count);
/// Returns the median of these values by the same rules, and sorts them. Allocates nothing.
double medianWithNan(std::span<double>);

} // namespace halfscope
