// A full chunk of a column: its values are in memory, or they are in a store and only their
// extremes are in memory.
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
    /// Returns the bytes that ChunkValues::packed() made of the chunk, or none when they cannot be
    /// read. Any thread may call it.
    virtual std::vector<std::byte> read(int64_t key) const = 0;
};

/// Any thread may read a chunk; only one thread stores and drops it. While the values are not in
/// memory, extremes over whole groups of 256 values are still known, and everything else reads the
/// values from the store.
class ColumnChunk {
public:
    static constexpr size_t kValues = ChunkValues::kMost;

    ColumnChunk(std::shared_ptr<const ChunkValues>, size_t runs);

    int64_t firstStep() const { return m_first; }
    int64_t lastStep() const { return m_last; }
    size_t runs() const { return m_runs; }
    /// Returns the values; all of them are nan when the store cannot read them.
    std::shared_ptr<const ChunkValues> values() const;
    /// These do the same as those of ChunkValues.
    size_t indexAt(int64_t step) const;
    void gather(size_t from, size_t to, Extremes& into) const;
    size_t firstNotFinite(size_t from, size_t to) const;
    /// Returns the bytes that the chunk holds on the heap now.
    size_t bytes() const;

    /// The key in the store; 0 until the chunk is stored.
    int64_t key() const { return m_key.load(std::memory_order_acquire); }
    /// Tells the chunk that the store has its values under this key. The store outlives every
    /// reader.
    void setStored(std::shared_ptr<const ChunkStore>, int64_t key) const;
    /// Frees the values of a stored chunk; false when that is not worth it. Values that were read
    /// again since the last call are spared once.
    bool drop() const;

private:
    /// The extremes of 256 values.
    struct Group {
        double lowest = 0, highest = 0, last = 0;
        uint16_t lowestAt = 0, highestAt = 0, lastAt = 0, finite = 0; ///< places in the chunk
    };
    using Groups = std::array<Group, kValues / ChunkValues::kWide>;

    std::shared_ptr<const ChunkValues> held() const;
    std::shared_ptr<const ChunkValues> loaded() const;
    int64_t stepAt(size_t i) const { return m_first + static_cast<int64_t>(i) * m_stride; }

    int64_t m_first = 0, m_last = 0;
    int64_t m_stride = 0; ///< 0 when the steps are not at equal distances
    size_t m_runs = 0;
    // what is below changes for all who share the chunk, although its values never change
    mutable std::shared_ptr<const ChunkValues> m_values; ///< guarded by a lock of column_chunk.cpp
    mutable std::shared_ptr<const ChunkStore> m_store;
    mutable std::unique_ptr<const Groups> m_groups; ///< null before the first drop()
    mutable std::atomic<int64_t> m_key{0};
    mutable std::atomic<bool> m_readAgain{false};
};

} // namespace halfscope
