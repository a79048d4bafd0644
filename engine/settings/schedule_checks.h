// Checks of the settings that decide how long a run is, what its learning rate follows, and what
// may end it early.
#pragma once

#include "engine/settings/run_config.h"

namespace halfscope {

/// Checks lengths: a schedule of one update has no end that differs from its start, and one as long
/// as the run must fit into the table of rates. Throws InputError.
void checkLengths(const RunConfig&);
/// Checks that a rate which follows the validation has one to follow. Throws InputError.
void checkFollowing(const RunConfig&);
/// Checks that there are validations to wait for where run.patience does. Throws InputError.
void checkPatience(const RunConfig&);

} // namespace halfscope
