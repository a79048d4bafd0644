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

/// Knows the extremes of each part. Once it is stored, it reads those of 256 equal groups of its
/// values, or its parts, from the store for any other range. Each lane makes its own nodes, also of
/// parts that lanes share.
class ColumnNode : public ColumnSpan {
public:
    /// Where a part lies.
    struct Part {
        int64_t key;                 ///< in the store
        int64_t runs;                ///< of a chunk, see ColumnChunk
        int64_t first, last, stride; ///< steps
    };

    /// Returns the node of kFan spans, or null when they cannot become one: all are released, lie
    /// in one store, have the same level, and know their extremes.
    static std::shared_ptr<const ColumnNode> of(std::span<const ColumnSpanPtr>);
    /// A node that lies in a store, of which nothing has been read yet.
    ColumnNode(int level, const Part&, std::shared_ptr<const ChunkStore>);

    /// Returns a part; null when the store cannot read the node now.
    ColumnSpanPtr part(size_t i) const;

    void read(size_t from, std::span<Point> out) const override;
    void gather(size_t from, size_t to, Extremes& into) const override;
    size_t firstNotFinite(size_t from, size_t to) const override;
    bool knowsExtremes() const override;
    int64_t knownStep(size_t index) const override;
    void chunkKeys(std::vector<int64_t>& out) const override;
    size_t bytes() const override;
    std::vector<std::byte> packed() const override;

private:
    static constexpr size_t kGroups = 256;
    struct Content {
        std::array<Part, kFan> part;
        std::array<ColumnGroup, kFan> whole; ///< all values of each part
    };
    using Groups = std::array<ColumnGroup, kGroups>;
    struct Known { ///< null are those that the store cannot read now
        std::shared_ptr<const Content> content;
        std::shared_ptr<const Groups> groups;
    };
    using LoadedParts = std::array<ColumnSpanPtr, kFan>;
    struct Head;

    ColumnNode(int level, int64_t stride, Known, std::shared_ptr<const ChunkStore>);
    static Known knownOf(std::span<const Part, kFan>, const Groups&);
    Head head() const;
    size_t width() const { return valuesOf(level() - 1); } ///< values of a part
    size_t groupWidth() const { return size() / kGroups; }
    Known known() const; ///< whatever is in memory
    Known load() const;
    std::shared_ptr<const Content> content() const;
    std::shared_ptr<const Groups> groups() const;
    void gatherWithin(size_t part, size_t from, size_t to, Extremes& into) const;
    size_t indexWithin(int64_t step, int64_t slack) const override;
    bool freeStored() const override;

    std::shared_ptr<const ChunkStore> m_partsStore;
    // guarded by a lock of column_node.cpp
    mutable Known m_known;                         ///< content: null before it is read
    mutable std::unique_ptr<LoadedParts> m_loaded; ///< null when no part is loaded
};

} // namespace halfscope
