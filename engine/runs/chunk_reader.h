// Reads from a session's file what its runs no longer hold in memory.
#pragma once

#include "engine/io/database.h"
#include "engine/runs/column_span.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace halfscope {

/// Reads through a connection of its own, so that a reader never waits for the writer. The columns
/// that use it keep it alive, and with it a file that somebody has removed.
class ChunkReader : public ChunkStore {
public:
    /// Throws RunError.
    explicit ChunkReader(const std::string& path);

    /// Returns a chunk's bytes; none when they cannot be read.
    std::vector<std::byte> read(int64_t key) const override;
    /// Returns a checkpoint's bytes. Throws RunError.
    std::string checkpoint(int64_t run, int64_t step) const;

private:
    mutable std::mutex m_mutex;
    Database m_database;
    mutable Statement m_read, m_checkpoint;
};

} // namespace halfscope
