// Checks of the settings that decide how long a run is and what its learning rate follows.
#pragma once

#include "engine/settings/run_config.h"

namespace halfscope {

/// Checks lengths: a schedule of one update has no end that differs from its start, and one as long
/// as the run must fit into the table of rates. Throws InputError.
void checkLengths(const RunConfig&);
/// Checks that a rate which follows the validation has one to follow. Throws InputError.
void checkFollowing(const RunConfig&);

} // namespace halfscope
