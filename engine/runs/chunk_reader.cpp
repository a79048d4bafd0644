// Two statements, of which one thread at a time uses each.
#include "engine/runs/chunk_reader.h"

#include "engine/core/error.h"

#include <span>

namespace halfscope {

ChunkReader::ChunkReader(const std::string& path)
    : m_database(path, Database::Access::ReadOnly),
      m_read(m_database.prepare("SELECT data FROM chunks WHERE id = ?1")),
      m_checkpoint(
          m_database.prepare("SELECT data FROM checkpoints WHERE run = ?1 AND step = ?2")) {}

std::vector<std::byte> ChunkReader::read(int64_t key) const {
    const std::lock_guard lock(m_mutex);
    std::vector<std::byte> bytes;
    const Statement::Until done(m_read);
    try {
        m_read.bind(1, key);
        while (m_read.next()) {
            const std::span<const std::byte> found = m_read.bytes(0);
            bytes.assign(found.begin(), found.end());
        }
    } catch (const RunError&) {
        bytes.clear(); // the reader then sees that the values are missing
    }
    return bytes;
}

std::string ChunkReader::checkpoint(int64_t run, int64_t step) const {
    const std::lock_guard lock(m_mutex);
    const Statement::Until done(m_checkpoint);
    m_checkpoint.bind(1, run).bind(2, step);
    std::string bytes;
    while (m_checkpoint.next()) {
        const std::span<const std::byte> found = m_checkpoint.bytes(0);
        bytes.assign(reinterpret_cast<const char*>(found.data()), found.size());
    }
    if (bytes.empty())
        throw RunError(phrase("Files", "%1: the checkpoint after step %2 is gone"),
                       m_database.path(), step);
    return bytes;
}

} // namespace halfscope
