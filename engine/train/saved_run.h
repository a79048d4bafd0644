// Saves a run that is there with the checkpoint that it keeps: opened again, it goes on from there.
#pragma once

#include "engine/runs/run_saving.h"

#include <span>
#include <string>

namespace halfscope {

/// Everything that saveRun() writes, and the run's checkpoint, made part of the run in that folder;
/// all of them, or none. A checkpoint that can no longer be read is left out, see
/// SavedFiles::checkpointError. `name`: what the run is called; `program`: the program's version.
/// RunError.
SavedFiles saveWithCheckpoint(const RunSnapshot&, const std::string& folder,
                              const std::string& name, const std::string& program,
                              std::span<const MadeFile> made = {});

} // namespace halfscope
