// Parts of runs that a session's file has and that are still in memory.
#pragma once

#include "engine/runs/chunk_reader.h"
#include "engine/runs/run.h"
#include "engine/runs/session_pictures.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace halfscope {

/// The parts, with their keys in the file. Whoever keeps the list keeps the runs of the spans.
struct StoredParts {
    std::vector<std::pair<const ColumnSpan*, int64_t>> spans{};
    std::vector<std::pair<std::shared_ptr<const RunCheckpoint>, int64_t>> checkpoints{};
    std::vector<std::pair<std::shared_ptr<const RunPictures>, PictureRows>> pictures{};

    /// Lets them be read from the file instead, and empties the list.
    void tell(const std::shared_ptr<const ChunkReader>& chunks,
              const std::shared_ptr<const PictureReader>& reader) {
        for (const auto& [span, key] : spans)
            span->setStored(chunks, key);
        for (const auto& [checkpoint, run] : checkpoints)
            checkpoint->setStored([chunks, run = run, step = checkpoint->step()] {
                return chunks->checkpoint(run, step);
            });
        for (const auto& [painted, rows] : pictures)
            painted->setStored([reader, rows = rows] { return reader->read(rows); });
        clear();
    }
    void clear() {
        spans.clear();
        checkpoints.clear();
        pictures.clear();
    }
};

} // namespace halfscope
