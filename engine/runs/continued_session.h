// A left session that a store goes on with in the session's own file: nothing of its runs is
// copied, and until the first write the file is what its program left.
#pragma once

#include "engine/io/database.h"
#include "engine/runs/left_session.h"
#include "engine/runs/stored_parts.h"
#include "engine/runs/watched_run.h"

#include <vector>

namespace halfscope {

/// What a store knows of runs that its file has already.
struct ContinuedRuns {
    std::vector<WatchedRun> runs{};
    StoredParts stored{};
};

/// Makes the file one whose only runs are these; without any, nothing changes. Throws RunError
/// where the file is damaged or does not hold what was read from it; the open transaction must then
/// be rolled back.
ContinuedRuns continueSession(const Database&, const std::vector<RestoredRun>&);

} // namespace halfscope
