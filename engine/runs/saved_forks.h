// The sentences about forks in saved runs, whose files have only their English words.
#pragma once

#include "engine/runs/run.h"

#include <span>

namespace halfscope {

/// Gives a saved event about a fork what it had before it was saved: its parent, and a message with
/// a format where its words are those of one. `planned` has the run's lanes, see lanesOf(). Other
/// events stay as they are.
void recognizeFork(Event&, std::span<const LaneInfo> planned);

} // namespace halfscope
