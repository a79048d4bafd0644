// A full chunk of a column: its values are in memory, or they are in a store and only their
// extremes are in memory.
#pragma once

#include "engine/runs/chunk_values.h"
#include "engine/runs/column_span.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace halfscope {

/// The span of level 0. While the values are not in memory, extremes over whole groups of 256
/// values are still known, and everything else reads the values from the store.
class ColumnChunk : public ColumnSpan {
public:
    ColumnChunk(std::shared_ptr<const ChunkValues>, size_t runs);
    /// A chunk that lies in a store, of which nothing has been read yet.
    ColumnChunk(int64_t first, int64_t stride, size_t runs, std::shared_ptr<const ChunkStore>,
                int64_t key);

    size_t runs() const { return m_runs; }
    /// Returns the values; all of them are nan when the store cannot read them now.
    std::shared_ptr<const ChunkValues> values() const;

    size_t indexAt(int64_t step) const override;
    void read(size_t from, std::span<Point> out) const override;
    void gather(size_t from, size_t to, Extremes& into) const override;
    size_t firstNotFinite(size_t from, size_t to) const override;
    bool knowsExtremes() const override;
    void chunkKeys(std::vector<int64_t>& out) const override { out.push_back(key()); }
    size_t bytes() const override;
    std::vector<std::byte> packed() const override;

private:
    /// The extremes of 256 values.
    struct Group {
        double lowest = 0, highest = 0, last = 0;
        uint16_t lowestAt = 0, highestAt = 0, lastAt = 0, finite = 0; ///< places in the chunk
    };
    using Groups = std::array<Group, kChunkValues / ChunkValues::kWide>;

    /// What is in memory.
    struct Held {
        std::shared_ptr<const ChunkValues> values;
        const Groups* groups; ///< once there, they stay where they are
    };
    Held held() const;
    std::shared_ptr<const ChunkValues> loaded() const;
    std::shared_ptr<const ChunkValues> lost() const;
    bool freeStored() const override;

    size_t m_runs = 0;
    // guarded by a lock of column_chunk.cpp
    mutable std::shared_ptr<const ChunkValues> m_values;
    mutable std::unique_ptr<const Groups> m_groups; ///< null before values are freed
};

} // namespace halfscope
