// What the window says of earlier sessions that nobody can read.
#pragma once

#include "engine/runs/left_session.h"

#include <vector>

namespace halfscope {

class Banner;

/// Names them in the banner. They stay until somebody deletes them, but nobody wants to read of
/// them at every start: each is named once.
void tellUnreadable(const std::vector<UnreadableSession>&, Banner&);

} // namespace halfscope
