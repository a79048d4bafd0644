// Sixteen spans of a column that a store has, as one span of the next level.
#pragma once

#include "engine/runs/column_span.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace halfscope {

/// Knows the extremes of each quarter of its parts; for anything between, it reads the part from
/// the store.
class ColumnNode : public ColumnSpan {
public:
    /// Returns the node of kFan spans, or null when they cannot become one: all are released, lie
    /// in one store, have the same level, and follow each other at one distance of steps.
    static std::shared_ptr<const ColumnNode> of(std::span<const ColumnSpanPtr>);

    /// Returns a part; the values of one that the store cannot read are nan.
    ColumnSpanPtr part(size_t i) const;

    void read(size_t from, std::span<Point> out) const override;
    void gather(size_t from, size_t to, Extremes& into) const override;
    size_t firstNotFinite(size_t from, size_t to) const override;
    void chunkKeys(std::vector<int64_t>& out) const override;
    size_t bytes() const override;
    std::vector<std::byte> packed() const override;

private:
    static constexpr size_t kGroups = 4 * kFan;
    /// Where a part lies.
    struct Part {
        int64_t key;  ///< in the store
        int64_t runs; ///< of a chunk, see ColumnChunk
    };
    /// The extremes of a quarter of a part.
    struct Group {
        int64_t finite;              ///< values
        Point lowest, highest, last; ///< when any is finite
    };
    struct Parts {
        std::array<Part, kFan> part;
        std::array<Group, kGroups> group;
    };
    using Loaded = std::array<ColumnSpanPtr, kFan>;
    struct Head;

    ColumnNode(int level, int64_t first, int64_t stride, const Parts&,
               std::shared_ptr<const ChunkStore>);
    static std::shared_ptr<const ColumnNode> stored(int level, int64_t first, int64_t stride,
                                                    const std::shared_ptr<const ChunkStore>&,
                                                    int64_t key);
    size_t width() const { return valuesOf(level() - 1); } ///< values of a part
    size_t groupWidth() const { return size() / kGroups; }
    bool free() const override;

    Parts m_parts;
    std::shared_ptr<const ChunkStore> m_from; ///< has the parts
    mutable std::unique_ptr<Loaded> m_loaded; ///< guarded by a lock of column_node.cpp
};

} // namespace halfscope
