// The values of one metric of one lane as a session's file has them.
#pragma once

#include "engine/io/database.h"
#include "engine/runs/chunk_values.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace halfscope {

/// Walks through the values of a column, a chunk at a time.
class StoredColumn {
public:
    StoredColumn(const Database&, int64_t run, int64_t lane, std::string_view metric);

    /// Whether the column has values, all of which can be read.
    static bool isWhole(const Database&, int64_t run, int64_t lane, std::string_view metric);
    /// Returns the last step of a metric of a run; 0 without values. `sound` becomes false when the
    /// last chunk, or a tail, cannot be read.
    static int64_t lastStep(const Database&, int64_t run, std::string_view metric, bool& sound);

    /// The next value; nothing at the end.
    const std::optional<Point>& next() const { return m_next; }
    /// Moves to the next value at a later step.
    void advance();
    /// Moves past the values up to a step, and returns the one at this step.
    std::optional<double> take(int64_t step);
    /// Whether values are missing that cannot be read.
    bool isDamaged() const { return m_damaged; }

private:
    bool load();

    Statement m_chunks;
    bool m_more = true, m_damaged = false;
    int64_t m_place = 0; ///< of the next chunk
    std::shared_ptr<ChunkValues> m_values;
    size_t m_count = 0, m_runs = 0, m_at = 0;
    std::optional<Point> m_next;
};

} // namespace halfscope
