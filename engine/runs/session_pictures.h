// The pictures of runs in a session's file. A target is stored once for all runs that have it:
// thousands of runs of one experiment are compared with the same picture.
#pragma once

#include "engine/io/database.h"
#include "engine/runs/run_pictures.h"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace halfscope {

/// Returns the key of a target among those of the file, after storing one that is new there. It is
/// 0 for an empty picture.
int64_t storedTarget(const Database&, const TargetPicture&);
/// Gives a run another target, and removes the one before if no run has it any more.
void storeTarget(const Database&, int64_t run, const TargetPicture&);
/// Stores the pictures of a step, with their target if they have one, in place of those before.
void storePictures(const Database&, int64_t run, int64_t step, const PackedPictures&,
                   const TargetPicture* target);
/// Returns the target of a run, which is empty when there is none. Reads what earlier versions
/// wrote, too. Throws RunError when the file has lost it.
std::shared_ptr<const TargetPicture> targetIn(const Database&, int64_t run);
/// Returns the step of the pictures of a run, that of most lanes; nothing when it has none. Throws
/// RunError, also when it has other pictures but no outputs.
std::optional<int64_t> pictureStepIn(const Database&, int64_t run);
/// Returns the captions of the outputs, by lane; those that cannot be read are empty.
std::vector<std::string> captionsIn(const Database&, int64_t run, size_t lanes);

/// Which pictures of a file are those of a run.
struct PictureRows {
    int64_t run = 0, step = 0;
    size_t lanes = 0;   ///< those of the run
    size_t painted = 0; ///< at least so many have painted; forks may not have yet
};
/// Returns the outputs of a run by lane, its galleries, one more than lanes, and its mistakes by
/// lane. It may have no galleries, and no mistakes; what else is not there is lost, whatever the
/// reason, and has no bytes. Throws RunError when no output is of this step, or when nothing can be
/// read.
PackedPictures picturesIn(const Database&, const PictureRows&);

/// Reads pictures from a session's file that a store writes, through a connection of its own: a
/// reader waits neither for the writer nor for who reads curves. The runs whose pictures lie there
/// keep it alive, and with it a file that somebody has removed. Any thread may use it.
class PictureReader {
public:
    /// Throws RunError. Looks into the file at once: SQLite opens a part of it only then, which
    /// would be too late when somebody has removed the file.
    explicit PictureReader(const std::string& path) : m_database(path, Database::Access::ReadOnly) {
        m_database.hasTable("pictures");
    }
    PackedPictures read(const PictureRows& rows) const {
        const std::lock_guard lock(m_mutex);
        return picturesIn(m_database, rows);
    }

private:
    mutable std::mutex m_mutex;
    Database m_database;
};

} // namespace halfscope
