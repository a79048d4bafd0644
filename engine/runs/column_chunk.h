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
    ColumnChunk(int64_t first, int64_t last, int64_t stride, size_t runs,
                std::shared_ptr<const ChunkStore>, int64_t key);

    size_t runs() const { return m_runs; }
    /// Returns the values; all of them are nan when the store cannot read them now.
    std::shared_ptr<const ChunkValues> values() const;

    void read(size_t from, std::span<Point> out) const override;
    void gather(size_t from, size_t to, Extremes& into) const override;
    size_t firstNotFinite(size_t from, size_t to) const override;
    bool knowsExtremes() const override;
    int64_t knownStep(size_t index) const override;
    void chunkKeys(std::vector<int64_t>& out) const override { out.push_back(key()); }
    size_t bytes() const override;
    std::vector<std::byte> packed() const override;

private:
    using Groups = std::array<ColumnGroup, kChunkValues / ChunkValues::kWide>;

    /// What is in memory.
    struct Held {
        std::shared_ptr<const ChunkValues> values;
        const Groups* groups; ///< once there, they stay where they are
    };
    Held held() const;
    std::shared_ptr<const ChunkValues> loaded() const;
    std::shared_ptr<const ChunkValues> lost() const;
    size_t indexWithin(int64_t step, int64_t slack) const override;
    bool freeStored() const override;

    size_t m_runs = 0;
    // guarded by a lock of column_chunk.cpp
    mutable std::shared_ptr<const ChunkValues> m_values;
    mutable std::unique_ptr<const Groups> m_groups; ///< null before values are freed
};

} // namespace halfscope
