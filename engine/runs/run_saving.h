// Saves a run that is there, all at once: the same files that RunWriter writes while a run trains.
#pragma once

#include "engine/runs/run.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/run_manifest.h"

#include <span>
#include <string>
#include <vector>

namespace halfscope {

struct SavedFiles {
    std::vector<std::string> names; ///< that were written, in the folder
    Message settingsError;          ///< why experiment.json was not; empty: it was
    Message checkpointError;        ///< why the run's checkpoint was not; see train/saved_run.h
};
/// Writes all of a run and what is made of it; no other program can write into the folder
/// meanwhile. Files of an earlier run there are replaced, or removed where this run has none of
/// that name: they would pass for its own. They stay whole until all new files are on the disk. A
/// run that was read from a folder has the same tables there that it came with. `id`: of the run in
/// that folder, which a checkpoint among `made` names. RunError.
SavedFiles saveRun(const RunSnapshot&, const std::string& folder,
                   std::span<const MadeFile> made = {}, const std::string& id = newRunId());
/// The names that saveRun() may write.
std::vector<std::string> filesOf(const RunSnapshot&);

} // namespace halfscope
