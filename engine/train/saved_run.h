// Saves a run together with its checkpoint: when it is opened again, it goes on from there.
#pragma once

#include "engine/runs/run_saving.h"

#include <span>
#include <string>

namespace halfscope {

/// Writes everything that saveRun() writes and the run's checkpoint, which then belongs to the run
/// in that folder; writes all of the files or none. A checkpoint that can no longer be read is left
/// out, see SavedFiles::checkpointError; one that was saved with the same steps stays then. One
/// that lies in a file is read from that folder later on. `name` is what the run is called,
/// `program` the program's version. Throws RunError.
SavedFiles saveWithCheckpoint(const RunSnapshot&, const std::string& folder,
                              const std::string& name, const std::string& program,
                              std::span<const MadeFile> made = {});

} // namespace halfscope
