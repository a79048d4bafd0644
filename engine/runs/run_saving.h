// Saves a finished or loaded run all at once: the same files that RunWriter writes while a run
// trains.
#pragma once

#include "engine/runs/run.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/run_manifest.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

struct SavedFiles {
    std::vector<std::string> names; ///< the files that were written, in the folder
    std::string id;                 ///< of the run in the folder, see run_manifest.h
    Message settingsError;          ///< why experiment.json was not written; empty when it was
    /// Why the run's checkpoint was not written, or cannot be read again; see train/saved_run.h.
    Message checkpointError;
    /// Why not all of the run's pictures were written; empty when they were, or when there are
    /// none.
    Message picturesError;
    bool keptCheckpoint = false; ///< the one that was saved earlier stays in the folder
};
/// What becomes of a checkpoint in the folder when saveRun() writes none.
enum class EarlierCheckpoint : uint8_t {
    Goes,
    StaysWithItsSteps, ///< when the same steps were saved with it: the run's cannot be read
};
/// Writes all of a run and the files made of it; no other program can write into the folder
/// meanwhile. Files of an earlier run there are replaced, or removed when this run has none of that
/// name, because they would pass for its own. They stay whole until all new files are on the disk.
/// A run that was read from a folder gets the same tables that it came with. `id` is that of the
/// run in the folder, which a checkpoint among `made` names. Pictures and gradients of the same
/// steps stay where those of the run cannot be read. Throws RunError, also when pictures of other
/// steps would be deleted and the run's cannot be read; and InputError when one of these files is
/// what the run was trained on: its data, its picture, its first weights. The run gets the id of
/// the checkpoint that stays.
SavedFiles saveRun(const RunSnapshot&, const std::string& folder,
                   std::span<const MadeFile> made = {}, const std::string& id = newRunId(),
                   EarlierCheckpoint = EarlierCheckpoint::Goes);
/// Returns the names of the files that saveRun() may write.
std::vector<std::string> filesOf(const RunSnapshot&);

} // namespace halfscope
