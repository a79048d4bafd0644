// A stretch of a column that does not change any more. Its values are in memory or in a store; its
// extremes are in memory. A chunk has 4096 values; sixteen stored spans are merged into one of the
// next level, so that old values take ever less memory.
#pragma once

#include "engine/runs/points.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace halfscope {

/// Keeps spans that memory does not hold.
class ChunkStore {
public:
    virtual ~ChunkStore() = default;
    /// Returns the bytes that ColumnSpan::packed() made of the span, or none when they cannot be
    /// read. Any thread may call it.
    virtual std::vector<std::byte> read(int64_t key) const = 0;
};

/// What is known of a stretch of values that is not split.
struct ColumnGroup {
    int64_t first;               ///< step
    int64_t finite;              ///< values
    Point lowest, highest, last; ///< when any is finite
    double sum;                  ///< of the finite ones

    void addTo(Extremes& into, size_t width) const {
        into.notFinite += static_cast<int64_t>(width) - finite;
        if (finite > 0) into.add(lowest, highest, last, finite, sum);
    }
};

/// Any thread may read a span; only one thread stores and drops it.
class ColumnSpan {
public:
    /// How many spans of a level make one of the next.
    static constexpr size_t kFan = 16;
    static constexpr size_t kChunkValues = 4096;
    /// The highest level, with more values than a training has steps.
    static constexpr int kHighest = 9;
    /// How many values a span of this level has.
    static constexpr size_t valuesOf(int level) {
        return level == 0 ? kChunkValues : kFan * valuesOf(level - 1);
    }

    virtual ~ColumnSpan() = default;
    ColumnSpan(const ColumnSpan&) = delete;
    ColumnSpan& operator=(const ColumnSpan&) = delete;

    int level() const { return m_level; }
    size_t size() const { return valuesOf(m_level); }
    int64_t firstStep() const { return m_first; }
    int64_t lastStep() const { return m_last; }
    int64_t stride() const { return m_stride; } ///< 0 when the steps are not at equal distances

    /// Returns the index of the first value at or after a step; size() when there is none. Where
    /// the step lies in a group of values whose steps are at most `slack` apart, it may be the
    /// index behind that group: then nothing has to be read from the store.
    size_t indexAt(int64_t step, int64_t slack = 0) const;
    /// Reads the values from this index on. Those that the store cannot read are nan.
    virtual void read(size_t from, std::span<Point> out) const = 0;
    /// Adds the values from <= i < to to `into`.
    virtual void gather(size_t from, size_t to, Extremes& into) const = 0;
    /// Returns the index of the first value from <= i < to that is not finite, or `to` when all
    /// are.
    virtual size_t firstNotFinite(size_t from, size_t to) const = 0;
    /// Whether the extremes of each sixteenth of the values are known without the store.
    virtual bool knowsExtremes() const = 0;
    /// Returns the step of the value at a multiple of a sixteenth, which is then known, too.
    virtual int64_t knownStep(size_t index) const = 0;
    /// Appends the keys of the chunks that the span consists of. Throws RunError when the store
    /// cannot read them now.
    virtual void chunkKeys(std::vector<int64_t>& out) const = 0;
    /// Returns the bytes that the span holds on the heap now.
    virtual size_t bytes() const = 0;
    /// Returns the span as bytes for a file that only this machine reads.
    virtual std::vector<std::byte> packed() const = 0;

    /// The key in the store; 0 until the span is stored.
    int64_t key() const { return m_key.load(std::memory_order_acquire); }
    const std::shared_ptr<const ChunkStore>& store() const { return m_store; } ///< with a key()
    /// Tells the span that the store has it under this key. The span keeps the store alive.
    void setStored(std::shared_ptr<const ChunkStore>, int64_t key) const;
    /// Frees what the store has, and releases the span if the store has all of it; returns whether
    /// anything was freed. Does nothing when values were read again since the last call: they are
    /// spared once.
    bool drop() const;
    /// A released span may become a part of a larger one.
    bool isReleased() const { return m_released.load(std::memory_order_acquire); }

protected:
    ColumnSpan(int level, int64_t first, int64_t last, int64_t stride)
        : m_level(level), m_first(first), m_last(last), m_stride(stride) {}
    /// The same as indexAt(), for a step behind the first one and not behind the last one.
    virtual size_t indexWithin(int64_t step, int64_t slack) const = 0;
    /// Returns where indexWithin() ends up with equal groups of `width` values when it has to split
    /// none of them, else nothing.
    std::optional<size_t> indexByGroups(std::span<const ColumnGroup>, size_t width, int64_t step,
                                        int64_t slack) const;
    /// Frees what lies in the store; returns whether there was anything.
    virtual bool freeStored() const = 0;
    void readAgain() const { m_readAgain.store(true, std::memory_order_relaxed); }
    /// Steps at unequal distances that cannot be read follow each other here, up to the last one.
    int64_t stepAt(size_t i) const {
        if (m_stride == 0 && i + 1 == size()) return m_last;
        return m_first + static_cast<int64_t>(i) * std::max<int64_t>(m_stride, 1);
    }
    /// Returns the index that belongs to stepAt().
    size_t indexOf(int64_t step) const {
        if (m_stride == 0) return std::min(static_cast<size_t>(step - m_first), size() - 1);
        return static_cast<size_t>((step - m_first + m_stride - 1) / m_stride);
    }

private:
    int m_level;
    int64_t m_first, m_last, m_stride;
    // what is below changes for all who share the span, although its values never change
    mutable std::shared_ptr<const ChunkStore> m_store;
    mutable std::atomic<int64_t> m_key{0};
    mutable std::atomic<bool> m_readAgain{false}, m_released{false};
};

using ColumnSpanPtr = std::shared_ptr<const ColumnSpan>;

} // namespace halfscope
