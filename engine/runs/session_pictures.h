// The pictures of runs in a session's file. A target is stored once for all runs that have it:
// thousands of runs of one experiment are compared with the same picture.
#pragma once

#include "engine/io/database.h"
#include "engine/runs/lane_pictures.h"

#include <cstdint>

namespace halfscope {

/// Returns the key of a target among those of the file, after storing one that is new there. It is
/// 0 for an empty picture.
int64_t storedTarget(const Database&, const Picture&);
/// Stores the pictures of a run in place of those before.
void storePictures(const Database&, int64_t run, const LanePictures&);
/// Returns the target of a run; its width is 0 when there is none. Reads what earlier versions
/// wrote, too.
Picture targetIn(const Database&, int64_t run);
/// Returns outputs and galleries of a run; none where there are not as many outputs as lanes.
LanePictures picturesIn(const Database&, int64_t run, size_t lanes);

} // namespace halfscope
