// A full chunk of a column: its values in memory, or in a store with their extremes in memory.
#pragma once

#include "engine/runs/chunk_values.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace halfscope {

/// Keeps the values of full chunks that memory does not hold.
class ChunkStore {
public:
    virtual ~ChunkStore() = default;
    /// What ChunkValues::packed() made of the chunk; empty where it cannot be read. From any
    /// thread.
    virtual std::vector<std::byte> read(int64_t key) const = 0;
};

/// Any thread may read it; one thread stores and drops. While its values are not in memory,
/// extremes over whole groups of 256 values are known all the same, and everything else reads them
/// from the store.
class ColumnChunk {
public:
    static constexpr size_t kValues = ChunkValues::kMost;

    ColumnChunk(std::shared_ptr<const ChunkValues>, size_t runs);

    int64_t firstStep() const { return m_first; }
    int64_t lastStep() const { return m_last; }
    size_t runs() const { return m_runs; }
    /// Where the store cannot read them, nan throughout.
    std::shared_ptr<const ChunkValues> values() const;
    /// As those of ChunkValues.
    size_t indexAt(int64_t step) const;
    void gather(size_t from, size_t to, Extremes& into) const;
    size_t firstNotFinite(size_t from, size_t to) const;
    /// That it holds on the heap now.
    size_t bytes() const;

    /// 0 until it is stored.
    int64_t key() const { return m_key.load(std::memory_order_acquire); }
    /// The store has the values under this key, and outlives every reader.
    void setStored(std::shared_ptr<const ChunkStore>, int64_t key) const;
    /// Frees the values of a stored chunk; false where that is not worth it. Values that were read
    /// again since the last call stay for once.
    bool drop() const;

private:
    /// Of 256 values.
    struct Group {
        double lowest = 0, highest = 0, last = 0;
        uint16_t lowestAt = 0, highestAt = 0, lastAt = 0, finite = 0; ///< places in the chunk
    };
    using Groups = std::array<Group, kValues / ChunkValues::kWide>;

    std::shared_ptr<const ChunkValues> held() const;
    std::shared_ptr<const ChunkValues> loaded() const;
    int64_t stepAt(size_t i) const { return m_first + static_cast<int64_t>(i) * m_stride; }

    int64_t m_first = 0, m_last = 0;
    int64_t m_stride = 0; ///< 0: the steps do not follow at equal distances
    size_t m_runs = 0;
    // what is below changes for all who share the chunk, whose values never do
    mutable std::shared_ptr<const ChunkValues> m_values; ///< guarded by a lock of column_chunk.cpp
    mutable std::shared_ptr<const ChunkStore> m_store;
    mutable std::unique_ptr<const Groups> m_groups; ///< from the first drop() on
    mutable std::atomic<int64_t> m_key{0};
    mutable std::atomic<bool> m_readAgain{false};
};

} // namespace halfscope
